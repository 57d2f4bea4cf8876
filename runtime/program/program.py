"""
A program in memory: machine code, its entries, its weights. Calls go through here.

`Description` is all that native code does not say about itself; it is plain data, so that the compile cache can keep it.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np

from ..core.roles import ENTRY_PREFIX
from .arrays import ArrayType, aligned_bytes, allocate_together, check_input, check_output, numpy_dtype
from .dlpack import as_inputs, as_outputs
from .errors import ArgumentError, ExecutionError
from .external import External, LinkedExternals, raise_failure
from .fastcall import MISFIT, FastEntry, RunInto, fast_entry
from .jit import NativeLibrary
from .threads import RUN_PARALLEL, runner, uses_threads


@dataclass(frozen=True)
class Argument:
    """One pointer that native code wants: what for (`role`), and the array behind it."""

    role: str
    name: str
    type: ArrayType
    key: str = ""


@dataclass(frozen=True)
class Entry:
    """A function that can be called: its arguments in the order of the IR."""

    name: str
    arguments: tuple[Argument, ...]
    is_prepare: bool = False
    code: str = ""
    """The function whose machine code this one is too, with other weights; its own when empty."""

    @property
    def symbol(self) -> str:
        """The name of its machine code."""
        return ENTRY_PREFIX + (self.code or self.name)

    def of(self, role: str) -> list[Argument]:
        return [argument for argument in self.arguments if argument.role == role]


@dataclass(frozen=True)
class Description:
    """The entries of a program, the checks that may fail (message, location), and what it calls from outside."""

    entries: tuple[Entry, ...]
    checks: tuple[tuple[str, str], ...]
    externals: tuple[External, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What `dataclasses.asdict` gives, in a tenth of its time: a net has an argument per weight, and again for packing it."""
        entries = tuple(
            {
                **vars(entry),
                "arguments": tuple({**vars(a), "type": dict(vars(a.type))} for a in entry.arguments),
            }
            for entry in self.entries
        )
        externals = tuple(dict(vars(external)) for external in self.externals)
        return {"entries": entries, "checks": self.checks, "externals": externals}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Description:
        def argument(item: dict[str, Any]) -> Argument:
            type_ = ArrayType(item["type"]["dtype"], tuple(item["type"]["shape"]))
            return Argument(item["role"], item["name"], type_, item["key"])

        entries = tuple(
            Entry(item["name"], tuple(map(argument, item["arguments"])), item["is_prepare"], item["code"])
            for item in data["entries"]
        )
        checks = tuple((message, location) for message, location in data["checks"])
        return Description(entries, checks, tuple(External(**item) for item in data["externals"]))


class Program:
    """Machine code with its weights bound; every entry can be called from several threads at once."""

    def __init__(
        self,
        description: Description,
        object_code: bytes,
        weights: Mapping[str, np.ndarray[Any, Any]],
        use_cache: bool = True,
        threads: int = 1,
    ):
        self.description = description
        self.object_code = object_code
        self.use_cache = use_cache
        symbols = [entry.symbol for entry in description.entries if not entry.code]
        self.externals = LinkedExternals(description.externals, use_cache)
        addresses, kept = self.externals.addresses, (self.externals, None)
        if uses_threads(object_code):
            kept = (self.externals, run := runner(threads, use_cache))
            addresses = addresses | {RUN_PARALLEL: run.address}
        self.library = NativeLibrary(object_code, symbols, self.externals.objects, addresses, kept)
        self._weights = weights
        self._prepared: dict[str, np.ndarray[Any, Any]] = {}
        self._entries = {entry.name: entry for entry in description.entries}
        self._bound: WeakValueDictionary[str, BoundEntry] = WeakValueDictionary()
        """Entries hold their program. The other way round is weak, so that weights go with the last user, not with the next round of
        the cycle collector."""
        self._prepare([entry for entry in description.entries if entry.is_prepare])

    def _prepare(self, entries: Sequence[Entry]) -> None:
        """Runs the functions that pack and fold weights. Their results lie side by side: together they get large pages."""
        results = iter(allocate_together([a.type for entry in entries for a in entry.of("output")]))
        for entry in entries:
            outputs = [next(results) for _ in entry.of("output")]
            BoundEntry(entry, self, once=True).fill(outputs)
            self._prepared |= {f"@{entry.name}#{index}": result for index, result in enumerate(outputs)}

    def weight(self, key: str) -> np.ndarray[Any, Any]:
        """The array behind a weight argument: from the side-car, or the result of a prepare function."""
        return self._prepared[key] if key in self._prepared else self._weights[key]

    def entry(self, name: str) -> BoundEntry:
        """The entry, ready to be called. Raises KeyError when there is none of this name."""
        bound = self._bound.get(name)
        if bound is None:
            bound = self._bound[name] = bound_entry(self._entries[name], self)
        return bound

    def fail(self, status: int) -> NoReturn:
        """Raises the error of the check with this number, or what code from outside raised."""
        failure = self.externals.take_failure()
        if failure is not None:
            raise_failure(*failure, self.description.checks[status - 1][1])
        raise ExecutionError(*self.description.checks[status - 1])


def bound_entry(entry: Entry, program: Program) -> BoundEntry:
    """The entry ready to be called: one that takes sizes asks the arrays for them."""
    if not entry.of("size") and not entry.of("stride"):
        return BoundEntry(entry, program)
    from .sized_entry import SizedEntry

    return SizedEntry(entry, program)


