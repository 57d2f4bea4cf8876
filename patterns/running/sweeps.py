"""Rewriting in sweeps from the last op to the first, and rules whose replacement is a Python function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any

from xdsl.context import Context
from xdsl.ir import Operation

from ...core.messages.diagnostics import OperationError
from ...core.text.parsing import make_context
from ...lazy_dataclass import dataclass
from ..language.functions import is_open
from ..language.match import Match
from ..language.patterns import Pattern
from ..language.rules import Numerics, Rule, root_pattern
from ..matching.groups import covered_ops
from .driver import GROWS, Driver, program_order

SWEEPS = 100
"""The number of sweeps after which rules count as endless."""


def callback(
    name: str,
    pattern: Pattern | tuple[Pattern, ...],
    function: Callable[[Match], Any],
    *,
    once: bool = False,
    numerics: Numerics = "exact",
    doc: str = "",
    effects: bool = False,
) -> Rule:
    """
    Returns a rule whose replacement `function` makes from the match.

    It makes a value, an op or a list of values for the results of the root, or of all roots of a tuple of patterns. New
    ops come from `match.create`. `None`, or the results of the root, stands for no change. With `effects`, ops with
    effects may be erased, moved and made.
    """
    root, also = root_pattern(pattern)
    return Rule(name, root, (), numerics=numerics, doc=doc, callback=function, once=once, also=also, effects=effects)


@dataclass
class Sweeps:
    """The outcome of `rewrite`: how many sweeps changed something, and how often each rule applied."""

    sweeps: int = 0
    hits: dict[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.sweeps > 0


def rewrite(
    rules: Sequence[Rule],
    scope: Operation,
    *,
    ctx: Context | None = None,
    limit: int = SWEEPS,
    enter: Callable[[Operation], bool] = is_open,
) -> Sweeps:
    """
    Applies `rules` inside `scope` in sweeps until one changes nothing.

    A sweep goes from the last op to the first and tries the rules in their order, so an outer match wins over one
    inside it. It leaves new ops to the next sweep, and also matches that share an op with one already used. A rule with
    `once` retires after the first sweep in which it applied. `enter` returns for each op with regions whether to look
    into it, which leaves out closed functions as in `Driver`. Raises `OperationError` after `limit` sweeps, naming the
    last rules, and for a replacement of another type.
    """
    if isinstance(rules, Rule):
        raise TypeError(f"rules is one rule, '{rules.name}', expected a list of rules")
    return _Sweeper(ctx or make_context(), rules, scope, enter).sweep(limit)


def rewrite_once(rules: Sequence[Rule], scope: Operation, *, ctx: Context | None = None) -> Sweeps:
    """Runs `rewrite` with rules that each retire after the first sweep in which they applied."""
    return rewrite([replace(rule, once=True) for rule in rules], scope, ctx=ctx)


class _Sweeper(Driver):
    def __init__(self, ctx: Context, rules: Sequence[Rule], scope: Operation, enter: Callable[[Operation], bool]):
        super().__init__(ctx, rules, enter=enter, limit=SWEEPS * 1000)
        self._scope = scope
        self._retired: set[str] = set()
        self._used: set[Operation] = set()

    def sweep(self, limit: int) -> Sweeps:
        """Sweeps until nothing changes. Returns the outcome."""
        report = Sweeps()
        self._start(self._scope)
        while applied := self._one_sweep():
            report.sweeps += 1
            if report.sweeps > limit:
                names = " and ".join(f"'{name}'" for name in applied)
                raise OperationError(
                    self._scope, f"no fixed point after {limit} sweeps; the last one was by {names}", hint=GROWS
                )
            self._retired.update(
                compiled.rule.name for compiled in self._rules if compiled.rule.once and compiled.rule.name in applied
            )
        report.hits = {name: one.hits for name, one in self.statistics.items() if one.hits}
        self._finish()
        return report

    def _one_sweep(self) -> list[str]:
        """Makes one sweep. Returns the names of the rules that applied."""
        before = {name: one.hits for name, one in self.statistics.items()}
        self._used.clear()
        self._dead.clear()
        self._remarked.clear()
        for op in reversed(program_order(self._scope, self._enter)):
            if id(op) not in self._dead:
                self._visit(op)
        self._work.clear()
        self._queued.clear()
        return [name for name, one in self.statistics.items() if one.hits > before[name]]

    def _accepts(self, match: Match) -> bool:
        if match.rule.name in self._retired:
            return False
        covered = covered_ops(match.rule.lhs, match)
        if any(op in self._used for op in covered):
            return False
        self._pending = covered
        return True

    def _apply(self, match: Match, values: Any, place: Operation) -> None:
        self._used.update(self._pending)
        super()._apply(match, values, place)
        self._used.update(match.new_ops)


__all__ = ["Sweeps", "callback", "rewrite", "rewrite_once"]
