"""What the analysis of rules has to say, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...core.messages.locations import location_string
from ...lazy_dataclass import dataclass
from ...patterns.language.rules import NUMERICS, Rule
from ..rules.reporting import program_text

Kind = Literal["shadowed", "overlap", "cycle", "measure"]


@dataclass(frozen=True)
class PlacedRule:
    """A rule, and where it is written."""

    rule: Rule
    place: str

    @property
    def name(self) -> str:
        """The name of the rule."""
        return self.rule.name


def placed(op: Operation, rule: Rule) -> PlacedRule:
    """Returns `rule` with the place of the op that it was read from."""
    return PlacedRule(rule, location_string(op))


@dataclass(frozen=True)
class Finding:
    """One warning about rules. `shown` are programs, each under its title."""

    kind: Kind
    about: tuple[PlacedRule, ...]
    message: str
    shown: tuple[tuple[str, ModuleOp], ...] = ()

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """The kind and the names of the rules, by which known findings are listed."""
        return self.kind, tuple(each.name for each in self.about)

    def __str__(self) -> str:
        lines = [f"{self.about[0].place}: warning: {self.message}"]
        for title, module in self.shown:
            lines += [f"  {title}:", *(f"  {line}" for line in program_text(module).splitlines())]
        return "\n".join(lines)


def runs_with(rule: Rule, other: Rule) -> bool:
    """
    Returns whether `rule` is selected by every choice of numerics that selects `other`.

    `numerics="strict"` runs exact rules only, so a rule that may lose NaN has no say about an exact one.
    """
    return NUMERICS.index(rule.numerics) <= NUMERICS.index(other.numerics)


def named(rules: Sequence[str]) -> str:
    """Returns names as text: `'a'`, or `'a' and 'b'`."""
    *first, last = [f"'{name}'" for name in rules]
    return f"{', '.join(first)} and {last}" if first else last


__all__ = ["Finding", "Kind", "PlacedRule", "named", "placed", "runs_with"]
