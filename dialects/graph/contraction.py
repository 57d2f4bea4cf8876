"""Ops that multiply and sum: matrix products and convolutions."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from ...core.messages.articles import with_article
from ...te.dtypes import product_type
from .base import NUMBERS, PureGraphOp, tensor_operand, tensor_result
from .element_types import CLASSES, class_text
from .normal_form import RESULT_TYPE
from .properties import INTEGER, IntegersKind, TextKind, optional_prop, prop
from .shapes import Dim, Shape, Shaped, ShapeError, matmul, rank_error, same_dim, windows


def result_dtype(left: str, right: str, out_dtype: str | None) -> str:
    """
    Returns `out_dtype`, or the type of products of the operands when it is absent.

    Raises `ShapeError` when the two are of different classes.
    """
    dtype = product_type(left, right)
    if out_dtype is None:
        return dtype
    letter = next(letter for letter, members in CLASSES.items() if dtype in members)
    if out_dtype not in CLASSES[letter]:
        wanted, operands = with_article(class_text(letter)), " and ".join(dict.fromkeys((left, right)))
        raise ShapeError(f"out_dtype is {out_dtype}, expected {wanted} type because the operands are {operands}")
    return out_dtype


@irdl_op_definition
class MatmulOp(PureGraphOp):
    """
    Computes the matrix product, `result[…, m, n] = sum over k of lhs[…, m, k] * rhs[…, k, n]`.

    Shapes: `lhs` is …xMxK, `rhs` is …xKxN and `result` is …xMxN. Leading dimensions broadcast. A 1-D `lhs` is a row and
    a 1-D `rhs` is a column, and the result lacks that dimension. K = 0 gives zeros.
    Operands of two float types, such as weights of f16 and a `lhs` of f32, give f32, or f64 if one of them is f64.
    Bytes with and without sign give i16, or as `out_dtype` says.
    Numerics: products and sums are formed in `out_dtype`, and in at least f32 for floats. The order of summation is
    unspecified. Integers wrap.

    ```mlir
    %c = graph.matmul %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %d = graph.matmul %i, %j, out_dtype = i32 : (tensor<4x8xi8>, tensor<8x16xi8>) -> tensor<4x16xi32>
    ```

    Source: the array API standard, `matmul`.
    """

    name = "graph.matmul"

    lhs = tensor_operand(NUMBERS)
    rhs = tensor_operand(NUMBERS, mixes=("floats", "bytes"))
    out_dtype = optional_prop(RESULT_TYPE)
    result = tensor_result()

    @classmethod
    def infer(cls, lhs: Shaped, rhs: Shaped, *, out_dtype: str | None) -> tuple[Shaped, ...]:
        dtype = result_dtype(lhs.dtype, rhs.dtype, out_dtype)
        return (Shaped(matmul(lhs.shape, rhs.shape), dtype),)


def batch_spatial_channels(shape: Shape, layout: str) -> tuple[Dim, tuple[Dim, Dim], Dim]:
    """Returns the batch, (height, width) and channels of an image tensor in `NCHW` or `NHWC`."""
    if layout == "NCHW":
        return shape[0], (shape[2], shape[3]), shape[1]
    return shape[0], (shape[1], shape[2]), shape[3]


def image_shape(batch: Dim, extents: tuple[Dim, Dim], channels: Dim, layout: str) -> Shape:
    """Returns the shape of an image tensor in `NCHW` or `NHWC`."""
    return (batch, channels, *extents) if layout == "NCHW" else (batch, *extents, channels)


@irdl_op_definition
class Conv2dOp(PureGraphOp):
    """
    Computes the cross-correlation of images with a bank of filters.

    In the layouts `NCHW` and `OIHW`, with `g = o / (O / groups)`:

    ```
    result[n, o, y, x] = sum over i, r, s of
        padded[n, g * I + i, y * stride_h + r * dilation_h, x * stride_w + s * dilation_w] * filter[o, i, r, s]
    ```

    Shapes: I is the number of input channels per group. Each extent of the result is
    `floor((size + before + after - dilation * (kernel - 1) - 1) / stride) + 1`.
    `padding` lists the numbers of zeros at the top, left, bottom and right.
    Numerics: as in `graph.matmul`. So are bytes with and without sign.

    ```mlir
    %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1] : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>)
        -> tensor<1x32x224x224xf32>
    ```
    """

    name = "graph.conv2d"

    data = tensor_operand(NUMBERS)
    filter = tensor_operand(NUMBERS, mixes=("bytes",))
    strides = prop(IntegersKind(2), [1, 1])
    padding = prop(IntegersKind(4), [0, 0, 0, 0])
    dilation = prop(IntegersKind(2), [1, 1])
    groups = prop(INTEGER, 1)
    data_layout = prop(TextKind(("NCHW", "NHWC")), "NCHW")
    kernel_layout = prop(TextKind(("OIHW", "HWIO")), "OIHW")
    out_dtype = optional_prop(RESULT_TYPE)
    result = tensor_result()

    @classmethod
    def infer(
        cls,
        data: Shaped,
        filter: Shaped,
        *,
        strides: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        groups: int,
        data_layout: str,
        kernel_layout: str,
        out_dtype: str | None,
    ) -> tuple[Shaped, ...]:
        for name, shaped, layout in (("data", data, data_layout), ("filter", filter, kernel_layout)):
            if len(shaped.shape) != 4:
                raise rank_error(name, shaped.shape, f"4 ({layout})")
        batch, extents, channels = batch_spatial_channels(data.shape, data_layout)
        if kernel_layout == "OIHW":
            out_channels, in_channels, *kernel = filter.shape
        else:
            *kernel, in_channels, out_channels = filter.shape
        check_groups(channels, in_channels, out_channels, groups)
        height_width = windows(extents, kernel, strides, padding, dilation)
        shape = image_shape(batch, height_width, out_channels, data_layout)
        return (Shaped(shape, result_dtype(data.dtype, filter.dtype, out_dtype)),)


def check_groups(channels: Dim, in_channels: Dim, out_channels: Dim, groups: int) -> None:
    """Raises `ShapeError` when the channels of data and filter do not divide into `groups`."""
    if groups < 1:
        raise ShapeError(f"groups is {groups}, expected at least 1")
    if out_channels is not None and out_channels % groups != 0:
        raise ShapeError(f"filter has {out_channels} output channels, which do not divide into {groups} groups")
    expected = None if in_channels is None else in_channels * groups
    times = "" if groups == 1 else f" in each of {groups} groups"
    same_dim(channels, expected, f"data has {channels} channels but filter takes {in_channels}{times}")
