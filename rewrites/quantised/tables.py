"""Condition and builder of `integer_arithmetic.mlir`: functions of a byte as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from ...dialects import graph
from ...dialects.graph import binary, comparison, elementwise, functions, trigonometry
from ...dialects.graph.base import plain_properties
from ...dialects.graph.constants import ConstantOp
from ...dialects.graph.functions import LeakyReluOp, ReluOp
from ...dialects.graph.movement import TakeOp
from ...dialects.graph.quantisation import DequantizeOp, QuantizeOp
from ...dialects.traits import may_fail
from ...patterns.language.constants import constant_attribute, splat_number
from ...patterns.language.match import Match, as_value
from ...patterns.language.registry import Thing, builder, condition
from ..inference.quantisation import converted, dtype_of, emit, shape_of
from .contractions import BYTES
from .moves import full
from .scales import is_prepared

LARGEST: Final = 16
"""The most ops of a function that becomes a table."""

FUNCTIONS: Final = frozenset(
    {binary.PowerOp, *graph.ops_of(functions), *graph.ops_of(trigonometry)} - {ReluOp, LeakyReluOp}
)
"""Ops that are worth a table. A kernel does others along with what is before them."""

OF_ELEMENTS: Final = FUNCTIONS.union(
    *(graph.ops_of(family) for family in (elementwise, functions, binary, comparison)),
)
"""Ops each element of whose result follows from the elements at its place, whichever place that is."""


class _Function:
    """A function of one tensor of bytes, element by element."""

    def __init__(self, match: Match, shape: tuple[int, ...]):
        self.match, self.shape = match, shape
        self.bytes: SSAValue | None = None
        self.ops: dict[Operation, SSAValue | None] = {}
        """The ops, each after those that it needs. With a conversion of what is looked up comes the table."""

    @property
    def is_worth(self) -> bool:
        """Returns whether the ops are more than plain arithmetic, which needs no table."""
        return any(table is not None or type(op) in FUNCTIONS for op, table in self.ops.items())

    def add(self, value: SSAValue) -> bool:
        """Adds the ops that make a value. Returns whether it follows from the bytes and numbers alone."""
        op, number = value.owner, splat_number(value)
        if number is not None:
            return number == number
        if op in self.ops:
            return True
        if shape_of(value) != self.shape or len(self.ops) == LARGEST:
            return False
        if isinstance(op, DequantizeOp):
            return self._add_bytes(op)
        if type(op) not in OF_ELEMENTS or may_fail(op) or not all(map(self.add, op.operands)):  # pyright: ignore
            return False
        self.ops[op] = None  # pyright: ignore[reportArgumentType]
        return True

    def _add_bytes(self, op: DequantizeOp) -> bool:
        """Adds a conversion of the bytes, or of what is looked up for them."""
        integers, *steps = op.operands
        table, place = _looked_up(integers)
        if any(shape_of(each) or not is_prepared(self.match, each) for each in steps):
            return False
        if table is not None and not is_prepared(self.match, table):
            table, place = None, integers
        if dtype_of(place) not in BYTES or constant_attribute(place) is not None:
            return False
        if self.bytes is not None and self.bytes is not place:
            return False
        self.bytes = place
        self.ops[op] = table
        return True

    def of_all_bytes(self) -> SSAValue:
        """Returns the values of the function for all bytes, in the order of their bits."""
        assert self.bytes is not None
        given = np.arange(256, dtype=np.uint8).view(np.uint8 if dtype_of(self.bytes) == "ui8" else np.int8)
        every = self.match.add(ConstantOp.from_array(given)).results[0]
        made: dict[SSAValue, SSAValue] = {}
        result = every
        for op, table in self.ops.items():
            if isinstance(op, DequantizeOp):
                operands = [every if table is None else table, *op.operands[1:]]
            else:
                operands = [made.get(value) or self._number(value) for value in op.operands]
            result = made[op.results[0]] = self.match.create(op.name, operands, None, op.properties).results[0]
        return result

    def _number(self, value: SSAValue) -> SSAValue:
        """Returns a constant tensor of one number without its dimensions."""
        number = splat_number(value)
        return value if number is None else full(self.match, number, dtype_of(value))


def _looked_up(value: SSAValue) -> tuple[SSAValue | None, SSAValue]:
    """Returns the table that a value is looked up in, and the bytes whose bits are its places, or no table."""
    op = value.owner
    if not isinstance(op, TakeOp) or shape_of(op.operands[0]) != (256,) or plain_properties(op)["axis"] != 0:
        return None, value
    table, place = op.operands
    source = place.owner
    if isinstance(source, elementwise.AstypeOp) and dtype_of(place) == "ui8" and dtype_of(source.operands[0]) == "i8":
        place = source.operands[0]
    return table, place


@condition("function-of-bytes")
def function_of_bytes(match: Match, thing: Thing) -> bool:
    """
    The value follows, element by element, from one tensor of bytes and from numbers, by at most 16 ops. One of these is
    more than plain arithmetic, or looks the bytes up in a table. Scales are known when weights are loaded.
    """
    value = as_value(thing)
    if not isinstance(value.type, TensorType):
        return False
    found = _Function(match, shape_of(value))
    return found.add(value) and found.bytes is not None and found.is_worth


@builder("byte-table")
def byte_table(match: Match, op: QuantizeOp, real: Operation) -> Sequence[SSAValue]:
    """What stands for each byte in a table of what `op` and all that makes `real` make of all 256."""
    value = as_value(real)
    found = _Function(match, shape_of(value))
    found.add(value)
    assert found.bytes is not None
    table = match.create(op.name, [found.of_all_bytes(), *op.operands[1:]]).results[0]
    return (emit(match, "take", table, converted(match, found.bytes, "ui8"), axis=0),)
