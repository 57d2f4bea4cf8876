"""The pattern language: what each construct matches and does not, backtracking, the driver and its errors."""

from __future__ import annotations

from collections import Counter

import pytest
from stepwell.core.ir.verification import verify_module
from stepwell.core.messages.diagnostics import StepwellError, listening
from stepwell.core.messages.locations import location_string
from stepwell.core.passes.base import collecting_statistics
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.language import conditions as conditions
from stepwell.patterns.language.patterns import Any_, Capture, Constant, Or, Pattern, Rest, Result, Splat, op, optional
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.language.rules import Rule, create, require, rule
from stepwell.patterns.matching.compiled_rule import compile_rule
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.text.loading import rules_of_text
from stepwell.rewrites.shipped import shipped_rules
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.utils.exceptions import PassFailedException

CTX = make_context()
F = "tensor<4xf32>"


def module_of(*lines: str, results: str = "%r") -> ModuleOp:
    """`main` on %x, %y, %z and %i whose body is `lines`."""
    types = ", ".join(F for _ in results.split(","))
    body = "\n".join(lines)
    return parse_text(
        CTX,
        f"func.func @main(%x: {F}, %y: {F}, %z: {F}) -> ({types}) {{\n{body}\nfunc.return {results} : {types}\n}}",
        "t.mlir",
    )


def line(result: str, name: str, *operands: str, rest: str = "") -> str:
    types = ", ".join(F for _ in operands)
    return f"{result} = graph.{name} {', '.join(operands)}{rest} : ({types}) -> {F}"


def names(module: ModuleOp) -> list[str]:
    return [each.name.removeprefix("graph.") for each in module.walk() if each.name.startswith("graph.")]


def probe(pattern: Pattern, *lines: str) -> bool:
    """Whether the value `%p` that `lines` make matches; the rule that tells turns `cos(%p)` into `tan(%p)`."""
    module = module_of(*lines, line("%r", "cos", "%p"))
    Driver(CTX, [rule("found", op("graph.cos", pattern), create("graph.tan", pattern))]).run(module)
    verify_module(module)
    return "tan" in names(module)


a, b = Any_("a"), Any_("b")


def test_a_number_is_rounded_to_the_type_of_the_constant() -> None:
    def constant(number: str) -> str:
        return f"%p = graph.constant dense<{number}> : {F}"

    assert probe(Splat(0.1), constant("1.000000e-01")), "the f32 nearest to 0.1 is what this says"
    assert probe(Splat(1.4142135623730951), constant("1.41421354"))
    assert not probe(Splat(0.1), constant("1.000001e-01"))
    assert not probe(Splat(1e300), constant("3.0e+38")), "a number that the type lacks is no constant of it"
    assert probe(Splat(-0.0), constant("-0.0")) and not probe(Splat(-0.0), constant("0.0"))


def test_op_matches_by_name_and_operands() -> None:
    assert probe(op("graph.add", a, b), line("%p", "add", "%x", "%y"))
    assert not probe(op("graph.add", a, b), line("%p", "subtract", "%x", "%y"))
    assert probe(op(("graph.add", "graph.subtract"), a, b), line("%p", "subtract", "%x", "%y"))
    assert not probe(op("test.op", a), line("%p", "add", "%x", "%y"))


def test_same_key_is_the_same_value() -> None:
    assert probe(op("graph.add", a, a), line("%p", "add", "%x", "%x"))
    assert not probe(op("graph.add", a, a), line("%p", "add", "%x", "%y"))


def test_equal_constants_are_not_the_same_value() -> None:
    k = Splat(1.0, "k")
    lines = [f"%k = graph.full 1.0 : {F}", f"%l = graph.full 1.0 : {F}"]
    assert not probe(op("graph.subtract", k, k), *lines, line("%p", "subtract", "%k", "%l"))
    assert probe(op("graph.subtract", k, k), *lines, line("%p", "subtract", "%k", "%k"))


