"""An entry whose caller gives arrays away, so that results take their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, wrong_count
from .arguments import as_arrays
from .arrays import LARGE, check_type
from .bound_entry import Array, BoundEntry, Owner
from .description import Argument, Entry
from .fastcall import RunInto
from .results import Results


class DonatingEntry(BoundEntry):
    """
    An entry with donated inputs. Native code finds each of them in the output that takes its place.

    An array that cannot be written in place, or that shares memory with another argument, is copied first.
    """

    def __init__(self, entry: Entry, program: Owner):
        super().__init__(entry, program)
        self._given = entry.of("input")
        self._places = [argument.place_of for _, argument in self._outputs]
        """By the number of an output, that of the input in whose place it lies."""
        self._donated = {place for place in self._places if place is not None}

    def native_run_into(self) -> RunInto:
        return self.run_into

    def call(self, arrays: Sequence[Any]) -> Results:
        """Returns the results. Those in the places of donated arrays are these arrays, unless they were copied."""
        arrays = self._all_as_arrays(arrays)
        outputs = [self._result(number, place, arrays) for number, place in enumerate(self._places)]
        self._run(self._others(arrays), outputs)
        return self._named(outputs)

    def run_into(self, outputs: Sequence[Array], *arrays: Any) -> None:
        """
        Runs the entry and writes the results into `outputs`, to which donated inputs are copied. These are kept, unless
        they are the outputs.
        """
        self._check_number_of(outputs)
        arrays = tuple(self._all_as_arrays(arrays))
        outputs = self._as_written(outputs)
        self._check_outputs(outputs, self._others(arrays))
        self._check_crossed(outputs, arrays)
        for output, place in zip(outputs, self._places, strict=True):
            if place is not None and arrays[place] is not output:
                check_type(arrays[place], self._given[place].type, self._given[place].name)
                np.copyto(output, arrays[place])
        self._run(self._others(arrays), outputs, given=True)

    def _check_crossed(self, outputs: Sequence[Array], arrays: Sequence[Any]) -> None:
        """Raises ArgumentError for an output in which a donated input lies that another output is to begin with."""
        for number, output in enumerate(outputs):
            for place in self._donated - {self._places[number]}:
                if isinstance(arrays[place], np.ndarray) and np.may_share_memory(output, arrays[place]):
                    name = self._outputs[number][1].name
                    expected = "expected an array of its own"
                    raise ArgumentError(f"output '{name}' shares memory with another argument, {expected}")

    def apart(self, arrays: Sequence[Any]) -> Sequence[Any]:
        return [
            np.array(value) if number in self._donated else value
            for number, value in enumerate(self._all_as_arrays(arrays))
        ]

    def _all_as_arrays(self, values: Sequence[Any]) -> Sequence[Any]:
        names = [each.name for each in self._given]
        if len(values) != len(names):
            raise wrong_count(f"'{self.entry.name}'", names, values)
        return as_arrays(values, [each.type for each in self._given], names)

    def _others(self, arrays: Sequence[Any]) -> list[Any]:
        return [value for number, value in enumerate(arrays) if number not in self._donated]

    def _result(self, number: int, place: int | None, arrays: Sequence[Any]) -> Array:
        """Returns the array of a result: that of a donated input where it may be written, else a new one."""
        if place is not None:
            return _writable(arrays[place], self._given[place])
        (sizes, dtype), size = self._results[number], self._sizes[number]
        try:
            if size >= LARGE and isinstance(arrays[0], np.ndarray):
                return self._lender.lend(sizes, dtype, size, arrays[0].ctypes.data)
            return np.empty(sizes, dtype)
        except (MemoryError, ValueError):
            raise self._no_memory(number) from None

    def _run_slowly(self, arrays: Sequence[Any], outputs: Sequence[Array], given: bool, arena: int | None) -> int:
        """Copies donated arrays that share memory with another argument, and runs the entry."""
        assert isinstance(outputs, list) or given
        for number, place in enumerate(self._places):
            if place is not None and not given:
                others = (*arrays, *outputs[:number], *outputs[number + 1 :], *self._kept)
                if any(isinstance(each, np.ndarray) and np.may_share_memory(outputs[number], each) for each in others):
                    outputs[number] = outputs[number].copy()  # pyright: ignore[reportIndexIssue]
        return super()._run_slowly(arrays, outputs, given, arena)


def _writable(value: Any, argument: Argument) -> Array:
    """Returns an array that native code can write in place: the value itself, or a copy of it."""
    check_type(value, argument.type, argument.name)
    flags = value.flags
    return value if flags.c_contiguous and flags.aligned and flags.writeable else np.array(value, order="C", copy=True)
