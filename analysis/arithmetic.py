"""
Counts the arithmetic operations that a function at the level scf executes, and the bytes of arrays that it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from xdsl.dialects import arith, func, math, scf, vector
from xdsl.dialects.builtin import IndexType, MemRefType, VectorType
from xdsl.ir import Block, Operation, SSAValue

from ..core.roles import TEMPORARY
from ..dialects import tile
from .work import trip_count

_COUNTED = (
    *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.MaximumfOp, arith.MinimumfOp),
    *(arith.MaxnumfOp, arith.MinnumfOp, arith.NegfOp, arith.AddiOp, arith.SubiOp, arith.MuliOp),
    *(arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp, arith.MaxSIOp, arith.MinSIOp),
    *(arith.MaxUIOp, arith.MinUIOp),
)
_TWICE = (math.FmaOp, vector.FMAOp)


class Arithmetic:
    """
    Counts arithmetic operations.

    A sum, product, quotient, maximum or function of one element counts as one operation, a multiply-add as two.
    Operations on indices do not count, nor do casts, comparisons and selections. A loop whose length is not known
    counts as if it ran once. Of the branches of an `scf.if` the longer one counts.
    """

    def __init__(self, functions: Mapping[str, func.FuncOp]):
        self._functions = functions
        self._known: dict[str, int] = {}

    def of_call(self, name: str) -> int:
        """Returns the operations of one call of the function `name`. A function without a body has none."""
        if name not in self._known:
            self._known[name] = 0  # stops at a function that calls itself
            function = self._functions.get(name)
            blocks = () if function is None else function.body.blocks
            self._known[name] = sum(self._block(block) for block in blocks)
        return self._known[name]

    def _block(self, block: Block) -> int:
        return sum(self._op(op) for op in block.ops)

    def _op(self, op: Operation) -> int:
        if isinstance(op, func.CallOp):
            return self.of_call(op.callee.string_value())
        if isinstance(op, tile.MmaOp):
            return 2 * op.sums * op.depth.value.data * op.products
        if isinstance(op, tile.MultiplyAddOp):
            return 2 * _elements(op.results[0])
        inside = [sum(self._block(block) for block in region.blocks) for region in op.regions]
        if isinstance(op, scf.ForOp):
            trips = trip_count(op)
            return (1 if trips is None else trips) * inside[0]
        if isinstance(op, scf.IfOp):
            return max(inside, default=0)
        if isinstance(op, tile.MapOp):
            return _elements(op.results[0]) * inside[0]
        return sum(inside) + _operations(op)


def bytes_given(call: func.CallOp, callee: func.FuncOp | None) -> int:
    """
    Returns the bytes of the different arrays that a call is given, whether it reads or writes all of them or not.

    Scratch memory does not count.
    """
    attributes = callee.arg_attrs if callee is not None else None
    total, seen = 0, set[SSAValue]()
    for index, operand in enumerate(call.operands):
        scratch = attributes is not None and TEMPORARY in attributes.data[index].data
        if operand in seen or scratch or not isinstance(operand.type, MemRefType):
            continue
        seen.add(operand)
        if all(size >= 0 for size in operand.type.get_shape()):
            bits = getattr(operand.type.element_type, "bitwidth", 64)
            total += prod(operand.type.get_shape()) * -(-bits // 8)
    return total


def _operations(op: Operation) -> int:
    if len(op.results) != 1 or isinstance(op.results[0].type, IndexType | MemRefType):
        return 0
    if isinstance(op, _TWICE):
        return 2 * _elements(op.results[0])
    if isinstance(op, _COUNTED) or op.name.startswith("math."):
        return _elements(op.results[0])
    return 0


def _elements(value: SSAValue) -> int:
    return prod(value.type.get_shape()) if isinstance(value.type, VectorType) else 1
