"""Normalisations: of batches, layers, groups, and by norms."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of, product
from ..errors import ConversionError
from ..registry import converter, direct
from ..types import DTYPES
from ..value import Value
from .widening import rounded_once

direct("InstanceNormalization", "instance_norm", inputs=3, epsilon=("epsilon", 1e-5))


@converter("BatchNormalization", since=9)
def batch_normalization(
    b: GraphBuilder,
    x: Value,
    weight: Value,
    bias: Value,
    mean: Value,
    variance: Value,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> Any:
    """
    Normalises with the given mean and variance.

    With `training_mode` it takes those of the batch, and the given ones move towards them.
    """
    if training_mode:
        axes = tuple(axis for axis in range(x.rank) if axis != 1)
        old, mean = mean, b.mean(x, axis=axes)
        centred = b.subtract(x, b.reshape(mean, shape=(-1, *(1,) * (x.rank - 2))))
        past, variance = variance, b.mean(b.square(centred), axis=axes)
        moved = [
            b.add(b.multiply(before, momentum), b.multiply(now, 1 - momentum))
            for before, now in ((old, mean), (past, variance))
        ]
        return (_normalised(b, x, weight, bias, mean, variance, epsilon), *moved)
    return _normalised(b, x, weight, bias, mean, variance, epsilon)


@converter("BatchNormalization", since=7)
def batch_normalization_of_channels(
    b: GraphBuilder,
    x: Value,
    weight: Value,
    bias: Value,
    mean: Value,
    variance: Value,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
) -> Value:
    """Normalises for inference. `momentum` is for training, which is told from it by outputs that have names."""
    if spatial != 1:
        raise ConversionError(f"spatial is {spatial}, expected 1: a mean and a variance for each channel")
    return _normalised(b, x, weight, bias, mean, variance, epsilon)


def _normalised(
    b: GraphBuilder, x: Value, weight: Value, bias: Value, mean: Value, variance: Value, epsilon: float
) -> Value:
    factor = b.divide(weight, b.sqrt(b.add(variance, epsilon)))
    offset = b.subtract(bias, b.multiply(mean, factor))
    shape = (-1, *(1,) * (x.rank - 2))
    if x.rank > 2:
        factor, offset = b.reshape(factor, shape=shape), b.reshape(offset, shape=shape)
    return b.add(b.multiply(x, factor), offset)


# Along the last axes


def trailing_axes(x: Value, axis: int) -> tuple[int, ...]:
    """`axis` and what comes after it."""
    if not -x.rank <= axis < x.rank:
        raise ConversionError(f"axis is {axis}, expected one of {x.shaped}")
    return tuple(range(axis % x.rank, x.rank))


def parameter(b: GraphBuilder, x: Value, value: Value | None, axes: tuple[int, ...], default: float) -> Value:
    """Returns a scale or bias in the shape of the normalised axes. ONNX lets it be any that broadcasts to that."""
    extents = tuple(x.shape[axis] for axis in axes)
    if None in extents:
        raise ConversionError(f"the input is {x.shaped}, expected the normalised extents to be known")
    shape = tuple(extent or 0 for extent in extents)
    if value is None:
        return b.full(shape, default, x.dtype)
    result: Value = value if value.dtype == x.dtype else b.astype(value, dtype=x.dtype)
    surplus = result.rank - len(shape)
    if surplus > 0 and set(result.shape[:surplus]) == {1}:
        result = b.reshape(result, shape=tuple(dim or 0 for dim in result.shape[surplus:]))
    return result if result.shape == shape else b.broadcast_to(result, shape=shape)


@converter("LayerNormalization")
def layer_normalization(
    b: GraphBuilder,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> tuple[Value, ...]:
    """Normalises a layer. Mean and InvStdDev, of element type `stash_type`, are computed only when they have names."""
    axes = trailing_axes(x, axis)
    scale, shift = parameter(b, x, weight, axes, 1.0), parameter(b, x, bias, axes, 0.0)
    result = b.layer_norm(x, scale, shift, axes=axes, epsilon=epsilon)
    if not any(b.wanted[1:]):
        return (result,)
    return (result, *statistics(b, x, axes, epsilon, DTYPES.get(stash_type, "f32")))


def statistics(b: GraphBuilder, x: Value, axes: tuple[int, ...], epsilon: float, dtype: str) -> tuple[Value, Value]:
    """Returns the mean over `axes`, which stay, and 1 over the deviation, both of element type `dtype`."""
    wide = x if x.dtype == "f64" else b.astype(x, dtype="f32") if x.dtype != "f32" else x
    mean = b.mean(wide, axis=axes, keepdims=True)
    variance = b.mean(b.square(b.subtract(wide, mean)), axis=axes, keepdims=True)
    deviation = b.rsqrt(b.add(variance, epsilon))
    if wide.dtype == dtype:
        return mean, deviation
    return b.astype(mean, dtype=dtype), b.astype(deviation, dtype=dtype)


@converter("RMSNormalization")
def rms_normalization(
    b: GraphBuilder, x: Value, weight: Value, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Value:
    """Normalises as a layer does, without mean and bias."""
    axes = trailing_axes(x, axis)
    return b.rms_norm(x, parameter(b, x, weight, axes, 1.0), axes=axes, epsilon=epsilon)


# By groups of channels


@converter("GroupNormalization", since=18)
def group_normalization(
    b: GraphBuilder,
    x: Value,
    weight: Value,
    bias: Value,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Value:
    """
    Normalises groups of channels. Before version 21 scale and bias have one element for each group, which is repeated.
    """
    channels = x.shape[1]
    if channels is None or channels % num_groups:
        raise ConversionError(f"the input is {x.shaped}, expected channels in {num_groups} groups")
    if b.version < 21:
        shape = (num_groups, channels // num_groups)
        weight, bias = (
            b.reshape(b.broadcast_to(b.expand_dims(each, axis=(1,)), shape=shape), shape=(channels,))
            for each in (weight, bias)
        )
    return b.group_norm(x, weight, bias, num_groups=num_groups, epsilon=epsilon)


@converter("MeanVarianceNormalization")
@rounded_once
def mean_variance_normalization(b: GraphBuilder, x: Value, *, axes: tuple[int, ...] = (0, 2, 3)) -> Value:
    """
    Returns `(x - mean) / (deviation + 1e-9)`.

    Subtracting the square of the mean from that of `x` would cancel, so the deviation is that of `x - mean`.
    """
    centred = b.subtract(x, b.mean(x, axis=axes, keepdims=True))
    deviation = b.sqrt(b.mean(b.square(centred), axis=axes, keepdims=True))
    return b.divide(centred, b.add(deviation, 1e-9))


# By norms


@converter("LpNormalization")
@rounded_once
def lp_normalization(b: GraphBuilder, x: Value, *, axis: int = -1, p: int = 2) -> Value:
    """Divides `x` by its norm along `axis`. The result is 0 where the norm is 0."""
    match p:
        case 1:
            norm = b.sum(b.abs(x), axis=(axis,), keepdims=True)
        case 2:
            norm = b.sqrt(b.sum(b.square(x), axis=(axis,), keepdims=True))
        case _:
            raise ConversionError(f"p is {p}, expected 1 or 2")
    # the elements are 0 too: over 1 they stay 0
    return b.divide(x, b.where(b.equal(norm, 0.0), b.full((), 1.0, x.dtype), norm))


@converter("LRN")
@rounded_once
def lrn(b: GraphBuilder, x: Value, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Value:
    """
    `x / (bias + alpha / size * sum of squares of size channels around) ^ beta`.

    The sum over channels is `size` times an average pooling of images whose rows are the channels.
    """
    if x.rank < 2:
        raise ConversionError(f"the input is {x.shaped}, expected rank 2 or more")
    shape = extents_of(x)
    batch, channels, *spatial = shape
    images = reshaped(b, b.square(x), (batch, channels, 1, product(spatial)))
    mean = b.avg_pool2d(
        images,
        pool_size=(size, 1),
        padding=(floor((size - 1) / 2), 0, ceil((size - 1) / 2), 0),
        layout="NHWC",
        count_include_pad=True,
    )
    base = b.add(b.multiply(reshaped(b, mean, shape), alpha), bias)
    return b.divide(x, b.power(base, beta))
