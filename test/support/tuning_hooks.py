"""
Functions that measure in place of the real one, for tests: a process of the tuner finds them by the name of this
module.
"""

from __future__ import annotations

import ctypes
import os
import re
import time
from dataclasses import replace
from pathlib import Path

from stepwell.runtime.tuning.job import Job, Outcome


def rows_of(text: str) -> int:
    """Of the tiling that a schedule asks for; 0 without one."""
    found = re.search(r"#schedule.tiling<rows = (\d+)", text)
    return int(found[1]) if found else 0


def by_rows(job: Job) -> Outcome:
    """More rows are faster, exactly."""
    return Outcome("ok", (1.0 + rows_of(job.candidate) / 100,) * job.rounds)


def slower(job: Job) -> Outcome:
    """As `by_rows`, but always slower than the default: nothing is confirmed."""
    return Outcome("ok", (0.5 + rows_of(job.candidate) / 100,) * job.rounds)


def by_rows_once(job: Job) -> Outcome:
    """As `by_rows`, but what is measured a second time is as slow as the default."""
    return by_rows(job) if job.rounds < 20 else Outcome("ok", (0.9, 1.0, 1.1) * 10)


def by_rows_in_one_process(job: Job) -> Outcome:
    """As `by_rows`, but a schedule that is confirmed is fast in the first of its processes only."""
    if job.rounds < 20:
        return by_rows(job)
    seen = Path(os.environ["SEEN"]) / str(rows_of(job.candidate))
    first = not seen.exists()
    seen.touch()
    return by_rows(job) if first else Outcome("ok", (0.9, 1.0, 1.1) * 10)


def crashing(job: Job) -> Outcome:
    """Tiles of four rows write to where nothing is."""
    if rows_of(job.candidate) == 4:
        ctypes.memset(0, 1, 1)
    return by_rows(job)


def leaving(job: Job) -> Outcome:
    """Tiles of four rows end the process with a last word."""
    if rows_of(job.candidate) == 4:
        os.write(2, b"nothing left to do\n")
        os._exit(3)
    return by_rows(job)


def hanging(job: Job) -> Outcome:
    """Tiles of four rows never end."""
    while rows_of(job.candidate) == 4:
        time.sleep(1)
    return by_rows(job)


def raising(job: Job) -> Outcome:
    """Tiles of four rows raise."""
    if rows_of(job.candidate) == 4:
        raise RuntimeError("no")
    return by_rows(job)


def printing(job: Job) -> Outcome:
    """Says things on standard output."""
    print("hello")
    os.write(1, b"\0" * 100)
    return by_rows(job)


def wrong(job: Job) -> Outcome:
    """Tiles of four rows compute something else: sums start from one."""
    from stepwell.runtime.tuning.measure import measure  # the others need neither NumPy nor LLVM

    if rows_of(job.candidate) == 4:
        job = replace(
            job, candidate=job.candidate.replace("arith.constant 0.000000e+00", "arith.constant 1.000000e+00")
        )
    return measure(replace(job, rounds=3, round_seconds=0.0001))


def unwilling(job: Job) -> Outcome:
    """Must not be called."""
    raise AssertionError("measured")


def hanging_and_telling(job: Job) -> Outcome:
    """Writes the number of its process into a file, then never ends."""
    with open(os.environ["TOLD"], "a") as file:
        file.write(f"{os.getpid()}\n")
    while True:
        time.sleep(1)
