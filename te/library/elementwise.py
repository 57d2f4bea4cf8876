"""The functions of one tensor, element by element."""

from __future__ import annotations

from math import pi
from math import sqrt as _sqrt

from .. import dtypes, ops
from ..expr import Expr, Number, TEError, Unary, const
from ..tensor import Tensor
from .shapes import composite, elementwise, require_bits, require_bool, require_float, require_number, saturated


def negative(x: Tensor) -> Tensor:
    """`-x`. Integers wrap."""
    require_number("negative", x)
    return elementwise("negative", x, lambda value: -value)


def abs(x: Tensor) -> Tensor:
    """`|x|`. The least signed integer stays itself."""
    require_number("abs", x)
    if dtypes.is_unsigned(x.dtype):
        return elementwise("abs", x, lambda value: value)
    return elementwise("abs", x, ops.abs)


def sign(x: Tensor) -> Tensor:
    """-1, 0 or 1. NaN stays NaN, and both zeros give +0."""
    require_number("sign", x)

    def body(value: Expr) -> Expr:
        one = const(1, x.dtype)
        if dtypes.is_unsigned(x.dtype):
            return ops.minimum(value, one)
        zero = const(0, x.dtype)
        otherwise = ops.select(ops.equal(value, zero), zero, value) if dtypes.is_float(x.dtype) else zero
        return ops.select(value > zero, one, ops.select(value < zero, const(-1, x.dtype), otherwise))

    return elementwise("sign", x, body)


def square(x: Tensor) -> Tensor:
    """`x * x`."""
    require_number("square", x)
    return elementwise("square", x, lambda value: value * value)


def _function(name: str, x: Tensor) -> Tensor:
    require_float(name, x)
    return elementwise(name, x, lambda value: Unary(name, value))


def exp(x: Tensor) -> Tensor:
    """`e ** x`."""
    return _function("exp", x)


def exp2(x: Tensor) -> Tensor:
    """`2 ** x`."""
    return _function("exp2", x)


def expm1(x: Tensor) -> Tensor:
    """`e ** x - 1`, accurate near 0."""
    return _function("expm1", x)


def log(x: Tensor) -> Tensor:
    """Natural logarithm."""
    return _function("log", x)


def log2(x: Tensor) -> Tensor:
    """Logarithm to base 2."""
    return _function("log2", x)


def log10(x: Tensor) -> Tensor:
    """Logarithm to base 10."""
    return _function("log10", x)


def log1p(x: Tensor) -> Tensor:
    """`log(1 + x)`, accurate near 0."""
    return _function("log1p", x)


def sqrt(x: Tensor) -> Tensor:
    """Square root. It is NaN below -0."""
    return _function("sqrt", x)


def rsqrt(x: Tensor) -> Tensor:
    """`1 / sqrt(x)`."""
    return _function("rsqrt", x)


def sin(x: Tensor) -> Tensor:
    """Sine of radians."""
    return _function("sin", x)


def cos(x: Tensor) -> Tensor:
    """Cosine of radians."""
    return _function("cos", x)


def tan(x: Tensor) -> Tensor:
    """Tangent of radians."""
    return _function("tan", x)


