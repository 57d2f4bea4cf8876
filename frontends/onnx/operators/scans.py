"""Scan: a body with turns over the slices of its inputs (`loops.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..emitting.forms import backwards
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .loops import Turned, Turns, check_results_of_body, cost_of, inputs_of_body

if TYPE_CHECKING:
    from onnx import GraphProto


@converter("Scan", since=9)
def scan(
    b: GraphBuilder,
    *inputs: Value,
    body: Any,
    num_scan_inputs: int,
    scan_input_axes: tuple[int, ...] | None = None,
    scan_input_directions: tuple[int, ...] | None = None,
    scan_output_axes: tuple[int, ...] | None = None,
    scan_output_directions: tuple[int, ...] | None = None,
) -> Any:
    """Runs a turn for each slice of the scanned inputs, along their axes."""
    states = len(inputs) - num_scan_inputs
    count = len(body.output) - states
    found = _scanned(b, list(inputs[:states]), _first(b, inputs[states:], scan_input_axes, scan_input_directions), body)
    outputs = _placed(b, found[states:], scan_output_axes, scan_output_directions, count)
    return (*found[:states], *outputs)


@converter("Scan", since=8)
def scan_of_batch(
    b: GraphBuilder,
    lengths: Value | None = None,
    *inputs: Value,
    body: Any,
    num_scan_inputs: int,
    directions: tuple[int, ...] | None = None,
) -> Any:
    """Scans each element of the batch, the first dimension, by itself."""
    if lengths is not None:
        raise ConversionError("input 'sequence_lens' is not supported, expected sequences of one length")
    states = len(inputs) - num_scan_inputs
    rows: list[list[Value]] = []
    for number in range(b.static_shape(inputs[0], "an input")[0]):
        own = [b.squeeze(b.strided_slice(x, axes=(0,), begin=(number,), end=(number + 1,)), axis=(0,)) for x in inputs]
        scanned = _scanned(b, own[:states], _first(b, own[states:], None, directions), body)
        rows.append([b.expand_dims(value, axis=(0,)) for value in scanned])
    return tuple(column[0] if len(rows) == 1 else b.concat(*column, axis=0) for column in zip(*rows, strict=True))


def _scanned(b: GraphBuilder, state: list[Value], scanned: list[Value], body: GraphProto) -> list[Value]:
    """The last state, then what the turns give, stacked."""
    known = {x.shape[0] for x in scanned} - {None}
    if len(known) > 1 or not scanned:
        raise ConversionError(
            f"the scanned inputs have {sorted(each or 0 for each in known)} slices, expected one number"
        )
    count = known.pop() if known else extents_of(scanned[0])[0]
    names = inputs_of_body(body, len(state) + len(scanned))
    check_results_of_body(body, len(state))

    def turn(number: Value, values: list[Value]) -> Turned:
        slices = [_slice(b, x, number) for x in scanned]
        found = b.subgraph(body, dict(zip(names, [*values, *slices], strict=True)))
        return Turned(None, found[: len(state)], found[len(state) :])

    assert count is not None
    after, stacked = Turns(b, turn, cost_of(body)).of_sizes(count, state)
    return [*after, *stacked]


def _slice(b: GraphBuilder, x: Value, number: Value) -> Value:
    known = number.known
    if known is None:
        return b.take(x, number, axis=0)
    first = int(known.item())
    return b.squeeze(b.strided_slice(x, axes=(0,), begin=(first,), end=(first + 1,)), axis=(0,))


def _first(
    b: GraphBuilder, values: Sequence[Value], axes: tuple[int, ...] | None, directions: tuple[int, ...] | None
) -> list[Value]:
    """The scanned inputs with the slices along their first dimension, in the order of the turns."""
    found: list[Value] = []
    for number, x in enumerate(values):
        axis = 0 if axes is None else axes[number] % x.rank
        if axis:
            x = b.permute_dims(x, axes=(axis, *(each for each in range(x.rank) if each != axis)))
        found.append(backwards(b, x, 0) if directions is not None and directions[number] else x)
    return found


def _placed(
    b: GraphBuilder,
    values: Sequence[Value],
    axes: tuple[int, ...] | None,
    directions: tuple[int, ...] | None,
    count: int,
) -> list[Value]:
    """Moves what was stacked along the first dimension to the wanted one, in the wanted direction."""
    for name, given in (("axes", axes), ("directions", directions)):
        if given is not None and len(given) != count:
            raise ConversionError(f"scan_output_{name} has {len(given)} entries, expected {count}")
    found: list[Value] = []
    for number, x in enumerate(values):
        if directions is not None and directions[number]:
            x = backwards(b, x, 0)
        axis = 0 if axes is None else axes[number] % x.rank
        if axis:
            x = b.permute_dims(x, axes=(*range(1, axis + 1), 0, *range(axis + 1, x.rank)))
        found.append(x)
    return found
