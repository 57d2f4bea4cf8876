"""The ops of `scf`, `cf` and `func`: loops, choices, calls and checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ...core.messages.locations import location_string
from ...core.roles import CHUNK, NOALIAS, PARALLEL, TEMPORARY
from ..failure import ReferenceFailure
from .faults import fault
from .memory import forget
from .races import ParallelLoop
from .state import Frame, Machine, Prepare, Scope, Step
from .storage import Buffer, overlap


def _bind(frame: Frame, slots: Sequence[int], values: Sequence[Any]) -> None:
    for slot, value in zip(slots, values, strict=True):
        frame[slot] = value


# Loops


def run_parallel(
    machine: Machine, op: Operation, iterations: Iterable[Any], run: Any, own: Sequence[Buffer] = ()
) -> None:
    """
    Calls `run(each)` for the iterations of a parallel loop, one after the other, and finds races between them.

    Each iteration has the buffers `own` for itself: they hold nothing when it begins.
    """
    loop = ParallelLoop(op)
    machine.parallel.append(loop)
    for number, each in enumerate(iterations):
        loop.iteration, loop.began = number, machine.tick()
        for buffer in own:
            buffer.storage.birth = machine.tick()
            forget(buffer)
        run(each)
    machine.parallel.pop()


def _own_buffers(op: Operation) -> list[SSAValue]:
    """
    Returns the buffers on the stack that only a loop uses, of those that stand outside of it.

    Each iteration of a parallel loop has one for itself: `outline-parallel-loops` moves them into the loop.
    """
    found: dict[SSAValue, None] = {}
    for inner in op.regions[0].walk():
        for operand in inner.operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner.name == "memref.alloca" and not op.is_ancestor(owner):
                found[operand] = None
    return [each for each in found if all(op.is_ancestor(use.operation) for use in each.uses)]


def _range(op: Operation, lower: Any, upper: Any, step: Any) -> range:
    if step <= 0:
        raise fault("extent", op, f"the step is {step}, expected 1 or more")
    return range(int(lower), int(upper), int(step))


def _for(scope: Scope, op: Operation) -> Step:
    bounds, carried, results = op.operands[:3], op.operands[3:], op.results
    bound_slots, start_slots, result_slots = scope.slots_of(bounds), scope.slots_of(carried), scope.slots_of(results)
    body, machine = scope.region(op.regions[0]), scope.machine
    is_parallel = PARALLEL in op.attributes and not carried
    own_slots = scope.slots_of(_own_buffers(op)) if is_parallel else []
    dtype = (
        np.dtype(np.int64)
        if str(op.operands[0].type) == "index"
        else np.dtype(str(op.operands[0].type).replace("i", "int"))
    )

    def step(frame: Frame) -> None:
        indices = machine.some(_range(op, *(frame[slot] for slot in bound_slots)))
        if is_parallel:
            own = [frame[slot] for slot in own_slots]
            run_parallel(machine, op, indices, lambda index: body(frame, (dtype.type(index),)), own)
            return
        values = [frame[slot] for slot in start_slots]
        for index in indices:
            values = body(frame, (dtype.type(index), *values))
        _bind(frame, result_slots, values)

    return step


def _parallel(scope: Scope, op: Any) -> Step:
    """Prepares `scf.parallel` without reductions."""
    lower, upper, steps = (scope.slots_of(each) for each in (op.lowerBound, op.upperBound, op.step))
    body, machine = scope.region(op.regions[0]), scope.machine

    def step(frame: Frame) -> None:
        if op.initVals:
            raise fault("unknown", op, "reductions of 'scf.parallel' are not interpreted")
        bounds = zip(lower, upper, steps, strict=True)
        ranges = [machine.some(_range(op, frame[a], frame[b], frame[c])) for a, b, c in bounds]
        run_parallel(machine, op, product(*ranges), lambda each: body(frame, [np.int64(index) for index in each]))

    return step


def _while(scope: Scope, op: Operation) -> Step:
    starts, results = scope.slots_of(op.operands), scope.slots_of(op.results)
    before, after = scope.region(op.regions[0]), scope.region(op.regions[1])

    def step(frame: Frame) -> None:
        values = [frame[slot] for slot in starts]
        while True:
            goes_on, *values = before(frame, values)
            if not goes_on:
                break
            values = after(frame, values)
        _bind(frame, results, values)

    return step


# Choices


def _if(scope: Scope, op: Operation) -> Step:
    condition, results = scope.slot(op.operands[0]), scope.slots_of(op.results)
    bodies = [scope.region(region) if region.blocks else None for region in op.regions]

    def step(frame: Frame) -> None:
        body = bodies[0] if frame[condition] else bodies[1]
        if body is not None:
            _bind(frame, results, body(frame))

    return step


def _index_switch(scope: Scope, op: Any) -> Step:
    number, results = scope.slot(op.operands[0]), scope.slots_of(op.results)
    cases = [int(each) for each in op.cases.get_values()]
    default, *bodies = [scope.region(region) for region in op.regions]

    def step(frame: Frame) -> None:
        found = int(frame[number])
        body = bodies[cases.index(found)] if found in cases else default
        _bind(frame, results, body(frame))

    return step


def _execute_region(scope: Scope, op: Operation) -> Step:
    results, body = scope.slots_of(op.results), scope.region(op.regions[0])
    return lambda frame: _bind(frame, results, body(frame))


# Checks and calls


def _assert(scope: Scope, op: Any) -> Step:
    condition, message = scope.slot(op.operands[0]), op.msg.data
    name, _, reason = message.partition(": ")

    def step(frame: Frame) -> None:
        if not frame[condition]:
            parts = (name, reason) if reason else (op.name, message)
            raise ReferenceFailure(*parts, location_string(op))

    return step


def _call(scope: Scope, op: Any) -> Step:
    arguments, results, machine = scope.slots_of(op.operands), scope.slots_of(op.results), scope.machine
    name, chunk = op.callee.string_value(), op.attributes.get(CHUNK)
    size = chunk.value.data if isinstance(chunk, IntegerAttr) else 0

    def step(frame: Frame) -> None:
        values = [frame[slot] for slot in arguments]
        if size == 0:
            _bind(frame, results, call(machine, op, name, values))
            return
        lower, upper = int(values[0]), int(values[1])

        def run(first: int) -> None:
            end = first + 1 if machine.samples else min(first + size, upper)  # Of a sample one iteration is enough.
            call(machine, op, name, [np.int64(first), np.int64(end), *values[2:]])

        run_parallel(machine, op, machine.some(range(lower, upper, size)), run)

    return step


def call(machine: Machine, op: Operation, name: str, values: Sequence[Any]) -> list[Any]:
    """
    Calls `func.func @name` and returns its results.

    Its temporaries hold nothing before and after. Where it may assume that no two arguments share memory, those that do
    are read only.
    """
    if name in machine.natives:
        machine.natives[name](values)
        return []
    function = machine.function(name, op)
    if NOALIAS in function.op.attributes:
        values = _shared_are_read_only(values, name)
    temporaries = [
        each
        for each, attributes in zip(values, argument_attributes(function.op, len(values)), strict=True)
        if TEMPORARY in attributes and isinstance(each, Buffer)
    ]
    for each in temporaries:
        forget(each)
    if machine.watch is not None:
        machine.watch(function.op, values, False)
    results = function.run(op, values)
    if machine.watch is not None:
        machine.watch(function.op, values, True)
    for each in temporaries:
        forget(each)
    return results


def _shared_are_read_only(values: Sequence[Any], name: str) -> list[Any]:
    buffers = [each for each in values if isinstance(each, Buffer)]
    why = f"it shares memory with another argument of @{name}"
    return [
        each.protected(why, is_shared=True)
        if isinstance(each, Buffer) and sum(overlap(each, other) for other in buffers) > 1
        else each
        for each in values
    ]


def argument_attributes(function: Any, count: int) -> list[dict[str, Any]]:
    """Returns the attributes of each argument of a function."""
    found = function.properties.get("arg_attrs")
    return [{}] * count if found is None else [dict(each.data) for each in found.data]


def _nothing(scope: Scope, op: Operation) -> Step:
    return lambda frame: None


TABLE: dict[str, Prepare] = {
    "scf.for": _for,
    "scf.parallel": _parallel,
    "scf.while": _while,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.execute_region": _execute_region,
    "scf.reduce": _nothing,
    "cf.assert": _assert,
    "func.call": _call,
}
