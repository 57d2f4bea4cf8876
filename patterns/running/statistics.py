"""How often each rule was tried and applied, and how long its matching took: `--pattern-stats`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class RuleStatistics:
    """
    How often a rule was tried, and how often it applied.

    It is tried at an op where the names of the op and of the two levels of producers below it allow a match.
    """

    tries: int = 0
    hits: int = 0
    milliseconds: float = 0.0
    """Time of matching; measured only inside `collecting_pattern_statistics`."""


_collected: ContextVar[dict[str, RuleStatistics] | None] = ContextVar("pattern_statistics", default=None)


@contextmanager
def collecting_pattern_statistics() -> Iterator[dict[str, RuleStatistics]]:
    """Inside the block, the statistics of every run of rules go to the dictionary that it yields."""
    collected: dict[str, RuleStatistics] = {}
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def statistics_wanted() -> bool:
    """Whether somebody collects; matching is timed only then."""
    return _collected.get() is not None


def add_statistics(statistics: Mapping[str, RuleStatistics]) -> None:
    """Adds those of one run."""
    collected = _collected.get()
    if collected is None:
        return
    for name, one in statistics.items():
        total = collected.setdefault(name, RuleStatistics())
        total.tries += one.tries
        total.hits += one.hits
        total.milliseconds += one.milliseconds


def statistics_table(statistics: Mapping[str, RuleStatistics]) -> str:
    """One line per rule that was tried: tries, hits, milliseconds; the slowest first."""
    tried = sorted(
        ((name, one) for name, one in statistics.items() if one.tries),
        key=lambda row: (-row[1].milliseconds, row[0]),
    )
    lines = [f"{'tries':>8} {'hits':>6} {'ms':>9}  rule"]
    lines += [f"{one.tries:>8} {one.hits:>6} {one.milliseconds:>9.3f}  {name}" for name, one in tried]
    return "\n".join(lines)
