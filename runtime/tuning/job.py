"""What is measured, and what comes of it; both travel between processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median


@dataclass(frozen=True)
class Job:
    """A candidate to compare with the default: two texts of the same kernel, which differ in the schedule."""

    default: str
    candidate: str
    """As `default`, with a `schedule.program` in it."""
    target: str = "host"
    rounds: int = 9
    round_seconds: float = 0.004
    """Of calls of each of the two in a round."""
    threads: int = 1
    seed: int = 0
    """Of the arguments."""
    stop_below: float | None = None
    """Measuring ends early once the median ratio is below that."""


@dataclass(frozen=True)
class Outcome:
    """`status` is `ok`, `wrong`, `crashed`, `timeout`, `refused` (by a pass) or `failed`; why, in `detail`."""

    status: str
    ratios: tuple[float, ...] = ()
    """Per round, time of the default by time of the candidate."""
    detail: str = ""
    fault_of_default: bool = False
    """It is the default that does not run: there is nothing to compare with."""

    @property
    def ratio(self) -> float | None:
        return median(self.ratios) if self.ratios else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return interval_of_median(self.ratios) if self.ratios else None


Measure = Callable[[Job], Outcome]
"""What runs a job in a process of its own. It must be known by name in a module, so that the process finds it."""


def interval_of_median(values: Sequence[float], outside: float = 0.05) -> tuple[float, float]:
    """
    Between which values the median of the distribution lies, but for a chance of `outside`; the least and the largest where
    there are too few values to say. From the order of the values alone: as many lie below the median as heads in throws of
    a coin (W. R. Thompson, Annals of Mathematical Statistics 7(3), 1936).
    """
    ordered, n = sorted(values), len(values)
    rank, below = 0, 0.0
    while rank < n // 2:
        below += comb(n, rank) / 2**n
        if below > outside / 2:
            break
        rank += 1
    rank = max(rank, 1)
    return ordered[rank - 1], ordered[n - rank]
