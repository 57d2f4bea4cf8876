"""
Calls that run on several threads: `func.call @part(%lower, %upper, …) {stepwell.chunk = n}` (docs/threads.md).

The operands after the bounds go into a frame on the stack, 8 bytes each. The pool gets the frame and `@part.task`,
which takes them out and calls `@part` on the bounds of one chunk.
"""

from __future__ import annotations

from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr, i32, i64
from xdsl.ir import Block, Region

from ...core.roles import CHUNK, RUN_PARALLEL, TASK
from .convert_func import LINKAGE_INTERNAL, convert_call, unpack
from .llvm_body import LLVMBody
from .state import Signature
from .types import PTR

BOUNDS = 2
SLOT = 8


def task_symbol(signature: Signature) -> str:
    """Returns the name of the function that the pool calls."""
    return f"{signature.symbol}.task"


def convert_any_call(builder: LLVMBody, op: func.CallOp) -> None:
    """Converts a call, which goes by way of the pool when it has a chunk."""
    signature = builder.state.signatures.get(op.callee.string_value())
    chunk = op.attributes.get(CHUNK)
    if chunk is None or signature is None:
        convert_call(builder, op)
        return
    if not isinstance(chunk, IntegerAttr) or chunk.value.data < 1 or signature.results:
        builder.error(f"{CHUNK} is {chunk}, expected a positive number, on a call without results")
        return
    lower, upper, *values = builder.values_of(op.arguments)
    frame = builder.stack_slot(i64, max(len(values), 1), SLOT)
    for index, value in enumerate(values):
        place = builder.gep(frame, index, i64) if index else frame
        builder.store(value, place, SLOT)
    task = builder.emit(llvm.AddressOfOp, (), PTR, {"global_name": SymbolRefAttr(task_symbol(signature))})
    symbol = builder.state.external(RUN_PARALLEL, [PTR, PTR, i64, i64, i64], i32)
    status = builder.call(symbol, (task, frame, lower, upper, builder.constant(chunk.value.data)), i32)
    if signature.may_fail:
        unpack(builder, signature, status)


def task_function(function: func.FuncOp, signature: Signature, builder: LLVMBody) -> llvm.FuncOp:
    """Makes `i32 @part.task(frame, lower, upper)`, which returns the status of `@part`, 0 if it cannot fail."""
    builder.source = function
    start = Block(arg_types=[PTR, i64, i64])
    frame, lower, upper = start.args
    for argument, name in zip(start.args, ("frame", "lower", "upper"), strict=True):
        argument.name_hint = name
    builder.start(start)
    values = [
        builder.load(builder.gep(frame, index, i64) if index else frame, type_, SLOT)
        for index, type_ in enumerate(signature.arguments[BOUNDS:])
    ]
    status = builder.call(signature.symbol, (lower, upper, *values), signature.return_type)
    if not signature.may_fail:
        status = builder.constant(0, i32)
    assert status is not None
    builder.emit_void(llvm.ReturnOp, (status,))
    result = llvm.FuncOp(
        task_symbol(signature),
        llvm.LLVMFunctionType([PTR, i64, i64], i32),
        LINKAGE_INTERNAL,
        body=Region(builder.blocks),
    )
    result.attributes[TASK] = StringAttr(signature.symbol)
    result.location = function.location
    return result
