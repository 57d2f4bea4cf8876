"""An entry that is compiled for all sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...te.dtypes import numpy_dtype
from ..errors import ArgumentError, ExecutionError
from .arrays import ArrayType, check_output, check_type
from .bound_entry import Array, BoundEntry, Owner
from .description import Argument, Entry
from .fastcall import RunInto
from .results import Results
from .sizes import has_readable_strides, overlaps_itself, shape_of_result, sizes_of_call


class SizedEntry(BoundEntry):
    """
    An entry that is compiled for all sizes: each call hands it the sizes and strides of its arrays.

    An array whose strides are handed over may have any. Others are row-major, and are copied where they are not.

    The sizes of results follow from `stepwell.dims`, or are those of the arrays given to `run_into`. Both are compared.
    """

    def __init__(self, entry: Entry, program: Owner):
        super().__init__(entry, program)
        self._strided = {
            index: {int(a.key) for a in self._numbers(index) if a.role == "stride"}
            for index, _ in (*self._inputs, *self._outputs)
        }

    def _numbers(self, index: int) -> list[Argument]:
        """Returns the sizes and strides that come after the array with this index."""
        found: list[Argument] = []
        for argument in self.entry.arguments[index + 1 :]:
            if argument.role not in ("size", "stride"):
                break
            found.append(argument)
        return found

    def native_run_into(self) -> RunInto:
        return self.run_into

    def call(self, arrays: Sequence[Any]) -> Results:
        arrays = self._as_arrays(arrays)
        sizes = sizes_of_call([argument for _, argument in self._inputs], arrays)
        outputs = self._named(self._allocated(each, shape_of_result(each, sizes)) for _, each in self._outputs)
        self._run(arrays, outputs)
        return outputs

    def _allocated(self, output: Argument, shape: tuple[int, ...]) -> Array:
        """Returns a new array for a result. Raises ExecutionError where there is no memory for it."""
        try:
            return np.empty(shape, numpy_dtype(output.type.dtype))
        except (MemoryError, ValueError):  # NumPy raises ValueError for a number of bytes beyond an i64.
            sizes = "x".join(map(str, shape))
            raise ExecutionError(
                f"no memory for result '{output.name}' of shape {sizes}", f"@{self.entry.name}"
            ) from None

    def _run(self, arrays: Sequence[Any], outputs: Sequence[Array], given: bool = False) -> None:
        if len(arrays) != len(self._inputs):
            raise self._wrong_count(arrays)
        arrays = self._as_arrays(arrays)
        outputs = self._as_written(outputs) if given else outputs
        sizes_of_call([argument for _, argument in (*self._inputs, *self._outputs)], (*arrays, *outputs))
        status = self._run_slowly(arrays, outputs, given, None)
        if status != 0:
            self.program.fail(status)

    def _run_slowly(self, arrays: Sequence[Any], outputs: Sequence[Any], given: bool, arena: int | None) -> int:
        if given:
            self._check_outputs(outputs, arrays)
        words = list(self._fixed)
        kept: list[Any] = []
        for (index, argument), value in (
            *zip(self._inputs, arrays, strict=True),
            *zip(self._outputs, outputs, strict=True),
        ):
            array = self._readable(index, argument, value)
            kept.append(array)
            words[index] = array.ctypes.data
            for place, number in enumerate(self._numbers(index), index + 1):
                axis = int(number.key)
                words[place] = array.shape[axis] if number.role == "size" else array.strides[axis] // array.itemsize
        return self._native(self._array_type(*[None if word is None else word % 2**64 for word in words]))

    def _readable(self, index: int, argument: Argument, value: Any) -> Array:
        """Returns the array as native code reads it: with its strides where those are handed over, else row-major."""
        check_type(value, argument.type, argument.name)
        array = np.asarray(value)
        fits = self._strided[index] and has_readable_strides(array, self._strided[index])
        return array if fits else np.ascontiguousarray(array).reshape(array.shape)

    def _check_writable(self, index: int, argument: Argument, array: Any) -> None:
        check_type(array, argument.type, argument.name)
        if not self._strided[index]:
            check_output(array, ArrayType(argument.type.dtype, array.shape), argument.name)
        elif not array.flags.writeable or not has_readable_strides(array, self._strided[index]):
            raise ArgumentError(f"output '{argument.name}' cannot be written in place")
        elif overlaps_itself(array):
            raise ArgumentError(
                f"output '{argument.name}' has elements that share memory, expected an array of its own"
            )
