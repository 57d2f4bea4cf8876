"""Rules that run together, analysed: what ships has no finding without a reason, and planted ones are found."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import pytest
from counts import FULL
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.parsing import make_context
from stepwell.rewrites.shipped import SHIPPED
from stepwell.testing.rule_sets.analysis import RuleSetReport, analyse_rules, rule_set_of_text
from stepwell.testing.rule_sets.known import known_findings
from stepwell.testing.rule_sets.unification import Overlaps
from stepwell.tools.opt import main
from stepwell.tools.options.rules import PASS_OF

CTX = make_context()


def analysed(text: str, cases: int = 6) -> RuleSetReport:
    return analyse_rules(rule_set_of_text(text, "rules.mlir", CTX), CTX, cases)


@lru_cache
def shipped(name: str) -> RuleSetReport:
    rules = []
    for stem, theme in SHIPPED.items():
        if PASS_OF[stem] == name:
            path = files("stepwell.rewrites").joinpath(theme).joinpath(f"{stem}.mlir")
            rules += rule_set_of_text(path.read_text(encoding="utf-8"), f"{stem}.mlir", CTX)
    if FULL:
        return analyse_rules(rules, CTX).without(known_findings())
    return analyse_rules(rules, CTX, cases=1, most_overlaps=6).without(known_findings())


# What ships


@pytest.mark.parametrize("name", sorted(set(PASS_OF.values())))
def test_shipped_rules_have_no_finding_without_a_reason(name: str) -> None:
    assert [str(finding) for finding in shipped(name).findings] == []


def test_simplification_has_a_measure() -> None:
    assert any("every rule lowers this measure" in note for note in shipped("simplify-expr").notes)


def test_known_findings_name_rules_that_ship() -> None:
    names = {each.name for stem in SHIPPED for each in _rules(stem)}
    entries = known_findings()
    assert {name for each in entries for name in (*each.rules, *each.others)} - {"*"} <= names


def _rules(stem: str) -> list:
    path = files("stepwell.rewrites").joinpath(SHIPPED[stem]).joinpath(f"{stem}.mlir")
    return rule_set_of_text(path.read_text(encoding="utf-8"), f"{stem}.mlir", CTX)


def test_an_entry_without_a_reason_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text('[[known]]\nkind = "overlap"\nrules = ["a"]\nwith = ["*"]\nreason = " "\n')
    with pytest.raises(StepwellError, match="an entry needs kind, rules, with and a reason"):
        known_findings(file)


# Overlaps


def test_values_that_differ_are_said() -> None:
    report = analysed(
        'pattern.rule "right" : relu(relu(%x) as %y) => %y\npattern.rule "wrong" : relu(%x) => negative(%x)'
    )
    (finding,) = (each for each in report.findings if each.kind == "overlap" and each.about[0] != each.about[1])
    assert "the values differ" in finding.message


def test_a_pair_in_which_only_rounding_differs_joins() -> None:
    text = 'pattern.rule "divide" fast : (%x / constant %k as %y) / constant %l => %x / (%k * %l) where single-use(%y)'
    assert analysed(text).findings == []


def test_overlaps_are_those_of_unified_patterns() -> None:
    rules = rule_set_of_text(
        'pattern.rule "outer" : relu(abs(%x)) => abs(%x)\npattern.rule "inner" : abs(-%x) => abs(%x)\n'
        'pattern.rule "apart" : exp(log(%x)) => %x',
        "rules.mlir",
        CTX,
    )
    outer, inner, apart = (each.rule for each in rules)
    overlaps = Overlaps(CTX)
    assert len(list(overlaps.of(outer, inner))) == 1
    assert list(overlaps.of(inner, outer)) == []
    assert list(overlaps.of(outer, apart)) == []


def test_rules_without_a_replacement_are_left_out() -> None:
    report = analysed('pattern.rule "part" : relu(%x) => partition')
    assert report.rules == 0 and "rules without a replacement, which were left out: 1" in report.notes
    assert "there is no rule that a measure could fall with" in report.notes


def test_rules_of_groups_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "groups.mlir"
    file.write_text('pattern.group_rule "g" : elementwise %a into reduction %b where single-use(%a)\n')
    assert main([f"--check-rules={file}"]) == 0
    assert "note: rules of groups, which were left out: 1\n" in capsys.readouterr().out
