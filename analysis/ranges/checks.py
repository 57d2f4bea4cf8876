"""What the verifier asks of functions on buffers: that no index, size, effect or parallel loop is plainly wrong."""

from __future__ import annotations

from collections.abc import Iterator
from operator import is_
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ...core.ir.extra_checks import Finding
from ...core.ir.walk import walk
from ...dialects.tensor_loop import CallOp
from ...dialects.tensor_loop import FuncOp as LoopFunction
from .accesses import Accesses
from .effects import effect_faults
from .lifetimes import buffer_faults
from .plain import Fault, faults
from .races import Race, line_of, races
from .unwritten import unwritten_faults


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
    fault = next(_faults(function), None)
    if fault is not None:
        return fault if isinstance(fault, Finding) else Finding(fault.op, fault.message, fault.hint)
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


def _faults(function: LoopFunction | FuncOp) -> Iterator[Fault | Finding]:
    """Yields what is wrong. Buffers come first, since what is said of indices takes them as they are."""
    yield from buffer_faults(function)
    accesses = Accesses()
    found = list(accesses.of(function))
    yield from faults(accesses, found)
    if isinstance(function, LoopFunction):
        yield from effect_faults(function, accesses, found)
    for race in races(accesses, found):
        yield _told(race)
    if isinstance(function, LoopFunction):
        yield from unwritten_faults(function, accesses, found)


def _told(race: Race) -> Finding:
    """Returns the message about a race. It points at both accesses."""
    assert race.first.touch is not None and race.second.touch is not None
    store, other = race.first.touch.op, race.second.touch.op
    name = f"%{race.buffer.name_hint}" if race.buffer.name_hint else "a buffer"
    message = f"the iterations of the parallel loop{line_of(race.loop)} are not proven to be free of races on {name}"
    advice = "make the loop serial, or mark it with {stepwell.unchecked}"
    if store is other:
        return Finding(store, message, f"two iterations may store to one element; {advice}")
    kind = "stores to" if race.second.touch.is_store else "loads from"
    note = (other, f"another iteration {kind} {name} here, perhaps the same element")
    return Finding(store, message, advice, (note,))
