"""Memory for the functions that pack and fold weights, and the order in which they run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.roles import prepare_function
from ..native.memory import WORTH_IT, give_back
from .arrays import allocate_together
from .description import Entry

Array = np.ndarray[Any, Any]


def room_for(entries: Sequence[Entry]) -> dict[str, list[Array]]:
    """Returns new arrays for the results of prepare functions, by name. They lie side by side, in large pages."""
    results = allocate_together([argument.type for entry in entries for argument in entry.of("output")])
    give_back_beside(results)
    rest = iter(results)
    return {entry.name: [next(rest) for _ in entry.of("output")] for entry in entries}


def give_back_beside(packed: Iterable[Array]) -> None:
    """Gives back what a compilation has left in memory, where the packed weights are so large that it matters."""
    if sum(array.nbytes for array in packed) >= WORTH_IT:
        give_back()


def preparation_order(entries: Sequence[Entry]) -> list[Entry]:
    """
    Returns prepare functions in an order that keeps the most memory at one time low.

    Those that need most beside their results come first, while most of the results are not written and so take no
    memory yet. Where one reads the result of another, the order stays.
    """
    if any(prepare_function(argument.key) is not None for entry in entries for argument in entry.of("weight")):
        return list(entries)
    beside = {
        entry.name: sum(argument.type.nbytes for role in ("weight", "arena") for argument in entry.of(role))
        for entry in entries
    }
    return sorted(entries, key=lambda entry: -beside[entry.name])
