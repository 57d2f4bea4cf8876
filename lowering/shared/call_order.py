"""The order of functions by their calls, and the refusal of recursion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation

from ...core.ir.walk import ops_of
from ...core.messages.diagnostics import fail
from ...dialects import tensor_loop

Function = TypeVar("Function", bound=func.FuncOp | tensor_loop.FuncOp)


def call_order(functions: Sequence[Function], what: str) -> list[Function]:
    """
    Returns `functions`, each after those it calls, otherwise in program order.

    The walk does not recurse. Raises an error at the call that closes a cycle, which says that there is no recursion on
    `what`.
    """
    by_name = {function.sym_name.data: function for function in functions}
    done: dict[str, Function] = {}
    for function in functions:
        stack = [(function, _callees(function, by_name))]
        open_names = {function.sym_name.data: None}
        while stack:
            current, calls = stack[-1]
            if current.sym_name.data in done or not calls:
                done.setdefault(current.sym_name.data, current)
                open_names.pop(current.sym_name.data, None)
                stack.pop()
                continue
            call, callee = calls.pop()
            name = callee.sym_name.data
            if name in done:
                continue
            if name in open_names:
                cycle = list(open_names)
                through = ", ".join(f"@{each}" for each in cycle[cycle.index(name) + 1 :])
                itself = f"itself through {through}" if through else "itself"
                fail(call, f"function @{name} calls {itself}; recursion on {what} is not supported")
            open_names[name] = None
            stack.append((callee, _callees(callee, by_name)))
    return list(done.values())


def refuse_recursion_on_buffers(functions: Sequence[func.FuncOp | tensor_loop.FuncOp]) -> None:
    """
    Raises an error at a call that closes a cycle of functions on buffers.

    Nothing bounds how deep such a cycle goes: it overflows the stack, or never ends. Functions on scalars may recurse.
    """
    on_buffers = [each for each in functions if any(isinstance(t, MemRefType) for t in each.function_type.inputs)]
    call_order(on_buffers, "buffers")


def _callees(function: Operation, by_name: dict[str, Function]) -> list[tuple[Operation, Function]]:
    """Returns the calls of functions in `by_name` inside `function`, last first."""
    calls = [(op, op.callee.root_reference.data) for op in ops_of(function, func.CallOp, tensor_loop.CallOp)]
    return [(op, by_name[name]) for op, name in reversed(calls) if name in by_name]
