"""The pass `apply-patterns`: rules from a file."""

from __future__ import annotations

from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import is_open, is_primitive
from ...patterns.language.rules import Rule
from ...patterns.running.decisions import check_replaces
from ...patterns.running.driver import REWRITES_OF_ONE_OP, Driver
from ...patterns.running.selection import check_limit, selected
from ...patterns.text.loading import rules_of_file
from ..shipped import SHIPPED, shipped_rules


@dataclass(frozen=True)
class ApplyPatternsPass(StepwellPass):
    """
    Applies the rewrite rules of a file until none applies.

    `file` holds `pattern.rule` ops, `pdl.pattern` ops, or functions `@pattern` and `@replacement`. A name that is no
    file may be that of a shipped one (`simplify.mlir`). The rules of the files in `also` come after those of `file`,
    and all are run together. `rules` picks some by name, `numerics` as in `simplify-expr`. More than `limit` rewrites
    of one op are an error that names the rules that alternate. Bodies of fused functions are left alone unless
    `primitives` is set, those of partitioned, composite and other compilers' functions unless `closed` is. A file
    of which no rule is chosen is a warning.

    Before:
        %0 = graph.relu %x : …
        %1 = graph.relu %0 : …
    After (with the shipped `simplify.mlir`):
        %0 = graph.relu %x : …

    Raises `StepwellError` for a file that cannot be read or has a rule that is not valid.
    """

    name = "apply-patterns"

    file: str
    rules: tuple[str, ...] = ()
    numerics: str = "default"
    limit: int = REWRITES_OF_ONE_OP
    primitives: bool = False
    closed: bool = False
    also: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chosen = selected(self._all_rules(ctx), self.rules, self.numerics, f"'{self.file}'", self.file)
        for rule in chosen:
            if rule.group is not None:
                raise PassFailedException(
                    f"{self.name}: rule '{rule.name}' has no replacement; it is for the pass partition-pattern"
                )
        check_replaces(chosen, self.name)
        check_limit(self.limit, self.name)
        Driver(ctx, chosen, enter=self._enters, limit=self.limit).run(op)

    def _enters(self, op: Operation) -> bool:
        if not is_open(op):
            return self.closed
        return self.primitives or not is_primitive(op)

    def _all_rules(self, ctx: Context) -> tuple[Rule, ...]:
        found: dict[str, tuple[Rule, str]] = {}
        for file in (self.file, *self.also):
            for rule in _rules_of(file, ctx):
                if rule.name in found:
                    other = found[rule.name][1]
                    raise PassFailedException(f"{self.name}: rule '{rule.name}' is in '{other}' and in '{file}'")
                found[rule.name] = (rule, file)
        return tuple(rule for rule, _ in found.values())


def _rules_of(file: str, ctx: Context) -> tuple[Rule, ...]:
    stem = file.removesuffix(".mlir")
    if not Path(file).exists() and stem in SHIPPED:
        return shipped_rules(stem)
    return rules_of_file(file, ctx)
