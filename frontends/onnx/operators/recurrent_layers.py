"""
What recurrent layers share: directions, lengths of sequences, and the loop over the steps.

What the inputs add to the gates is one matrix product for all steps; a step is then one product with the state. Short
sequences are unrolled; longer ones are an `scf.for` over chunks of steps, as to store a result costs a copy of all of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ....lazy_dataclass import dataclass
from ..emitting.forms import backwards, filled, reshaped, sliced
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Extent, Size, combined, extents_of, scalar
from ..errors import ConversionError
from ..value import Value
from .indexing import reversed_rows
from .recurrent_activations import Activation
from .steps import repeat

UNROLLED: Final = 20
"""
Most steps that are written one after the other. Each is a kernel of its own, since it reads a row of its own of what
the inputs give, so 50 steps in both directions took 7 seconds to compile where 10 in a loop take one.
"""

CHUNK: Final = 20
"""Most steps in one turn of a loop. Longer turns are no faster, nor are those of half as many much slower."""

Step = Callable[[Value, list[Value]], list[Value]]
"""
Computes the new state from what the inputs give the gates in a step, (batch, gates x hidden), and from the state.

The first part of the state is the output.
"""


@dataclass
class Direction:
    """The parameters of one direction, without the dimension of directions."""

    w: Value
    """(gates x hidden, input)"""
    r: Value
    """(gates x hidden, hidden)"""
    biases: tuple[Value, Value] | None
    """The biases of the input and of the state, (gates x hidden) each."""
    peepholes: Value | None
    functions: tuple[Activation, ...]
    others: tuple[Value | None, ...] = ()
    """What else the weights of a layer of another kind need."""


@dataclass
class Layer:
    """What a node asks for. `x` is (steps, batch, input), whatever its layout."""

    b: GraphBuilder
    x: Value
    gates: int
    hidden: int
    layout: int
    clip: float | None
    lengths: Value | None
    """The lengths of the sequences, i64, or `None` where all have all steps."""

    @property
    def steps(self) -> Extent:
        return extents_of(self.x)[0]

    @property
    def batch(self) -> Extent:
        return extents_of(self.x)[1]

    def product(self, lhs: Value, rhs: Value) -> Value:
        """`lhs @ rhs^T`."""
        return self.b.matmul(lhs, self.b.permute_dims(rhs, axes=(1, 0)))

    def of_input(self, x: Value, one: Direction) -> Value:
        """What inputs, in rows, add to the gates."""
        return self.product(x, one.w)

    def of_state(self, h: Value, one: Direction) -> Value:
        """What the state adds to the gates."""
        return self.product(h, one.r)

    def seen(self, state: list[Value], number: Value) -> list[Value]:
        """The state as step `number` reads it, where sequences have lengths."""
        return state

    def part(self, gates: Value, number: int, count: int = 1) -> Value:
        """What belongs to gate `number`, or to `count` from there on, along the last dimension."""
        begin, end = number * self.hidden, (number + count) * self.hidden
        return self.b.strided_slice(gates, axes=(gates.rank - 1,), begin=(begin,), end=(end,))

    def act(self, function: Activation, gate: Value) -> Value:
        """The activation of a gate, which is clipped before."""
        if self.clip is not None:
            gate = self.b.clip(gate, min=-self.clip, max=self.clip)
        return function(self.b, gate)


CellOf = Callable[[Layer, Direction], tuple[Value | None, Step]]
"""The bias of the gates that does not depend on the state, and the step."""


def layer_of(
    b: GraphBuilder,
    x: Value,
    r: Value,
    lengths: Value | None,
    gates: int,
    hidden_size: int | None,
    clip: float | None,
    layout: int,
) -> Layer:
    """The layer of a node with these inputs. Raises `ConversionError`."""
    if x.rank != 3 or r.rank != 3:
        raise ConversionError(f"the input is {x.shaped} and the weights {r.shaped}, expected rank 3")
    hidden = r.shape[-1]
    if hidden is None or (hidden_size is not None and hidden != hidden_size):
        raise ConversionError(f"hidden_size is {hidden_size}, but the recurrence weights are {r.shaped}")
    steps_first = b.permute_dims(x, axes=(1, 0, 2)) if layout else x
    steps = steps_first.shape[0]
    known = None if lengths is None else lengths.known
    if lengths is not None and known is not None and bool((known == steps).all()):
        lengths = None
    if lengths is not None and lengths.dtype != "i64":
        lengths = b.astype(lengths, dtype="i64")
    return Layer(b, steps_first, gates, hidden, layout, clip, lengths)


def run_layer(
    layer: Layer,
    parameters: Sequence[Value | None],
    initial: Sequence[Value | None],
    direction: str,
    functions: Callable[[int], list[tuple[Activation, ...]]],
    cell_of: CellOf,
) -> tuple[Value, ...]:
    """
    Returns the outputs of a node: those of all steps, and the last state.

    `parameters` are W, R, B and P, and after them the `others` of a direction.
    """
    b = layer.b
    turns = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}.get(direction)
    if turns is None:
        raise ConversionError(f"direction is '{direction}', expected forward, reverse or bidirectional")
    for value in parameters:
        if value is not None and value.shape[0] != len(turns):
            raise ConversionError(f"a parameter is {value.shaped}, expected {len(turns)} directions")
    outputs: list[Value] = []
    states: list[list[Value]] = []
    for number, (back, activations) in enumerate(zip(turns, functions(len(turns)), strict=True)):
        w, r, bias, peepholes, *others = (None if each is None else _one(b, each, number, 0) for each in parameters)
        assert w is not None and r is not None
        halves = None
        if bias is not None:
            halves = layer.part(bias, 0, layer.gates), layer.part(bias, layer.gates, layer.gates)
        one = Direction(w, r, halves, peepholes, activations, tuple(others))
        start = [_start(layer, state, number) for state in initial]
        output, state = _direction(layer, one, start, back, cell_of)
        outputs.append(output)
        states.append(state)
    y = _stacked(b, outputs, 1, (2, 0, 1, 3) if layer.layout else None)
    order = (1, 0, 2) if layer.layout else None
    return y, *(_stacked(b, list(parts), 0, order) for parts in zip(*states, strict=True))


def _one(b: GraphBuilder, value: Value, number: int, axis: int) -> Value:
    """Returns the part of one direction."""
    if value.shape[axis] != 1:
        value = b.strided_slice(value, axes=(axis,), begin=(number,), end=(number + 1,))
    return b.squeeze(value, axis=(axis,))


def _stacked(b: GraphBuilder, parts: list[Value], axis: int, order: tuple[int, ...] | None) -> Value:
    """The parts of all directions along a new dimension, in the layout of the node."""
    raised = [b.expand_dims(part, axis=(axis,)) for part in parts]
    joined = raised[0] if len(raised) == 1 else b.concat(*raised, axis=axis)
    return joined if order is None else b.permute_dims(joined, axes=order)


def _start(layer: Layer, state: Value | None, number: int) -> Value:
    if state is not None:
        return _one(layer.b, state, number, 1 if layer.layout else 0)
    return filled(layer.b, [layer.batch, layer.hidden], 0.0, layer.x.dtype)


# One direction


def _direction(
    layer: Layer, one: Direction, start: list[Value], back: bool, cell_of: CellOf
) -> tuple[Value, list[Value]]:
    """Outputs (steps, batch, hidden) and last state."""
    b = layer.b
    gates = _input_gates(layer, one, _turned(layer, layer.x) if back else layer.x)
    bias, step = cell_of(layer, one)
    if bias is not None:
        gates = b.add(gates, bias)
    outputs, state = _steps(layer, gates, start, step)
    return (_turned(layer, outputs) if back else outputs), state


def _input_gates(layer: Layer, one: Direction, x: Value) -> Value:
    """`x @ W^T` for all steps at once."""
    if None in x.shape:
        return layer.of_input(x, one)
    b, shape = layer.b, layer.b.static_shape(x, "the input")
    rows = layer.of_input(b.reshape(x, shape=(shape[0] * shape[1], shape[2])), one)
    return b.reshape(rows, shape=(shape[0], shape[1], layer.gates * layer.hidden))


def _turned(layer: Layer, x: Value) -> Value:
    """The steps of each sequence in reverse order."""
    b = layer.b
    if layer.lengths is None:
        return backwards(b, x, 0)
    rows = reversed_rows(b, b.permute_dims(x, axes=(1, 0, 2)), layer.lengths)
    return b.permute_dims(rows, axes=(1, 0, 2))


def _steps(layer: Layer, gates: Value, start: list[Value], step: Step) -> tuple[Value, list[Value]]:
    """Outputs of all steps, and the state after the last."""
    b, steps = layer.b, layer.steps
    if isinstance(steps, Size):
        return _open_steps(layer, gates, start, step, steps)
    size = CHUNK if steps <= UNROLLED else _chunk_of(steps)
    chunks = 0 if steps <= UNROLLED else steps // size
    before = chunks * size
    outputs: list[Value] = []
    state = start
    if chunks:
        whole = b.strided_slice(gates, axes=(0,), begin=(0,), end=(before,))
        stored, state = _chunks(layer, whole, state, step, chunks, size)
        outputs.append(stored)
    if before < steps:
        rest = b.strided_slice(gates, axes=(0,), begin=(before,), end=(steps,)) if before else gates
        stored, state = _unrolled(layer, rest, state, step, lambda number: _number(b, before + number))
        outputs.append(stored)
    return (outputs[0] if len(outputs) == 1 else b.concat(*outputs, axis=0)), state


def _chunk_of(steps: int) -> int:
    """Returns the number of steps in each of two turns or more, so that as few as possible are left after them."""
    return min(range(min(CHUNK, steps // 2), CHUNK // 2 - 1, -1), key=lambda size: steps % size)


def _open_steps(layer: Layer, gates: Value, start: list[Value], step: Step, steps: Size) -> tuple[Value, list[Value]]:
    """As `_steps` for a number that is computed at run time: chunks, and what is left step by step."""
    b = layer.b
    chunks = combined("divide", steps, CHUNK)
    before = combined("multiply", chunks, CHUNK)
    whole = sliced(b, gates, [0], [0], [before], [1])
    stored, state = _chunks(layer, whole, start, step, chunks, CHUNK)
    rest = sliced(b, gates, [0], [before], [steps], [1])
    left = combined("subtract", steps, before)
    more, state = _chunks(layer, rest, state, step, left, 1, before)
    return b.concat(stored, more, axis=0), state


def _number(b: GraphBuilder, number: int) -> Value:
    return b.constant(np.array(number, np.int64))


def _chunks(
    layer: Layer,
    gates: Value,
    start: list[Value],
    step: Step,
    chunks: Extent,
    size: int,
    before: Extent = 0,
) -> tuple[Value, list[Value]]:
    """A turn of a loop for each chunk of `size` steps, which come after `before` others."""
    b = layer.b
    width = layer.gates * layer.hidden
    parts = reshaped(b, gates, [chunks, size, layer.batch, width])
    keeps = b.wanted[0]

    def body(turn: Value, carried: list[Value]) -> list[Value]:
        first = b.multiply(turn, size)
        if before != 0:
            first = b.add(first, scalar(b, before))
        state = carried[1:] if keeps else carried
        outputs, state = _unrolled(layer, b.take(parts, turn, axis=0), state, step, lambda number: b.add(first, number))
        if not keeps:
            return state
        return [b.scatter_nd(carried[0], b.reshape(turn, shape=(1,)), outputs), *state]

    room = filled(b, [chunks, size, layer.batch, layer.hidden], 0.0, gates.dtype)
    turns = scalar(b, chunks) if isinstance(chunks, Size) else chunks
    found = repeat(b, turns, [room, *start] if keeps else start, body)
    stored, state = (found[0], found[1:]) if keeps else (room, found)
    return reshaped(b, stored, [combined("multiply", chunks, size), layer.batch, layer.hidden]), state


def _unrolled(
    layer: Layer, gates: Value, start: list[Value], step: Step, number_of: Callable[[int], Value]
) -> tuple[Value, list[Value]]:
    """All steps of `gates`, of which the n-th is step `number_of(n)` of the layer."""
    b, state = layer.b, start
    outputs: list[Value] = []
    steps = gates.shape[0] or 0
    for number in range(steps):
        row = gates
        if steps > 1:
            row = b.strided_slice(gates, axes=(0,), begin=(number,), end=(number + 1,))
        place = None if layer.lengths is None else number_of(number)
        new = step(b.squeeze(row, axis=(0,)), state if place is None else layer.seen(state, place))
        output = new[0]
        if place is not None:
            output, new = _masked(layer, place, state, new)
        state = new
        outputs.append(b.expand_dims(output, axis=(0,)))
    return (outputs[0] if steps == 1 else b.concat(*outputs, axis=0)), state


def _masked(layer: Layer, number: Value, old: list[Value], new: list[Value]) -> tuple[Value, list[Value]]:
    """Keeps the state after the end of a sequence, where its output is 0."""
    b = layer.b
    runs = b.expand_dims(b.less(number, layer.lengths), axis=(1,))
    kept = [b.where(runs, after, before) for before, after in zip(old, new, strict=True)]
    return b.where(runs, new[0], b.full((), 0.0, new[0].dtype)), kept
