"""What a match holds, and why there is none; what each construct matches is in `patterns/test_coverage.py`."""

from __future__ import annotations

import pytest
from pattern_programs import CTX, F, M, bin_, program, u
from stepwell.patterns.language.constraints import Argument
from stepwell.patterns.language.patterns import Any_, Capture, Constant, Or, Pattern, Splat, is_op, op
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.language.structures import Function, dominates
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.running.explain import explain, explain_in, explain_rule
from stepwell.patterns.running.matching import match
from stepwell.patterns.text.loading import rules_of_text
from xdsl.dialects.builtin import FunctionType, IntegerAttr, i64

a = Any_("a")
exp, relu, tanh = is_op("graph.exp"), is_op("graph.relu"), is_op("graph.tanh")
FULL = f"%k = graph.full {{}} : {F}\n"
TWO = u("exp", result="%e") + u("relu", "%e", "%q") + u("tanh", "%e", "%t") + bin_("add", "%q", "%t")

HAS_DTYPE = """
pattern.rule "t" {
  %a = pattern.any
  %h = pattern.has_dtype %a, f32
  %e = pattern.op "graph.exp"(%h)
  pattern.partition %e
}"""
EXP_OF_TANH = """
pattern.rule "t" {
  %a = pattern.any
  %r = pattern.op "graph.tanh"(%a)
  %e = pattern.op "graph.exp"(%r)
  pattern.partition %e
}"""


# What a match holds


def test_bindings_and_arms() -> None:
    first, second = exp(relu(a)), exp(tanh(b := Any_()))
    either = Or((first, second))
    module, value = program(u("tanh", result="%q") + u("exp", "%q"))
    found = match(either, value)
    assert found is not None and found.arm(either) == 1
    assert found[either] is value and found.op(second) is value.owner
    assert found[b] is next(iter(module.body.ops)).regions[0].block.args[0]
    assert first not in found
    with pytest.raises(KeyError, match="took no part"):
        found[a]


def test_failed_arm_leaves_nothing() -> None:
    deep = Any_()
    pattern = is_op("graph.add")(exp(deep) | relu(Any_()), Argument(1))
    _, value = program(u("relu", result="%q") + bin_("add", "%q", "%y"))
    found = match(pattern, value)
    assert found is not None and deep not in found


def test_values_of_a_path_in_program_order() -> None:
    path = relu(Any_()) | tanh(step := Any_())
    pattern = dominates(parent := exp(a), path, is_op("graph.add")(Any_(), Any_()))
    _, value = program(
        u("exp", result="%e")
        + u("relu", "%e", "%q")
        + u("tanh", "%q", "%w")
        + u("tanh", "%e", "%t")
        + bin_("add", "%w", "%t")
    )
    found = match(pattern, value)
    assert found is not None
    assert found[parent].name_hint == "e"
    assert sorted(each.name_hint or "" for each in found.all(path)) == ["q", "t", "w"]
    hints = [each.name_hint for each in found.all(path)]
    assert hints.index("q") < hints.index("w"), "producers before users"
    assert {each.name_hint for each in found.all(step)} == {"q", "e"}
    assert found.all(parent) == (found[parent],)


def test_captured_attribute() -> None:
    axis = Capture("axis")
    _, value = program(u("softmax", rest=", axis = 0"))
    found = match(op("graph.softmax", a, axis=axis), value)
    assert found is not None and found.attribute(axis) == IntegerAttr(0, i64)


def test_captured_attribute_in_a_replacement() -> None:
    (rule,) = rules_of_text("""
pattern.rule "log-of-softmax" numerics "rounding" {
  %x = pattern.any
  %s = pattern.op "graph.softmax"(%x)
  %axis = pattern.attribute %s, "axis"
  %root = pattern.op "graph.log"(%s)
  pattern.rewrite %root {
    %l = pattern.create "graph.log_softmax"(%x) set ["axis"](%axis)
    pattern.yield %l
  }
}""")
    module, _ = program(u("softmax", "%m", "%q", M, ", axis = 0") + u("log", "%q", "%r", M) + u("exp", "%r", "%p", M))
    Driver(CTX, [rule]).run(module)
    made = next(each for each in module.walk() if each.name == "graph.log_softmax")
    assert made.properties["axis"] == IntegerAttr(0, i64)


def test_match_at_an_argument_and_at_a_function() -> None:
    module, value = program(u("exp"))
    argument = value.owner.operands[0]  # type: ignore[union-attr]
    assert match(Argument(0), argument) and match(a, argument) and not match(Argument(1), argument)
    assert not match(exp(a), argument)
    twice = next(each for each in module.body.ops if "twice" in str(each.properties["sym_name"]))
    assert isinstance(twice.properties["function_type"], FunctionType)
    found = match(Function((a,), is_op("graph.add")(a, a)), twice)
    assert found is not None and found[a] is twice.regions[0].block.args[0]
    assert not match(Function((a, Any_()), is_op("graph.add")(a, a)), twice)
    assert not match(Function((a,), is_op("graph.add")(a, a), (("kind", "thrice"),)), twice)


