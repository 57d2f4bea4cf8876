"""Kernels lowered one after the other give the same module as passes that run over all of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.ir.walk import walk
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import PassFailure, run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.kernels_first import Work, first_of_lowering, lower_kernels_first
from stepwell.lowering.llvm.listening import listening
from stepwell.lowering.llvm.stubs import STUB
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
from stepwell.lowering.llvm_text.pieces import EarlyPieces, emit_llvm_pieces
from stepwell.runtime.stairs import set_signatures
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

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


def at_loops(text: str) -> tuple[ModuleOp, list[ModulePass]]:
    """Returns a program above `TO_LLVM`, and the passes that follow."""
    module = parse_text(make_context(), text)
    set_signatures(module, "main")
    passes = parse_pipeline("O3")
    first = first_of_lowering(passes)
    assert first is not None
    run_pipeline(make_context(), module, passes[:first])
    return module, passes[first:]


def run_alone(pass_: ModulePass, number: int, module: ModuleOp, work: Work | None = None) -> Any:
    return (work or pass_.apply)(make_context(), module)


def told_of(text: str) -> list[str]:
    """Checks that both orders make the same module, and returns the kernels that went alone."""
    told: list[str] = []
    module, passes = at_loops(text)
    with listening(lambda kernel, ops: bool(told.append(kernel))):
        alone = lower_kernels_first(module, passes, run_alone)
    expected, passes = at_loops(text)
    run_pipeline(make_context(), expected, passes, verify_each=False)
    module.verify()
    assert str(module) == str(expected)
    assert alone == 0 or told
    return told[:alone]


def test_the_module_is_the_same_in_both_orders():
    told = told_of(PROGRAM)
    assert "matmul" in told
    assert not any("take" in kernel for kernel in told)  # Its check gets a number of the module.


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
