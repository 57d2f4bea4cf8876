"""
Groups with ops of several results: random programs of splits, maps, moves and sums, against NumPy.

All numbers are small integers, so every order of a sum gives the same bits.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import stepwell
from counts import FULL
from numpy.typing import NDArray
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.roles import GROUP
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.graph.calls import CallKernelOp
from stepwell.dialects.tensor_loop import BlockOp
from stepwell.rewrites.fusion.plan import planned_functions, read_plan, why_opaque
from xdsl.dialects import func

Array = NDArray[np.float32]
COUNT = 400 if FULL else 5


def type_of(array: Array) -> str:
    return f"tensor<{'x'.join(map(str, array.shape))}xf32>"


class Made:
    """A random program: its text, and its values as NumPy computes them."""

    def __init__(self, seed: int, ops: int):
        self.random = Random(seed)
        shape = (self.random.choice((2, 4, 6)), self.random.choice((4, 8, 12)))
        self.input = np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)
        self.values: list[tuple[str, Array]] = [("%x", self.input)]
        self.lines: list[str] = []
        for _ in range(ops):
            self.random.choice((self.split, self.split, self.map, self.meet, self.move, self.concat, self.sum))()
        unused = [each for each in self.values if not any(f"{each[0]}," in f"{line}," for line in self.operands())]
        kept = [each for each in unused if self.random.random() < 0.7] or self.values[-1:]
        self.results = [array for _, array in kept]
        types = ", ".join(type_of(array) for array in self.results)
        body = "\n".join(f"  {line}" for line in self.lines)
        end = f"func.return {', '.join(name for name, _ in kept)} : {types}"
        self.text = f"func.func @main(%x: {type_of(self.input)}) -> ({types}) {{\n{body}\n  {end}\n}}"

    def operands(self) -> list[str]:
        return [line.partition(" = ")[2].partition(" : ")[0].replace(" ", ", ") for line in self.lines]

    def emit(self, op: str, operands: list[tuple[str, Array]], results: list[Array], properties: str = "") -> None:
        start = sum(line.count("%v") for line in self.lines)
        names = [f"%v{start}_{number}" for number in range(len(results))]
        given = ", ".join(name for name, _ in operands)
        types = ", ".join(type_of(array) for _, array in operands)
        made = ", ".join(type_of(array) for array in results)
        self.lines.append(f"{', '.join(names)} = graph.{op} {given}{properties} : ({types}) -> ({made})")
        self.values += zip(names, results, strict=True)

    def recent(self, rank: int = 1) -> tuple[str, Array]:
        found = [each for each in self.values if each[1].ndim >= rank]
        return self.random.choice(found[-4:])

    def split(self) -> None:
        name, array = self.recent()
        axis = self.random.randrange(array.ndim)
        size = array.shape[axis]
        if size < 2:
            return
        if size % 2 == 0 and self.random.random() < 0.6:
            self.emit("split", [(name, array)], np.split(array, 2, axis), f", sections = 2, axis = {axis}")
        else:
            cuts = sorted({self.random.randrange(1, size) for _ in range(2)})
            self.emit("split", [(name, array)], np.split(array, cuts, axis), f", indices = {cuts}, axis = {axis}")

    def map(self) -> None:
        op, compute = self.random.choice(
            (("relu", lambda a: np.maximum(a, 0)), ("negative", np.negative), ("abs", np.abs))
        )
        name, array = self.recent()
        self.emit(op, [(name, array)], [compute(array)])

    def meet(self) -> None:
        """Two values of one shape, such as the results of a split, become one."""
        name, array = self.recent()
        others = [each for each in self.values if each[1].shape == array.shape]
        other = self.random.choice(others[-3:])
        self.emit("add", [(name, array), other], [array + other[1]])

    def move(self) -> None:
        name, array = self.recent(2)
        self.emit("permute_dims", [(name, array)], [array.T.copy()])

    def concat(self) -> None:
        name, array = self.recent()
        axis = self.random.randrange(array.ndim)
        fits = [
            each
            for each in self.values
            if each[1].ndim == array.ndim
            and all(a == b for n, (a, b) in enumerate(zip(each[1].shape, array.shape, strict=True)) if n != axis)
        ]
        other = self.random.choice(fits[-3:])
        if array.shape[axis] + other[1].shape[axis] <= 24:
            joined = np.concatenate([array, other[1]], axis)
            self.emit("concat", [(name, array), other], [joined], f", axis = {axis}")

    def sum(self) -> None:
        name, array = self.recent(2)
        if np.abs(array).max(initial=0) < 2**16:
            self.emit("sum", [(name, array)], [array.sum(1)], ", axis = [1]")


def fused(text: str, pipeline: str = "plan-fusion,apply-fusion-plan") -> stepwell.ModuleOp:
    context = make_context()
    module = parse_text(context, text, "p.mlir")
    run_pipeline(context, module, pipeline, verify_each=True)
    return module


def check(found: object, expected: list[Array]) -> None:
    values = found if isinstance(found, tuple | list) else (found,)
    assert len(values) == len(expected)
    for value, wanted in zip(values, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(value), wanted)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("seed", range(COUNT))
def test_random_programs(seed: int) -> None:
    program = Made(seed, 9)
    planned = fused(program.text, "plan-fusion")
    for function in planned_functions(planned):
        members = {op for group in read_plan(function) for op in group}
        for op in function.body.block.ops:
            assert (op in members) == (why_opaque(op) is None)
    check(stepwell.compile(str(fused(program.text)), pipeline="O0", cache=False)(program.input), program.results)
    check(stepwell.compile(program.text, pipeline="O2", cache=False)(program.input), program.results)


def test_the_programs_join_splits() -> None:
    """Random programs put splits in front of others, behind others, between others, and leave results unused."""
    found: set[str] = set()
    for seed in range(40):
        for function in planned_functions(fused(Made(seed, 9).text, "plan-fusion")):
            for group in read_plan(function):
                places = [number for number, op in enumerate(group) if op.name == "graph.split"]
                if places and len(group) > 1:
                    found |= {"first"} if 0 in places else set()
                    found |= {"last"} if len(group) - 1 in places else set()
                    found |= {"between"} if any(0 < place < len(group) - 1 for place in places) else set()
                    if any(not list(value.uses) for place in places for value in group[place].results):
                        found.add("unused")
    assert found == {"first", "last", "between", "unused"}


GATED = """
func.func @main(%x: tensor<6x32xf32>) -> tensor<6x16xf32> {
  %a, %b = graph.split %x, sections = 2, axis = 1 : (tensor<6x32xf32>) -> (tensor<6x16xf32>, tensor<6x16xf32>)
  %s = graph.sigmoid %b : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %y = graph.multiply %a, %s : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  func.return %y : tensor<6x16xf32>
}
"""

PARTS = """
func.func @main(%x: tensor<6x12xf32>) -> (tensor<6x2xf32>, tensor<6x7xf32>) {
  %r = graph.relu %x : (tensor<6x12xf32>) -> tensor<6x12xf32>
  %a, %b, %c = graph.split %r, indices = [2, 5], axis = 1
      : (tensor<6x12xf32>) -> (tensor<6x2xf32>, tensor<6x3xf32>, tensor<6x7xf32>)
  func.return %a, %c : tensor<6x2xf32>, tensor<6x7xf32>
}
"""


def kernels(text: str, pipeline: str) -> int:
    return sum(isinstance(op, CallKernelOp) for op in fused(text, pipeline).walk())


def test_a_gated_unit_is_one_kernel() -> None:
    assert kernels(GATED, "lower-graph-to-loops") == 3
    assert kernels(GATED, "graph-optimize,to-loops") == 1
    assert sum(isinstance(op, BlockOp) for op in fused(GATED, "graph-optimize,to-loops").walk()) == 1
    x = np.random.default_rng(0).normal(size=(6, 32)).astype(np.float32)
    (found,) = stepwell.compile(GATED, cache=False)(x)
    np.testing.assert_allclose(found, x[:, :16] / (1 + np.exp(-x[:, 16:])), rtol=3e-6)


def test_a_result_that_nothing_uses_is_not_computed() -> None:
    module = fused(PARTS, "graph-optimize,to-loops")
    assert sum(isinstance(op, CallKernelOp) for op in module.walk()) == 1
    assert sum(isinstance(op, BlockOp) for op in module.walk()) == 2
    x = np.random.default_rng(0).integers(-9, 9, (6, 12)).astype(np.float32)
    check(stepwell.compile(PARTS, cache=False)(x), [np.maximum(x[:, :2], 0), np.maximum(x[:, 5:], 0)])


def test_kernels_of_splits_fuse_as_the_ops_do() -> None:
    for text in (GATED, PARTS):
        wanted = [
            [op.name for op in group] for f in planned_functions(fused(text, "plan-fusion")) for group in read_plan(f)
        ]
        lowered = fused(text, "lower-graph-to-loops,plan-fusion")
        found = [
            [f"graph.{op.callee_name.partition('_')[0]}" for op in group if isinstance(op, CallKernelOp)]
            for f in planned_functions(lowered)
            for group in read_plan(f)
        ]
        assert found == wanted


def test_without_the_groups_there_are_more_kernels() -> None:
    """An edited plan is honoured for ops of several results as well."""
    module = fused(GATED, "plan-fusion")
    for op in module.walk():
        if op.name == "graph.split":
            op.attributes.pop(GROUP)
    context = make_context()
    run_pipeline(context, module, "apply-fusion-plan")
    assert [op.name for op in module.walk() if op.name == "graph.split" and isinstance(op.parent_op(), func.FuncOp)]
    assert sum(isinstance(op, func.CallOp) for op in module.walk()) == 1
