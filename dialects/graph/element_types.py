"""Element types of tensors as attributes, and the classes that docs/semantics.md groups them in."""

from __future__ import annotations

from functools import cache
from typing import Final

from xdsl.ir import Attribute

from ...core.ir.element_types import ATTRIBUTES, dtype_name
from ...te import dtypes
from .shapes import ShapeError

CLASSES: Final[dict[str, tuple[str, ...]]] = {
    "F": dtypes.FLOATS,
    "S": tuple(name for name in dtypes.SIGNED if name not in dtypes.STORED),
    "U": tuple(name for name in dtypes.UNSIGNED if name not in dtypes.STORED),
    "Q": dtypes.SMALL_INTEGERS,
    "B": ("i1",),
    "E": dtypes.STORED_FLOATS,
}
"""
The element types of each class: F are floats, S signed and signless integers, U unsigned integers, B booleans.

Q are integers of less than a byte, and E the floats of 8 bits among F. Both stand for real numbers in quantised
tensors, and nothing is computed on them.
"""


@cache
def class_members(classes: str) -> tuple[str, ...]:
    """
    Returns the element types of a string of class letters, such as `FSU`.

    Floats that nothing is computed on are among them if the string has an E.
    """
    names = (name for letter in classes for name in CLASSES[letter])
    return tuple(dict.fromkeys(name for name in names if "E" in classes or name not in dtypes.STORED_FLOATS))


def class_text(classes: str) -> str:
    """Returns a string of class letters in words: `float or integer`."""
    words = {
        "F": "float",
        "S": "signed integer",
        "U": "unsigned integer",
        "Q": "small integer",
        "B": "i1",
        "E": "8-bit float",
    }
    words |= dict.fromkeys(("SU", "SUQ"), "integer")
    parts: list[str] = []
    rest = classes
    while rest:
        length = next(length for length in (3, 2, 1) if rest[:length] in words)
        parts.append(words[rest[:length]])
        rest = rest[length:]
    return " or ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def rejection(element_type: Attribute) -> str | None:
    """Returns why tensors of the graph dialect may not hold `element_type`, or `None` when they may."""
    name = dtype_name(element_type)
    if name in ATTRIBUTES:
        return None
    if name is not None and name.startswith("si") and name[1:] in ATTRIBUTES:
        return f"element type {name} is not used in graph ops, write {name[1:]} (signless integers are signed)"
    return f"element type {element_type} is not supported, expected one of {', '.join(ATTRIBUTES)}"


def check_number(name: str, value: int | float | None, dtype: str) -> None:
    """
    Raises `ShapeError` when an integer type cannot hold the number given for a property. Float types round any number.
    """
    if value is None or dtype in CLASSES["F"]:
        return
    low, high = dtypes.integer_range(dtype)
    if not isinstance(value, int) and not value.is_integer():
        raise ShapeError(f"{name} is {value}, expected an integer because the element type is {dtype}")
    if not low <= value <= high:
        raise ShapeError(f"{name} is {value}, which {dtype} cannot hold: expected {low} to {high}")
