"""Layers whose inputs and weights are bytes: `graph.quantize` where values are made, `graph.dequantize` after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any, Protocol

import numpy as np
from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue, Use

from ...dialects.graph.quantisation import DequantizeOp, QuantizeOp
from ...lazy_dataclass import dataclass
from .constants import Constants
from .emitting import Place, hint_of
from .grids import Grid, quantized_weights, spread
from .layers import MOVES, Layer, source_of

Array = np.ndarray[Any, Any]


class Choice(Protocol):
    """Decides what a layer reads where it may read a value of floats or its quantised form."""

    def __call__(self, layer: Layer, quantized: SSAValue, real: SSAValue, place: Place) -> SSAValue: ...


def always_quantized(layer: Layer, quantized: SSAValue, real: SSAValue, place: Place) -> SSAValue:
    """Chooses the quantised form."""
    return quantized


@dataclass
class Quantizer:
    """
    Quantises what layers read.

    A value is quantised where it is made, before the ops that move its elements. So the moves are made anew behind
    `graph.dequantize`. Those that stay in floats serve layers that are kept.
    """

    constants: Constants
    choose: Choice = always_quantized
    grids: dict[SSAValue, Grid] = field(default_factory=dict)
    """The grid of each value that is quantised."""
    weights: dict[Layer, Array] = field(default_factory=dict)
    """The real numbers that the bytes of the weights of each layer stand for."""
    _dequantized: dict[SSAValue, SSAValue] = field(default_factory=dict)
    _moved: dict[SSAValue, SSAValue] = field(default_factory=dict)
    _shared: dict[tuple[SSAValue, int | None], tuple[SSAValue, Array]] = field(default_factory=dict)

    def quantize(self, layer: Layer, grids: dict[SSAValue, Grid]) -> None:
        """Quantises both operands of a layer. `grids` has that of each value from which one is moved."""
        for number, operand in enumerate(layer.op.operands[:2]):
            known = self.constants.array(operand)
            if known is None:
                source = source_of(operand)
                self.grids[source] = grids[source]
                new = self._followed(operand, source, layer.op)
            else:
                new, rounded = self._of_weights(layer, operand, known, layer.output_axis(number))
                if number == 1:
                    self.weights[layer] = rounded
            layer.op.operands[number] = self.choose(layer, new, operand, Place.at(layer.op))

    def quantize_others(self, layers: set[Operation]) -> None:
        """
        Makes what reads a quantised value, directly or moved, read its quantised form: it need not be kept in floats.

        `layers` are all layers, which have chosen what they read. What the entry returns stays as it was computed.
        """
        for source in self.grids:
            for use in list(_ends(source)):
                op = use.operation
                if op not in layers and not isinstance(op, func.ReturnOp):
                    op.operands[use.index] = self._followed(op.operands[use.index], source, op)

    def _followed(self, value: SSAValue, source: SSAValue, origin: Operation) -> SSAValue:
        """Returns what becomes of the quantised `source` on the way to `value`."""
        way: list[Operation] = []
        while value is not source:
            assert isinstance(value.owner, Operation)
            way.append(value.owner)
            value = value.owner.operands[0]
        found = self._real(source, origin)
        for op in reversed(way):
            found = self._made_anew(op, found)
        return found

    def _real(self, source: SSAValue, origin: Operation) -> SSAValue:
        if source not in self._dequantized:
            place, grid = Place.after(source, origin), self.grids[source]
            scale = place.full(grid.scale, "f32")
            zero = place.full(grid.zero_point, "i8")
            quantized = place.put(QuantizeOp(source, scale, zero), hint_of(source, "q", "value"))
            real = place.put(DequantizeOp(quantized, scale, zero), hint_of(source, "dq", "value"))
            self._dequantized[source] = real
        return self._dequantized[source]

    def _made_anew(self, op: Operation, operand: SSAValue) -> SSAValue:
        result = op.results[0]
        if result not in self._moved:
            new = op.clone()
            new.operands[0] = operand
            self._moved[result] = Place.after(result, op).put(new, result.name_hint)
        return self._moved[result]

    def _of_weights(self, layer: Layer, value: SSAValue, array: Array, axis: int | None) -> tuple[SSAValue, Array]:
        if (value, axis) not in self._shared:
            steps, scales = quantized_weights(array, axis)
            place = Place.after(value, layer.op)
            operands = [
                place.constant(steps, hint_of(value, "q", "weights")),
                place.constant(scales, hint_of(value, "scale", "weights")),
                place.full(0, "i8", *scales.shape),
            ]
            new = place.put(DequantizeOp(*operands, axis=axis or 0), hint_of(value, "dq", "weights"))
            self._shared[value, axis] = new, _real_weights(steps, scales, axis)
        return self._shared[value, axis]


def _real_weights(steps: Array, scales: Array, axis: int | None) -> Array:
    return (steps.astype(np.float32) * spread(scales, axis, steps.ndim)).astype(np.float32)


def _ends(source: SSAValue) -> Iterator[Use]:
    """Yields the uses of `source`, directly or through ops that move it, but for those moves and its `quantize`."""
    for use in list(source.uses):
        if isinstance(use.operation, QuantizeOp):
            continue
        if use.operation.name in MOVES and use.index == 0:
            yield from _ends(use.operation.results[0])
        else:
            yield use
