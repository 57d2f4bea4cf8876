"""Memory for the functions that pack and fold weights, and how they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from ...core.roles import prepare_function
from ..native.memory import WORTH_IT, give_back
from .arrays import allocate_together
from .description import Entry

Array = np.ndarray[Any, Any]

AT_ONCE: Final = 2
"""The prepare functions that run at the same time. Each keeps its weights and its arena in memory."""

WORTH_THREADS: Final = 1 << 22
"""The bytes of results from which on a second thread saves more than it costs, which is a fraction of a millisecond."""


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


def run_all(entries: Sequence[Entry], threads: int, run: Callable[[Entry], None]) -> None:
    """
    Calls `run` for each prepare function, and for some at the same time where `threads` are allowed.

    They mostly wait for memory: for pages of results, which the system clears, and of weights, which it maps. Where one
    reads the result of another, they run one after the other. Raises the error of the first that fails.
    """
    order = preparation_order(entries)
    results = sum(argument.type.nbytes for entry in entries for argument in entry.of("output"))
    if threads == 1 or len(entries) == 1 or results < WORTH_THREADS or _read_each_other(entries):
        for entry in order:
            run(entry)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, AT_ONCE)) as pool:
        for _ in pool.map(run, order):
            pass


def _read_each_other(entries: Sequence[Entry]) -> bool:
    """Returns whether a prepare function reads the result of another."""
    return any(prepare_function(argument.key) is not None for entry in entries for argument in entry.of("weight"))


def preparation_order(entries: Sequence[Entry]) -> list[Entry]:
    """
    Returns prepare functions in an order that keeps the most memory at one time low.

    Those that need most beside their results come first, while most of the results are not written and so take no
    memory yet. Where one reads the result of another, the order stays.
    """
    if _read_each_other(entries):
        return list(entries)
    beside = {
        entry.name: sum(argument.type.nbytes for role in ("weight", "arena") for argument in entry.of(role))
        for entry in entries
    }
    return sorted(entries, key=lambda entry: -beside[entry.name])
