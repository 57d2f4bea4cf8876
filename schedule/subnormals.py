"""
Constant factors below the least normal number count as zeros.

Processors take a hundred cycles and more for a product with a subnormal number, and trained weights have them: weight decay
brings channels that do nothing there. A convolution with such filters took 40 times as long as with zeros in their place.
"""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, VectorType, f32, f64
from xdsl.ir import Attribute, Block, Region, SSAValue

from ..dialects import tile
from .loop_builder import NestBuilder

LEAST_NORMAL: dict[Attribute, float] = {f32: 2.0**-126, f64: 2.0**-1022}
"""By element type; IEEE 754-2019, table 3.5. Subnormal numbers of f16 are normal in f32, in which products of f16 are computed."""


def without_subnormals(builder: NestBuilder, value: SSAValue) -> SSAValue:
    """The tile `value` with zeros in the place of subnormal numbers; as it is when its element type has no entry in the table."""
    assert isinstance(value.type, VectorType)
    element = value.type.element_type
    if element not in LEAST_NORMAL:
        return value
    block = Block(arg_types=[element])
    number = block.args[0]
    size = math.AbsFOp(number)
    least = arith.ConstantOp(FloatAttr(LEAST_NORMAL[element], element))  # pyright: ignore[reportArgumentType, reportCallIssue]
    zero = arith.ConstantOp(FloatAttr(0.0, element))  # pyright: ignore[reportArgumentType, reportCallIssue]
    small = arith.CmpfOp(size, least, "olt")
    chosen = arith.SelectOp(small, zero, number)
    block.add_ops([size, least, zero, small, chosen, tile.YieldOp(chosen.result)])
    return builder.add(tile.MapOp([value], value.type, Region(block))).result
