"""PDL patterns with several roots and several replacements."""

from __future__ import annotations

from pdl_rules import (
    CTX,
    after,
    b,
    becomes,
    names,
    pattern,
    run,
    u,
)
from stepwell.core.text.parsing import parse_text

TWO_ROOTS = """
pdl.pattern @two_roots : benefit(1) {
  %t = pdl.type
  %x = pdl.operand
  %one = pdl.operation "graph.sin"(%x : !pdl.value) -> (%t : !pdl.type)
  %two = pdl.operation "graph.cos"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite {
    %new = pdl.operation "graph.exp"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %two with %new
    pdl.replace %one with %new
  }
}
"""


def test_several_roots() -> None:
    body = u("%a", "sin", "%x") + u("%b", "cos", "%x") + b("%r", "add", "%a", "%b")
    assert after(TWO_ROOTS, body) == ["exp", "add"]
    other = u("%a", "sin", "%x") + u("%b", "cos", "%y") + b("%r", "add", "%a", "%b")
    assert after(TWO_ROOTS, other) == ["sin", "cos", "add"]


def test_root_below_another_op() -> None:
    body = """%t = pdl.type
%x = pdl.operand
%root = pdl.operation "graph.sin"(%x : !pdl.value) -> (%t : !pdl.type)
%value = pdl.result 0 of %root
%user = pdl.operation "graph.exp"(%value : !pdl.value) -> (%t : !pdl.type)
pdl.apply_native_constraint "same-block"(%root, %user : !pdl.operation, !pdl.operation)"""
    rules = pattern(body, becomes("cos"))
    assert after(rules, u("%a", "sin", "%x") + u("%r", "exp", "%a")) == ["cos", "exp"]
    assert after(rules, u("%a", "sin", "%x") + u("%r", "tanh", "%a")) == ["sin", "tanh"]


def test_op_below_the_root_is_replaced_too() -> None:
    body = """%t = pdl.type
%x = pdl.operand
%inner = pdl.operation "graph.sin"(%x : !pdl.value) -> (%t : !pdl.type)
%value = pdl.result 0 of %inner
%root = pdl.operation "graph.exp"(%value : !pdl.value) -> (%t : !pdl.type)"""
    new = becomes("tanh") + '\n%other = pdl.operation "graph.cos"(%x : !pdl.value)\npdl.replace %inner with %other'
    start = u("%a", "sin", "%x") + u("%b", "exp", "%a")
    assert after(pattern(body, new), start + b("%r", "add", "%a", "%b")) == ["tanh", "cos", "add"]


def test_pure_op_below_the_root_is_erased_once_unused() -> None:
    body = """%t = pdl.type
%x = pdl.operand
%inner = pdl.operation "graph.sin"(%x : !pdl.value) -> (%t : !pdl.type)
%value = pdl.result 0 of %inner
%root = pdl.operation "graph.exp"(%value : !pdl.value) -> (%t : !pdl.type)"""
    rules = pattern(body, becomes("tanh") + "\npdl.erase %inner")
    start = u("%a", "sin", "%x")
    assert after(rules, start + u("%r", "exp", "%a")) == ["tanh"]
    assert after(rules, start + u("%b", "exp", "%a") + b("%r", "add", "%a", "%b")) == ["sin", "tanh", "add"]


def test_a_rule_never_changes_a_type() -> None:
    body = """%t = pdl.type
%x = pdl.operand
%root = pdl.operation "graph.sum"(%x : !pdl.value) -> (%t : !pdl.type)"""
    rules = pattern(body, "pdl.replace %root with (%x : !pdl.value)")
    module = parse_text(
        CTX,
        "func.func @main(%x: tensor<4xf32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {\n"
        "%a = graph.sum %x, axis = [0] : (tensor<4xf32>) -> tensor<f32>\n"
        "%b = graph.sum %y, axis = [] : (tensor<f32>) -> tensor<f32>\n"
        "func.return %a, %b : tensor<f32>, tensor<f32>\n}",
        "p.mlir",
    )
    run(rules, module)
    assert names(module) == ["sum"]
