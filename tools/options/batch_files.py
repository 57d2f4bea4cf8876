"""Batches of data in `.npz` files: arrays by the names of the arguments, those of one batch or of many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ...runtime.program.arrays import ArrayType
from .array_files import array_of, read_arrays, typed

Batch = dict[str, Any]


def batches_in(
    path: str,
    entry: str,
    inputs: Sequence[tuple[str, ArrayType]],
    labels: str | None = None,
    *,
    labelled: bool = True,
) -> Iterator[tuple[Batch, Any]]:
    """
    Yields the batches of a file, each with its array of labels where `labels` names one, and None otherwise.

    A file need not have that array unless it is to be `labelled`.

    Arrays are called as the arguments of `@entry`, or in order `arr_0`, `arr_1` …. Where all of them have one axis more
    than the arguments, that is the one along which batches follow each other, and that of the labels too.
    """
    loaded = read_arrays(path)
    if not hasattr(loaded, "files"):
        message = f"data '{path}' is one array, expected a .npz archive of all arguments by name"
        raise StepwellError(Diagnostic(message))
    types = dict(inputs)
    if labels is not None and labels not in loaded.files and labelled:
        hint = did_you_mean(labels, loaded.files) or f"it has {', '.join(loaded.files)}"
        raise StepwellError(Diagnostic(f"'{path}' has no labels '{labels}'", hint=hint))
    batch, own = _named(loaded, path, entry, inputs, labels)
    counts = {len(array) for array in batch.values() if array.ndim}
    if not batch or not all(array.ndim == len(types[name].shape) + 1 for name, array in batch.items()):
        yield batch, own
        return
    if own is not None:
        counts.add(len(own) if own.ndim else 0)
    if len(counts) != 1:
        listed = ", ".join(map(str, sorted(counts)))
        raise StepwellError(Diagnostic(f"'{path}' has arrays of {listed} batches, expected as many of each"))
    for number in range(counts.pop()):
        yield {name: array[number, ...] for name, array in batch.items()}, None if own is None else own[number]


def _named(
    loaded: Any, path: str, entry: str, inputs: Sequence[tuple[str, ArrayType]], labels: str | None
) -> tuple[Batch, Any]:
    """Returns the arrays by the names of the arguments, and the labels."""
    numbered = {f"arr_{index}": name for index, (name, _) in enumerate(inputs)}
    types = {name: type_.dtype for name, type_ in inputs}
    batch: Batch = {}
    own = None
    for key in loaded.files:
        if key == labels:
            own = array_of(loaded, key, path)
            continue
        name = key if key in types else numbered.get(key, key)
        if name not in types:
            hint = did_you_mean(key, types) or f"it has {', '.join(types) or 'none'}"
            message = f"'{path}' has an array '{key}' but @{entry} has no such argument"
            raise StepwellError(Diagnostic(message, hint=hint))
        batch[name] = typed(array_of(loaded, key, path), types[name])
    return batch, own
