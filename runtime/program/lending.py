"""
Memory of large results that is used again, once nobody holds the array that was in it.

The C library gives large arrays back to the system, and new pages are cleared one by one when they are first written.
Twelve layers with caches of 2 MB took 9 ms for that, and 3 ms for all of their work.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from .arrays import APART, BUFFER_ALIGNMENT, PAGE

Array = np.ndarray[Any, Any]


class _Memory(Array):
    """
    Memory that is lent. It has a class of its own, since NumPy leaves out views between an array and a plain array
    whose memory it looks into.
    """


class _Lent(Array):
    """The bytes of a result. All arrays that look into them keep this object, which gives them back at its end."""

    memory: Array
    free: deque[Array] | None = None
    """Where the memory goes. Views of this object have none."""

    def __del__(self) -> None:
        if self.free is not None:
            self.free.append(self.memory)


class Lender:
    """Lends memory to the results of one entry. At most as many pieces are free as there are results of their size."""

    def __init__(self) -> None:
        self._free: dict[int, deque[Array]] = {}

    def expect(self, nbytes: int) -> None:
        """Takes note that a call has one more result of this size."""
        before = self._free.get(nbytes)
        self._free[nbytes] = deque(maxlen=1 if before is None or before.maxlen is None else before.maxlen + 1)

    def lend(self, sizes: tuple[int, ...], dtype: np.dtype[Any], nbytes: int, address: int) -> Array:
        """Returns an array, not initialised, that begins `APART` bytes behind `address`, modulo a page."""
        free = self._free[nbytes]
        try:
            memory = free.pop()
        except IndexError:
            memory = np.empty(nbytes + PAGE, dtype=np.uint8).view(_Memory)
        lent = memory.view(_Lent)
        lent.memory, lent.free = memory, free
        offset = (address // BUFFER_ALIGNMENT * BUFFER_ALIGNMENT + APART - memory.ctypes.data) % PAGE
        return np.ndarray(sizes, dtype, lent, offset)
