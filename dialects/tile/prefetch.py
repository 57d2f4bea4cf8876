"""Prefetches elements that will be needed soon."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, UnitAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp
from ..traits import AccessesBoxes, BoxAccess

MAX_COUNT = 65536
"""The most elements that one op may ask for. Each cache line of them takes an instruction."""


@irdl_op_definition
class PrefetchOp(ShownOp, AccessesBoxes):
    """
    Prefetches `count` elements, to be read soon or to be written. They lie in memory from `ahead` elements after
    `buffer[indices]` on.

        tile.prefetch %x[%i, %j] ahead 1024 count 64 : memref<512x1024xf32>
        tile.prefetch write %y[%i, %j] ahead 1024 count 64 : memref<512x1024xf32>
        tile.prefetch %b[%p, %k, %c] ahead 12288 count 32 second : memref<4x256x48xf32>

    `buffer[indices]` is in the buffer, but the elements ahead need not be. At most 65536 elements are asked for at
    once. Only the time of the program depends on this op. With `second` the elements are brought into the second-level
    cache and not into the first. Then no place need be in the buffer, and its strides continue outside.
    """

    name = "tile.prefetch"

    write = opt_prop_def(UnitAttr)
    buffer = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    ahead = prop_def(IntegerAttr.constr(i64))
    count = prop_def(IntegerAttr.constr(i64))
    second = opt_prop_def(UnitAttr)

    traits = traits_def(MemoryReadEffect())

    assembly_format = (
        "(`write` $write^)? $buffer `[` $indices `]` `ahead` $ahead `count` $count (`second` $second^)? attr-dict "
        "`:` type($buffer)"
    )

    def __init__(
        self,
        buffer: SSAValue,
        indices: Sequence[SSAValue],
        ahead: int,
        count: int,
        *,
        write: bool = False,
        second: bool = False,
    ):
        super().__init__(
            operands=[buffer, list(indices)],
            properties={
                "write": UnitAttr() if write else None,
                "ahead": IntegerAttr(ahead, i64),
                "count": IntegerAttr(count, i64),
                "second": UnitAttr() if second else None,
            },
        )

    def box_accesses(self) -> tuple[BoxAccess, ...]:
        return ()

    def verify_(self) -> None:
        assert isinstance(self.buffer.type, MemRefType)
        rank = self.buffer.type.get_num_dims()
        if len(self.indices) != rank:
            raise VerifyException(
                f"the op has {len(self.indices)} indices into a buffer of {rank} dimensions, expected one for each"
            )
        if not 1 <= self.count.value.data <= MAX_COUNT:
            raise VerifyException(f"the count is {self.count.value.data}, expected 1 to {MAX_COUNT}")
