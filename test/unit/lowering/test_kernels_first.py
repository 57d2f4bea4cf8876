"""Kernels lowered one after the other give the same module as passes that run over all of it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.ir.walk import walk
from stepwell.core.passes.applications import counting
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import PassFailure, run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.kernels_first import Work, first_of_lowering, lower_kernels_first
from stepwell.lowering.llvm.listening import listening
from stepwell.lowering.llvm.stubs import STUB
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
from stepwell.lowering.llvm_text.pieces import EarlyPieces, emit_llvm_pieces
from stepwell.runtime.stairs import set_signatures
from stepwell.testing.graphs.random_graph import random_graph
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

FULL = os.environ.get("STEPWELL_FULL", "") == "1"

F = "tensor<64x64xf32>"
D = "tensor<200xf64>"
I = "tensor<200xi32>"  # noqa: E741

PROGRAM = f"""
func.func @main(%x: {F}, %w: {F}, %d: {D}, %i: {I}, %j: {I}) -> ({F}, {D}, {D}, {I}) {{
  %0 = graph.matmul %x, %w : ({F}, {F}) -> {F}
  %1 = graph.matmul %0, %w : ({F}, {F}) -> {F}
  %2 = graph.softmax %1, axis = 1 : ({F}) -> {F}
  %3 = graph.exp %d : ({D}) -> {D}
  %4 = graph.tan %3 : ({D}) -> {D}
  %5 = graph.take %i, %j, axis = 0 : ({I}, {I}) -> {I}
  func.return %2, %3, %4, %5 : {F}, {D}, {D}, {I}
}}
"""
"""A kernel that is called twice, kernels that call functions of C, and one with a check."""

MANY = """
func.func @main(
  %x: tensor<64x64xf32>, %y: tensor<64x96xf32>, %z: tensor<96x80xf32>, %w: tensor<80x112xf32>
) -> tensor<64x112xf32> {
  %0 = graph.matmul %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = graph.matmul %0, %y : (tensor<64x64xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
  %2 = graph.matmul %1, %z : (tensor<64x96xf32>, tensor<96x80xf32>) -> tensor<64x80xf32>
  %3 = graph.matmul %2, %w : (tensor<64x80xf32>, tensor<80x112xf32>) -> tensor<64x112xf32>
  func.return %3 : tensor<64x112xf32>
}
"""
"""Four kernels that are large enough for a piece."""


def loops(name: str, value: str, inputs: int = 1) -> str:
    """Returns a loop function that maps the elements of 64x64, which are `%0` and so on."""
    buffers = ", ".join(f"%a{number}: memref<64x64xf32>" for number in range(inputs))
    loads = "\n".join(f"      %{n} = memref.load %a{n}[%i, %j] : memref<64x64xf32>" for n in range(inputs))
    return f"""
tensor_loop.func private @{name}({buffers}) outs(%c: memref<64x64xf32>) {{
  tensor_loop.grid (%x, %y) in (64, 64) {{
    tensor_loop.block "{name}" spatial(%i in 64 = %x, %j in 64 = %y) {{
{loads}
      %r = {value} : f32
      memref.store %r, %c[%i, %j] : memref<64x64xf32>
    }}
  }}
}}"""


def product(name: str) -> str:
    return f"""
tensor_loop.func private @{name}(%a: memref<64x64xf32>, %b: memref<64x64xf32>) outs(%c: memref<64x64xf32>) {{
  tensor_loop.grid (%x, %y, %z) in (64, 64, 64) {{
    tensor_loop.block "{name}" spatial(%i in 64 = %x, %j in 64 = %y) reduce(%k in 64 = %z) {{
      init {{
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %c[%i, %j] : memref<64x64xf32>
      }}
      %l = memref.load %a[%i, %k] : memref<64x64xf32>
      %r = memref.load %b[%k, %j] : memref<64x64xf32>
      %s = memref.load %c[%i, %j] : memref<64x64xf32>
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %s, %p : f32
      memref.store %t, %c[%i, %j] : memref<64x64xf32>
    }}
  }}
}}"""


def at_loops(text: str, pipeline: str = "O3") -> tuple[ModuleOp, list[ModulePass]]:
    """Returns a program above the passes that kernels go through alone, and these."""
    module = parse_text(make_context(), text)
    set_signatures(module, "main")
    passes = parse_pipeline(pipeline)
    first = first_of_lowering(passes)
    assert first is not None
    run_pipeline(make_context(), module, passes[:first])
    return module, passes[first:]


def run_alone(
    pass_: ModulePass, number: int, module: ModuleOp, work: Work | None = None, done: float | None = None
) -> Any:
    return (work or pass_.apply)(make_context(), module)


def told_of(text: str, pipeline: str = "O3") -> list[str]:
    """Checks that both orders make the same module, and returns the kernels that went alone."""
    told: list[str] = []
    module, passes = at_loops(text, pipeline)
    with listening(lambda kernel, ops: bool(told.append(kernel))):
        alone = lower_kernels_first(module, passes, run_alone)
    expected, passes = at_loops(text, pipeline)
    run_pipeline(make_context(), expected, passes, verify_each=False)
    module.verify()
    assert str(module) == str(expected)
    assert alone == 0 or told
    return told[:alone]


def test_the_module_is_the_same_in_both_orders():
    told = told_of(PROGRAM)
    assert "matmul" in told
    assert not any("take" in kernel for kernel in told)  # Its check gets a number of the module.


def test_results_take_the_place_of_operands_in_both_orders():
    """`@exp` is called with an operand that is read again, and with one that is not. All calls of `@tanh` end it."""
    told = told_of(f"""
func.func @main(%x: {F}, %w: {F}) -> ({F}, {F}, {F}) {{
  %0 = graph.matmul %x, %w : ({F}, {F}) -> {F}
  %1 = graph.exp %0 : ({F}) -> {F}
  %2 = graph.matmul %1, %0 : ({F}, {F}) -> {F}
  %3 = graph.exp %2 : ({F}) -> {F}
  %4 = graph.matmul %3, %3 : ({F}, {F}) -> {F}
  %5 = graph.tanh %4 : ({F}) -> {F}
  func.return %1, %3, %5 : {F}, {F}, {F}
}}""")
    assert told.index("fused_matmul_exp0") < told.index("fused_matmul_tanh0")


UNFUSED = "prepack-weights,apply-schedule-plan,merge-prepare-functions,bufferize{options},to-llvm"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("", ["tanh_in_place", "exp", "exp_in_place"]),
        ("{in-place=false}", ["tanh", "exp"]),
        ("{reuse=false}", ["tanh", "exp"]),
    ],
)
def test_copies_in_place_are_made_on_the_way(options: str, names: list[str]):
    """All calls of `@tanh` are the last to read their operand, and one of `@exp` is."""
    text = f"""
func.func @main(%x: {F}, %w: {F}) -> {F} {{
  %0 = graph.call_kernel @product(%x, %w) : ({F}, {F}) -> {F}
  %1 = graph.call_kernel @tanh(%0) : ({F}) -> {F}
  %2 = graph.call_kernel @exp(%1) : ({F}) -> {F}
  %3 = graph.call_kernel @product(%1, %2) : ({F}, {F}) -> {F}
  %4 = graph.call_kernel @exp(%3) : ({F}) -> {F}
  func.return %4 : {F}
}}
{loops("tanh", "math.tanh %0")}
{loops("exp", "math.exp %0")}
{product("product")}"""
    told = told_of(text, UNFUSED.replace("{options}", options))
    assert [name for name in told if "product" not in name] == names


def test_a_kernel_that_wants_two_copies_waits():
    """The first call could put its result in the place of either operand, and each other call in that of one."""
    text = f"""
func.func @main(%x: {F}, %w: {F}) -> {F} {{
  %0 = graph.call_kernel @product(%x, %w) : ({F}, {F}) -> {F}
  %1 = graph.call_kernel @product(%w, %x) : ({F}, {F}) -> {F}
  %2 = graph.call_kernel @plus(%0, %x) : ({F}, {F}) -> {F}
  %3 = graph.call_kernel @plus(%x, %1) : ({F}, {F}) -> {F}
  %4 = graph.call_kernel @product(%2, %3) : ({F}, {F}) -> {F}
  func.return %4 : {F}
}}
{loops("plus", "arith.addf %0, %0", inputs=2)}
{product("product")}
{product("other")}"""
    told = told_of(text, UNFUSED.replace("{options}", ""))
    assert not any(name.startswith("plus") for name in told[: told.index("product") + 1])


def test_temporaries_become_arguments_in_both_orders():
    told = told_of("""
func.func @main(%x: tensor<1x14x14x32xf32>, %w: tensor<5x5x1x32xf32>, %v: tensor<3x3x32x32xf32>)
    -> tensor<1x14x14x32xf32> {
  %0 = graph.conv2d %x, %w, padding = [2, 2, 2, 2], groups = 32, data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x14x14x32xf32>, tensor<5x5x1x32xf32>) -> tensor<1x14x14x32xf32>
  %1 = graph.conv2d %0, %v, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x14x14x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x14x14x32xf32>
  %2 = graph.relu %1 : (tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32>
  func.return %2 : tensor<1x14x14x32xf32>
}""")
    assert sorted(told) == ["conv2d", "fused_conv2d_relu0"]


def random_text(seed: int) -> str:
    """Returns a random program whose sizes are known and that takes no scalars."""
    while True:
        text = str(random_graph(seed, "smooth" if seed % 2 else "any").module)
        if "?" not in text and ": i1" not in text.splitlines()[1]:
            return text
        seed += 1000


@pytest.mark.parametrize("seed", range(100 if FULL else 8))
def test_random_programs_are_the_same_in_both_orders(seed: int):
    told_of(random_text(70_000 + seed))


def lowered_in_pieces(*, drops: bool) -> tuple[ModuleOp, EarlyPieces, list[str]]:
    """Returns `MANY` in the llvm dialect, what has written its kernels, and their texts."""
    module, passes = at_loops(MANY)
    started: list[str] = []
    early = EarlyPieces(started.append, drops=drops)
    with listening(early):
        assert lower_kernels_first(module, passes, run_alone)
    return module, early, started


def test_kernels_that_are_written_become_stubs():
    whole, early, _ = lowered_in_pieces(drops=False)
    expected = list(emit_llvm_pieces(whole, early))
    module, early, started = lowered_in_pieces(drops=True)
    module.verify()
    stubs = [op for op in module.ops if STUB in op.attributes]
    assert [op.sym_name.data for op in stubs if isinstance(op, llvm.FuncOp)] == ["matmul_2", "matmul_3"]
    assert all(len(walk(op)) < 10 for op in stubs)
    # @matmul comes with the rest, for its name. @matmul_1 is kept, since a program with one kernel is one text.
    assert len(started) == 3
    assert list(emit_llvm_pieces(module, early)) == expected


def test_a_stub_has_no_text():
    module, _, _ = lowered_in_pieces(drops=True)
    with pytest.raises(DiagnosticException, match="is a stub, whose text was made before"):
        emit_llvm_text(module)
    with pytest.raises(DiagnosticException, match="is a stub, whose text was made before"):
        list(emit_llvm_pieces(module))


def test_no_kernel_of_one_is_lowered_first():
    text = f"func.func @main(%x: {F}) -> {F} {{ %0 = graph.matmul %x, %x : ({F}, {F}) -> {F} func.return %0 : {F} }}"
    assert told_of(text) == []


@pytest.mark.parametrize("pipeline", ["O3,canonicalize", "lower-to-llvm-dialect", ""])
def test_no_other_passes_run_on_one_kernel_after_the_other(pipeline: str):
    assert first_of_lowering(parse_pipeline(pipeline)) is None


def test_results_are_those_of_numpy():
    random = np.random.default_rng(0)
    x, w = (random.standard_normal((64, 64)).astype("f") for _ in range(2))
    d, i, j = random.standard_normal(200), np.arange(200, dtype="i4") * 3, np.arange(200, dtype="i4")[::-1]
    program = stepwell.compile(PROGRAM, cache=False, tuning=False)
    found = program(x, w, d, i, j)
    product = np.exp((x @ w @ w) - (x @ w @ w).max(1, keepdims=True))
    np.testing.assert_allclose(found[0], product / product.sum(1, keepdims=True), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[1], np.exp(d), rtol=1e-12)
    np.testing.assert_allclose(found[2], np.tan(np.exp(d)), rtol=1e-9)
    np.testing.assert_array_equal(found[3], i[j])


def test_tensors_between_blocks_are_refused_as_before():
    text = f"""
func.func @main(%x: {F}) -> {F} {{
  %0 = graph.call_kernel @exp(%x) : ({F}) -> {F}
  cf.br ^last(%0 : {F})
^last(%y: {F}):
  %1 = graph.call_kernel @tanh(%y) : ({F}) -> {F}
  func.return %1 : {F}
}}
{loops("tanh", "math.tanh %0")}
{loops("exp", "math.exp %0")}"""
    with pytest.raises(DiagnosticException, match="has several blocks that pass tensors around, expected one"):
        told_of(text, UNFUSED.replace("{options}", ""))


def test_a_bar_moves_with_the_kernels():
    module, passes = at_loops(MANY)
    places: list[float] = []

    def run(pass_: ModulePass, number: int, part: ModuleOp, work: Work | None = None, done: float | None = None) -> Any:
        if done is not None:
            places.append(done)
        return run_alone(pass_, number, part, work)

    assert lower_kernels_first(module, passes, run) == 3
    assert sorted(set(places)) == list(dict.fromkeys(places)) == [0.0, 3.0, 6.0, 9.0]
    assert len(passes) == 12


def test_whoever_counts_gets_passes_over_the_whole_module(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise AssertionError("a kernel went alone")

    monkeypatch.setattr("stepwell.lowering.kernels_first.lower_kernels_first", fail)
    with counting() as applied:
        stepwell.compile(MANY, cache=False, tuning=False)
    assert applied.count > 0
    with pytest.raises(AssertionError, match="a kernel went alone"):
        stepwell.compile(MANY, cache=False, tuning=False)


def test_an_error_names_the_pass(monkeypatch: pytest.MonkeyPatch):
    from stepwell.lowering.llvm.lower_to_llvm_dialect import LowerToLLVMDialectPass

    def fail(*_: object) -> None:
        raise DiagnosticException("no")

    monkeypatch.setattr(LowerToLLVMDialectPass, "apply", fail)
    with pytest.raises(DiagnosticException) as raised:
        stepwell.compile(PROGRAM, cache=False, tuning=False)
    failure = raised.value.failed_pass  # pyright: ignore[reportAttributeAccessIssue]
    assert isinstance(failure, PassFailure)
    assert failure.number == len(parse_pipeline("O3"))
    assert str(failure) in raised.value.__notes__[0]


NO_TURNS = f"""
func.func @main(%x: {F}, %w: tensor<64x96xf32>, %v: tensor<96x64xf32>) -> {F} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %c0 step %c1 iter_args(%a = %x) -> ({F}) {{
    %0 = graph.matmul %a, %w : ({F}, tensor<64x96xf32>) -> tensor<64x96xf32>
    %1 = graph.matmul %0, %v : (tensor<64x96xf32>, tensor<96x64xf32>) -> {F}
    %2 = graph.softmax %1, axis = 1 : ({F}) -> {F}
    scf.yield %2 : {F}
  }}
  %y = graph.exp %r : ({F}) -> {F}
  func.return %y : {F}
}}
"""


def test_kernels_that_nobody_calls_in_the_end():
    """The loop has no turns, which is seen when its kernels have been written and are stubs."""
    x, w, v = (np.ones(shape, np.float32) for shape in ((64, 64), (64, 96), (96, 64)))
    (found,) = stepwell.compile(NO_TURNS, cache=False)(x, w, v)
    np.testing.assert_allclose(found, np.exp(x), rtol=1e-6)
