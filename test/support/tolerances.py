"""
The one table of tolerances, by op and element type, and the only comparison that numeric tests use.

A result matches the reference when NaN meets NaN, infinities are equal, and elsewhere

    |found - expected| <= ulp * spacing(expected) + absolute + factor * terms * eps * magnitude

- `ulp` and `absolute` are columns of the table. Both 0 means the same bits (the sign of zero included).
- `eps` is that of the accumulator: 2^-23 for f16, bf16 and f32, 2^-52 for f64.
- `terms` and `magnitude` come from the operands (`conditioning`): for a contraction the number K of products and
  sum |a||b|, for a sum the number of summands and sum |x|. By the standard bound of summation in any order
  (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2) the error is at most
  (K - 1) eps / 2 * sum |a||b| to first order, so `factor` = 1 leaves a factor of two.

Numeric tests say `check_case` or `check_program`; a test of this file refuses any other tolerance in them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from convolution_padding import numbers_only, padding_left_out
from stepwell import reference
from stepwell.reference.element_types import NAMES
from stepwell.te import dtypes
from stepwell.te.dtypes import FLOATS, STORED_FLOATS
from stepwell.testing.programs.ir_generators import OpCase

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Tolerance:
    """One row: see the formula of the module."""

    ulp: float = 0.0
    absolute: float = 0.0
    factor: float = 0.0
    signed_zero: bool = True
    """Whether a zero must have the sign of the expected zero."""


EXACT: Final = Tolerance()

MANTISSA: Final = {dtype: dtypes.TABLE[dtype].mantissa_bits + 1 for dtype in FLOATS}
LEAST_EXPONENT: Final = {dtype: 1 - dtypes.TABLE[dtype].bias for dtype in FLOATS}
GREATEST_EXPONENT: Final = {dtype: math.frexp(dtypes.TABLE[dtype].greatest)[1] - 1 for dtype in FLOATS}


def function(f32: float, f64: float, *, absolute: float = 0.0, absolute_f64: float = 0.0) -> dict[str, Tolerance]:
    """
    Rows of a function: `f32` and `f64` ulp; on the small floats the f32 result is rounded once more, so its error
    can only move a result across one rounding boundary: 1 ulp.
    """
    return {
        "f32": Tolerance(f32, absolute),
        "f64": Tolerance(f64, absolute_f64),
        "f16": Tolerance(1, absolute),
        "bf16": Tolerance(1, absolute),
    }


def accumulated(factor: float = 1.0) -> dict[str, Tolerance]:
    """Rows of a sum of products: 1 ulp for the last rounding, the rest from the operands."""
    row = Tolerance(1, 0.0, factor, signed_zero=False)
    return {dtype: row for dtype in FLOATS if dtype not in STORED_FLOATS}


# The f32 column is that of docs/numerics.md, in whole ulp; it is never wider than the bounds of the project.
TABLE: Final[dict[str, dict[str, Tolerance]]] = {
    "exp": function(2, 4),
    "exp2": function(2, 4),
    "expm1": function(2, 4),
    "log": function(2, 4),
    "log2": function(2, 4),
    "log10": function(2, 4),
    "log1p": function(2, 4),
    "rsqrt": function(2, 2),
    "sin": function(2, 4),
    "cos": function(2, 4),
    "tan": function(1, 4),
    "tanh": function(3, 4),
    "sinh": function(2, 4),
    "cosh": function(2, 4),
    "asin": function(3, 4),
    "acos": function(2, 4),
    "atan": function(2, 4),
    "asinh": function(2, 4),
    "acosh": function(3, 4),
    "atanh": function(3, 4),
    "power": function(2, 4),
    # 1 / (1 + exp(-x)): the result may be subnormal, where an ulp is no longer relative.
    "sigmoid": function(5, 4),
    # x * sigmoid(x) multiplies the error of a subnormal sigmoid by up to 104 (f32) or 745 (f64).
    "silu": function(5, 6, absolute=1e-42, absolute_f64=2e-320),
    "erf": function(2, 4),
    # 1 + erf cancels for negative x: absolute; the ulp are for large positive x.
    "gelu": function(4, 8, absolute=1e-6, absolute_f64=1e-14),
    # Only a quotient beyond the integers that the type holds may be rounded differently.
    "floor_divide": function(1, 1),
    "sum": accumulated(),
    "mean": accumulated(),
    "prod": accumulated(),
    "matmul": accumulated(),
    "conv2d": accumulated(),
    "matmul_packed": accumulated(),
    "avg_pool2d": accumulated(),
    "softmax": accumulated(),
    "log_softmax": accumulated(),
    "batch_norm": accumulated(),
    "layer_norm": accumulated(),
    "instance_norm": accumulated(),
    "group_norm": accumulated(),
    "l2_normalize": accumulated(),
    "rms_norm": accumulated(),
    "resample": accumulated(),
    "sample": accumulated(),
    # Whole programs: `terms` is the depth of the program's sums, `magnitude` its largest finite result.
    "program": accumulated(4.0),
}
"""Ops that are not here are exact in every element type; so are all ops on integers and i1."""


def tolerance(op: str, dtype: str) -> Tolerance:
    """The row of an op (`exp`) on results of an element type (`f32`)."""
    return TABLE.get(op, {}).get(dtype, EXACT)


def spacing(values: Array, dtype: str) -> Array:
    """One unit in the last place of each value, in `dtype`; that of the largest number for infinities."""
    magnitude = np.abs(values.astype(np.float64))
    _, exponent = np.frexp(np.where(np.isfinite(magnitude) & (magnitude > 0), magnitude, 1.0))
    exponent = np.where(magnitude == 0, LEAST_EXPONENT[dtype], exponent - 1)
    exponent = np.where(np.isinf(magnitude), GREATEST_EXPONENT[dtype], exponent)
    return np.ldexp(np.longdouble(1), np.maximum(exponent, LEAST_EXPONENT[dtype]) - (MANTISSA[dtype] - 1))


def accumulator_eps(dtype: str) -> float:
    return 2.0**-52 if dtype == "f64" else 2.0**-23


@dataclass(frozen=True)
class Conditioning:
    """How far rounding may move a result: see the formula of the module."""

    terms: float
    magnitude: Array


def conditioning(op: str, properties: dict[str, Any], arrays: Sequence[Array]) -> Conditioning | None:
    """`terms` and `magnitude` of the first result of an op that sums; `None` for other ops and empty operands."""
    rule = _CONDITIONS.get(op)
    if rule is None or NAMES[arrays[0].dtype] not in FLOATS or not all(array.size for array in arrays):
        return None
    with np.errstate(all="ignore"):
        exact = [array.astype(np.float64) for array in arrays]
        return rule(op, {name: value for name, value in properties.items() if name != "out_dtype"}, exact)


def _first(op: str, properties: dict[str, Any], *arrays: Array) -> Array:
    return reference.evaluate(f"graph.{op}", properties, *arrays)[0].astype(np.longdouble)


def _of_sum(op: str, properties: dict[str, Any], arrays: list[Array]) -> Conditioning:
    """Sums, products, means and contractions: the op itself on absolute values."""
    magnitude = _first(op, properties, *(np.abs(array) for array in arrays))
    x = arrays[0]
    match op:
        case "matmul":
            terms = x.shape[-1]
        case "conv2d":
            terms = arrays[1].size / max(1, magnitude.shape[1 if properties.get("data_layout") is None else -1])
        case "avg_pool2d":
            terms = np.prod(properties["pool_size"])
        case _:
            terms = x.size / max(1, magnitude.size)
    return Conditioning(float(terms) + 2, magnitude)


def _of_packed(op: str, properties: dict[str, Any], arrays: list[Array]) -> Conditioning:
    """The product of absolute values, of which those of the weights are the product of a unit matrix with them."""
    x, weights, scale, zero_point = arrays
    bytes_ = [array.astype(np.uint8) for array in (weights, zero_point)]
    real = np.abs(_first(op, properties, np.eye(x.shape[-1]), bytes_[0], scale, bytes_[1]))
    return Conditioning(float(x.shape[-1]) + 4, np.abs(x) @ real)


def _finite_spread(x: Array) -> float:
    finite = x[np.isfinite(x)]
    return float(np.ptp(finite)) if finite.size else 0.0


def _of_softmax(op: str, properties: dict[str, Any], arrays: list[Array]) -> Conditioning:
    """The rounding of `x - max` moves `exp` by its relative error; the sum adds the number of its terms."""
    (x,) = arrays
    y = np.abs(_first(op, properties, x))
    terms = x.shape[properties.get("axis", -1)] + _finite_spread(x) + 6
    return Conditioning(terms, y if op == "softmax" else y + 1)


def _of_batch_norm(op: str, properties: dict[str, Any], arrays: list[Array]) -> Conditioning:
    """`(|x| + |mean|) / sqrt(var + epsilon) * |gamma| + |beta|`: also the folded form `x * scale + shift`."""
    x, gamma, beta, mean, var = arrays
    magnitude = _first(op, properties, np.abs(x), np.abs(gamma), np.abs(beta), -np.abs(mean), var)
    return Conditioning(8.0, magnitude)


def _of_layer_norm(op: str, properties: dict[str, Any], arrays: list[Array]) -> Conditioning:
    """`(|x| + mean |x|) / sqrt(var + epsilon) * |gamma| + |beta|`."""
    x, gamma, beta = arrays
    axes = tuple(properties.get("axes", [-1]))
    keep = {"axis": axes, "keepdims": True}
    deviation = np.sqrt(np.var(x, **keep) + properties.get("epsilon", 1e-5))
    size = (np.abs(x) + np.mean(np.abs(x), **keep)) / deviation
    inner = sorted(axis % x.ndim for axis in axes)
    shape = [extent if axis in inner else 1 for axis, extent in enumerate(x.shape)]
    magnitude = size * np.abs(gamma).reshape(shape) + np.abs(beta).reshape(shape)
    return Conditioning(float(gamma.size) + 6, magnitude.astype(np.longdouble))


def _of_groups(op: str, properties: dict[str, Any], arrays: list[Array]) -> Conditioning:
    """As `_of_layer_norm`, the statistics over groups of channels."""
    x, gamma, beta = arrays
    channels = np.moveaxis(x, properties.get("axis", 1), 1)
    rows = channels.reshape(len(x), properties.get("num_groups", channels.shape[1]), -1)
    keep = {"axis": 2, "keepdims": True}
    deviation = np.sqrt(np.var(rows, **keep) + properties.get("epsilon", 1e-5))
    size = ((np.abs(rows) + np.mean(np.abs(rows), **keep)) / deviation).reshape(channels.shape)
    shape = [-1, *[1] * (x.ndim - 2)]
    magnitude = size * np.abs(gamma).reshape(shape) + np.abs(beta).reshape(shape)
    magnitude = np.moveaxis(magnitude, 1, properties.get("axis", 1))
    return Conditioning(float(rows.shape[2]) + 6, magnitude.astype(np.longdouble))


def _of_norm(op: str, properties: dict[str, Any], arrays: list[Array]) -> Conditioning:
    """A sum of positive terms is as exact as its terms, and so is what is divided by it."""
    magnitude = np.abs(_first(op, properties, *arrays))
    terms = np.prod([arrays[0].shape[axis] for axis in properties.get("axes", [-1])])
    return Conditioning(float(terms) + 6, magnitude)


def _of_resample(op: str, properties: dict[str, Any], arrays: list[Array]) -> Conditioning:
    """The op itself on absolute values."""
    x, indices, weights = arrays
    magnitude = _first(op, properties, np.abs(x), indices, np.abs(weights))
    return Conditioning(float(weights.shape[1]) + 2, magnitude)


def _of_sample(op: str, properties: dict[str, Any], arrays: list[Array]) -> Conditioning:
    """Weights of cubic convolution are sums of terms up to 6: each of up to 4 taps per dimension is that inexact."""
    x = arrays[0]
    largest = np.max(np.abs(x), initial=0.0, where=np.isfinite(x))
    return Conditioning(16.0 * 4 ** (x.ndim - 2), np.longdouble(largest) * np.ones((), np.longdouble))


_CONDITIONS: Final[dict[str, Any]] = {
    **dict.fromkeys(("sum", "prod", "mean", "matmul", "conv2d", "avg_pool2d"), _of_sum),
    **dict.fromkeys(("softmax", "log_softmax"), _of_softmax),
    "matmul_packed": _of_packed,
    "batch_norm": _of_batch_norm,
    "layer_norm": _of_layer_norm,
    "rms_norm": _of_norm,
    "resample": _of_resample,
    "sample": _of_sample,
    "l2_normalize": _of_norm,
    "group_norm": _of_groups,
    "instance_norm": _of_groups,
}


def bound_of(row: Tolerance, expected: Array, condition: Conditioning | None) -> Array:
    """The largest allowed difference for each element."""
    dtype = NAMES[expected.dtype]
    bound = row.ulp * spacing(expected, dtype) + row.absolute
    if condition is not None:
        spread = row.factor * condition.terms * accumulator_eps(dtype) * condition.magnitude
        bound = bound + np.where(np.isfinite(spread), spread, 0)
    return bound


def mismatch(row: Tolerance, found: Array, expected: Array, condition: Conditioning | None = None) -> str | None:
    """What is wrong with `found`, `None` when it matches `expected`."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"found {found.dtype} of shape {found.shape}, expected {expected.dtype} of shape {expected.shape}"
    dtype = NAMES[expected.dtype]
    if dtype not in FLOATS:
        return _first_difference(found != expected, found, expected, None)
    with np.errstate(all="ignore"):
        wrong = np.isnan(found) != np.isnan(expected)
        exact = row.ulp == 0 and row.absolute == 0 and row.factor == 0
        bound = np.zeros(expected.shape, np.longdouble) if exact else bound_of(row, expected, condition)
        # An infinity stands for the first power of two that overflows, so that it may be near the largest number.
        beyond = np.ldexp(np.longdouble(1), GREATEST_EXPONENT[dtype] + 1)
        both = [np.clip(array.astype(np.longdouble), -beyond, beyond) for array in (found, expected)]
        wrong |= np.abs(both[0] - both[1]) > bound
        if row.signed_zero:
            zeros = (found == 0) & (expected == 0)
            wrong |= zeros & (np.signbit(found) != np.signbit(expected))
        return _first_difference(wrong, found, expected, bound)


