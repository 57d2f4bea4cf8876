"""Conversions between element types, one element at a time: the row `astype` of docs/semantics.md."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ...te import dtypes
from ..shared.te_types import compute_type
from .scalar_ops import ScalarOps

NARROW = 16
"""The most bits of an integer whose bounds every float from f32 on holds."""


def emit_cast(ops: ScalarOps, value: SSAValue, source: str, target: str) -> SSAValue:
    """Converts `value` of element type `source` to element type `target`."""
    if source == target:
        return value
    if dtypes.is_small_integer(source):
        return emit_cast(ops, whole_byte(ops, value, source), byte_of(source), target)
    if dtypes.is_small_integer(target):
        return _to_small_integer(ops, value, source, target)
    if target == "i1":
        zero = ops.constant(0, source)
        if dtypes.is_float(source):
            return ops.compare_float("une", value, zero)
        return ops.compare_int("ne", value, zero)
    if dtypes.is_float(source):
        if dtypes.is_float(target):
            return _float_to_float(ops, value, source, target)
        return _float_to_integer(ops, value, source, target)
    if dtypes.is_float(target):
        return _integer_to_float(ops, value, source, target)
    return _integer_to_integer(ops, value, source, target)


def byte_of(dtype: str) -> str:
    """Returns the integer of 8 bits that holds the values of an integer of less."""
    return "ui8" if dtypes.is_unsigned(dtype) else "i8"


def whole_byte(ops: ScalarOps, value: SSAValue, dtype: str) -> SSAValue:
    """Returns a small integer as one of 8 bits. Upper bits, which do not count, become zeros or those of the sign."""
    byte, bits = byte_of(dtype), dtypes.bit_width(dtype)
    low = ops.add(arith.AndIOp(value, ops.constant(2**bits - 1, byte)))
    if dtypes.is_unsigned(dtype):
        return low
    sign = ops.constant(2 ** (bits - 1), byte)
    return ops.add(arith.SubiOp(ops.add(arith.XOrIOp(low, sign)), sign))


def _to_small_integer(ops: ScalarOps, value: SSAValue, source: str, target: str) -> SSAValue:
    """Floats saturate, integers wrap. Upper bits of the byte are zeros, as in arrays of NumPy."""
    if dtypes.is_float(source):
        result = _float_to_integer(ops, value, source, target)
    else:
        result = emit_cast(ops, value, source, byte_of(target))
    return ops.add(arith.AndIOp(result, ops.constant(2 ** dtypes.bit_width(target) - 1, byte_of(target))))


def _float_to_float(ops: ScalarOps, value: SSAValue, source: str, target: str) -> SSAValue:
    """Rounds once, to nearest even. Small floats of one size are converted through f32, which holds all of them."""
    widths = dtypes.bit_width(source), dtypes.bit_width(target)
    if widths[0] == widths[1]:
        return _float_to_float(ops, _float_to_float(ops, value, source, "f32"), "f32", target)
    op = arith.ExtFOp if widths[0] < widths[1] else arith.TruncFOp
    return ops.add(op(value, compute_type(target)))  # pyright: ignore[reportArgumentType]


def _float_to_integer(ops: ScalarOps, value: SSAValue, source: str, target: str) -> SSAValue:
    """
    Rounds towards zero and saturates. NaN becomes 0.

    The conversion itself only sees values inside the range, since it is undefined outside. The bounds `low` and
    `high + 1` are powers of two or zero and so exact in f32.
    """
    if dtypes.is_small_float(source):
        value, source = _float_to_float(ops, value, source, "f32"), "f32"
    width_type = "i64" if target == "index" else target
    if dtypes.bit_width(width_type) <= NARROW:
        return _float_to_narrow_integer(ops, value, source, target)
    low, high = dtypes.integer_range(width_type)
    below = ops.compare_float("olt", value, ops.constant(float(low), source))
    above = ops.compare_float("oge", value, ops.constant(float(high + 1), source))
    outside = ops.add(arith.OrIOp(ops.add(arith.OrIOp(below, above)), ops.compare_float("uno", value, value)))
    inside = ops.select(outside, ops.constant(0.0, source), value)
    convert = arith.FPToUIOp if dtypes.is_unsigned(width_type) else arith.FPToSIOp
    result = ops.add(convert(inside, compute_type(width_type)))  # pyright: ignore[reportArgumentType]
    result = ops.select(above, ops.constant(high, width_type), result)
    result = ops.select(below, ops.constant(low, width_type), result)
    return emit_cast(ops, result, width_type, target)


def _float_to_narrow_integer(ops: ScalarOps, value: SSAValue, source: str, target: str) -> SSAValue:
    """
    The same for integers of up to 16 bits. Floats hold their bounds, so the float is moved into the range, by a minimum
    and a maximum of one instruction each. The conversion is the one to 32 bits, which vectors have.

    The maximum comes first and gives its bound for a NaN. That is the 0 that a NaN becomes, where the bound is 0.
    """
    low, high = (ops.constant(float(bound), source) for bound in dtypes.integer_range(target))
    inside = ops.select(ops.compare_float("ogt", value, low), value, low)
    inside = ops.select(ops.compare_float("olt", inside, high), inside, high)
    whole = ops.add(arith.FPToSIOp(inside, compute_type("i32")))  # pyright: ignore[reportArgumentType]
    narrow = _integer_to_integer(ops, whole, "i32", target)
    if dtypes.integer_range(target)[0] == 0:
        return narrow
    return ops.select(ops.compare_float("uno", value, value), ops.constant(0, target), narrow)


def _integer_to_float(ops: ScalarOps, value: SSAValue, source: str, target: str) -> SSAValue:
    if source == "index":
        value, source = emit_cast(ops, value, "index", "i64"), "i64"
    convert = arith.UIToFPOp if dtypes.is_unsigned(source) else arith.SIToFPOp
    return ops.add(convert(value, compute_type(target)))  # pyright: ignore[reportArgumentType]


def _integer_to_integer(ops: ScalarOps, value: SSAValue, source: str, target: str) -> SSAValue:
    """Widens, which keeps the value, or narrows, which wraps. An index is a 64-bit signed integer."""
    if "index" in (source, target):
        if dtypes.is_unsigned(source):
            value = _integer_to_integer(ops, value, source, "i64")
        type_ = compute_type(target)
        return ops.add(arith.IndexCastOp(value, type_))
    widths = dtypes.bit_width(source), dtypes.bit_width(target)
    if widths[0] == widths[1]:
        return value
    if widths[0] > widths[1]:
        return ops.add(arith.TruncIOp(value, compute_type(target)))  # pyright: ignore[reportArgumentType]
    op = arith.ExtUIOp if dtypes.is_unsigned(source) else arith.ExtSIOp
    return ops.add(op(value, compute_type(target)))  # pyright: ignore[reportArgumentType]
