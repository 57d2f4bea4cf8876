"""PDL as a source of rules: what `apply-pdl` cannot do or gets wrong, the order of rules, names, classes, reports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pdl_rules import (
    CTX,
    RANGE,
    F,
    after,
    b,
    becomes,
    kinds,
    kinds_after,
    names,
    pattern,
    program,
    run,
    stock,
    u,
    unary,
    variadic,
)
from stepwell.core.messages.diagnostics import OperationError, listening
from stepwell.core.messages.origins import origins_of, rules_of
from stepwell.core.text.parsing import parse_text
from stepwell.patterns.running.explain import explain
from stepwell.patterns.running.selection import selected
from stepwell.patterns.text.loading import rules_of_text

# What apply-pdl cannot do


NEW_KIND = """
%b = pdl.attribute = "b"
%new = pdl.operation "test.op"(%rest, %first : !pdl.range<value>, !pdl.value) {"kind" = %b} -> (%t : !pdl.type)
pdl.replace %root with %new
"""


@pytest.mark.parametrize(("operands", "found"), [("%i", "b"), ("%i, %j", "b"), ("%i, %j, %i, %j", "b"), ("", "a")])
def test_range_of_operands(operands: str, found: str) -> None:
    module = parse_text(CTX, variadic(operands), "p.mlir")
    run(pattern(RANGE, NEW_KIND), module)
    assert kinds(module) == [found]
    op = next(op for op in module.walk() if op.name == "test.op")
    expected = [name.strip(" %") for name in operands.split(",")] if operands else []
    assert [value.name_hint for value in op.operands] == (expected[1:] + expected[:1] if found == "b" else expected)


def test_range_where_apply_pdl_never_matches(tmp_path: Path) -> None:
    body = """%t = pdl.type
%all = pdl.operands
%root = pdl.operation "graph.add"(%all : !pdl.range<value>) -> (%t : !pdl.type)"""
    rules = pattern(
        body,
        (
            '%new = pdl.operation "graph.maximum"(%all : !pdl.range<value>) -> (%t : !pdl.type)\n'
            "pdl.replace %root with %new"
        ),
    )
    assert after(rules, b("%r", "add", "%x", "%y")) == ["maximum"]
    assert stock(rules, b("%r", "add", "%x", "%y"), tmp_path) == ["add"]


def test_types_of_a_range_of_operands() -> None:
    body = """%ts = pdl.types {}
%t = pdl.type
%all = pdl.operands : %ts
%a = pdl.attribute = "a"
%root = pdl.operation "test.op"(%all : !pdl.range<value>) {{"kind" = %a}} -> (%t : !pdl.type)"""
    new = (
        '%b = pdl.attribute = "b"\n%new = pdl.operation "test.op" {"kind" = %b} -> (%t : !pdl.type)\n'
        "pdl.replace %root with %new"
    )
    for types, operands, found in (
        (": [index, index]", "%i, %j", "b"),
        (": [index]", "%i, %j", "a"),
        (": [index, i64]", "%i, %j", "a"),
        ("", "%i, %j", "b"),
    ):
        assert kinds_after(pattern(body.format(types), new), variadic(operands)) == [found], types


def test_one_range_at_two_ops_is_the_same_values() -> None:
    body = """%t = pdl.type
%all = pdl.operands
%first = pdl.operation "graph.add"(%all : !pdl.range<value>) -> (%t : !pdl.type)
%first_value = pdl.result 0 of %first
%second = pdl.operation "graph.maximum"(%all : !pdl.range<value>) -> (%t : !pdl.type)
%second_value = pdl.result 0 of %second
%root = pdl.operation "graph.subtract"(%first_value, %second_value : !pdl.value, !pdl.value) -> (%t : !pdl.type)"""
    rules = pattern(body, '%new = pdl.operation "graph.minimum"(%all : !pdl.range<value>)\npdl.replace %root with %new')
    first = b("%a", "add", "%x", "%y")
    last = b("%r", "subtract", "%a", "%b")
    assert after(rules, first + b("%b", "maximum", "%x", "%y") + last) == ["minimum"]
    assert after(rules, first + b("%b", "maximum", "%y", "%x") + last) == ["add", "maximum", "subtract"]


def test_range_of_result_types() -> None:
    body = """%i = pdl.type : index
%ts = pdl.types
%a = pdl.attribute = "a"
%root = pdl.operation "test.op" {"kind" = %a} -> (%i, %ts : !pdl.type, !pdl.range<type>)"""
    new = """%b = pdl.attribute = "b"
