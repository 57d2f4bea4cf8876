"""Formulas of several ops on f16 and bf16: computed in f32, rounded once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..emitter import Emitter
from ..values import Value

HALVES = ("f16", "bf16")
"""Element types that are too narrow for intermediate results."""


def rounded_once(function: Callable[..., Value]) -> Callable[..., Value]:
    """
    A converter for all floats from one for f32 and f64: operands of the element type of the first one are f32 where that is a half, and
    so is the result before it is rounded.
    """

    @wraps(function)
    def convert(b: Emitter, x: Value, *operands: Any, **attributes: Any) -> Value:
        if x.dtype not in HALVES:
            return function(b, x, *operands, **attributes)
        wide = [
            b.astype(each, dtype="f32") if isinstance(each, Value) and each.dtype == x.dtype else each
            for each in (x, *operands)
        ]
        return b.astype(function(b, *wide, **attributes), dtype=x.dtype)

    return convert
