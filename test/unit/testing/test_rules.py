"""Rules tested on random instances: planted faults of many kinds are noticed, right rules of every surface pass."""

from __future__ import annotations

import pytest
from counts import FULL
from stepwell.core.text.parsing import make_context
from stepwell.patterns.language.patterns import Any_, op
from stepwell.patterns.language.registry import condition
from stepwell.patterns.language.rules import Rule, create, rule
from stepwell.patterns.running.sweeps import callback
from stepwell.patterns.text.loading import rules_of_text
from stepwell.rewrites.fusion.rules import shipped_group_rules
from stepwell.rewrites.partition.pattern_tables import pattern_table, shipped_tables
from stepwell.rewrites.shipped import SHIPPED, shipped_rules
from stepwell.testing.programs.ir_generators import Chooser
from stepwell.testing.rules.checking import Settings, check_rule, check_rules
from stepwell.testing.rules.group_checking import check_group_rules
from stepwell.testing.rules.hints import GENERATORS, generator
from stepwell.testing.rules.reporting import Report, report_line, report_text, summary

CTX = make_context()


def check(text: str, cases: int = 30, seed: int = 0) -> Report:
    (one,) = rules_of_text(text)
    return check_rule(one, Settings(seed, cases), CTX)


# What ships


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_rules_are_right(name: str) -> None:
    reports = check_rules(shipped_rules(name), Settings(cases=300 if FULL else 4), CTX)
    assert [report_text(report) for report in reports if not report.is_good] == []


def test_shipped_group_rules_are_right() -> None:
    reports = check_group_rules(shipped_group_rules(), Settings(cases=100 if FULL else 3), CTX)
    assert [report_text(report) for report in reports if not report.is_good] == []


def test_shipped_tables_are_right() -> None:
    rules = [entry.rule for name in shipped_tables() for entry in pattern_table(name, CTX)]
    reports = check_rules(rules, Settings(cases=100 if FULL else 4), CTX)
    assert rules and [report_text(report) for report in reports if not report.is_good] == []


# Planted faults

UNARY = """
pattern.rule "planted" {{
  %x = pattern.any
  %inner = pattern.op "{inner}"(%x)
  %root = pattern.op "{outer}"(%inner)
  pattern.replace %root with {result}
}}
"""

PLANTED = {
    "a wrong neutral element": """
        %x = pattern.any
        %k = pattern.splat 0.0
        %root = pattern.op "graph.multiply"(%x, %k)
        pattern.replace %root with %x""",
    "the sign of zero": """
        %x = pattern.any
        %k = pattern.splat 0.0
        %root = pattern.op "graph.add"(%x, %k)
        pattern.replace %root with %x""",
    "NaN is lost": """
        %x = pattern.any
        %root = pattern.op "graph.equal"(%x, %x)
        pattern.rewrite %root {
          %v = pattern.build "full"() with {value = 1 : i64}
          pattern.yield %v
        }""",
    "infinity minus itself": """
        %x = pattern.any
        %root = pattern.op "graph.subtract"(%x, %x)
        pattern.rewrite %root {
          %v = pattern.build "full"() with {value = 0 : i64}
          pattern.yield %v
        }""",
    "operands in the wrong order": """
        %x = pattern.any
        %y = pattern.any
        %n = pattern.op "graph.negative"(%y)
        %root = pattern.op "graph.add"(%x, %n)
        pattern.rewrite %root {
          %v = pattern.create "graph.subtract"(%y, %x)
          pattern.yield %v
        }""",
    "permutations composed the wrong way": """
        %x = pattern.any
        %inner = pattern.op "graph.permute_dims"(%x)
        %root = pattern.op "graph.permute_dims"(%inner)
        pattern.rewrite %root {
          %v = pattern.build "compose-permutations"(%inner, %root)
          pattern.yield %v
        }""",
    "a conversion that loses bits": """
        %x = pattern.any
        %inner = pattern.op "graph.astype"(%x)
        %root = pattern.op "graph.astype"(%inner)
        pattern.replace %root with %x""",
    "the minimum of integers has no absolute value": """
        %x = pattern.any
        %inner = pattern.op "graph.abs"(%x)
        %root = pattern.op "graph.relu"(%inner)
        pattern.replace %root with %inner""",
    "floats are not associative": """
        %x = pattern.any
        %y = pattern.any
        %z = pattern.any
        %inner = pattern.op "graph.add"(%x, %y)
        %root = pattern.op "graph.add"(%inner, %z)
        pattern.rewrite %root {
          %a = pattern.create "graph.add"(%y, %z)
          %v = pattern.create "graph.add"(%x, %a)
          pattern.yield %v
        }""",
    "the wrong branch": """
        %x = pattern.any
        %y = pattern.any
        %c = pattern.splat 1.0
        %root = pattern.op "graph.where"(%c, %x, %y)
        pattern.replace %root with %y""",
    "a result of the wrong op": """
        %x = pattern.any
        %root = pattern.op "graph.argmax"(%x)
        pattern.rewrite %root {
          %v = pattern.build "with-operands"(%root, %root)
          pattern.yield %v
        }""",
    "a reversed slice is the whole": """
        %x = pattern.any
        %root = pattern.op "graph.strided_slice"(%x)
        pattern.replace %root with %x""",
    "an axis that is not that of the pattern": """
        %x = pattern.any
        %root = pattern.op "graph.softmax"(%x)
        pattern.rewrite %root {
          %v = pattern.create "graph.softmax"(%x) with {axis = 0 : i64}
          pattern.yield %v
        }""",
    "a smaller tensor in place of a stretched one": """
        %x = pattern.any
        %y = pattern.any
        %inner = pattern.op "graph.broadcast_to"(%x)
        %root = pattern.op "graph.add"(%inner, %y)
        pattern.rewrite %root {
          %v = pattern.build "with-operands"(%root, %x, %y)
          pattern.yield %v
        }""",
    "unsigned numbers are not negative": """
        %x = pattern.any
        %y = pattern.any
        %d = pattern.op "graph.subtract"(%x, %y)
        %root = pattern.op "graph.abs"(%d)
        pattern.rewrite %root {
          %v = pattern.create "graph.subtract"(%y, %x)
          %w = pattern.create "graph.abs"(%v)
          pattern.yield %w
        }""",
    "the average of windows is not the largest": """
        %x = pattern.any
        %root = pattern.op "graph.max_pool2d"(%x)
        pattern.rewrite %root {
          %v = pattern.build "with-operands"(%root, %root)
          pattern.yield %v
        }""",
}


