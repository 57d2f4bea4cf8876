"""The database as a run of the tuner reads it and adds to it."""

from __future__ import annotations

from dataclasses import field
from datetime import date
from pathlib import Path

from ...core.fingerprint import compiler_fingerprint
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ...schedule.tuned.records import (
    CONFIRMATION,
    TRIAL,
    Record,
    append_record,
    best_records,
    check_database,
    check_writable,
    read_records,
    target_key,
)
from .job import Outcome


@dataclass
class Database:
    """The records of one target and of the compiler as it is."""

    path: Path
    target: Machine
    compiler: str = field(default_factory=compiler_fingerprint)

    def __post_init__(self) -> None:
        key = target_key(self.target)
        found: list[Record] = []
        if self.path.exists():
            check_database(self.path)
            found = read_records(self.path)
        self._records = [r for r in found if r.target == key and r.compiler == self.compiler]

    def check_writable(self) -> None:
        """Raises StepwellError where nothing can be added, before hours are spent on measuring."""
        check_writable(self.path)

    def trials(self, kernel: str, threads: int) -> dict[str, Record]:
        """Returns the last measurement of each schedule."""
        return self._of(TRIAL, kernel, threads)

    def confirmations(self, kernel: str, threads: int) -> dict[str, Record]:
        """Returns the second measurement of each schedule, whether or not it confirmed the first."""
        return self._of(CONFIRMATION, kernel, threads)

    def best(self, kernel: str) -> Record | None:
        """Returns the schedule that `compile` uses, or None for the default."""
        return best_records(self._records, self.target, self.compiler).get(kernel)

    def _of(self, kind: str, kernel: str, threads: int) -> dict[str, Record]:
        return {
            record.program: record
            for record in self._records
            if record.kind == kind and record.kernel == kernel and record.threads == threads
        }

    def add(self, kind: str, kernel: str, name: str, program: str, outcome: Outcome, seed: int, threads: int) -> Record:
        """Appends what has been measured, and returns it."""
        interval, times = outcome.interval, outcome.microseconds
        record = Record(
            kind=kind,
            kernel=kernel,
            target=target_key(self.target),
            compiler=self.compiler,
            program=program,
            status=outcome.status,
            ratio=None if outcome.ratio is None else round(outcome.ratio, 4),
            interval=None if interval is None else (round(interval[0], 4), round(interval[1], 4)),
            microseconds=None if times is None else (round(times[0], 3), round(times[1], 3)),
            rounds=len(outcome.ratios),
            seed=seed,
            threads=threads,
            date=date.today().isoformat(),
            name=name,
            detail=outcome.detail,
        )
        append_record(self.path, record)
        self._records.append(record)
        return record
