"""What a run of the tuner has found."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import median

from ...analysis.drawing.html import output, text
from ...lazy_dataclass import dataclass
from ...schedule.tuned.records import Record


@dataclass(frozen=True)
class Trial:
    """A candidate of this run."""

    program: str
    record: Record
    known: bool
    """True where the database had it already."""

    def __repr__(self) -> str:
        gain = "" if self.record.ratio is None else f", {self.record.ratio:.2f} × as fast as the default"
        return f"<stepwell.Trial {self.record.status}{gain}{', known' if self.known else ''}>"


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

    def __repr__(self) -> str:
        return f"<stepwell.KernelReport {self}>"

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        parts = [f"{len(self.trials)} schedules" + (f" ({counts})" if counts else "")]
        if self.trials:
            parts.append(f"{self.measured} measured now")
        parts.append(self._default_stays() if self.best is None else self._faster(self.best))
        if self.remark:
            parts.append(self.remark)
        return f"{', '.join('@' + name for name in self.names)} {self.hash}: {'; '.join(parts)}"

    def _default_stays(self) -> str:
        times = [trial.record.microseconds for trial in self.trials if trial.record.microseconds is not None]
        if not times:
            return "the default stays"
        default, fastest = median(theirs for theirs, _ in times), min(mine for _, mine in times)
        found = f"the default stays: it takes {_time(default)}, the fastest of the others {_time(fastest)}"
        return f"{found} (a gain of 2 % has to be confirmed)" if fastest < default else found

    def _faster(self, best: Record) -> str:
        low, high = best.interval or (0.0, 0.0)
        said = f"{best.ratio or 0.0:.2f} × as fast as the default [{low:.2f}, {high:.2f}]"
        if best.microseconds is None:
            return said
        default, mine = best.microseconds
        return f"{said}: {_time(mine)} in place of {_time(default)}"


def _time(microseconds: float) -> str:
    """Returns a time with three digits."""
    unit, name = (1e3, "ms") if microseconds >= 1e3 else (1.0, "µs")
    number = microseconds / unit
    return f"{number:.{2 if number < 10 else 1 if number < 100 else 0}f} {name}"


@dataclass(frozen=True)
class TuningReport:
    """What the run has found for all kernels of a program."""

    database: Path
    kernels: tuple[KernelReport, ...]

    def __repr__(self) -> str:
        better = sum(kernel.best is not None for kernel in self.kernels)
        return f"<stepwell.TuningReport of {len(self.kernels)} kernels, {better} with a faster schedule>"

    def _repr_html_(self) -> str:
        return output(text(str(self)))

    def __str__(self) -> str:
        lines = [str(kernel) for kernel in self.kernels] or ["the program has no kernel that can be tuned"]
        return "\n".join(lines)
