"""Batches of data: arrays by the names of the arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.messages.articles import with_article
from ...core.messages.diagnostics import did_you_mean
from ..errors import ArgumentError
from ..program.arrays import ArrayType, check_type

Batch = Mapping[str, Any]


def arguments_of(entry: str, inputs: Sequence[tuple[str, ArrayType]], batch: Batch) -> list[Any]:
    """Returns the arrays of a batch in the order of the arguments. Raises ArgumentError when these do not fit."""
    names = [name for name, _ in inputs]
    for name in batch:
        if name not in names:
            hint = did_you_mean(name, names) or f"it has {', '.join(names) or 'none'}"
            raise ArgumentError(f"'{entry}' has no argument '{name}'; {hint}")
    for name, type_ in inputs:
        if name not in batch:
            raise ArgumentError(f"the data has no array for argument '{name}' ({type_})")
        check_type(batch[name], type_, name)
    return [batch[name] for name in names]


def checked_batches(batches: Iterable[Batch]) -> Iterator[tuple[int, Batch]]:
    """Yields batches with their numbers. Raises ArgumentError for what is no dictionary, and when there is none."""
    count = 0
    for count, batch in enumerate(batches, 1):
        if not isinstance(batch, Mapping):
            found = with_article(type(batch).__name__)
            raise ArgumentError(f"batch {count} is {found}, expected a dictionary of arrays by argument name")
        yield count, batch
    if not count:
        raise ArgumentError("there is no batch to calibrate with, expected at least one")


@contextmanager
def in_batch(number: int) -> Iterator[None]:
    """Says of which batch an ArgumentError is."""
    try:
        yield
    except ArgumentError as error:
        raise ArgumentError(f"batch {number}: {error}") from error
