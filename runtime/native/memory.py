"""Memory that a process holds after a compilation, but does not need to run the program."""

from __future__ import annotations

import ctypes
import mmap
import sys
from contextlib import suppress
from functools import cache
from io import FileIO
from pathlib import Path
from typing import Final

import numpy as np

WORTH_IT: Final = 32 << 20
"""Bytes of packed weights from which on it matters what else the process holds. It takes some milliseconds."""


def give_back() -> None:
    """
    Gives the system what LLVM has freed, and the pages of its file, which are read again when they are used.

    Both are LLVM's for the most part: some 15 MB of heap, 50 MB of code and 15 MB of tables. Elsewhere than on Linux it
    does nothing.
    """
    if not sys.platform.startswith("linux"):
        return
    libc = _libc()
    with suppress(AttributeError):  # The C library of some systems has no such function.
        libc.malloc_trim(ctypes.c_size_t(0))
    with suppress(OSError):  # It is advice.
        for start, end in _pages_of_llvm():
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_DONTNEED)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _pages_of_llvm() -> list[tuple[int, int]]:
    """
    Returns where the code and the constants of LLVM are in memory.

    They are copies of a file that nobody can write and nobody has written, so they can go. Constants with relocations
    cannot: the dynamic linker has written them, so some of their pages are anonymous.
    """
    found: list[tuple[int, int]] = []
    for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[1] in ("r-xp", "r--p") and Path(fields[5]).name.startswith("libllvmlite"):
            first, _, last = fields[0].partition("-")
            found.append((int(first, 16), int(last, 16)))
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pages:
        return [place for place in found if _is_file(pages, *place)]


def _is_file(pages: FileIO, start: int, end: int) -> bool:
    """
    Returns whether all pages of a mapping are those of a file. `smaps` says so too, but takes 25 ms for all mappings.

    Each page has 8 bytes in `pages`. Bit 63 is set for one in memory, bit 62 for one that is swapped out, and bit 61
    for one of a file (Linux, Documentation/admin-guide/mm/pagemap.rst).
    """
    pages.seek(start // mmap.PAGESIZE * 8)
    size = (end - start) // mmap.PAGESIZE * 8
    entries = np.frombuffer(pages.read(size), "<u8")
    states = entries >> np.uint64(61)
    return entries.nbytes == size and not ((states >= 2) & (states % 2 == 0)).any()
