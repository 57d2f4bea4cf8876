"""Makes bodies of `tile.map` that add up products."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Region

from ...core.ir.appending import append_op
from ...dialects import tile

_REGROUPED = arith.FastMathFlagsAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])
_FLOATS = arith.MulfOp, arith.AddfOp, {"fastmath": _REGROUPED}
_INTEGERS = arith.MuliOp, arith.AddiOp, {"overflowFlags": arith.IntegerOverflowAttr("none")}


def sum_of_products(element: Attribute, count: int) -> Region:
    """
    Makes `total + a0 * b0 + a1 * b1 + …` of `count` products of numbers of the type `element`. Each product and sum is
    rounded once where that is faster.
    """
    body = Block(arg_types=[element] * (1 + 2 * count))
    total, *factors = body.args
    multiply, add, properties = _INTEGERS if isinstance(element, IntegerType) else _FLOATS
    for left, right in zip(factors[::2], factors[1::2], strict=True):
        product = append_op(body, multiply, (left, right), (element,), properties).results[0]
        total = append_op(body, add, (total, product), (element,), properties).results[0]
    body.add_op(tile.YieldOp(total))
    return Region(body)
