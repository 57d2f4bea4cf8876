"""Rules written as two functions: what they match, and what is wrong with others."""

from __future__ import annotations

import pytest
from stepwell.core.ir.verification import verify_module
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.text.loading import rules_of_text

CTX = make_context()
F = "tensor<4xf32>"


def function(name: str, body: str, result: str, parameters: str = f"%x: {F}", attributes: str = "") -> str:
    return f"func.func @{name}({parameters}) -> {F} {attributes} {{\n{body}\nfunc.return {result} : {F}\n}}\n"


def u(name: str, operand: str, result: str, rest: str = "") -> str:
    return f"{result} = graph.{name} {operand}{rest} : ({F}) -> {F}\n"


TANH = function("replacement", u("tanh", "%x", "%r"), "%r")


def names_after(rules: str, body: str) -> list[str]:
    """The ops of a function whose body is `body` after the rules."""
    module = parse_text(CTX, function("main", body, "%r"), "t.mlir")
    Driver(CTX, rules_of_text(rules)).run(module)
    verify_module(module)
    return [each.name.removeprefix("graph.") for each in module.walk() if each.name.startswith("graph.")]


def test_pattern_becomes_replacement() -> None:
    rules = function("pattern", u("relu", "%x", "%a") + u("exp", "%a", "%r"), "%r") + TANH
    assert names_after(rules, u("relu", "%x", "%a") + u("exp", "%a", "%r")) == ["tanh"]
    assert names_after(rules, u("exp", "%x", "%a") + u("relu", "%a", "%r")) == ["exp", "relu"]


def test_properties_that_are_not_written_have_their_default() -> None:
    fast = 'attributes {pattern.numerics = "fast"}'
    rules = function("pattern", u("leaky_relu", "%x", "%r"), "%r", attributes=fast) + TANH
    assert names_after(rules, u("leaky_relu", "%x", "%r")) == ["tanh"]
    assert names_after(rules, u("leaky_relu", "%x", "%r", ", alpha = 0.5")) == ["leaky_relu"]
    assert rules_of_text(rules)[0].numerics == "fast"


def test_a_parameter_used_twice_is_one_value() -> None:
    add = f"%r = graph.add %x, %x : ({F}, {F}) -> {F}\n"
    rules = function("pattern", add, "%r") + TANH
    assert names_after(rules, add) == ["tanh"]
    assert names_after(rules, u("exp", "%x", "%e") + f"%r = graph.add %x, %e : ({F}, {F}) -> {F}\n") == [
        "exp",
        "add",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TANH, "there is '@replacement' but no function '@pattern'"),
        (
            function("pattern", u("exp", "%x", "%r"), "%r"),
            "there is '@pattern' but no function '@replacement'",
        ),
        (
            function("pattern", u("exp", "%x", "%r"), "%r", f"%x: {F}, %y: {F}") + TANH,
            "'@replacement' has type",
        ),
        (function("pattern", "", "%x") + TANH, "'@pattern' must return all results of one op"),
        (
            function("pattern", u("exp", "%x", "%r") + u("relu", "%x", "%q"), "%r") + TANH,
            "does not depend on this op",
        ),
        (
            function("pattern", u("exp", "%x", "%r"), "%r", f"%x: {F}, %y: {F}")
            + function("replacement", u("tanh", "%x", "%r"), "%r", f"%x: {F}, %y: {F}"),
            "does not depend on %y",
        ),
        (
            function("pattern", u("exp", "%x", "%r"), "%r", attributes='attributes {pattern.numerics = "loose"}')
            + TANH,
            "expected one of exact, rounding, quantised, fast",
        ),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(StepwellError, match=message):
        rules_of_text(text)
