"""
A worker process as its parent sees it. It is asked one thing at a time, with a time limit, and may crash or hang
without harm.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parent.parent

THREAD_VARIABLES = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB")


def thread_variables(threads: int) -> dict[str, str]:
    """What tells an engine and the libraries it uses how many threads to take."""
    return {f"{name}_NUM_THREADS": str(threads) for name in THREAD_VARIABLES} | {"STEPWELL_THREADS": str(threads)}


KEPT_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
    "MALLOC_TOP_PAD_": str(1 << 26),
}
"""For glibc: freed memory stays in the process, so that no engine pays for page faults of new results in every call."""

START_LIMIT = 120.0
"""Seconds an engine may take to be imported."""


class EngineLost(Exception):
    """The process ended, or did not answer in time."""


class EngineMissing(Exception):
    """Raised when what the engine needs is not installed."""


class EngineProcess:
    """One engine, started on first use, and again after it was lost."""

    def __init__(self, name: str, cpu: int | None, threads: int = 1):
        self.name = name
        self.cpu = cpu
        self.threads = threads
        self.process: subprocess.Popen[bytes] | None = None
        self.buffer = b""
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()

    def start(self) -> None:
        """Raises EngineMissing, EngineLost."""
        path = os.pathsep.join(filter(None, [str(BENCH), os.environ.get("PYTHONPATH")]))
        environment = os.environ | thread_variables(self.threads) | KEPT_MEMORY | {"PYTHONPATH": path}
        self.buffer = b""
        pinned = [] if self.cpu is None else [str(self.cpu)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "suite.worker", self.name, *pinned],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
        )
        answer = self._read(START_LIMIT)
        if "missing" in answer:
            raise EngineMissing(answer["missing"])

    def ask(self, request: dict[str, Any], limit: float) -> dict[str, Any]:
        """
        Returns the answer. Raises EngineLost after a crash or `limit` seconds. The next question starts the engine
        again.
        """
        if self.process is None:
            self.start()
        assert self.process is not None and self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self._lose()
        return self._read(limit)

    def _read(self, limit: float) -> dict[str, Any]:
        """One line of JSON from the process."""
        assert self.process is not None and self.process.stdout is not None
        until = time.monotonic() + limit
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.buffer:
                if not selector.select(max(until - time.monotonic(), 0)):
                    self._lose(f"no answer within {limit:.0f} s")
                data = os.read(self.process.stdout.fileno(), 1 << 16)
                if not data:
                    self._lose()
                self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def _lose(self, why: str | None = None) -> None:
        """Ends the process. Raises EngineLost."""
        assert self.process is not None
        if why is not None:
            self.process.kill()
        code = self.process.wait()
        self._close()
        raise EngineLost(why or f"the process ended with code {code}{self._last_error()}")

    def _last_error(self) -> str:
        """The last line that the process wrote to standard error, after a colon."""
        end = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, end - 2000))
        lines = self.errors.read().decode(errors="replace").split("\n")
        said = [line for line in lines if line.strip()]
        return f": {said[-1][:200]}" if said else ""

    def _close(self) -> None:
        if self.process is not None:
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None:
                    stream.close()
        self.process = None

    def stop(self) -> None:
        """Ends the process, if it runs."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self._close()
        self.errors.close()
