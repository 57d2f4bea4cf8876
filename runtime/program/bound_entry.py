"""An entry of a program that is ready to be called. Calls go through here."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from ...te.dtypes import numpy_dtype
from ..errors import ArgumentError, ExecutionError, wrong_count
from .arguments import as_arrays, as_written
from .arrays import LARGE, aligned_bytes, check_input, check_output
from .description import Argument, Entry
from .fastcall import MISFIT, FastEntry, Passed, RunInto, fast_entry
from .lending import Lender
from .results import Results, results_type

if TYPE_CHECKING:
    from ..native.jit import NativeLibrary

Array = np.ndarray[Any, Any]


class Owner(Protocol):
    """What an entry needs of the program that it belongs to."""

    use_cache: bool
    library: NativeLibrary

    def weight(self, key: str) -> Array:
        """Returns the array behind a weight argument."""
        ...

    def fail(self, status: int) -> NoReturn:
        """Raises the error of the check with this number."""
        ...


class BoundEntry:
    """
    An entry ready to be called with input arrays.

    A call tries the fast way (`fastcall.py`) first. Arguments that do not fit it take the slow way through ctypes,
    which copies arrays that native code cannot read in place and names what is wrong. An entry that runs `once` is not
    worth a fast way.
    """

    def __init__(self, entry: Entry, program: Owner, once: bool = False):
        self.entry = entry
        self.program = program
        self._native = program.library.entry(entry.symbol)
        self._outputs = [(i, a) for i, a in enumerate(entry.arguments) if a.role == "output"]
        inputs = [(i, a) for i, a in enumerate(entry.arguments) if a.role == "input"]
        self._second = {i: inputs[a.place_of][0] for i, a in self._outputs if a.place_of is not None}
        """By the index of an output, that of the donated input which is the same array."""
        self._inputs = [(i, a) for i, a in inputs if i not in self._second.values()]
        self._arena = next(((i, a) for i, a in enumerate(entry.arguments) if a.role == "arena"), None)
        self._fixed: list[int | None] = [None] * len(entry.arguments)
        self._kept: list[Array] = []
        for index, argument in enumerate(entry.arguments):
            if argument.role == "weight":
                array = check_input(program.weight(argument.key), argument.type, argument.key)
                self._kept.append(array)
                self._fixed[index] = array.ctypes.data
        self._array_type = ctypes.c_void_p * len(entry.arguments)
        self._results = [(a.type.sizes, numpy_dtype(a.type.dtype)) for _, a in self._outputs]
        self._lender = Lender()
        self._sizes = [a.type.nbytes for _, a in self._outputs]
        for size in self._sizes:
            if size >= LARGE:
                self._lender.expect(size)
        self._large = any(size >= LARGE for size in self._sizes)
        self._named: Any = tuple if once else results_type(tuple(a.name for _, a in self._outputs))
        self._free_arenas: deque[int] = deque()
        self._arena_memory: list[Array] = []
        self._fast_entry = None if once else self._make_fast()
        self._fast = _never_fits if self._fast_entry is None else self._fast_entry.call

    def _make_fast(self) -> FastEntry | None:
        return fast_entry(
            self.program.library.address(self.entry.symbol),
            self._fixed,
            [Passed(index, argument.type, False) for index, argument in self._inputs]
            + [Passed(index, argument.type, True, self._second.get(index)) for index, argument in self._outputs],
            None if self._arena is None else self._arena[0],
            (self.program.library, self._kept),
            self.program.use_cache,
            [(array.ctypes.data, array.nbytes) for array in self._kept],
        )

    def native_run_into(self) -> RunInto:
        """
        Returns `run_into` as a native function that has its own arena, or the method where there can be none.

        The function keeps the entry alive, and not the other way round.
        """
        if self._fast_entry is None or self._fast_entry.takes_bits:
            return self.run_into
        memory = None
        if self._arena is not None:
            try:
                memory = aligned_bytes(self._arena[1].type.nbytes)
            except MemoryError:  # A call will report it.
                return self.run_into
        return self._fast_entry.run_into(memory, self.run_into, self.program.fail)

    def __call__(self, *arrays: Any) -> Results:
        """Returns the results for `arrays`, newly allocated."""
        return self.call(arrays)

    def call(self, arrays: Sequence[Any]) -> Results:
        """Returns the results for `arrays`, newly allocated."""
        try:
            if self._large and arrays and type(arrays[0]) is np.ndarray:
                outputs = self._named(self._placed(arrays[0]))
            else:
                outputs = self._named([np.empty(sizes, dtype) for sizes, dtype in self._results])
        except (MemoryError, ValueError):  # NumPy raises ValueError for a number of bytes beyond an i64.
            largest = max(range(len(self._sizes)), key=self._sizes.__getitem__)
            raise self._no_memory(largest) from None
        self._run(arrays, outputs)
        return outputs

    def _no_memory(self, number: int) -> ExecutionError:
        """Returns the error of a result that no memory holds."""
        sizes = "x".join(map(str, self._results[number][0]))
        return ExecutionError(
            f"no memory for result '{self._outputs[number][1].name}' of shape {sizes}", f"@{self.entry.name}"
        )

    def _placed(self, operand: Array) -> list[Array]:
        """Returns new results, with the large ones at addresses that do not look like those of `operand`."""
        address, lend = operand.ctypes.data, self._lender.lend
        return [
            lend(sizes, dtype, size, address) if size >= LARGE else np.empty(sizes, dtype)
            for size, (sizes, dtype) in zip(self._sizes, self._results, strict=True)
        ]

    def fill(self, outputs: Sequence[Array]) -> None:
        """Runs an entry without inputs. The `outputs` are ours and fit."""
        self._run((), outputs)

    def run_into(self, outputs: Sequence[Array], *arrays: Any) -> None:
        """Runs the entry and writes the results into `outputs`, which may not overlap the inputs or each other."""
        self._check_number_of(outputs)
        self._run(arrays, outputs, given=True)

    def apart(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Returns `arrays` with copies of those that a call may overwrite."""
        return arrays

    def _check_number_of(self, outputs: Any) -> None:
        if not hasattr(outputs, "__len__"):
            found = "None" if outputs is None else f"of type {type(outputs).__name__}"
            raise ArgumentError(f"the outputs are {found}, expected a list of {len(self._outputs)} numpy arrays")
        if len(outputs) != len(self._outputs):
            raise ArgumentError(
                f"'{self.entry.name}' has {len(self._outputs)} results, found {len(outputs)} output arrays"
            )

    def _run(self, arrays: Sequence[Any], outputs: Sequence[Array], given: bool = False) -> None:
        """
        Runs the entry. Outputs that are `given` are the caller's. They are checked where the fast call has not checked
        them.
        """
        if len(arrays) != len(self._inputs):
            raise self._wrong_count(arrays)
        if self._arena is None:
            status = self._fast(*arrays, *outputs)
            if status == MISFIT:
                status = self._run_otherwise(arrays, outputs, given, None)
        else:
            arena = self._take_arena(self._arena[1].type.nbytes)
            try:
                status = self._fast(*arrays, *outputs, arena)
                if status == MISFIT:
                    status = self._run_otherwise(arrays, outputs, given, arena)
            finally:
                self._free_arenas.append(arena)
        if status != 0:
            self.program.fail(status)

    def _wrong_count(self, arrays: Sequence[Any]) -> ArgumentError:
        """Returns the error for a call with too many or too few `arrays`."""
        return wrong_count(f"'{self.entry.name}'", [argument.name for _, argument in self._inputs], arrays)

    def _run_otherwise(self, arrays: Sequence[Any], outputs: Sequence[Any], given: bool, arena: int | None) -> int:
        """
        Runs arguments that did not fit the fast call, and returns the native status.

        Arrays of other libraries are read by DLPack, numbers and lists become arrays, and all these go the fast way
        again, with those of subclasses. All others go the slow way.
        """
        found = self._as_arrays(arrays)
        written = self._as_written(outputs) if given else outputs
        if found is not arrays or written is not outputs:
            status = self._fast(*found, *written, *(() if arena is None else (arena,)))
            if status != MISFIT:
                return status
        return self._run_slowly(found, written, given, arena)

    def _as_arrays(self, values: Sequence[Any]) -> Sequence[Any]:
        """Returns `values`, arrays of other libraries and plain numbers as NumPy arrays."""
        names = [argument.name for _, argument in self._inputs]
        return as_arrays(values, [argument.type for _, argument in self._inputs], names)

    def _as_written(self, outputs: Sequence[Any]) -> Sequence[Any]:
        """Returns arrays to write into, those of other libraries as NumPy arrays over the same memory."""
        return as_written(outputs, [argument.name for _, argument in self._outputs])

    def _run_slowly(self, arrays: Sequence[Any], outputs: Sequence[Array], given: bool, arena: int | None) -> int:
        """
        Runs the entry through ctypes and returns its status. Raises ArgumentError for arguments that no copy makes fit.
        """
        if given:
            self._check_outputs(outputs, arrays)
        kept = [check_input(value, a.type, a.name) for value, (_, a) in zip(arrays, self._inputs, strict=True)]
        pointers = list(self._fixed)
        for (index, _), array in zip(self._inputs, kept, strict=True):
            pointers[index] = array.ctypes.data
        for (index, _), array in zip(self._outputs, outputs, strict=True):
            pointers[index] = pointers[self._second.get(index, index)] = array.ctypes.data
        if self._arena is not None:
            pointers[self._arena[0]] = arena
        return self._native(self._array_type(*pointers))

    def _check_outputs(self, outputs: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Raises ArgumentError unless the caller's `outputs` can be written in place and lie apart from all else."""
        names = [argument.name for _, argument in self._outputs]
        for name, array in zip(names, outputs, strict=True):
            # Weights given as arrays are used in place, so a result written there would change the program.
            if isinstance(array, np.ndarray) and any(np.may_share_memory(array, kept) for kept in self._kept):
                raise ArgumentError(f"output '{name}' shares memory with a weight, expected an array of its own")
        for (index, argument), array in zip(self._outputs, outputs, strict=True):
            self._check_writable(index, argument, array)
        for i, (name, array) in enumerate(zip(names, outputs, strict=True)):
            for other in (*arrays, *outputs[:i]):
                if isinstance(other, np.ndarray) and np.may_share_memory(array, other):
                    raise ArgumentError(
                        f"output '{name}' shares memory with another argument, expected an array of its own"
                    )

    def _check_writable(self, index: int, argument: Argument, array: Any) -> None:
        """Raises ArgumentError unless native code can write the output with this index into `array` in place."""
        check_output(array, argument.type, argument.name)

    def _take_arena(self, size: int) -> int:
        """Returns the address of an arena nobody uses. `deque.pop` is atomic, so concurrent callers never share one."""
        try:
            return self._free_arenas.pop()
        except IndexError:
            pass
        try:
            memory = aligned_bytes(size)
        except MemoryError:
            message = f"no memory for {size} bytes of intermediate results"
            raise ExecutionError(message, f"@{self.entry.name}") from None
        self._arena_memory.append(memory)
        return memory.ctypes.data


def _never_fits(*_: Any) -> int:
    """Stands for the fast call of an entry that has none."""
    return MISFIT
