"""
The guards of integer divisions, which then cannot trap: pass `guard-divisions`.

A processor stops the program at a division by zero and at `INT_MIN / -1`. Graph ops bring their own checks. This pass
gives them to divisions written by hand.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp, Signedness
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.literals import constant_of
from ...core.ir.walk import ops_of
from ...core.messages.diagnostics import fail
from ...core.messages.locations import copy_location
from ...core.messages.texts import HAS_A_SIGN
from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass

QUOTIENTS = (arith.DivSIOp, arith.FloorDivSIOp, arith.CeilDivSIOp)
SIGNED = (*QUOTIENTS, arith.RemSIOp)
UNSIGNED = (arith.DivUIOp, arith.RemUIOp, arith.CeilDivUIOp)


@dataclass(frozen=True)
class GuardDivisionsPass(StepwellPass):
    """
    Makes scalar integer divisions fail cleanly at zero, and wrap at the smallest integer divided by -1.

    Before: `%q = arith.divsi %a, %b : i32`
    After: `cf.assert` that `%b` is not 0, then `%a / %b` for a divisor other than -1, and `0 - %a` for -1.

    Divisors that are constants or selections known to differ from those values stay, and so do vectors.
    """

    name = "guard-divisions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_of(op, *SIGNED, *UNSIGNED):
            type_ = inner.results[0].type
            if not isinstance(type_, IntegerType | IndexType):
                continue
            if isinstance(type_, IntegerType) and type_.signedness.data != Signedness.SIGNLESS:
                fail(inner, f"type {type_} {HAS_A_SIGN}")
            excluded = excluded_values(inner.operands[1])
            if 0 not in excluded:
                _refuse_in_map(inner)
                _check_divisor(inner)
                self.count("checks for zero")
            if isinstance(inner, SIGNED) and -1 not in excluded:
                _wrap_at_minus_one(inner)
                self.count("divisions by -1 replaced")


def excluded_values(divisor: SSAValue) -> set[int]:
    """Returns those of 0 and -1 that `divisor` cannot have: it is a constant, or a selection that replaces them."""
    candidates = {0, -1}
    constant = constant_of(divisor)
    if constant is not None:
        return candidates - {constant}
    if not isinstance(divisor.owner, arith.SelectOp):
        return set()
    replacement, kept = constant_of(divisor.owner.lhs), divisor.owner.rhs
    if replacement is None or replacement in candidates:
        return set()
    found: set[int] = set()
    pending = [divisor.owner.cond]
    while pending:
        test = pending.pop().owner
        if isinstance(test, arith.OrIOp):
            pending += test.operands
        elif isinstance(test, arith.CmpiOp) and test.predicate.value.data == 0 and test.lhs is kept:
            value = constant_of(test.rhs)
            found |= set() if value is None else {value}
    return candidates & found


def _insert(before: Operation, op: Operation) -> SSAValue | None:
    copy_location(before, op)
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op.results[0] if op.results else None


def _literal(before: Operation, value: int, type_: Attribute) -> SSAValue:
    assert isinstance(type_, IntegerType | IndexType)
    result = _insert(before, arith.ConstantOp(IntegerAttr(value, type_)))
    assert result is not None
    return result


def _refuse_in_map(op: Operation) -> None:
    """Refuses a division in the body of a `tile.map`, which computes whole vectors and cannot fail."""
    parent = op.parent_op()
    if parent is not None and parent.name == "tile.map":
        fail(op, "a tile.map cannot fail, and this divisor may be 0; expected a constant or a selection that is not")


def _check_divisor(op: Operation) -> None:
    divisor = op.operands[1]
    test = arith.CmpiOp(divisor, _literal(op, 0, divisor.type), "ne")
    _insert(op, test)
    _insert(op, cf.AssertOp(test.result, f"{op.name}: integer division by zero"))


def _wrap_at_minus_one(op: Operation) -> None:
    """Replaces `x / -1` by `0 - x`, which wraps. The remainder by 1, which stands in for -1, is 0 as it should be."""
    dividend, divisor = op.operands
    test = arith.CmpiOp(divisor, _literal(op, -1, divisor.type), "eq")
    _insert(op, test)
    safe = arith.SelectOp(test.result, _literal(op, 1, divisor.type), divisor)
    _insert(op, safe)
    op.operands[1] = safe.result
    if isinstance(op, QUOTIENTS):
        negated = arith.SubiOp(_literal(op, 0, divisor.type), dividend)
        _insert(op, negated)
        result = op.results[0]
        chosen = arith.SelectOp(test.result, negated.result, result)
        copy_location(op, chosen)
        Rewriter.insert_op(chosen, InsertPoint.after(op))
        result.replace_uses_with_if(chosen.result, lambda use: use.operation is not chosen)
