"""
The process in which candidates run. It may crash or hang without harm to anybody else.

It is run by its path, so it imports the package inside functions. It reads pickles from standard input: the search path
and the folder of the package, the function that measures, then pairs of a job and its most seconds. It writes 8 zero
bytes when it is ready, then the outcome of each job, after its length in 8 bytes. It ends when its input ends. A signal
of the system ends a job that takes too long, even when nobody waits for it any more.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from math import ceil
from pathlib import Path
from typing import IO, Any

GRACE = 5
"""The seconds after its most until the system ends a job."""


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Measures job after job until `source` ends."""
    from .job import Outcome

    measure = pickle.load(source)
    sink.write(bytes(8))
    sink.flush()
    while True:
        try:
            job, seconds = pickle.load(source)
        except EOFError:
            return
        if hasattr(signal, "alarm"):
            signal.alarm(ceil(seconds) + GRACE)
        try:
            outcome = measure(job)
        except Exception as error:
            outcome = Outcome("failed", detail=f"{type(error).__name__}: {error}")
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        data = pickle.dumps(outcome)
        sink.write(len(data).to_bytes(8, "little") + data)
        sink.flush()


def _start(source: IO[bytes]) -> Any:
    """Returns this module as part of the package, as the parent process has it."""
    path, root, name = pickle.load(source)
    sys.path[:] = path
    spec = spec_from_file_location("stepwell", Path(root) / "__init__.py", submodule_search_locations=[str(root)])
    assert spec is not None and spec.loader is not None
    sys.modules["stepwell"] = package = module_from_spec(spec)
    spec.loader.exec_module(package)
    return import_module(name)


if __name__ == "__main__":
    # Output of a candidate or a plug-in must not be taken for an outcome.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _start(sys.stdin.buffer).serve(sys.stdin.buffer, answers)
