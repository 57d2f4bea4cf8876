"""The pass `equalize-layers`: factors move from the output channels of a layer to what reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...core.passes.base import StepwellPass
from ...dialects.graph.base import plain_properties
from ...dialects.graph.binary import AddOp
from ...dialects.graph.contraction import Conv2dOp
from ...lazy_dataclass import dataclass
from ..simplify.eliminate_dead_code import erase_dead_ops
from .constants import Constants
from .emitting import Place
from .layers import Layer, entry_of, layers_of

Array = np.ndarray[Any, Any]

HOMOGENEOUS: Final = ("graph.relu", "graph.leaky_relu", "graph.max_pool2d")
"""Ops with `f(a * x) = a * f(x)` for a factor `a > 0` per channel."""

MOST_SWEEPS: Final = 16

LARGEST: Final = 2.0**20
"""The largest factor, so that no weight overflows or becomes subnormal."""


@dataclass(frozen=True)
class EqualizeLayersPass(StepwellPass):
    """
    Makes the weights of layers in a row of like size, channel by channel, so that one scale suits more of them.

    Between two layers there may be a constant bias, `relu`, `leaky_relu` and `max_pool2d`. An output channel of the
    first layer is divided by a factor, and what the second layer multiplies it by takes the factor. It is the power of
    two nearest to the square root of the ratio of the largest weights of both. So results have the bits that they had.

    Before:
        %0 = graph.conv2d %x, %w : …     // channels of %w from 0.1 to 100
        %1 = graph.relu %0 : …
        %2 = graph.conv2d %1, %v : …
    After:
        %0 = graph.conv2d %x, %w2 : …    // channels of %w2 of like size
        %1 = graph.relu %0 : …
        %2 = graph.conv2d %1, %v2 : …

    Source: M. Nagel et al., Data-Free Quantization Through Weight Equalization and Bias Correction, ICCV 2019.
    """

    name = "equalize-layers"

    entry: str = "main"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = entry_of(op, self.entry)
        constants = Constants(op)
        layers: dict[Operation, Layer] = {
            layer.op: layer for layer in layers_of(function) if _has_own_weights(layer, constants)
        }
        pairs = [pair for layer in layers.values() if (pair := _pair(layer, layers, constants)) is not None]
        arrays = {value: np.array(constants.array(value)) for pair in pairs for value in pair.values}
        changed = set[SSAValue]()
        for _ in range(MOST_SWEEPS):
            found = [pair.equalise(arrays) for pair in pairs]
            changed.update(value for pair, moved in zip(pairs, found, strict=True) if moved for value in pair.values)
            if not any(found):
                break
        self.count("pairs of layers equalised", sum(pair.kernel in changed for pair in pairs))
        for value in changed:
            (use,) = value.uses
            new = Place.at(use.operation).constant(arrays[value], value.name_hint)
            use.operation.operands[use.index] = new
        erase_dead_ops(function)


def _has_own_weights(layer: Layer, constants: Constants) -> bool:
    """Returns whether the weights are constant, and nobody else reads them."""
    weights = layer.op.operands[1]
    is_plain = layer.output_axis(1) is not None and constants.array(layer.op.operands[0]) is None
    return is_plain and _is_own(weights, constants)


def _is_own(value: SSAValue, constants: Constants) -> bool:
    return constants.array(value) is not None and len(list(value.uses)) == 1


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two layers in a row, the second of which reads nothing but channels of the first."""

    first: Layer
    second: Layer
    bias: SSAValue | None

    @property
    def kernel(self) -> SSAValue:
        """The weights of the first layer."""
        return self.first.op.operands[1]

    @property
    def values(self) -> list[SSAValue]:
        """The constants that change."""
        found = [self.kernel, self.second.op.operands[1]]
        return found if self.bias is None else [*found, self.bias]

    def equalise(self, arrays: dict[SSAValue, Array]) -> bool:
        """Moves factors from the first to the second. Returns whether any is not 1."""
        outputs = _by_outputs(self.first, arrays[self.kernel])
        inputs = _by_inputs(self.second, arrays[self.second.op.operands[1]])
        if len(outputs) != len(inputs):
            return False
        one, other = (np.abs(each.reshape(len(each), -1)).max(axis=1, initial=0.0) for each in (outputs, inputs))
        both = (one > 0) & (other > 0)
        ratio = np.where(both, one, 1.0).astype(np.float64) / np.where(both, other, 1.0)
        factors = np.exp2(np.rint(np.log2(ratio) / 2)).clip(1 / LARGEST, LARGEST).astype(outputs.dtype)
        if (factors == 1).all():
            return False
        outputs /= factors.reshape(-1, *[1] * (outputs.ndim - 1))
        inputs *= factors.reshape(-1, *[1] * (inputs.ndim - 1))
        if self.bias is not None:
            bias = arrays[self.bias]
            arrays[self.bias] = bias / _like_bias(self.first, factors, bias)
        return True


