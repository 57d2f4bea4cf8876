"""Conversions and constant tensors."""

from __future__ import annotations

from collections.abc import Sequence

from .. import dtypes, ops
from ..expr import Expr, Number, TEError, const
from ..tensor import Dim, Tensor
from .shapes import Indices, elementwise, number, stage


def astype(x: Tensor, dtype: str) -> Tensor:
    """`x` converted to `dtype`: integers wrap, floats saturate to integers (NaN gives 0) and are true unless 0."""
    if dtype not in dtypes.ALL:
        raise TEError(f"astype: unknown element type '{dtype}', expected one of {', '.join(dtypes.ALL)}")
    return elementwise("astype", x, lambda value: ops.cast(dtype, value))


def bitcast(x: Tensor, dtype: str) -> Tensor:
    """The bits of `x` read as `dtype`, which has the same width."""
    if dtype not in dtypes.NUMERIC or x.dtype not in dtypes.NUMERIC:
        raise TEError(f"bitcast: from {x.dtype} to '{dtype}', expected floats or integers")
    if dtypes.bit_width(dtype) != dtypes.bit_width(x.dtype):
        raise TEError(f"bitcast: {x.dtype} and {dtype} have different numbers of bits")
    return elementwise("bitcast", x, lambda value: ops.bitcast(dtype, value))


def full(shape: Sequence[Dim], value: Number, dtype: str = "f32") -> Tensor:
    """A tensor of `shape` (elements) whose every element is `value`, rounded to `dtype`."""
    element = number("full", value, dtype)
    return stage("full", shape, lambda _: element)


def shape_of(x: Tensor) -> Tensor:
    """The extents of `x`, one i64 per dimension."""

    def body(at: Indices) -> Expr:
        extent = ops.cast("i64", 0)
        for dim in reversed(range(x.rank)):
            extent = ops.select(ops.equal(at[0], const(dim, "index")), ops.cast("i64", x.shape[dim]), extent)
        return extent

    return stage("shape_of", (x.rank,), body)
