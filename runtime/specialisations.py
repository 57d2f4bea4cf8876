"""The programs that an executable with `?` has compiled for the shapes it was called with."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from threading import Lock

from ..core.messages.forks import free_in_children
from ..lazy_dataclass import dataclass
from .errors import ArgumentError
from .program.bound_entry import BoundEntry

Shapes = tuple[tuple[int, ...], ...]

MOST_SPECIALISATIONS = 32
"""The number of programs kept unless `limit` is set. The one that was unused for longest goes first."""


@dataclass(frozen=True)
class Specialisation:
    """A program for some shapes of the arguments."""

    shapes: Shapes
    calls: int
    """Calls that found it ready: all but the first one."""
    seconds: float
    """The time to compile and load it, or to take it from the compile cache on disk."""

    def __str__(self) -> str:
        shapes = ", ".join("x".join(map(str, shape)) or "scalar" for shape in self.shapes)
        return f"{shapes}: ready after {self.seconds:.3f} s, found by {self.calls} calls"


class Specialisations:
    """
    The programs kept, in the order of their last use, and how many had to go.

    At most `limit` are kept, which may be set at any time: `exe.specialisations.limit = 4`. A program that went is
    compiled, or taken from the compile cache on disk, when its shapes come again. Several threads may use this.
    """

    def __init__(self, limit: int = MOST_SPECIALISATIONS):
        self._limit = limit
        self._given_up = 0
        self._lock = Lock()
        free_in_children(self, "_lock")
        self._kept: OrderedDict[Shapes, tuple[BoundEntry, Specialisation]] = OrderedDict()

    def __repr__(self) -> str:
        return f"<stepwell.Specialisations, {len(self._kept)} of at most {self._limit} kept>"

    @property
    def limit(self) -> int:
        """The number of programs kept at most. Raises ArgumentError when set to less than one."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        if limit < 1:
            raise ArgumentError(f"the limit of specialisations is {limit}, expected at least 1")
        with self._lock:
            self._limit = limit
            self._shrink()

    @property
    def given_up(self) -> int:
        """The number of programs that were dropped because there were too many."""
        return self._given_up

    def __iter__(self) -> Iterator[Specialisation]:
        with self._lock:
            return iter([each for _, each in self._kept.values()])

    def __len__(self) -> int:
        return len(self._kept)

    def __str__(self) -> str:
        lines = [f"{len(self)} of at most {self.limit} specialisations, {self.given_up} given up"]
        return "\n".join([*lines, *(f"  {each}" for each in self)])

    # For the executable

    def find(self, shapes: Shapes) -> BoundEntry | None:
        """Returns the entry for `shapes` if it is ready, and makes it the one used last."""
        with self._lock:
            found = self._kept.get(shapes)
            if found is None:
                return None
            bound, row = found
            self._kept[shapes] = bound, replace(row, calls=row.calls + 1)
            self._kept.move_to_end(shapes)
        return bound

    def add(self, shapes: Shapes, bound: BoundEntry, seconds: float) -> None:
        """Keeps an entry that took `seconds` to make. Where there are too many, those unused for longest go."""
        with self._lock:
            self._kept[shapes] = bound, Specialisation(shapes, 0, seconds)
            self._shrink()

    def entries(self) -> dict[Shapes, BoundEntry]:
        """Returns the entries that are kept, by shapes."""
        with self._lock:
            return {shapes: bound for shapes, (bound, _) in self._kept.items()}

    def _shrink(self) -> None:
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)
            self._given_up += 1