%new = pdl.operation "test.op" {"kind" = %b} -> (%i, %ts : !pdl.type, !pdl.range<type>)
%values = pdl.results of %new
pdl.replace %root with (%values : !pdl.range<value>)"""

    def text(results: str, types: str) -> str:
        return f'func.func @main() {{\n{results}"test.op"() {{kind = "a"}} : () -> {types}\nfunc.return\n}}'

    rules = pattern(body, new)
    assert kinds_after(rules, text("%r = ", "index")) == ["b"]
    assert kinds_after(rules, text("%r:3 = ", "(index, i1, f32)")) == ["b"]
    assert kinds_after(rules, text("%r:2 = ", "(i1, index)")) == ["a"]
    assert kinds_after(rules, text("", "()")) == ["a"]


def test_a_range_of_types_is_one_list_at_all_its_places() -> None:
    body = """%ts = pdl.types
%all = pdl.operands : %ts
%a = pdl.attribute = "a"
%root = pdl.operation "test.op"(%all : !pdl.range<value>) {"kind" = %a} -> (%ts : !pdl.range<type>)"""
    rules = pattern(body, "pdl.replace %root with (%all : !pdl.range<value>)")
    assert kinds_after(rules, variadic("%i")) == []
    assert kinds_after(rules, variadic("%i", results="i1")) == ["a"]
    assert kinds_after(rules, variadic("%i, %j")) == ["a"]


def test_types_of_new_ops_are_inferred(tmp_path: Path) -> None:
    """apply-pdl makes ops without results of them."""
    new = f"""{becomes("exp").splitlines()[0].replace("%new", "%inner")}
%value = pdl.result 0 of %inner
%new = pdl.operation "graph.tanh"(%value : !pdl.value)
pdl.replace %root with %new"""
    rules = pattern(unary("relu"), new)
    assert after(rules, u("%r", "relu", "%x")) == ["exp", "tanh"]
    with pytest.raises(Exception):  # noqa: B017
        stock(rules, u("%r", "relu", "%x"), tmp_path)


SECOND = """%t = pdl.type
%x = pdl.operand
%y = pdl.operand
%inner = pdl.operation "test.op"(%x, %y : !pdl.value, !pdl.value) -> (%t, %t : !pdl.type, !pdl.type)
%value = pdl.result 1 of %inner
%root = pdl.operation "graph.relu"(%value : !pdl.value) -> (%t : !pdl.type)"""


def test_number_of_a_result(tmp_path: Path) -> None:
    """apply-pdl takes any result of the op for the one that is asked for."""
    rules = pattern(SECOND, "pdl.replace %root with (%y : !pdl.value)")
    two = f'%a, %b = "test.op"(%x, %y) : ({F}, {F}) -> ({F}, {F})\n'
    assert after(rules, two + u("%r", "relu", "%b")) == ["test.op"]
    assert after(rules, two + u("%r", "relu", "%a")) == ["test.op", "relu"]
    assert stock(rules, two + u("%r", "relu", "%a"), tmp_path) == ["test.op"]


def test_attribute_of_a_type_that_is_no_integer() -> None:
    body = """%t = pdl.type
%f = pdl.type : f64
%number = pdl.attribute : %f
%root = pdl.operation "test.op" {"number" = %number} -> (%t : !pdl.type)"""
    rules = pattern(
        body,
        '%new = pdl.operation "test.op" {"kind" = %number} -> (%t : !pdl.type)\npdl.replace %root with %new',
    )
    text = 'func.func @main() {{\n%r = "test.op"() {{number = {}}} : () -> index\nfunc.return\n}}'
    for number, found in (("1.0 : f64", True), ("1.0 : f32", False), ("1 : i64", False), ("unit", False)):
        module = parse_text(CTX, text.format(number), "p.mlir")
        run(rules, module)
        assert ("kind" in str(module)) == found, number


def test_attributes_are_equal_to_the_bit() -> None:
    """In `pattern.op` 1 : i64 is 1 : i32."""
    body = """%t = pdl.type
