"""`split-loops`: what is computed on the parts of an axis is what was computed on all of it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from stepwell.core.ir.walk import ops_of
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.tensor_loop import BlockOp
from xdsl.dialects import scf

Array = np.ndarray[Any, Any]

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "i32": np.int32,
    "i8": np.int8,
}


class Program:
    """A random program of slices, elementwise ops, pads and concatenations, and its results by NumPy."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.dtype = self.rng.choice(list(DTYPES))
        self.lines: list[str] = []
        shape = [self.rng.choice([1, 2, 3, 9, 24, 33]) for _ in range(self.rng.randint(1, 4))]
        numbers = np.random.default_rng(seed)
        self.inputs = [numbers.integers(-5, 6, shape).astype(DTYPES[self.dtype]) for _ in range(2)]
        self.values: list[tuple[str, Array]] = [(f"%x{i}", x) for i, x in enumerate(self.inputs)]
        for _ in range(self.rng.randint(2, 7)):
            name, value = self.rng.choice(self.values[-4:])
            make = self.rng.choice([self.slice, self.pad, self.concat, self.concat, self.unary, self.binary])
            if value.size < 200_000:
                make(name, value)
        self.result = self.values[-1]

    def type(self, value: Array) -> str:
        return f"tensor<{''.join(f'{size}x' for size in value.shape)}{self.dtype}>"

    def add(self, op: str, operands: list[tuple[str, Array]], attributes: str, value: Array) -> None:
        name = f"%v{len(self.lines)}"
        names, types = ", ".join(name for name, _ in operands), ", ".join(self.type(v) for _, v in operands)
        self.lines.append(f"  {name} = graph.{op} {names}{attributes} : ({types}) -> {self.type(value)}")
        self.values.append((name, value))

    def slice(self, name: str, value: Array) -> None:
        axis = self.rng.randrange(value.ndim)
        begin = self.rng.randrange(value.shape[axis])
        end = self.rng.randint(begin + 1, value.shape[axis])
        step = self.rng.choice([1, 1, 2])
        found = value[(*[slice(None)] * axis, slice(begin, end, step))]
        text = f", axes = [{axis}], begin = [{begin}], end = [{end}], strides = [{step}]"
        self.add("strided_slice", [(name, value)], text, found)

    def pad(self, name: str, value: Array) -> None:
        widths = [self.rng.choice([0, 0, 1, 2, 30]) for _ in range(2 * value.ndim)]
        number = self.rng.choice([0, 3])
        pairs = list(zip(widths[::2], widths[1::2], strict=True))
        text = f", pad_width = {widths}, value = {float(number)}"
        self.add("pad", [(name, value)], text, np.pad(value, pairs, constant_values=number))

    def concat(self, name: str, value: Array) -> None:
        axis = self.rng.randrange(value.ndim)
        fit = [
            (n, v)
            for n, v in self.values
            if v.ndim == value.ndim
            and all(a == b for i, (a, b) in enumerate(zip(v.shape, value.shape, strict=True)) if i != axis)
        ]
        chosen = [(name, value), *(self.rng.choice(fit) for _ in range(self.rng.randint(1, 3)))]
        self.rng.shuffle(chosen)
        self.add("concat", chosen, f", axis = {axis}", np.concatenate([v for _, v in chosen], axis))

    def unary(self, name: str, value: Array) -> None:
        if self.rng.random() < 0.5:
            self.add("relu", [(name, value)], "", np.maximum(value, DTYPES[self.dtype](0)))
        else:
            self.add("negative", [(name, value)], "", -value)

    def binary(self, name: str, value: Array) -> None:
        other = self.rng.choice([(n, v) for n, v in self.values if v.shape == value.shape])
        self.add("maximum", [(name, value), other], "", np.maximum(value, other[1]))

    @property
    def text(self) -> str:
        arguments = ", ".join(f"%x{i}: {self.type(x)}" for i, x in enumerate(self.inputs))
        type_ = self.type(self.result[1])
        body = "\n".join(self.lines)
        return f"func.func @main({arguments}) -> {type_} {{\n{body}\n  func.return {self.result[0]} : {type_}\n}}"


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("seed", range(400 if FULL else 12))
def test_random_programs(seed: int) -> None:
    program = Program(seed)
    compiled = stepwell.compile(program.text, opt_level=3, cache=False)
    np.testing.assert_array_equal(compiled(*program.inputs)[0], program.result[1], err_msg=program.text)


HOLDS: dict[str, Any] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
}


