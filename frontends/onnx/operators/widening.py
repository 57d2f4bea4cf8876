"""Formulas of several ops on f16 and bf16: computed in f32, rounded once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ....te.dtypes import is_small_float
from ..emitting.graph_builder import GraphBuilder
from ..value import Value


def rounded_once(function: Callable[..., Value]) -> Callable[..., Value]:
    """
    Makes a converter for all floats from one for f32 and f64.

    If the first operand is f16 or bf16, operands of its element type are f32, and so is the result before it is
    rounded.
    """

    @wraps(function)
    def convert(b: GraphBuilder, x: Value, *operands: Any, **attributes: Any) -> Value:
        if not is_small_float(x.dtype):
            return function(b, x, *operands, **attributes)
        wide = [
            b.astype(each, dtype="f32") if isinstance(each, Value) and each.dtype == x.dtype else each
            for each in (x, *operands)
        ]
        return b.astype(function(b, *wide, **attributes), dtype=x.dtype)

    return convert
