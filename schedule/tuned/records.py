"""
Reads and writes the results of tuning: one JSON object per line of a file that is only ever appended to
(docs/tuning.md).

Any number of processes may append at the same time, because a record is one write of one line. A line that is no
record, such as one that a crash has cut off, is skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from errno import ENOSPC
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.files import reason_of
from ...lazy_dataclass import dataclass
from ...machine.host import processor_name
from ...machine.machine import KIB, Machine

FORMAT = 1
"""The format of the records. Those of another format are passed over."""

BEST, CONFIRMATION, TRIAL = "best", "confirmation", "trial"
"""
The kinds of records: a schedule that is confirmed to be faster than the default, a second, longer measurement, a first
one.
"""


@dataclass(frozen=True)
class Record:
    """One line of the file."""

    kind: str
    kernel: str
    """The structural hash of the kernel (`schedule/tuned/kernels.py`)."""
    target: str
    """The machine, by `target_key`."""
    compiler: str
    """The compiler, by `core.fingerprint`."""
    program: str
    """The `schedule.program` for the kernel as `schedule/tuned/kernels.py` names it."""
    status: str = "ok"
    """`ok`, or the reason why there is no ratio: `wrong`, `crashed`, `timeout`, `refused`, `failed`."""
    ratio: float | None = None
    """The time of the default divided by that of the schedule. Above 1, the schedule is faster."""
    interval: tuple[float, float] | None = None
    """The interval that holds the median with 95 % confidence."""
    microseconds: tuple[float, float] | None = None
    """The time of a call of the default and of the schedule, for people: it was another day when it was measured."""
    rounds: int = 0
    seed: int = 0
    threads: int = 1
    date: str = ""
    name: str = ""
    """The name of the function, for people."""
    detail: str = ""
    format: int = FORMAT

    def line(self) -> str:
        """Returns the record as a line."""
        return json.dumps({key: value for key, value in asdict(self).items() if value is not None}) + "\n"


def append_record(path: Path, record: Record) -> None:
    """Adds a line, in one write. Raises `StepwellError` where the file cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            size = os.fstat(handle).st_size
            # A line that a crash has cut off stays a line of its own.
            start = "" if size == 0 or os.pread(handle, 1, size - 1) == b"\n" else "\n"
            data = f"{start}{record.line()}".encode()
            if os.write(handle, data) < len(data):
                raise OSError(ENOSPC, os.strerror(ENOSPC))
        finally:
            os.close(handle)
    except OSError as error:
        raise _not_written(path, error) from error


def check_writable(path: Path) -> None:
    """Raises `StepwellError` where records cannot be added, and makes an empty database where there is none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644))
    except OSError as error:
        raise _not_written(path, error) from error


def _not_written(path: Path, error: OSError) -> StepwellError:
    return StepwellError(Diagnostic(f"cannot write tuning database '{path}': {reason_of(error)}"))


def read_records(path: Path, kind: str | None = None) -> list[Record]:
    """
    Returns the records of a file in its order, of one kind only where that is given. Raises `StepwellError` where it
    cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise StepwellError(Diagnostic(f"cannot read tuning database '{path}': {reason_of(error)}")) from error
    # Most lines are trials, which compilation need not parse.
    lines = (line for line in text.split("\n") if kind is None or f'"{kind}"' in line)
    found = (_record(line) for line in lines)
    return [record for record in found if record is not None and kind in (None, record.kind)]


def check_database(path: Path) -> None:
    """Raises `StepwellError` where records cannot be added, and makes an empty database where there is none."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            start = next((line for line in file if line.strip()), "{").lstrip()
    except OSError as error:
        raise StepwellError(Diagnostic(f"cannot read tuning database '{path}': {reason_of(error)}")) from error
    if not start.startswith("{"):
        hint = "it has a JSON object per line; stepwell-tune makes a file that does not exist"
        raise StepwellError(Diagnostic(f"'{path}' is not a tuning database", hint=hint))


def _record(line: str) -> Record | None:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return None
    known: dict[str, Any] = {key: data[key] for key in Record.__dataclass_fields__ if key in data}
    for name in ("interval", "microseconds"):
        if isinstance(known.get(name), list):
            known[name] = tuple(known[name])
    try:
        record = Record(**known)
    except TypeError:
        return None
    return record if _is_typed(record) else None


def _is_typed(record: Record) -> bool:
    """Returns whether the fields of a line are of their types."""
    pairs = [() if pair is None else pair for pair in (record.interval, record.microseconds)]
    ratio = () if record.ratio is None else (record.ratio,)
    return (
        all(isinstance(getattr(record, name), str) for name in _TEXTS)
        and all(type(getattr(record, name)) is int for name in ("rounds", "seed", "threads"))
        and all(isinstance(pair, tuple) and len(pair) in (0, 2) for pair in pairs)
        and all(type(number) in (int, float) and isfinite(number) for pair in (ratio, *pairs) for number in pair)
    )


_TEXTS = ("kind", "kernel", "target", "compiler", "program", "status", "date", "name", "detail")


def best_records(records: Iterable[Record], target: Machine, compiler: str | None = None) -> dict[str, Record]:
    """
    Returns, by kernel, the schedule with the best lower end of its interval, for `target` and made by that compiler (by
    any when None).
    """
    key = target_key(target)
    best: dict[str, Record] = {}
    for record in records:
        if record.kind != BEST or record.target != key or compiler not in (None, record.compiler):
            continue
        known = best.get(record.kernel)
        if known is None or _least(record) >= _least(known):
            best[record.kernel] = record
    return best


def _least(record: Record) -> float:
    return 0.0 if record.interval is None else record.interval[0]


def tuning_fingerprint(path: Path) -> str:
    """Returns a hash of the schedules in a database that are used. A program compiled with others is another one."""
    return sha256("".join(record.line() for record in read_records(path, BEST)).encode()).hexdigest()


def target_key(target: Machine) -> str:
    """
    Returns the name under which measurements on `target` are kept. For this machine its processor and caches say more
    than its name.
    """
    if target.name != "host":
        return target.name
    sizes = f"L1 {target.l1_bytes // KIB} KiB, L2 {target.l2_bytes // KIB} KiB"
    return f"{target.cpu}, {processor_name()}, {sizes}"
