"""Runs jobs in a process of their own, and in a new one each time one crashes or hangs."""

from __future__ import annotations

import os
import pickle
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ...lazy_dataclass import dataclass
from . import child
from .job import Job, Measure, Outcome
from .site import site

START_SECONDS = 60.0
"""The most time for a process to come up, which loads NumPy and LLVM."""


@dataclass(frozen=True)
class Batch:
    """Jobs done one after the other by one process, as long as it lives."""

    jobs: tuple[Job, ...]
    measure: Measure
    timeout: float
    """The most seconds of a job."""
    owner: str = ""
    """The run that it belongs to, for `stop`."""


_stopped: set[str] = set()
_running: set[tuple[str, _Child]] = set()


def stop(owner: str) -> None:
    """Has the batches of `owner` in this process end now, with the outcomes that they have."""
    _stopped.add(owner)
    for each, process in list(_running):
        if each == owner:
            process.kill()


def run_batch(batch: Batch) -> list[Outcome]:
    """
    Returns the outcomes in the order of the jobs. Never raises because of a job.

    It needs nothing of its own process but the right to start another one, so it may run in any worker of any executor.
    """
    outcomes: list[Outcome] = []
    process: _Child | None = None
    try:
        for job in batch.jobs:
            if batch.owner in _stopped:
                break
            if process is None:
                process = _Child(batch.measure)
                _running.add((batch.owner, process))
            outcome = process.run(job, batch.timeout)
            outcomes.append(outcome)
            if outcome.status in ("crashed", "timeout"):
                _running.discard((batch.owner, process))
                process.end()
                process = None
    finally:
        if process is not None:
            _running.discard((batch.owner, process))
            process.end()
    return outcomes


def run_batch_there(batch: Batch) -> tuple[str, list[Outcome]]:
    """Returns where the batch was measured (`site`), and what `run_batch` returns. Executors run this."""
    return site(), run_batch(batch)


class _Child:
    """A process that measures."""

    def __init__(self, measure: Measure):
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in end()
        self._process = subprocess.Popen(
            [sys.executable, str(Path(child.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        root = Path(__file__).resolve().parents[2]
        self._ready = False
        self._send((sys.path, str(root), child.__name__))
        self._send(measure)

    def _send(self, value: Any) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(pickle.dumps(value))
            self._process.stdin.flush()
        except BrokenPipeError:
            return  # It has ended, so no answer will come.

    def run(self, job: Job, timeout: float) -> Outcome:
        """Returns the outcome of a job. After `crashed` or `timeout` the process is of no more use."""
        if not self._ready:
            came_up = self._read(8, time.monotonic() + START_SECONDS)
            if came_up is None:
                return Outcome("timeout", detail=f"the process did not come up in {START_SECONDS:g} s")
            self._ready = bool(came_up)
        self._send((job, timeout))
        deadline = time.monotonic() + timeout
        head = self._read(8, deadline)
        data = None if head is None else self._read(int.from_bytes(head, "little"), deadline)
        if data:
            return pickle.loads(data)
        if head is None or data is None:
            return Outcome("timeout", detail=f"no answer after {timeout:g} s")
        return Outcome("crashed", detail=self._last_words())

    def _read(self, count: int, deadline: float) -> bytes | None:
        """Reads `count` bytes. Returns no bytes where the process has ended, and `None` where it takes too long."""
        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        found = b""
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            while len(found) < count:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    return None
                part = os.read(handle, count - len(found))
                if not part:
                    return b""
                found += part
        return found

    def _last_words(self) -> str:
        """Returns how the process ended, in words."""
        code = self._process.wait()
        if code < 0:
            try:
                return f"the process was ended by {signal.Signals(-code).name}"
            except ValueError:
                return f"the process was ended by signal {-code}"
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        return f"the process ended with code {code}" + (f": {lines[-1]}" if lines else "")

    def kill(self) -> None:
        """Has the system end the process, and whatever it has started."""
        if self._process.poll() is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self._process.kill()

    def end(self) -> None:
        """Ends the process and releases what belongs to it."""
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
