"""Recognises indices that are a straight line along one axis."""

from __future__ import annotations

from .expr import Axis, Binary, Const, Expr

Line = tuple[Axis | None, int, int]
"""The index `axis * factor + offset`. Without an axis it is the offset."""


def line_of(index: Expr) -> Line | None:
    """
    Returns `(axis, factor, offset)` of an index that is affine in one axis. A constant has no axis. Any other index
    gives `None`. Does not recurse.
    """
    known: dict[Expr, Line] = {}
    stack = [index]
    while stack:
        node = stack[-1]
        match node:
            case Const():
                known[node] = None, 0, int(node.value)
            case Axis():
                known[node] = node, 1, 0
            case Binary("add" | "sub" | "mul" as function, lhs, rhs):
                missing = [each for each in (rhs, lhs) if each not in known]
                if missing:
                    stack += missing
                    continue
                line = _join(function, known[lhs], known[rhs])
                if line is None:
                    return None
                known[node] = line
            case _:
                return None
        stack.pop()
    return known[index]


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
