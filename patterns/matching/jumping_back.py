"""
Ops that lead nowhere as a further root, which are not tried again while what made them fail stays as it is.

Between the root that a condition is about and the last one that it is about there may be others that do not matter:
where the condition fails for one of these, it fails for all. So a failure tells what it depends on. These are the names
that the rest of the rule looks at, and the roots that took an op which it wanted, or everything. An op that failed for
the same names, and for no root that may be another one, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, Final

from xdsl.ir import Operation

from ...lazy_dataclass import dataclass
from ..language.combinators import Together
from ..language.constraints import Holds, Where
from ..language.match import Match
from ..language.patterns import Capture, Pattern, all_below
from ..language.rules import Bound, Rule
from .closed_parts import count_step
from .tracing import MATCH, TRACER, Bindings

EVERYTHING: Final = -1
"""Stands in the place of the number of a root where a failure may depend on all that is bound."""


@dataclass(frozen=True)
class End:
    """The names that a rule looks at when all of its roots, those of `pattern`, are found."""

    pattern: Together
    names: frozenset[str]


END: ContextVar[End | None] = ContextVar("END", default=None)
"""The end of the rule that is being compiled, if it has roots that may be jumped over."""


def end_of(rule: Rule) -> End | None:
    """Returns what a rule looks at behind its roots, or `None` where no root stands between two others."""
    pattern = rule.lhs
    if not isinstance(pattern, Together) or len(pattern.patterns) < 3 or rule.free or TRACER.get() is not None:
        return None
    names = {key for required in rule.when for key in required.keys}
    names |= {made.key for made in rule.rhs if isinstance(made, Bound)}
    for part in all_below(pattern):
        if isinstance(part, Where) and isinstance(part.test, Holds) and part.test.others:
            names |= {part.key, *part.test.others}
    return End(pattern, frozenset(names))


def blame_everything(bound: Bindings) -> None:
    """Notes that what fails now may depend on all that is bound."""
    bound[MATCH].blamed.add(EVERYTHING)


class FurtherRoot:
    """Root `number` of a rule: which ops are still worth a try, by what the rest of the rule looks at."""

    def __init__(self, end: End, number: int):
        self._number = number
        later = (part for each in end.pattern.patterns[number:] for part in all_below(each))
        self._names = end.names | {name for part in later for name in _names_of(part)}
        roots = [each.key for each in end.pattern.patterns]
        self._known = frozenset((0, *(place for place, key in enumerate(roots) if key in self._names)))
        """The roots that are known where the names are: the first one never changes in a match."""

    def find(
        self,
        bound: Bindings,
        taken: list[Operation | None],
        wanted: Callable[[], Iterable[Operation]],
        match_other: Any,
    ) -> bool:
        """Returns whether one of the ops that `wanted` gives leads to a match."""
        match: Match = bound[MATCH]
        place = (self._number, *((name, thing) for name, thing in bound.items() if self._is_looked_at(name)))
        known = match.left.get(place)
        left: list[Operation] = []
        blamed: set[int] = set()
        outside = match.blamed
        for op in wanted() if known is None else known:
            if op in taken:
                left.append(op)
                blamed.add(taken.index(op))
                continue
            count_step(bound)
            match.blamed = set()
            if match_other(op, bound):
                return True
            if others := match.blamed - self._known - {self._number}:
                left.append(op)
                blamed |= others
        match.left[place] = left
        match.blamed = outside | blamed
        return False

    def _is_looked_at(self, name: str) -> bool:
        """Returns whether the rest of the rule may look at `name`, or at the name that this is a note about."""
        return any(each in self._names for each in (name, name.rpartition("|")[0], name.rpartition(".")[0]))


def _names_of(part: Pattern) -> list[str]:
    attributes = getattr(part, "attributes", ())
    return [part.key, *(wanted.key for _, wanted in attributes if isinstance(wanted, Capture))]


__all__ = ["END", "EVERYTHING", "FurtherRoot", "blame_everything", "end_of"]
