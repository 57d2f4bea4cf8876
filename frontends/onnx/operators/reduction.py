"""Operators along axes: reductions, softmax."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import prod
from typing import Any

from ....te import dtypes
from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of, product
from ..registry import Known, converter, direct
from ..value import Value
from .movement import ints

direct("Softmax", "softmax", since=13, axis=("axis", -1))
direct("LogSoftmax", "log_softmax", since=13, axis=("axis", -1))


def flattened(build: Callable[..., Value]) -> Callable[..., Value]:
    """Wraps a converter for versions before 13, in which the dimensions from `axis` on count as one."""

    def convert(b: GraphBuilder, x: Value, *, axis: int = 1) -> Value:
        axis = axis + x.rank if axis < 0 else axis
        if axis == x.rank - 1:
            return build(b, x, axis=-1)
        shape = extents_of(x)
        rows = reshaped(b, x, (product(shape[:axis]), product(shape[axis:])))
        return reshaped(b, build(b, rows, axis=-1), shape)

    return convert


converter("Softmax")(flattened(lambda b, x, axis: b.softmax(x, axis=axis)))
converter("LogSoftmax")(flattened(lambda b, x, axis: b.log_softmax(x, axis=axis)))


def _reduction(operator: str, build: Callable[..., Value], since: int) -> None:
    """Registers a reduction. It takes its axes as an attribute, and from version `since` on as an input."""

    def by_attribute(b: GraphBuilder, x: Value, *, axes: tuple[int, ...] | None = None, keepdims: int = 1) -> Value:
        return build(b, x, axis=axes or None, keepdims=bool(keepdims))

    def by_input(
        b: GraphBuilder, x: Value, axes: Known | None = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> Value:
        along = None if axes is None else ints(axes)
        if not along and noop_with_empty_axes:
            return build(b, x, axis=(), keepdims=True)
        return build(b, x, axis=along or None, keepdims=bool(keepdims))

    converter(operator)(by_attribute)
    converter(operator, since=since)(by_input)


def _op(name: str) -> Callable[..., Value]:
    def build(b: GraphBuilder, x: Value, *, axis: Any, keepdims: bool) -> Value:
        return x if axis == () else getattr(b, name)(x, axis=axis, keepdims=keepdims)

    return build


def _extremum(name: str, of_bools: str, of_nothing: float) -> Callable[..., Value]:
    """
    Returns the largest or smallest element. Of no elements it is the neutral one, an infinity or the last integer.
    """

    def build(b: GraphBuilder, x: Value, *, axis: Any, keepdims: bool) -> Value:
        if axis == ():
            return x
        if x.dtype == "i1":
            return getattr(b, of_bools)(x, axis=axis, keepdims=keepdims)
        along = _along(x, axis)
        if not any(x.shape[each] == 0 for each in along):
            return getattr(b, name)(x, axis=axis, keepdims=keepdims)
        shape = b.static_shape(x, "the input")
        kept = [1 if d in along else extent for d, extent in enumerate(shape) if keepdims or d not in along]
        return b.full(tuple(kept), _neutral(x.dtype, of_nothing), x.dtype)

    return build


def _along(x: Value, axis: Any) -> tuple[int, ...]:
    """The axes of a reduction, counted from the front."""
    return tuple(range(x.rank)) if axis is None else tuple(each % x.rank for each in axis)


def _neutral(dtype: str, infinity: float) -> float | int:
    """The infinity, or the integer nearest to it."""
    return infinity if dtypes.is_float(dtype) else dtypes.integer_range(dtype)[infinity > 0]


def _mean(b: GraphBuilder, x: Value, *, axis: Any, keepdims: bool) -> Value:
    """Returns the mean. Of integers it is the sum over the count, cut to an integer."""
    if axis == ():
        return x
    if _is_float(x):
        return b.mean(x, axis=axis, keepdims=keepdims)
    shape = b.static_shape(x, "the input")
    count = prod(shape[each] for each in _along(x, axis))
    return b.divide(b.sum(x, axis=axis, keepdims=keepdims), max(count, 1))


# Composed ones: halves are wide in between, and roots and logarithms of integers are taken in f64


def _is_float(x: Value) -> bool:
    return dtypes.is_float(x.dtype)


def _composed(formula: Callable[..., Value]) -> Callable[..., Value]:
    """Returns `formula(b, x, sum)` of floats, rounded once. `sum` is the reduction that the node asks for."""

    def build(b: GraphBuilder, x: Value, *, axis: Any, keepdims: bool) -> Value:
        inner = dtypes.accumulator(x.dtype) if _is_float(x) else "f64"
        wide = x if inner == x.dtype else b.astype(x, dtype=inner)
        result = formula(b, wide, axis, keepdims)
        return result if inner == x.dtype else b.astype(result, dtype=x.dtype)

    return build


def _sum(b: GraphBuilder, x: Value, axis: Any, keepdims: bool) -> Value:
    return _op("sum")(b, x, axis=axis, keepdims=keepdims)


def _l2(b: GraphBuilder, x: Value, axis: Any, keepdims: bool) -> Value:
    return b.sqrt(_sum(b, b.square(x), axis, keepdims))


def _log_sum(b: GraphBuilder, x: Value, axis: Any, keepdims: bool) -> Value:
    return b.log(_sum(b, x, axis, keepdims))


def _log_sum_exp(b: GraphBuilder, x: Value, axis: Any, keepdims: bool) -> Value:
    """
    Returns `m + log(sum(exp(x - m)))`, which does not overflow. `m` is the largest element, or 0 if that is not finite.
    """
    if axis == ():
        return x
    largest = _extremum("max", "any", -math.inf)(b, x, axis=axis, keepdims=True)
    shift = b.where(b.isfinite(largest), largest, b.full((), 0.0, x.dtype))
    total = b.log(b.sum(b.exp(b.subtract(x, shift)), axis=axis, keepdims=keepdims))
    if not keepdims:
        shift = b.squeeze(shift, axis=_along(x, axis)) if x.rank else shift
    return b.add(shift, total)


def _exact(formula: Callable[..., Value]) -> Callable[..., Value]:
    """Wraps a formula that is exact on integers, which wrap around."""

    def build(b: GraphBuilder, x: Value, *, axis: Any, keepdims: bool) -> Value:
        if not _is_float(x):
            return formula(b, x, axis, keepdims)
        return _composed(formula)(b, x, axis=axis, keepdims=keepdims)

    return build


_reduction("ReduceSum", _op("sum"), 13)
_reduction("ReduceMean", _mean, 18)
_reduction("ReduceMax", _extremum("max", "any", -math.inf), 18)
_reduction("ReduceMin", _extremum("min", "all", math.inf), 18)
_reduction("ReduceProd", _op("prod"), 18)
_reduction("ReduceL1", _exact(lambda b, x, axis, keepdims: _sum(b, b.abs(x), axis, keepdims)), 18)
_reduction("ReduceL2", _composed(_l2), 18)
_reduction("ReduceLogSum", _composed(_log_sum), 18)
_reduction("ReduceLogSumExp", _composed(_log_sum_exp), 18)
_reduction("ReduceSumSquare", _exact(lambda b, x, axis, keepdims: _sum(b, b.square(x), axis, keepdims)), 18)


# Running sums and products


def _scan(operator: str, op: str) -> None:
    def convert(b: GraphBuilder, x: Value, axis: Known, *, exclusive: int = 0, reverse: int = 0) -> Value:
        along = int(axis.reshape(()))  # pyright: ignore[reportAttributeAccessIssue]
        return getattr(b, op)(x, axis=along, exclusive=bool(exclusive), reverse=bool(reverse))

    converter(operator)(convert)


_scan("CumSum", "cumulative_sum")
_scan("CumProd", "cumulative_prod")
