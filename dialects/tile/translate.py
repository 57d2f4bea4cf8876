"""Looks up bytes in a table of 256 bytes that stays in registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, VectorType, i8
from xdsl.ir import SSAValue
from xdsl.irdl import eq, irdl_op_definition, operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure

from ...core.ir.reprs import ShownOp

BYTES = 64
"""The bytes of a register of AVX-512."""

BYTES_OF_A_REGISTER = VectorType(i8, [BYTES])


@irdl_op_definition
class TranslateOp(ShownOp):
    """
    `result[i] = (first ++ second ++ third ++ fourth)[x[i]]`, where the bytes of `x` count from 0 to 255.

        %y = tile.translate %x, %first, %second, %third, %fourth : vector<64xi8>
        %y = tile.translate permuted %x, %first, %second, %third, %fourth : vector<64xi8>

    The parts of the table stay in registers, so that no byte is looked up in memory. Machines with AVX-512 have
    instructions for it. With `permuted` these are two permutations of AVX512-VBMI (`vpermi2b`), else sixteen times a
    comparison and a shuffle in pieces of 16 bytes (`vpshufb`).
    """

    name = "tile.translate"

    V: ClassVar = eq(BYTES_OF_A_REGISTER)

    permuted = opt_prop_def(UnitAttr)
    x = operand_def(V)
    first = operand_def(V)
    second = operand_def(V)
    third = operand_def(V)
    fourth = operand_def(V)
    result = result_def(V)

    traits = traits_def(Pure())

    assembly_format = (
        "(`permuted` $permuted^)? $x `,` $first `,` $second `,` $third `,` $fourth attr-dict `:` type($result)"
    )

    def __init__(self, x: SSAValue, table: Sequence[SSAValue], permuted: bool = False):
        super().__init__(
            operands=[x, *table],
            result_types=[BYTES_OF_A_REGISTER],
            properties={"permuted": UnitAttr() if permuted else None},
        )
