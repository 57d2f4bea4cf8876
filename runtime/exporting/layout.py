"""The layout of an exported program: of its context in memory, and of its weights in the file beside it."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.derived_weights import sums_of
from ...core.ir.role_checks import BUFFERS
from ...core.roles import BUFFER_ALIGNMENT, aligned, prepare_function, prepare_key
from ...lazy_dataclass import dataclass
from ..errors import CompileError
from ..program.description import Argument, Description, Entry

MESSAGE, MAPPED = 0, 8
"""The offsets in a context, in bytes, of the message of the last failure and of the address of the mapped weights."""

POINTERS = BUFFER_ALIGNMENT
"""The offset in a context of what the entry is called with, a pointer per argument."""


@dataclass(frozen=True)
class Layout:
    """
    The layout of a context, which is one block of memory.

    It holds the message and the mapping, then pointers, then results of prepare functions, then the arena. Each starts
    at a multiple of `BUFFER_ALIGNMENT` bytes.
    """

    entry: Entry
    prepares: tuple[Entry, ...]
    """The functions that run when the program is loaded, in this order."""
    prepared: dict[str, int]
    """The offset in a context of each result of those, by the key of the weight that it is."""
    arena: int
    """The offset in a context of the arena, which the prepare functions use too."""
    size: int
    """The size of a context, in bytes."""

    @property
    def weights(self) -> dict[str, Argument]:
        """The weights of the file, by key, in the order of use."""
        return {key: argument for key, argument in self._given.items() if sums_of(key) is None}

    @property
    def made(self) -> list[str]:
        """The keys of what follows from weights and is part of the code: sums, which are small."""
        return [key for key in self._given if sums_of(key) is not None]

    @property
    def _given(self) -> dict[str, Argument]:
        return {
            argument.key: argument
            for entry in (*self.prepares, self.entry)
            for argument in entry.of("weight")
            if argument.key not in self.prepared
        }


def layout_of(description: Description, name: str) -> Layout:
    """Returns the layout of a program with the entry `name`. Raises CompileError where that takes more than arrays."""
    entries = {entry.name: entry for entry in description.entries}
    entry = entries[name]
    for argument in entry.arguments:
        if argument.role not in BUFFERS:
            raise CompileError(
                f"@{name} takes the {argument.role} of '{argument.name}' as an argument, which C programs cannot give: "
                "export it with known sizes"
            )
    prepares = tuple(_needed(entries, entry))
    offset = aligned(POINTERS + 8 * len(entry.arguments))
    prepared: dict[str, int] = {}
    for each in prepares:
        for index, result in enumerate(each.of("output")):
            prepared[prepare_key(each.name, index)] = offset
            offset = aligned(offset + result.type.nbytes)
    arenas = [arena.type.nbytes for each in (*prepares, entry) for arena in each.of("arena")]
    return Layout(entry, prepares, prepared, offset, aligned(offset + max(arenas, default=0)))


def _needed(entries: dict[str, Entry], entry: Entry) -> Iterator[Entry]:
    """Yields the prepare functions whose results `entry` uses, each after those whose results it uses itself."""
    done: set[str] = set()
    pending = [(entry, iter(entry.of("weight")))]
    while pending:
        at, weights = pending[-1]
        for weight in weights:
            name = prepare_function(weight.key)
            if name is not None and name not in done:
                done.add(name)
                needed = entries[name]
                pending.append((needed, iter(needed.of("weight"))))
                break
        else:
            pending.pop()
            if at is not entry:
                yield at
