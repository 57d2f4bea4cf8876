"""A program in memory: machine code, its entries, its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np

from ...core.mapped import release
from ...core.roles import RUN_PARALLEL, prepare_key
from ..errors import ExecutionError
from ..native.jit import NativeLibrary
from ..native.threads import runner, uses_threads
from .bound_entry import BoundEntry
from .description import Description, Entry
from .donating_entry import DonatingEntry
from .preparing import give_back_beside, room_for, run_all
from .sized_entry import SizedEntry

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
        # Before they run, since the order of a saved file is this one, and threads end in any order.
        for name, results in room.items():
            self._prepared.update((prepare_key(name, index), result) for index, result in enumerate(results))

        def run(entry: Entry) -> None:
            BoundEntry(entry, self, once=True).fill(room[entry.name])
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
    """
    Returns the entry, ready to be called. One that takes sizes asks the arrays for them, and one with donated inputs
    writes into these.
    """
    if entry.of("size") or entry.of("stride"):
        return SizedEntry(entry, program)
    if any(each.place_of is not None for each in entry.of("output")):
        return DonatingEntry(entry, program)
    return BoundEntry(entry, program)
