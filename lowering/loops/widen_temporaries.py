"""
Temporaries of small floats that softmax reads are f32: pass `widen-temporaries`.

Before: a block of a kernel rounds sums to f16 and stores them, and a softmax extends them twice.
After: the block stores f32. The rounding between is one that the ops imply.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import MemRefType, ModuleOp, UnitAttr, f32
from xdsl.ir import Operation, OpResult
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.element_types import is_small_float
from ...core.ir.walk import ops_of
from ...core.messages.locations import copy_location
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...core.roles import IMPLIED
from ...dialects import tensor_loop
from ...lazy_dataclass import dataclass


@dataclass(frozen=True)
class WidenTemporariesPass(StepwellPass):
    """
    Makes temporaries of f16 and bf16 inside of a kernel f32, where all that reads them takes unrounded numbers.

    Before:

        %s = arith.addf %p, %q : f16
        memref.store %s, %scores[%vi, %vk] : memref<64x128xf16>
        ...
        %t = memref.load %scores[%vi, %vk] : memref<64x128xf16>
        %x = arith.extf %t {stepwell.implied} : f16 to f32

    After:

        %s = arith.addf %p, %q : f16
        %w = arith.extf %s {stepwell.implied} : f16 to f32
        memref.store %w, %scores[%vi, %vk] : memref<64x128xf32>
        ...
        %x = memref.load %scores[%vi, %vk] : memref<64x128xf32>

    A softmax reads scores twice, and its exponentials are f32, which may then take their place. With `excess`, later
    passes leave out the rounding. Without, all results have the same bits. Buffers of other kernels, sums that a
    reduction makes, and what a block only moves stay as they are.
    """

    name = "widen-temporaries"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, tensor_loop.FuncOp) and allowed("loops", self.name, function):
                for alloc in ops_of(function, tensor_loop.AllocOp):
                    if _may_be_wide(alloc.results[0]):
                        _widen(alloc.results[0])
                        self.count("temporaries made f32")


def _may_be_wide(buffer: OpResult) -> bool:
    """Returns whether blocks only store in `buffer` what they compute, and extend all that they load."""
    if not isinstance(buffer.type, MemRefType) or not is_small_float(buffer.type.element_type):
        return False
    users = [use.operation for use in buffer.uses if not isinstance(use.operation, tensor_loop.BlockOp)]
    loads = [op for op in users if isinstance(op, memref.LoadOp)]
    stores = [op for op in users if isinstance(op, memref.StoreOp)]
    if not loads or not stores or len(loads) + len(stores) < len(users):
        return False
    return all(map(_is_extended, loads)) and all(map(_is_computed, stores))


def _is_extended(load: memref.LoadOp) -> bool:
    return all(
        isinstance(use.operation, arith.ExtFOp)
        and IMPLIED in use.operation.attributes
        and use.operation.result.type == f32
        for use in load.res.uses
    )


def _is_computed(store: memref.StoreOp) -> bool:
    """Returns whether `store` stores the result of arithmetic, and is no part of a reduction."""
    value = store.value.owner
    if not isinstance(value, Operation) or not value.name.startswith(("arith.", "math.")):
        return False
    if isinstance(value, arith.ConstantOp | arith.SelectOp):
        return False
    block = store.parent_op()
    return isinstance(block, tensor_loop.BlockOp) and not block.has_reduce_axes


def _widen(buffer: OpResult) -> None:
    """Makes `buffer` f32, with what stores in it and loads from it."""
    type_ = buffer.type
    assert isinstance(type_, MemRefType)
    users = [use.operation for use in buffer.uses]
    Rewriter.replace_value_with_new_type(buffer, MemRefType(f32, type_.get_shape(), type_.layout, type_.memory_space))
    for op in users:
        if isinstance(op, memref.StoreOp):
            extended = arith.ExtFOp(op.value, f32)
            extended.attributes[IMPLIED] = UnitAttr()
            copy_location(op, extended)
            Rewriter.insert_op(extended, InsertPoint.before(op))
            op.operands[0] = extended.result
        elif isinstance(op, memref.LoadOp):
            _load_wide(op)
    for op in users:
        if isinstance(op, tensor_loop.BlockOp):
            op.refresh_regions()


def _load_wide(load: memref.LoadOp) -> None:
    """Replaces `load` and what extends it by a load of f32."""
    new = memref.LoadOp.get(load.memref, load.indices)
    new.res.name_hint = load.res.name_hint
    copy_location(load, new)
    Rewriter.insert_op(new, InsertPoint.before(load))
    for use in list(load.res.uses):
        Rewriter.replace_op(use.operation, [], [new.res])
    Rewriter.erase_op(load)
