"""Calls of kernels in the place of other ops."""

from __future__ import annotations

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation

from ...core.messages.locations import copy_location
from ...dialects.graph.calls import CallKernelOp


def replace_by_call(op: Operation, kernel: SymbolRefAttr) -> None:
    """Puts a call of `kernel` in the place of `op`, with its operands, result types, location and names of values."""
    call = CallKernelOp(kernel, op.operands, [result.type for result in op.results])
    copy_location(op, call)
    for old, new in zip(op.results, call.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    block = op.parent
    assert block is not None
    block.insert_op_before(call, op)
    op.detach()
    op.erase()