class BoundEntry:
    """
    An entry ready to be called with input arrays.

    A call tries the fast way (`fastcall.py`) first. Arguments that do not fit it take the slow one through ctypes, which copies
    what native code cannot read in place and names what is wrong. An entry that runs `once` is not worth a fast way.
    """

    def __init__(self, entry: Entry, program: Program, once: bool = False):
        self.entry = entry
        self.program = program
        self._native = program.library.entry(entry.symbol)
        self._inputs = [(i, a) for i, a in enumerate(entry.arguments) if a.role == "input"]
        self._outputs = [(i, a) for i, a in enumerate(entry.arguments) if a.role == "output"]
        self._arena = next(((i, a) for i, a in enumerate(entry.arguments) if a.role == "arena"), None)
        self._fixed: list[int | None] = [None] * len(entry.arguments)
        self._kept: list[np.ndarray[Any, Any]] = []
        for index, argument in enumerate(entry.arguments):
            if argument.role == "weight":
                array = check_input(program.weight(argument.key), argument.type, argument.key)
                self._kept.append(array)
                self._fixed[index] = array.ctypes.data
        self._array_type = ctypes.c_void_p * len(entry.arguments)
        self._results = [(a.type.sizes, numpy_dtype(a.type.dtype)) for _, a in self._outputs]
        self._free_arenas: deque[int] = deque()
        self._arena_memory: list[np.ndarray[Any, Any]] = []
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
        `run_into` as a function of its own, which runs in an arena of its own; this method where there can be none.

        It keeps the entry alive and not the other way round.
        """
        if self._fast_entry is None:
            return self.run_into
        memory = None
        if self._arena is not None:
            try:
                memory = aligned_bytes(self._arena[1].type.nbytes)
            except MemoryError:  # a call will say so
                return self.run_into
        return self._fast_entry.run_into(memory, self.run_into, self.program.fail)

    def __call__(self, *arrays: Any) -> tuple[np.ndarray[Any, Any], ...]:
        """The results for `arrays`, newly allocated."""
        return self.call(arrays)

    def call(self, arrays: Sequence[Any]) -> tuple[np.ndarray[Any, Any], ...]:
        """The results for `arrays`, newly allocated."""
        outputs = tuple([np.empty(sizes, dtype) for sizes, dtype in self._results])
        self._run(arrays, outputs)
        return outputs

    def fill(self, outputs: Sequence[np.ndarray[Any, Any]]) -> None:
        """Runs an entry without inputs; `outputs` are ours and fit."""
        self._run((), outputs)

    def run_into(self, outputs: Sequence[np.ndarray[Any, Any]], *arrays: Any) -> None:
        """Like a call, but the results are written into `outputs`, which may not overlap the inputs or each other."""
        if len(outputs) != len(self._outputs):
            raise ArgumentError(
                f"'{self.entry.name}' has {len(self._outputs)} results, found {len(outputs)} output arrays"
            )
        self._run(arrays, outputs, given=True)

    def _run(self, arrays: Sequence[Any], outputs: Sequence[np.ndarray[Any, Any]], given: bool = False) -> None:
        """Runs the entry; `given` outputs are the caller's and get checked where the fast call has not."""
        if len(arrays) != len(self._inputs):
            names = ", ".join(f"'{argument.name}'" for _, argument in self._inputs)
            raise ArgumentError(
                f"'{self.entry.name}' takes {len(self._inputs)} arguments ({names}), found {len(arrays)}"
            )
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

    def _run_otherwise(self, arrays: Sequence[Any], outputs: Sequence[Any], given: bool, arena: int | None) -> int:
        """The native status of a call whose arguments did not fit: the fast way for arrays of other libraries, else the slow one."""
        found = as_inputs(arrays, [argument.name for _, argument in self._inputs])
        written = as_outputs(outputs, [argument.name for _, argument in self._outputs]) if given else outputs
        if found is not arrays or written is not outputs:
            status = self._fast(*found, *written, *(() if arena is None else (arena,)))
            if status != MISFIT:
                return status
        return self._run_slowly(found, written, given, arena)

    def _run_slowly(
        self, arrays: Sequence[Any], outputs: Sequence[np.ndarray[Any, Any]], given: bool, arena: int | None
    ) -> int:
        """The native status of a call through ctypes. Raises ArgumentError for what no copy makes fit."""
        if given:
            self._check_weights_stay(outputs)
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

    def _check_weights_stay(self, outputs: Sequence[Any]) -> None:
        """Weights given as arrays are used where they lie: a result written there would change the program."""
        for (_, argument), array in zip(self._outputs, outputs, strict=True):
            if isinstance(array, np.ndarray) and any(np.may_share_memory(array, kept) for kept in self._kept):
                raise ArgumentError(
                    f"output '{argument.name}' shares memory with a weight, expected an array of its own"
                )

    def _check_outputs(self, outputs: Sequence[Any], arrays: Sequence[Any]) -> None:
        for (_, argument), array in zip(self._outputs, outputs, strict=True):
            check_output(array, argument.type, argument.name)
        for i, array in enumerate(outputs):
            for other in (*arrays, *outputs[:i]):
                if isinstance(other, np.ndarray) and np.may_share_memory(array, other):
                    raise ArgumentError(
                        f"output '{self._outputs[i][1].name}' shares memory with another argument, expected an array of its own"
                    )

    def _take_arena(self, size: int) -> int:
        """The address of an arena nobody uses; `deque.pop` is atomic, so concurrent callers never share one."""
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
    """In place of a fast call where there is none."""
    return MISFIT
