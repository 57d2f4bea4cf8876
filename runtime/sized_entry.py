"""Entries that are compiled for all sizes: they are handed the sizes and strides of arrays with each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import check_output, check_type, numpy_dtype
from .errors import ArgumentError
from .fastcall import RunInto
from .program import Argument, BoundEntry

if TYPE_CHECKING:
    from .program import Entry, Program

    Array = np.ndarray[Any, Any]


class SizedEntry(BoundEntry):
    """
    Such an entry. An array whose strides are handed over may have any; others are row-major, and copied where they are not.

    The sizes of results must follow from names of dimensions (`stepwell.dims`), or be those of the arrays given to `run_into`.
    """

    def __init__(self, entry: Entry, program: Program):
        super().__init__(entry, program)
        self._strided = {
            index: {int(a.key) for a in self._numbers(index) if a.role == "stride"}
            for index, _ in (*self._inputs, *self._outputs)
        }

    def _numbers(self, index: int) -> list[Argument]:
        """The sizes and strides that come after the array with this index."""
        found: list[Argument] = []
        for argument in self.entry.arguments[index + 1 :]:
            if argument.role not in ("size", "stride"):
                break
            found.append(argument)
        return found

    def native_run_into(self) -> RunInto:
        return self.run_into

    def call(self, arrays: Sequence[Any]) -> tuple[Array, ...]:
        sizes = self._named_sizes(arrays)
        outputs = tuple(
            np.empty(self._shape(argument, sizes), numpy_dtype(argument.type.dtype)) for _, argument in self._outputs
        )
        self._run(arrays, outputs)
        return outputs

    def _named_sizes(self, arrays: Sequence[Any]) -> dict[str, int]:
        """Size by name of dimension. Raises ArgumentError where one name has two sizes."""
        found: dict[str, tuple[int, str]] = {}
        for array, (_, argument) in zip(arrays, (*self._inputs, *self._outputs), strict=False):
            for name, size in zip(argument.key.split(","), np.shape(array), strict=False):
                first, owner = found.setdefault(name, (size, argument.name)) if name else (size, "")
                if first != size:
                    raise ArgumentError(f"dimension '{name}' is {first} in '{owner}' and {size} in '{argument.name}'")
        return {name: size for name, (size, _) in found.items()}

    def _shape(self, output: Argument, sizes: dict[str, int]) -> tuple[int, ...]:
        names = output.key.split(",") if output.key else [""] * len(output.type.shape)
        known = [sizes.get(name) if dim is None else dim for name, dim in zip(names, output.type.shape, strict=True)]
        if None in known:
            raise ArgumentError(
                f"the size of result '{output.name}' ({output.type}) does not follow from names of dimensions; "
                "give arrays for the results to run_into, or name the dimensions with stepwell.dims"
            )
        return tuple(size or 0 for size in known)

    def _run(self, arrays: Sequence[Any], outputs: Sequence[Array], given: bool = False) -> None:
        if len(arrays) != len(self._inputs):
            names = ", ".join(f"'{argument.name}'" for _, argument in self._inputs)
            raise ArgumentError(
                f"'{self.entry.name}' takes {len(self._inputs)} arguments ({names}), found {len(arrays)}"
            )
        self._named_sizes((*arrays, *outputs))
        status = self._run_slowly(arrays, outputs, given, None)
        if status != 0:
            self.program.fail(status)

    def _run_slowly(self, arrays: Sequence[Any], outputs: Sequence[Any], given: bool, arena: int | None) -> int:
        if given:
            self._check_weights_stay(outputs)
            self._check_given(outputs, arrays)
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
        """The array as native code reads it: with its strides where those are handed over, else row-major."""
        check_type(value, argument.type, argument.name)
        array = np.asarray(value)
        fits = all(stride % array.itemsize == 0 for stride in array.strides) and array.flags.aligned
        return array if self._strided[index] and fits else np.ascontiguousarray(array).reshape(array.shape)

    def _check_given(self, outputs: Sequence[Any], arrays: Sequence[Any]) -> None:
        for i, ((index, argument), array) in enumerate(zip(self._outputs, outputs, strict=True)):
            check_type(array, argument.type, argument.name)
            if not self._strided[index]:
                check_output(array, type(argument.type)(argument.type.dtype, array.shape), argument.name)
            elif not array.flags.writeable or not array.flags.aligned:
                raise ArgumentError(f"output '{argument.name}' cannot be written in place")
            for other in (*arrays, *outputs[:i]):
                if isinstance(other, np.ndarray) and np.may_share_memory(array, other):
                    raise ArgumentError(
                        f"output '{argument.name}' shares memory with another argument, expected an array of its own"
                    )