@pytest.mark.parametrize("kind", PLANTED)
def test_planted_fault_is_noticed(kind: str) -> None:
    report = check(f'pattern.rule "planted" {{{PLANTED[kind]}\n}}', 60)
    assert report.verdict == "different", report_line(report)
    assert report.reason and "before:" in report.counterexample


@pytest.mark.parametrize(
    "numerics, body",
    [
        ("rounding", '%v = pattern.create "graph.subtract"(%x, %y)\n'),
        ("fast", '%v = pattern.create "graph.multiply"(%x, %y)\n'),
    ],
)
def test_planted_fault_in_a_class_with_tolerance_is_noticed(numerics: str, body: str) -> None:
    text = f"""
    pattern.rule "planted" numerics "{numerics}" {{
      %x = pattern.any
      %y = pattern.any
      %root = pattern.op "graph.add"(%x, %y)
      pattern.rewrite %root {{
        {body}        pattern.yield %v
      }}
    }}"""
    assert check(text).verdict == "different"


def test_a_rule_that_loses_nan_is_not_of_class_rounding() -> None:
    text = """
    pattern.rule "planted" numerics "{}" {{
      %x = pattern.any
      %root = pattern.op "graph.subtract"(%x, %x)
      pattern.require "float"(%x)
      pattern.rewrite %root {{
        %v = pattern.build "full"() with {{value = 0.0 : f64}}
        pattern.yield %v
      }}
    }}"""
    assert check(text.format("rounding")).verdict == "different"
    assert check(text.format("fast")).is_good


def test_counterexample_shows_programs_inputs_and_outputs() -> None:
    report = check('pattern.rule "planted" {' + PLANTED["the sign of zero"] + "\n}")
    text = report_text(report)
    assert text.startswith("WRONG planted (exact): different; applied ")
    for part in ("before:", "graph.add", "after:", "input 0: ", "output 0 before: ", "output 0 after: "):
        assert part in text, text
    assert "was 0.0, became -0.0" in text
    assert len(text.splitlines()) <= 40


# What is not exercised


def test_a_rule_without_instances_is_not_right() -> None:
    text = """
    pattern.rule "never" {
      %x = pattern.any
      %root = pattern.op "graph.logical_not"(%x)
      pattern.require "float"(%x)
      pattern.replace %root with %x
    }"""
    report = check(text, 4)
    assert (report.verdict, report.applied) == ("not exercised", 0)
    assert report.reason.startswith("no instance found in ")
    assert summary([report]) == "1 rules: 0 right, 0 wrong, 1 not exercised"


def test_a_program_that_always_fails_proves_nothing() -> None:
    text = """
    pattern.rule "by-zero" {
      %x = pattern.any
      %k = pattern.splat 0.0
      %root = pattern.op "graph.floor_divide"(%x, %k)
      pattern.require "integer"(%x)
      pattern.require "same-type"(%x, %root)
      pattern.replace %root with %x
    }"""
    report = check(text, 10)
    assert report.verdict == "not exercised" and "nothing to compare" in report.reason


def test_both_orders_of_a_commutative_op_are_tried() -> None:
    swapped: list[bool] = []

    def made(match):  # type: ignore[no-untyped-def]
        swapped.append(match.root.operands[0] is not match[x])
        return match.create("graph.add", [match[inner], match[x]], [match.root.results[0].type])

    x, y = Any_("x.0"), Any_("y.1")
    inner = op("graph.negative", y)
    report = check_rule(callback("both", op("graph.add", x, inner), made), Settings(cases=10), CTX)
    assert report.is_good, report_text(report)
    assert {True, False} == set(swapped)


