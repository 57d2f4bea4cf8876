"""The pass `inline-primitive`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...core.ir.cloning import clone_op
from ...core.messages.diagnostics import emit_remark
from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import functions_of, is_primitive
from ..simplify.remove_unused_functions import mentioned_symbols


@dataclass(frozen=True)
class InlinePrimitivePass(StepwellPass):
    """
    Puts the bodies of fused functions back where they are called: the inverse of fusion.

    A private fused function that nothing mentions any more is removed. One that calls itself, or has no body of one
    block, stays, with a remark.

    Before:
        %0 = func.call @fused_matmul_add0(%x, %w, %b) : …
    After:
        %1 = graph.matmul %x, %w : …
        %0 = graph.add %1, %b : …
    """

    name = "inline-primitive"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        primitives = {each.sym_name.data: each for each in functions_of(op) if is_primitive(each)}
        inlinable = {name: each for name, each in primitives.items() if _can_inline(each, primitives)}
        calls = [each for each in op.walk() if isinstance(each, func.CallOp)]
        while calls:
            call = calls.pop()
            callee = inlinable.get(call.callee.string_value())
            if callee is not None:
                self.count("inlined calls")
                calls += [each for each in inline_call(call, callee) if isinstance(each, func.CallOp)]
        mentioned = mentioned_symbols(op)
        for name, function in inlinable.items():
            is_private = function.sym_visibility is not None and function.sym_visibility.data == "private"
            if is_private and name not in mentioned:
                function.detach()
                function.erase()


def _can_inline(function: func.FuncOp, primitives: dict[str, func.FuncOp]) -> bool:
    if len(function.body.blocks) != 1:
        emit_remark(function, f"@{function.sym_name.data} is not inlined: its body is not one block")
        return False
    own_name = function.sym_name.data
    reached, stack = set[str](), [own_name]
    while stack:
        called = {
            each.callee.string_value() for each in primitives[stack.pop()].walk() if isinstance(each, func.CallOp)
        }
        if own_name in called:
            emit_remark(function, f"@{own_name} is not inlined: it calls itself")
            return False
        stack += sorted(name for name in called - reached if name in primitives)
        reached |= called
    return True


def inline_call(call: func.CallOp, callee: func.FuncOp) -> list[Operation]:
    """Replaces `call` by a copy of the one block of `callee`. Returns the copied ops."""
    mapping: dict[SSAValue, SSAValue] = dict(zip(callee.body.block.args, call.operands, strict=True))
    copies: list[Operation] = []
    last = callee.body.block.last_op
    for op in callee.body.block.ops:
        if op is not last:
            copies.append(clone_op(op, mapping))
    block = call.parent
    assert block is not None and last is not None
    block.insert_ops_before(copies, call)
    for result, value in zip(call.results, last.operands, strict=True):
        replacement = mapping.get(value, value)
        if result.name_hint is not None and isinstance(replacement.owner, Operation):
            replacement.name_hint = result.name_hint
        result.replace_all_uses_with(replacement)
    call.detach()
    call.erase()
    return copies