def _first_difference(wrong: Array, found: Array, expected: Array, bound: Array | None) -> str | None:
    places = np.argwhere(wrong)
    if not len(places):
        return None
    place = tuple(int(index) for index in places[0])
    allowed = "" if bound is None else f", allowed difference {float(np.broadcast_to(bound, wrong.shape)[place]):.3g}"
    return (
        f"{len(places)} of {wrong.size} elements differ, the first at {list(place)}:"
        f" found {found[place]!r}, expected {expected[place]!r}{allowed}"
    )


def check_case(case: OpCase, arrays: Sequence[Array], found: Sequence[Array], expected: Sequence[Array]) -> None:
    """Asserts that the results of one op match the reference within its row of the table."""
    assert len(found) == len(expected), f"{case.name} gave {len(found)} results, expected {len(expected)}"
    weighed = [arrays[0], numbers_only(arrays[1])] if case.op == "conv2d" else arrays
    condition = conditioning(case.op, dict(case.properties), weighed)
    for number, (one, wanted) in enumerate(zip(found, expected, strict=True)):
        # Only the first result is computed; the others of batch_norm are operands, those of split parts of one.
        row = tolerance(case.op, NAMES[wanted.dtype]) if number == 0 else EXACT
        if case.op == "conv2d":
            wanted = padding_left_out(dict(case.properties), arrays[0], arrays[1], np.asarray(one), wanted)
        problem = mismatch(row, np.asarray(one), wanted, condition if number == 0 else None)
        if problem is not None:
            text = case.text("%r", [f"%{k}" for k in range(len(case.operands))], case.results())
            raise AssertionError(f"{text}\n  result {number}: {problem}")


