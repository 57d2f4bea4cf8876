"""What lies where in an exported program: its context in memory, its weights in the file beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .arrays import ARENA_ALIGNMENT
from .errors import CompileError
from .program import Argument, Description, Entry

MESSAGE, MAPPED = 0, 8
"""Bytes from the start of a context: the message of the last failure, the address of the mapped weights."""

ROLES = ("input", "weight", "output", "arena")
"""What arguments of an exported entry can be for."""

POINTERS = ARENA_ALIGNMENT
"""Bytes from the start of a context: what the entry is called with, a pointer per argument."""


@dataclass(frozen=True)
class Layout:
    """
    A context is one block of memory: the message and the mapping, then pointers, then results of prepare functions, then the
    arena, each at a multiple of `ARENA_ALIGNMENT` bytes.
    """

    entry: Entry
    prepares: tuple[Entry, ...]
    """What runs when the program is loaded, in this order."""
    prepared: dict[str, int]
    """Bytes from the start of a context to each result of those, by the key of the weight that it is."""
    arena: int
    """Bytes from the start of a context to the arena, which the prepare functions use too."""
    size: int
    """Bytes of a context."""

    @property
    def weights(self) -> dict[str, Argument]:
        """The weights of the file, by key, in the order of use."""
        return {
            argument.key: argument
            for entry in (*self.prepares, self.entry)
            for argument in entry.of("weight")
            if argument.key not in self.prepared
        }


def result_key(entry: Entry, index: int) -> str:
    """The key of a weight that is a result of a prepare function."""
    return f"@{entry.name}#{index}"


def layout_of(description: Description, name: str) -> Layout:
    """The layout of a program with the entry `name`. Raises CompileError for an entry that takes more than arrays."""
    entries = {entry.name: entry for entry in description.entries}
    entry = entries[name]
    for argument in entry.arguments:
        if argument.role not in ROLES:
            raise CompileError(
                f"@{name} takes the {argument.role} of '{argument.name}' as an argument, which C programs cannot give: "
                "export it with known sizes"
            )
    prepares = tuple(_needed(entries, entry))
    offset = _aligned(POINTERS + 8 * len(entry.arguments))
    prepared: dict[str, int] = {}
    for each in prepares:
        for index, result in enumerate(each.of("output")):
            prepared[result_key(each, index)] = offset
            offset = _aligned(offset + result.type.nbytes)
    arenas = [arena.type.nbytes for each in (*prepares, entry) for arena in each.of("arena")]
    return Layout(entry, prepares, prepared, offset, _aligned(offset + max(arenas, default=0)))


def _needed(entries: dict[str, Entry], entry: Entry) -> Iterator[Entry]:
    """The prepare functions whose results `entry` uses, each after those whose results it uses itself."""
    done: set[str] = set()
    pending = [(entry, iter(entry.of("weight")))]
    while pending:
        at, weights = pending[-1]
        for weight in weights:
            found = re.fullmatch(r"@(.+)#\d+", weight.key)
            if found is not None and found[1] not in done:
                done.add(found[1])
                needed = entries[found[1]]
                pending.append((needed, iter(needed.of("weight"))))
                break
        else:
            pending.pop()
            if at is not entry:
                yield at


def _aligned(offset: int) -> int:
    return -(-offset // ARENA_ALIGNMENT) * ARENA_ALIGNMENT
