"""Shapes of arguments on the command line."""

from __future__ import annotations

from math import prod
from typing import Final

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.text.limits import LARGEST_EXTENT

WIDEST_ELEMENT: Final = 8
"""The most bytes of an element."""

MOST_DIGITS: Final = 1000
"""The most digits of the sizes of one shape. Python refuses to read numbers of many more."""


def shapes_of(text: str | None) -> tuple[tuple[int, ...], ...] | None:
    """Returns shapes written as `4x784,10`. An empty part is rank 0."""
    return None if text is None else tuple(_shape(part.strip(), text) for part in text.split(","))


def _shape(part: str, text: str) -> tuple[int, ...]:
    sizes = part.split("x") if part else []
    if not all(size.isascii() and size.isdecimal() for size in sizes):
        raise StepwellError(Diagnostic(f"shapes '{text}' are malformed, expected for instance 4x784,10"))
    # NumPy refuses sizes that are too great also where another one is 0.
    if sum(map(len, sizes)) > MOST_DIGITS or prod(int(size) or 1 for size in sizes) * WIDEST_ELEMENT > LARGEST_EXTENT:
        message = f"an array of shape {part} has more bytes than a computer can address"
        raise StepwellError(Diagnostic(message, hint="give smaller sizes to --shapes"))
    return tuple(map(int, sizes))
