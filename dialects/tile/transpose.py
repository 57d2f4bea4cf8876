"""The transpose of a register tile."""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue
from xdsl.irdl import BaseAttr, VarConstraint, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp
from .ops import LANES, is_tile


@irdl_op_definition
class TransposeOp(ShownOp):
    """
    Transposes a tile of 16 rows and 16 columns: `result[r, c] = tile[c, r]`. It takes 64 shuffles of two vectors.

        %u = tile.transpose %t : vector<16x16xf32>
    """

    name = "tile.transpose"

    T: ClassVar = VarConstraint("T", BaseAttr(VectorType))

    tile = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$tile attr-dict `:` type($tile)"

    def __init__(self, tile: SSAValue):
        super().__init__(operands=[tile], result_types=[tile.type])

    def verify_(self) -> None:
        type_ = cast(VectorType, self.tile.type)
        if not is_tile(type_) or type_.get_shape() != (LANES, LANES):
            raise VerifyException(f"the tile has type {type_}, expected {LANES} rows and {LANES} columns")
