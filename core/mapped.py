"""
Files mapped into memory for reading, one mapping per file however many arrays are views of it.

Pages of a mapping are copies that the system keeps of the file. They cost a process nothing that it could not give
back: `release` does so.
"""

from __future__ import annotations

import mmap
import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from ..lazy_dataclass import dataclass
from .messages.forks import free_in_children

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Stamp:
    """A file as it was at some time: its path, and what changes when it is written or replaced."""

    path: Path
    device: int
    inode: int
    size: int
    modified: int
    """Nanoseconds."""


class MappedFile(mmap.mmap):
    """A whole file in memory, read-only. It stays mapped while an array is a view of it."""

    stamp: Stamp

    def bytes(self) -> np.ndarray[Any, Any]:
        """Returns the file as an array of bytes, without a copy."""
        import numpy as np

        return np.frombuffer(self, np.uint8)


class ChangedError(OSError):
    """A file that has been written or replaced since it was looked at."""


_mapped: Final[WeakValueDictionary[Stamp, MappedFile]] = WeakValueDictionary()
_LOCK = Lock()
free_in_children(sys.modules[__name__], "_LOCK")


def map_file(path: str | Path, expected: Stamp | None = None) -> MappedFile:
    """
    Returns a file mapped for reading: the mapping that there is already, or a new one.

    With `expected`, a mapping that is still there will do where the file is gone or has been replaced.

    Raises `OSError` for a file that cannot be read, `ChangedError` where it is not as `expected`, ValueError for an
    empty file.
    """
    with _LOCK:
        known = None if expected is None else _mapped.get(expected)
        try:
            with open(path, "rb") as file:
                stamp = _stamp_of(path, os.fstat(file.fileno()))
                if expected is not None and stamp != expected:
                    if known is not None and (stamp.device, stamp.inode) != (expected.device, expected.inode):
                        return known  # Another file has taken the name. What is mapped is as it was.
                    raise ChangedError(f"{path} has changed")
                found = known or _mapped.get(stamp)
                if found is None:
                    found = MappedFile(file.fileno(), 0, access=mmap.ACCESS_READ)
                    found.stamp = stamp
                    _mapped[stamp] = found
                return found
        except FileNotFoundError:
            if known is None:
                raise
            return known


def stamp_of(path: str | Path) -> Stamp | None:
    """Returns a file as it is now, or `None` where there is none."""
    try:
        return _stamp_of(path, os.stat(path))
    except (OSError, ValueError):  # a name with a NUL is a ValueError
        return None


def _stamp_of(path: str | Path, status: os.stat_result) -> Stamp:
    return Stamp(Path(path), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def place_of(array: np.ndarray[Any, Any]) -> tuple[MappedFile, int] | None:
    """Returns the mapping that an array is a view of and its first byte there, or `None` for other memory."""
    import numpy as np

    base: Any = array
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if not isinstance(base, MappedFile):
        return None
    return base, array.__array_interface__["data"][0] - base.bytes().__array_interface__["data"][0]


def release(array: np.ndarray[Any, Any]) -> None:
    """
    Gives the pages of a row-major array in a mapping back to the system, which reads them again when they are needed.

    An array in other memory stays as it is.
    """
    found = place_of(array)
    if found is None or not hasattr(mmap, "MADV_DONTNEED"):
        return
    mapping, begin = found
    start = begin // mmap.PAGESIZE * mmap.PAGESIZE
    with suppress(OSError, ValueError):  # It is advice.
        mapping.madvise(mmap.MADV_DONTNEED, start, begin + array.nbytes - start)
