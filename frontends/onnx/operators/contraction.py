"""Matrix products, convolutions, pooling, and the normalisations of convolution nets."""

from __future__ import annotations

from typing import Any

from ..emitter import Emitter
from ..errors import ConversionError
from ..registry import converter, direct
from ..values import Value
from .windows import Window, window_of

direct("MatMul", "matmul", inputs=2)
direct("InstanceNormalization", "instance_norm", inputs=3, epsilon=("epsilon", 1e-5))


@converter("Gemm", since=7)
def gemm(
    b: Emitter,
    x: Value,
    y: Value,
    z: Value | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Value:
    """`alpha * op(x) @ op(y) + beta * z`."""
    lhs = b.permute_dims(x, axes=(1, 0)) if transA else x
    rhs = b.permute_dims(y, axes=(1, 0)) if transB else y
    product = b.matmul(lhs, rhs)
    if alpha != 1:
        product = b.multiply(product, scale(product, alpha))
    if z is None or beta == 0:
        return product
    return b.add(product, z if beta == 1 else b.multiply(z, scale(z, beta)))


def scale(value: Value, factor: float) -> float | int:
    """A factor that an attribute holds as a float, as a number of the element type of `value`."""
    return factor if value.dtype.startswith(("f", "b")) else int(factor)


@converter("Conv")
def conv(
    b: Emitter,
    x: Value,
    w: Value,
    bias: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Value:
    """Cross-correlation; of rank 3 as one of images of height 1."""
    window = window_of(x, w.shape[2:], auto_pad, dilations, kernel_shape, pads, strides)
    result = _conv(b, x, w, window, group)
    if bias is None:
        return result
    return b.add(result, b.reshape(bias, shape=(-1, *(1,) * (x.rank - 2))))


def _conv(b: Emitter, x: Value, w: Value, window: Window, groups: int) -> Value:
    if x.rank == 3:
        flat = _conv2d(b, b.expand_dims(x, axis=(2,)), b.expand_dims(w, axis=(2,)), window.flat(), groups)
        return b.squeeze(flat, axis=(2,))
    if x.rank == 4:
        return _conv2d(b, x, w, window, groups)
    raise ConversionError(f"the input is {x.shaped}, expected rank 3 or 4")


def _conv2d(b: Emitter, x: Value, w: Value, window: Window, groups: int) -> Value:
    return b.conv2d(
        x,
        w,
        strides=window.strides,
        padding=(*window.before, *window.after),
        dilation=window.dilations,
        groups=groups,
    )


@converter("BatchNormalization", since=9)
def batch_normalization(
    b: Emitter,
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
    """With the given mean and variance; those of the batch are for training."""
    if training_mode:
        raise ConversionError("training_mode is set, expected a model for inference")
    factor = b.divide(weight, b.sqrt(b.add(variance, epsilon)))
    offset = b.subtract(bias, b.multiply(mean, factor))
    shape = (-1, *(1,) * (x.rank - 2))
    if x.rank > 2:
        factor, offset = b.reshape(factor, shape=shape), b.reshape(offset, shape=shape)
    return b.add(b.multiply(x, factor), offset)


@converter("GlobalAveragePool")
def global_average_pool(b: Emitter, x: Value) -> Value:
    return b.mean(x, axis=tuple(range(2, x.rank)), keepdims=True)


@converter("GlobalMaxPool")
def global_max_pool(b: Emitter, x: Value) -> Value:
    return b.max(x, axis=tuple(range(2, x.rank)), keepdims=True)


@converter("LayerNormalization")
def layer_normalization(
    b: Emitter,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Any:
    """Along `axis` and what comes after it."""
    if b.output_count > 1:
        raise ConversionError("the outputs Mean and InvStdDev are not supported")
    axes = tuple(range(axis + x.rank if axis < 0 else axis, x.rank))
    shape = b.static_shape(x, "the input") if None not in x.shape else x.shape
    extents = tuple(shape[each] for each in axes)
    if None in extents:
        raise ConversionError(f"the input is {x.shaped}, expected the normalised extents to be known")
    if bias is None:
        bias = b.full(tuple(dim or 0 for dim in extents), 0.0, x.dtype)
    return b.layer_norm(x, weight, bias, axes=axes, epsilon=epsilon)
