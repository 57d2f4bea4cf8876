"""
Keeps maxima and minima of f16 and bf16 in f32, also until the loop that carries them ends, as a part of `expand-math`.

Arithmetic on small floats is done in f32 and rounded after each op (`expand_small_floats`). So a maximum of several
numbers is rounded and extended again at each step, and a loop that carries a maximum does so in every iteration. LLVM
does not recognise a maximum in that and leaves the loop scalar. A maximum is one of its operands, hence representable,
so nothing is lost when it is rounded once in the end.
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.element_types import is_small_float
from ...core.ir.walk import ops_of
from ...core.messages.locations import copy_location

CHOICES = (arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp)
"""Ops whose result is one of their operands."""


def carry_in_f32(root: Operation) -> int:
    """
    Lets loops carry maxima and minima of small floats as f32, inner loops first, and returns how many values.

    Before: `scf.for … iter_args(%m = %a) -> (bf16) { %w = extf %m; %y = maximumf %w, %x; %r = truncf %y; scf.yield %r
    }`. After: `scf.for … iter_args(%w = %b) -> (f32) { %y = maximumf %w, %x; scf.yield %y }` between an `extf` and a
    `truncf`.
    """
    exact: set[SSAValue] = set()
    count = 0
    for loop in reversed(ops_of(root, scf.ForOp)):
        for number, type_ in enumerate(loop.res.types):
            if is_small_float(type_) and (wide := _wide_next(loop, number, exact)) is not None:
                exact.add(_carry_wide(loop, number, wide))
                count += 1
    return count


def skip_exact_roundings(root: Operation) -> int:
    """
    Lets maxima, minima and choices of extended small floats go on in f32, and returns how often.

    Before: `%y = maximumf %a, %b; %r = truncf %y; %w = extf %r`, both %a and %b extended. After: %y in the place of %w.
    """
    exact: dict[SSAValue, Attribute] = {}
    count = 0
    for op in ops_of(root, arith.ExtFOp, arith.SelectOp, *CHOICES):
        if not isinstance(op, arith.ExtFOp):
            chosen = op.operands[1:] if isinstance(op, arith.SelectOp) else op.operands
            types = {exact.get(operand) for operand in chosen}
            if len(types) == 1 and (type_ := types.pop()) is not None:
                exact[op.results[0]] = type_
        elif _extends_to_f32(op):
            rounded = op.input.owner
            if isinstance(rounded, arith.TruncFOp) and exact.get(rounded.input) == op.input.type:
                Rewriter.replace_op(op, [], [rounded.input])
                _erase_unused(rounded)
                count += 1
            else:
                exact[op.result] = op.input.type
    return count


def _erase_unused(op: Operation) -> None:
    if not any(True for _ in op.results[0].uses):
        Rewriter.erase_op(op)


def _wide_next(loop: scf.ForOp, number: int, exact: set[SSAValue]) -> SSAValue | None:
    """Returns the next value in f32 where rounding it changes nothing and the last one is only needed in f32."""
    argument, last = loop.body.block.args[1 + number], loop.body.block.last_op
    assert last is not None
    if not all(_extends_to_f32(use.operation) for use in argument.uses):
        return None
    rounded = last.operands[number].owner
    if not isinstance(rounded, arith.TruncFOp) or rounded.input.type != f32:
        return None
    wide = rounded.input
    if wide in exact:
        return wide
    is_choice = isinstance(wide.owner, CHOICES) and all(
        isinstance(operand.owner, Operation) and _extends_to_f32(operand.owner) for operand in wide.owner.operands
    )
    return wide if is_choice else None


def _extends_to_f32(op: Operation) -> bool:
    return isinstance(op, arith.ExtFOp) and is_small_float(op.input.type) and op.result.type == f32


def _carry_wide(loop: scf.ForOp, number: int, wide: SSAValue) -> SSAValue:
    """Makes the carried value `number` an f32. `wide` is its next one. Returns the last one before it is rounded."""
    block = loop.body.block
    argument, last = block.args[1 + number], block.last_op
    assert last is not None
    before, after = arith.ExtFOp(loop.iter_args[number], f32), arith.TruncFOp(loop.res[number], argument.type)
    for op, place in ((before, InsertPoint.before(loop)), (after, InsertPoint.after(loop))):
        copy_location(loop, op)
        Rewriter.insert_op(op, place)
    loop.operands[3 + number] = before.result
    loop.res[number].replace_uses_with_if(after.result, lambda use: use.operation is not after)
    carried = Rewriter.replace_value_with_new_type(argument, f32)
    for use in list(carried.uses):
        Rewriter.replace_op(use.operation, [], [carried])
    rounded = last.operands[number].owner
    assert isinstance(rounded, Operation)
    last.operands[number] = wide
    _erase_unused(rounded)
    return Rewriter.replace_value_with_new_type(loop.res[number], f32)
