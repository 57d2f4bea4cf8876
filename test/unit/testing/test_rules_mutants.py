"""Mutants of rules: which faults are put in, which are caught, and that survivors have a reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from counts import FULL
from stepwell.core.codegens import find_codegen
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.parsing import make_context
from stepwell.patterns.language.registry import CONDITIONS
from stepwell.patterns.language.rules import Rule
from stepwell.patterns.text.loading import rules_of_text
from stepwell.rewrites.fusion.rules import group_rules_of_text, shipped_group_rules
from stepwell.rewrites.partition.pattern_tables import pattern_table, shipped_tables
from stepwell.rewrites.shipped import SHIPPED, shipped_rules
from stepwell.schedule.default.schedule_rules import shipped_schedule_rules
from stepwell.testing.rules.checking import RuleCheck, Settings
from stepwell.testing.rules.filechecked import FileCheckTests, group_rules_replaced
from stepwell.testing.rules.group_mutants import group_mutants_of
from stepwell.testing.rules.mutants import Mutant, mutants_of
from stepwell.testing.rules.mutation import (
    LEAST_CAUGHT,
    MutantReport,
    MutationSummary,
    check_group_mutants,
    check_mutants,
    shipped_reasons,
    stale,
)

CTX = make_context()
TESTS = FileCheckTests(CTX)
DECIDING = [(name, entry.rule) for name in shipped_tables() for entry in pattern_table(name, CTX)]
DECIDING += [("schedules", rule) for rule in shipped_schedule_rules()]
ALL = [(name, rule) for name in SHIPPED for rule in shipped_rules(name)]


def mutants(text: str, cases: int = 10) -> dict[str, Mutant]:
    (rule,) = rules_of_text(text)
    check = RuleCheck(CTX, rule, Settings(cases=cases))
    check.run()
    return {mutant.what: mutant for mutant in mutants_of(CTX, rule, check.made)}


def fates(text: str, cases: int = 25) -> dict[str, str]:
    (rule,) = rules_of_text(text)
    return {report.what: report.fate for report in check_mutants([("own", rule)], Settings(cases=cases), ctx=CTX)}


def test_faults_in_conditions_patterns_and_replacements() -> None:
    text = """
    pattern.rule "many" {
      %x = pattern.any
      %y = pattern.any
      %zero = pattern.splat 0.0
      %d = pattern.op "graph.subtract"(%zero, %y)
      %root = pattern.op "graph.add"(%x, %d) with {my.tag = 1 : i64}
      pattern.require "float"(%x)
      pattern.require "single-use"(%d)
      pattern.rewrite %root {
        %v = pattern.create "graph.subtract"(%x, %y)
        pattern.yield %v
      }
    }"""
    assert list(mutants(text)) == [
        "drop condition 'float'(%x)",
        "condition 'float'(%x) becomes 'integer'",
        "drop condition 'single-use'(%d)",
        "%root matches graph.subtract instead of graph.add",
        "drop my.tag of %root",
        "%d matches graph.add instead of graph.subtract",
        "swap operands 0 and 1 of %d",
        "splat 0.0 becomes 1.0",
        "splat 0.0 becomes -0.0",
        "splat 0.0 becomes any constant",
        "make graph.add instead of graph.subtract",
        "swap operands 0 and 1 of the new graph.subtract",
        "operand 0 of the new graph.subtract: %x becomes %y",
        "operand 1 of the new graph.subtract: %y becomes %x",
    ]


def test_a_name_that_stands_twice_is_mistaken() -> None:
    text = """
    pattern.rule "twice" {
      %x = pattern.any
      %root = pattern.op "graph.maximum"(%x, %x)
      pattern.replace %root with %x
    }"""
    found = fates(text)
    assert found["%x need not be the same everywhere"] == "caught"


def test_faults_in_what_builders_make() -> None:
    (rule,) = (rule for rule in shipped_rules("canonicalize_ops") if rule.name == "bias-add-to-add")
    found = list(check_mutants([("own", rule)], Settings(cases=20), ctx=CTX))
    caught = [report.what for report in found if report.fate == "caught"]
    assert "op 0 that the builder makes is graph.subtract instead of graph.add" in caught


def test_faults_in_types_of_two_functions() -> None:
    text = """
    func.func @pattern(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = graph.relu %x : (tensor<?xf32>) -> tensor<?xf32>
      %1 = graph.relu %0 : (tensor<?xf32>) -> tensor<?xf32>
      func.return %1 : tensor<?xf32>
    }
    func.func @replacement(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = graph.relu %x : (tensor<?xf32>) -> tensor<?xf32>
      func.return %0 : tensor<?xf32>
    }"""
    names = list(mutants(text))
    assert "drop test HasShape of %x" in names and "element type of %x becomes f64" in names, names


def test_mutants_that_are_the_same_rule_are_recognised() -> None:
    text = """
    pattern.rule "swap" {
      %x = pattern.any
      %y = pattern.any
      %z = pattern.any
      %product = pattern.op "graph.multiply"(%x, %y)
      %root = pattern.op "graph.add"(%product, %z)
      pattern.rewrite %root {
        %v = pattern.create "graph.ewise_fma"(%x, %y, %z)
        pattern.yield %v
      }
    }"""
    found = mutants(text)
    same = [what for what, mutant in found.items() if mutant.equivalent is not None]
    assert same == ["swap operands 0 and 1 of the new graph.ewise_fma"]
    assert found["swap operands 1 and 2 of the new graph.ewise_fma"].equivalent is None


def test_conditions_of_cost_and_structure_are_a_class_of_their_own() -> None:
    text = """
    pattern.rule "cost" {
      %x = pattern.any
      %inner = pattern.op "graph.negative"(%x)
      %root = pattern.op "graph.negative"(%inner)
      pattern.require "single-use"(%inner)
      pattern.require "same-block"(%inner, %root)
      pattern.require "same-type"(%x, %root)
      pattern.replace %root with %x
    }"""
    found = fates(text, 5)
    assert found["drop condition 'single-use'(%inner)"] == "cost"
    assert found["drop condition 'same-block'(%inner, %root)"] == "structure"
    assert found["drop condition 'same-type'(%x, %root)"] == "equivalent"


def test_faults_in_numbers_and_comparisons() -> None:
    text = """pattern.rule "long" : relu(relu(%x)) => relu(%x) where size(%x, 0) * 2 >= 8"""
    assert [what for what in mutants(text) if "size" in what] == [
        "drop condition 'size(%x, 0) * 2 >= 8'",
        "condition 'size(%x, 0) * 2 >= 8' becomes 'size(%x, 0) * 2 > 8'",
        "condition 'size(%x, 0) * 2 >= 8' becomes 'size(%x, 1) * 2 >= 8'",
        "condition 'size(%x, 0) * 2 >= 8' becomes 'size(%x, 0) * 3 >= 8'",
        "condition 'size(%x, 0) * 2 >= 8' becomes 'size(%x, 0) * 2 >= 9'",
    ]


def test_faults_in_rules_that_decide() -> None:
    rules = [entry.rule for entry in pattern_table("openblas", CTX)] + list(shipped_schedule_rules())
    found = {rule.name: [mutant.what for mutant in mutants_of(CTX, rule)] for rule in rules}
    assert {"%root without alternative 0", "%root without alternative 1"} <= set(found["openblas.matmul"])
    assert {
        "axis %column is reduce instead of spatial",
        "the arguments of %block in their order only",
        "anything at %others",
        "condition 'mod(extent(%column) / 16, 4) == 0' becomes 'mod(extent(%column) / 16, 4) != 0'",
        "condition 'runs-often'(%block) becomes iterations = 2097153 : i64",
        "decide stepwell.tiling = #schedule.transpose<side = 5>",
    } <= set(found["turn-four-tiles"])


def test_faults_in_rules_of_groups() -> None:
    (rule,) = group_rules_of_text("""pattern.group_rule "g"
      : [reduction, out-fusable] %producer into [elementwise, broadcast] %consumer through elementwise %between
      where post-dominated(%producer, %consumer, %between), same-rows(%producer, %consumer)""")
    assert [mutant.what for mutant in group_mutants_of(rule)] == [
        "the producer may not be reduction",
        "the producer may not be out-fusable",
        "the consumer may not be elementwise",
        "the consumer may not be broadcast",
        "the consumer may be injective",
        "the between may not be elementwise",
        "the between may be broadcast",
        "condition 'post-dominated'(producer, consumer, between) becomes 'single-use'",
        "drop condition 'same-rows'(producer, consumer)",
        "condition 'same-rows'(producer, consumer) is not about the producer",
        "condition 'same-rows'(producer, consumer) is not about the consumer",
    ]


def test_a_code_generator_refuses_what_a_rule_gives_it() -> None:
    text = """pattern.rule "t.matmul" : matmul(%x, %w) => partition"""
    (rule,) = rules_of_text(text)
    assert RuleCheck(CTX, rule, Settings(cases=4), find_codegen("openblas")).run().verdict == "different"
    (_, right) = (entry.rule for entry in pattern_table("openblas", CTX))
    assert RuleCheck(CTX, right, Settings(cases=4), find_codegen("openblas")).run().is_good


def test_filecheck_tests_notice_what_values_do_not(tmp_path: Path) -> None:
    """A test that fails with the mutant counts, one that fails without it says nothing."""
    (rule, *others) = shipped_group_rules()
    other = replace(rule, name="renamed")
    text = """// RUN: stepwell-opt %s -p plan-fusion | filecheck %s
    // CHECK: graph.matmul {{.*}}"{0}"
    func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %0 = graph.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %1 = graph.relu %0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
      func.return %1 : tensor<2x2xf32>
    }"""
    tests = {name: FileCheckTests(CTX, tmp_path / name) for name in (rule.name, "no-such")}
    for name in tests:
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.mlir").write_text(text.replace("{0}", name))
    found = [each.failing("fusion", lambda: group_rules_replaced([other, *others])) for each in tests.values()]
    assert found == ["test.mlir", None]
    assert tests[rule.name].failing("fusion", lambda: group_rules_replaced([rule, *others])) is None


def test_survivors_are_counted_and_listed() -> None:
    text = """
    pattern.rule "abs-of-negative" {
      %x = pattern.any
      %inner = pattern.op "graph.negative"(%x)
      %root = pattern.op "graph.abs"(%inner)
      pattern.require "signed"(%x)
      pattern.rewrite %root {
        %y = pattern.create "graph.abs"(%x)
        pattern.yield %y
      }
    }"""
    (rule,) = rules_of_text(text)
    key = ("abs-of-negative", "%inner matches graph.abs instead of graph.negative")
    for reasons, unexplained in (({}, 1), ({key: "right as well"}, 0)):
        found = MutationSummary(list(check_mutants([("own", rule)], Settings(cases=20), reasons=reasons, ctx=CTX)))
        assert found.counts["survived"] == 1 and len(found.unexplained) == unexplained
        assert f"1 survived, {unexplained} of them without a reason" in str(found)


def test_reasons_that_are_stale_or_empty(tmp_path: Path) -> None:
    survivor = MutantReport("own", "rule", "fault", "survived")
    caught = MutantReport("own", "rule", "other", "caught")
    reasons = {("rule", "fault"): "right", ("rule", "other"): "not so", ("rule", "gone"): "never was"}
    assert stale([survivor, caught], reasons) == ["rule: other", "rule: gone"]
    file = tmp_path / "reasons.toml"
    file.write_text('[[equivalent]]\nrules = ["a"]\nmutants = ["b"]\nreason = " "\n')
    with pytest.raises(StepwellError, match="an entry needs rules, mutants and a reason"):
        shipped_reasons(file)


def test_reasons_name_shipped_rules() -> None:
    names = {rule.name for _, rule in (*ALL, *DECIDING)} | {rule.name for rule in shipped_group_rules()}
    assert [rule for rule, _ in shipped_reasons() if rule not in names] == []


def test_shipped_rules_mutated() -> None:
    """In CI a sample; whole, survivors are to be the listed ones."""
    reasons = shipped_reasons()
    rules = [*ALL, *DECIDING] if FULL else ALL[5::18]
    settings = Settings(cases=25 if FULL else 12)
    tests = TESTS if FULL else None
    reports = list(check_mutants(rules, settings, reasons=reasons, every=1 if FULL else 9, ctx=CTX, tests=tests))
    if FULL:
        reports += check_group_mutants(shipped_group_rules(), settings, reasons=reasons, ctx=CTX, tests=TESTS)
    found = MutationSummary(reports)
    assert found.share >= (LEAST_CAUGHT if FULL else 0.75), "\n".join(map(str, found.reports))
    if FULL:
        assert [str(report) for report in found.unexplained] == []
        assert stale(reports, reasons) == []


# Conditions on cost and structure: FileCheck tests see what values do not.


def costly() -> list[tuple[str, Rule, Mutant]]:
    return [
        (file, rule, mutant)
        for file, rule in ALL
        for mutant in mutants_of(CTX, rule)
        if mutant.protects != "value" and mutant.equivalent is None
    ]


def test_dropped_condition_on_cost_or_structure_fails_a_filecheck_test() -> None:
    """A sample. `test_shipped_rules_mutated` looks at all of them when it is whole."""
    for file, rule, mutant in costly()[::40]:
        known = shipped_reasons().get((rule.name, mutant.what))
        assert (TESTS.failing_for(file, rule, mutant.rule) is None) is (known is not None), (rule.name, mutant.what)


def test_what_conditions_protect() -> None:
    found = {name for name, one in CONDITIONS.items() if one.protects != "value"}
    assert {"single-use", "absorbable", "same-block", "not-literal"} <= found
    assert not {"integer", "same-type", "positive-literal", "equivalent"} & found
