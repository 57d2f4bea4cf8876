"""Ops on one element at a time: literals, comparisons, selections, and elements of buffers."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from math import copysign, inf

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ... import te
from ...core.ir.appending import add_new, new_op
from ...te import dtypes
from ..shared.te_types import compute_type


class ScalarOps:
    """Ops at the end of `block`. Equal literals are made once per scope."""

    def __init__(self, block: Block):
        self.block = block
        self.constants: MutableMapping[tuple[str, str], SSAValue] = ChainMap({})

    def add(self, op: Operation) -> SSAValue:
        """Appends `op` and returns its first result."""
        add_new(self.block, op)
        return op.results[0]

    def constant(self, value: te.expr.Number, dtype: str) -> SSAValue:
        """Returns the literal `value` of element type `dtype`."""
        key = (repr(value), dtype)
        if (known := self.constants.get(key)) is not None:
            return known
        type_ = compute_type(dtype)
        if dtypes.is_float(dtype):
            literal = _float_literal(float(value), type_)
        else:
            literal = IntegerAttr(_signed(int(value), dtype), type_)  # pyright: ignore[reportArgumentType,reportCallIssue]
        result = self.constants[key] = self.add(arith.ConstantOp(literal))
        return result

    def compare_float(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.add(arith.CmpfOp(lhs, rhs, predicate))

    def compare_int(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.add(arith.CmpiOp(lhs, rhs, predicate))

    def select(self, condition: SSAValue, if_true: SSAValue, if_false: SSAValue) -> SSAValue:
        return self.add(arith.SelectOp(condition, if_true, if_false))

    def load(self, buffer: SSAValue, indices: list[SSAValue], dtype: str) -> SSAValue:
        """Loads an element in its compute type: a stored boolean is true when it is not 0."""
        type_ = buffer.type
        assert isinstance(type_, MemRefType)
        value = self.add(new_op(memref.LoadOp, (buffer, *indices), (type_.element_type,)))
        if dtype != "i1":
            return value
        return self.compare_int("ne", value, self.constant(0, "i8"))

    def store(self, value: SSAValue, buffer: SSAValue, indices: list[SSAValue], dtype: str) -> None:
        """Stores a value given in its compute type."""
        if dtype == "i1":
            value = self.add(arith.ExtUIOp(value, compute_type("i8")))  # pyright: ignore[reportArgumentType]
        add_new(self.block, new_op(memref.StoreOp, (value, buffer, *indices), ()))


def _float_literal(value: float, type_: Attribute) -> FloatAttr:
    """Returns `value` rounded to the float type `type_`. A number that overflows it becomes infinite."""
    try:
        return FloatAttr(value, type_)  # pyright: ignore[reportArgumentType,reportCallIssue]
    except OverflowError:  # Python's packing of f16 and f32 raises this.
        return FloatAttr(copysign(inf, value), type_)  # pyright: ignore[reportArgumentType,reportCallIssue]


def _signed(value: int, dtype: str) -> int:
    """Returns the bits of `value` read as a signless literal: unsigned values above the middle become negative."""
    if dtype in dtypes.UNSIGNED and value > dtypes.integer_range(dtype)[1] // 2:
        return value - 2 ** dtypes.bit_width(dtype)
    return value
