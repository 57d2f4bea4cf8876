"""Arguments of entries that belong to the caller: no entry on buffers writes to an input or to a weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from xdsl.dialects import func
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...core.ir.symbols import lookup_symbol
from ...core.ir.walk import walk
from ...core.roles import ROLE
from ...dialects.tensor_loop import CallOp
from .accesses import Access
from .plain import Fault
from .races import root_of
from .spans import touches

GIVEN: Final = ("input", "weight")
"""The roles of buffers that are the caller's. Every call of the program reads the same weights."""


def stores_to_given(function: func.FuncOp, found: Sequence[Access]) -> Iterator[Fault]:
    """Yields the stores of an entry to buffers that it is given to read."""
    given = _given(function)
    for access in found if given else ():
        if access.touch is not None and access.touch.is_store and (root := root_of(access.touch.buffer)) in given:
            yield _fault(access.touch.op, function, root, given[root])


def calls_that_store_to_given(function: func.FuncOp) -> Iterator[Fault]:
    """Yields the calls of an entry to functions that write to a buffer which it is given to read."""
    given = _given(function)
    written: dict[Operation, set[int]] = {}
    for op in walk(function) if given else ():
        for operand in _written_operands(op, written):
            if (root := root_of(operand)) in given:
                yield _fault(op, function, root, given[root])


def _given(function: func.FuncOp) -> dict[SSAValue, str]:
    arguments = function.body.blocks[0].args if function.body.blocks else ()
    roles = [each.data.get(ROLE) for each in function.arg_attrs or ()]
    return {
        argument: role.data
        for argument, role in zip(arguments, roles, strict=False)
        if isinstance(role, StringAttr) and role.data in GIVEN
    }


def _fault(op: Operation, function: func.FuncOp, root: SSAValue, role: str) -> Fault:
    name = f"%{root.name_hint}" if root.name_hint else "the buffer"
    what = "an input" if role == "input" else "a weight"
    hint = "it is the caller's: write to an output, or to a buffer of your own"
    return Fault(op, f"{name} is {what} of @{function.sym_name.data}, which is not written", hint)


def _written_operands(op: Operation, written: dict[Operation, set[int]]) -> Iterator[SSAValue]:
    """Yields the operands of a call that it writes to."""
    if isinstance(op, CallOp):
        yield from op.outputs
    if isinstance(op, func.CallOp):
        callee = lookup_symbol(op, op.callee.string_value())
        if isinstance(callee, func.FuncOp):
            yield from (op.operands[number] for number in sorted(_written_arguments(callee, written)))


def _written_arguments(function: func.FuncOp, written: dict[Operation, set[int]]) -> set[int]:
    """Returns the numbers of the arguments that a function writes to, by itself or by calls."""
    if function not in written:
        written[function] = set()  # What calls itself is asked once.
        buffers = [each.buffer for op in walk(function) for each in touches(op) if each.is_store]
        buffers += [operand for op in walk(function) for operand in _written_operands(op, written)]
        roots = [root_of(buffer) for buffer in buffers]
        arguments = [root for root in roots if isinstance(root, BlockArgument) and root.block.parent is function.body]
        written[function] = {each.index for each in arguments}
    return written[function]


__all__ = ["calls_that_store_to_given", "stores_to_given"]
