"""Batches of data: arrays by the names of the arguments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, cast

import numpy as np

from ...core.messages.articles import with_article
from ...core.messages.diagnostics import Diagnostic, DiagnosticWarning, did_you_mean
from ..errors import ArgumentError
from ..program.arguments import as_arrays
from ..program.arrays import ArrayType, check_type

Batch = Mapping[str, Any]


def arguments_of(entry: str, inputs: Sequence[tuple[str, ArrayType]], batch: Batch) -> list[Any]:
    """
    Returns the arrays of a batch in the order of the arguments, what is no array converted as for a call.

    Raises ArgumentError when they do not fit.
    """
    names = [name for name, _ in inputs]
    for name in batch:
        if name not in names:
            hint = did_you_mean(name, names) or f"it has {', '.join(names) or 'none'}"
            raise ArgumentError(f"'{entry}' has no argument '{name}'; {hint}")
    for name, type_ in inputs:
        if name not in batch:
            raise ArgumentError(f"the data has no array for argument '{name}' ({type_})")
    types = [type_ for _, type_ in inputs]
    arrays = list(as_arrays([batch[name] for name in names], types, names))
    for array, (name, type_) in zip(arrays, inputs, strict=True):
        check_type(array, type_, name)
    return arrays


def kept_batches(batches: Batch | Iterable[Batch]) -> list[Batch]:
    """
    Returns all batches. Their arrays are copied unless they come in a list: a loader may fill one buffer again.

    Raises ArgumentError as `checked_batches` does.
    """
    given = _copies(batches) if isinstance(batches, Iterator) else batches
    return [batch for _, batch in checked_batches(given)]


def _copies(batches: Iterable[Batch]) -> Iterator[Batch]:
    for batch in batches:
        yield {name: deepcopy(value) for name, value in batch.items()} if isinstance(batch, Mapping) else batch


def checked_batches(batches: Batch | Iterable[Batch]) -> Iterator[tuple[int, Batch]]:
    """
    Yields batches with their numbers, the only one where a dictionary is given.

    Raises ArgumentError for what is no dictionary, and when there is none.
    """
    if isinstance(batches, str | bytes) or not isinstance(batches, Iterable):
        found = with_article(type(batches).__name__)
        raise ArgumentError(f"the data is {found}, expected dictionaries of arrays by argument name")
    count = 0
    given = [cast("Batch", batches)] if isinstance(batches, Mapping) else cast("Iterable[Batch]", batches)
    for count, batch in enumerate(given, 1):
        if not isinstance(batch, Mapping):
            found = with_article(type(batch).__name__)
            raise ArgumentError(f"batch {count} is {found}, expected a dictionary of arrays by argument name")
        yield count, batch
    if not count:
        raise ArgumentError("there is no batch to calibrate with, expected at least one")


def check_rows(number: int, arrays: Collection[Any]) -> None:
    """Raises ArgumentError for a batch in which nothing flows through the layers: it has no rows."""
    if arrays and not any(np.size(array) for array in arrays):
        raise ArgumentError(f"batch {number} has no rows: nothing flows through the layers, expected at least one row")


def remarks_on(number: int, inputs: Sequence[tuple[str, ArrayType]], arrays: Sequence[Any]) -> Iterator[Diagnostic]:
    """Yields a warning for each argument of a batch that is not finite throughout."""
    for (name, type_), array in zip(inputs, arrays, strict=True):
        if "f" in type_.dtype and not (finite := np.isfinite(array)).all():
            nan = int(np.count_nonzero(np.isnan(array)))
            infinite = array.size - int(np.count_nonzero(finite)) - nan
            yield left_out(f"argument '{name}' of batch {number}", nan, infinite, array.size)


def left_out(what: str, nan: int, infinite: int, total: int) -> Diagnostic:
    """Returns the warning that elements are no part of statistics."""
    text = f"{what}: {nan} NaN and {infinite} infinite elements of {total} are left out"
    return Diagnostic(text, "warning")


class CalibrationWarning(DiagnosticWarning):
    """A warning about what calibration leaves out."""


@contextmanager
def in_batch(number: int) -> Iterator[None]:
    """Says of which batch an ArgumentError is."""
    try:
        yield
    except ArgumentError as error:
        raise ArgumentError(f"batch {number}: {error}") from error
