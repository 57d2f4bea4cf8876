"""Rules as equations: the shipped rules, what goes wrong in the text, other dialects, and rules in Python."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from stepwell.core.ir.verification import verify_module
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.lexing import StepwellLexer
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.pattern.equations.printing import equation_of
from stepwell.dialects.pattern.groups import GroupRuleOp
from stepwell.dialects.pattern.ops import RuleOp, rules_of
from stepwell.patterns import Any_, Constant, Driver, Splat, create, is_op, op, require, rule
from stepwell.patterns.text.equations import text_of_rule
from stepwell.patterns.text.loading import rules_of_text
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRTokenKind

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = sorted((ROOT / "rewrites").rglob("*.mlir"))
CTX = make_context()


def parsed(text: str) -> ModuleOp:
    return parse_text(make_context(), text, "rules.mlir")


def rewritten(body: str, *rules: Any) -> list[str]:
    """The names of the ops of `@f` after the rules, without the return."""
    text = (
        "func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {\n"
        f"{body}\nfunc.return %r : tensor<4xf32>\n}}"
    )
    module = parse_text(CTX, re.sub(r"\((\w*)\)$", lambda m: types(m[1]), text, flags=re.M), "p.mlir")
    Driver(CTX, list(rules)).run(module)
    (function,) = [each for each in module.ops if isinstance(each, FuncOp)]
    return [each.name.removeprefix("graph.") for each in function.body.block.ops][:-1]


def types(count: str) -> str:
    return f": ({', '.join(['tensor<4xf32>'] * int(count))}) -> tensor<4xf32>"


# The shipped rules


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_rules_are_equations_of_few_lines(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r'^pattern\.(?:group_)?rule ".*(?:\n(?:  .*|\}))*', text, re.M)
    lengths = [block.count("\n") + 1 for block in blocks]
    assert len(blocks) == sum(isinstance(each, RuleOp | GroupRuleOp) for each in parsed(text).ops)
    assert max(lengths) <= 6 and not any(block.endswith("}") for block in blocks)
    assert "pattern.any" not in text


def test_median_of_the_lines_of_a_rule() -> None:
    texts = "\n".join(path.read_text(encoding="utf-8") for path in SHIPPED)
    lengths = [block.count("\n") + 1 for block in re.findall(r'^pattern\.(?:group_)?rule ".*(?:\n  .*)*', texts, re.M)]
    assert len(lengths) > 110 and median(lengths) <= 2


@pytest.mark.ci_cases(12)
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_rules_are_valid(path: Path) -> None:
    """They are not verified when they are loaded."""
    verify_module(parsed(path.read_text(encoding="utf-8")))


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_normal_form_and_equation_say_the_same(path: Path) -> None:
    """The normal form of the equation of a normal form is that normal form, names included."""
    module = parsed(path.read_text(encoding="utf-8"))
    for each in module.ops:
        if isinstance(each, RuleOp | GroupRuleOp):
            line = text_of_rule(each)
            assert "\n" not in line
            again = parsed(line)
            assert [str(rule) for rule in again.ops] == [str(each)], line


PRINTED = [
    *(
        f": power(%x, {number}) => %x"
        for number in ("0", "-0.0", "-0.5", "-1", "1.5", "1.0e-05", "-2.5e-07", "1.0e+20")
    ),
    "for %f in [relu, abs] : %f(%f(%x)) => %x",
    "for %f in [relu, abs] : %f(%f(%x) as %v0) => %v0",
    "for %f in [relu, abs] : %f(%f(%x) as %v0) => %x where single-use(%v0)",
    "for %f in [sin, tan] : -%f(-%x) => %f(%x)",
    "for %f in [sin, tan] : -(%f(-%x) as %v0) => %f(%x) where single-use(%v0)",
]


@pytest.mark.parametrize("equation", PRINTED)
def test_numbers_and_functions_are_printed_as_they_are_read(equation: str) -> None:
    (found,) = rules_of(parsed(f'pattern.rule "r" {equation}'))
    assert equation_of(found) == equation


FIVE = """
pattern.rule "one" : %x * 1 => %x
pattern.rule "sign" : %x + -%y => %x - %y
pattern.rule "twice" : relu(relu(%x)) => relu(%x)
pattern.rule "constants" fast : %x * constant %k * constant %l => %x * (%k * %l)
pattern.rule "fma" rounding : %x * %y + %z => ewise_fma(%x, %y, %z)
"""


def test_five_rules_have_at_most_90_tokens() -> None:
    lexer, count = StepwellLexer(Input(FIVE, "five")), 0
    while lexer.lex().kind is not MLIRTokenKind.EOF:
        count += 1
    assert count <= 90
    assert len(rules_of_text(FIVE)) == 5


def test_rules_without_equation_stay_in_normal_form() -> None:
    text = """pattern.rule "branch" {
      %c = pattern.any
      %a = pattern.any
      %root = pattern.if %c then %a else %a
      pattern.replace %root with %a
    }"""
    (found,) = rules_of(parsed(text))
    assert equation_of(found) is None
    assert text_of_rule(found) == str(found)


# What goes wrong

ERRORS = [
    ("%x + relu(%x => %x", 14, "expected ',' or ')' between the operands of 'graph.relu', found '='"),
    ("relu(%x) -> %x", 10, "expected '=>' after the pattern, found '->'"),
    ("relu(%x) => %y", 13, "%y is not bound by the match; bound are %x, %root"),
    ("relu(%x) as %x => %x", 1, "%x has been bound before"),
    ("relu(%x-%y) => %x", 6, "'%x-' is one name; write a space before '-' to subtract"),
    ("relu(%x) => (%x as %x)", 13, "%x has been bound before"),
    ("relu(%x) #a => %x", 10, "expected the number of a result after '#', found 'a'"),
    ("concat?(%x, %y) => %x", 1, "an op that may be absent has one operand, found 2"),
    ("@twice(%x) => %x", 1, "the file defines no pattern 'twice' above this; it defines none"),
    ("relu(%x has size 3) => %x", 6, "expected dtype, type, shape, kind or attributes in braces, found 'size'"),
    ("relu(%x) => @full(value = %x)", 27, "%x is a value, where an attribute stands"),
    ("relu(%x, k = %a) => @full(value = %a)", 21, "the parameters of the builder 'full' are attributes, not names"),
    (
        "relu(%x) => %x where float(%x, is = %x)",
        22,
        "the parameters of the condition 'float' are attributes, not names",
    ),
    ("relu(%x) => %x where", 21, "expected the name of a condition after 'where', found the end of the text"),
    ("relu(%x) => (2 as %k) * %x", 13, "a number needs no name"),
    ("relu(* %x) => %x", 6, "expected a pattern, found '*'"),
]


@pytest.mark.parametrize(("equation", "column", "message"), ERRORS, ids=[each[0] for each in ERRORS])
def test_errors_have_their_place_in_the_equation(equation: str, column: int, message: str) -> None:
    head = 'pattern.rule "r" : '
    with pytest.raises(StepwellError) as caught:
        parsed(head + equation)
    assert f"rules.mlir:1:{len(head) + column}: error: {message}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('pattern.rule "r" for %f in [relu], %f in [exp] : %f(%x) => %x', 36, "%f has been bound before"),
        ('pattern.rule "r" for %f in [relu] : exp(%x) => %f(%x)', 37, "the match has no op %f, which 'for' names"),
        (
            'pattern.rule "r" for %f in [relu] : %f(-%x) => %f(%x, axis = 1)',
            48,
            "%f has the properties that it has in the match",
        ),
        ('pattern.define "p"(%x) : relu(%y)', 19, "the pattern does not use its parameter %x"),
        ('pattern.define "p"(%x) : relu(%x)\npattern.define "p"(%x) : exp(%x)', 0, "there are two patterns called 'p'"),
        (
            'pattern.define "p"(%x) : relu(%x)\npattern.rule "r" : @p(%x, %y) => %x',
            0,
            "the pattern 'p' takes 1 argument, found 2",
        ),
        (
            'pattern.define "p"(%x) : relu(%x)\npattern.rule "r" : @p(%x, axis = 1) => %x',
            0,
            "the pattern 'p' takes patterns only, no attributes",
        ),
        ('pattern.group_rule "g" : elementwise %a reduction %b', 0, "expected 'into' after the group of the producer"),
        ('pattern.group_rule "g" : elementwise into reduction %b', 0, "expected the name of the group, found 'into'"),
    ],
)
def test_errors_of_functions_definitions_and_groups(text: str, place: int, message: str) -> None:
    with pytest.raises(StepwellError) as caught:
        parsed(text)
    assert f"error: {message}" in str(caught.value)
    assert not place or f"rules.mlir:1:{place}: " in str(caught.value)


def test_checks_of_rules_point_into_the_equation() -> None:
    text = 'pattern.rule "r" :\n  softmax(relu(%x), axs = 1) => %x'
    with pytest.raises(StepwellError, match=r"<rules>:2:3: error: .*'graph.softmax' has no property 'axs'"):
        rules_of_text(text)
    with pytest.raises(StepwellError, match=r"<rules>:2:11: error: .*'graph.relu' takes 1 operand"):
        rules_of_text('pattern.rule "r" :\n  softmax(relu(%x, %x)) => %x')
    with pytest.raises(StepwellError, match=r"<rules>:1:43: error: .*unknown condition 'flaot'"):
        rules_of_text('pattern.rule "r" : relu(%x) => %x where   flaot(%x)')


# Other dialects


def test_ops_of_other_dialects_need_nothing_of_their_own() -> None:
    (found,) = rules_of_text('pattern.rule "r" : arith.addf(%x, arith.mulf(%y, %z)) => math.fma(%y, %z, %x)')
    assert str(found.rhs[0].name) == "math.fma"  # type: ignore[union-attr]


# Rules in Python


def test_operators_and_numbers_are_ops_and_constants() -> None:
    x, y, z = Any_("x"), Any_("y"), Any_("z")
    for pattern, name, count in (
        (x + y, "graph.add", 2),
        (1 + x, "graph.add", 2),
        (x - 1, "graph.subtract", 2),
        (1 - x, "graph.subtract", 2),
        (x * y, "graph.multiply", 2),
        (2.0 * x, "graph.multiply", 2),
        (x / y, "graph.divide", 2),
        (1 / x, "graph.divide", 2),
        (-x, "graph.negative", 1),
    ):
        assert pattern.names == (name,) and pattern.operands is not None and len(pattern.operands) == count
    operands = (1 - x).operands
    assert operands is not None and isinstance(operands[0], Splat) and operands[0].value == 1.0 and operands[1] is x
    assert [type(each) for each in is_op("graph.add")(x, 0.0).operands or ()] == [Any_, Splat]
    assert [type(each) for each in op("graph.add", 3, z).operands or ()] == [Splat, Any_]
    with pytest.raises(TypeError, match="takes patterns, found True"):
        op("graph.add", x, True)


def test_right_sides_in_python_are_new_ops() -> None:
    x, y, z = Any_("x"), Any_("y"), Any_("z")
    found = rewritten("%n = graph.negative %y (1)\n%r = graph.add %x, %n (2)", rule("sign", x + -y, x - y))
    assert found == ["subtract"]
    product = x * y
    fused = rule("fma", product + z, create("graph.ewise_fma", x, y, z), require("single-use", product))
    assert rewritten("%p = graph.multiply %x, %y (2)\n%r = graph.add %p, %z (2)", fused) == ["ewise_fma"]
    inner = op("graph.relu", x)
    assert rewritten("%i = graph.relu %x (1)\n%r = graph.relu %i (1)", rule("r", op("graph.relu", inner), inner)) == [
        "relu"
    ]


def test_numbers_on_right_sides() -> None:
    x, k = Any_("x"), Constant("k")
    assert rewritten("%r = graph.add %x, %x (2)", rule("twice", x + x, x * 2)) == ["full", "multiply"]
    assert rewritten("%r = graph.add %x, %x (2)", rule("t", x + x, create("graph.multiply", x, 2.0))) == [
        "full",
        "multiply",
    ]
    assert rewritten("%r = graph.subtract %x, %x (2)", rule("zero", x - x, 0.0)) == ["full"]
    with pytest.raises(TypeError, match="a replacement is a pattern, Create, Build or a number, found 'x'"):
        rule("r", x + k, "x")  # type: ignore[arg-type]


def test_a_plugin_dialect_is_written_with_its_name() -> None:
    """The ops of a package that is not ours, without a line of code about equations."""
    module = parsed('pattern.rule "r" : acme.scaled_add(%x, 2, gain = 3) => %x')
    (found,) = rules_of(module)
    assert 'pattern.op "acme.scaled_add"(%x, %0) with {gain = 3 : i64}' in str(found)
    assert equation_of(found) == ": acme.scaled_add(%x, 2, gain = 3) => %x"
