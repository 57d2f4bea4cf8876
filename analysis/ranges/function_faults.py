"""Finds what is plainly wrong in a function on buffers, in the order in which it is told."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import FuncOp

from ...core.ir.extra_checks import Finding
from ...dialects.tensor_loop import FuncOp as LoopFunction
from .accesses import Accesses
from .effects import effect_faults
from .given import stores_to_given
from .lifetimes import buffer_faults
from .plain import Fault, faults
from .races import Race, line_of, races
from .unwritten import unwritten_faults


def first_fault(function: LoopFunction | FuncOp) -> Finding | None:
    """Returns the first thing in a function on buffers that is plainly wrong."""
    fault = next(_faults(function), None)
    if fault is None or isinstance(fault, Finding):
        return fault
    return Finding(fault.op, fault.message, fault.hint)


def _faults(function: LoopFunction | FuncOp) -> Iterator[Fault | Finding]:
    """Yields what is wrong. Buffers come first, since what is said of indices takes them as they are."""
    yield from buffer_faults(function)
    accesses = Accesses()
    found = list(accesses.of(function))
    yield from faults(accesses, found)
    if isinstance(function, LoopFunction):
        yield from effect_faults(function, accesses, found)
    else:
        yield from stores_to_given(function, found)
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
