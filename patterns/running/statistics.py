"""Statistics of rules for `--pattern-stats`: tries, applications and the time of matching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from ...lazy_dataclass import dataclass


@dataclass
class RuleStatistics:
    """
    The numbers of times that a rule was tried and applied.

    A rule counts as tried at an op where the names of the op and of the two levels of producers below it allow a match.
    """

    tries: int = 0
    hits: int = 0
    milliseconds: float = 0.0
    """The time of matching, which is measured only inside `collecting_pattern_statistics`."""


_collected: ContextVar[dict[str, RuleStatistics] | None] = ContextVar("pattern_statistics", default=None)


@contextmanager
def collecting_pattern_statistics() -> Iterator[dict[str, RuleStatistics]]:
    """Yields a dictionary that collects the statistics of every run of rules inside the block."""
    collected: dict[str, RuleStatistics] = {}
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def statistics_wanted() -> bool:
    """Returns whether statistics are collected. Matching is timed only then."""
    return _collected.get() is not None


def add_statistics(statistics: Mapping[str, RuleStatistics]) -> None:
    """Adds the statistics of one run to those that are collected."""
    collected = _collected.get()
    if collected is None:
        return
    for name, one in statistics.items():
        total = collected.setdefault(name, RuleStatistics())
        total.tries += one.tries
        total.hits += one.hits
        total.milliseconds += one.milliseconds


def statistics_table(statistics: Mapping[str, RuleStatistics]) -> str:
    """Returns a line of tries, hits and milliseconds for each rule that was tried, slowest first."""
    tried = sorted(
        ((name, one) for name, one in statistics.items() if one.tries), key=lambda row: (-row[1].milliseconds, row[0])
    )
    lines = [f"{'tries':>8} {'hits':>6} {'ms':>9}  rule"]
    lines += [f"{one.tries:>8} {one.hits:>6} {one.milliseconds:>9.3f}  {name}" for name, one in tried]
    return "\n".join(lines)
