"""Conditions on numbers and their contraries: in text, in Python, and what is wrong in them."""

from __future__ import annotations

import pytest
from stepwell.core.messages.diagnostics import OperationError, StepwellError
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.pattern.equations.printing import equation_of
from stepwell.dialects.pattern.ops import rules_of
from stepwell.patterns import Any_, Driver, compare, compute, create, negated, op, require, rule
from stepwell.patterns.language.patterns import Capture
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.language.rules import Computed
from stepwell.patterns.running.explain import explain
from stepwell.patterns.text.loading import rules_of_text
from xdsl.dialects.builtin import ModuleOp

CTX = make_context()
RULE = (
    "relu(%x has shape [%n, %m]) => reshape(%x, shape = [%n * %m - 1 * (2 - 2), 1]) "
    'where %n + 1 <= %m * 2 remark "wide", not single-use(%x), users(%x) != 3, mod(%n, 2) == 0'
)


def test_an_equation_with_numbers_is_written_as_it_is_read() -> None:
    def text_of(equation: str) -> tuple[str, str]:
        (found,) = rules_of(parse_text(make_context(), f'pattern.rule "r" doc "d" : {equation}', "r.mlir"))
        written = equation_of(found)
        assert written is not None
        return written, str(found)

    written, _ = text_of(RULE)
    again, second = text_of(written.removeprefix(": "))
    assert again == written and "size(%x, 0) + 1 <= size(%x, 1) * 2" in written
    assert 'formula = "users($0) != 3"' in second and 'condition = "single-use"' in second


def program(size: str) -> ModuleOp:
    type_ = f"tensor<{size}xf32>"
    text = f"""func.func @main(%x: {type_}) -> {type_} {{
  %0 = graph.exp %x : ({type_}) -> {type_}
  %1 = graph.softmax %0, axis = 1 : ({type_}) -> {type_}
  func.return %1 : {type_}
}}"""
    return parse_text(CTX, text, "p.mlir")


@pytest.mark.parametrize(("size", "axis"), [("4x3", "0"), ("3x3", None), ("?x3", None)])
def test_rules_in_python_compare_and_compute(size: str, axis: str | None) -> None:
    x, wanted = Any_(), Capture("axis")
    made = rule(
        "t",
        op("graph.softmax", op("graph.exp", x), axis=wanted),
        create("graph.softmax", x, axis=compute("$1 - size($0, 1) / 3", x, wanted)),
        compare("size($0, 0) > size($0, 1)", x),
        negated(require("block-argument", op("graph.exp", x))) if axis is None else negated(compare("$0 == 0", wanted)),
    )
    if axis is None:
        made = rule("t", made.lhs, create("graph.tanh", x), negated(compare("size($0, 0) <= 3", x)))
    module = program(size)
    Driver(CTX, [made]).run(module)
    assert ("graph.exp" not in str(module)) is (axis is not None)
    assert axis is None or f"axis = {axis}" in str(module)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("relu(%x) => %x where %n == 1", "%n is not bound by the match; bound are %x, %root", 41),
        ("relu(%x) => %x where %x == 1", "%x of the formula '%x == 1' is a value", 41),
        ("relu(%x) => %x where size(%x) == 1", "'size' takes 2 arguments, found 1 in a formula", 41),
        ("relu(%x) => %x where rank(%x), static(%x)", "expected one of == != <= >= < > in a formula, found ','", 49),
        ("softmax(%x, axis = %a) => %x where rank(%a) == 1", "%a of the formula 'rank(%a) == 1' is an attribute", 55),
        ("relu(%x) => %x where not singel-use(%x)", "unknown condition 'singel-use', did you mean", 41),
        ("relu(%x) => softmax(%x, axis = %x + 1)", "%x of the formula '%x + 1' is a value", 32),
        ("relu(%x has shape [%n]) => %x where rank(%n) == 1", "%n is a size, where a value stands", 61),
        ("relu(%x has shape [%n]) => %x where static(%n)", "%n is a size, where a value stands", 63),
        ("relu(%x has shape [%n]) => abs(%n)", "%n is a size, where a value stands", 51),
        ("relu(%x has shape [%n, _]) => %x", "expected a size, a name or '?', found '_'", 43),
        ("relu(%x has shape [%x]) => %x", "%x has been bound before", 25),
        ("relu(%x) => %x where 1 + == 2", "expected a number, a name or a function in a formula, found '=='", 45),
    ],
)
def test_what_is_wrong_with_numbers_is_an_error_at_its_place(text: str, message: str, place: int) -> None:
    with pytest.raises(StepwellError) as error:
        rules_of_text(f'pattern.rule "r" : {text}', "r.mlir", CTX)
    assert message in str(error.value) and f"r.mlir:1:{place}" in str(error.value)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("$0", "the formula '$0' compares nothing"),
        ("rank($1) == 1", "the formula 'rank($1) == 1' has no thing $1"),
        ("rank(1) == 1", "a function of values takes a name in the formula 'rank(1) == 1'"),
        ("rank($0) == 1 2", "expected the end of the formula, found '2'"),
    ],
)
def test_formulas_in_python_are_checked(formula: str, message: str) -> None:
    x = Any_()
    with pytest.raises(RuleError, match="formula") as error:
        Driver(CTX, [rule("t", op("graph.relu", x), x, compare(formula, x))])
    assert message in str(error.value)


