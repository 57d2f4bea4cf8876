"""Reduces all elements of a register tile to one number."""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, StringAttr, VectorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp
from .ops import is_tile

KINDS = ("addf", "maximumf", "minimumf", "maxnumf", "addi")


@irdl_op_definition
class ReduceOp(ShownOp):
    """
    The sum, maximum or minimum of all elements of a tile of floats, or the sum of integers, which wraps.

        %s = tile.reduce "addf", %t : vector<1x64xf32> -> f32
        %m = tile.reduce "maximumf", %t fastmath<nsz> : vector<1x64xf32> -> f32

    The order of a sum is up to the machine, but the same in every run. A maximum or minimum is NaN if any element is.
    `nsz` allows either zero. `maxnumf` is the maximum of a tile without NaNs, and may also return either zero.
    """

    name = "tile.reduce"

    kind = prop_def(StringAttr)
    tile = operand_def(VectorType)
    fastmath = prop_def(arith.FastMathFlagsAttr, default_value=arith.FastMathFlagsAttr("none"))
    result = result_def()

    traits = traits_def(Pure())

    assembly_format = "$kind `,` $tile (`fastmath` `` $fastmath^)? attr-dict `:` type($tile) `->` type($result)"

    def __init__(self, kind: str, tile: SSAValue, flags: arith.FastMathFlagsAttr | None = None):
        assert isinstance(tile.type, VectorType)
        super().__init__(
            operands=[tile],
            result_types=[tile.type.element_type],
            properties={"kind": StringAttr(kind), "fastmath": flags},
        )

    def verify_(self) -> None:
        if self.kind.data not in KINDS:
            raise VerifyException(f"the kind is '{self.kind.data}', expected one of {', '.join(KINDS)}")
        type_ = cast(VectorType, self.tile.type)
        wanted, name = (IntegerType, "integers") if self.kind.data == "addi" else (AnyFloat, "floats")
        if not is_tile(type_) or not isinstance(type_.element_type, wanted):
            raise VerifyException(f"the tile has type {type_}, expected rows and columns of {name}")
        if self.result.type != type_.element_type:
            raise VerifyException(f"the result is {self.result.type}, expected {type_.element_type}")