def tanh(x: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return _function("tanh", x)


def sinh(x: Tensor) -> Tensor:
    """Hyperbolic sine."""
    return _function("sinh", x)


def cosh(x: Tensor) -> Tensor:
    """Hyperbolic cosine."""
    return _function("cosh", x)


def asin(x: Tensor) -> Tensor:
    """Arc sine in radians. It is NaN beyond 1."""
    return _function("asin", x)


def acos(x: Tensor) -> Tensor:
    """Arc cosine in radians. It is NaN beyond 1."""
    return _function("acos", x)


def atan(x: Tensor) -> Tensor:
    """Arc tangent in radians."""
    return _function("atan", x)


def asinh(x: Tensor) -> Tensor:
    """Inverse hyperbolic sine."""
    return _function("asinh", x)


def acosh(x: Tensor) -> Tensor:
    """Inverse hyperbolic cosine. It is NaN below 1."""
    return _function("acosh", x)


def atanh(x: Tensor) -> Tensor:
    """Inverse hyperbolic tangent. It is NaN beyond 1."""
    return _function("atanh", x)


def erf(x: Tensor) -> Tensor:
    """The error function."""
    return _function("erf", x)


def _sigmoid(value: Expr) -> Expr:
    """
    Returns `1 / (1 + exp(-x))` through `e = exp(-|x|)`, which never overflows. It is `1 / (1 + e)` for x >= 0, else `e
    / (1 + e)`.
    """
    e = ops.exp(-ops.abs(value))
    return ops.select(value >= 0, 1, e) / (1 + e)


def sigmoid(x: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))`, without overflow."""
    return composite("sigmoid", x, _sigmoid)


def _limit_at_minus_infinity(value: Expr, product: Expr) -> Expr:
    """Returns `product`, with its limit -0 at -inf, where `-inf * 0` would be NaN."""
    return ops.select(ops.equal(value, float("-inf")), -0.0, product)


def silu(x: Tensor) -> Tensor:
    """
    `x * sigmoid(x)`. It is -0 at -inf.

    With `h = exp(-|x| / 2)` it is `x (1 / (1 + h^2))` from 0 up and `(x h) (h / (1 + h^2))` below. A single `exp(x)`
    would become a denormal number of few bits. Its two halves stay normal, so the result is good to 4 ulp for every x.
    """

    def body(value: Expr) -> Expr:
        root = ops.exp(ops.abs(value) * -0.5)
        denominator = 1 + root * root
        below = value < 0
        factor = ops.select(below, root, 1) / denominator
        return _limit_at_minus_infinity(value, ops.select(below, value * root, value) * factor)

    return composite("silu", x, body)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """
    `x/2 * (1 + erf(x / sqrt 2))`, or with `approximate = "tanh"` `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`.
    """
    if approximate not in ("none", "tanh"):
        raise TEError(f"gelu: approximate is '{approximate}', expected 'none' or 'tanh'")

    def body(value: Expr) -> Expr:
        if approximate == "none":
            inner = ops.erf(value * _sqrt(0.5))
        else:
            scale = _sqrt(2 / pi)
            inner = ops.tanh(value * (scale + (scale * 0.044715) * (value * value)))
        return _limit_at_minus_infinity(value, value * 0.5 * (1 + inner))

    return composite("gelu", x, body)


def relu(x: Tensor) -> Tensor:
    """`maximum(x, 0)`."""
    require_number("relu", x)
    if dtypes.is_unsigned(x.dtype):
        return elementwise("relu", x, lambda value: value)
    return elementwise("relu", x, lambda value: ops.maximum(value, 0))


def leaky_relu(x: Tensor, alpha: float = 0.01) -> Tensor:
    """`x` where x > 0, else `alpha * x`. NaN stays NaN."""
    return composite("leaky_relu", x, lambda value: ops.select(value > 0, value, value * alpha))


def _rounding(name: str, x: Tensor) -> Tensor:
    require_number(name, x)
    if dtypes.is_float(x.dtype):
        return elementwise(name, x, lambda value: Unary(name, value))
    return elementwise(name, x, lambda value: value)


def floor(x: Tensor) -> Tensor:
    """The largest integer value not above x."""
    return _rounding("floor", x)


def ceil(x: Tensor) -> Tensor:
    """The smallest integer value not below x."""
    return _rounding("ceil", x)


def trunc(x: Tensor) -> Tensor:
    """The integer value next to x towards zero."""
    return _rounding("trunc", x)


def round(x: Tensor) -> Tensor:
    """The nearest integer value, where halves round to even."""
    return _rounding("round", x)


def logical_not(x: Tensor) -> Tensor:
    """Negation of i1 values."""
    require_bool("logical_not", x)
    return elementwise("logical_not", x, ops.logical_not)


def bitwise_not(x: Tensor) -> Tensor:
    """The complement of all bits of an integer, or the negation of i1."""
    require_bits("bitwise_not", x)
    return elementwise("bitwise_not", x, ops.logical_not)


def _test(name: str, x: Tensor) -> Tensor:
    require_float(name, x)
    return elementwise(name, x, lambda value: Unary(name, value))


def isnan(x: Tensor) -> Tensor:
    """Returns whether x is NaN, as i1."""
    return _test("isnan", x)


def isinf(x: Tensor) -> Tensor:
    """Returns whether x is an infinity, as i1."""
    return _test("isinf", x)


def isfinite(x: Tensor) -> Tensor:
    """Returns whether x is neither NaN nor an infinity, as i1."""
    return _test("isfinite", x)


def clip(x: Tensor, min: Number | None = None, max: Number | None = None) -> Tensor:
    """`minimum(maximum(x, min), max)`. An absent bound does not limit. Bounds are rounded to the type of `x`."""
    require_number("clip", x)

    def body(value: Expr) -> Expr:
        if min is not None:
            value = ops.maximum(value, saturated("clip", min, x.dtype))
        return value if max is None else ops.minimum(value, saturated("clip", max, x.dtype))

    return elementwise("clip", x, body)
