"""
What runs in the workers of a cluster: a model that is loaded once per process, and calls of it on rows.

This file alone is sent to workers, so it imports nothing of the example. Workers have NumPy and Stepwell.
"""

from __future__ import annotations

import hashlib
import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import stepwell
from stepwell.runtime import Executable

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Settings:
    """What a worker has to know besides the file of the model."""

    digest: str
    """The SHA-256 of the file in hexadecimal digits."""
    chunk: int
    """The rows of a whole chunk."""
    trust_code: bool = False
    threads: int | None = 1


@dataclass(frozen=True)
class Answer:
    """What a worker says of a chunk: its results, or why there are none."""

    results: list[Array]
    error: str
    worker: str
    """The host and the number of the process."""
    loaded: bool
    """True where this process had to load the model for it."""


@dataclass
class _Loaded:
    key: tuple[Any, ...] = ()
    exe: Executable | None = None


_loaded = _Loaded()
_loading = Lock()
_measuring = Lock()


def run_chunk(source: Any, settings: Settings, arrays: Sequence[Array]) -> Answer:
    """Returns what the model makes of the rows in `arrays`. Never raises because of the model or the rows."""
    worker = f"{socket.gethostname()}:{os.getpid()}"
    loaded = False
    try:
        exe, loaded = _model(source, settings)
        results = run_rows(exe, settings.chunk, arrays)
    except Exception as error:
        # As text, since not every exception can be pickled, nor is its class known to whoever asked.
        return Answer([], reason_of(error), worker, loaded)
    return Answer(results, "", worker, loaded)


def reason_of(error: BaseException) -> str:
    """Returns the first line of what an exception says, after the name of its class."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function that measures time, one at a time in this process."""
    with _measuring:
        return function(*arguments)


def rows_per_call(exe: Executable) -> int | None:
    """
    Returns the rows that a call of the model has, None for any number.

    Raises ValueError where not all inputs and outputs have the same rows as their first dimension.
    """
    inputs, outputs = (
        [(f"{kind} '{name}'", type_) for name, type_ in types if type_ is not None]
        for kind, types in (("input", exe.input_types), ("result", exe.output_types))
    )
    for name, type_ in inputs + outputs:
        if not type_.shape:
            raise ValueError(f"{name} of the model is {type_}, which has no rows")
    if not inputs:
        raise ValueError("the model has no inputs")
    rows = inputs[0][1].shape[0]
    for name, type_ in inputs + outputs:
        if type_.shape[0] != rows:
            raise ValueError(f"{name} of the model is {type_}, and {inputs[0][0]} is {inputs[0][1]}: rows differ")
    return rows


def run_rows(exe: Executable, chunk: int, arrays: Sequence[Array]) -> list[Array]:
    """
    Returns the results of calls that all have the same number of rows.

    The last row is repeated for missing ones, so that nothing is compiled for the last chunk alone.
    """
    step, count = rows_per_call(exe) or chunk, len(arrays[0])
    parts: list[Sequence[Array]] = []
    for start in range(0, count, step):
        found = exe(*(_padded(array[start : start + step], step) for array in arrays))
        for (name, _), result in zip(exe.output_types, found, strict=True):
            if result.shape[:1] != (step,):
                raise ValueError(f"result '{name}' has shape {result.shape}, expected {step} rows")
        parts.append(found)
    return [np.concatenate(each)[:count] for each in zip(*parts, strict=True)]


def _padded(array: Array, rows: int) -> Array:
    if len(array) == rows:
        return array
    return np.concatenate([array, np.repeat(array[-1:], rows - len(array), axis=0)])


def _model(source: Any, settings: Settings) -> tuple[Executable, bool]:
    """Returns the model, and whether it was loaded just now. A process keeps one model."""
    key = (settings.digest, settings.trust_code, settings.threads)
    with _loading:
        if _loaded.exe is not None and _loaded.key == key:
            return _loaded.exe, False
        with _file_of(source) as path:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != settings.digest:
                raise ValueError(f"the model that came here has hash {found}, expected {settings.digest}")
            exe = stepwell.load(path, trust_code=settings.trust_code, threads=settings.threads)
        _loaded.key, _loaded.exe = key, exe
        return exe, True


def forget(name: str, dask_worker: Any) -> None:
    """Removes a file that Dask has put here, and lets go of the model. What still runs keeps both until it ends."""
    _loaded.exe = None
    (Path(dask_worker.local_directory) / name).unlink(missing_ok=True)


@contextmanager
def _file_of(source: Any) -> Iterator[Path]:
    """Gives the file of a model that came as an array of bytes, or as the name of a file that Dask has put here."""
    if isinstance(source, str):
        from distributed import get_worker

        yield Path(get_worker().local_directory) / source
        return
    # Removed at once: what is mapped stays, and nothing is left behind by a worker that is killed.
    with tempfile.TemporaryDirectory(prefix="stepwell-") as folder:
        path = Path(folder) / "model.stepwell"
        source.tofile(path)
        yield path
