"""Conversions between element types, one element at a time: the row `astype` of docs/semantics.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ..te import dtypes
from .te_types import compute_type

if TYPE_CHECKING:
    from .te_scalar import ScalarEmitter


def emit_cast(emitter: ScalarEmitter, value: SSAValue, source: str, target: str) -> SSAValue:
    """`value` of element type `source` as element type `target`."""
    if source == target:
        return value
    if target == "i1":
        zero = emitter.constant(0, source)
        if dtypes.is_float(source):
            return emitter.compare_float("une", value, zero)
        return emitter.compare_int("ne", value, zero)
    if dtypes.is_float(source):
        if dtypes.is_float(target):
            return _float_to_float(emitter, value, source, target)
        return _float_to_integer(emitter, value, source, target)
    if dtypes.is_float(target):
        return _integer_to_float(emitter, value, source, target)
    return _integer_to_integer(emitter, value, source, target)


def _float_to_float(emitter: ScalarEmitter, value: SSAValue, source: str, target: str) -> SSAValue:
    """One rounding to nearest even; f16 and bf16 meet in f32, which holds both exactly."""
    widths = dtypes.bit_width(source), dtypes.bit_width(target)
    if widths[0] == widths[1]:
        return _float_to_float(emitter, _float_to_float(emitter, value, source, "f32"), "f32", target)
    op = arith.ExtFOp if widths[0] < widths[1] else arith.TruncFOp
    return emitter.add(op(value, compute_type(target)))  # pyright: ignore[reportArgumentType]


def _float_to_integer(emitter: ScalarEmitter, value: SSAValue, source: str, target: str) -> SSAValue:
    """
    Towards zero, saturating, NaN to 0. The conversion itself only sees values inside the range, since it is undefined
    outside; the bounds `low` and `high + 1` are powers of two or zero and so exact in f32.
    """
    if source in ("f16", "bf16"):
        value, source = _float_to_float(emitter, value, source, "f32"), "f32"
    width_type = "i64" if target == "index" else target
    low, high = dtypes.integer_range(width_type)
    below = emitter.compare_float("olt", value, emitter.constant(float(low), source))
    above = emitter.compare_float("oge", value, emitter.constant(float(high + 1), source))
    outside = emitter.add(
        arith.OrIOp(emitter.add(arith.OrIOp(below, above)), emitter.compare_float("uno", value, value))
    )
    inside = emitter.select(outside, emitter.constant(0.0, source), value)
    convert = arith.FPToUIOp if dtypes.is_unsigned(width_type) else arith.FPToSIOp
    result = emitter.add(convert(inside, compute_type(width_type)))  # pyright: ignore[reportArgumentType]
    result = emitter.select(above, emitter.constant(high, width_type), result)
    result = emitter.select(below, emitter.constant(low, width_type), result)
    return emit_cast(emitter, result, width_type, target)


def _integer_to_float(emitter: ScalarEmitter, value: SSAValue, source: str, target: str) -> SSAValue:
    if source == "index":
        value, source = emit_cast(emitter, value, "index", "i64"), "i64"
    convert = arith.UIToFPOp if dtypes.is_unsigned(source) else arith.SIToFPOp
    return emitter.add(convert(value, compute_type(target)))  # pyright: ignore[reportArgumentType]


def _integer_to_integer(emitter: ScalarEmitter, value: SSAValue, source: str, target: str) -> SSAValue:
    """Widening keeps the value, narrowing wraps; an index is a 64-bit signed integer."""
    if "index" in (source, target):
        if dtypes.is_unsigned(source):
            value = _integer_to_integer(emitter, value, source, "i64")
        type_ = compute_type(target)
        return emitter.add(arith.IndexCastOp(value, type_))
    widths = dtypes.bit_width(source), dtypes.bit_width(target)
    if widths[0] == widths[1]:
        return value
    if widths[0] > widths[1]:
        return emitter.add(arith.TruncIOp(value, compute_type(target)))  # pyright: ignore[reportArgumentType]
    op = arith.ExtUIOp if dtypes.is_unsigned(source) else arith.ExtSIOp
    return emitter.add(op(value, compute_type(target)))  # pyright: ignore[reportArgumentType]
