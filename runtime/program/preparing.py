"""The order in which the functions run that pack and fold weights."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.roles import prepare_function
from .description import Entry


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
