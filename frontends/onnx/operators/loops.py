"""
Operators with bodies: If, Loop; what they share with Scan (`scans.py`).

A branch or a number of turns that is known at import leaves no control flow behind, as long as the turns written one
after the other are not too many; else they are `scf.if` and `scf.for` on tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from xdsl.ir import Block

from ....dialects.graph.shapes import Shaped
from ....lazy_dataclass import dataclass
from ..emitting.forms import filled
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Extent, Size, elements_of, follows_from_shapes, scalar
from ..errors import ConversionError, OnnxError
from ..registry import Known, converter
from ..value import Value
from .steps import branch, repeat

if TYPE_CHECKING:
    from onnx import GraphProto

UNROLLED: Final = 512
"""Most nodes of all turns together that are written one after the other by choice."""

UNROLLED_AT_MOST: Final = 20_000
"""Most nodes of all turns where a loop cannot be: where shapes or positions depend on the number of the turn."""

GUARDED_AT_MOST: Final = 65_536
"""Most turns of a loop that a condition ends: those after its end do nothing, but are counted to the last."""


@converter("If")
def if_(b: GraphBuilder, condition: Known | Value, *, then_branch: Any, else_branch: Any) -> Any:
    """Replaces the node by its branch, if that is known at import."""
    counts = [len(each.output) for each in (then_branch, else_branch)]
    if any(count != b.output_count for count in counts):
        raise ConversionError(f"the branches give {counts[0]} and {counts[1]} results, expected {b.output_count} each")
    known = condition.known  # pyright: ignore[reportAttributeAccessIssue]
    if known is not None:
        return tuple(b.subgraph(then_branch if known.reshape(()).item() else else_branch, {}))
    assert isinstance(condition, Value)
    try:
        return branch(b, condition, lambda: b.subgraph(then_branch, {}), lambda: b.subgraph(else_branch, {}))
    except (
        ConversionError,
        OnnxError,
    ) as error:  # which goes where the condition is known and this branch not taken
        error.needs = (*error.needs, condition)
        raise


# Turns


@dataclass
class Turned:
    """What a turn gives: whether another one follows (`None`: always), the next state, and what is stacked."""

    condition: Value | None
    state: list[Value]
    outputs: list[Value]

    @property
    def goes_on(self) -> bool | None:
        """Returns whether another turn follows, `None` when that is computed at run time."""
        if self.condition is None:
            return True
        known = self.condition.known
        return None if known is None else bool(known.reshape(()).item())


Turn = Callable[[Value, list[Value]], Turned]
"""Computes the next state from the number of a turn and the state."""


@dataclass
class Turns:
    """What is done a number of times. `cost` is the number of nodes of a turn."""

    b: GraphBuilder
    turn: Turn
    cost: int

    def known(self, count: int, state: list[Value]) -> tuple[list[Value], list[Value]]:
        """The state after at most `count` turns, and the outputs, stacked along a new first dimension."""
        if 0 < count * self.cost <= UNROLLED:
            return self._unrolled(count, state)
        may_unroll = 0 < count * self.cost <= UNROLLED_AT_MOST
        try:
            endless, kinds = self._tried(state)
        except (ConversionError, OnnxError):
            if not may_unroll:
                raise
            return self._unrolled(count, state)
        if endless:
            return self._looped(count, state, kinds)
        if not kinds:
            return self.guarded(count, None, state), []
        if not may_unroll:
            raise ConversionError(depends_on_data(len(kinds)))
        return self._unrolled(count, state)

    def unknown(self, count: int | Value, condition: Value | None, state: list[Value]) -> list[Value]:
        """Returns the state after at most `count` turns that begin only if `condition` holds. Nothing is stacked."""
        endless, kinds = self._tried(state)
        if kinds:
            raise ConversionError(
                depends_on_data(len(kinds)), needs=tuple(each for each in (count, condition) if isinstance(each, Value))
            )
        if endless and condition is None:
            return repeat(self.b, count, state, lambda number, carried: self.turn(number, carried).state)
        return self.guarded(count, condition, state)

    def guarded(self, count: int | Value, condition: Value | None, state: list[Value], first: int = 0) -> list[Value]:
        """A loop of `count` turns of which those after the end of the condition do nothing."""
        b = self.b
        if isinstance(count, int) and count > GUARDED_AT_MOST:
            raise ConversionError(
                f"a condition that is computed at run time ends the turns, of which there are at most {count}",
                hint=f"such a loop needs a trip count of at most {GUARDED_AT_MOST}",
            )

        def body(number: Value, carried: list[Value]) -> list[Value]:
            active, *values = carried

            def taken() -> list[Value]:
                after = self.turn(number, values)
                return [_truth(b, after.condition), *after.state]

            return branch(b, active, taken, lambda: carried)

        return repeat(b, count, [_truth(b, condition), *state], body, first)[1:]

    def _unrolled(self, count: int, state: list[Value]) -> tuple[list[Value], list[Value]]:
        stacks: list[list[Value]] = []
        for number in range(count):
            after = self.turn(known_number(self.b, number), state)
            state = after.state
            stacks.append([self.b.expand_dims(value, axis=(0,)) for value in after.outputs])
            if after.goes_on is None:
                if after.outputs:
                    raise ConversionError(depends_on_data(len(after.outputs)))
                return self.guarded(count - number - 1, after.condition, state, number + 1), []
            if not after.goes_on:
                break
        columns = [list(column) for column in zip(*stacks, strict=True)]
        return state, [column[0] if len(column) == 1 else self.b.concat(*column, axis=0) for column in columns]

    def _tried(self, state: list[Value]) -> tuple[bool, list[Shaped]]:
        """
        Whether turns always go on, and the types of the outputs of one, in a loop.

        They must be known before the loop is built: the ops of this one are thrown away.
        """
        found: list[Turned] = []

        def body(number: Value, carried: list[Value]) -> list[Value]:
            found.append(self.turn(number, carried))
            return found[0].state

        scratch = Block()
        with self.b.inside(scratch):
            repeat(self.b, 1, state, body)
        kinds = [output.shaped for output in found[0].outputs]
        endless = found[0].goes_on is True
        scratch.erase(safe_erase=False)
        for kind in kinds:
            if None in kind.shape:
                raise ConversionError(f"an output of a turn is {kind}, expected every extent to be known")
        return endless, kinds

    def of_sizes(self, count: Extent, state: list[Value]) -> tuple[list[Value], list[Value]]:
        """Does as `known` does for a number of turns that follows from the shapes of the arguments."""
        if not isinstance(count, Size):
            return self.known(count, state)
        endless, kinds = self._tried(state)
        if not endless and kinds:
            raise ConversionError(depends_on_data(len(kinds)))
        if not endless:
            return self.guarded(scalar(self.b, count), None, state), []
        return self._looped(count, state, kinds)

    def _looped(self, count: Extent, state: list[Value], kinds: list[Shaped]) -> tuple[list[Value], list[Value]]:
        b, kept = self.b, len(state)
        rooms = [filled(b, [count, *(dim or 0 for dim in kind.shape)], 0, kind.dtype) for kind in kinds]
        if count == 0:
            return state, rooms

        def body(number: Value, carried: list[Value]) -> list[Value]:
            after = self.turn(number, carried[:kept])
            place = b.reshape(number, shape=(1,))
            pairs = zip(carried[kept:], after.outputs, strict=True)
            return [*after.state, *(b.scatter_nd(room, place, value) for room, value in pairs)]

        turns = scalar(b, count) if isinstance(count, Size) else count
        found = repeat(b, turns, [*state, *rooms], body)
        return found[:kept], found[kept:]


def depends_on_data(outputs: int) -> str:
    """The message for outputs with a number of turns that is not known."""
    return f"the number of turns is computed at run time, and with it the shape of {outputs} outputs"


def known_number(b: GraphBuilder, number: int) -> Value:
    """The number of a turn that is written by itself."""
    return b.constant(np.array(number, np.int64))


def _truth(b: GraphBuilder, condition: Value | None) -> Value:
    """Returns a condition as a tensor of rank 0, true where there is none."""
    if condition is None:
        return b.full((), True, "i1")
    return condition if condition.rank == 0 else b.reshape(condition, shape=())


def _goes_on(condition: Value | None) -> bool:
    """Returns whether a loop begins for certain."""
    return condition is None or (condition.known is not None and bool(condition.known.reshape(()).item()))


def cost_of(body: GraphProto) -> int:
    return max(len(body.node), 1)


def inputs_of_body(body: GraphProto, count: int) -> list[str]:
    """Returns the names of the inputs of a body. Raises `ConversionError` unless there are `count`."""
    names = [info.name for info in body.input]
    if len(names) != count:
        raise ConversionError(f"the body has {len(names)} inputs, expected {count}")
    return names


def check_results_of_body(body: GraphProto, least: int) -> None:
    """Raises `ConversionError` unless a body gives the values that the next turn needs."""
    if len(body.output) < least:
        raise ConversionError(f"the body gives {len(body.output)} results, expected at least {least}")


# Loop


@converter("Loop")
def loop(
    b: GraphBuilder,
    trip_count: Known | Value | None = None,
    condition: Known | Value | None = None,
    *state: Value,
    body: Any,
) -> Any:
    """
    Turns while the condition holds, at most `trip_count`.

    A number of turns that is computed at run time leaves nothing to be stacked, as the shape would depend on data.
    """
    assert trip_count is None or isinstance(trip_count, Value)
    assert condition is None or isinstance(condition, Value)
    if trip_count is None:
        raise ConversionError("there is no trip count, expected the number of turns to be bounded")
    inputs = inputs_of_body(body, 2 + len(state))
    check_results_of_body(body, 1 + len(state))

    def turn(number: Value, values: list[Value]) -> Turned:
        holds = b.constant(np.array(True))
        on, *rest = b.subgraph(body, dict(zip(inputs, [number, holds, *values], strict=True)))
        return Turned(None if condition is None else on, rest[: len(state)], rest[len(state) :])

    turns = Turns(b, turn, cost_of(body))
    known = trip_count.known
    holds = None if condition is None else condition.known
    if _goes_on(condition) and known is None and follows_from_shapes(trip_count):
        sizes = elements_of(trip_count)
        if sizes is not None:
            after, stacked = turns.of_sizes(sizes.reshape(-1)[0], list(state))
            return (*after, *stacked)
    if known is None or (condition is not None and holds is None):
        first = condition if holds is None else None
        count = trip_count if known is None else max(int(known.reshape(()).item()), 0)
        if holds is not None and not holds.reshape(()).item():
            count = 0
        return tuple(turns.unknown(count, first, list(state)))
    count = max(int(known.reshape(()).item()), 0)
    if holds is not None and not holds.reshape(()).item():
        count = 0
    after, stacked = turns.known(count, list(state))
    return (*after, *stacked)
