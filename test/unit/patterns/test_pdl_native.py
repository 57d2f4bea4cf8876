"""Native constraints and rewrites of PDL: named conditions and builders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pdl_rules import (
    CTX,
    RANGE,
    F,
    after,
    b,
    becomes,
    pattern,
    program,
    run,
    u,
    unary,
    variadic,
)
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.text.parsing import parse_text
from stepwell.patterns.language.match import Match
from stepwell.patterns.language.registry import BUILDERS, CONDITIONS, builder, condition
from stepwell.patterns.text.loading import rules_of_text
from stepwell.testing.rules.checking import Settings, check_rule
from xdsl.ir import SSAValue

# Native constraints and rewrites


def things_are(match: Match, *things: object, **parameters: object) -> bool:
    """Records what a constraint gets, for the tests below."""
    SEEN.append([type(thing).__name__ for thing in things])
    return parameters.get("answer") is None


def two_values(match: Match, value: SSAValue) -> tuple[SSAValue, ...]:
    """Two values, for the tests below."""
    made = match.create("graph.exp", [value]).results[0]
    return (made, match.create("graph.tanh", [made]).results[0])


def no_values(match: Match, value: SSAValue) -> None:
    """Declines, for the tests below."""
    match.create("graph.exp", [value])


SEEN: list[list[str]] = []


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    """Other tests compare the registries with the documentation."""
    condition("pdl-test-things")(things_are)
    builder("pdl-test-two")(two_values)
    builder("pdl-test-none")(no_values)
    yield
    del CONDITIONS["pdl-test-things"], BUILDERS["pdl-test-two"], BUILDERS["pdl-test-none"]


@pytest.mark.parametrize(
    ("constraint", "found"),
    [
        ('"single-use"(%root : !pdl.operation)', ["tanh", "negative"]),
        ('"block-argument"(%x : !pdl.value)', ["tanh", "negative"]),
        ('"block-argument"(%x : !pdl.value) {isNegated = true}', ["relu", "negative"]),
        ('"dtype"(%x : !pdl.value) {is = f32}', ["tanh", "negative"]),
        ('"dtype"(%x : !pdl.value) {is = f64}', ["relu", "negative"]),
        ('"dtype"(%x : !pdl.value) {is = f64, isNegated = true}', ["tanh", "negative"]),
        ('"not-same"(%x, %value : !pdl.value, !pdl.value)', ["tanh", "negative"]),
    ],
)
def test_native_constraint(constraint: str, found: list[str]) -> None:
    body = f"{unary('relu')}\n%value = pdl.result 0 of %root\npdl.apply_native_constraint {constraint}"
    module_body = u("%a", "relu", "%x") + u("%r", "negative", "%a")
    assert after(pattern(body, becomes("tanh")), module_body) == found


def test_what_native_constraints_get() -> None:
    SEEN.clear()
    body = f"""{unary("relu")}
%c = pdl.attribute = 1 : i64
%i = pdl.type : i32
%value = pdl.result 0 of %root
%values = pdl.results of %root
pdl.apply_native_constraint "pdl-test-things"(%x, %root, %c, %i, %t, %value, %values
    : !pdl.value, !pdl.operation, !pdl.attribute, !pdl.type, !pdl.type, !pdl.value, !pdl.range<value>)"""
    assert after(pattern(body, becomes("tanh")), u("%r", "relu", "%x")) == ["tanh"]
    assert SEEN == [
        ["BlockArgument", "ReluOp", "IntegerAttr", "IntegerType", "TensorType", "OpResult", "tuple"],
    ]


def test_negated_constraint_takes_parameters() -> None:
    body = (
        unary("relu")
        + '\npdl.apply_native_constraint "pdl-test-things"(%x : !pdl.value) {answer = 0 : i64, isNegated = true}'
    )
    assert after(pattern(body, becomes("tanh")), u("%r", "relu", "%x")) == ["tanh"]


def test_native_rewrite_makes_an_op() -> None:
    body = """%t = pdl.type
%x = pdl.operand
%y = pdl.operand
%root = pdl.operation "graph.add"(%x, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)
pdl.apply_native_constraint "not-same"(%x, %y : !pdl.value, !pdl.value)"""
    new = """%new = pdl.apply_native_rewrite "with-operands"(%root, %y, %y : !pdl.operation, !pdl.value, !pdl.value)
    : !pdl.operation
