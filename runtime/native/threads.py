"""The pool of threads (`threads_text.py`) in this process, and the function through which a program uses it."""

from __future__ import annotations

import ctypes
import os
from functools import cache

from ...core.roles import RUN_PARALLEL
from ...lazy_dataclass import dataclass
from ..errors import CompileError
from .jit import NativeLibrary, host_code_target
from .threads_text import (
    DEBT_OF_POOL,
    LIMIT,
    LIMITED,
    LIMITED_TEXT,
    MOST_THREADS,
    PATIENCE_OF_POOL,
    POOL,
    SERIAL,
    pool_text,
)


def usable_cpus() -> int:
    """Returns the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count(threads: int | None) -> int:
    """Returns the number of threads that a program may use. Raises CompileError for less than one."""
    chosen = os.environ.get("STEPWELL_THREADS") if threads is None else threads
    if chosen is None:
        return usable_cpus()
    if not str(chosen).isdecimal() or int(chosen) < 1:
        what = "the number of threads" if threads is not None else "STEPWELL_THREADS"
        raise CompileError(f"{what} is {chosen!r}, expected at least 1")
    return int(chosen)


@dataclass(frozen=True)
class Runner:
    """The function that is `RUN_PARALLEL` for a program. Its address is valid as long as this lives."""

    address: int
    library: NativeLibrary


def uses_threads(object_code: bytes) -> bool:
    """Returns whether a program has parallel loops. Its code then names the function that runs them."""
    return RUN_PARALLEL.encode() in object_code


@cache
def runner(threads: int, use_cache: bool = True) -> Runner:
    """Returns what runs parallel loops on at most `threads` threads of the one pool. For 1 it starts no thread."""
    if threads == 1:
        return Runner(_pool(use_cache).address(SERIAL), _pool(use_cache))
    pool = _pool(use_cache)
    library = NativeLibrary.kept(LIMITED_TEXT, [LIMITED, LIMIT], use_cache, {POOL: pool.address(POOL)}, pool)
    ctypes.c_int32.from_address(library.address(LIMIT)).value = min(threads, MOST_THREADS)
    return Runner(library.address(LIMITED), library)


def texts_of_runner() -> tuple[str, str]:
    """Returns the LLVM texts that `runner` compiles."""
    return pool_text(host_code_target()), LIMITED_TEXT


def patience(use_cache: bool = True) -> ctypes.c_int64:
    """Returns the `PATIENCE` of the pool, to be read and set. At 0 all jobs are shared, however busy the machine is."""
    return ctypes.c_int64.from_address(_pool(use_cache).address(PATIENCE_OF_POOL))


def debt(use_cache: bool = True) -> ctypes.c_int64:
    """Returns the time, in nanoseconds, that the pool lost and has not made up for, at most `BUDGET`."""
    return ctypes.c_int64.from_address(_pool(use_cache).address(DEBT_OF_POOL))


_KEPT: list[NativeLibrary] = []
"""The libraries that are kept. Workers never end, so their code must not be freed before the process ends."""


def _pool(use_cache: bool) -> NativeLibrary:
    """Returns the one pool of this process, which is made when first wanted."""
    if not _KEPT:
        text = pool_text(host_code_target())
        _KEPT.append(NativeLibrary.kept(text, [POOL, SERIAL, PATIENCE_OF_POOL, DEBT_OF_POOL], use_cache))
    return _KEPT[0]
