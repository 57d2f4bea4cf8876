"""What the verifier asks of functions on buffers: that no index, size, effect or parallel loop is plainly wrong."""

from __future__ import annotations

from operator import is_
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ...core.ir.extra_checks import Finding
from ...core.ir.walk import walk
from ...dialects.tensor_loop import CallOp
from ...dialects.tensor_loop import FuncOp as LoopFunction


def check_loop_function(function: LoopFunction) -> Finding | None:
    """Returns the first thing in a loop function that is plainly wrong."""
    return _checked(function)


def check_function(function: FuncOp) -> Finding | None:
    """Returns the first thing that is plainly wrong. Functions on tensors have neither buffers nor indices."""
    if not any(isinstance(each, MemRefType) for each in function.function_type.inputs):
        if not any(op.name.startswith("memref.") for op in walk(function)):
            return None
    return _checked(function)


State = tuple[list[int], list[object]]

_VALID: WeakKeyDictionary[Operation, State] = WeakKeyDictionary()
"""The state in which a function was valid. A pass leaves most functions as they were, so they are looked at once."""


def _checked(function: LoopFunction | FuncOp) -> Finding | None:
    state = _state_of(function)
    if state is not None and _is_same(_VALID.get(function), state):
        return None
    from .function_faults import first_fault

    if (fault := first_fault(function)) is not None:
        return fault
    if state is not None:
        _VALID[function] = state
    return None


def _state_of(function: Operation) -> State | None:
    """
    Returns all that the checks look at: how ops hang together, by their addresses, and what they are.

    It is nothing where functions that are called have a say too. What ops are is kept alive, so a new attribute never
    passes for an old one. Ops are not, since that would keep the program. A new op at the address of an old one counts
    as the old one only if it is the same in all that is kept.
    """
    places: list[int] = []
    parts: list[object] = []
    for op in walk(function):
        if isinstance(op, CallOp):
            return None
        places += (id(op), id(op.parent), *map(id, op.operands))
        parts += (op.__class__, *op.properties, *op.properties.values(), *op.attributes, *op.attributes.values())
        parts += [result.type for result in op.results]
    return places, parts


def _is_same(known: State | None, state: State) -> bool:
    if known is None or known[0] != state[0] or len(known[1]) != len(state[1]):
        return False
    return all(map(is_, known[1], state[1]))
