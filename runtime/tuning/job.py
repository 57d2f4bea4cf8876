"""Jobs to measure and their outcomes. Both travel between processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from statistics import median

from ...lazy_dataclass import dataclass


@dataclass(frozen=True)
class Job:
    """A candidate to compare with the default: two texts of the same kernel, which differ in the schedule."""

    default: str
    candidate: str
    """The text of `default` with a `schedule.program` in it."""
    target: str = "host"
    rounds: int = 9
    round_seconds: float = 0.004
    """The time that the calls of each of the two take in a round."""
    threads: int = 1
    seed: int = 0
    """The seed of the arguments."""
    stop_below: float | None = None
    """Measuring ends early once the median ratio is below that."""


@dataclass(frozen=True)
class Outcome:
    """What came of a job. `status` is `ok`, `wrong`, `crashed`, `timeout`, `refused` (by a pass) or `failed`."""

    status: str
    ratios: tuple[float, ...] = ()
    """The time of the default by that of the candidate, for each round."""
    detail: str = ""
    """Why the status is not `ok`."""
    fault_of_default: bool = False
    """The default does not run, so there is nothing to compare with."""
    microseconds: tuple[float, float] | None = None
    """The time of a call of the default and of the candidate, the medians of the rounds."""

    @property
    def ratio(self) -> float | None:
        """The median of the ratios, None without any."""
        return median(self.ratios) if self.ratios else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval that holds the true ratio but for a chance of 5 %, None without ratios."""
        return interval_of_median(self.ratios) if self.ratios else None


Measure = Callable[[Job], Outcome]
"""What runs a job in a process of its own. It must be known by name in a module, so that the process finds it."""


def interval_of_median(values: Sequence[float], outside: float = 0.05) -> tuple[float, float]:
    """
    Returns the interval that holds the median of the distribution, but for a chance of `outside`.

    It goes from the least to the largest value where there are too few values to say. It follows from the order of the
    values alone: as many lie below the median as heads in throws of a coin (W. R. Thompson, Annals of Mathematical
    Statistics 7(3), 1936).
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