def test_commutative_operands_match_in_any_order() -> None:
    exp_of = op("graph.exp", a)
    lines = [line("%e", "exp", "%x")]
    assert probe(op("graph.add", exp_of, b), *lines, line("%p", "add", "%y", "%e"))
    assert not probe(op("graph.subtract", exp_of, b), *lines, line("%p", "subtract", "%y", "%e"))


def test_backtracking_through_nested_commutative_ops() -> None:
    """(a * exp(b)) + (a * b) needs the second order of the inner product when the outer first order fails late."""
    pattern = op("graph.add", op("graph.multiply", a, op("graph.exp", b)), op("graph.multiply", a, b))
    for first in (("%x", "%e"), ("%e", "%x")):
        for second in (("%x", "%y"), ("%y", "%x")):
            for outer in (("%m", "%n"), ("%n", "%m")):
                lines = [
                    line("%e", "exp", "%y"),
                    line("%m", "multiply", *first),
                    line("%n", "multiply", *second),
                    line("%p", "add", *outer),
                ]
                assert probe(pattern, *lines), lines
    lines = [line("%e", "exp", "%y"), line("%m", "multiply", "%x", "%e"), line("%n", "multiply", "%x", "%z")]
    assert not probe(pattern, *lines, line("%p", "add", "%m", "%n"))


def test_bindings_of_a_failed_alternative_are_forgotten() -> None:
    """The first arm binds `a` to %x and fails because of what comes after; the second binds it to %y."""
    either = Or((op("graph.subtract", a, Any_()), op("graph.subtract", Any_(), a)))
    pattern = op("graph.divide", either, a)
    lines = [line("%s", "subtract", "%x", "%y")]
    assert probe(pattern, *lines, line("%p", "divide", "%s", "%y"))
    assert probe(pattern, *lines, line("%p", "divide", "%s", "%x"))
    assert not probe(pattern, *lines, line("%p", "divide", "%s", "%z"))


def test_optional_op() -> None:
    pattern = op("graph.tanh", optional(op("graph.exp", a), lambda inner: op("graph.relu", inner)))
    assert probe(pattern, line("%e", "exp", "%x"), line("%p", "tanh", "%e"))
    assert probe(pattern, line("%e", "exp", "%x"), line("%q", "relu", "%e"), line("%p", "tanh", "%q"))
    assert not probe(pattern, line("%e", "relu", "%x"), line("%p", "tanh", "%e"))


def test_attributes_match_their_defaults() -> None:
    from stepwell.dialects.graph.base import python_properties
    from stepwell.dialects.graph.reduction import SoftmaxOp

    axis = python_properties(SoftmaxOp, {"axis": -1})["axis"]
    pattern = op("graph.softmax", a, axis=axis)
    assert probe(pattern, line("%p", "softmax", "%x"))
    assert probe(pattern, line("%p", "softmax", "%x", rest=", axis = 0"))  # The only axis of rank 1, in other words.
    assert not probe(op("graph.softmax", a, axis=1), line("%p", "softmax", "%x"))


def test_captured_attributes_are_equal() -> None:
    alpha = Capture("alpha")
    pattern = op("graph.leaky_relu", op("graph.leaky_relu", a, alpha=alpha), alpha=alpha)
    assert probe(pattern, line("%q", "leaky_relu", "%x"), line("%p", "leaky_relu", "%q"))
    assert not probe(pattern, line("%q", "leaky_relu", "%x", rest=", alpha = 0.5"), line("%p", "leaky_relu", "%q"))


def test_constants_and_splats() -> None:
    full, dense = f"%k = graph.full 2.0 : {F}", f"%k = graph.constant dense<[1.0, 2.0, 2.0, 2.0]> : {F}"
    for constant, splat in ((full, True), (dense, False)):
        assert probe(op("graph.exp", Constant()), constant, line("%p", "exp", "%k"))
        assert probe(op("graph.exp", Splat(2.0)), constant, line("%p", "exp", "%k")) is splat
    assert not probe(op("graph.exp", Constant()), line("%p", "exp", "%x"))
    assert not probe(op("graph.exp", Constant()), f'%k = graph.weight "w" : {F}', line("%p", "exp", "%k"))
    assert not probe(op("graph.exp", Splat(0.0)), f"%k = graph.full -0.0 : {F}", line("%p", "exp", "%k"))


