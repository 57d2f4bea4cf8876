"""
Trials in forked processes. A trial sees the state of its parent as it is, may change it, and may crash or hang.

A fork costs some milliseconds, where a new interpreter would take a second to import what a trial needs.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Final, Literal

from ...lazy_dataclass import dataclass

Trial = Callable[[Callable[[str], None]], bool]
"""
Returns whether a candidate is interesting. It calls its argument with `VALID` once the candidate has been found valid,
so a signal after that is what the predicate has done, and then with what it wants to tell.
"""

Ending = Literal["yes", "no", "signal", "late"]
"""The ways a trial ends: an answer, a signal after the candidate was found valid, or the time limit."""

VALID: Final = "valid "


@dataclass(frozen=True)
class Answer:
    """What a trial gave. `signal` is the number of the signal that ended it, `told` what it said."""

    ending: Ending
    signal: int = 0
    told: str = ""


@dataclass(eq=False)
class _Running:
    """A process at work."""

    index: int
    process: int
    pipe: int
    deadline: float
    told: bytes = b""


@dataclass
class Workers:
    """Runs up to `jobs` trials at a time, each for at most `timeout` seconds."""

    jobs: int = 1
    timeout: float = 60.0
    signal: int = 0
    """The signal that makes a candidate interesting, 0 for none."""
    tried: int = 0
    late: int = 0
    _running: list[_Running] = field(default_factory=list)

    def ask(self, trial: Trial) -> Answer:
        """Runs one trial, and returns how it ended."""
        self._start(0, trial)
        while True:
            for worker, answer in self._ended():
                self._running.remove(worker)
                return answer

    def first(self, trials: Sequence[Trial], start: int = 0) -> int | None:
        """
        Returns the least index from `start` of a trial that says yes, or `None`.

        The answer does not depend on `jobs`: a later yes waits for all earlier trials.
        """
        best: int | None = None
        upcoming = start
        try:
            while True:
                while best is None and upcoming < len(trials) and len(self._running) < self.jobs:
                    self._start(upcoming, trials[upcoming])
                    upcoming += 1
                if not self._running or (best is not None and all(each.index > best for each in self._running)):
                    return best
                for worker, answer in self._ended():
                    self._running.remove(worker)
                    if self._is_yes(answer) and (best is None or worker.index < best):
                        best = worker.index
        finally:
            self.stop()

    def stop(self) -> None:
        """Ends all processes that are still at work."""
        for worker in self._running:
            _kill(worker)
        self._running.clear()

    def _is_yes(self, answer: Answer) -> bool:
        return answer.ending == "yes" or (answer.ending == "signal" and answer.signal == self.signal != 0)

    def _start(self, index: int, trial: Trial) -> None:
        self.tried += 1
        reading, writing = os.pipe()
        gc.freeze()  # So that collections of the child leave the pages of the parent alone.
        process = os.fork()
        if process == 0:
            _work(trial, reading, writing)
        os.close(writing)
        self._running.append(_Running(index, process, reading, time.monotonic() + self.timeout))

    def _ended(self) -> list[tuple[_Running, Answer]]:
        """Waits until a process ends or is late; returns those that did, with their answers."""
        wait = max(0.0, min(each.deadline for each in self._running) - time.monotonic())
        ready, _, _ = select.select([each.pipe for each in self._running], [], [], wait)
        found: list[tuple[_Running, Answer]] = []
        for worker in self._running:
            if worker.pipe in ready:
                data = os.read(worker.pipe, 1024)
                worker.told += data
                if not data:
                    found.append((worker, _answer_of(worker)))
                    continue
            if time.monotonic() >= worker.deadline:
                self.late += 1
                _kill(worker)
                found.append((worker, Answer("late")))
        return found


def _answer_of(worker: _Running) -> Answer:
    os.close(worker.pipe)
    _, status = os.waitpid(worker.process, 0)
    _kill_group(worker.process)
    told = worker.told.decode(errors="replace")
    if os.WIFSIGNALED(status):
        return Answer("signal" if told.startswith(VALID) else "no", os.WTERMSIG(status))
    return Answer("yes" if os.waitstatus_to_exitcode(status) == 0 else "no", told=told.removeprefix(VALID))


def _kill(worker: _Running) -> None:
    _kill_group(worker.process)
    with suppress(ProcessLookupError):  # It may not have become the leader of a group yet.
        os.kill(worker.process, signal.SIGKILL)
    os.waitpid(worker.process, 0)
    os.close(worker.pipe)


def _kill_group(process: int) -> None:
    """Ends what a trial has started and left behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


def _work(trial: Trial, reading: int, writing: int) -> None:
    """Runs a trial in the child, silently, and ends the child with its answer."""
    code = 1
    try:
        os.setsid()
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # Crashes are wanted, their dumps are not.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(reading)
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        code = 0 if trial(lambda text: _tell(writing, text)) else 1
    except BaseException:
        code = 1
    finally:
        os._exit(code)


def _tell(writing: int, text: str) -> None:
    os.write(writing, text.encode())
