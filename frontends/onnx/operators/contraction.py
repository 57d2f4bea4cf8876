"""Matrix products, convolutions, pooling."""

from __future__ import annotations

from ..emitter import Emitter
from ..errors import ConversionError
from ..registry import converter, direct
from ..values import Value
from .windows import Window, window_of

direct("MatMul", "matmul", inputs=2)


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


@converter("GlobalAveragePool")
def global_average_pool(b: Emitter, x: Value) -> Value:
    return b.mean(x, axis=tuple(range(2, x.rank)), keepdims=True)


@converter("GlobalMaxPool")
def global_max_pool(b: Emitter, x: Value) -> Value:
    return b.max(x, axis=tuple(range(2, x.rank)), keepdims=True)
