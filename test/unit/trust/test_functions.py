"""Functions as applications: of passes that count nothing else, and on the llvm level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.applications import Applications, counting
from stepwell.core.passes.base import StepwellPass
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.lowering.llvm import convert_arith
from stepwell.trust import check as check_module
from stepwell.trust.bisect import bisect
from stepwell.trust.cases import CheckOptions
from stepwell.trust.check import CheckSemantics
from xdsl.context import Context
from xdsl.dialects import arith, func, llvm
from xdsl.dialects.builtin import FunctionType, ModuleOp, f32, f64

T = "tensor<4xf32>"
TEXT = f"""
func.func @main(%x: {T}, %y: {T}) -> {T} {{
  %0 = func.call @sum(%x, %y) : ({T}, {T}) -> {T}
  %1 = func.call @difference(%0, %y) : ({T}, {T}) -> {T}
  %2 = func.call @difference_again(%1, %x) : ({T}, {T}) -> {T}
  func.return %2 : {T}
}}
func.func private @sum(%x: {T}, %y: {T}) -> {T} {{
  %0 = graph.add %x, %y : ({T}, {T}) -> {T}
  func.return %0 : {T}
}}
func.func private @difference(%x: {T}, %y: {T}) -> {T} {{
  %0 = graph.subtract %x, %y : ({T}, {T}) -> {T}
  func.return %0 : {T}
}}
func.func private @difference_again(%x: {T}, %y: {T}) -> {T} {{
  %0 = graph.subtract %y, %x : ({T}, {T}) -> {T}
  func.return %0 : {T}
}}
"""


@dataclass(frozen=True)
class Swap(StepwellPass):
    """Swaps the operands of all binary ops, which is wrong for subtractions. It knows of no limit."""

    name = "swap-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in op.walk():
            if each.name in ("graph.add", "graph.subtract"):
                each.operands = tuple(reversed(each.operands))


SCALARS = """
func.func private @half(%x: f32) -> f32 {
  func.return %x : f32
}
func.func private @alone(%x: f32, %y: f32) -> f32 {
  func.return %y : f32
}
func.func @main(%x: f32) -> f32 {
  %0 = func.call @half(%x) : (f32) -> f32
  func.return %0 : f32
}
"""


@dataclass(frozen=True)
class Widen(StepwellPass):
    """Makes all numbers f64, those of calls too."""

    name = "widen"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            assert isinstance(function, func.FuncOp)
            block = function.body.block
            for value in [*block.args, *(result for each in block.ops for result in each.results)]:
                value._type = f64  # pyright: ignore
            types = function.function_type
            function.function_type = FunctionType.from_lists([f64] * len(types.inputs), [f64] * len(types.outputs))


def limited(text: str, pass_: Any, limit: int | None) -> tuple[ModuleOp, Applications]:
    module = stepwell.parse(text)
    with counting(limit) as count:
        run_pipeline(make_context(), module, [pass_])
    return module, count


def test_functions_of_a_pass_that_knows_no_limit_are_put_back():
    assert limited(TEXT, Swap(), None)[1].count == 3
    module, count = limited(TEXT, Swap(), 1)
    assert count.last is not None and str(count.last).startswith("function 'swap-operands' at ")
    assert count.last.bindings == (("function", "@sum"),) and count.stopped and count.apart
    assert "graph.add %y, %x" in str(module) and str(module).count("graph.subtract %x, %y") == 1
    assert str(limited(TEXT, Swap(), 0)[0]) == str(stepwell.parse(TEXT))


def test_functions_whose_type_changes_go_with_their_callers():
    module, count = limited(SCALARS, Widen(), 1)
    assert count.last is not None and count.last.bindings == (("function", "@half, @main"),)
    assert "@half(%x: f64)" in str(module) and "@alone(%x: f32" in str(module)
    assert limited(SCALARS, Widen(), None)[1].count == 2
    assert f32 != f64


def test_the_wrong_function_is_found():
    found = bisect(make_context(), stepwell.parse(TEXT), [Swap()], CheckOptions())
    assert found is not None and found.application is not None
    assert found.application.bindings == (("function", "@difference"),)
    assert (found.count, found.among) == (2, 1) and "-    %0 = graph.subtract %x, %y" in found.diff


@pytest.fixture
def wrong_native(monkeypatch: pytest.MonkeyPatch) -> None:
    """Subtractions are additions in machine code."""
    monkeypatch.setitem(convert_arith.FLOAT_BINARY, arith.SubfOp, llvm.FAddOp)


def test_a_wrong_function_on_the_llvm_level_is_found(wrong_native: None):
    found = bisect(
        make_context(), stepwell.parse(TEXT), list(stepwell.Sequential(["inline-primitive,O0"]).parts), CheckOptions()
    )
    assert found is not None and found.application is not None and found.pass_.name == "lower-to-llvm-dialect"
    assert found.application.bindings == (("function", "@subtract"),) and found.among == 1
    assert "-    %0 = arith.subf" in found.diff or "arith.subf" in found.diff


def test_a_long_program_is_not_blamed_on_the_first_native_run(wrong_native: None, monkeypatch: pytest.MonkeyPatch):
    """After the lowering to loops the program runs natively, by the passes that come later."""
    monkeypatch.setattr(check_module, "MOST_STEPS", 5)
    check = CheckSemantics(CheckOptions())
    with pytest.raises(StepwellError) as caught:
        run_pipeline(make_context(), stepwell.parse(TEXT), "O0", instruments=[check])
    assert "pass 'lower-to-llvm-dialect' changes a result of @main" in str(caught.value)
    assert check.counts.native > 0


def test_a_program_that_ends_its_process_is_blamed(monkeypatch: pytest.MonkeyPatch):
    """Of several inputs, each has an answer, though the process ends at one of them."""
    from stepwell.trust import evaluate

    def crash(program: Any, arrays: Any) -> Any:
        if arrays[0]:
            import os

            os.abort()
        return evaluate.Outcome(arrays)

    monkeypatch.setattr(evaluate, "_run_once", crash)
    module = stepwell.parse("func.func @main(%x: tensor<i1>) -> tensor<i1> {\n  func.return %x : tensor<i1>\n}")
    outcomes = [*evaluate.natively(module, "main", [[np.array(each)] for each in (False, True, False)], {})]
    assert [each.fault for each in outcomes] == [None, "the process ended with signal 6", None]