%number = pdl.attribute = 1 : i64
%root = pdl.operation "test.op" {"number" = %number} -> (%t : !pdl.type)"""
    rules = pattern(
        body,
        (
            '%k = pdl.attribute = "b"\n%new = pdl.operation "test.op" {"kind" = %k} -> (%t : !pdl.type)\n'
            "pdl.replace %root with %new"
        ),
    )
    text = 'func.func @main() {{\n%r = "test.op"() {{number = {}}} : () -> index\nfunc.return\n}}'
    for number, found in (("1 : i64", ["b"]), ("1 : i32", []), ("2 : i64", []), ("1.0 : f64", [])):
        assert kinds_after(rules, text.format(number)) == found, number


def test_absent_property_has_its_default() -> None:
    """As in MLIR, where an op has its default properties from the start."""
    body = """%t = pdl.type
%x = pdl.operand
%axis = pdl.attribute = -1 : i64
%root = pdl.operation "graph.softmax"(%x : !pdl.value) {"axis" = %axis} -> (%t : !pdl.type)"""
    rules = pattern(body, becomes("tanh"))
    assert after(rules, u("%r", "softmax", "%x")) == ["tanh"]
    assert after(rules, f"%r = graph.softmax %x, axis = 0 : ({F}) -> {F}\n") == ["softmax"]


def test_operands_do_not_commute() -> None:
    body = """%t = pdl.type
%x = pdl.operand
%y = pdl.operand
%inner = pdl.operation "graph.exp"(%x : !pdl.value) -> (%t : !pdl.type)
%value = pdl.result 0 of %inner
%root = pdl.operation "graph.add"(%value, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)"""
    rules = pattern(body, becomes("maximum", "%x, %y"))
    exp = u("%e", "exp", "%x")
    assert after(rules, exp + b("%r", "add", "%e", "%y")) == ["maximum"]
    assert after(rules, exp + b("%r", "add", "%y", "%e")) == ["exp", "add"]


def test_the_order_that_fits_is_found_among_equal_ones() -> None:
    """Both operands are what the first pattern wants; only the second one is what the second wants."""
    body = """%t = pdl.type
%x = pdl.operand
%y = pdl.operand
%root = pdl.operation "graph.add"(%x, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)
pdl.apply_native_constraint "block-argument"(%y : !pdl.value)"""
    rules = pattern(body, becomes("subtract", "%x, %y"))
    exp = u("%e", "exp", "%x")
    assert after(rules, exp + b("%r", "add", "%e", "%y")) == ["exp", "subtract"]
    assert after(rules, exp + b("%r", "add", "%y", "%e")) == ["exp", "add"]


# Order, names, classes


def test_greater_benefit_first() -> None:
    rules = pattern(unary("relu"), becomes("sin"), "a", 1) + pattern(unary("relu"), becomes("cos"), "b", 5)
    assert [rule.name for rule in rules_of_text(rules)] == ["b", "a"]
    assert after(rules, u("%r", "relu", "%x")) == ["cos"]


def test_equal_benefit_in_written_order() -> None:
    rules = pattern(unary("relu"), becomes("sin"), "a") + pattern(unary("relu"), becomes("cos"), "b")
    assert after(rules, u("%r", "relu", "%x")) == ["sin"]


def test_unnamed_patterns_and_named_modules() -> None:
    rules = pattern(unary("relu"), becomes("sin")).replace(" @rule", "")
    inside = f"builtin.module @inside {{\n{pattern(unary('exp'), becomes('cos'), 'named')}}}\n"
    assert [rule.name for rule in rules_of_text(rules + inside + rules)] == [
        "pdl-pattern-0",
        "named",
        "pdl-pattern-2",
    ]


def test_written_rules_come_first() -> None:
    written = """
