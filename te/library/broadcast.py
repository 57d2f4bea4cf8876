"""The functions of two or three tensors, element by element, with broadcasting."""

from __future__ import annotations

from collections.abc import Callable

from .. import dtypes, ops
from ..expr import Expr, binary, compare, const
from ..tensor import Tensor
from .shapes import broadcasting, require_bits, require_bool, require_integer, require_number, require_same_type

DIVISION_BY_ZERO = "integer division by zero"


def _numbers(name: str, function: Callable[..., Expr], *tensors: Tensor) -> Tensor:
    require_number(name, *tensors)
    require_same_type(name, *tensors)
    return broadcasting(name, function, *tensors)


def _computed_in(wider: str, function: Callable[[Expr, Expr], Expr]) -> Callable[[Expr, Expr], Expr]:
    """
    Wraps `function` so that it is computed in the type `wider`, or in that of the operands if it is wider still, and
    rounded once.
    """

    def wide(x: Expr, y: Expr) -> Expr:
        acc = wider if dtypes.bit_width(x.dtype) < dtypes.bit_width(wider) else x.dtype
        return ops.cast(x.dtype, function(ops.cast(acc, x), ops.cast(acc, y)))

    return wide


def add(x: Tensor, y: Tensor) -> Tensor:
    """`x + y`."""
    return _numbers("add", lambda a, b: a + b, x, y)


def subtract(x: Tensor, y: Tensor) -> Tensor:
    """`x - y`."""
    return _numbers("subtract", lambda a, b: a - b, x, y)


def multiply(x: Tensor, y: Tensor) -> Tensor:
    """`x * y`."""
    return _numbers("multiply", lambda a, b: a * b, x, y)


def _checked_divisor(name: str, y: Expr, division: Callable[[Expr], Expr]) -> Expr:
    """
    Returns `division(divisor)` with an integer divisor made safe. The divisor becomes 1 where it is 0, and there the
    check fails. It also becomes 1 where it is -1, because the least integer would overflow.
    """
    zero = ops.equal(y, 0)
    unsafe = zero if dtypes.is_unsigned(y.dtype) else ops.any(zero, ops.equal(y, -1))
    value = division(ops.select(unsafe, 1, y))
    return ops.check(ops.logical_not(zero), value, f"graph.{name}: {DIVISION_BY_ZERO}")


def _integer_quotient(name: str, function: str) -> Callable[[Expr, Expr], Expr]:
    def body(x: Expr, y: Expr) -> Expr:
        def quotient(divisor: Expr) -> Expr:
            exact = binary(function, x, divisor)
            if dtypes.is_unsigned(y.dtype):
                return exact
            return ops.select(ops.equal(y, -1), -x, exact)

        return _checked_divisor(name, y, quotient)

    return body


def divide(x: Tensor, y: Tensor) -> Tensor:
    """`x / y`. Integers truncate towards zero and fail on a zero divisor. The least integer divided by -1 wraps."""
    if dtypes.is_float(x.dtype):
        return _numbers("divide", lambda a, b: a / b, x, y)
    return _numbers("divide", _integer_quotient("divide", "truncdiv"), x, y)


def _float_floor_divide(x: Expr, y: Expr) -> Expr:
    """
    Returns the floor quotient by NumPy's definition.

    With `r = mod(x, y)` before the sign of zero, `(x - r) / y` is an integer up to rounding. The result is its nearest
    integer, with the sign of `x / y` when it is zero. For a zero divisor the result is `x / y` itself.
    """
    exact = x / y
    remainder = binary("fmod", x, y)
    differs = ops.all(ops.not_equal(remainder, 0), ops.not_equal(remainder < 0, y < 0))
    quotient = (x - remainder) / y
    quotient = ops.select(differs, quotient - 1, quotient)
    floor = ops.floor(quotient)
    floor = ops.select(quotient - floor > 0.5, floor + 1, floor)
    signed = ops.select(ops.equal(quotient, 0), binary("copysign", const(0, x.dtype), exact), floor)
    return ops.select(ops.equal(y, 0), exact, signed)


def floor_divide(x: Tensor, y: Tensor) -> Tensor:
    """
    The quotient rounded towards minus infinity. Integers fail on a zero divisor.

    Floats up to f32 are computed in f64, where `x - r` is exact for every quotient that f32 tells from its neighbours.
    """
    if dtypes.is_float(x.dtype):
        return _numbers("floor_divide", _computed_in("f64", _float_floor_divide), x, y)
    return _numbers("floor_divide", _integer_quotient("floor_divide", "floordiv"), x, y)


def _float_mod(x: Expr, y: Expr) -> Expr:
    """Returns `fmod`, plus `y` when the signs differ. A zero result has the sign of `y`."""
    remainder = binary("fmod", x, y)
    adjusted = ops.select(ops.not_equal(remainder < 0, y < 0), remainder + y, remainder)
    return ops.select(ops.equal(remainder, 0), binary("copysign", remainder, y), adjusted)


def mod(x: Tensor, y: Tensor) -> Tensor:
    """The remainder of `floor_divide`, with the sign of the divisor. Integers fail on a zero divisor."""
    if dtypes.is_float(x.dtype):
        return _numbers("mod", _computed_in("f32", _float_mod), x, y)
    return _numbers("mod", lambda a, b: _checked_divisor("mod", b, lambda divisor: ops.floormod(a, divisor)), x, y)


