"""What a run of the tuner has found."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ...lazy_dataclass import dataclass
from ...schedule.tuned.records import Record


@dataclass(frozen=True)
class Trial:
    """A candidate of this run."""

    program: str
    record: Record
    known: bool
    """True where the database had it already."""


@dataclass(frozen=True)
class KernelReport:
    """What the run has found for one kernel."""

    names: tuple[str, ...]
    """The names that it has in the program."""
    hash: str
    trials: tuple[Trial, ...]
    best: Record | None
    """The schedule that `compile` uses from now on, None for the default."""
    remark: str = ""
    """Why nothing was measured, or the search has ended early."""

    @property
    def statuses(self) -> Counter[str]:
        """The number of candidates by status."""
        return Counter(trial.record.status for trial in self.trials)

    @property
    def measured(self) -> int:
        """The number of candidates that the database did not know."""
        return sum(not trial.known for trial in self.trials)

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        parts = [f"{len(self.trials)} schedules" + (f" ({counts})" if counts else "")]
        if self.trials:
            parts.append(f"{self.measured} measured now")
        if self.best is None:
            parts.append("the default stays")
        else:
            low, high = self.best.interval or (0.0, 0.0)
            parts.append(f"{self.best.ratio or 0.0:.2f} × as fast as the default [{low:.2f}, {high:.2f}]")
        if self.remark:
            parts.append(self.remark)
        return f"{', '.join('@' + name for name in self.names)} {self.hash}: {'; '.join(parts)}"


@dataclass(frozen=True)
class TuningReport:
    """What the run has found for all kernels of a program."""

    database: Path
    kernels: tuple[KernelReport, ...]

    def __str__(self) -> str:
        lines = [str(kernel) for kernel in self.kernels] or ["the program has no kernel that can be tuned"]
        return "\n".join(lines)
