"""Races: which iteration of a parallel loop has read and written which byte, and by which op."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from ...lazy_dataclass import dataclass
from ..element_types import Array
from .storage import Buffer, Storage

NOBODY = 0
SEVERAL = -1


class _Touches:
    """
    For each byte of a storage: the iteration that has read or written it, from 1, and the number of the op.

    Zeros take no memory until one of them is changed, and most bytes of large weights are not touched.
    """

    def __init__(self, size: int):
        self.reader = np.zeros(size, np.int32)
        self.writer = np.zeros(size, np.int32)
        self.reader_op = np.zeros(size, np.int32)
        self.writer_op = np.zeros(size, np.int32)


@dataclass(frozen=True)
class Race:
    """Two accesses of one element. `position` is the number of the element among those of the access."""

    position: int
    iteration: int
    other: Operation


class ParallelLoop:
    """One execution of a parallel loop."""

    def __init__(self, op: Operation):
        self.op = op
        self.iteration = 0
        self.began = 0
        """The time at which the iteration began."""
        self._touches: dict[Storage, _Touches] = {}
        self._ops: list[Operation] = []
        self._numbers: dict[Operation, int] = {}

    def access(self, op: Operation, buffer: Buffer, places: Array, is_store: bool) -> Race | None:
        """
        Notes an access of elements of a buffer by the current iteration.

        Returns the race with an access of another iteration, or None where there is none.
        """
        storage = buffer.storage
        if storage.birth > self.began or not places.size:
            return None
        touches = self._touches.get(storage)
        if touches is None:
            touches = self._touches[storage] = _Touches(len(storage.data))
        flat = buffer.base + places.reshape(-1, 1) * buffer.itemsize + np.arange(buffer.itemsize)
        found = self._conflict(touches, flat, is_store)
        number, own = self._numbers.setdefault(op, len(self._numbers)), self.iteration + 1
        if number == len(self._ops):
            self._ops.append(op)
        if is_store:
            touches.writer[flat], touches.writer_op[flat] = own, number
        else:
            others = touches.reader[flat]
            alone = (others == NOBODY) | (others == own)
            touches.reader[flat] = np.where(alone, own, SEVERAL)
            touches.reader_op[flat] = number
        return found

    def _conflict(self, touches: _Touches, flat: Array, is_store: bool) -> Race | None:
        own = self.iteration + 1
        writers = touches.writer[flat]
        clash = (writers != NOBODY) & (writers != own)
        if clash.any():
            row, column = np.argwhere(clash)[0]
            return Race(int(row), int(writers[row, column]) - 1, self._ops[int(touches.writer_op[flat[row, column]])])
        if not is_store:
            return None
        readers = touches.reader[flat]
        clash = (readers != NOBODY) & (readers != own)
        if not clash.any():
            return None
        row, column = np.argwhere(clash)[0]
        return Race(int(row), int(readers[row, column]) - 1, self._ops[int(touches.reader_op[flat[row, column]])])