def _by_outputs(layer: Layer, weights: Array) -> Array:
    """Returns a view of weights whose first axis is that of output channels."""
    axis = layer.output_axis(1)
    assert axis is not None
    return np.moveaxis(weights, axis, 0)


def _by_inputs(layer: Layer, weights: Array) -> Array:
    """Returns a view of weights whose first axis is that of input channels, those of all groups one after the other."""
    if not isinstance(layer.op, Conv2dOp):
        return weights
    properties = plain_properties(layer.op)
    layout, groups = properties["kernel_layout"], properties["groups"]
    view = np.transpose(weights, [layout.index(name) for name in "IOHW"])
    if groups == 1:
        return view
    if view.shape[0] != 1:
        return view[:0]
    shape = (groups, view.shape[1] // groups, *view.shape[2:])
    view = view[0].view()
    view.shape = shape  # a view, or an error
    return view


def _like_bias(layer: Layer, factors: Array, bias: Array) -> Array:
    """Returns factors of channels in the shape of a bias."""
    return factors.reshape([-1 if size == len(factors) else 1 for size in bias.shape])


def _pair(layer: Layer, layers: dict[Operation, Layer], constants: Constants) -> _Pair | None:
    """Returns the pair that a layer is the first of, or `None` where something else reads its result."""
    bias: SSAValue | None = None
    result = layer.op.results[0]
    for op in _only_users(result):
        if op in layers:
            second = layers[op]
            fits = layer.kind == second.kind and _same_channels(layer, second)
            return _Pair(layer, second, bias) if fits else None
        if isinstance(op, AddOp) and bias is None:
            bias = next((each for each in op.operands if constants.array(each) is not None), None)
            if bias is None or not _is_own(bias, constants) or not _is_per_channel(layer, constants.array(bias)):
                return None
        elif op.name not in HOMOGENEOUS:
            return None
    return None


def _only_users(value: SSAValue) -> Iterator[Operation]:
    """Yields the only op that uses the value, the only one that uses the result of that, and so on."""
    while len(uses := list(value.uses)) == 1:
        op = uses[0].operation
        yield op
        if len(op.results) != 1:
            return
        value = op.results[0]


def _same_channels(first: Layer, second: Layer) -> bool:
    """Returns whether both lay their channels out alike."""
    if not isinstance(first.op, Conv2dOp):
        return True
    return plain_properties(first.op)["data_layout"] == plain_properties(second.op)["data_layout"]


def _is_per_channel(layer: Layer, bias: Array | None) -> bool:
    """Returns whether a bias has one element per output channel, along the axis of these in the result."""
    if bias is None:
        return False
    trailing = 0
    if isinstance(layer.op, Conv2dOp):
        trailing = 3 - plain_properties(layer.op)["data_layout"].index("C")
    axis = layer.output_axis(1)
    assert axis is not None
    outputs = layer.op.operands[1].type.get_shape()[axis]  # pyright: ignore
    wanted: Sequence[int] = (outputs, *[1] * trailing)
    shape = bias.shape
    return len(shape) >= len(wanted) and shape[len(shape) - len(wanted) :] == tuple(wanted) and bias.size == outputs
