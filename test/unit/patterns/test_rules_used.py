"""Rules on programs: where they apply, in Python, replacements that are invalid, files without rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rule_texts import CTX, KEEP, RELU, made, text_of
from stepwell.core.messages.diagnostics import Diagnostic, OperationError, StepwellError, listening
from stepwell.core.text.parsing import parse_text
from stepwell.dialects.graph import ReluOp
from stepwell.patterns.language.match import Match
from stepwell.patterns.language.patterns import Any_, Capture, Op, is_op, op
from stepwell.patterns.language.registry import BUILDERS, CONDITIONS, RuleError, builder, condition
from stepwell.patterns.language.rules import Build, Require, Rule, create, require, rule
from stepwell.patterns.language.signatures import taken_by
from stepwell.patterns.matching.compiled_rule import compile_rule
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.running.matching import match
from stepwell.patterns.running.sweeps import rewrite
from stepwell.patterns.text.loading import load_rule_functions, rules_of_text
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, ModuleOp, StringAttr, f32, f64, i64
from xdsl.ir import Attribute, TypeAttribute

# Where it applies


def program(*lines: str, type_: str = "tensor<2x3xf32>") -> ModuleOp:
    body = "\n".join(lines)
    return parse_text(
        CTX, f"func.func @main(%a: {type_}) -> {type_} {{\n{body}\nfunc.return %r : {type_}\n}}", "p.mlir"
    )


def test_a_list_of_integers_is_stored_as_the_op_stores_it() -> None:
    """AUDIT C5: `create … with {axes = [1, 0]}` failed where the match side takes it."""
    found = rules_of_text(text_of(*made('%v = pattern.create "graph.permute_dims"(%x) with {axes = [1, 0]}')))
    module = program("%r = graph.relu %a : (tensor<3x3xf32>) -> tensor<3x3xf32>", type_="tensor<3x3xf32>")
    Driver(CTX, found).run(module)
    assert "graph.permute_dims %a, axes = [1, 0]" in str(module)


def test_an_inner_op_of_another_dialect() -> None:
    """AUDIT C5: `create "arith.addi"` below another new op ended in an assertion."""
    text = text_of(
        '%root = pattern.op "arith.subi"(%x, %x)',
        "pattern.rewrite %root {",
        '%s = pattern.create "arith.addi"(%x, %x)',
        '%v = pattern.create "arith.muli"(%s, %x)',
        "pattern.yield %v",
        "}",
    )
    module = program("%r = arith.subi %a, %a : i32", type_="i32")
    Driver(CTX, rules_of_text(text)).run(module)
    assert [each.name for each in module.walk()][2:4] == ["arith.addi", "arith.muli"]


PLACES: dict[str, tuple[str, Op]] = {
    "relu": ("%r = graph.relu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>", op("graph.relu", Any_("x"))),
    "add": (
        "%r = graph.add %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
        op("graph.add", Any_("x"), Any_("x")),
    ),
    "softmax": ("%r = graph.softmax %a : (tensor<2x3xf32>) -> tensor<2x3xf32>", op("graph.softmax", Any_("x"))),
    "full": ("%r = graph.full 1.0 : tensor<2x3xf32>", op("graph.full")),
}
SCALAR = "%r = arith.addi %a, %a : i32", op("arith.addi", Any_("x"), Any_("x"))


def parameters_of(function: Callable[..., Any]) -> tuple[tuple[str, Attribute], ...]:
    """A value for each parameter, of the kind that is declared."""
    given: dict[Any, Attribute] = {
        TypeAttribute: f32, StringAttr: StringAttr("elementary"), FloatAttr: FloatAttr(1.0, f64),
    }  # fmt: skip
    found = []
    for name, annotation in taken_by(function).named.items():
        value = next((each for kind, each in given.items() if kind is annotation), FloatAttr(1.0, f64))
        if "DenseArray" in str(annotation):
            return ()
        found.append((name.removesuffix("_"), value))
    return tuple(found)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("name", ["scalar", *PLACES])
def test_functions_used_on_other_ops_are_errors_or_run(name: str) -> None:
    """AUDIT C5: 11 of 15 conditions and 10 of 15 builders died with KeyError or AttributeError on another op kind."""
    load_rule_functions()
    line, pattern = SCALAR if name == "scalar" else PLACES[name]
    refused, ran = 0, 0
    own = {key: each.function for key, each in CONDITIONS.items() if key not in ("native-constraint", "attribute-is")}
    for is_condition, functions in ((True, own), (False, dict(BUILDERS))):
        for called, function in functions.items():
            if not function.__module__.startswith("stepwell."):
                continue
            for things in (0, 1, 2, 3, 6):
                for key in (pattern.key, *(["x"] if pattern.operands else [])):
                    keys, given = (key,) * things, parameters_of(function)
                    kept = (Build(called, keys, given),) if not is_condition else (create("graph.exp", pattern),)
                    when = (Require(called, keys, given),) if is_condition else ()
                    try:
                        compile_rule(Rule("r", pattern, kept, when), CTX)
                    except RuleError:
                        refused += 1
                        continue
                    ran += 1
                    module = program(line, type_="i32" if name == "scalar" else "tensor<2x3xf32>")
                    try:
                        Driver(CTX, [Rule("r", pattern, kept, when)], limit=3).run(module)
                    except OperationError as error:
                        assert "rule 'r'" in str(error) or "no fixed point" in str(error)
    assert refused > 100 and ran > 20


# In Python


def test_what_is_no_pattern_is_a_type_error() -> None:
    """AUDIT C5: `add(x, "y")` and `p | "x"` were AttributeErrors. `add(x, 0.0)` takes a constant of the number."""
    x, add = Any_("x"), is_op("graph.add")
    for attempt, message in (
        (lambda: add(x, "y"), r"'graph.add' takes patterns, found 'y'; a value by name is Any_\(name\)"),
        (lambda: x | "x", r"Or takes patterns, found 'x'; a value by name is Any_\(name\)"),  # type: ignore[operator]
        (lambda: "x" | x, "Or takes patterns, found 'x'"),
        (lambda: x & 3, "And takes patterns, found 3"),  # type: ignore[operator]
        (lambda: x.holds("float", 3), "condition 'float' takes patterns, found 3"),  # type: ignore[arg-type]
        (lambda: require("float", 1), r"require\('float'\) takes patterns, found 1"),  # type: ignore[arg-type]
        (lambda: rule("r", "x", x), "a rule takes patterns, found 'x'"),  # type: ignore[arg-type]
        (lambda: create("graph.add", x, "y"), "a replacement is a pattern, Create, Build or a number, found 'y'"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=message):
            attempt()


def test_rules_in_python_are_errors_of_the_user() -> None:
    """AUDIT C5: `match` and `rewrite` showed RuleError as an internal error."""
    x = Any_("x")
    module = program("%r = graph.relu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>")
    (relu, *_) = [each for each in module.walk() if each.name == "graph.relu"]
    with pytest.raises(StepwellError, match="error: 'graph.softmax' has no property 'axs'\nhint: did you mean 'axis'"):
        match(op("graph.softmax", x, axs=0), relu, ctx=CTX)
    with pytest.raises(StepwellError, match=r"error: rule 'r': 'graph.relu' takes 1 operand \(operand\), found 2"):
        rewrite([rule("r", op("graph.relu", x, x), x)], module, ctx=CTX)
    assert issubclass(RuleError, ValueError)
    with pytest.raises(StepwellError, match="rule 'r' has numerics 'loose'"):
        rule("r", op("graph.relu", x), x, numerics="loose")  # type: ignore[arg-type]


def test_functions_of_others_declare_what_they_take() -> None:
    @condition("test.even")
    def even(match: Match, op: ReluOp, axis: Attribute, *, at_most: IntegerAttr) -> bool:
        return True

    @builder("test.old")
    def old(match: Match, *things: Any, **parameters: Any) -> None:
        return None

    try:
        x, axis = Any_("x"), Capture("axis")
        softmax, number = op("graph.softmax", x, axis=axis), IntegerAttr(1, i64)
        wrong = Rule(
            "r",
            softmax,
            (create("graph.exp", x),),
            (Require("test.even", (softmax.key, "axis"), (("at-most", number),)),),
        )
        with pytest.raises(RuleError, match="condition 'test.even' takes 'graph.relu', found 'graph.softmax'"):
            compile_rule(wrong, CTX)
        untyped = Build("test.old", (softmax.key, "x", "axis"), (("anything", ArrayAttr([])),))
        assert compile_rule(Rule("r", softmax, (untyped,)), CTX)
    finally:
        CONDITIONS.pop("test.even")
        BUILDERS.pop("test.old")


# Replacements


def test_program_is_as_before_where_a_replacement_is_invalid() -> None:
    """AUDIT E6: types of replacements are checked before anything changes."""
    x = Any_("x")
    for replacement, message in (
        (create("graph.astype", x, dtype=StringAttr("f64")), "rule 'r' makes an invalid 'graph.astype'"),
        (create("graph.sum", create("graph.exp", x)), "rule 'r' makes an invalid 'graph.sum'"),
        (Build("scalar", (), (("value", FloatAttr(1.0, f64)),)), "rule 'r' changes the type from"),
    ):
        module = program("%r = graph.relu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>")
        before, argument = str(module), next(iter(module.walk())).regions[0].block.ops.first
        assert argument is not None
        with pytest.raises(OperationError, match=message):
            Driver(CTX, [rule("r", op("graph.relu", x), replacement)]).run(module)
        assert str(module) == before
        value = argument.regions[0].block.args[0]
        assert value.uses.get_length() == 1, "no new op is left at the values of the program"


# Files without rules


def told(rules: str, tmp_path: Any, **options: Any) -> list[Diagnostic]:
    from stepwell.rewrites.rules.apply_patterns import ApplyPatternsPass

    file, found = tmp_path / "r.mlir", list[Diagnostic]()
    file.write_text(rules)
    with listening(found.append):
        ApplyPatternsPass(file=str(file), **options).apply(
            CTX, program("%r = graph.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>")
        )
    return found


def test_a_file_of_which_no_rule_is_selected(tmp_path: Any) -> None:
    """AUDIT B2: a file of fast-only rules under default numerics, and a file with no rules, said nothing."""
    fast = text_of(RELU, KEEP).replace('"r"', '"r" numerics "fast"')
    (warning,) = told(fast, tmp_path)
    assert warning.severity == "warning" and str(warning.point).endswith("r.mlir:1:1")
    assert warning.message == 'no rule is selected: all are of class fast, which numerics="default" leaves out'
    assert not told(fast, tmp_path, numerics="fast")
    (warning,) = told("builtin.module {}", tmp_path)
    assert warning.message == "the file has no rules"


def test_no_program_with_a_property_that_does_not_exist_is_drawn() -> None:
    """AUDIT B2: `--test-rules` drew `{axes = 0}` as an attribute and called such a rule right."""
    from stepwell.testing.rules.checking import check_rules

    x = Any_("x")
    with pytest.raises(StepwellError, match="rule 'r': 'graph.softmax' has no property 'axes'"):
        list(check_rules([rule("r", op("graph.softmax", x, axes=0), create("graph.softmax", x))], ctx=CTX))
