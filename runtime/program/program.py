"""A program in memory: machine code, its entries, its weights. Calls go through here."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np

from ...core.mapped import release
from ...core.roles import RUN_PARALLEL, prepare_key
from ...te.dtypes import numpy_dtype
from ..errors import ArgumentError, ExecutionError, wrong_count
from ..native.jit import NativeLibrary
from ..native.threads import runner, uses_threads
from .arrays import (
    LARGE,
    ArrayType,
    aligned_bytes,
    check_input,
    check_output,
    check_type,
    from_python,
)
from .description import Argument, Description, Entry
from .dlpack import as_inputs, as_outputs
from .fastcall import MISFIT, FastEntry, RunInto, fast_entry
from .lending import Lender
from .preparing import give_back_beside, room_for, run_all
from .results import results_type
from .sizes import has_readable_strides, overlaps_itself, shape_of_result, sizes_of_call

Array = np.ndarray[Any, Any]


class LinkedCode:
    """The base class for code from outside that a program is linked with. Code generators make a subclass."""

    def __init__(self) -> None:
        self.objects: list[bytes] = []
        self.addresses: dict[str, int] = {}

    def raise_failure(self, location: str) -> None:
        """Raises what this code failed with last in this thread, as an error at `location`."""


class Program:
    """Machine code with its weights bound. Every entry can be called from several threads at once."""

    def __init__(
        self,
        description: Description,
        object_code: bytes,
        weights: Mapping[str, Array],
        use_cache: bool = True,
        threads: int = 1,
        linked: LinkedCode | None = None,
        prepared: Mapping[str, Array] | None = None,
    ):
        """
        Loads the code. `prepared` holds results of all prepare functions by key, where these need not run.

        Raises LinkError for what is no code, and what prepare functions raise.
        """
        self.description = description
        self.object_code = object_code
        self.use_cache = use_cache
        symbols = [entry.symbol for entry in description.entries if not entry.code]
        self._linked = linked or LinkedCode()
        addresses, kept = self._linked.addresses, (self._linked, None)
        if uses_threads(object_code):
            kept = (self._linked, run := runner(threads, use_cache))
            addresses = addresses | {RUN_PARALLEL: run.address}
        names = dict(description.kernels)
        self.library = NativeLibrary(object_code, symbols, self._linked.objects, addresses, kept, names)
        self._weights = weights
        self._prepared: dict[str, Array] = dict(prepared or {})
        self._entries = {entry.name: entry for entry in description.entries}
        self._bound: WeakValueDictionary[str, BoundEntry] = WeakValueDictionary()
        """
        The bound entries by name. Entries hold their program, and the program holds them weakly. So weights go with the
        last user, not with the next round of the cycle collector.
        """
        if prepared is None:
            self._prepare([entry for entry in description.entries if entry.is_prepare], threads)

    @property
    def prepared(self) -> Mapping[str, Array]:
        """The results of the prepare functions, by the key of the weight that each is."""
        return self._prepared

    def _prepare(self, entries: Sequence[Entry], threads: int) -> None:
        """
        Runs the functions that pack and fold weights, on up to `threads` threads.

        Weights in mapped files give their pages back, since the packed copies take their place.
        """
        room = room_for(entries)

        def run(entry: Entry) -> None:
            BoundEntry(entry, self, once=True).fill(room[entry.name])
            self._prepared.update((prepare_key(entry.name, index), made) for index, made in enumerate(room[entry.name]))
            for argument in entry.of("weight"):
                release(self.weight(argument.key))

        run_all(entries, threads, run)

    def weight(self, key: str) -> Array:
        """Returns the array behind a weight argument: from the side-car, or the result of a prepare function."""
        return self._prepared[key] if key in self._prepared else self._weights[key]

    def entry(self, name: str) -> BoundEntry:
        """Returns the entry, ready to be called. Raises KeyError when there is none of this name."""
        bound = self._bound.get(name)
        if bound is None:
            bound = self._bound[name] = bound_entry(self._entries[name], self)
            give_back_beside(self._prepared.values())
        return bound

    def fail(self, status: int) -> NoReturn:
        """Raises the error of the check with this number, or what code from outside raised."""
        reason, location = self.description.checks[status - 1]
        self._linked.raise_failure(location)
        raise ExecutionError(reason, location)


def bound_entry(entry: Entry, program: Program) -> BoundEntry:
    """Returns the entry, ready to be called. One that takes sizes asks the arrays for them."""
    if not entry.of("size") and not entry.of("stride"):
        return BoundEntry(entry, program)
    return SizedEntry(entry, program)


class BoundEntry:
    """
    An entry ready to be called with input arrays.

    A call tries the fast way (`fastcall.py`) first. Arguments that do not fit it take the slow way through ctypes,
    which copies arrays that native code cannot read in place and names what is wrong. An entry that runs `once` is not
    worth a fast way.
    """

    def __init__(self, entry: Entry, program: Program, once: bool = False):
        self.entry = entry
        self.program = program
        self._native = program.library.entry(entry.symbol)
        self._inputs = [(i, a) for i, a in enumerate(entry.arguments) if a.role == "input"]
        self._outputs = [(i, a) for i, a in enumerate(entry.arguments) if a.role == "output"]
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
        self._named = tuple if once else results_type(tuple(a.name for _, a in self._outputs))
        self._free_arenas: deque[int] = deque()
        self._arena_memory: list[Array] = []
        self._fast_entry = None if once else self._make_fast()
        self._fast = _never_fits if self._fast_entry is None else self._fast_entry.call

    def _make_fast(self) -> FastEntry | None:
        return fast_entry(
            self.program.library.address(self.entry.symbol),
            self._fixed,
            [(index, argument.type) for index, argument in self._inputs],
            [(index, argument.type) for index, argument in self._outputs],
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

    def __call__(self, *arrays: Any) -> tuple[Array, ...]:
        """Returns the results for `arrays`, newly allocated."""
        return self.call(arrays)

    def call(self, arrays: Sequence[Any]) -> tuple[Array, ...]:
        """Returns the results for `arrays`, newly allocated."""
        if self._large and arrays and type(arrays[0]) is np.ndarray:
            outputs = self._named(self._placed(arrays[0]))
        else:
            outputs = self._named([np.empty(sizes, dtype) for sizes, dtype in self._results])
        self._run(arrays, outputs)
        return outputs

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
        if not hasattr(outputs, "__len__"):
            found = "None" if outputs is None else f"of type {type(outputs).__name__}"
            raise ArgumentError(f"the outputs are {found}, expected a list of {len(self._outputs)} numpy arrays")
        if len(outputs) != len(self._outputs):
            raise ArgumentError(
                f"'{self.entry.name}' has {len(self._outputs)} results, found {len(outputs)} output arrays"
            )
        self._run(arrays, outputs, given=True)

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

        Arrays of other libraries are read by DLPack, numbers and lists become arrays, and both go the fast way again.
        All others go the slow way.
        """
        found = self._as_arrays(arrays)
        written = as_outputs(outputs, [argument.name for _, argument in self._outputs]) if given else outputs
        if found is not arrays or written is not outputs:
            status = self._fast(*found, *written, *(() if arena is None else (arena,)))
            if status != MISFIT:
                return status
        return self._run_slowly(found, written, given, arena)

    def _as_arrays(self, values: Sequence[Any]) -> Sequence[Any]:
        """Returns `values`, arrays of other libraries and plain numbers as NumPy arrays."""
        names = [argument.name for _, argument in self._inputs]
        return from_python(as_inputs(values, names), [argument.type for _, argument in self._inputs], names)

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
            pointers[index] = array.ctypes.data
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


class SizedEntry(BoundEntry):
    """
    An entry that is compiled for all sizes: each call hands it the sizes and strides of its arrays.

    An array whose strides are handed over may have any. Others are row-major, and are copied where they are not.

    The sizes of results follow from `stepwell.dims`, or are those of the arrays given to `run_into`. Both are compared.
    """

    def __init__(self, entry: Entry, program: Program):
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

    def call(self, arrays: Sequence[Any]) -> tuple[Array, ...]:
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
