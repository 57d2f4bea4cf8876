"""
Axes that are divided by numbers become several axes, their digits.

Reshapes, repetitions and blocks of pixels divide an index: `x[v / 16, v mod 16]`. With `v = 16 * a + b` the same access
is `x[a, b]`. It then is affine, and the order of loops, vectors and tiles see how it walks through memory.
"""

from __future__ import annotations

from dataclasses import field
from math import prod

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.rewriter import Rewriter

from ...analysis.loop_nests import levels_of, perfect_block
from ...core.ir.literals import constant_of
from ...core.ir.walk import walk
from ...dialects.tensor_loop import BlockOp, GridOp
from ...dialects.tensor_loop.loops import loop_body
from ...dialects.traits import is_pure
from ...lazy_dataclass import dataclass
from ..kernels.contraction import bound_in_order
from ..kernels.scheduled_nest import Index, ScheduledNest

DIVISIONS = (arith.DivUIOp, arith.RemUIOp)

MOST_DIGITS = 8
"""The most axes that come to be. More loops than that are no better than divisions."""

Digit = tuple[int, int]
"""The number of an axis, and of a digit of it, the first counting most."""


@dataclass(frozen=True)
class Sum:
    """The sum of digits, each times a positive number."""

    factors: dict[Digit, int]
    number: int = 0


@dataclass
class DigitPlan:
    """The extents of the digits of each axis, and the values of the divisions in them."""

    digits: list[list[int]]
    values: dict[Operation, Sum] = field(default_factory=dict)

    def weights(self, axis: int) -> Sum:
        """Returns an axis as the sum of its digits."""
        extents = self.digits[axis]
        return Sum({(axis, n): prod(extents[n + 1 :]) for n, extent in enumerate(extents) if extent > 1})


