"""Mutants of rules: which faults are put in, which are caught, and that survivors have a reason."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from counts import FULL
from stepwell.core.messages.diagnostics import OperationError, StepwellError
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.language.patterns import Op, all_below
from stepwell.patterns.language.registry import CONDITIONS
from stepwell.patterns.language.rules import Rule
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.text.loading import rules_of_text
from stepwell.rewrites.shipped import SHIPPED, shipped_rules
from stepwell.testing.rules.checking import RuleCheck, Settings
from stepwell.testing.rules.mutants import Mutant, mutants_of
from stepwell.testing.rules.mutation import (
    LEAST_CAUGHT,
    MutantReport,
    MutationSummary,
    check_mutants,
    shipped_reasons,
    stale,
)
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

CTX = make_context()
FILECHECK = Path(__file__).resolve().parents[2] / "filecheck" / "rewrites"
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
    names = {rule.name for _, rule in ALL}
    assert [rule for rule, _ in shipped_reasons() if rule not in names] == []


def test_shipped_rules_mutated() -> None:
    """In CI a sample; whole, survivors are to be the listed ones."""
    reasons = shipped_reasons()
    rules = ALL if FULL else ALL[::9]
    settings = Settings(cases=25 if FULL else 12)
    reports = list(check_mutants(rules, settings, reasons=reasons, every=1 if FULL else 6, ctx=CTX))
    found = MutationSummary(reports)
    assert found.share >= (LEAST_CAUGHT if FULL else 0.75), "\n".join(map(str, found.reports))
    if FULL:
        assert [str(report) for report in found.unexplained] == []
        assert stale(reports, reasons) == []


# Conditions on cost and structure: FileCheck tests see what values do not.


@lru_cache(maxsize=1)
def programs() -> list[tuple[str, ModuleOp]]:
    """The programs of the FileCheck tests of rewrites, with their text."""
    found = []
    for path in sorted(FILECHECK.rglob("*.mlir")):
        text = path.read_text(encoding="utf-8")
        if "RUN: not" in text or "pattern." in text:
            continue
        for chunk in text.split("// -----"):
            try:
                module = parse_text(CTX, chunk, path.name)
            except Exception:  # a test of an error
                continue
            if any(isinstance(op, func.FuncOp) for op in module.body.ops):
                found.append((chunk, module))
    return found


def functions(rule: Rule) -> Iterator[ModuleOp]:
    """Every program of the FileCheck tests that has an op which may be a root of `rule`, and what may be below it."""
    ops = [pattern.names for pattern in all_below(rule.lhs) if isinstance(pattern, Op)]
    return (module for text, module in programs() if all(any(n in text for n in names) for names in ops))


def result(module: ModuleOp, rule: Rule) -> str:
    copy = module.clone()
    try:
        Driver(CTX, [rule], limit=20).run(copy)
    except OperationError as error:  # no fixed point, say
        return str(error)
    return str(copy)


COSTLY = [
    (rule, mutant)
    for _, rule in ALL
    for mutant in mutants_of(CTX, rule)
    if mutant.protects != "value" and mutant.equivalent is None
]


@pytest.mark.parametrize(
    "rule, mutant", COSTLY if FULL else COSTLY[::3], ids=lambda each: each.name if isinstance(each, Rule) else each.what
)
def test_dropped_condition_on_cost_or_structure_changes_a_filecheck_test(rule: Rule, mutant: Mutant) -> None:
    known = shipped_reasons().get((rule.name, mutant.what))
    seen = any(result(module, rule) != result(module, mutant.rule) for module in functions(rule))
    assert seen != (known is not None), known


def test_what_conditions_protect() -> None:
    found = {name for name, one in CONDITIONS.items() if one.protects != "value"}
    assert {"single-use", "absorbable", "same-block", "not-literal"} <= found
    assert not {"integer", "same-type", "positive-literal", "equivalent"} & found
