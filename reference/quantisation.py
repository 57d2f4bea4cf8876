"""Integers that stand for real numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .element_types import Array, convert, is_float, single_op_dtype
from .elementwise import Properties


def _spread(properties: Properties, values: Array, x: Array) -> Array:
    """Scales or zero points, one for each element of `x` or such that they broadcast against it."""
    if not values.ndim:
        return values
    axis = properties.get("axis", 1)
    if block_size := properties.get("block_size", 0):
        return np.take(values, np.arange(x.shape[axis]) // block_size, axis=axis)
    return np.moveaxis(values.reshape(-1, *[1] * (x.ndim - 1)), 0, axis)


def _quantize(properties: Properties, x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
    own = single_op_dtype(x.dtype)
    with np.errstate(all="ignore"):
        steps = convert(x.astype(own) / _spread(properties, scale, x).astype(own), x.dtype)
        return _saturated(steps, _spread(properties, zero_point, x))


def _requantize(properties: Properties, x: Array, multiplier: Array, zero_point: Array) -> tuple[Array, ...]:
    own = single_op_dtype(multiplier.dtype)
    with np.errstate(all="ignore"):
        steps = convert(x, multiplier.dtype).astype(own) * _spread(properties, multiplier, x).astype(own)
        return _saturated(convert(steps, multiplier.dtype), zero_point)


def _saturated(steps: Array, zero_point: Array) -> tuple[Array, ...]:
    """The numbers of steps that floats are, in the element type of the zero points."""
    own = single_op_dtype(steps.dtype)
    if is_float(zero_point.dtype):
        greatest = own.type(ml_dtypes.finfo(zero_point.dtype).max)
        total = steps.astype(own) + convert(zero_point, own)
        return (convert(np.clip(total, -greatest, greatest), zero_point.dtype),)
    return (convert(np.rint(steps.astype(own)) + convert(zero_point, own), zero_point.dtype),)


def _dequantize(properties: Properties, x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
    own = single_op_dtype(scale.dtype)
    with np.errstate(all="ignore"):
        steps = convert(x, own) - convert(_spread(properties, zero_point, x), own)
        return (convert(steps * _spread(properties, scale, x).astype(own), scale.dtype),)


def _matmul_packed(
    properties: Properties, x: Array, weights: Array, scale: Array, zero_point: Array
) -> tuple[Array, ...]:
    """Unpacks all weights, dequantises them, and multiplies."""
    block_size, own, dtype = properties.get("block_size", 32), single_op_dtype(x.dtype), x.dtype
    numbers = weights
    if properties.get("bits", 4) == 4:
        numbers = np.stack([weights & 15, weights >> 4], axis=-1).reshape(len(weights), -1)
    numbers = numbers[:, : x.shape[-1]].astype(own)
    blocks = np.arange(x.shape[-1]) // block_size
    with np.errstate(all="ignore"):
        if properties.get("rounded_bits", 0):
            parts = x.astype(own).reshape(*x.shape[:-1], x.shape[-1] // block_size, block_size)
            most = np.abs(parts).max(axis=-1, keepdims=True)
            inverse = np.where(most > 2.0**-100, own.type(127) / most, own.type(0))
            x = (np.rint(parts * inverse) * (most * own.type(1 / 127))).reshape(x.shape)
        zeros = zero_point.astype(own)
        real = (numbers - (zeros[:, blocks] if zeros.ndim else zeros)) * scale.astype(own)[:, blocks]
        return (convert(x.astype(own) @ real.T, dtype),)


OPS: dict[str, Any] = {
    "graph.quantize": _quantize,
    "graph.dequantize": _dequantize,
    "graph.requantize": _requantize,
    "graph.matmul_packed": _matmul_packed,
}
