"""What callers give beside arrays: the shapes of inputs, a number of rounds, a tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..errors import ArgumentError, wrong_count
from .arrays import ArrayType

LARGEST_SIZE: Final = 2**63 - 1


def checked_shapes(
    shapes: Any, inputs: Sequence[tuple[str, ArrayType | None]], program: str
) -> tuple[tuple[int, ...], ...]:
    """
    Returns the shapes of the `inputs` of `program` as tuples. An input without a type takes any shape.

    Raises ArgumentError for what is not one shape per input, or does not fit the type of one.
    """
    names = [name for name, _ in inputs]
    if not isinstance(shapes, list | tuple):
        raise ArgumentError(f"shapes is {shapes!r}, expected one shape per input ({', '.join(names)})")
    if len(shapes) != len(inputs):
        raise wrong_count(program, names, shapes)
    return tuple(_checked(shape, type_, name) for shape, (name, type_) in zip(shapes, inputs, strict=True))


def _checked(shape: Any, type_: ArrayType | None, name: str) -> tuple[int, ...]:
    expected = "a tuple of sizes" if type_ is None else str(type_)
    if not isinstance(shape, list | tuple):
        raise ArgumentError(f"the shape of '{name}' is {shape!r}, expected {expected}")
    for size in shape:
        if not is_integer(size) or not 0 <= size <= LARGEST_SIZE:
            raise ArgumentError(f"the shape of '{name}' has size {size!r}, expected an integer from 0 to 2^63 - 1")
    sizes = tuple(int(size) for size in shape)
    if type_ is not None and not type_.fits(sizes):
        raise ArgumentError(f"the shape of '{name}' is {'x'.join(map(str, sizes)) or '()'}, expected {expected}")
    return sizes


def is_integer(value: Any) -> bool:
    """Returns whether a value is an integer, of Python or of NumPy, and not a truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_rounds(rounds: Any) -> None:
    """Raises ArgumentError unless a number of rounds is None or an integer of at least 1."""
    if rounds is not None and (not is_integer(rounds) or rounds < 1):
        expected = "at least 1" if is_integer(rounds) else "an integer"
        raise ArgumentError(f"the number of rounds is {rounds!r}, expected {expected}")


def check_tolerance(tolerance: Any) -> None:
    """Raises ArgumentError unless a tolerance is None or a number that is not negative."""
    if tolerance is None:
        return
    is_number = isinstance(tolerance, int | float | np.integer | np.floating) and not isinstance(tolerance, bool)
    if not is_number or not tolerance >= 0:
        raise ArgumentError(f"the tolerance is {tolerance!r}, expected a number of at least 0")