def test_results_and_rest() -> None:
    split = f"%s, %t = graph.split %x, indices = [4] : ({F}) -> ({F}, tensor<0xf32>)"
    of_split = op("graph.split", a)
    assert probe(op("graph.exp", Result(of_split, 0)), split, line("%p", "exp", "%s"))
    assert not probe(op("graph.exp", Result(of_split, 1)), split, line("%p", "exp", "%s"))
    assert not probe(op("graph.exp", of_split), split, line("%p", "exp", "%s")), "an op of two results is no value"
    where = "%c = graph.isnan %x : (tensor<4xf32>) -> tensor<4xi1>"
    chosen = f"%p = graph.where %c, %x, %y : (tensor<4xi1>, {F}, {F}) -> {F}"
    assert probe(op("graph.where", op("graph.isnan", a), Rest()), where, chosen)


def test_shared_pattern_is_one_op() -> None:
    """A diamond: both sides start at the same exp."""
    shared = op("graph.exp", a)
    pattern = op("graph.divide", op("graph.relu", shared), op("graph.tanh", shared))
    tail = [line("%q", "relu", "%e"), line("%s", "tanh", "%f"), line("%p", "divide", "%q", "%s")]
    assert not probe(pattern, line("%e", "exp", "%x"), line("%f", "exp", "%x"), *tail)
    tail[1] = line("%s", "tanh", "%e")
    assert probe(pattern, line("%e", "exp", "%x"), *tail)


# The driver


RELU = rule("relu-of-relu", op("graph.relu", op("graph.relu", a)), create("graph.relu", a))


def test_replacement_takes_location_and_name_of_the_root() -> None:
    module = module_of(line("%e", "relu", "%x"), line("%named", "relu", "%e"), line("%r", "exp", "%named"))
    Driver(CTX, [RELU]).run(module)
    relu = next(each for each in module.walk() if each.name == "graph.relu")
    assert relu.results[0].name_hint == "named"
    assert location_string(relu) == "t.mlir:3:1"


def test_statistics_count_hits() -> None:
    module = module_of(line("%a", "relu", "%x"), line("%b", "relu", "%a"), line("%r", "relu", "%b"))
    with collecting_statistics() as counter:
        driver = Driver(CTX, [RELU])
        driver.run(module)
    assert counter == Counter({"relu-of-relu": 2})
    assert driver.statistics["relu-of-relu"].tries == 2  # not where the operand is no relu
    assert names(module) == ["relu"]


def test_dead_producers_go_unless_told() -> None:
    lines = [line("%e", "exp", "%x"), line("%r", "cos", "%e")]
    swap = rule("swap", op("graph.cos", op("graph.exp", a)), create("graph.tan", a))
    module = module_of(*lines)
    Driver(CTX, [swap]).run(module)
    assert names(module) == ["tan"]
    module = module_of(*lines)
    Driver(CTX, [swap], erase_dead=False).run(module)
    assert names(module) == ["exp", "tan"]


def test_a_dead_producer_of_two_operands_goes_once() -> None:
    """Both operands of the erased addition are results of one split."""
    whole, half = "tensor<4xi32>", "tensor<2xi32>"
    text = f"""func.func @main(%x: {whole}) -> {half} {{
      %h:2 = graph.split %x, axis = 0, sections = 2 : ({whole}) -> ({half}, {half})
      %s = graph.add %h#0, %h#1 : ({half}, {half}) -> {half}
      %r = graph.subtract %s, %s : ({half}, {half}) -> {half}
      func.return %r : {half}
    }}"""
    module = parse_text(CTX, text, "t.mlir")
    Driver(CTX, shipped_rules("simplify")).run(module)
    assert names(module) == ["full"]


