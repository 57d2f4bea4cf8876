"""Arithmetic on places in buffers, whose terms may be numbers or values."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

Number = int | SSAValue
"""A size, stride or place that is known, or an index value."""


class Places:
    """Emits arithmetic on places, before an op."""

    def __init__(self, before: Operation):
        self._before = before

    def insert(self, op: Operation) -> SSAValue:
        op.location = self._before.location
        Rewriter.insert_op(op, InsertPoint.before(self._before))
        return op.results[0]

    def value(self, number: Number) -> SSAValue:
        """Returns a number as a value."""
        if isinstance(number, SSAValue):
            return number
        return self.insert(arith.ConstantOp(IntegerAttr.from_index_int_value(number)))

    def product(self, a: Number, b: Number) -> Number:
        """Returns `a * b`."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if 1 in (a, b):
            return b if a == 1 else a
        return self.insert(arith.MuliOp(self.value(a), self.value(b)))

    def total(self, a: Number, b: Number) -> Number:
        """Returns `a + b`."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if 0 in (a, b):
            return b if a == 0 else a
        return self.insert(arith.AddiOp(self.value(a), self.value(b)))

    def count(self, sizes: Sequence[Number]) -> Number:
        """Returns the product of sizes."""
        total: Number = 1
        for size in sizes:
            total = self.product(total, size)
        return total
