"""Recognises indices that are a straight line along one axis."""

from __future__ import annotations

from .expr import Axis, Binary, Const, Expr

Line = tuple[Axis | None, int, int]
"""The index `axis * factor + offset`. Without an axis it is the offset."""


def line_of(index: Expr) -> Line | None:
    """
    Returns `(axis, factor, offset)` of an index that is affine in one axis. A constant has no axis. Any other index
    gives `None`.
    """
    match index:
        case Const():
            return None, 0, int(index.value)
        case Axis():
            return index, 1, 0
        case Binary("add" | "sub" | "mul" as function, lhs, rhs):
            left, right = line_of(lhs), line_of(rhs)
            if left is None or right is None:
                return None
            return _join(function, left, right)
        case _:
            return None


def _join(function: str, left: Line, right: Line) -> Line | None:
    """Returns the sum, difference or product of two lines, or `None` when it is no line."""
    (a, factor_a, offset_a), (b, factor_b, offset_b) = left, right
    if function == "mul":
        if a is not None and b is not None:
            return None
        return a if a is not None else b, factor_a * offset_b + factor_b * offset_a, offset_a * offset_b
    if a is not None and b is not None and a is not b:
        return None
    sign = 1 if function == "add" else -1
    return a if a is not None else b, factor_a + sign * factor_b, offset_a + sign * offset_b