pattern.rule "written" {
  %x = pattern.any
  %root = pattern.op "graph.relu"(%x)
  pattern.rewrite %root {
    %new = pattern.create "graph.tanh"(%x)
    pattern.yield %new
  }
}
"""
    rules = pattern(unary("relu"), becomes("sin"), "pdl", 9) + written
    assert [rule.name for rule in rules_of_text(rules)] == ["written", "pdl"]
    assert after(rules, u("%r", "relu", "%x")) == ["tanh"]


def test_numerics_class() -> None:
    plain = pattern(unary("relu"), becomes("sin"))
    exact = pattern(unary("relu"), becomes("sin"), attributes='pattern.numerics = "exact", pattern.doc = "why"')
    (rule,) = rules_of_text(plain)
    assert rule.numerics == "rounding"
    assert selected([rule], (), "strict", "p") == []
    assert selected([rule], (), "default", "p") == [rule]
    (rule,) = rules_of_text(exact)
    assert (rule.numerics, rule.doc) == ("exact", "why")
    (rule,) = rules_of_text(f'builtin.module attributes {{pattern.numerics = "fast"}} {{\n{plain}}}')
    assert rule.numerics == "fast"


# Reports


def test_statistics_by_name() -> None:
    driver = run(
        pattern(unary("relu"), becomes("sin"), "to_sin"),
        program(u("%a", "relu", "%x") + u("%r", "relu", "%a")),
    )
    assert driver.statistics["to_sin"].hits == 2


def test_alternating_rules_are_named() -> None:
    rules = pattern(unary("sin"), becomes("cos"), "there") + pattern(unary("cos"), becomes("sin"), "back")
    with pytest.raises(OperationError, match="the last ones were by 'back' and 'there'"):
        run(rules, program(u("%r", "sin", "%x")))


def test_new_ops_have_the_location_of_the_root_and_the_name_of_the_rule() -> None:
    module = program(u("%a", "exp", "%x") + u("%r", "relu", "%a"))
    run(pattern(unary("relu"), becomes("sin")), module)
    (sine,) = [op for op in module.walk() if op.name == "graph.sin"]
    assert [str(origin) for origin in origins_of(sine.location)] == ["p.mlir:3:1"]
    assert rules_of(sine.location) == ["rule"]


def test_explain_names_what_failed() -> None:
    body = """%t = pdl.type : tensor<8xf32>
%x = pdl.operand : %t
%inner = pdl.operation "graph.exp"(%x : !pdl.value) -> (%t : !pdl.type)
%value = pdl.result 0 of %inner
%root = pdl.operation "graph.relu"(%value : !pdl.value) -> (%t : !pdl.type)"""
    (rule,) = rules_of_text(pattern(body, becomes("tanh")))
    module = program(u("%a", "exp", "%x") + u("%b", "relu", "%a") + u("%c", "relu", "%x") + b("%r", "add", "%b", "%c"))
    reasons = [explain(rule, op).reason for op in module.walk() if op.name == "graph.relu"]
    assert reasons == [
        "%x: expected type tensor<8xf32>, found tensor<4xf32>",
        "expected 'graph.exp', found the block argument %x",
    ]


def test_explain_names_the_condition() -> None:
    body = unary("relu") + '\npdl.apply_native_constraint "single-use"(%root : !pdl.operation)'
    (rule,) = rules_of_text(pattern(body, becomes("tanh")))
    module = program(u("%a", "relu", "%x") + b("%r", "add", "%a", "%a"))
    (relu,) = [op for op in module.walk() if op.name == "graph.relu"]
    assert explain(rule, relu).reason.startswith("condition 'single-use' does not hold")


def test_remark_where_a_replacement_has_no_place() -> None:
    """The second root takes what comes after the first user of the first."""
    told: list[str] = []
    body = u("%a", "sin", "%x") + u("%b", "exp", "%a") + b("%c", "multiply", "%x", "%b") + b("%r", "add", "%b", "%c")
    rules = """
pdl.pattern @two : benefit(1) {
  %t = pdl.type
  %x = pdl.operand
  %z = pdl.operand
  %one = pdl.operation "graph.sin"(%x : !pdl.value) -> (%t : !pdl.type)
  %two = pdl.operation "graph.multiply"(%x, %z : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %one {
    %new = pdl.operation "graph.maximum"(%x, %z : !pdl.value, !pdl.value)
    pdl.replace %one with %new
    pdl.replace %two with %new
  }
}
"""
    module = program(body)
    with listening(lambda diagnostic: told.append(diagnostic.message)):
        run(rules, module)
    assert names(module) == ["sin", "exp", "multiply", "add"]
    assert [text.partition("'two'")[0] for text in told] == ["'graph.sin': rule "]


def test_example_of_the_documentation() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "rewrites.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```mlir\n(// example: pdl.*?)```", text, re.S)
    i = "tensor<4xi32>"
    body = f"%a = graph.subtract %x, %y : ({i}, {i}) -> {i}\n%r = graph.negative %a : ({i}) -> {i}\n"
    module = parse_text(CTX, f"func.func @main(%x: {i}, %y: {i}) -> {i} {{\n{body}func.return %r : {i}\n}}", "p")
    run(example, module)
    assert names(module) == ["subtract"]
    assert after(example, b("%a", "subtract", "%x", "%y") + u("%r", "negative", "%a")) == [
        "subtract",
        "negative",
    ]
