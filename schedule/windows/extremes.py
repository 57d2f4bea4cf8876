"""Combines the elements of a window, maxima and minima of floats without regard to zeros and NaNs at first."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, FloatAttr, IntegerAttr, f32, i16, i32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import SSAValue

from ...core.ir.cloning import clone_op
from ...core.ir.element_types import dtype_name, is_small_float
from ...te.dtypes import TABLE
from ..kernels.scheduled_nest import ScheduledNest
from .window import Window, is_identity

FEWEST = 3
"""The fewest elements whose maximum is worth the steps that mend it."""

SIGN, REST = -(1 << 31), (1 << 31) - 1
"""The bit of an f32 that is its sign, and the others."""

NUMBERS_ONLY = arith.FastMathFlagsAttr([FastMathFlag.NO_NANS, FastMathFlag.NO_SIGNED_ZEROS])


def combined(builder: ScheduledNest, window: Window, parts: Sequence[SSAValue], old: SSAValue | None) -> SSAValue:
    """Combines numbers with each other and with `old`, or with the initial number where that may count."""
    numbers = list(parts) if old is None else [old, *parts]
    if old is None and not is_identity(window):
        numbers.insert(0, builder.constant(window.initial))
    update = window.update
    if isinstance(update, arith.MaximumfOp | arith.MinimumfOp) and len(numbers) >= FEWEST:
        is_maximum = isinstance(update, arith.MaximumfOp)
        if isinstance(window.element, Float32Type):
            return _extreme(builder, numbers, is_maximum)
        if is_small_float(window.element):
            return _small_extreme(builder, numbers, is_maximum)
    total = numbers[0]
    for number in numbers[1:]:
        new = clone_op(update, {window.old: total, window.value: number})
        total = builder.add(new).results[0]
    return total


def _extreme(builder: ScheduledNest, numbers: Sequence[SSAValue], is_maximum: bool) -> SSAValue:
    """
    Returns `maximumf` or `minimumf` of several numbers in two and a half instructions for each, where one op for each
    would take six.

    The extreme of numbers needs no care but for its sign where it is zero: a maximum is negative if all numbers are, a
    minimum if one is. And it is NaN if one of them is. That is seen by comparing them in pairs.
    """
    add = builder.add
    kind = arith.MaximumfOp if is_maximum else arith.MinimumfOp
    join = arith.AndIOp if is_maximum else arith.OrIOp
    total, bits = numbers[0], add(arith.BitcastOp(numbers[0], i32)).result
    for number in numbers[1:]:
        total = add(kind(total, number, NUMBERS_ONLY)).result
        bits = add(join(bits, add(arith.BitcastOp(number, i32)).result)).result
    unordered: SSAValue | None = None
    for first, second in zip(numbers[::2], [*numbers[1::2], numbers[-1]], strict=False):
        found = add(arith.CmpfOp(first, second, "uno")).result
        unordered = found if unordered is None else add(arith.OrIOp(unordered, found)).result
    assert unordered is not None
    sign = add(arith.AndIOp(bits, builder.constant(IntegerAttr(SIGN, i32)))).result
    magnitude = add(arith.AndIOp(add(arith.BitcastOp(total, i32)).result, builder.constant(IntegerAttr(REST, i32))))
    mended = add(arith.BitcastOp(add(arith.OrIOp(magnitude.result, sign)).result, f32)).result
    nan = builder.constant(FloatAttr(float("nan"), f32))
    return add(arith.SelectOp(unordered, nan, mended)).result


def _small_extreme(builder: ScheduledNest, numbers: Sequence[SSAValue], is_maximum: bool) -> SSAValue:
    """
    Returns `maximumf` or `minimumf` of several small floats in four instructions for each, none of which is a
    conversion.

    With the other bits of negative numbers flipped, floats are in order as integers are, -0 before 0. NaNs are beyond
    the infinities on either side. So one is among the numbers where the greatest or the least of all is beyond.
    """
    add, element = builder.add, numbers[0].type

    def constant(number: int) -> SSAValue:
        return builder.constant(IntegerAttr(number, i16))

    shift, rest = constant(15), constant(0x7FFF)

    def flipped(bits: SSAValue) -> SSAValue:
        negative = add(arith.AndIOp(add(arith.ShRSIOp(bits, shift)).result, rest)).result
        return add(arith.XOrIOp(bits, negative)).result

    keys = [flipped(add(arith.BitcastOp(number, i16)).result) for number in numbers]
    most = least = keys[0]
    for key in keys[1:]:
        most, least = add(arith.MaxSIOp(most, key)).result, add(arith.MinSIOp(least, key)).result
    row = TABLE[dtype_name(element) or ""]
    infinity = ((1 << row.exponent_bits) - 1) << row.mantissa_bits
    above = add(arith.CmpiOp(most, constant(infinity), "sgt")).result
    below = add(arith.CmpiOp(least, constant(~infinity), "slt")).result
    quiet_nan = constant(infinity | 1 << (row.mantissa_bits - 1))
    bits = flipped(most if is_maximum else least)
    chosen = add(arith.SelectOp(add(arith.OrIOp(above, below)).result, quiet_nan, bits)).result
    return add(arith.BitcastOp(chosen, element)).result
