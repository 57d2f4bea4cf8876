"""The programs that `bufferize` refuses before it touches a function, each with its own message."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType, UnrankedTensorType
from xdsl.ir import Operation, SSAValue

from ...core.ir.walk import walk
from ...core.messages.diagnostics import fail
from ...core.messages.texts import GIVE_SIZES
from ...te import dtypes
from ..shared.te_types import dtype_of, is_static

MOST_BYTES = 2**62
"""The most bytes of a buffer or arena: more cannot be addressed, and would not fit into the IR's integers."""


def check_function(function: func.FuncOp) -> None:
    """
    Raises an error for a function on tensors without a body or with several blocks.

    It also raises one for a tensor of unknown size or of an element type that no graph op has.
    """
    name = function.sym_name.data
    if not function.body.blocks:
        fail(function, f"function @{name} works on tensors and has no body, expected a definition")
    if len(function.body.blocks) != 1:
        fail(function, f"function @{name} has several blocks that pass tensors around, expected one")
    for op in walk(function):
        for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
            _check_value(op, value)


def _check_value(op: Operation, value: SSAValue) -> None:
    type_ = value.type
    if isinstance(type_, UnrankedTensorType):
        fail(op, f"a value of type {type_} has no known rank")
    if not isinstance(type_, TensorType):
        return
    if not is_static(type_):
        fail(op, f"a value of type {type_} has no known size", hint=GIVE_SIZES)
    if dtype_of(type_.get_element_type()) not in dtypes.ALL:
        expected = ", ".join(dtypes.ALL)
        fail(op, f"a value of type {type_} has no form in memory, expected an element type of {expected}")


def check_size(op: Operation, count: int, what: str) -> None:
    """Raises an error at `op` when `what` needs `count` bytes and that is more than can be addressed."""
    if count > MOST_BYTES:
        fail(op, f"{what} needs {count} bytes, expected at most 2^62")