def check_program(terms: int, found: Sequence[Array], expected: Sequence[Array]) -> None:
    """Asserts that the results of a program match; integer results exactly, floats by the row `program`."""
    assert len(found) == len(expected), f"{len(found)} results, expected {len(expected)}"
    for number, (one, wanted) in enumerate(zip(found, expected, strict=True)):
        dtype = NAMES[wanted.dtype]
        condition = None
        if dtype in FLOATS:
            wide = np.abs(wanted.astype(np.longdouble))
            finite = wide[np.isfinite(wide)]
            condition = Conditioning(terms, np.asarray(finite.max() if finite.size else 0.0))
        problem = mismatch(tolerance("program", dtype), np.asarray(one), wanted, condition)
        assert problem is None, f"result {number}: {problem}"


RANDOM_PROGRAM_TERMS: Final = 600
"""`terms` of the row `program` for random programs: a dozen ops, each of at most some tens of roundings."""


def check_random_program(largest: float, found: Sequence[Array], expected: Sequence[Array]) -> None:
    """Like `check_program`, relative to the largest value met on the way: results may come from cancellation."""
    assert len(found) == len(expected), f"{len(found)} results, expected {len(expected)}"
    condition = Conditioning(RANDOM_PROGRAM_TERMS, np.asarray(largest, np.longdouble))
    for number, (one, wanted) in enumerate(zip(found, expected, strict=True)):
        dtype = NAMES[wanted.dtype]
        problem = mismatch(tolerance("program", dtype), np.asarray(one), wanted, condition if dtype in FLOATS else None)
        assert problem is None, f"result {number}: {problem}"


def check_same(found: Sequence[Array], expected: Sequence[Array]) -> None:
    """Asserts the same bits, NaN payload aside."""
    assert len(found) == len(expected), f"{len(found)} results, expected {len(expected)}"
    for number, (one, wanted) in enumerate(zip(found, expected, strict=True)):
        problem = mismatch(EXACT, np.asarray(one), wanted)
        assert problem is None, f"result {number}: {problem}"
