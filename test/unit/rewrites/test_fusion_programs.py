"""
Fusion of random programs and of known networks: plans are valid, the fused program gives the same numbers, nothing is
fused twice.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from stepwell import reference
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.roles import GROUP, GROUP_REASON
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.traits import LoopSemantics
from stepwell.patterns.language.functions import is_primitive
from stepwell.rewrites.fusion.plan import planned_functions, read_plan, why_opaque
from stepwell.rewrites.fusion.rules import shipped_group_rules
from stepwell.testing.programs.program_generators import Program, random_program
from stepwell.testing.programs.strategies import seeds
from stepwell.testing.programs.values import arrays_of
from tolerances import check_random_program, check_same
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

EXAMPLES = 300 if FULL else 6
FUSION = "plan-fusion,apply-fusion-plan"


def ran(text: str, pipeline: str) -> ModuleOp:
    context = make_context()
    module = parse_text(context, text, "p.mlir")
    run_pipeline(context, module, parse_pipeline(pipeline), verify_each=True)
    return module


def exact_program(seed: int) -> Program:
    """
    A program whose results are the same bits however it is compiled.

    None with bf16: where the host has instructions for it, LLVM copies subnormal numbers as zero, fused or not.
    """
    program = random_program(seed, 12)
    while "bf16" in program.text:
        seed += 1_000_003
        program = random_program(seed, 12)
    return program


def layered(seed: int) -> tuple[str, int]:
    """
    A program of four layers of the same ops, but for additions, differences and products with numbers that each has or
    has not, and the number of functions that are alike without these.
    """
    rng = np.random.default_rng(seed)
    type_ = "tensor<3x40xf32>"
    lines = ["%x0 = graph.multiply %x, %x : (T, T) -> T"]
    value, name = "%x0", 0

    def step(op: str, operands: str, types: str, group: int) -> None:
        nonlocal value, name
        name += 1
        lines.append(f"%v{name} = graph.{op} {value}{operands} {{graph.group = {group} : i64}} : ({types}) -> T")
        value = f"%v{name}"

    for layer in range(4):
        for op in ("sin", "round", "sqrt"):
            step(op, "", "T", layer)
            for kind in ("subtract", "add", "multiply"):
                if rng.random() < 0.5:
                    number = rng.choice([-0.0, 0.0, 1.0, 0.5, -3.0])
                    lines.append(f"%n{name} = graph.constant dense<{number!s}> : tensor<f32>")
                    step(kind, f", %n{name}", "T, tensor<f32>", layer)
        step("abs", "", "T", layer)
    body = "\n  ".join(lines).replace("T", type_)
    return f"func.func @main(%x: {type_}) -> {type_} {{\n  {body}\n  func.return {value} : {type_}\n}}", 4


@settings(max_examples=EXAMPLES)
@given(seed=seeds())
def test_neutral_ops_change_no_bit(seed: int) -> None:
    """Layers become one function, and the program gives the bits that it gives op by op."""
    text, layers = layered(seed)
    made = ran(text, "apply-fusion-plan")
    calls = Counter(op.callee.string_value() for op in made.walk() if isinstance(op, func.CallOp))
    assert list(calls.values()) == [layers]
    x = (np.random.default_rng(seed).standard_normal((3, 40)) * 3).astype(np.float32)
    x[0, :4] = [-0.0, 0.0, np.inf, np.nan]
    alone = stepwell.compile(text, opt_level=0, cache=False)(x)
    for level in (0, 3):
        found = stepwell.compile(str(made), opt_level=level, cache=False)(x)
        check_same(found, alone)


def check_plan(module: ModuleOp) -> None:
    """Every op that can be in a group is in one, reasons are rules, and the plan is one that can be applied."""
    names = {rule.name for rule in shipped_group_rules()}
    for function in planned_functions(module):
        groups = read_plan(function)
        members = {op for group in groups for op in group}
        for op in function.walk():
            if isinstance(op, LoopSemantics) and op.name != "graph.full":
                assert (why_opaque(op) is None) == (op in members)
        for group in groups:
            assert {getattr(op.attributes[GROUP_REASON], "data", None) for op in group[:-1]} <= names
            assert GROUP_REASON not in group[-1].attributes


def check_functions(module: ModuleOp) -> None:
    """Fused functions hold two ops or more, no calls and no plan, and each is called."""
    called = Counter(op.callee.string_value() for op in module.walk() if isinstance(op, func.CallOp))
    for function in module.ops:
        assert isinstance(function, func.FuncOp)
        assert all(GROUP not in op.attributes for op in function.walk())
        if is_primitive(function):
            inner = [op for op in function.body.block.ops if not isinstance(op, func.ReturnOp)]
            assert len([op for op in inner if op.name != "graph.full"]) >= 2
            assert not any(isinstance(op, func.CallOp) for op in inner)
            assert called[function.sym_name.data] >= 1


@settings(max_examples=EXAMPLES)
@given(seed=seeds())
def test_random_programs(seed: int) -> None:
    smooth = seed % 2 == 1
    program = random_program(seed, 14, smooth=True) if smooth else exact_program(seed)
    planned = ran(program.text, "plan-fusion")
    check_plan(planned)
    text = str(planned)
    assert str(ran(text, "plan-fusion")) == text
    fused = ran(text, "apply-fusion-plan")
    check_functions(fused)
    once = str(fused)
    assert once == str(ran(program.text, FUSION))
    assert str(ran(once, FUSION)) == once
    found = stepwell.compile(once, pipeline="canonicalize", cache=False)(*program.inputs)
    if smooth:
        check_random_program(program.largest, found, program.expected)
    else:
        check_same(found, program.expected)


@settings(max_examples=EXAMPLES // 3)
@given(seed=seeds())
def test_inlining_is_the_inverse(seed: int) -> None:
    """Op for op the same up to order and constants: what was moved into functions comes back."""
    text = random_program(seed, 12).text
    before = Counter(op.name for op in ran(text, "cse").walk())
    after = Counter(op.name for op in ran(text, f"cse,{FUSION},inline-primitive,cse").walk())
    assert after == before


@settings(max_examples=EXAMPLES // 3)
@given(seed=seeds())
def test_kernel_calls_fuse_as_ops_do(seed: int) -> None:
    """The kinds come from loop functions when the ops are lowered already."""
    program = exact_program(seed)
    wanted = _group_sizes(ran(program.text, "plan-fusion"))
    module = ran(program.text, "lower-graph-to-loops,plan-fusion")
    if "graph.constant" not in program.text and "graph.full" not in program.text:
        assert _group_sizes(module) == wanted
    run_pipeline(make_context(), module, parse_pipeline("apply-fusion-plan,fuse-loops"), verify_each=True)
    assert not any(isinstance(op, func.CallOp) for op in module.walk())
    found = stepwell.compile(module, pipeline="inline-loops", cache=False)(*program.inputs)
    check_same(found, program.expected)


def _group_sizes(module: ModuleOp) -> list[int]:
    return [len(group) for function in planned_functions(module) for group in read_plan(function)]


SOFTMAX = """
func.func @main(%a: tensor<5x17xf32>, %b: tensor<5x17xf32>) -> tensor<5x17xf32> {
  %x = graph.multiply %a, %b : (tensor<5x17xf32>, tensor<5x17xf32>) -> tensor<5x17xf32>
  %m = graph.max %x, axis = [1], keepdims = true : (tensor<5x17xf32>) -> tensor<5x1xf32>
  %d = graph.subtract %x, %m : (tensor<5x17xf32>, tensor<5x1xf32>) -> tensor<5x17xf32>
  %e = graph.exp %d : (tensor<5x17xf32>) -> tensor<5x17xf32>
  %s = graph.sum %e, axis = [1], keepdims = true : (tensor<5x17xf32>) -> tensor<5x1xf32>
  %y = graph.divide %e, %s : (tensor<5x17xf32>, tensor<5x1xf32>) -> tensor<5x17xf32>
  func.return %y : tensor<5x17xf32>
}
"""

LAYER_NORM = """
func.func @main(%x: tensor<4x24xf32>, %gamma: tensor<24xf32>, %beta: tensor<24xf32>) -> tensor<4x24xf32> {
  %eps = graph.full 1.0e-5 : tensor<f32>
  %m = graph.mean %x, axis = [1], keepdims = true : (tensor<4x24xf32>) -> tensor<4x1xf32>
  %d = graph.subtract %x, %m : (tensor<4x24xf32>, tensor<4x1xf32>) -> tensor<4x24xf32>
  %q = graph.square %d : (tensor<4x24xf32>) -> tensor<4x24xf32>
  %v = graph.mean %q, axis = [1], keepdims = true : (tensor<4x24xf32>) -> tensor<4x1xf32>
  %w = graph.add %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %r = graph.sqrt %w : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = graph.divide %d, %r : (tensor<4x24xf32>, tensor<4x1xf32>) -> tensor<4x24xf32>
  %g = graph.multiply %n, %gamma : (tensor<4x24xf32>, tensor<24xf32>) -> tensor<4x24xf32>
  %y = graph.add %g, %beta : (tensor<4x24xf32>, tensor<24xf32>) -> tensor<4x24xf32>
  func.return %y : tensor<4x24xf32>
}
"""

CONVOLUTION = """
func.func @main(%x: tensor<1x3x9x8xf32>, %w: tensor<4x3x3x3xf32>, %s: tensor<4x1x1xf32>, %o: tensor<4x1x1xf32>)
    -> tensor<1x4x9x8xf32> {
  %0 = graph.conv2d %x, %w, padding = [1, 1, 1, 1] : (tensor<1x3x9x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x9x8xf32>
  %1 = graph.multiply %0, %s : (tensor<1x4x9x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x9x8xf32>
  %2 = graph.add %1, %o : (tensor<1x4x9x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x9x8xf32>
  %3 = graph.relu %2 : (tensor<1x4x9x8xf32>) -> tensor<1x4x9x8xf32>
  func.return %3 : tensor<1x4x9x8xf32>
}
"""

DIAMOND = """
func.func @main(%x: tensor<6x7xf32>, %w: tensor<7x5xf32>) -> tensor<5x6xf32> {
  %0 = graph.matmul %x, %w : (tensor<6x7xf32>, tensor<7x5xf32>) -> tensor<6x5xf32>
  %1 = graph.sigmoid %0 : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %2 = graph.multiply %0, %1 : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %3 = graph.permute_dims %2 : (tensor<6x5xf32>) -> tensor<5x6xf32>
  func.return %3 : tensor<5x6xf32>
}
"""
NETWORKS = {"softmax": (SOFTMAX, [6]), "layer_norm": (LAYER_NORM, [9]), "convolution": (CONVOLUTION, [4])}
NETWORKS["diamond"] = (DIAMOND, [3, 1])


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name: str) -> None:
    text, sizes = NETWORKS[name]
    assert _group_sizes(ran(text, "plan-fusion")) == sizes
    module = stepwell.parse(text)
    (main,) = [each for each in module.ops if isinstance(each, func.FuncOp)]
    inputs = [
        arrays_of(number, type_.get_shape(), "f32", "finite")  # pyright: ignore[reportAttributeAccessIssue]
        for number, type_ in enumerate(main.function_type.inputs)
    ]
    expected = reference.run(module, "main", *inputs)
    fused = stepwell.compile(module, pipeline=FUSION, cache=False)(*inputs)
    check_random_program(max(1.0, *(float(np.max(np.abs(each))) for each in inputs)) ** 2, fused, expected)


def test_a_shared_function_of_unknown_sizes() -> None:
    """Two calls of one function, for which sizes are found that differ."""
    text = """
    func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
      %0 = graph.negative %x : (tensor<?xf32>) -> tensor<?xf32>
      %1 = graph.relu %0 : (tensor<?xf32>) -> tensor<?xf32>
      %2 = graph.negative %y : (tensor<?xf32>) -> tensor<?xf32>
      %3 = graph.relu %2 : (tensor<?xf32>) -> tensor<?xf32>
      func.return %1, %3 : tensor<?xf32>, tensor<?xf32>
    }"""
    module = ran(text, FUSION)
    assert str(module).count("func.func private") == 1 and str(module).count("func.call") == 2
    x, y = np.arange(-2, 3, dtype=np.float32), np.arange(-1, 2, dtype=np.float32)
    found = stepwell.compile(module, cache=False)(x, y)
    check_same(found, [np.maximum(-x, 0), np.maximum(-y, 0)])
