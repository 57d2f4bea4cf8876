"""Products of register tiles that are added to a third."""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType, VectorType
from xdsl.ir import SSAValue
from xdsl.irdl import BaseAttr, VarConstraint, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...core.ir.appending import fill_op
from ...core.ir.reprs import ShownOp
from .ops import is_tile


@irdl_op_definition
class MultiplyAddOp(ShownOp):
    """
    `result[r, c] = a[r, c] * b[r, c] + acc[r, c]`, for tiles of one type.

        %s = tile.multiply_add %a, %b, %acc : vector<4x16xf32>

    Floats are f32 or f64. As in `tile.mma`, a product is rounded before it is added only where the machine cannot do
    both at once. Integers wrap. It says in one op what a `tile.map` says in four.
    """

    name = "tile.multiply_add"

    T: ClassVar = VarConstraint("T", BaseAttr(VectorType))

    a = operand_def(T)
    b = operand_def(T)
    acc = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$a `,` $b `,` $acc attr-dict `:` type($acc)"

    def __init__(self, a: SSAValue, b: SSAValue, acc: SSAValue):
        fill_op(self, (a, b, acc), (acc.type,))

    def verify_(self) -> None:
        type_ = cast(VectorType, self.acc.type)
        if not is_tile(type_) or not isinstance(type_.element_type, Float32Type | Float64Type | IntegerType):
            raise VerifyException(f"the tiles have type {type_}, expected rows and columns of f32, f64 or integers")
