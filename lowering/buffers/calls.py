"""Order of functions for bufferisation: callees before callers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func

from ...core.ir.walk import walk
from ...core.messages.diagnostics import fail


def call_order(functions: Sequence[func.FuncOp]) -> list[func.FuncOp]:
    """
    Returns `functions`, each after those it calls, otherwise in program order.

    The walk does not recurse. Raises an error at the call that closes a cycle.
    """
    by_name = {function.sym_name.data: function for function in functions}
    done: dict[str, func.FuncOp] = {}
    for function in functions:
        stack = [(function, _callees(function, by_name))]
        open_names = {function.sym_name.data}
        while stack:
            current, calls = stack[-1]
            if current.sym_name.data in done or not calls:
                done.setdefault(current.sym_name.data, current)
                open_names.discard(current.sym_name.data)
                stack.pop()
                continue
            call, callee = calls.pop()
            if callee.sym_name.data in done:
                continue
            if callee.sym_name.data in open_names:
                fail(call, f"function @{callee.sym_name.data} calls itself; recursion on tensors is not supported")
            open_names.add(callee.sym_name.data)
            stack.append((callee, _callees(callee, by_name)))
    return list(done.values())


def _callees(function: func.FuncOp, by_name: dict[str, func.FuncOp]) -> list[tuple[func.CallOp, func.FuncOp]]:
    """Returns the calls of bufferised functions inside `function`, last first."""
    calls = [
        (op, by_name[op.callee.root_reference.data])
        for op in walk(function)
        if isinstance(op, func.CallOp) and op.callee.root_reference.data in by_name
    ]
    return calls[::-1]
