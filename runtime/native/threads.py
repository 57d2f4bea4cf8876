"""The pool of threads (`threads_text.py`) in this process, and the function through which a program uses it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache

from ..lowering.llvm.parallel import RUN_PARALLEL
from . import cache as disk
from .jit import NativeLibrary, compile_object, host_target
from .threads_text import LIMITED, MOST_THREADS, PATIENCE_OF_POOL, POOL, SERIAL, limited_text, pool_text


@dataclass(frozen=True)
class Runner:
    """What `RUN_PARALLEL` is for a program: its address, valid as long as this lives."""

    address: int
    library: NativeLibrary


def uses_threads(object_code: bytes) -> bool:
    """Whether a program has parallel loops: its code then names the function that runs them."""
    return RUN_PARALLEL.encode() in object_code


@cache
def runner(threads: int, use_cache: bool = True) -> Runner:
    """Runs parallel loops on at most `threads` threads (one pool for all programs); 1 needs and starts none."""
    if threads == 1:
        return Runner(_pool(use_cache).address(SERIAL), _pool(use_cache))
    pool = _pool(use_cache)
    code = _compiled(limited_text(min(threads, MOST_THREADS)), use_cache)
    library = NativeLibrary(code, [LIMITED], addresses={POOL: pool.address(POOL)}, kept=pool)
    return Runner(library.address(LIMITED), library)


def patience(use_cache: bool = True) -> ctypes.c_int64:
    """The `PATIENCE` of the pool, to be read and set: 0 has all jobs shared, however busy the machine is."""
    return ctypes.c_int64.from_address(_pool(use_cache).address(PATIENCE_OF_POOL))


_KEPT: list[NativeLibrary] = []
"""Workers never end, so their code must not be freed before the process does."""


def _pool(use_cache: bool) -> NativeLibrary:
    """The one pool of this process."""
    if not _KEPT:
        code = _compiled(pool_text(host_target().triple), use_cache)
        _KEPT.append(NativeLibrary(code, [POOL, SERIAL, PATIENCE_OF_POOL]))
    return _KEPT[0]


def _compiled(text: str, use_cache: bool) -> bytes:
    key = disk.code_key(text, host_target().describe())
    found = disk.load(key, disk.CALLS) if use_cache else None
    if found is not None:
        return found[1]
    code = compile_object(text, speed_level=0)
    if use_cache:
        disk.store(key, {}, code, disk.CALLS)
    return code
