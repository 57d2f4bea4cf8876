"""
Bias correction: what rounding the weights adds to the mean of each output is taken off again.

The mean of an output of a layer is off by the sum of the errors of its weights, each times the mean of what it
multiplies. Padding is taken for data: near borders the correction is a little too large.
Source: M. Nagel et al., Data-Free Quantization Through Weight Equalization and Bias Correction, ICCV 2019, section 4.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dialects.graph.base import plain_properties
from ...dialects.graph.binary import AddOp
from ...dialects.graph.contraction import Conv2dOp
from .constants import Constants
from .emitting import Place, hint_of
from .layers import Layer, shape_of
from .static import Choice

Array = np.ndarray[Any, Any]


def correction(layer: Layer, error: Array, means: Array) -> Array | None:
    """
    Returns what to add to each output channel or column for `error`, the weights less their rounded form.

    `means` has one number for each input channel, or element of a row. It is `None` for weights of more than two axes
    of a product.
    """
    wide = error.astype(np.float64)
    if not isinstance(layer.op, Conv2dOp):
        return means @ wide if wide.ndim == 2 else None
    properties = plain_properties(layer.op)
    layout, groups = properties["kernel_layout"], properties["groups"]
    sums = np.transpose(wide, [layout.index(name) for name in "OIHW"]).sum(axis=(2, 3))
    outputs, inputs = sums.shape
    by_group = sums.reshape(groups, outputs // groups, inputs)
    return np.einsum("goi,gi->go", by_group, means.reshape(groups, inputs)).reshape(outputs)


def correct(layer: Layer, amount: Array, constants: Constants, choose: Choice) -> None:
    """Adds `amount` to the channels of the result of a layer, in its bias where it has a constant one."""
    result = layer.op.results[0]
    amount = _along_channels(layer, amount)
    uses = list(result.uses)
    if len(uses) == 1 and isinstance(uses[0].operation, AddOp):
        add, number = uses[0].operation, 1 - uses[0].index
        bias = add.operands[number]
        known = constants.array(bias)
        if known is not None and bias is not result:
            place = Place.at(add)
            new = place.constant(_summed(known, amount), hint_of(bias, "corrected", "bias"))
            add.operands[number] = choose(layer, new, bias, place)
            return
    place = Place.after(result, layer.op)
    new = place.constant(amount.astype(np.float32), hint_of(result, "bias", "bias"))
    off = place.full(0.0, "f32", *amount.shape)
    add = AddOp(result, choose(layer, new, off, place))
    corrected = place.put(add, hint_of(result, "corrected", "result"))
    for use in uses:
        use.operation.operands[use.index] = corrected


def _summed(bias: Array, amount: Array) -> Array:
    return (bias.astype(np.float64) + amount).astype(bias.dtype)


def _along_channels(layer: Layer, amount: Array) -> Array:
    """Returns numbers of output channels in a shape that broadcasts against the result."""
    if not isinstance(layer.op, Conv2dOp):
        return amount
    rank = len(shape_of(layer.op.results[0]))
    axis = plain_properties(layer.op)["data_layout"].index("C")
    return amount.reshape([-1, *[1] * (rank - 1 - axis)])
