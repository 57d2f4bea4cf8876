"""The graph passes on random programs: same results, valid, idempotent, deterministic, and fast on long chains."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from counts import FULL
from hypothesis import given
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.graph.constants import ConstantOp
from stepwell.reference.run import run
from stepwell.testing.programs.program_generators import random_program
from stepwell.testing.programs.strategies import seeds
from tolerances import check_random_program
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

CTX = make_context()

EXACT = [
    "eliminate-common-subexpr",
    'simplify-expr{numerics="strict"}',
    "fold-constant{max-elements=64}",
    "fuse-matmul-add",
    "inline-primitive",
    "eliminate-dead-code",
    "remove-unused-functions",
    "specialize-shapes",
    'apply-patterns{file="simplify.mlir" numerics="strict"}',
]
"""Passes that keep every bit of the results (as the reference computes them)."""


def apply(pipeline: str, module: ModuleOp) -> None:
    for each in parse_pipeline(pipeline):
        each.apply(CTX, module)
        verify_module(module)


def assert_same_bits(found: tuple[Any, ...], expected: Any, text: str) -> None:
    for left, right in zip(found, expected, strict=True):
        same = left.dtype == right.dtype and left.shape == right.shape
        wide = [np.asarray(each, np.float64) if each.dtype.kind not in "iub" else each for each in (left, right)]
        same = same and np.array_equal(*wide, equal_nan=wide[0].dtype.kind == "f")
        if same and wide[0].dtype.kind == "f":
            numbers = ~np.isnan(wide[0])
            same = np.array_equal(np.signbit(wide[0])[numbers], np.signbit(wide[1])[numbers])
        assert same, text


def with_constant_arguments(module: ModuleOp, inputs: list[Any]) -> ModuleOp:
    """`main` with its arguments replaced by constants: everything can be computed."""
    copy = module.clone()
    (function,) = copy.body.ops
    assert isinstance(function, func.FuncOp)
    block = function.body.block
    first = block.first_op
    assert first is not None
    for array in inputs:
        constant = ConstantOp.from_array(array)
        block.insert_op_before(constant, first)
        block.args[0].replace_all_uses_with(constant.results[0])
        block.erase_arg(block.args[0])
    outputs = list(function.function_type.outputs.data)
    function.function_type = type(function.function_type).from_lists([], outputs)
    return copy


def twice(module: ModuleOp) -> ModuleOp:
    """`main` with every op of its body written twice, all results returned."""
    copy = module.clone()
    (function,) = copy.body.ops
    assert isinstance(function, func.FuncOp)
    block = function.body.block
    last = block.last_op
    assert last is not None
    mapping = dict(zip(block.args, block.args, strict=True))
    copies = [op.clone(mapping) for op in block.ops if op is not last]  # pyright: ignore
    block.insert_ops_before(copies, last)
    results = [*last.operands, *[mapping.get(value, value) for value in last.operands]]  # pyright: ignore
    block.insert_op_before(func.ReturnOp(*results), last)
    last.detach()
    last.erase()
    inputs = list(function.function_type.inputs.data)
    function.function_type = type(function.function_type).from_lists(inputs, [value.type for value in results])
    return copy


@given(seeds())
def test_exact_passes_keep_every_bit(seed: int) -> None:
    program = random_program(seed)
    module = parse_text(CTX, program.text)
    for pass_text in EXACT:
        copy = module.clone()
        apply(pass_text, copy)
        assert_same_bits(run(copy, "main", *program.inputs), program.expected, f"{pass_text}\n{program.text}")


@given(seeds())
def test_passes_are_idempotent(seed: int) -> None:
    program = random_program(seed, smooth=bool(seed % 2))
    for pass_text in [*EXACT, "fuse-ewise-fma", 'simplify-expr{numerics="fast"}']:
        module = twice(parse_text(CTX, program.text))
        apply(pass_text, module)
        once = str(module)
        apply(pass_text, module)
        assert str(module) == once, pass_text


@given(seeds())
def test_everything_on_constants_is_computed(seed: int) -> None:
    program = random_program(seed)
    module = with_constant_arguments(parse_text(CTX, program.text), program.inputs)
    apply("fold-constant{max-elements=100000}", module)
    assert_same_bits(run(module, "main"), program.expected, program.text)
    left = {op.name for op in module.walk()} - {"builtin.module", "func.func", "func.return"}
    assert left <= {"graph.constant", "graph.full"}, program.text


@given(seeds())
def test_large_constants_are_prepared(seed: int) -> None:
    program = random_program(seed)
    module = with_constant_arguments(parse_text(CTX, program.text), program.inputs)
    apply("fold-constant{max-elements=3}", module)
    assert_same_bits(run(module, "main"), program.expected, program.text)


@given(seeds())
def test_what_is_written_twice_is_computed_once(seed: int) -> None:
    program = random_program(seed)
    module = parse_text(CTX, program.text)
    apply("eliminate-common-subexpr", module)
    doubled = twice(module)
    apply("eliminate-common-subexpr", doubled)
    assert sum(1 for _ in doubled.walk()) == sum(1 for _ in module.walk())
    assert_same_bits(run(doubled, "main", *program.inputs), [*program.expected, *program.expected], program.text)


@given(seeds())
def test_rounding_passes_stay_close(seed: int) -> None:
    program = random_program(seed, smooth=True)
    module = parse_text(CTX, program.text)
    apply("eliminate-common-subexpr,simplify-expr,fuse-ewise-fma,fuse-matmul-add,eliminate-dead-code", module)
    check_random_program(program.largest, run(module, "main", *program.inputs), program.expected)


@given(seeds())
def test_passes_in_any_order(seed: int) -> None:
    program = random_program(seed)
    module = parse_text(CTX, program.text)
    order = np.random.default_rng(seed).permutation(len(EXACT))[:6]
    pipeline = ",".join(EXACT[number] for number in order)
    run_pipeline(CTX, module, pipeline)
    assert_same_bits(run(module, "main", *program.inputs), program.expected, f"{pipeline}\n{program.text}")


def test_fusing_and_inlining_is_the_identity() -> None:
    text = """func.func @main(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> {
      %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %1 = graph.add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
      %2 = graph.matmul %1, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %3 = graph.add %b, %2 : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      func.return %3 : tensor<4x4xf32>
    }"""
    module = parse_text(CTX, text)
    before = str(module)
    apply("fuse-matmul-add", module)
    assert str(module) != before
    apply("inline-primitive", module)
    assert str(module) == before


SCRIPT = """
import sys
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.testing.programs.program_generators import random_program
ctx = make_context()
for seed in range(6):
    module = parse_text(ctx, random_program(seed, smooth=bool(seed % 2)).text)
    for each in parse_pipeline(sys.argv[1]):
        each.apply(ctx, module)
    print(module)
"""


@pytest.mark.ci_cases(0)
def test_output_does_not_depend_on_the_hash_seed() -> None:
    pipeline = "eliminate-common-subexpr,simplify-expr,fold-constant,fuse-ewise-fma,fuse-matmul-add"
    outputs = set()
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, pipeline],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1 and "graph." in outputs.pop()


LENGTH = 20_000 if FULL else 1_500

CHAINS = {
    "mixed": lambda i: (
        "add %v{p}, %y",
        "relu %v{p}",
        "multiply %v{p}, %k",
        "multiply %v{p}, %y",
        "exp %v{p}",
    )[i % 5],
    "relu": lambda i: "relu %v{p}",
    "equal": lambda i: "add %x, %y",
    "neutral": lambda i: "multiply %v{p}, %k",
    "constant": lambda i: "add %v{p}, %k" if i > 1 else "add %k, %k",
}


def chain(kind: str) -> ModuleOp:
    """A chain of `LENGTH` ops, the whole of it one data dependence but for `equal`."""
    t = "tensor<4xf32>"
    lines = [f"%k = graph.full 1.0 : {t}", f"%v0 = graph.add %x, %y : ({t}, {t}) -> {t}"]
    for number in range(1, LENGTH):
        body = CHAINS[kind](number).format(p=number - 1)
        types = ", ".join([t] * (body.count(",") + 1))
        lines.append(f"%v{number} = graph.{body} : ({types}) -> {t}")
    body = "\n".join(lines)
    return parse_text(CTX, f"func.func @main(%x: {t}, %y: {t}) -> {t} {{\n{body}\nfunc.return %v{LENGTH - 1} : {t}\n}}")


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("kind", list(CHAINS))
def test_long_chain(kind: str) -> None:
    """A4: no recursion; the time is that of the whole test run, see bench/tool_costs.py for figures."""
    module = chain(kind)
    passes = [*EXACT, "fuse-ewise-fma", 'specialize-shapes{main="4,4"}']
    for pass_text in passes:
        copy = module.clone()
        (each,) = parse_pipeline(pass_text)
        each.apply(CTX, copy)
        verify_module(copy)
