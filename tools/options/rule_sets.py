"""The flag `--check-rules` of `stepwell-opt`: rules that run together, analysed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.text.parsing import parse_text, read_source

if TYPE_CHECKING:
    from ...testing.rule_sets.findings import PlacedRule

# Imports inside functions keep the start of the command fast.


def check_rule_sets(args: argparse.Namespace, ctx: Context, pass_of: dict[str, str]) -> int:
    """
    Analyses the rules of a file, or those of each pass that has shipped rules. Returns 1 where there is a finding
    without a reason on file.
    """
    from ...testing.rule_sets.analysis import analyse_rules
    from ...testing.rule_sets.examples import EXAMPLES
    from ...testing.rule_sets.known import known_findings

    found, known = 0, [] if args.check_rules else known_findings()
    for name, rules in _rule_sets(args.check_rules, ctx, pass_of):
        if not rules and (groups := _number_of_group_rules(name, ctx)):
            print(f"note: rules of groups, which were left out: {groups}")
        elif not rules:
            raise StepwellError(Diagnostic(f"{name} has no rules"))
        report = analyse_rules(rules, ctx, args.cases or EXAMPLES, args.seed).without(known)
        for finding in report.findings:
            print(finding, flush=True)
        for note in report.notes:
            print(f"note: {note}")
        print(report.summary(name), flush=True)
        found += len(report.findings)
    return 1 if found else 0


def _number_of_group_rules(file: str, ctx: Context) -> int:
    from ...rewrites.fusion.rules import group_rules_of_module

    return len(group_rules_of_module(parse_text(ctx, read_source(file), file)))


def _rule_sets(file: str, ctx: Context, pass_of: dict[str, str]) -> Iterator[tuple[str, list[PlacedRule]]]:
    """Yields sets of rules that run together, each with a name: of a file, of a shipped one, or of each pass."""
    from ...rewrites.shipped import SHIPPED
    from ...testing.rule_sets.analysis import rule_set_of_text

    def shipped(stem: str) -> list[PlacedRule]:
        path = files("stepwell.rewrites").joinpath(SHIPPED[stem]).joinpath(f"{stem}.mlir")
        return rule_set_of_text(path.read_text(encoding="utf-8"), f"{stem}.mlir", ctx)

    stem = file.removesuffix(".mlir")
    if file and not (stem in SHIPPED and not Path(file).exists()):
        yield file, rule_set_of_text(read_source(file), file, ctx)
    elif file:
        yield stem, shipped(stem)
    else:
        for name in dict.fromkeys(pass_of.values()):
            yield name, [rule for stem in SHIPPED if pass_of[stem] == name for rule in shipped(stem)]


__all__ = ["check_rule_sets"]