def _integer_power(x: Expr, y: Expr) -> Expr:
    """
    Returns `x ** y` by square and multiply, unrolled over the bits of y that are not its sign.

    A negative exponent gives 0 unless the base is 1 or -1. The powers of these two repeat, so the low bits alone give
    the right result for them.
    """
    dtype = x.dtype
    bits = dtypes.bit_width(dtype) - (0 if dtypes.is_unsigned(dtype) else 1)
    result: Expr = const(1, dtype)
    square = x
    for bit in range(bits):
        is_set = ops.not_equal(binary("and", y, 1 << bit), 0)
        result = ops.select(is_set, square if bit == 0 else result * square, result)
        if bit + 1 < bits:
            square = square * square
    if dtypes.is_unsigned(dtype):
        return result
    return ops.select(ops.any(y >= 0, ops.equal(x, 1), ops.equal(x, -1)), result, 0)


def power(x: Tensor, y: Tensor) -> Tensor:
    """`x ** y`: IEEE 754 `pow` on floats, the wrapping repeated product on integers."""
    return _numbers("power", ops.power if dtypes.is_float(x.dtype) else _integer_power, x, y)


def maximum(x: Tensor, y: Tensor) -> Tensor:
    """The larger value. It is NaN if either is, and -0 < +0."""
    return _numbers("maximum", ops.maximum, x, y)


def minimum(x: Tensor, y: Tensor) -> Tensor:
    """The smaller value. It is NaN if either is, and -0 < +0."""
    return _numbers("minimum", ops.minimum, x, y)


def _comparison(name: str, function: str, x: Tensor, y: Tensor) -> Tensor:
    require_same_type(name, x, y)
    return broadcasting(name, lambda a, b: compare(function, a, b), x, y)


def equal(x: Tensor, y: Tensor) -> Tensor:
    """`x == y`, as i1."""
    return _comparison("equal", "eq", x, y)


def not_equal(x: Tensor, y: Tensor) -> Tensor:
    """`x != y`, as i1. It is true with a NaN."""
    return _comparison("not_equal", "ne", x, y)


def less(x: Tensor, y: Tensor) -> Tensor:
    """`x < y`, as i1."""
    return _comparison("less", "lt", x, y)


def less_equal(x: Tensor, y: Tensor) -> Tensor:
    """`x <= y`, as i1."""
    return _comparison("less_equal", "le", x, y)


def greater(x: Tensor, y: Tensor) -> Tensor:
    """`x > y`, as i1."""
    return _comparison("greater", "gt", x, y)


def greater_equal(x: Tensor, y: Tensor) -> Tensor:
    """`x >= y`, as i1."""
    return _comparison("greater_equal", "ge", x, y)


def _logical(name: str, function: str, x: Tensor, y: Tensor) -> Tensor:
    require_bool(name, x, y)
    return broadcasting(name, lambda a, b: binary(function, a, b), x, y)


def logical_and(x: Tensor, y: Tensor) -> Tensor:
    """Conjunction of i1 values."""
    return _logical("logical_and", "and", x, y)


def logical_or(x: Tensor, y: Tensor) -> Tensor:
    """Disjunction of i1 values."""
    return _logical("logical_or", "or", x, y)


def logical_xor(x: Tensor, y: Tensor) -> Tensor:
    """Exclusive disjunction of i1 values."""
    return _logical("logical_xor", "xor", x, y)


def _bitwise(name: str, function: str, x: Tensor, y: Tensor) -> Tensor:
    require_bits(name, x)
    require_same_type(name, x, y)
    return broadcasting(name, lambda a, b: binary(function, a, b), x, y)


def bitwise_and(x: Tensor, y: Tensor) -> Tensor:
    """Conjunction of all bits."""
    return _bitwise("bitwise_and", "and", x, y)


def bitwise_or(x: Tensor, y: Tensor) -> Tensor:
    """Disjunction of all bits."""
    return _bitwise("bitwise_or", "or", x, y)


def bitwise_xor(x: Tensor, y: Tensor) -> Tensor:
    """Exclusive or of all bits."""
    return _bitwise("bitwise_xor", "xor", x, y)


def _require_integers(name: str, x: Tensor, y: Tensor) -> None:
    require_integer(name, x)
    require_same_type(name, x, y)


def _shift_count(count: Expr) -> tuple[Expr, Expr]:
    """
    Returns whether the count, read as unsigned, is below the bit width, and the count limited to the width less one.
    """
    bits = dtypes.bit_width(count.dtype)
    unsigned = ops.cast(f"ui{bits}", count)
    return unsigned < bits, ops.cast(count.dtype, ops.minimum(unsigned, bits - 1))


def left_shift(x: Tensor, y: Tensor) -> Tensor:
    """`x * 2 ** y`, wrapping. It is 0 when the count, read as unsigned, reaches the bit width."""
    _require_integers("left_shift", x, y)

    def body(value: Expr, count: Expr) -> Expr:
        in_range, limited = _shift_count(count)
        return ops.select(in_range, binary("shl", value, limited), 0)

    return broadcasting("left_shift", body, x, y)


def right_shift(x: Tensor, y: Tensor) -> Tensor:
    """`floor(x / 2 ** y)`. It is 0, or -1 for negative x, when the count, read as unsigned, reaches the bit width."""
    _require_integers("right_shift", x, y)

    def body(value: Expr, count: Expr) -> Expr:
        in_range, limited = _shift_count(count)
        shifted = binary("shr", value, limited)
        return ops.select(in_range, shifted, 0) if dtypes.is_unsigned(x.dtype) else shifted

    return broadcasting("right_shift", body, x, y)


def where(c: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """`x` where the i1 tensor `c` holds, else `y`."""
    require_bool("where", c)
    require_same_type("where", x, y)
    return broadcasting("where", ops.select, c, x, y)


def ewise_fma(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """`x * y + z`, rounded once. Integers wrap."""
    if dtypes.is_float(x.dtype):
        return _numbers("ewise_fma", ops.fma, x, y, z)
    return _numbers("ewise_fma", lambda a, b, c: a * b + c, x, y, z)
