"""Symbolic sizes of tensor expressions as `stepwell.dims`: names, and what is computed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr

from ... import te
from ...core.ir.sizes import COMPUTED, is_size_name
from ...core.ir.symbols import fresh_name
from ...core.roles import DIMS
from ...te.expr import Binary, Const, Expr, Var

_OPERATORS: Final = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "floormod": "%"}
_FUNCTIONS: Final = ("min", "max")


def named_sizes(tensors: Sequence[te.Tensor]) -> ArrayAttr[DictionaryAttr] | None:
    """
    Returns `stepwell.dims` of the arguments of a loop function over `tensors`, None where all sizes are numbers.

    Different variables get different names. A size has an empty entry where the attribute cannot say it.
    """
    names = _names([node for tensor in tensors for size in tensor.shape for node in _nodes(size)])
    if not names:
        return None
    entries = [[_entry(size, names) for size in tensor.shape] for tensor in tensors]
    return ArrayAttr(DictionaryAttr({DIMS: ArrayAttr(map(StringAttr, each))} if any(each) else {}) for each in entries)


def _nodes(size: te.Dim) -> list[Expr]:
    return list(te.post_order(size)) if isinstance(size, Expr) else []


def _names(nodes: Sequence[Expr]) -> dict[Expr, str]:
    """Returns a name for each variable, its own where no other variable has it and an expression may use it."""
    taken: set[str] = set()
    found: dict[Expr, str] = {}
    for node in nodes:
        if isinstance(node, Var) and node not in found:
            found[node] = fresh_name(node.name if is_size_name(node.name) else "size", taken)
    return found


def _entry(size: te.Dim, names: Mapping[Expr, str]) -> str:
    if isinstance(size, int):
        return ""
    if size in names:
        return names[size]
    text = _text(size, names)
    return "" if text is None else f"{COMPUTED} {text}"


def _text(size: Expr, names: Mapping[Expr, str]) -> str | None:
    """Returns a size as Python writes it, None for what `stepwell.dims` has no form of."""
    match size:
        case Const(value=bool()):
            return None
        case Const(value=int()):
            return str(size.value)
        case Var():
            return names[size]
        case Binary() if size.function in _OPERATORS or size.function in _FUNCTIONS:
            parts = [_text(each, names) for each in (size.lhs, size.rhs)]
            if None in parts:
                return None
            if size.function in _FUNCTIONS:
                return f"{size.function}({parts[0]}, {parts[1]})"
            first, second = (
                f"({part})" if isinstance(each, Binary) and each.function in _OPERATORS else part
                for each, part in zip((size.lhs, size.rhs), parts, strict=True)
            )
            return f"{first} {_OPERATORS[size.function]} {second}"
        case _:
            return None
