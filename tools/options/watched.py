"""A command run in a child process whose end is seen, also an end by a signal."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...trust.repro import Ending


def watched(act: Callable[[], int], stdin: bytes | None = None) -> Ending:
    """
    Runs `act`, which returns an exit code, in a child, and returns how that ended.

    What it writes to standard error is shown as it comes, and kept. `stdin` takes the place of standard input.
    """
    if not hasattr(os, "fork"):
        raise StepwellError(Diagnostic("this needs processes that fork, which this system has not"))
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(act, writing, stdin)
    os.close(writing)
    said = _shown(reading)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Ending(128 + os.WTERMSIG(status), os.WTERMSIG(status), said)
    return Ending(os.waitstatus_to_exitcode(status), 0, said)


def _work(act: Callable[[], int], writing: int, stdin: bytes | None) -> None:
    code = 1
    try:
        os.dup2(writing, 2)
        os.close(writing)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True)
        if stdin is not None:
            sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        code = act()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _shown(reading: int) -> str:
    said = b""
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while data := pipe.read(65536):
            said += data
            sys.stderr.write(data.decode("utf-8", "replace"))
            sys.stderr.flush()
    return said.decode("utf-8", "replace")
