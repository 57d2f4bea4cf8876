"""What a rule puts in the place of its roots, in Python and in text, and what is wrong with others."""

from __future__ import annotations

import pytest
from pattern_programs import CTX, F, bin_, program, u
from stepwell.core.ir.verification import VerificationError, verify_module
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.patterns.language.patterns import Any_, Splat, is_op, op
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.language.rules import Bound, Build, Create, Rule, create, require, rule
from stepwell.patterns.matching.compiled_rule import compile_rule
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.text.loading import rules_of_text
from xdsl.dialects.builtin import FloatAttr, ModuleOp, StringAttr, f64
from xdsl.utils.exceptions import PassFailedException

a, b = Any_("a"), Any_("b")
exp, relu = is_op("graph.exp"), is_op("graph.relu")
SEVEN = (("value", FloatAttr(7.0, f64)),)


def text_rule(matching: str, end: str) -> str:
    return f'pattern.rule "t" {{\n{matching}\n{end}\n}}'


EXP = '%a = pattern.any\n%e = pattern.op "graph.exp"(%a)'


def end_of(*made: str, result: str) -> str:
    return "pattern.rewrite %e {\n" + "\n".join(made) + f"\npattern.yield {result}\n}}"


def after(rules: tuple[Rule, ...] | list[Rule], body: str) -> list[str]:
    """The ops of `main` after the rules."""
    module, _ = program(body)
    Driver(CTX, rules).run(module)
    verify_module(module)
    return names(module)


def names(module: ModuleOp) -> list[str]:
    main = module.body.ops.first
    assert main is not None
    return [each.name.removeprefix("graph.") for each in main.walk() if each.name.startswith("graph.")]


IN_PYTHON = {
    "create": Rule("t", exp(a), (Create("graph.tanh", (Bound("a"),)),)),
    "create by a function": rule(
        "t", exp(a), create("graph.tanh", create("graph.sin", a), **{"my.tag": StringAttr("t")})
    ),
    "build": Rule("t", exp(a), (Build("full", (), SEVEN),)),
    "bound": rule("t", exp(a), a),
    "several": rule("t", (exp(a), relu(a)), (create("graph.tanh", a), Build("full", (), SEVEN))),
}
IN_TEXT = {
    "create": end_of('%n = pattern.create "graph.tanh"(%a)', result="%n"),
    "create by a function": end_of(
        '%m = pattern.create "graph.sin"(%a)', '%n = pattern.create "graph.tanh"(%m) with {my.tag = "t"}', result="%n"
    ),
    "build": end_of('%n = pattern.build "full"() with {value = 7.0}', result="%n"),
    "bound": "pattern.replace %e with %a",
    "several": '%r = pattern.op "graph.relu"(%a)\n'
    + end_of('%n = pattern.create "graph.tanh"(%a)', '%m = pattern.build "full"() with {value = 7.0}',
             result="%n, %m").replace("%e {", "%e, %r {"),
}  # fmt: skip
MADE = {
    "create": ["tanh", "sqrt"],
    "create by a function": ["sin", "tanh", "sqrt"],
    "build": ["full", "sqrt"],
    "bound": ["sqrt"],
    "several": ["tanh", "full", "sqrt", "add"],
}


@pytest.mark.parametrize("form", ["python", "text"])
@pytest.mark.parametrize("kind", MADE)
def test_right_side(kind: str, form: str) -> None:
    rules = [IN_PYTHON[kind]] if form == "python" else rules_of_text(text_rule(EXP, IN_TEXT[kind]))
    body = u("exp", result="%e") + u("sqrt", "%e")
    if kind == "several":
        body = u("exp", result="%e") + u("relu", result="%r") + u("sqrt", "%e", "%n") + bin_("add", "%n", "%r")
    assert after(rules, body) == MADE[kind]
    assert after(rules, u("tan", result="%e") + u("sqrt", "%e")) == ["tan", "sqrt"], "no root"


