"""Elements that will be needed soon."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, UnitAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """
    Asks for the `count` elements that lie in memory from `ahead` elements after `buffer[indices]` on, to be read soon or to be written.

        tile.prefetch %x[%i, %j] ahead 1024 count 64 : memref<512x1024xf32>
        tile.prefetch write %y[%i, %j] ahead 1024 count 64 : memref<512x1024xf32>

    `buffer[indices]` is in the buffer; what lies ahead need not be, and nothing but the time it takes depends on it.
    """

    name = "tile.prefetch"

    write = opt_prop_def(UnitAttr)
    buffer = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    ahead = prop_def(IntegerAttr.constr(i64))
    count = prop_def(IntegerAttr.constr(i64))

    traits = traits_def(MemoryReadEffect())

    assembly_format = "(`write` $write^)? $buffer `[` $indices `]` `ahead` $ahead `count` $count attr-dict `:` type($buffer)"

    def __init__(
        self, buffer: SSAValue, indices: Sequence[SSAValue], ahead: int, count: int, *, write: bool = False
    ):
        super().__init__(
            operands=[buffer, list(indices)],
            properties={
                "write": UnitAttr() if write else None,
                "ahead": IntegerAttr(ahead, i64),
                "count": IntegerAttr(count, i64),
            },
        )

    def verify_(self) -> None:
        assert isinstance(self.buffer.type, MemRefType)
        rank = self.buffer.type.get_num_dims()
        if len(self.indices) != rank:
            raise VerifyException(
                f"the op has {len(self.indices)} indices into a buffer of {rank} dimensions, expected one for each"
            )
        if self.count.value.data < 1:
            raise VerifyException(f"the count is {self.count.value.data}, expected 1 or more")