def chosen_by(conditions: str, condition: str) -> str:
    """`out[i, j] = x[i, j]` where a condition of `%vi` and `%vj` holds, else -1."""
    return f"""
tensor_loop.func private @kernel(%x: memref<6x90xf32>) outs(%out: memref<6x90xf32>) {{
  tensor_loop.grid (%i, %j) in (6, 90) {{
    tensor_loop.block "b" spatial(%vi in 6 = %i, %vj in 90 = %j) {{
{conditions}
      %0 = scf.if {condition} -> (f32) {{
        %1 = memref.load %x[%vi, %vj] : memref<6x90xf32>
        scf.yield %1 : f32
      }} else {{
        %2 = arith.constant -1.0 : f32
        scf.yield %2 : f32
      }}
      memref.store %0, %out[%vi, %vj] : memref<6x90xf32>
    }}
  }}
}}
func.func @main(%x: tensor<6x90xf32>) -> tensor<6x90xf32> {{
  %0 = graph.call_kernel @kernel(%x) : (tensor<6x90xf32>) -> tensor<6x90xf32>
  func.return %0 : tensor<6x90xf32>
}}"""


def check(text: str, mask: Array) -> tuple[int, int]:
    """Compares with NumPy; how many blocks there are after the pass, and how many `scf.if`."""
    x = np.random.default_rng(5).random((6, 90), np.float32)
    compiled = stepwell.compile(text, opt_level=3, cache=False)
    np.testing.assert_array_equal(compiled(x)[0], np.where(mask, x, np.float32(-1)))
    context = make_context()
    module = parse_text(context, text)
    run_pipeline(context, module, parse_pipeline("split-loops"))
    return len(ops_of(module, BlockOp)), len(ops_of(module, scf.IfOp))


@pytest.mark.parametrize("offset", (0, 7) if FULL else (7,))
@pytest.mark.parametrize("limit", (-9, 1, 40, 96, 97, 200) if FULL else (40,))
@pytest.mark.parametrize("predicate", HOLDS)
def test_every_comparison(predicate: str, limit: int, offset: int) -> None:
    conditions = f"""
      %a = arith.constant {offset} : index
      %b = arith.constant {limit} : index
      %s = arith.addi %vj, %a : index
      %c = arith.cmpi {predicate}, %s, %b : index"""
    place = np.arange(90) + offset
    mask = np.broadcast_to(HOLDS[predicate](place, limit), (6, 90))
    changes = int(np.count_nonzero(mask[0, 1:] != mask[0, :-1]))
    blocks, choices = check(chosen_by(conditions, "%c"), mask)
    assert (blocks, choices) == (1 + changes, int(not changes))  # without a border nothing is touched


def test_conditions_on_two_axes() -> None:
    conditions = """
      %one = arith.constant 1 : index
      %five = arith.constant 5 : index
      %c80 = arith.constant 80 : index
      %a = arith.cmpi sge, %vi, %one : index
      %b = arith.cmpi slt, %vi, %five : index
      %d = arith.cmpi sgt, %vj, %c80 : index
      %e = arith.andi %a, %b : i1
      %f = arith.ori %e, %d : i1"""
    i, j = np.mgrid[0:6, 0:90]
    mask = ((i >= 1) & (i < 5)) | (j > 80)
    assert check(chosen_by(conditions, "%f"), mask) == (5, 0)  # two for the first row, two for the last


def test_limits_not_known_before() -> None:
    conditions = """
      %limit = arith.muli %vi, %vi : index
      %c = arith.cmpi slt, %vj, %limit : index"""
    i, j = np.mgrid[0:6, 0:90]
    assert check(chosen_by(conditions, "%c"), j < i * i) == (1, 1)


@pytest.mark.parametrize(("pieces", "parts"), [(30, 30), (65, 1)])
def test_concatenations_of_many(pieces: int, parts: int) -> None:
    """As in networks whose layers see all those before. Beyond `MOST_PARTS` the grid stays as it is."""
    names, types = ", ".join((["%x", "%y"] * pieces)[:pieces]), ", ".join(["tensor<2x24xf32>"] * pieces)
    text = f"""func.func @main(%x: tensor<2x24xf32>, %y: tensor<2x24xf32>) -> tensor<2x{24 * pieces}xf32> {{
      %0 = graph.concat {names}, axis = 1 : ({types}) -> tensor<2x{24 * pieces}xf32>
      func.return %0 : tensor<2x{24 * pieces}xf32>
    }}"""
    context = make_context()
    module = parse_text(context, text)
    run_pipeline(context, module, parse_pipeline("lower-graph-to-loops,split-loops"))
    assert len(ops_of(module, BlockOp)) == parts