WRONG = [
    ("create", Create("graph.tahn", (Bound("a"),)), end_of('%n = pattern.create "graph.tahn"(%a)', result="%n"),
     "op 'graph.tahn' is unknown"),
    ("build", Build("ful", ()), end_of('%n = pattern.build "ful"()', result="%n"),
     "unknown builder 'ful', did you mean 'full'"),
    ("build with a parameter", Build("with-operands", ("a",), SEVEN),
     end_of('%n = pattern.build "with-operands"(%a) with {value = 7.0}', result="%n"),
     "builder 'with-operands' has no parameter 'value'"),
    ("bound", Bound("b"), '%b = pattern.any\npattern.replace %e with %b', "%b is not bound by every match of the root"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "made", "end", "told"),
    WRONG,
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 else "",
)
def test_wrong_right_side_in_python(kind: str, made: Build | Create | Bound, end: str, told: str) -> None:
    with pytest.raises(RuleError, match=told):
        compile_rule(Rule(kind, exp(a), (made,)), CTX)


@pytest.mark.parametrize(
    ("kind", "made", "end", "told"),
    WRONG,
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 else "",
)
def test_wrong_right_side_in_text(kind: str, made: Build | Create | Bound, end: str, told: str) -> None:
    with pytest.raises(StepwellError) as caught:
        rules_of_text(text_rule(EXP, end), "r.mlir")
    assert told in f"{caught.value.diagnostic.message}" and caught.value.diagnostic.point is not None


@pytest.mark.parametrize("form", ["python", "text"])
def test_a_result_of_another_number_is_an_error(form: str) -> None:
    with pytest.raises(StepwellError, match="rule 't': 2 values cannot replace 1 value"):
        if form == "python":
            Driver(CTX, [rule("t", exp(a), (a, a))])
        else:
            rules_of_text(text_rule(EXP, end_of(result="%a, %a")))


@pytest.mark.parametrize("form", ["python", "text"])
def test_a_result_of_another_type_is_no_match_or_an_error(form: str) -> None:
    """What is kept and has another type is no match; what is made with it is an error."""
    stretched = f"%o = graph.full 1.0 : {F}\n%p = graph.multiply %s, %o : (tensor<f32>, {F}) -> {F}\n"
    keep = rule("t", op("graph.multiply", a, Splat(1.0)), a)
    text = (
        '%a = pattern.any\n%o = pattern.splat 1.0\n%e = pattern.op "graph.multiply"(%a, %o)\npattern.replace %e with %a'
    )
    rules = [keep] if form == "python" else list(rules_of_text(text_rule(text, "")))
    assert after(rules, stretched) == ["full", "multiply"]
    make = rule("t", op("graph.isnan", a), create("graph.exp", a))
    text = '%a = pattern.any\n%e = pattern.op "graph.isnan"(%a)'
    made = end_of('%n = pattern.create "graph.exp"(%a)', result="%n")
    rules = [make] if form == "python" else list(rules_of_text(text_rule(text, made)))
    with pytest.raises(PassFailedException, match="rule 't' makes an invalid 'graph.exp'"):
        after(rules, f"%p = graph.isnan %x : ({F}) -> tensor<4xi1>")


@pytest.mark.parametrize(
    "end",
    [
        'pattern.rewrite %e {\n%n = pattern.create "graph.tanh"(%a)\n}',
        "pattern.rewrite %e {\n%n = pattern.any\npattern.yield %n\n}",
    ],
)
def test_a_body_that_is_none_is_an_error(end: str) -> None:
    with pytest.raises(VerificationError) as caught:
        rules_of_text(text_rule(EXP, end))
    assert caught.value.diagnostic.point is not None


def test_a_condition_that_is_wrong() -> None:
    with pytest.raises(RuleError, match="unknown condition 'singel-use'"):
        compile_rule(rule("t", exp(a), a, require("singel-use", a)))
    with pytest.raises(StepwellError, match="unknown condition 'singel-use'"):
        rules_of_text(text_rule(EXP, 'pattern.require "singel-use"(%a)\npattern.replace %e with %a'))
