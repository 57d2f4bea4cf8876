"""
FileCheck tests as witnesses of faults in rules: what a rule decides, and what it leaves alone, changes no value.

A mutant is noticed when a test fails that runs with it in the place of the shipped rule of its name. Only tests that
may see a difference run: those in one of whose programs the two rules do not do the same, or those that name the pass.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from ...core.ir.verification import verify_module
from ...core.text.parsing import parse_text
from ...patterns.language.patterns import Op, all_below
from ...patterns.language.rules import Rule
from ...patterns.running.driver import Driver
from ...rewrites import shipped
from ...rewrites.fusion import plan_fusion
from ...rewrites.fusion.rules import GroupRule
from ...rewrites.partition import pattern_tables
from ...schedule.default import schedule_rules
from ..check_lines.outputs import execute_command
from ..run_line import NotARunLine, Runner, expand_macros, needs_a_shell, parse_run_line, run_lines

CHECKOUT: Final = Path(__file__).resolve().parents[2] / "test" / "filecheck"
"""The FileCheck tests of Stepwell. They are not in the wheel."""

ABOUT: Final = {
    "fusion": re.compile(r"RUN:.*plan-fusion"),
    "schedules": re.compile(r"#schedule\.transpose"),
}
"""The tests that see what the rules of a file decide, by the name of the file. Those of a table name the table."""

Replaced = Callable[[], AbstractContextManager[Any]]
"""Puts a mutant in the place of the shipped rule of its name."""


class FileCheckTests:
    """The tests of a folder, which pass with the rules as they are."""

    def __init__(self, ctx: Context, folder: Path = CHECKOUT):
        self._ctx = ctx
        self._folder = folder
        self._verdicts: dict[Path, bool] = {}
        self._first: dict[str, list[Path]] = {}
        self._about: dict[str, list[Path]] = {}
        self._results: dict[tuple[int, int], str] = {}

    @cached_property
    def _texts(self) -> dict[Path, str]:
        return {path: path.read_text(encoding="utf-8") for path in sorted(self._folder.rglob("*.mlir"))}

    # Rules that decide

    def failing(self, file: str, replaced: Replaced) -> str | None:
        """Returns the name of a test that fails where `replaced` has put in a mutant of a rule of `file`."""
        if file not in self._about:
            about = ABOUT.get(file) or re.compile(rf"RUN:.*\b{re.escape(file)}\b")
            self._about[file] = [path for path, text in self._texts.items() if about.search(text)]
        return self._failing(self._about[file], file, replaced)

    def _failing(self, candidates: Sequence[Path], file: str, replaced: Replaced) -> str | None:
        first = self._first.setdefault(file, [])
        for path in (*(each for each in first if each in candidates), *(p for p in candidates if p not in first)):
            if path not in self._verdicts:
                self._verdicts[path] = passes(path)
            if not self._verdicts[path]:  # It says nothing about rules.
                continue
            with replaced():
                passed = passes(path)
            if not passed:
                if path in first:
                    first.remove(path)
                first.insert(0, path)
                return str(path.relative_to(self._folder))
        return None

    # Rules that replace

    @cached_property
    def _programs(self) -> list[tuple[Path, str, ModuleOp]]:
        found = []
        for path, text in self._texts.items():
            if "rewrites" not in path.parts or "pattern." in text:
                continue
            for chunk in text.split("// -----"):
                try:
                    module = parse_text(self._ctx, chunk, path.name)
                    verify_module(module)
                except Exception:  # a test of an error
                    continue
                if any(isinstance(op, func.FuncOp) for op in module.body.ops):
                    found.append((path, chunk, module))
        return found

    def failing_for(self, file: str, rule: Rule, mutant: Rule) -> str | None:
        """Returns the name of a test that fails with `mutant` in the place of `rule` of the shipped file `file`."""
        ops = [pattern.names for pattern in all_below(rule.lhs) if isinstance(pattern, Op)]
        seen: dict[Path, None] = {}
        for path, text, module in self._programs:
            if path in seen or not all(any(name in text for name in names) for names in ops):
                continue
            if self._result(module, rule) != _result(self._ctx, module, mutant):
                seen[path] = None
        return self._failing(tuple(seen), file, lambda: rules_replaced({(file, rule.name): mutant}))

    def _result(self, module: ModuleOp, rule: Rule) -> str:
        key = (id(module), id(rule))
        if key not in self._results:
            self._results[key] = _result(self._ctx, module, rule)
        return self._results[key]


def _result(ctx: Context, module: ModuleOp, rule: Rule) -> str:
    copy = module.clone()
    try:
        Driver(ctx, [rule], limit=20).run(copy)
    except Exception as error:  # no fixed point, or a builder that cannot take what a condition kept away
        return str(error)
    return str(copy)


def passes(path: Path) -> bool:
    """Returns whether all RUN lines of a test succeed, apart from those that need a shell."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="stepwell-checks-") as folder:
        known = {"%s": path, "%S": path.parent, "%p": path.parent, "%t": f"{folder}/{path.name}.tmp", "%T": folder}

        def substitute(word: str) -> str:
            return re.sub("%[sSptT%]", lambda mark: str(known.get(mark[0], "%")), word)

        os.chdir(path.parent)
        try:
            lines = [line for each in run_lines(str(path)) if not needs_a_shell(line := expand_macros(each, []))]
            return all(Runner(execute_command).run(parse_run_line(line, substitute)).passed for line in lines)
        except NotARunLine:
            return False
        finally:
            os.chdir(before)


# Mutants in the places of shipped rules


@contextmanager
def rules_replaced(rules: Mapping[tuple[str, str], Rule]) -> Iterator[None]:
    """Puts rules in the places of those of shipped files, by the names of file and rule."""
    for file, _ in rules:
        shipped.shipped_rules(file)
    with patch.dict(shipped._READ, rules):  # pyright: ignore[reportPrivateUsage]
        yield


def group_rules_replaced(rules: Sequence[GroupRule]) -> AbstractContextManager[Any]:
    """Makes `rules` the shipped rules of groups."""
    return patch.object(plan_fusion, "shipped_group_rules", lambda: tuple(rules))


def table_replaced(name: str, rules: Sequence[Rule]) -> AbstractContextManager[Any]:
    """Makes `rules` the patterns of a table."""
    entries = tuple(pattern_tables.PatternEntry(rule) for rule in rules)
    return patch.dict(pattern_tables._TABLES, {name: entries})  # pyright: ignore[reportPrivateUsage]


def schedule_rules_replaced(rules: Sequence[Rule]) -> AbstractContextManager[Any]:
    """Makes `rules` those that decide about the grids that no kernel takes up."""
    return patch.object(schedule_rules, "shipped_schedule_rules", lambda: tuple(rules))


__all__ = [
    "CHECKOUT",
    "FileCheckTests",
    "Replaced",
    "group_rules_replaced",
    "passes",
    "rules_replaced",
    "schedule_rules_replaced",
    "table_replaced",
]
