"""The pass `canonicalize-cast`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...analysis.kinds import OpKind
from ...analysis.op_kind import kind_of_op
from ...core.ir.element_types import element_bytes
from ...core.messages.locations import copy_location
from ...core.passes.base import StepwellPass
from ...dialects.graph.elementwise import AstypeOp
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import element_type
from ...patterns.language.functions import is_closed
from ...patterns.running.driver import program_order


@dataclass(frozen=True)
class CanonicalizeCastPass(StepwellPass):
    """
    Gives each elementwise user of a widening conversion a conversion of its own.

    A fused kernel then reads the narrow tensor instead of a wide one that several kernels share. Users of kind
    `ELEMENTWISE` and `BROADCAST` in the block of the conversion count. The first of them keeps the old conversion
    unless some other op needs it. `eliminate-common-subexpr` undoes this, so run it before this pass, and fusion right
    after. Fused functions are left alone.

    A rule replaces one op by values for all its users and cannot express this.

    Before:
        %0 = graph.astype %x, dtype = i32 : (tensor<8xi8>) -> tensor<8xi32>
        %1 = graph.add %0, %a : …
        %2 = graph.add %0, %b : …
    After:
        %0 = graph.astype %x, dtype = i32 : (tensor<8xi8>) -> tensor<8xi32>
        %1 = graph.add %0, %a : …
        %2 = graph.astype %x, dtype = i32 : (tensor<8xi8>) -> tensor<8xi32>
        %3 = graph.add %2, %b : …
    """

    name = "canonicalize-cast"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        casts = program_order(op, lambda each: not is_closed(each))
        # The last one first: the copies of a conversion are users of the conversion that it reads.
        for cast in reversed([each for each in casts if isinstance(each, AstypeOp) and _widens(each)]):
            self._give_each_user_its_own(cast)

    def _give_each_user_its_own(self, cast: Operation) -> None:
        value = cast.results[0]
        users = list(dict.fromkeys(use.operation for use in value.uses))
        own = [user for user in users if user.parent is cast.parent and kind_of_op(user) <= OpKind.BROADCAST]
        block = cast.parent
        if len(users) < 2 or not own or block is None:
            return
        own = _in_order(cast, own)
        for user in own if len(own) < len(users) else own[1:]:
            copy = cast.clone()
            copy_location(cast, copy)
            block.insert_op_before(copy, user)
            copy.results[0].name_hint = value.name_hint
            user.operands = [_exchanged(operand, value, copy.results[0]) for operand in user.operands]
            self.count("copied conversions")


def _in_order(cast: Operation, users: list[Operation]) -> list[Operation]:
    """Returns `users`, which come after `cast` in its block, in the order of the program."""
    wanted, found = set(users), []
    op = cast.next_op
    while op is not None and len(found) < len(users):
        if op in wanted:
            found.append(op)
        op = op.next_op
    return found


def _exchanged(operand: SSAValue, old: SSAValue, new: SSAValue) -> SSAValue:
    return new if operand is old else operand


def _widens(cast: Operation) -> bool:
    """Returns whether the elements of the result take more bytes than those of the operand."""
    result, operand = (element_bytes(element_type(each.type)) or 1 for each in (cast.results[0], cast.operands[0]))
    return result > operand
