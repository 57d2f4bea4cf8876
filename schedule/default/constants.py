"""Finds the weights of kernels: inputs that are the same at every call, and so can be laid out once."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...core.ir.walk import ops_of
from ...core.roles import PREPARE
from ...dialects.graph.calls import CallKernelOp
from ...dialects.tensor_loop import FuncOp, GridOp
from ...dialects.traits import constant_kind
from ..bytes.choose import is_byte_product
from ..kernels.contraction import Contraction
from .decide import Options

STORED = ("literal", "weight")
"""The kinds of constants that lie in memory as a whole, where their elements may have another order."""


class Constants:
    """The calls of kernels in a module, and the functions that prepare weights."""

    def __init__(self, module: ModuleOp):
        self.calls: dict[str, list[CallKernelOp]] = {}
        for call in ops_of(module, CallKernelOp):
            self.calls.setdefault(call.callee_name, []).append(call)
        self.prepare = {
            op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp) and PREPARE in op.attributes
        }

    def users(self, kernel: FuncOp) -> list[CallKernelOp]:
        """Returns the calls of `kernel`."""
        return self.calls.get(kernel.sym_name.data, [])

    def reason_against(self, kernel: FuncOp, c: Contraction, options: Options) -> str | None:
        """Returns why the right operand of `c`, in `kernel`, cannot be laid out once, or `None` where it can."""
        reason = self.reason_against_operand(kernel, c.grid, c.b.buffer)
        is_batch = any(axis in c.b.axes() for axis in c.outer)
        if reason is None and is_batch and is_byte_product(c, options.target, True, options.flush):
            return "its right operand is a batch of matrices of bytes, and panels of bytes hold one"
        return reason

    def reason_against_operand(self, kernel: FuncOp, grid: GridOp, buffer: SSAValue) -> str | None:
        """Returns why `buffer`, a right operand that `grid` reads, cannot be laid out once, or `None` where it can."""
        users = self.users(kernel)
        if not users or kernel.sym_visibility is None:
            return f"@{kernel.sym_name.data} is no private function that the program calls"
        if any(_in_prepare(call) for call in users):
            return f"@{kernel.sym_name.data} prepares weights itself"
        if not isinstance(buffer, BlockArgument) or buffer.block is not kernel.body.block:
            return "its right operand is computed by the function"
        if buffer.index >= len(kernel.inputs):
            return "its right operand is a result of the function"
        if any(not grid.is_ancestor(use.operation) for use in buffer.uses):
            return "something else reads its right operand"
        if not all(self.is_constant(call.inputs[buffer.index]) for call in users):
            return "its right operand is not the same at every call"
        return None

    def is_constant(self, value: SSAValue) -> bool:
        """Returns whether `value` is a constant, a weight, or the result of a prepare function."""
        owner = value.owner
        return isinstance(owner, Operation) and (
            constant_kind(owner) in STORED
            or (isinstance(owner, func.CallOp) and owner.callee.string_value() in self.prepare)
        )


def run_once(module: ModuleOp) -> set[str]:
    """Returns the names of the private loop functions that prepare functions alone call, when weights are loaded."""
    kernels = {op.sym_name.data for op in ops_of(module, FuncOp) if op.sym_visibility is not None}
    prepares: set[str] = set()
    others: set[str] = set()
    for call in ops_of(module, CallKernelOp):
        (prepares if _in_prepare(call) else others).add(call.callee_name)
    return (prepares & kernels) - others


def _in_prepare(call: Operation) -> bool:
    function = call.parent_op()
    return function is None or PREPARE in function.attributes
