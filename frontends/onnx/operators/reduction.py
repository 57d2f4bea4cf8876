"""Operators along axes: reductions, softmax."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ..emitter import Emitter
from ..registry import Known, converter, direct
from ..values import Value
from .movement import ints

direct("Softmax", "softmax", since=13, axis=("axis", -1))
direct("LogSoftmax", "log_softmax", since=13, axis=("axis", -1))


def flattened(build: Callable[..., Value]) -> Callable[..., Value]:
    """Before version 13 the dimensions from `axis` on count as one."""

    def convert(b: Emitter, x: Value, *, axis: int = 1) -> Value:
        axis = axis + x.rank if axis < 0 else axis
        if axis == x.rank - 1:
            return build(b, x, axis=-1)
        shape = b.static_shape(x, "the input")
        rows = b.reshape(x, shape=(prod(shape[:axis]), prod(shape[axis:])))
        return b.reshape(build(b, rows, axis=-1), shape=shape)

    return convert


converter("Softmax")(flattened(lambda b, x, axis: b.softmax(x, axis=axis)))
converter("LogSoftmax")(flattened(lambda b, x, axis: b.log_softmax(x, axis=axis)))


def _reduction(operator: str, build: Callable[..., Value], since: int) -> None:
    """`operator` takes its axes as an attribute, and from version `since` on as an input."""

    def by_attribute(
        b: Emitter, x: Value, *, axes: tuple[int, ...] | None = None, keepdims: int = 1
    ) -> Value:
        return build(b, x, axis=axes or None, keepdims=bool(keepdims))

    def by_input(
        b: Emitter, x: Value, axes: Known | None = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> Value:
        along = None if axes is None else ints(axes)
        if not along and noop_with_empty_axes:
            return build(b, x, axis=(), keepdims=True)
        return build(b, x, axis=along or None, keepdims=bool(keepdims))

    converter(operator)(by_attribute)
    converter(operator, since=since)(by_input)


def _op(name: str) -> Callable[..., Value]:
    def build(b: Emitter, x: Value, *, axis: Any, keepdims: bool) -> Value:
        return x if axis == () else getattr(b, name)(x, axis=axis, keepdims=keepdims)

    return build


_reduction("ReduceSum", _op("sum"), 13)
_reduction("ReduceMean", _op("mean"), 18)
_reduction("ReduceMax", _op("max"), 18)
_reduction("ReduceMin", _op("min"), 18)
_reduction("ReduceProd", _op("prod"), 18)
