"""Elementwise ops with one operand, `clip` and `astype`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .element_types import (
    DTYPES,
    Array,
    convert,
    is_float,
    is_integer,
    is_unsigned,
    number,
    round_to,
    single_op_dtype,
    widen,
)

Properties = dict[str, Any]
Reference = Callable[..., tuple[Array, ...]]


def maximum_of(x: Array, y: Array) -> Array:
    """Returns the `maximum` with NaN propagated and -0 < +0."""
    with np.errstate(all="ignore"):
        result = np.maximum(x, y)
        if not is_float(result.dtype):
            return result
        zeros = (x == 0) & (y == 0)
        return np.where(zeros, np.where(np.signbit(x), y, x), result).astype(result.dtype)


def minimum_of(x: Array, y: Array) -> Array:
    """Returns the `minimum` with NaN propagated and -0 < +0."""
    with np.errstate(all="ignore"):
        result = np.minimum(x, y)
        if not is_float(result.dtype):
            return result
        zeros = (x == 0) & (y == 0)
        return np.where(zeros, np.where(np.signbit(x), x, y), result).astype(result.dtype)


def _by_function(function: Callable[[Array], Array]) -> Reference:
    """Makes the reference of a real function, which is evaluated in the wide type and rounded once."""

    def reference(properties: Properties, x: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return (round_to(function(widen(x)), x.dtype),)

    return reference


def _by_single_operation(function: Callable[[Array], Array]) -> Reference:
    """
    Makes the reference of one exact or correctly rounded operation, in the type itself (`f32` for the small floats).
    """

    def reference(properties: Properties, x: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return (round_to(function(x.astype(single_op_dtype(x.dtype))), x.dtype),)

    return reference


def _integers_unchanged(function: Callable[[Array], Array]) -> Reference:
    """Makes the reference of a rounding function, which leaves integers unchanged."""
    on_floats = _by_single_operation(function)

    def reference(properties: Properties, x: Array) -> tuple[Array, ...]:
        return on_floats(properties, x) if is_float(x.dtype) else (x.copy(),)

    return reference


_erf_elements = np.frompyfunc(math.erf, 1, 1)
_erfc_elements = np.frompyfunc(math.erfc, 1, 1)


def erf_of(x: Array) -> Array:
    """Returns the error function in `float64`, from the C library, whose error is below 1 ulp."""
    return np.asarray(_erf_elements(x.astype(np.float64)), dtype=np.float64).reshape(x.shape)


def erfc_of(x: Array) -> Array:
    """Returns `1 - erf(x)` in `float64` without cancellation."""
    return np.asarray(_erfc_elements(x.astype(np.float64)), dtype=np.float64).reshape(x.shape)


def sigmoid_of(x: Array) -> Array:
    """Returns `1 / (1 + exp(-x))`, from `exp(-|x|)` so that nothing overflows."""
    decay = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + decay), decay / (1 + decay))


def silu_of(x: Array) -> Array:
    return np.where(np.isneginf(x), np.asarray(-0.0, x.dtype), x * sigmoid_of(x))


def gelu_of(x: Array, approximate: str) -> Array:
    """Returns `x * Phi(x)`, by `erfc` because `1 + erf` cancels for negative `x`."""
    if approximate == "tanh":
        # 0.5 (1 + tanh u) = sigmoid(2 u), which keeps its digits for negative u.
        u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        result = x * sigmoid_of(2 * u)
    elif approximate == "none":
        result = x / 2 * erfc_of(-x / math.sqrt(2)).astype(x.dtype)
    else:
        raise ValueError(f"approximate is '{approximate}', expected 'none' or 'tanh'")
    return np.where(np.isneginf(x), np.asarray(-0.0, x.dtype), result)


def rsqrt_of(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _negative(properties: Properties, x: Array) -> tuple[Array, ...]:
    if is_float(x.dtype):
        return _by_single_operation(np.negative)(properties, x)
    return ((~x + np.ones((), x.dtype)).astype(x.dtype),)


def _abs(properties: Properties, x: Array) -> tuple[Array, ...]:
    if is_float(x.dtype):
        return _by_single_operation(np.abs)(properties, x)
    if is_unsigned(x.dtype):
        return (x.copy(),)
    return (np.where(x < 0, _negative(properties, x)[0], x).astype(x.dtype),)


def _sign(properties: Properties, x: Array) -> tuple[Array, ...]:
    value = x.astype(single_op_dtype(x.dtype))
    one, zero = np.ones((), x.dtype), np.zeros((), x.dtype)
    minus_one = (zero - one).astype(x.dtype)
    result = np.where(value > 0, one, np.where(value < 0, minus_one, zero))
    return (np.where(value != value, x, result).astype(x.dtype),)


def _square(properties: Properties, x: Array) -> tuple[Array, ...]:
    with np.errstate(all="ignore"):
        return _by_single_operation(lambda v: v * v)(properties, x) if is_float(x.dtype) else ((x * x).astype(x.dtype),)


def _gelu(properties: Properties, x: Array) -> tuple[Array, ...]:
    approximate = properties.get("approximate", "none")
    return _by_function(lambda v: gelu_of(v, approximate))(properties, x)


def _relu(properties: Properties, x: Array) -> tuple[Array, ...]:
    return (maximum_of(x, np.zeros((), x.dtype)),)


def _leaky_relu(properties: Properties, x: Array) -> tuple[Array, ...]:
    compute = single_op_dtype(x.dtype)
    alpha = number(properties.get("alpha", 0.01), compute)
    with np.errstate(all="ignore"):
        value = x.astype(compute)
        return (round_to(np.where(value > 0, value, alpha * value).astype(compute), x.dtype),)


def _logical_not(properties: Properties, x: Array) -> tuple[Array, ...]:
    return (np.logical_not(x),)


def _bitwise_not(properties: Properties, x: Array) -> tuple[Array, ...]:
    return (np.invert(x),)


def _test(predicate: Callable[[Array], Array]) -> Reference:
    def reference(properties: Properties, x: Array) -> tuple[Array, ...]:
        return (np.asarray(predicate(x.astype(single_op_dtype(x.dtype))), np.bool_),)

    return reference


def _clip(properties: Properties, x: Array) -> tuple[Array, ...]:
    result = x
    if properties.get("min") is not None:
        result = maximum_of(result, number(properties["min"], x.dtype))
    if properties.get("max") is not None:
        result = minimum_of(result, number(properties["max"], x.dtype))
    return (result.astype(x.dtype),)


def _astype(properties: Properties, x: Array) -> tuple[Array, ...]:
    return (np.asarray(convert(x, DTYPES[properties["dtype"]])),)


def _bitcast(properties: Properties, x: Array) -> tuple[Array, ...]:
    return (np.ascontiguousarray(x).view(DTYPES[properties["dtype"]]).reshape(x.shape),)


def _checked_integer(function: Reference) -> Reference:
    """Refuses integers and booleans where docs/semantics.md has only floats."""

    def reference(properties: Properties, x: Array) -> tuple[Array, ...]:
        if is_integer(x.dtype) or x.dtype == np.bool_:
            raise TypeError(f"element type is {x.dtype}, expected a float")
        return function(properties, x)

    return reference


_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "rsqrt": rsqrt_of,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": erf_of,
    "sigmoid": sigmoid_of,
    "silu": silu_of,
}

OPS: dict[str, Reference] = {
    **{f"graph.{name}": _checked_integer(_by_function(function)) for name, function in _FUNCTIONS.items()},
    "graph.sqrt": _checked_integer(_by_single_operation(np.sqrt)),
    "graph.negative": _negative,
    "graph.abs": _abs,
    "graph.sign": _sign,
    "graph.square": _square,
    "graph.gelu": _checked_integer(_gelu),
    "graph.relu": _relu,
    "graph.leaky_relu": _checked_integer(_leaky_relu),
    "graph.floor": _integers_unchanged(np.floor),
    "graph.ceil": _integers_unchanged(np.ceil),
    "graph.trunc": _integers_unchanged(np.trunc),
    "graph.round": _integers_unchanged(np.rint),
    "graph.logical_not": _logical_not,
    "graph.bitwise_not": _bitwise_not,
    "graph.isnan": _test(np.isnan),
    "graph.isinf": _test(np.isinf),
    "graph.isfinite": _test(np.isfinite),
    "graph.clip": _clip,
    "graph.astype": _astype,
    "graph.bitcast": _bitcast,
}
