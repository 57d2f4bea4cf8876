"""The scalar functions of te: `te.exp(x)`, `te.sum(x, axis=k)`, `te.if_then_else(c, a, b)` …"""

from __future__ import annotations

from collections.abc import Sequence

from . import dtypes
from .expr import Axis, Const, Expr, Number, TEError, Unary, Var, _same_type, binary, compare, const
from .nodes import BitCast, Cast, Check, FusedMultiplyAdd, Select
from .reductions import Reducer, Reduction, axes_of
from .words import shortened


def unary(function: str, x: Expr) -> Expr:
    """Builds `function(x)` for any function that `Unary` lists."""
    return Unary(function, x)


def exp(x: Expr) -> Expr:
    """Returns e to the power of a float `x`. Raises `TEError` for any other element type."""
    return Unary("exp", x)


def log(x: Expr) -> Expr:
    """Returns the natural logarithm of a float `x`. Raises `TEError` for any other element type."""
    return Unary("log", x)


def sqrt(x: Expr) -> Expr:
    """Returns the square root of a float `x`. Raises `TEError` for any other element type."""
    return Unary("sqrt", x)


def rsqrt(x: Expr) -> Expr:
    """Returns one over the square root of a float `x`. Raises `TEError` for any other element type."""
    return Unary("rsqrt", x)


def tanh(x: Expr) -> Expr:
    """Returns the hyperbolic tangent of a float `x`. Raises `TEError` for any other element type."""
    return Unary("tanh", x)


def erf(x: Expr) -> Expr:
    """Returns the error function of a float `x`. Raises `TEError` for any other element type."""
    return Unary("erf", x)


def floor(x: Expr) -> Expr:
    """Returns a float `x` rounded towards minus infinity. Raises `TEError` for any other element type."""
    return Unary("floor", x)


def abs(x: Expr) -> Expr:
    """Returns the magnitude of a number `x`. The smallest signed integer stays itself. Raises `TEError` for i1."""
    return Unary("abs", x)


def isnan(x: Expr) -> Expr:
    """Returns whether a float `x` is NaN, as an i1. Raises `TEError` for any other element type."""
    return Unary("isnan", x)


def logical_not(x: Expr) -> Expr:
    """Returns an i1 or an integer `x` with every bit flipped. Raises `TEError` for floats."""
    return Unary("not", x)


def maximum(x: Expr | Number, y: Expr | Number) -> Expr:
    """The larger of two values. It is NaN if either is NaN."""
    return binary("max", x, y)


def minimum(x: Expr | Number, y: Expr | Number) -> Expr:
    """The smaller of two values. It is NaN if either is NaN."""
    return binary("min", x, y)


def power(x: Expr | Number, y: Expr | Number) -> Expr:
    """`x ** y` on floats."""
    return binary("pow", x, y)


def truncdiv(x: Expr | Number, y: Expr | Number) -> Expr:
    """The integer quotient rounded towards zero. The divisor must not be zero and the quotient must not overflow."""
    return binary("truncdiv", x, y)


def truncmod(x: Expr | Number, y: Expr | Number) -> Expr:
    """The remainder of `truncdiv`, with the sign of the dividend."""
    return binary("truncmod", x, y)


def floordiv(x: Expr | Number, y: Expr | Number) -> Expr:
    """The integer quotient rounded towards minus infinity, under the conditions of `truncdiv`."""
    return binary("floordiv", x, y)


def floormod(x: Expr | Number, y: Expr | Number) -> Expr:
    """The remainder of `floordiv`, with the sign of the divisor."""
    return binary("floormod", x, y)


def equal(x: Expr | Number, y: Expr | Number) -> Expr:
    """
    Returns whether two values of one element type are equal, as an i1. NaN equals nothing.

    Raises `TEError` where the element types differ.
    """
    return compare("eq", x, y)


def not_equal(x: Expr | Number, y: Expr | Number) -> Expr:
    """
    Returns whether two values of one element type differ, as an i1. NaN differs from everything.

    Raises `TEError` where the element types differ.
    """
    return compare("ne", x, y)


def all(*conditions: Expr) -> Expr:
    """The conjunction of i1 values. It is true when there is none."""
    return _fold_bits("and", conditions, True)


def any(*conditions: Expr) -> Expr:
    """The disjunction of i1 values. It is false when there is none."""
    return _fold_bits("or", conditions, False)


def _fold_bits(function: str, conditions: Sequence[Expr], empty: bool) -> Expr:
    if not conditions:
        return const(empty, "i1")
    result = conditions[0]
    for condition in conditions[1:]:
        result = binary(function, result, condition)
    return result


def select(condition: Expr, if_true: Expr | Number, if_false: Expr | Number) -> Expr:
    """`if_true` where `condition` holds, else `if_false`. Both sides are evaluated."""
    left, right = _same_type(if_true, if_false)
    return Select(condition, left, right)


def if_then_else(condition: Expr, if_true: Expr | Number, if_false: Expr | Number) -> Expr:
    """Selects like `select`, but the side not taken is not evaluated, so it may load out of bounds."""
    left, right = _same_type(if_true, if_false)
    return Select(condition, left, right, lazy=True)


def fma(a: Expr, b: Expr, c: Expr) -> Expr:
    """`a * b + c`, rounded once."""
    return FusedMultiplyAdd(a, b, c)


