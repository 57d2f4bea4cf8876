"""What callers give as arrays: those of NumPy, of its subclasses, of other libraries, numbers and lists of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...te.dtypes import is_float, is_unsigned, numpy_dtype
from ..errors import ArgumentError
from .arrays import ArrayType, refuse_mask
from .dlpack import as_inputs, as_outputs


def as_arrays(values: Sequence[Any], types: Sequence[ArrayType | None], names: Sequence[str]) -> Sequence[Any]:
    """
    Returns the arguments `values` as arrays where they can be. Where all are, it is the same object.

    Raises ArgumentError for a number that the element type does not have, and for an array with a mask.
    """
    if all(type(value) is np.ndarray for value in values):
        return values
    return _from_python(_of_numpy(as_inputs(values, names), names, "argument"), types, names)


def as_written(values: Sequence[Any], names: Sequence[str]) -> Sequence[Any]:
    """Returns what `as_arrays` does for arrays to write into."""
    if all(type(value) is np.ndarray for value in values):
        return values
    return _of_numpy(as_outputs(values, names), names, "output")


def _of_numpy(values: Sequence[Any], names: Sequence[str], what: str) -> Sequence[Any]:
    """
    Returns `values`, arrays of subclasses as NumPy's own class over the same memory.

    A subclass may say anything of its shape. Without any, it is the same object.
    """
    if not any(_is_of_subclass(value) for value in values):
        return values
    named = [*names, *["?"] * (len(values) - len(names))]
    for value, name in zip(values, named, strict=False):
        refuse_mask(value, f"{what} '{name}'")
    return [np.asarray(value) if _is_of_subclass(value) else value for value in values]


def _is_of_subclass(value: Any) -> bool:
    return isinstance(value, np.ndarray) and type(value) is not np.ndarray


# Numbers and lists of numbers

PLAIN = (bool, int, float, list, tuple, np.generic)
"""What is no array, but says an array of an element type that is known."""

MOST_EXACT = 2**53
"""The largest integer up to which floats of 64 bits have all integers."""


def _from_python(values: Sequence[Any], types: Sequence[ArrayType | None], names: Sequence[str]) -> Sequence[Any]:
    """Returns `values`, numbers and lists of numbers as arrays of `types`. Without any, it is the same object."""
    if not any(isinstance(value, PLAIN) for value in values):
        return values
    known = [*zip(types, names, strict=True), *[(None, "?")] * (len(values) - len(types))]
    return [
        _exact(value, type_, name) if type_ is not None and isinstance(value, PLAIN) else value
        for value, (type_, name) in zip(values, known, strict=False)
    ]


def _exact(value: Any, type_: ArrayType, name: str) -> np.ndarray[Any, Any]:
    try:
        found = np.asarray(value)
    except (ValueError, OverflowError):
        raise ArgumentError(f"argument '{name}' has rows of different lengths, expected {type_}") from None
    dtype = numpy_dtype(type_.dtype)
    if found.dtype.kind == "O" or (found.dtype.kind in "iuf" and _is_large(found)):
        return _exact_by_number(value, found, type_, name)
    if found.dtype == dtype:
        return found
    if found.size and (found.dtype.kind not in "biuf" or (found.dtype.kind == "b") != (type_.dtype == "i1")):
        raise _no_numbers(found, type_, name)
    with np.errstate(all="ignore"):
        cast = found.astype(dtype)
        back = cast.astype(found.dtype)
    same = (back == found) | ((back != back) & (found != found))  # NaN stays NaN
    if not same.all():
        raise _inexact(found[~same].flat[0], type_, name)
    return cast


def _is_large(found: np.ndarray[Any, Any]) -> bool:
    """Returns whether numbers may have been rounded when they became an array, or be when they become one of floats."""
    with np.errstate(over="ignore"):  # The bound is infinite as a float of 16 bits.
        return bool(((found >= MOST_EXACT) | (found <= -MOST_EXACT)).any())


def _exact_by_number(value: Any, found: np.ndarray[Any, Any], type_: ArrayType, name: str) -> np.ndarray[Any, Any]:
    """
    Returns what `_exact` does, one number after the other: of integers and floats NumPy makes floats, which do not have
    all large integers.
    """
    whole = np.empty(found.shape, object)
    whole[...] = value
    numbers = [each.item() if isinstance(each, np.generic | np.ndarray) else each for each in whole.flat]
    dtype, floats = numpy_dtype(type_.dtype), is_float(type_.dtype)
    if type_.dtype == "i1" or not all(isinstance(number, int | float) for number in numbers):
        raise _no_numbers(found, type_, name)
    wide = np.float64 if floats else np.uint64 if is_unsigned(type_.dtype) else np.int64
    kept = np.empty(len(numbers), dtype)
    for place, number in enumerate(numbers):
        try:
            with np.errstate(all="ignore"):
                kept[place] = wide(number if floats or number != int(number) else int(number))
            back = kept[place].astype(wide).item()
        except (OverflowError, ValueError):  # beyond all numbers of the type, or no integer
            raise _inexact(number, type_, name) from None
        if back != number and (back == back or number == number):
            raise _inexact(number, type_, name)
    return kept.reshape(found.shape)


def _no_numbers(found: np.ndarray[Any, Any], type_: ArrayType, name: str) -> ArgumentError:
    return ArgumentError(f"argument '{name}' holds {found.dtype}, expected numbers of type {type_}")


def _inexact(number: Any, type_: ArrayType, name: str) -> ArgumentError:
    hint = f"numpy.asarray(…, dtype='{numpy_dtype(type_.dtype)}') rounds it"
    return ArgumentError(f"argument '{name}' holds {number}, which {type_} does not have; {hint}")
