"""Races: which iteration of a parallel loop has read and written which byte, and by which op."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from ...lazy_dataclass import dataclass
from ..element_types import Array
from .storage import Buffer, Storage

NOBODY = -1
SEVERAL = -2


class _Touches:
    """For each byte of a storage: the iteration that has read or written it, and the number of the op."""

    def __init__(self, size: int):
        self.reader = np.full(size, NOBODY, np.int64)
        self.writer = np.full(size, NOBODY, np.int64)
        self.reader_op = np.zeros(size, np.int64)
        self.writer_op = np.zeros(size, np.int64)


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
        number = self._numbers.setdefault(op, len(self._numbers))
        if number == len(self._ops):
            self._ops.append(op)
        if is_store:
            touches.writer[flat], touches.writer_op[flat] = self.iteration, number
        else:
            others = touches.reader[flat]
            alone = (others == NOBODY) | (others == self.iteration)
            touches.reader[flat] = np.where(alone, self.iteration, SEVERAL)
            touches.reader_op[flat] = number
        return found

    def _conflict(self, touches: _Touches, flat: Array, is_store: bool) -> Race | None:
        writers = touches.writer[flat]
        clash = (writers != NOBODY) & (writers != self.iteration)
        if clash.any():
            row, column = np.argwhere(clash)[0]
            return Race(int(row), int(writers[row, column]), self._ops[int(touches.writer_op[flat[row, column]])])
        if not is_store:
            return None
        readers = touches.reader[flat]
        clash = (readers != NOBODY) & (readers != self.iteration)
        if not clash.any():
            return None
        row, column = np.argwhere(clash)[0]
        return Race(int(row), int(readers[row, column]), self._ops[int(touches.reader_op[flat[row, column]])])