def test_a_computed_attribute_that_nothing_takes_is_an_error() -> None:
    text = """pattern.rule "r" {
  %x = pattern.any
  %root = pattern.op "graph.relu"(%x)
  %n = pattern.compute "size($0, 0)"(%x)
  pattern.replace %root with %x
}"""
    with pytest.raises(StepwellError, match="nothing takes this attribute"):
        rules_of_text(text, "r.mlir", CTX)


COMPUTED = """pattern.rule "t" {
  %x = pattern.any
  %root = pattern.op "graph.exp"(%x)
  %axis = pattern.compute "size($0, 1) - 3"(%x)
  pattern.rewrite %root {
    %new = pattern.create "graph.softmax"(%x) set ["axis"](%axis)
    pattern.yield %new
  }
}"""


def test_a_computed_attribute() -> None:
    x = Any_()
    in_python = rule("t", op("graph.exp", x), create("graph.softmax", x, axis=compute("size($0, 1) - 3", x)))
    (attribute,) = [wanted for _, wanted in in_python.rhs[0].attributes]  # type: ignore[union-attr]
    assert isinstance(attribute, Computed)
    for made in (in_python, *rules_of_text(COMPUTED, "r.mlir", CTX)):
        for size, axis in (("4x3", "axis = 0"), ("3x4", "axis = 1"), ("4x?", "graph.exp")):
            module = program(size)
            Driver(CTX, [made]).run(module)
            assert axis in str(module.body.block.first_op.body.block.first_op)  # type: ignore[union-attr]
        with pytest.raises(OperationError, match="rule 't'"):  # an axis that a tensor of this rank does not have
            Driver(CTX, [made]).run(program("4x9"))


@pytest.mark.parametrize(
    ("where", "shown"),
    [("%n >= 7", "size(%x, 0) >= 7"), ("not users(%x) < 2 + %n", "not users(%x) < 2 + size(%x, 0)"),
     ("not static(%x)", "not static"), ("float(%x), integer(%x)", "integer")],
)  # fmt: skip
def test_explanations_name_a_condition_as_its_author_wrote_it(where: str, shown: str) -> None:
    (made,) = rules_of_text(f'pattern.rule "r" : exp(%x has shape [%n, ?]) => %x where {where}', "r.mlir", CTX)
    value = next(each for each in program("4x3").walk() if each.name == "graph.exp")
    assert str(explain(made, value)).startswith(f"no match: condition '{shown}' does not hold\n")
