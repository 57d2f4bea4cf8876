"""
The merging of the kernels of a fused group: pass `fuse-loops` (TVM calls it FuseTIR).

Before: `func.func private @fused_… attributes {graph.primitive}` that calls several kernels.
After: `tensor_loop.func private @fused_…` that holds the blocks of all of them, and `graph.call_kernel @fused_…`.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, SymbolRefAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.cloning import clone_op
from ...core.ir.symbols import fresh_name
from ...core.ir.walk import ops_of, walk
from ...core.messages.diagnostics import emit_remark
from ...core.messages.locations import copy_location
from ...core.messages.origins import inherit
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...core.roles import PRIMITIVE, WRITTEN
from ...dialects import tensor_loop
from ...dialects.graph.calls import CallKernelOp
from ...lazy_dataclass import dataclass
from ..shared.kernel_calls import replace_by_call
from ..shared.te_types import buffer_of, is_static


@dataclass(frozen=True)
class FuseLoopsPass(StepwellPass):
    """
    Merges the kernels of every primitive function into one loop function.

    Before:
        func.func private @fused(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {graph.primitive} {
          %a = graph.call_kernel @exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
          %b = graph.call_kernel @add(%a, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
          func.return %b : tensor<8xf32> }
    After:
        tensor_loop.func private @fused(%x: memref<8xf32>, %y: memref<8xf32>) outs(%out: memref<8xf32>) {
          %a = tensor_loop.alloc : memref<8xf32>
          tensor_loop.grid (%i) in (8) { tensor_loop.block "exp" … { <store exp of load %x[%vi], %a[%vi]> } }
          tensor_loop.grid (%i) in (8) { tensor_loop.block "add" … { <store sum of load %a[%vi], load %y[%vi],
              %out[%vi]> } } }

    Intermediate tensors become `tensor_loop.alloc`s. Loop functions that nobody calls any more go. A primitive function
    that holds anything but kernel calls, tensors of unknown size, or returns an argument or a value twice, stays as it
    is, with a remark.
    """

    name = "fuse-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = {f.sym_name.data: f for f in op.ops if isinstance(f, tensor_loop.FuncOp)}
        # A group that calls another one can be merged after that, so there may be several rounds.
        while fused := self._round(op, kernels):
            kernels |= fused
            _call_kernels(op, fused)
            _remove_unused(op)
        inherit(op)
        for function in _primitives(op):
            if (obstacle := _obstacle(function, kernels)) is not None:
                emit_remark(function, f"not fused: function @{function.sym_name.data} {obstacle}")

    def _round(self, module: ModuleOp, kernels: dict[str, tensor_loop.FuncOp]) -> dict[str, tensor_loop.FuncOp]:
        """Merges the functions that hold kernel calls only. They are still called by `func.call`."""
        fused: dict[str, tensor_loop.FuncOp] = {}
        for function in _primitives(module):
            if _obstacle(function, kernels) is None and allowed("fusion", self.name, function):
                merged = _merge(function, kernels)
                Rewriter.insert_op(merged, InsertPoint.before(function))
                fused[function.sym_name.data] = merged
                function.detach()
                function.erase()
                self.count("functions fused")
        return fused


def _primitives(module: ModuleOp) -> list[func.FuncOp]:
    return [f for f in module.ops if isinstance(f, func.FuncOp) and PRIMITIVE in f.attributes]


def _obstacle(function: func.FuncOp, kernels: dict[str, tensor_loop.FuncOp]) -> str | None:
    """Returns why a primitive function cannot be merged, or None."""
    if function.sym_visibility is None or function.sym_visibility.data != "private":
        return "is public, expected a private function"
    if len(function.body.blocks) != 1:
        return "has several blocks" if function.body.blocks else "has no body"
    for op in function.body.block.ops:
        if isinstance(op, CallKernelOp) and op.callee_name in kernels:
            if not all(_is_static_tensor(result.type) for result in op.results):
                return f"holds a result of @{op.callee_name} that is not a tensor of known size"
            continue
        if not isinstance(op, func.ReturnOp):
            return f"holds '{op.name}', expected kernel calls only"
        if len(set(op.operands)) != len(op.operands):
            return "returns a value twice"
        if any(not isinstance(value.owner, Operation) for value in op.operands):
            return "returns an argument"
    types = (*function.function_type.inputs, *function.function_type.outputs)
    if not all(map(_is_static_tensor, types)):
        return "has an argument or result that is not a tensor of known size"
    return None


def _is_static_tensor(type_: Attribute) -> bool:
    return isinstance(type_, TensorType) and is_static(type_)


def _merge(function: func.FuncOp, kernels: dict[str, tensor_loop.FuncOp]) -> tensor_loop.FuncOp:
    """Returns the loop function with the bodies of all kernels that `function` calls, in order."""
    arguments = function.body.block.args
    back = function.body.block.last_op
    assert back is not None
    merged = tensor_loop.FuncOp.create_named(
        function.sym_name.data,
        [_buffer(value) for value in arguments],
        [_buffer(value) for value in back.operands],
        [value.name_hint or f"in{i}" for i, value in enumerate(arguments)]
        + ([f"out{i}" for i in range(len(back.operands))] if len(back.operands) > 1 else ["out"]),
        visibility="private",
    )
    called = {call.callee_name for call in ops_of(function, CallKernelOp)}
    if all(WRITTEN in kernels[name].attributes for name in called):
        merged.attributes[WRITTEN] = UnitAttr()
    copy_location(function, merged)
    buffers: dict[SSAValue, SSAValue] = dict(zip(arguments, merged.inputs, strict=True))
    buffers.update(zip(back.operands, merged.outputs, strict=True))
    names: set[str] = set()
    for call in function.body.block.ops:
        if isinstance(call, CallKernelOp):
            _inline_kernel(call, kernels[call.callee_name], merged, buffers, names)
    return merged


def _buffer(value: SSAValue) -> MemRefType:
    assert isinstance(value.type, TensorType)
    return buffer_of(value.type)


def _inline_kernel(
    call: CallKernelOp,
    kernel: tensor_loop.FuncOp,
    merged: tensor_loop.FuncOp,
    buffers: dict[SSAValue, SSAValue],
    names: set[str],
) -> None:
    """Copies the body of `kernel` to the end of `merged`."""
    end = merged.body.block.last_op
    assert end is not None
    for result in call.results:
        if result not in buffers:
            alloc = tensor_loop.AllocOp(_buffer(result))
            alloc.memref.name_hint = result.name_hint
            copy_location(call, alloc)
            Rewriter.insert_op(alloc, InsertPoint.before(end))
            buffers[result] = alloc.memref
    values: dict[SSAValue, SSAValue] = {}
    for formal, actual in zip((*kernel.inputs, *kernel.outputs), (*call.operands, *call.results), strict=True):
        values[formal] = buffers[actual]
    for op in kernel.body.block.ops:
        if op is kernel.body.block.last_op:
            continue
        clone = clone_op(op, values)
        for old, new in zip(walk(op), walk(clone), strict=True):
            # A kernel made of an op stands for all such ops, and here for the one that calls it.
            new.location = call.location if old.location is kernel.location else old.location
            if isinstance(new, tensor_loop.BlockOp):
                make_unique(new, names)
                if len(set(call.operands)) < len(call.operands):
                    new.refresh_regions()  # Two buffers have become one.
        Rewriter.insert_op(clone, InsertPoint.before(end))


def make_unique(block: tensor_loop.BlockOp, names: set[str]) -> None:
    """Gives a block a name that is not among `names`, and adds it there."""
    block.properties["block_name"] = StringAttr(fresh_name(block.block_name.data, names))


def _call_kernels(module: ModuleOp, fused: dict[str, tensor_loop.FuncOp]) -> None:
    """Turns calls of functions that became kernels into kernel calls."""
    for op in ops_of(module, func.CallOp):
        if op.callee.root_reference.data in fused:
            replace_by_call(op, op.callee)


def _remove_unused(module: ModuleOp) -> None:
    """Removes private loop functions that no symbol reference names."""
    used = {
        attribute.root_reference.data
        for op in walk(module)
        for attribute in (*op.properties.values(), *op.attributes.values())
        if type(attribute) is SymbolRefAttr
    }
    for op in list(module.ops):
        if isinstance(op, tensor_loop.FuncOp) and op.sym_name.data not in used:
            if op.sym_visibility is not None and op.sym_visibility.data == "private":
                op.detach()
                op.erase()