def test_a_rule_sees_that_a_value_lost_its_other_user() -> None:
    """exp has two users until the tanh is gone; only then does the second rule apply."""
    single = rule("single", op("graph.cos", op("graph.exp", a)), create("graph.tan", a))
    single = Rule("single", single.lhs, single.rhs, (require("single-use", single.lhs.operands[0]),))  # type: ignore
    drop = rule("drop", op("graph.tanh", op("graph.exp", b)), b)
    module = module_of(
        line("%e", "exp", "%x"),
        line("%c", "cos", "%e"),
        line("%t", "tanh", "%e"),
        line("%r", "add", "%c", "%t"),
    )
    Driver(CTX, [single, drop]).run(module)
    assert names(module) == ["tan", "add"]


def test_deep_patterns_are_tried_again_at_distant_users() -> None:
    deep = rule("deep", op("graph.cos", op("graph.sin", op("graph.relu", a))), a)
    fix = rule("fix", op("graph.abs", b), create("graph.relu", b))
    module = module_of(line("%m", "abs", "%x"), line("%n", "sin", "%m"), line("%r", "cos", "%n"))
    Driver(CTX, [deep, fix]).run(module)
    assert names(module) == []


def test_alternating_rules_are_named() -> None:
    there = rule("there", op("graph.sin", a), create("graph.cos", a))
    back = rule("back", op("graph.cos", b), create("graph.sin", b))
    with pytest.raises(PassFailedException, match="no fixed point after 50 rewrites of one op.*'there'") as caught:
        Driver(CTX, [there, back], limit=50).run(module_of(line("%r", "sin", "%x")))
    assert "'back'" in str(caught.value)


def test_a_rule_that_needs_what_it_replaces_is_an_error() -> None:
    root = op("graph.sin", a)
    with pytest.raises(PassFailedException, match="rule 'loop' replaces a result by something that needs it"):
        Driver(CTX, [rule("loop", root, create("graph.cos", root))]).run(module_of(line("%r", "sin", "%x")))


def test_a_rule_never_changes_a_type() -> None:
    """x * 1 where the constant stretches x: no match, no error."""
    drop = rule("drop", op("graph.multiply", a, Splat(1.0)), a)
    module = parse_text(
        CTX,
        f"func.func @main(%x: tensor<1xf32>) -> {F} {{\n%k = graph.full 1.0 : {F}\n"
        f"%r = graph.multiply %x, %k : (tensor<1xf32>, {F}) -> {F}\nfunc.return %r : {F}\n}}",
    )
    assert not Driver(CTX, [drop]).run(module)


def test_an_invalid_replacement_is_an_error() -> None:
    wrong = rule("wrong", op("graph.isnan", a), create("graph.exp", a))
    module = parse_text(
        CTX,
        (
            f"func.func @main(%x: {F}) -> tensor<4xi1> {{\n%r = graph.isnan %x : ({F}) -> tensor<4xi1>\n"
            f"func.return %r : tensor<4xi1>\n}}"
        ),
    )
    with pytest.raises(PassFailedException, match="rule 'wrong' makes an invalid 'graph.exp'"):
        Driver(CTX, [wrong]).run(module)


def test_remark_of_a_condition_that_fails() -> None:
    remarks: list[str] = []
    product = op("graph.multiply", a, b)
    fma = Rule(
        "fma",
        op("graph.add", product, Any_("c")),
        (create("graph.ewise_fma", a, b, Any_("c")),),
        (require("single-use", product, remark="not fused: {name} has {users} users"),),
    )
    module = module_of(line("%m", "multiply", "%x", "%y"), line("%r", "add", "%m", "%m"))
    with listening(lambda diagnostic: remarks.append(diagnostic.message)):
        Driver(CTX, [fma]).run(module)
    assert remarks == ["'graph.add': not fused: %m has 2 users"]


