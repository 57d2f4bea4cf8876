"""
Ops that `tile.map` can apply to an element beyond `arith` and `math`: instructions of vector registers of 64 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, Float32Type, f32, i32
from xdsl.ir import SSAValue
from xdsl.irdl import (
    BaseAttr,
    VarConstraint,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    prop_def,
    result_def,
)
from xdsl.traits import HasParent, Pure
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp
from .map import MapOp

TABLE_SIZES = (16, 32)
"""The sizes of tables that fit in one vector register of 64 bytes, and in two."""


@irdl_op_definition
class ScaleOp(ShownOp):
    """
    `result = number * 2^floor(exponent)`, rounded once, on f32 in the body of a `tile.map`.

        %y = tile.scale %p, %k : f32

    The result is infinite where that is too large, and a denormal or 0 where it is too small. An exponent of inf or
    -inf gives inf or 0 for a number that is neither. It is NaN if either is NaN. This is one instruction of AVX-512
    (`vscalefps`), and of no other machine.
    """

    name = "tile.scale"

    T: ClassVar = VarConstraint("T", BaseAttr(Float32Type))

    number = operand_def(T)
    exponent = operand_def(T)
    result = result_def(T)

    traits = lazy_traits_def(lambda: (Pure(), HasParent(MapOp)))

    assembly_format = "$number `,` $exponent attr-dict `:` type($result)"

    def __init__(self, number: SSAValue, exponent: SSAValue):
        super().__init__(operands=[number, exponent], result_types=[number.type])


@irdl_op_definition
class LimitOp(ShownOp):
    """
    Limits a number to a bound, on f32 in the body of a `tile.map`. `result = number` where its size is at most that of
    `bound`, else the size of `bound` with the sign of the number.

        %s = tile.limit %r, %bound : f32

    For a NaN the result is the bound, with either sign, and for a bound that is NaN it is the number. So it is finite
    if either is. This is one instruction of AVX-512 (`vrangeps`), and of no other machine.
    """

    name = "tile.limit"

    T: ClassVar = VarConstraint("T", BaseAttr(Float32Type))

    number = operand_def(T)
    bound = operand_def(T)
    result = result_def(T)

    traits = lazy_traits_def(lambda: (Pure(), HasParent(MapOp)))

    assembly_format = "$number `,` $bound attr-dict `:` type($result)"

    def __init__(self, number: SSAValue, bound: SSAValue):
        super().__init__(operands=[number, bound], result_types=[number.type])


class _OuterOp(ShownOp):
    """One of two numbers, on f32 in the body of a `tile.map`."""

    T: ClassVar = VarConstraint("T", BaseAttr(Float32Type))

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = lazy_traits_def(lambda: (Pure(), HasParent(MapOp)))

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($result)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[lhs, rhs], result_types=[lhs.type])


@irdl_op_definition
class LargerOp(_OuterOp):
    """
    The larger of two numbers, where -0 is less than 0, on f32 in the body of a `tile.map`.

        %m = tile.larger %a, %b : f32

    Where one is NaN the result is either, and it is NaN where both are. This is one instruction of AVX-512
    (`vrangeps`), and of no other machine. A maximum that passes NaNs on takes five more.
    """

    name = "tile.larger"


@irdl_op_definition
class SmallerOp(_OuterOp):
    """
    The smaller of two numbers, where -0 is less than 0, on f32 in the body of a `tile.map`.

        %m = tile.smaller %a, %b : f32

    NaNs and machines are as those of `tile.larger`.
    """

    name = "tile.smaller"


@irdl_op_definition
class LookupOp(ShownOp):
    """
    `result = table[index mod size]` for a table of 16 or 32 numbers, in the body of a `tile.map`.

        %c = tile.lookup %index, [0.0, 1.0, ...] : f32

    Only the low 4 or 5 bits of an i32 count, so any index is valid. The table stays in one or two registers, and no
    memory is read. This is one instruction of AVX-512 (`vpermps`, `vpermt2ps`), and of no other machine.
    """

    name = "tile.lookup"

    index = operand_def(i32)
    table = prop_def(DenseArrayBase.constr(f32))
    result = result_def(f32)

    traits = lazy_traits_def(lambda: (Pure(), HasParent(MapOp)))

    assembly_format = "$index `,` $table attr-dict `:` type($result)"

    def __init__(self, index: SSAValue, table: Sequence[float]):
        super().__init__(
            operands=[index], result_types=[f32], properties={"table": DenseArrayBase.from_list(f32, table)}
        )

    def verify_(self) -> None:
        if (size := len(self.table)) not in TABLE_SIZES:
            raise VerifyException(f"the table has {size} numbers, expected 16 or 32")