@condition("first-operand-squared")
def first_operand_squared(match, root) -> bool:  # type: ignore[no-untyped-def]
    """The first operand is a square: holds in one order only."""
    return getattr(root.operands[0].owner, "name", "") == "graph.square"


def test_a_rule_tried_in_one_order_only_is_not_right() -> None:
    text = """
    pattern.rule "one-sided" {
      %x = pattern.any
      %y = pattern.any
      %inner = pattern.op "graph.square"(%y)
      %root = pattern.op "graph.add"(%x, %inner)
      pattern.require "first-operand-squared"(%root)
      pattern.require "same-type"(%x, %root)
      pattern.rewrite %root {
        %v = pattern.build "with-operands"(%root, %x, %inner)
        pattern.yield %v
      }
    }"""
    report = check(text, 20)
    assert report.verdict == "not exercised"
    assert report.reason == "operands of 'graph.add' were tried in one order only"


# Other surfaces


def test_two_functions() -> None:
    text = """
    func.func @pattern(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %0 = graph.negative %y : (tensor<?x?xf32>) -> tensor<?x?xf32>
      %1 = graph.add %x, %0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
      func.return %1 : tensor<?x?xf32>
    }
    func.func @replacement(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %0 = graph.subtract %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
      func.return %0 : tensor<?x?xf32>
    }"""
    good = check(text, 10)
    assert good.is_good and set(good.dtypes) == {"f32"}, report_text(good)
    assert check(text.replace("graph.subtract %x, %y", "graph.subtract %y, %x"), 10).verdict == "different"


def test_python_rules() -> None:
    x = Any_("x")
    right: Rule = rule("relu-of-relu", op("graph.relu", op("graph.relu", x)), create("graph.relu", x))
    wrong: Rule = rule("relu-of-abs", op("graph.relu", op("graph.abs", x)), create("graph.relu", x))
    assert [report.verdict for report in check_rules([right, wrong], Settings(cases=15), CTX)] == [
        "equal",
        "different",
    ]


def test_infinity_is_a_constant_of_floats() -> None:
    rule_text = """
    pattern.rule "more-than-all" : multiply(%x, 1.0e400) => multiply(1.0e400, %x)"""
    assert {*check(rule_text, 10).dtypes} <= {"f16", "bf16", "f32", "f64"}


def test_partition_rule() -> None:
    text = """
    pattern.rule "conv-relu" {
      %x = pattern.any
      %w = pattern.any
      %conv = pattern.op "graph.matmul"(%x, %w)
      %root = pattern.op "graph.relu"(%conv)
      pattern.partition %root with {composite = "conv_relu"}
    }"""
    report = check(text, 10)
    assert report.is_good, report_text(report)


@pytest.mark.parametrize(
    "name, body",
    [
        (
            "or",
            '%a = pattern.op "graph.relu"(%x)\n%b = pattern.op "graph.square"(%x)\n%inner = pattern.or %a, %b',
        ),
        ("has-shape", '%y = pattern.has_shape %x, [2, ?]\n%inner = pattern.op "graph.relu"(%y)'),
        ("has-dtype", '%y = pattern.has_dtype %x, f16\n%inner = pattern.op "graph.square"(%y)'),
        ("attribute", '%inner = pattern.op "graph.sum"(%x) with {keepdims = true}'),
        ("argument", '%y = pattern.argument 1\n%inner = pattern.op "graph.add"(%x, %y)'),
        ("call", '%inner = pattern.call named "f"(%x)'),
        ("rest", '%more = pattern.rest\n%inner = pattern.op "graph.concat"(%x, %more)'),
        (
            "result",
            '%parts = pattern.op "graph.split"(%x) with {sections = 2}\n%inner = pattern.result %parts, 1',
        ),
    ],
)
def test_constructs_have_instances(name: str, body: str) -> None:
    text = f"""
    pattern.rule "construct" {{
      %x = pattern.any
      {body}
      %n = pattern.op "graph.negative"(%inner)
      %root = pattern.op "graph.negative"(%n)
      pattern.replace %root with %inner
    }}"""
    report = check(text, 5)
    assert report.is_good, f"{name}: {report_text(report)}"


def test_generator_of_a_rule_whose_pattern_cannot_be_drawn() -> None:
    text = """
    pattern.rule "matched-function" {
      %p = pattern.any
      %x = pattern.any
      %body = pattern.op "graph.square"(%p)
      %f = pattern.function(%p) returns %body
      %root = pattern.call to %f (%x)
      pattern.rewrite %root {
        %v = pattern.create "graph.square"(%x)
        pattern.yield %v
      }
    }"""
    assert check(text, 4).verdict == "not exercised"

    @generator("matched-function")
    def program(choose: Chooser) -> str:
        type_ = f"tensor<{choose.integer(1, 4)}xf32>"
        return f"""
        func.func private @square(%p: {type_}) -> {type_} {{
          %0 = graph.square %p : ({type_}) -> {type_}
          func.return %0 : {type_}
        }}
        func.func @main(%x: {type_}) -> {type_} {{
          %0 = func.call @square(%x) : ({type_}) -> {type_}
          func.return %0 : {type_}
        }}"""

    try:
        assert check(text, 4).is_good
    finally:
        del GENERATORS["matched-function"]