def cast(dtype: str, x: Expr | Number) -> Expr:
    """
    `x` converted to `dtype` as `Cast` does. No node is made when it has that type already.

    Raises TEError for an element type that there is not, and for a number that it cannot hold.
    """
    if not isinstance(dtype, str):
        raise TEError(f"te.cast takes the element type first, found {shortened(dtype)}, expected te.cast('f32', x)")
    if not isinstance(x, Expr):
        return const(x, dtype)
    return x if x.dtype == dtype else Cast(dtype, x)


def rounded(dtype: str, x: Expr) -> Expr:
    """`x`, the result of an op in a wider type, rounded to `dtype`: the `Cast` that the op implies."""
    return x if x.dtype == dtype else Cast(dtype, x, implied=True)


def widened(dtype: str, x: Expr) -> Expr:
    """`x` in the wider type that an op computes in: the `Cast` that the op implies."""
    return x if x.dtype == dtype else Cast(dtype, x, implied=True)


def bitcast(dtype: str, x: Expr) -> Expr:
    """The bits of `x` as `dtype`. No node is made when it has that type already."""
    return x if x.dtype == dtype else BitCast(dtype, x)


def check(condition: Expr, value: Expr, message: str) -> Expr:
    """`value`. The program fails with `message` unless `condition` holds. The constant `true` needs no check."""
    if isinstance(condition, Const) and condition.value is True:
        return value
    return Check(condition, value, message)


def lowest(dtype: str) -> Const:
    """The least value of a type: the identity of `max`."""
    if dtypes.is_float(dtype):
        return Const(float("-inf"), dtype)
    return const(dtypes.integer_range(dtype)[0], dtype)


def highest(dtype: str) -> Const:
    """The greatest value of a type: the identity of `min`."""
    if dtypes.is_float(dtype):
        return Const(float("inf"), dtype)
    return const(dtypes.integer_range(dtype)[1], dtype)


def _reduce(function: str, x: Expr, axis: Axis | Sequence[Axis], identity: Const) -> Expr:
    axes = axes_of(axis)
    lhs, rhs = Var("lhs", x.dtype), Var("rhs", x.dtype)
    reducer = Reducer(function, (lhs,), (rhs,), (binary(function, lhs, rhs),), (identity,))
    return Reduction(reducer, (x,), axes).components[0]


def sum(x: Expr, axis: Axis | Sequence[Axis]) -> Expr:
    """The sum of `x` over `axis`, accumulated in the type of `x`. Cast half floats first."""
    return _reduce("add", x, axis, const(0, x.dtype))


def prod(x: Expr, axis: Axis | Sequence[Axis]) -> Expr:
    """The product of `x` over `axis`, accumulated in the type of `x`."""
    return _reduce("mul", x, axis, const(1, x.dtype))


def max(x: Expr, axis: Axis | Sequence[Axis]) -> Expr:
    """The largest `x` over `axis`. It is NaN if one value is."""
    return _reduce("max", x, axis, lowest(x.dtype))


def min(x: Expr, axis: Axis | Sequence[Axis]) -> Expr:
    """The smallest `x` over `axis`. It is NaN if one value is."""
    return _reduce("min", x, axis, highest(x.dtype))


def any_of(x: Expr, axis: Axis | Sequence[Axis]) -> Expr:
    """Returns whether `x` (i1) holds anywhere over `axis`."""
    return _reduce("or", x, axis, const(False, "i1"))


def all_of(x: Expr, axis: Axis | Sequence[Axis]) -> Expr:
    """Returns whether `x` (i1) holds everywhere over `axis`."""
    return _reduce("and", x, axis, const(True, "i1"))


def _arg_reduce(
    name: str, better: str, index: Expr, value: Expr, axes: tuple[Axis, ...], worst: Const
) -> tuple[Expr, ...]:
    """
    Returns the index and the value of the best value. Among equals the lowest index wins, and the first NaN comes
    before everything.

    The reducer is commutative and associative. Of two candidates it takes the one with NaN, else the better value, else
    the lower index. The identity has index `-1`, which loses to every real candidate.
    """
    li, lv = Var("lhs_index", index.dtype), Var("lhs_value", value.dtype)
    ri, rv = Var("rhs_index", index.dtype), Var("rhs_value", value.dtype)
    no_left, no_right = li < 0, ri < 0
    left_first = all(equal(lv, rv), li < ri)
    take_left = any(compare(better, lv, rv), left_first)
    if dtypes.is_float(value.dtype):
        left_nan, right_nan = isnan(lv), isnan(rv)
        take_left = select(left_nan, any(logical_not(right_nan), li < ri), all(logical_not(right_nan), take_left))
    take_left = any(no_right, all(logical_not(no_left), take_left))
    reducer = Reducer(
        name,
        (li, lv),
        (ri, rv),
        (select(take_left, li, ri), select(take_left, lv, rv)),
        (const(-1, index.dtype), worst),
    )
    return Reduction(reducer, (index, value), axes).components


def argmax(index: Expr, value: Expr, axis: Axis | Sequence[Axis]) -> tuple[Expr, ...]:
    """
    The index and the value of the first largest `value` over `axis`, or of the first NaN if there is one. `index` has a
    signed type.
    """
    axes = axes_of(axis)
    return _arg_reduce("argmax", "gt", index, value, axes, lowest(value.dtype))


def argmin(index: Expr, value: Expr, axis: Axis | Sequence[Axis]) -> tuple[Expr, ...]:
    """
    The index and the value of the first smallest `value` over `axis`, or of the first NaN if there is one. `index` has
    a signed type.
    """
    axes = axes_of(axis)
    return _arg_reduce("argmin", "lt", index, value, axes, highest(value.dtype))
