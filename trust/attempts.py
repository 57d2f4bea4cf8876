"""Pipelines that are run in processes of their own, since they may end by a signal or not at all."""

from __future__ import annotations

import faulthandler
import mmap
import os
import pickle
import re
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any, Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..core.ir.cloning import clone_op
from ..core.passes.applications import Application, counting
from ..core.passes.instrument import Instrument
from ..core.passes.pipelines import PassFailure, run_pipeline
from ..core.text.errors import diagnostic_of
from ..lazy_dataclass import dataclass

SECONDS = 600.0
"""The time after which a run is taken for one that does not end."""

_PARTS = re.compile(r"'[^']*'|\"[^\"]*\"|%[\w.$-]+|@[\w.$-]+|\d+")


@dataclass(frozen=True)
class Attempt:
    """One run of a pipeline: how it ended, and where."""

    ending: Literal["fine", "error", "signal", "late"]
    number: int = 0
    """The place of the pass it ended in, from 1."""
    message: str = ""
    kind: str = ""
    """What two failures have in common that are the same: exception, pass, and message without names and numbers."""
    count: int = 0
    """The number of applications until then."""
    last: Application | None = None
    """The application that reached the limit."""
    numbers: tuple[int, ...] = ()
    """The number of applications before each pass that was begun."""
    text: str = ""
    """The program after the run, where that is asked for."""

    @property
    def reason(self) -> str:
        """Returns how it failed, as the end of a sentence about a pass."""
        if self.ending == "late":
            return f"does not end within {SECONDS:.0f} s"
        if self.ending == "signal":
            return f"crashes: {self.message}"
        return f"fails: {self.message}"


def attempt(
    ctx: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    limit: int | None = None,
    *,
    goes_on: bool = False,
    with_text: bool = False,
) -> Attempt:
    """Runs passes on a copy of a module, in a process of its own. `limit` and `goes_on` are those of `counting`."""
    shared = mmap.mmap(-1, 8)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(_Telling(writing, shared), lambda told: _run(ctx, module, passes, limit, goes_on, with_text, told))
    os.close(writing)
    data, is_late = _read(reading, child)
    _, status = os.waitpid(child, 0)
    told = _Told(data)
    count = int.from_bytes(shared[:8], "little")
    if told.result is not None:
        return told.result
    number, last, numbers = len(told.numbers), told.last, tuple(told.numbers)
    if is_late:
        return Attempt("late", number, "", f"late in {number}", count, last, numbers)
    name = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit code {status >> 8}"
    return Attempt("signal", number, f"the process ends with {name}", f"{name} in {number}", count, last, numbers)


@dataclass
class _Told:
    """What a child has said before it ended."""

    data: bytes
    numbers: list[int] = field(default_factory=list)
    last: Application | None = None
    result: Attempt | None = None

    def __post_init__(self) -> None:
        at = 0
        while at + 8 <= len(self.data):
            size = int.from_bytes(self.data[at : at + 8], "little")
            found: Any = pickle.loads(self.data[at + 8 : at + 8 + size])
            at += 8 + size
            if isinstance(found, int):
                self.numbers.append(found)
            elif isinstance(found, Application):
                self.last = found
            else:
                self.result = found


class _Telling(Instrument):
    """Tells the parent which pass begins, how many applications there have been, and which one reached the limit."""

    def __init__(self, pipe: int, shared: mmap.mmap):
        self.pipe, self.shared, self.count = pipe, shared, 0
        self.numbers: list[int] = []

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self.numbers.append(self.count)
        self.say(self.count)

    def heard(self, count: int, last: Application | None) -> None:
        """Takes note of one more application."""
        self.count = count
        self.shared[:8] = count.to_bytes(8, "little")
        if last is not None:
            self.say(last)

    def say(self, what: Any) -> None:
        """Writes an object that the parent reads."""
        data = pickle.dumps(what)
        os.write(self.pipe, len(data).to_bytes(8, "little") + data)


def _run(
    ctx: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    limit: int | None,
    goes_on: bool,
    with_text: bool,
    told: _Telling,
) -> Attempt:
    copy = clone_op(module)
    with counting(limit, goes_on=goes_on) as own:
        own.heard = told.heard
        try:
            run_pipeline(ctx, copy, passes, instruments=[told])
        except Exception as error:
            failure = getattr(error, "failed_pass", None)
            number = failure.number if isinstance(failure, PassFailure) else len(told.numbers)
            message = diagnostic_of(error).message
            kind = f"{type(error).__name__} in {number}: {_PARTS.sub('*', message)}"
            return Attempt("error", number, message, kind, own.count, own.last, tuple(told.numbers))
    text = str(copy) if with_text else ""
    return Attempt("fine", 0, "", "", own.count, own.last, tuple(told.numbers), text)


def _work(told: _Telling, run: Callable[[_Telling], Attempt]) -> None:
    """Runs in the child, silently, and ends the child."""
    try:
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # Crashes are wanted, their dumps are not.
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        told.say(run(told))
    except BaseException:
        os._exit(1)
    os._exit(0)


def _read(pipe: int, child: int) -> tuple[bytes, bool]:
    """Returns what a child writes until it ends, and whether it had to be ended."""
    parts: list[bytes] = []
    deadline, is_late = time.monotonic() + SECONDS, False
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            is_late, deadline = True, time.monotonic() + SECONDS
            continue
        data = os.read(pipe, 1 << 16)
        if not data:
            os.close(pipe)
            return b"".join(parts), is_late
        parts.append(data)
