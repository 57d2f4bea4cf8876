"""Operators on each element: arithmetic, comparisons, logic, mathematical functions, activations, conversions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ....te import numeric
from ....te.dtypes import STORED, STORED_FLOATS, TABLE, is_float, is_small_integer
from ..emitting.folding import LARGEST
from ..emitting.graph_builder import GraphBuilder
from ..emitting.values import dtype_of
from ..errors import ConversionError
from ..registry import Known, converter, direct
from ..types import DTYPES, type_text
from ..value import Value

# One operand

for _operator, _op in {
    "Abs": "abs",
    "Ceil": "ceil",
    "Cos": "cos",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "Log": "log",
    "Neg": "negative",
    "Not": "logical_not",
    "BitwiseNot": "bitwise_not",
    "Relu": "relu",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sin": "sin",
    "Sqrt": "sqrt",
    "Tan": "tan",
    "Tanh": "tanh",
    "IsNaN": "isnan",
}.items():
    direct(_operator, _op)

direct("LeakyRelu", "leaky_relu", alpha=("alpha", 0.01))
direct("Gelu", "gelu", since=20, approximate=("approximate", "none"))


@converter("Identity")
def identity(b: GraphBuilder, x: Value) -> Value:
    return x


@converter("Reciprocal")
def reciprocal(b: GraphBuilder, x: Value) -> Value:
    return b.divide(b.full((), 1, x.dtype), x)


@converter("IsInf")
def is_inf(b: GraphBuilder, x: Value, *, detect_negative: int = 1, detect_positive: int = 1) -> Value:
    if detect_negative and detect_positive:
        return b.isinf(x)
    if not detect_negative and not detect_positive:
        return b.logical_xor(b.isinf(x), b.isinf(x))
    return b.equal(x, math.inf if detect_positive else -math.inf)


# Two operands and more

for _operator, _op in {
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Div": "divide",
    "And": "logical_and",
    "Or": "logical_or",
    "Xor": "logical_xor",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Equal": "equal",
    "Greater": "greater",
    "GreaterOrEqual": "greater_equal",
    "Less": "less",
    "LessOrEqual": "less_equal",
}.items():
    direct(_operator, _op, inputs=2, since=7)

direct("Where", "where", inputs=3)


def _fold_left(op: str) -> Callable[..., Value]:
    def convert(b: GraphBuilder, *xs: Value) -> Value:
        if not xs:
            raise ConversionError("the node has no inputs")
        result = xs[0]
        for x in xs[1:]:
            result = getattr(b, op)(result, x)
        return result

    return convert


for _operator, _op in {"Max": "maximum", "Min": "minimum", "Sum": "add"}.items():
    converter(_operator)(_fold_left(_op))


@converter("Mean")
def mean(b: GraphBuilder, *xs: Value) -> Value:
    return b.divide(_fold_left("add")(b, *xs), float(len(xs)))


@converter("Pow")
def power(b: GraphBuilder, x: Value, y: Value) -> Value:
    """Returns a power. The exponent may have another element type. A constant 2 or 1/2 is a square or a root."""
    known = y.known
    if known is not None and known.size == 1 and x.dtype.startswith(("f", "b")) and known.ndim <= x.rank:
        if float(known.reshape(())) == 2:
            return b.square(x)
        if float(known.reshape(())) == 0.5:
            return b.sqrt(x)
    if x.dtype == y.dtype:
        return b.power(x, y)
    if x.dtype.startswith(("f", "b")):
        return b.power(x, b.astype(y, dtype=x.dtype))
    return b.astype(b.power(b.astype(x, dtype="f64"), b.astype(y, dtype="f64")), dtype=x.dtype)


# Conversions


def dtype_of_number(number: int) -> str:
    """The element type that a node names by its number in `TensorProto`."""
    if number not in DTYPES:
        raise ConversionError(f"element type {type_text(number)} is not supported")
    return DTYPES[number]


@converter("Cast")
def cast(b: GraphBuilder, x: Value, *, to: int, saturate: int = 1, round_mode: str = "up") -> Value:
    """Casts elements. `round_mode` is about a type that is refused."""
    return converted(b, x, dtype_of_number(to), saturate)


def converted(b: GraphBuilder, x: Value, dtype: str, saturate: int) -> Value:
    """
    Returns `x` as `dtype`. What lies beyond a float of 8 bits, infinities too, is its greatest number if `saturate`.

    A number beyond an integer of less than a byte loses its upper bits. The operator leaves it open, its cases do not.

    Source: the tables of the operator Cast. Rounding what was clipped is clipping what was rounded.
    """
    if dtype == x.dtype:
        return x
    if is_small_integer(dtype) and is_float(x.dtype):
        x = b.astype(x, dtype="i32")
    if saturate and dtype in STORED_FLOATS:
        wide = x if x.dtype == "f64" else b.astype(x, dtype="f32")
        x = b.clip(wide, min=-TABLE[dtype].greatest, max=TABLE[dtype].greatest)
    return b.astype(x, dtype=dtype)


@converter("CastLike")
def cast_like(b: GraphBuilder, x: Value, like: Value, *, saturate: int = 1, round_mode: str = "up") -> Value:
    """Casts `x` to the element type of `like`. What is known stays known."""
    if like.dtype == x.dtype:
        return x
    known = x.known
    if known is None or known.size > LARGEST or like.dtype in STORED:
        return converted(b, x, like.dtype, saturate)
    return b.constant(numeric.cast(x.dtype, like.dtype, known))


# Bounds


@converter("Clip", since=11)
def clip(b: GraphBuilder, x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    """Bounds the elements. With `low > high` every element is `high`."""
    bounds = {"min": scalar(low), "max": scalar(high)}
    if (low is None or bounds["min"] is not None) and (high is None or bounds["max"] is not None):
        return b.clip(x, **bounds) if bounds["min"] is not None or bounds["max"] is not None else x
    low, high = (each if each is None or not each.rank else b.reshape(each, shape=()) for each in (low, high))
    result = x if low is None else b.maximum(x, low)
    return result if high is None else b.minimum(result, high)


@converter("Clip", since=6)
def clip_by_attributes(b: GraphBuilder, x: Value, *, min: float | None = None, max: float | None = None) -> Value:
    return x if min is None and max is None else b.clip(x, min=min, max=max)


def scalar(value: Value | None) -> Any:
    """Returns a known tensor of one element as a Python number, `None` for any other value."""
    known = None if value is None else value.known
    return known.reshape(()).item() if known is not None and known.size == 1 else None


@converter("ConstantOfShape", since=9)
def constant_of_shape(b: GraphBuilder, shape: Known, *, value: Any = None) -> Value:
    sizes = tuple(int(dim) for dim in shape)  # pyright: ignore[reportGeneralTypeIssues]
    if value is None:
        return b.full(sizes, 0.0, "f32")
    return b.full(sizes, value.reshape(()).item(), dtype_of(value))
