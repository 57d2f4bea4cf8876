"""Makes bodies of `tile.map` that add up products."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Block, Operation, Region

from ...dialects import tile
from ..kernels.contraction import Contraction


def sum_of_products(c: Contraction, count: int) -> Region:
    """
    Makes `total + a0 * b0 + a1 * b1 + …` of `count` products of numbers of `c`. Each product and sum is rounded once
    where that is faster.
    """
    element = c.tile_element
    body = Block(arg_types=[element] * (1 + 2 * count))
    total, *factors = body.args
    for left, right in zip(factors[::2], factors[1::2], strict=True):
        if isinstance(c.init, IntegerAttr):
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
