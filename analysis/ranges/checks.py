"""What the verifier asks of functions on buffers: that nothing in them is plainly outside of its buffer."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ...core.ir.extra_checks import Finding
from ...core.ir.walk import walk
from ...dialects.tensor_loop import FuncOp as LoopFunction
from .plain import faults


def check_loop_function(function: LoopFunction) -> Finding | None:
    """Returns the first access of a loop function that is plainly outside."""
    return _first_fault(function)


def check_function(function: FuncOp) -> Finding | None:
    """Returns the first access of a function that is plainly outside. Functions on tensors have none."""
    if any(isinstance(each, MemRefType) for each in function.function_type.inputs):
        return _first_fault(function)
    if any(op.name.startswith("memref.alloc") for op in walk(function)):
        return _first_fault(function)
    return None


def _first_fault(function: Operation) -> Finding | None:
    fault = next(faults(function), None)
    return None if fault is None else Finding(fault.op, fault.message, fault.hint)
