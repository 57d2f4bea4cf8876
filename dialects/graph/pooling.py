"""Pooling of images over windows."""

from __future__ import annotations

from abc import ABC
from typing import Any

from xdsl.irdl import irdl_op_definition

from .base import NUMBERS, PureGraphOp, tensor_operand, tensor_result
from .contraction import batch_spatial_channels, image_shape
from .properties import BOOL, IntegersKind, TextKind, prop
from .shapes import Shaped, ShapeError, rank_error, windows


class Pool2dOp(PureGraphOp, ABC):
    """
    An op that combines the windows of `pool_size` of the padded `operand`.

    `result[n, c, y, x]` combines the window at `(y * stride_h, x * stride_w)`.
    """

    pool_size = prop(IntegersKind(2))
    strides = prop(IntegersKind(2), [1, 1])
    padding = prop(IntegersKind(4), [0, 0, 0, 0])
    dilation = prop(IntegersKind(2), [1, 1])
    layout = prop(TextKind(("NCHW", "NHWC")), "NCHW")
    result = tensor_result()

    @classmethod
    def infer(
        cls,
        x: Shaped,
        *,
        pool_size: tuple[int, ...],
        strides: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        layout: str,
        **properties: Any,
    ) -> tuple[Shaped, ...]:
        if len(x.shape) != 4:
            raise rank_error("operand", x.shape, f"4 ({layout})")
        if min(pool_size) < 1:
            raise ShapeError(f"pool_size is [{pool_size[0]}, {pool_size[1]}], expected each at least 1")
        batch, extents, channels = batch_spatial_channels(x.shape, layout)
        height_width = windows(extents, pool_size, strides, padding, dilation)
        for side, width in enumerate(padding):
            reach = dilation[side % 2] * (pool_size[side % 2] - 1) + 1
            if width >= reach:
                what = ("height", "width")[side % 2]
                raise ShapeError(f"padding of {width} is not less than the window, whose {what} is {reach}")
        return (Shaped(image_shape(batch, height_width, channels, layout), x.dtype),)


@irdl_op_definition
class MaxPool2dOp(Pool2dOp):
    """
    Returns the greatest element of each window. Padding never wins.

    Shapes: each extent of the result is `floor((size + before + after - dilation * (pool_size - 1) - 1) / stride) + 1`.
    `padding` lists the widths at the top, left, bottom and right.
    Numerics: NaN wins, and -0 < +0.

    ```mlir
    %y = graph.max_pool2d %x, pool_size = [2, 2], strides = [2, 2] : (tensor<1x8x28x28xf32>) -> tensor<1x8x14x14xf32>
    ```
    """

    name = "graph.max_pool2d"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class AvgPool2dOp(Pool2dOp):
    """
    Computes the mean of each window, which is its sum divided by the number of its elements.

    The elements of the padding count only with `count_include_pad`.

    Shapes: as in `graph.max_pool2d`.
    Numerics: f16 and bf16 are accumulated in f32. The order of summation is unspecified.

    ```mlir
    %y = graph.avg_pool2d %x, pool_size = [2, 2], strides = [2, 2] : (tensor<1x8x28x28xf32>) -> tensor<1x8x14x14xf32>
    ```
    """

    name = "graph.avg_pool2d"

    operand = tensor_operand("F")
    count_include_pad = prop(BOOL, False)