pdl.replace %root with %new"""
    module = program(b("%r", "add", "%x", "%y"))
    run(pattern(body, new), module)
    (op,) = [op for op in module.walk() if op.name == "graph.add"]
    assert [value.name_hint for value in op.operands] == ["y", "y"]


@pytest.mark.parametrize("types", ["!pdl.value, !pdl.value", "!pdl.range<value>"])
def test_native_rewrite_makes_values(types: str) -> None:
    results = "%a, %b" if "," in types else "%b"
    last = "%b : !pdl.value" if "," in types else "%b : !pdl.range<value>"
    root = (
        unary("relu")
        if "," in types
        else unary("relu")
        .replace('"graph.relu"', '"test.op"')
        .replace("(%t : !pdl.type)", "(%t, %t : !pdl.type, !pdl.type)")
    )
    new = (
        f'{results} = pdl.apply_native_rewrite "pdl-test-two"(%x : !pdl.value) : {types}\n'
        f"pdl.replace %root with ({last})"
    )
    body = (
        u("%r", "relu", "%x")
        if "," in types
        else f'%c, %d = "test.op"(%x) : ({F}) -> ({F}, {F})\n' + b("%r", "add", "%c", "%d")
    )
    expected = ["exp", "tanh"] if "," in types else ["exp", "tanh", "add"]
    assert after(pattern(root, new), body) == expected


def test_native_rewrite_with_parameters_in_generic_form() -> None:
    new = """%new = "pdl.apply_native_rewrite"() <{name = "full"}> {value = 0.0 : f32} : () -> !pdl.value
pdl.replace %root with (%new : !pdl.value)"""
    assert after(pattern(unary("relu"), new), u("%r", "relu", "%x")) == ["full"]


def test_native_rewrite_may_decline() -> None:
    new = (
        '%new = pdl.apply_native_rewrite "pdl-test-none"(%x : !pdl.value) : !pdl.value\n'
        "pdl.replace %root with (%new : !pdl.value)"
    )
    assert after(pattern(unary("relu"), new), u("%r", "relu", "%x")) == ["relu"]


def test_native_rewrite_of_another_number_of_values() -> None:
    new = (
        '%new = pdl.apply_native_rewrite "pdl-test-two"(%x : !pdl.value) : !pdl.value\n'
        "pdl.replace %root with (%new : !pdl.value)"
    )
    with pytest.raises(OperationError, match="rule 'rule' wants 1 values of 'pdl-test-two', which made 2"):
        run(pattern(unary("relu"), new), program(u("%r", "relu", "%x")))


def test_ranges_in_the_replacement() -> None:
    new = """%b = pdl.attribute = "b"
%all = pdl.range %rest, %first, %rest : !pdl.range<value>, !pdl.value, !pdl.range<value>
%types = pdl.types : [index]
%none = pdl.range : !pdl.range<value>
%new = pdl.operation "test.op"(%all, %none : !pdl.range<value>, !pdl.range<value>) {"kind" = %b} -> (%types
    : !pdl.range<type>)
pdl.replace %root with %new"""
    module = parse_text(CTX, variadic("%i, %j"), "p.mlir")
    run(pattern(RANGE, new), module)
    (op,) = [op for op in module.walk() if op.name == "test.op"]
    assert [value.name_hint for value in op.operands] == ["j", "i", "j"]


def test_rules_in_pdl_prove_themselves() -> None:
    """Operands of an op that commutes are tried in the order that matches; a wrong rule is found."""
    text = """
pdl.pattern @rule : benefit(1) {
  %t = pdl.type
  %x = pdl.operand
  %n = pdl.operation "graph.negative"(%x : !pdl.value) -> (%t : !pdl.type)
  %v = pdl.result 0 of %n
  %root = pdl.operation "graph.add"(%x, %v : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.apply_native_constraint "integer"(%x : !pdl.value)
  pdl.rewrite %root {
    %new = pdl.operation "graph.subtract"(%x, %x : !pdl.value, !pdl.value)
    pdl.replace %root with %new
  } attributes {pattern.numerics = "exact"}
}
"""
    for right in (True, False):
        (rule,) = rules_of_text(text if right else text.replace("graph.subtract", "graph.add"))
        report = check_rule(rule, Settings(cases=8))
        assert report.verdict == ("equal" if right else "different")
