"""Each construct of the pattern language, in Python and in text: what it matches, what it does not."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from stepwell.core.parsing import make_context, parse_text
from stepwell.rewrites.engine.constraints import Argument, literal
from stepwell.rewrites.engine.driver import Driver
from stepwell.rewrites.engine.explain import explain, explain_in, explain_rule
from stepwell.rewrites.engine.loading import rules_of_text
from stepwell.rewrites.engine.match import RuleError
from stepwell.rewrites.engine.matching import match
from stepwell.rewrites.engine.patterns import Any_, Capture, Constant, Op, Or, Pattern, Splat, is_op, op
from stepwell.rewrites.engine.structures import Function, If, call, dominates
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    TensorType,
    f32,
    i64,
)
from xdsl.ir import SSAValue

CTX = make_context()
F = "tensor<4xf32>"
a = Any_("a")

HELPERS = """
func.func private @twice(%u: tensor<4xf32>) -> tensor<4xf32> attributes {kind = "twice"} {
  %r = graph.add %u, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @sum(%u: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.multiply %u, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %s, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
"""


def program(body: str) -> tuple[ModuleOp, SSAValue]:
    """A module, and its value `%p`."""
    arguments = f"%x: {F}, %y: {F}, %m: tensor<4x10xf32>, %d: tensor<?x10xf32>, %i: tensor<4xi32>, %b: i1, %s: tensor<f32>"
    module = parse_text(CTX, f"func.func @main({arguments}) {{\n{body}\nfunc.return\n}}\n{HELPERS}", "t.mlir")
    values = [value for each in module.walk() for value in each.results if value.name_hint == "p"]
    return module, values[-1]


def u(name: str, operand: str = "%x", result: str = "%p", type_: str = F, rest: str = "") -> str:
    return f"{result} = graph.{name} {operand}{rest} : ({type_}) -> {type_}\n"


def bin_(name: str, left: str, right: str, result: str = "%p") -> str:
    return f"{result} = graph.{name} {left}, {right} : ({F}, {F}) -> {F}\n"


def cast(dtype: str, attributes: str = "") -> str:
    return f"%p = graph.astype %i, dtype = {dtype}{attributes} : (tensor<4xi32>) -> tensor<4x{dtype}>"


def choice(then: str, otherwise: str) -> str:
    arms = [f"{{\n{u(each, result='%t')}scf.yield %t : {F}\n}}" for each in (then, otherwise)]
    return f"%p = scf.if %b -> ({F}) {arms[0]} else {arms[1]}\n"


@dataclass
class Case:
    """A pattern of `%p` in Python and in text (the last name is the pattern), and programs on both sides."""

    name: str
    pattern: Pattern
    text: str
    yes: tuple[str, ...]
    no: tuple[str, ...]


M, D, S = "tensor<4x10xf32>", "tensor<?x10xf32>", "tensor<f32>"
ZERO = DenseIntOrFPElementsAttr.from_list(TensorType(f32, [4]), [0.0] * 4)
exp = is_op("graph.exp")
ANY_EXP = '%a = pattern.any\n%e = pattern.op "graph.exp"(%a)\n'
relu, tanh = is_op("graph.relu"), is_op("graph.tanh")
FULL = f"%k = graph.full {{}} : {F}\n"
TWO = u("exp", result="%e") + u("relu", "%e", "%q") + u("tanh", "%e", "%t") + bin_("add", "%q", "%t")

CASES = [
    Case("has_dtype", exp(a.has_dtype("f32")), '%a = pattern.any\n%h = pattern.has_dtype %a, f32\n%e = pattern.op "graph.exp"(%h)',
         (u("exp"), u("exp", "%m", type_=M), u("exp", "%s", type_=S)), (u("relu"), u("exp", "%e", type_="tensor<4xf64>").replace("%p", "%e = graph.full 0.0 : tensor<4xf64>\n%p"))),
    Case("has_shape", exp(a).has_shape(None, 10), ANY_EXP + "%h = pattern.has_shape %e, [?, 10]",
         (u("exp", "%m", type_=M), u("exp", "%d", type_=D)), (u("exp"), u("exp", "%s", type_=S))),
    Case("has_shape of a size", exp(a).has_shape(4, 10), ANY_EXP + "%h = pattern.has_shape %e, [4, 10]",
         (u("exp", "%m", type_=M),), (u("exp", "%d", type_=D), u("exp"))),
    Case("has_shape of rank 0", exp(a).has_shape(), ANY_EXP + "%h = pattern.has_shape %e, []",
         (u("exp", "%s", type_=S),), (u("exp"),)),
    Case("has_type", exp(a).has_type(TensorType(f32, [4, 10])), ANY_EXP + "%h = pattern.has_type %e, tensor<4x10xf32>",
         (u("exp", "%m", type_=M),), (u("exp", "%d", type_=D), u("exp"))),
    Case("has_attr", is_op("graph.softmax")(a).has_attr({"axis": -1}),
         '%a = pattern.any\n%e = pattern.op "graph.softmax"(%a)\n%h = pattern.has_attr %e with {axis = -1 : i32}',
         (u("softmax"), u("softmax", rest=", axis = -1")), (u("softmax", rest=", axis = 0"), u("exp"))),
    Case("has_attr of a list", is_op("graph.permute_dims")(a).has_attr({"axes": [1, 0]}),
         '%a = pattern.any\n%e = pattern.op "graph.permute_dims"(%a)\n%h = pattern.has_attr %e with {axes = [1, 0]}',
         ("%p = graph.permute_dims %m, axes = [1, 0] : (tensor<4x10xf32>) -> tensor<10x4xf32>",),
         ("%p = graph.permute_dims %m, axes = [0, 1] : (tensor<4x10xf32>) -> tensor<4x10xf32>",)),
    Case("has_attr of a type", is_op("graph.astype")(a).has_attr({"dtype": "f32", "tag": "here"}),
         '%a = pattern.any\n%e = pattern.op "graph.astype"(%a)\n%h = pattern.has_attr %e with {dtype = f32, tag = "here"}',
         (cast("f32", ' {tag = "here"}'),), (cast("f64", ' {tag = "here"}'), cast("f32", ' {tag = "there"}'), cast("f32"))),
    Case("has_attr of nothing", exp(a).has_attr({}), ANY_EXP + "%h = pattern.has_attr %e with {}", (u("exp"),), (u("relu"),)),
    Case("has_kind", Op((), None).has_kind("elementwise", "broadcast"),
         '%o = pattern.any_op\n%h = pattern.has_kind %o, "elementwise | broadcast"', (u("exp"), bin_("add", "%x", "%y")), (u("softmax"),)),
    Case("argument", exp(Argument()), '%a = pattern.argument\n%e = pattern.op "graph.exp"(%a)', (u("exp"), u("exp", "%y")), (u("relu", result="%q") + u("exp", "%q"),)),
    Case("argument by index", exp(Argument(0)), '%a = pattern.argument 0\n%e = pattern.op "graph.exp"(%a)', (u("exp"),), (u("exp", "%y"),)),
    Case("argument by name", exp(Argument(name="y")), '%a = pattern.argument "y"\n%e = pattern.op "graph.exp"(%a)', (u("exp", "%y"),), (u("exp"),)),
    Case("literal", exp(literal(ZERO)), f'%a = pattern.literal dense<0.0> : {F}\n%e = pattern.op "graph.exp"(%a)',
         (FULL.format("0.0") + u("exp", "%k"), f"%k = graph.constant dense<0.0> : {F}\n" + u("exp", "%k")),
         (FULL.format("-0.0") + u("exp", "%k"), FULL.format("1.0") + u("exp", "%k"), f"%k = graph.full 0.0 : {M}\n" + u("exp", "%k", type_=M), u("exp"))),
    Case("and", exp(a.has_dtype("f32") & a.has_shape(4)),
         '%a = pattern.any\n%f = pattern.has_dtype %a, f32\n%s = pattern.has_shape %a, [4]\n%h = pattern.and %f, %s\n%e = pattern.op "graph.exp"(%h)',
         (u("exp"),), (u("exp", "%m", type_=M),)),
    Case("not", exp(~Constant()), '%a = pattern.constant\n%n = pattern.not %a\n%e = pattern.op "graph.exp"(%n)', (u("exp"),), (FULL.format("1.0") + u("exp", "%k"),)),
    Case("not the same", is_op("graph.subtract")(a, ~Any_("a")),
         '%a = pattern.any\n%n = pattern.not %a\n%e = pattern.op "graph.subtract"(%a, %n)', (bin_("subtract", "%x", "%y"),), (bin_("subtract", "%x", "%x"),)),
    Case("single use", exp(relu(a).single_use()), '%a = pattern.any\n%r = pattern.op "graph.relu"(%a)\n%h = pattern.holds %r, "single-use"\n%e = pattern.op "graph.exp"(%h)',
         (u("relu", result="%q") + u("exp", "%q"),), (u("relu", result="%q") + u("exp", "%q") + u("tanh", "%q", "%t"),)),
    Case("or", exp(relu(a)) | exp(tanh(a)), '%a = pattern.any\n%r = pattern.op "graph.relu"(%a)\n%s = pattern.op "graph.exp"(%r)\n%t = pattern.op "graph.tanh"(%a)\n%u = pattern.op "graph.exp"(%t)\n%o = pattern.or %s, %u',
         (u("relu", result="%q") + u("exp", "%q"), u("tanh", result="%q") + u("exp", "%q")), (u("exp"),)),
    Case("dominates", dominates(exp(a), relu(Any_()) | tanh(Any_()), is_op("graph.add")(Any_(), Any_())),
         ANY_EXP + '%x = pattern.any\n%r = pattern.op "graph.relu"(%x)\n%y = pattern.any\n%t = pattern.op "graph.tanh"(%y)\n%path = pattern.or %r, %t\n'
         '%v = pattern.any\n%w = pattern.any\n%c = pattern.op "graph.add"(%v, %w)\n%d = pattern.dominates %e by %c over %path',
         (TWO, u("exp", result="%e") + u("relu", "%e", "%q") + u("relu", "%q", "%t") + bin_("add", "%e", "%t")),
         (TWO.replace("graph.tanh", "graph.sigmoid"), TWO + u("relu", "%t", "%z"), u("relu", result="%q") + u("tanh", result="%t") + bin_("add", "%q", "%t"))),
    Case("call by name", call("twice", a), '%a = pattern.any\n%c = pattern.call named "twice"(%a)',
         (f"%p = func.call @twice(%x) : ({F}) -> {F}",), (f"%p = func.call @sum(%x, %y) : ({F}, {F}) -> {F}", u("exp"))),
    Case("call of any", call(None), "%c = pattern.call any()",
         (f"%p = func.call @twice(%x) : ({F}) -> {F}", f"%p = func.call @sum(%x, %y) : ({F}, {F}) -> {F}"), (u("exp"),)),
    Case("function", call(Function((a,), is_op("graph.add")(a, a), (("kind", "twice"),))),
         '%a = pattern.any\n%s = pattern.op "graph.add"(%a, %a)\n%f = pattern.function(%a) returns %s with {kind = "twice"}\n%c = pattern.call any to %f()',
         (f"%p = func.call @twice(%x) : ({F}) -> {F}",), (f"%p = func.call @sum(%x, %y) : ({F}, {F}) -> {F}",)),
    Case("function with a fuzzy body", call(Function(None, is_op("graph.add")(Any_(), Any_())), Any_(), Any_()),
         '%a = pattern.any\n%b = pattern.any\n%s = pattern.op "graph.add"(%a, %b)\n%f = pattern.function any() returns %s\n%v = pattern.any\n%w = pattern.any\n%c = pattern.call to %f(%v, %w)',
         (f"%p = func.call @sum(%x, %y) : ({F}, {F}) -> {F}",), (f"%p = func.call @twice(%x) : ({F}) -> {F}",)),
    Case("if", If(Argument(), exp(a), relu(a)), '%b = pattern.argument\n%a = pattern.any\n%e = pattern.op "graph.exp"(%a)\n%r = pattern.op "graph.relu"(%a)\n%i = pattern.if %b then %e else %r',
         (choice("exp", "relu"),), (choice("relu", "exp"), u("exp"))),
    Case("splat", exp(Splat(1.0)), '%a = pattern.splat 1.0\n%e = pattern.op "graph.exp"(%a)', (FULL.format("1.0") + u("exp", "%k"),), (FULL.format("2.0") + u("exp", "%k"), u("exp"))),
    Case("any arity", is_op(("graph.concat", "graph.add"))(), '%r = pattern.rest\n%e = pattern.op "graph.concat | graph.add"(%r)',
         (bin_("add", "%x", "%x"), f"%p = graph.concat %x, axis = 0 : ({F}) -> {F}", f"%p = graph.concat %x, %x, %x, axis = 0 : ({F}, {F}, {F}) -> tensor<12xf32>"), (u("exp"),)),
]  # fmt: skip


def rule_text(case: Case) -> str:
    root = case.text.strip().splitlines()[-1].split()[0]
    return f'pattern.rule "t" {{\n{case.text}\npattern.rewrite {root} {{\n%new = pattern.create "graph.relu"({root})\npattern.yield %new\n}}\n}}'


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_construct(case: Case) -> None:
    (rule,) = rules_of_text(rule_text(case))
    for wanted, programs in ((True, case.yes), (False, case.no)):
        for text in programs:
            _, value = program(text)
            assert (match(case.pattern, value) is not None) is wanted, text
            assert (match(rule.lhs, value) is not None) is wanted, f"text form: {text}"


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
    module, _ = program(
        u("softmax", "%m", "%q", M, ", axis = 0") + u("log", "%q", "%r", M) + u("exp", "%r", "%p", M)
    )
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
        (is_op("graph.softmax")(a).has_attr({"axis": 0}), u("softmax"), "expected axis = 0, found -1 : i64"),
        (op("graph.softmax", a, axis=0), u("softmax"), "'graph.softmax': expected axis = 0, found -1 : i64"),
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
    rules = rules_of_text(rule_text(CASES[0]))
    assert explain_rule(rules, "t", value) == "t: matches"
    with pytest.raises(ValueError, match="no rule 'u'"):
        explain_rule(rules, "u", value)


def test_explain_in_a_module() -> None:
    module, _ = program(u("relu", result="%q") + u("exp", "%q") + u("exp", result="%e"))
    rules = rules_of_text(rule_text(Case("t", a, '%a = pattern.any\n%r = pattern.op "graph.tanh"(%a)\n%e = pattern.op "graph.exp"(%r)', (), ())))  # fmt: skip
    first = (
        "t at %p ('graph.exp'): no match: 'graph.exp', operand 0: expected 'graph.tanh', found 'graph.relu'"
    )
    assert explain_in(module, rules, "t@%p").startswith(first)
    everywhere = explain_in(module, rules, "t")
    assert everywhere.startswith(first) and "t at %e ('graph.exp'): no match" in everywhere
    assert "expected 'graph.exp', found 'graph.relu'" in explain_in(module, rules, "t@q")
    with pytest.raises(ValueError, match="no op has a result called %nothing"):
        explain_in(module, rules, "t@%nothing")
    with pytest.raises(ValueError, match="no rule 'u'"):
        explain_in(module, rules, "u@%p")