def decide_digits(grid: GridOp) -> DigitPlan | None:
    """Returns the digits with which a grid needs no division, `None` where it has none or needs some all the same."""
    block = perfect_block(levels_of(grid))
    if block is None or block.has_reduce_axes or block.init is not None or block.constraints:
        return None
    extents = [extent for extent in block.extents if isinstance(extent, int)]
    divisions = [op for op in walk(block.body) if isinstance(op, DIVISIONS)]
    if not divisions or len(extents) != len(block.axes) or 0 in extents or not bound_in_order(grid, block):
        return None
    if any(constant_of(op.rhs) in (None, 0) for op in divisions):
        return None
    plan = DigitPlan([[extent] for extent in extents])
    while sum(map(len, plan.digits)) <= MOST_DIGITS:
        plan.values.clear()
        split = next((found for op in divisions if (found := _divide(plan, block, op)) is not None), None)
        if split is None:
            return plan if len(plan.values) == len(divisions) else None
        (axis, digit), last = split
        extent = plan.digits[axis][digit]
        plan.digits[axis][digit : digit + 1] = [extent // last, last]
    return None


def _divide(plan: DigitPlan, block: BlockOp, op: arith.DivUIOp | arith.RemUIOp) -> tuple[Digit, int] | None:
    """Finds the value of a division. Returns a digit to split and the extent of its last part where that must be."""
    total, by = _sum_of(plan, block, op.lhs), constant_of(op.rhs)
    if total is None or by is None:
        return None
    whole = {digit: factor // by for digit, factor in total.factors.items() if factor % by == 0}
    rest = {digit: factor for digit, factor in total.factors.items() if factor % by}
    left = total.number % by
    if left + sum(factor * (_extent(plan, digit) - 1) for digit, factor in rest.items()) < by:
        is_quotient = isinstance(op, arith.DivUIOp)
        plan.values[op] = Sum(whole, total.number // by) if is_quotient else Sum(rest, left)
        return None
    for digit, factor in rest.items():
        last = by // factor
        if by % factor == 0 and 1 < last < _extent(plan, digit) and _extent(plan, digit) % last == 0:
            return digit, last
    return None


def _extent(plan: DigitPlan, digit: Digit) -> int:
    return plan.digits[digit[0]][digit[1]]


def _sum_of(plan: DigitPlan, block: BlockOp, value: SSAValue) -> Sum | None:
    """Returns an index as a sum of digits, `None` where it is none or has negative parts."""
    if value.owner is block.body.block:
        return plan.weights(block.axes.index(value))  # pyright: ignore[reportArgumentType]
    if (number := constant_of(value)) is not None:
        return Sum({}, number) if number >= 0 else None
    op = value.owner
    if isinstance(op, DIVISIONS):
        return plan.values.get(op)
    if not isinstance(op, arith.AddiOp | arith.MuliOp):
        return None
    left, right = (_sum_of(plan, block, operand) for operand in op.operands)
    if left is None or right is None:
        return None
    if isinstance(op, arith.AddiOp):
        shared = {digit: left.factors.get(digit, 0) + by for digit, by in right.factors.items()}
        return Sum({**left.factors, **shared}, left.number + right.number)
    if left.factors and right.factors:
        return None
    many, by = (left, right.number) if left.factors else (right, left.number)
    return Sum({digit: factor * by for digit, factor in many.factors.items() if by}, many.number * by)


def apply_digits(grid: GridOp, plan: DigitPlan) -> GridOp:
    """
    Replaces a grid by one over the digits of its axes, and returns that.

    Before:

        tensor_loop.grid (%i) in (64) { <%q = divui %i, 16; %r = remui %i, 16; out[%i] = x[%r, %q]> }

    After:

        tensor_loop.grid (%a, %b) in (4, 16) { <out[16 * %a + %b] = x[%b, %a]> }
    """
    block = perfect_block(levels_of(grid))
    assert block is not None
    digits = [(axis, n) for axis, extents in enumerate(plan.digits) for n in range(len(extents))]
    extents = [_extent(plan, digit) for digit in digits]
    names = [_name(grid.variables[axis].name_hint, n, len(plan.digits[axis])) for axis, n in digits]
    region = loop_body(names)
    body = Block(arg_types=[argument.type for argument in region.block.args])
    for argument, (axis, n) in zip(body.args, digits, strict=True):
        argument.name_hint = _name(block.axes[axis].name_hint, n, len(plan.digits[axis]))
    _fill(body, block, plan, dict(zip(digits, body.args, strict=True)))
    bindings = [AffineDimExpr(position) for position in range(len(digits))]
    kinds = ["spatial"] * len(digits)
    new = BlockOp(block.block_name.data, kinds, extents, bindings, region.block.args, Region(body))
    new.location = block.location
    new.attributes.update(block.attributes)
    region.block.add_op(new)
    result = GridOp(extents, region)
    result.location = grid.location
    result.attributes.update(grid.attributes)
    Rewriter.replace_op(grid, result)
    return result


def _name(name: str | None, digit: int, count: int) -> str | None:
    return name if name is None or count == 1 else f"{name}_{'abcdefgh'[digit]}"


def _fill(body: Block, block: BlockOp, plan: DigitPlan, values: dict[Digit, SSAValue]) -> None:
    """Moves the ops of `block` to `body`, with sums of digits in place of its axes and of divisions."""
    builder = ScheduledNest(body, block)

    def value_of(total: Sum) -> SSAValue:
        result: Index = 0
        for digit, factor in total.factors.items():
            result = builder.sum(result, builder.scaled(values[digit], factor))
        return builder.value(builder.sum(result, total.number))

    for op in plan.values:
        op.results[0].replace_all_uses_with(value_of(plan.values[op]))
    for number, axis in enumerate(block.axes):
        if axis.first_use is not None:
            axis.replace_all_uses_with(value_of(plan.weights(number)))
    for op in list(block.body.block.ops):
        op.detach()
        body.add_op(op)
    _erase_dead(body)


def _erase_dead(body: Block) -> None:
    """Erases pure ops and divisions by numbers that nobody uses, users before producers."""
    for op in reversed([each for top in body.ops for each in walk(top)]):
        dead = op.results and all(result.first_use is None for result in op.results)
        if dead and (isinstance(op, DIVISIONS) or is_pure(op)):
            op.detach()
            op.erase()


def split_into_digits(grid: GridOp) -> GridOp | None:
    """Returns the grid over digits in place of `grid`, `None` where it stays."""
    plan = decide_digits(grid)
    return None if plan is None else apply_digits(grid, plan)
