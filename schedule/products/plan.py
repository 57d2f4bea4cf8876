"""Makes bodies of `tile.map` that add up products."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, Region

from ...dialects import tile


def sum_of_products(element: Attribute, count: int) -> Region:
    """
    Makes `total + a0 * b0 + a1 * b1 + …` of `count` products of numbers of the type `element`. Each product and sum is
    rounded once where that is faster.
    """
    body = Block(arg_types=[element] * (1 + 2 * count))
    total, *factors = body.args
    for left, right in zip(factors[::2], factors[1::2], strict=True):
        if isinstance(element, IntegerType):
            times: Operation = arith.MuliOp(left, right)
            plus: Operation = arith.AddiOp(total, times.results[0])
        else:
            flags = arith.FastMathFlagsAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])
            times = arith.MulfOp(left, right, flags)
            plus = arith.AddfOp(total, times.results[0], flags)
        body.add_ops([times, plus])
        total = plus.results[0]
    body.add_op(tile.YieldOp(total))
    return Region(body)