def test_only_used_by() -> None:
    text = """
pattern.rule "t" {
  %x = pattern.any
  %e = pattern.op "graph.exp"(%x)
  %q = pattern.op "graph.relu"(%e)
  %t = pattern.op "graph.tanh"(%e)
  %root = pattern.op "graph.add"(%q, %t)
  pattern.require "only-used-by"(%e, %q, %t)
  pattern.rewrite %root {
    %new = pattern.create "graph.relu"(%x)
    pattern.yield %new
  }
}"""
    for extra, applies in (("", True), (u("sigmoid", "%e", "%z"), False)):
        module, _ = program(TWO + extra)
        assert Driver(CTX, rules_of_text(text)).run(module) is applies


def test_unknown_names_are_errors() -> None:
    with pytest.raises(RuleError, match="unknown op kind 'elementwize', did you mean 'elementwise'"):
        a.has_kind("elementwize")
    with pytest.raises(RuleError, match="unknown condition 'singel-use', did you mean 'single-use'"):
        a.holds("singel-use")


# Why not


def test_explain_tells_the_deepest_failure() -> None:
    pattern = is_op("graph.add")(exp(named := Any_("inner.0")), tanh(named))
    _, value = program(u("exp", result="%e") + u("relu", result="%q") + bin_("add", "%q", "%e"))
    told = explain(pattern, value)
    assert not told.matched
    assert told.op is value.owner and told.operand == 0
    assert "'graph.add', operand 0: expected 'graph.tanh', found 'graph.relu'" in str(told)
    assert "%inner = %x" in str(told)


@pytest.mark.parametrize(
    ("pattern", "body", "told"),
    [
        (exp(a), u("relu"), "expected 'graph.exp', found 'graph.relu'"),
        (exp(Constant()), u("exp"), "'graph.exp', operand 0: expected a constant, found %x"),
        (exp(Splat(1.0)), FULL.format("2.0") + u("exp", "%k"), "expected a constant of 1.0, found 2.0 (%k)"),
        (exp(a.has_shape(5)), u("exp"), "%x: expected shape 5, found type tensor<4xf32>"),
        (exp(a.has_dtype("f16")), u("exp"), "%x: expected element type f16, found f32"),
        (is_op("graph.softmax")(a).has_attr({"axis": 1}), u("softmax"), "expected axis = 1, found -1 : i64"),
        (op("graph.softmax", a, axis=1), u("softmax"), "'graph.softmax': expected axis = 1, found -1 : i64"),
        (exp(Argument(1)), u("exp"), "expected argument 1, found argument 0 (%x)"),
        (
            is_op("graph.add")(a, a),
            bin_("add", "%x", "%y"),
            "'graph.add', operand 1: expected %x again, found %y",
        ),
        (op("graph.exp", a, Any_()), u("exp"), "'graph.exp': expected 2 operands, found 1"),
        (exp(~relu(a)), u("relu", result="%q") + u("exp", "%q"), "%q is what it must not be"),
        (
            exp(relu(a).single_use()),
            u("relu", result="%q") + u("exp", "%q") + u("tanh", "%q", "%t"),
            "%q: condition 'single-use' does not hold",
        ),
    ],
)
def test_explain(pattern: Pattern, body: str, told: str) -> None:
    _, value = program(body)
    assert match(pattern, value) is None
    assert told in str(explain(pattern, value))


def test_explain_a_match_and_a_rule() -> None:
    _, value = program(u("exp"))
    assert str(explain(exp(a), value)) == "matches"
    rules = rules_of_text(HAS_DTYPE)
    assert explain_rule(rules, "t", value) == "t: matches"
    with pytest.raises(ValueError, match="no rule 'u'"):
        explain_rule(rules, "u", value)


def test_explain_in_a_module() -> None:
    module, _ = program(u("relu", result="%q") + u("exp", "%q") + u("exp", result="%e"))
    rules = rules_of_text(EXP_OF_TANH)
    first = "t at %p ('graph.exp'): no match: 'graph.exp', operand 0: expected 'graph.tanh', found 'graph.relu'"
    assert explain_in(module, rules, "t@%p").startswith(first)
    everywhere = explain_in(module, rules, "t")
    assert everywhere.startswith(first) and "t at %e ('graph.exp'): no match" in everywhere
    assert "expected 'graph.exp', found 'graph.relu'" in explain_in(module, rules, "t@q")
    with pytest.raises(ValueError, match="no op has a result called %nothing"):
        explain_in(module, rules, "t@%nothing")
    with pytest.raises(ValueError, match="no rule 'u'"):
        explain_in(module, rules, "u@%p")