# Errors in rules


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (
            rule("r", op("graph.relu", a), a, require("single-usage", a)),
            "unknown condition 'single-usage', did you mean 'single-use'",
        ),
        (
            rule("r", op("graph.relu", a), a, require("single-use", a, a)),
            r"condition 'single-use' takes 1 value \(thing\), found 2",
        ),
        (rule("r", op("graph.relu", a), b), "%b is not bound by every match"),
        (
            rule("r", op("graph.relu", Or((op("graph.exp", a), op("graph.log", b)))), a),
            "%a is not bound by every match",
        ),
        (rule("r", op("graph.concat", Rest(), a), a), "a rest of operands must be the last operand"),
    ],
)
def test_broken_rule_is_not_compiled(broken: Rule, message: str) -> None:
    with pytest.raises(RuleError, match=message):
        compile_rule(broken)


def test_unknown_numerics_class() -> None:
    with pytest.raises(
        ValueError, match="rule 'r' has numerics 'loose', expected one of exact, rounding, quantised, fast"
    ):
        Rule("r", op("graph.relu", a), (), numerics="loose")  # type: ignore


TEXT = """pattern.rule "r" {
  %x = pattern.any
  %root = pattern.op "graph.relu"(%x)
  pattern.replace %root with %x
}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("graph.relu", "graph.rellu", "'graph.rellu'"),
        ("%root with %x", "%x with %x", "the root of a rule must be a 'pattern.op'"),
        ('"graph.relu"(%x)', '"graph.relu"(%y)', "never defined"),
        ("pattern.replace", 'pattern.require "same"(%x)\n  pattern.replace', "unknown condition 'same'"),
    ],
)
def test_broken_text_is_an_error_with_a_place(old: str, new: str, message: str) -> None:
    with pytest.raises(StepwellError, match=message) as caught:
        rules_of_text(TEXT.replace(old, new), "rules.mlir")
    assert caught.value.diagnostic.point is not None


def test_two_rules_of_one_name() -> None:
    with pytest.raises(StepwellError, match="there are two rules called 'r'"):
        rules_of_text(TEXT + TEXT)


def test_text_and_python_are_the_same_rules() -> None:
    module = module_of(line("%e", "relu", "%x"), line("%r", "relu", "%e"))
    (from_text,) = rules_of_text(TEXT)
    Driver(CTX, [from_text]).run(module)
    assert names(module) == []


def test_a_rule_removed_from_the_file_is_gone() -> None:
    """S1-27: common subexpressions are eliminated by the rule in the file, not by Python."""
    lines = [line("%a", "exp", "%x"), line("%b", "exp", "%x"), line("%r", "add", "%a", "%b")]
    module = module_of(*lines)
    Driver(CTX, shipped_rules("cse")).run(module)
    assert names(module) == ["exp", "add"]
    module = module_of(*lines)
    Driver(CTX, ()).run(module)
    assert names(module) == ["exp", "exp", "add"]
    narrowed = rules_of_text(
        'pattern.rule "r" {\n%a = pattern.any_op\n%x = pattern.any\n%b = pattern.op "graph.log"(%x)\n'
        'pattern.require "equivalent"(%a, %b)\npattern.require "available"(%a, %b)\npattern.replace %b with %a\n}'
    )
    Driver(CTX, narrowed).run(module)
    assert names(module) == ["exp", "exp", "add"], "the rule of the file is for log only"
    logs = module_of(line("%a", "log", "%x"), line("%b", "log", "%x"), line("%r", "add", "%a", "%b"))
    Driver(CTX, narrowed).run(logs)
    assert names(logs) == ["log", "add"]


def test_created_attributes() -> None:
    wanted = {"my.tag": StringAttr("t"), "my.mark": UnitAttr()}
    tagged = rule("tag", op("graph.sin", a), create("graph.cos", a, **wanted))
    module = module_of(line("%r", "sin", "%x"))
    Driver(CTX, [tagged]).run(module)
    cos = next(each for each in module.walk() if each.name == "graph.cos")
    assert cos.attributes == wanted
