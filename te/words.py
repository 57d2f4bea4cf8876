"""What messages and prompts say of tensor expressions: the error, whole tensors in a wrong place, symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SHOWN_LEVELS = 5
"""The levels of an expression that its `repr` shows. What is deeper is shown as `…`."""

SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "floormod": "%", "and": "&", "or": "|"} | {
    "xor": "^",
    "shl": "<<",
    "shr": ">>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}
"""The symbols that functions of two values are shown by."""


class TEError(ValueError):
    """Raised for a tensor expression that has no meaning. The message says what was found and what was expected."""


class Whole:
    """A tensor as a whole, which is no element: it has no arithmetic, and says what to write."""

    name: str

    def _refuse(self, _: object = None) -> Any:
        raise TEError(whole_refused(self.name))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = _refuse
    __array_ufunc__ = None
    __iter__ = None
    """Python would take `[0]`, `[1]` and so on, without end, from what has no `__iter__` but indices."""


def whole_refused(name: str) -> str:
    """Returns the message about a tensor where one of its elements is meant."""
    return f"found the tensor '{name}', expected an element such as {name}[i]; te.library computes with whole tensors"


def listed(given: object, taker: str) -> list[Any]:
    """
    Returns the items of a list or tuple. Raises TEError for a tensor that stands alone and for what is no sequence.
    """
    if isinstance(given, Whole):
        raise TEError(f"{taker} takes a list of tensors, found the tensor '{given.name}', expected [{given.name}]")
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise TEError(f"{taker} takes a list of tensors, found {shortened(given)}")
    return list(given)


def checked_name(name: object) -> str:
    """Returns the name of a tensor, a variable or an axis. Raises TEError for what is no text."""
    if not isinstance(name, str):
        raise TEError(f"found the name {shortened(name)}, expected text")
    return name


def shortened(value: object) -> str:
    """Returns the `repr` of what stands in a wrong place, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
