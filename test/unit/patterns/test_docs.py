"""docs/rewrites.md lists conditions and builders, docs/rules.md the rules. Their examples are rule files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stepwell.dialects.pattern import Pattern
from stepwell.patterns.language.registry import BUILDERS, CONDITIONS
from stepwell.patterns.text.loading import rules_of_text
from stepwell.rewrites.shipped import SHIPPED, shipped_rules
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "rewrites.md").read_text(encoding="utf-8")
RULES = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")


def rows(heading: str, text: str = TEXT) -> list[list[str]]:
    """The cells of the table after a heading that contains `heading`."""
    section = re.split(r"\n#+ ", text)
    (body,) = [part for part in section if heading in part.splitlines()[0]]
    lines = [line for line in body.splitlines() if line.startswith("| `")]
    return [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


@pytest.mark.parametrize("name", SHIPPED)
def test_rules_are_listed(name: str) -> None:
    listed = [(rule.strip("`"), numerics, doc) for rule, numerics, doc in rows(f"`{name}.mlir`", RULES)]
    assert listed == [(rule.name, rule.numerics, rule.doc) for rule in shipped_rules(name)]


@pytest.mark.ci_cases(9)
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_rules_are_valid(name: str) -> None:
    """They are not verified when they are loaded."""
    path = ROOT / "rewrites" / SHIPPED[name] / f"{name}.mlir"
    found = rules_of_text(path.read_text(encoding="utf-8"), str(path))
    assert [rule.name for rule in found] == [rule.name for rule in shipped_rules(name)]


@pytest.mark.parametrize("heading", ["Conditions", "Builders"])
def test_names_are_listed_with_their_docstrings(heading: str) -> None:
    shipped_rules("simplify")
    conditions = {name: one.function for name, one in CONDITIONS.items()}
    known: dict[str, Callable[..., Any]] = conditions if heading == "Conditions" else {**BUILDERS}
    expected = []
    for name in sorted(known):
        if not known[name].__module__.startswith("stepwell."):
            continue  # a test's own
        summary = (known[name].__doc__ or "").strip().split("\n\n")[0]
        expected.append([f"`{name}`", " ".join(summary.split())])
    assert rows(heading) == expected


def test_example_is_a_rule_file() -> None:
    (example,) = re.findall(r"```mlir\n(// example: rules.*?)```", TEXT, re.S)
    assert [rule.name for rule in rules_of_text(example)] == ["relu-of-relu", "add-of-multiply"]
    (example,) = re.findall(r"```mlir\n(// example: functions.*?)```", TEXT, re.S)
    assert [rule.name for rule in rules_of_text(example)] == ["subtract_of_negative"]
    (example,) = re.findall(r"```mlir\n(// example: several-roots.*?)```", TEXT, re.S)
    assert [len(rule.also) for rule in rules_of_text(example)] == [1]


def test_the_first_command_prints_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (rules,) = re.findall(r"```mlir\n(// example: rules.*?)```", TEXT, re.S)
    (command, printed), *_ = re.findall(r"```console\n\$ (.*?)\n(.*?)```", TEXT, re.S)
    (tmp_path / "rules.mlir").write_text(rules)
    monkeypatch.chdir(tmp_path)
    assert call_tool(main, Command(shlex.split(command), merge_stderr=True), b"").stdout.decode() == printed


def test_every_op_of_the_dialect_is_described() -> None:
    names = {each.name for each in Pattern.operations} - {"pattern.rule", "pattern.require"}
    assert not [name for name in sorted(names) if f"`{name}`" not in TEXT]


def test_every_rule_has_its_filecheck_function() -> None:
    folder = ROOT / "test" / "filecheck" / "rewrites"
    functions = {
        name
        for path in folder.rglob("*.mlir")
        for name in re.findall(r"func\.func (?:private )?@(\w+)", path.read_text())
    }
    for file in ("simplify", "simplify_arithmetic", "ewise_fma"):
        for rule in shipped_rules(file):
            named = rule.name.replace("-", "_")
            assert named in functions, rule.name
