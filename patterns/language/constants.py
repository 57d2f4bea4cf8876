"""Reads constants: which ops hold one, and whether all its elements are the same number."""

from __future__ import annotations

import struct
from math import copysign
from typing import Final

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ShapedType,
    Signedness,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ...dialects.traits import IN_PROGRAM, constant_kind

CONSTANT_OPS = frozenset({"graph.constant", "graph.full", "arith.constant"})
"""The names of the ops for which `is_constant_op` holds. A pattern of a constant is tried on these."""


def constant_attribute(value: SSAValue) -> Attribute | None:
    """Returns the attribute that holds the constant `value`, or `None` when it is not one."""
    if isinstance(value, OpResult) and is_constant_op(value.op):
        return value.op.properties.get("value")
    return None


def is_constant_op(op: Operation) -> bool:
    """Returns whether the program holds the result of `op`. It does not hold the bytes of a weight."""
    return constant_kind(op) in IN_PROGRAM


def element_type(type_: Attribute) -> Attribute:
    """Returns the element type of a shaped type, and any other type itself."""
    return type_.get_element_type() if isinstance(type_, ShapedType) else type_  # pyright: ignore


def is_float_type(type_: Attribute) -> bool:
    return isinstance(element_type(type_), AnyFloat)


def splat_number(value: SSAValue) -> int | float | None:
    """Returns the number that every element of the constant `value` has, or `None` when there is no such number."""
    attribute = constant_attribute(value)
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        return _dense_splat(attribute)
    if not isinstance(attribute, FloatAttr | IntegerAttr):
        return None
    number = attribute.value.data
    type_ = element_type(value.type)
    # A number attribute of graph.full may be an integer literal for a float tensor.
    return float(number) if isinstance(type_, AnyFloat) else _wrapped(number, type_)


def _wrapped(number: int | float, type_: Attribute) -> int | float | None:
    if isinstance(number, float):
        return None
    if isinstance(type_, IntegerType) and type_.width.data == 1:
        return number & 1
    return number


LARGEST_KNOWN: Final = 64
"""The most bytes of a constant whose number is kept: larger ones should not live longer than their program."""

_MOST_KNOWN: Final = 4096
_known: dict[int, tuple[DenseIntOrFPElementsAttr, int | float | None]] = {}
"""The numbers of constants, by identity: rules ask for those of a scale again and again."""


def _dense_splat(attribute: DenseIntOrFPElementsAttr) -> int | float | None:
    """Returns the one element of a dense attribute."""
    if len(attribute.data.data) > LARGEST_KNOWN:
        return _found_splat(attribute)
    known = _known.get(id(attribute))
    if known is not None and known[0] is attribute:
        return known[1]
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    number = _found_splat(attribute)
    _known[id(attribute)] = attribute, number
    return number


def _found_splat(attribute: DenseIntOrFPElementsAttr) -> int | float | None:
    """
    Returns the one element of a dense attribute. It compares bytes, since decoding 100 MB of elements would take
    seconds.
    """
    data: bytes = attribute.data.data
    type_ = attribute.get_element_type()
    width = type_.compile_time_size
    if len(data) < width:
        return None
    first = data[:width]
    if data[width : 2 * width] not in (first, b"") or data[-width:] != first:
        return None
    if data != first * (len(data) // width):
        return None
    if isinstance(type_, IntegerType):
        unsigned = type_.signedness.data == Signedness.UNSIGNED or type_.width.data == 1
        return int.from_bytes(first, "little", signed=not unsigned) & (1 if type_.width.data == 1 else -1)
    try:
        number = type_.unpack(first, 1)[0]
    except (struct.error, NotImplementedError):
        return None
    return None if isinstance(number, tuple) else number


def same_number(found: int | float, wanted: float) -> bool:
    """Returns whether an element equals the number of a pattern. For floats, 0.0 and -0.0 differ."""
    if isinstance(found, float):
        return found == wanted and copysign(1.0, found) == copysign(1.0, wanted)
    return found == wanted and (found != 0 or copysign(1.0, wanted) > 0)


def nearest(wanted: float, type_: Attribute) -> float:
    """Returns the number of a float type that is nearest to `wanted`, and `wanted` itself for other types."""
    if not isinstance(type_, AnyFloat):
        return wanted
    try:
        number = type_.unpack(type_.pack([wanted]), 1)[0]
    except (struct.error, NotImplementedError, OverflowError):
        return wanted
    return number if isinstance(number, float) else wanted


def is_literal(value: SSAValue, wanted: Attribute) -> bool:
    """Returns whether `value` is the constant `wanted`, with the same type and the same bits."""
    found = constant_attribute(value)
    if found is None:
        return False
    if found == wanted:
        return True
    if not isinstance(wanted, DenseIntOrFPElementsAttr) or value.type != wanted.get_type():
        return False
    number, other = splat_number(value), _dense_splat(wanted)
    return number is not None and other is not None and same_number(number, float(other))
