"""Products summed over common axes: matrix product and convolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import dtypes, ops
from ..expr import Axis, Expr, TEError, const
from ..tensor import Dim, Tensor, reduce_axis
from .shapes import (
    ZERO,
    Indices,
    broadcast_indices,
    broadcast_shapes,
    elementwise,
    pair,
    require_number,
    require_same_type,
    same_dim,
    shape_text,
    stage,
    static_dim,
    window_count,
)
from .windows import PIXEL_LAYOUTS, padded_image, positions, require_rank


def _result_type(name: str, x: Tensor, y: Tensor, out_dtype: str | None) -> str:
    """
    Returns the element type of the result, that of the products without an `out_dtype`.

    Raises TEError when it is not of the same class as that of the products.
    """
    products = dtypes.product_type(x.dtype, y.dtype)
    result = out_dtype or products
    for group in (dtypes.FLOATS, dtypes.SIGNED, dtypes.UNSIGNED):
        if products in group and result not in group:
            raise TEError(
                f"{name}: out_dtype is {result}, expected one of {', '.join(group)} as the products are {products}"
            )
    return result


def sum_of_products(
    name: str,
    shape: Sequence[Dim],
    names: Sequence[str],
    axes: tuple[Axis, ...],
    factors: Callable[[Indices], tuple[Expr, Expr]],
    dtype: str,
) -> Tensor:
    """
    Returns `sum over axes of a * b`, computed in at least f32. When that type is not `dtype`, a second stage rounds.
    """
    acc = dtypes.accumulator(dtype)

    def body(indices: Indices) -> Expr:
        a, b = factors(indices)
        return ops.sum(ops.cast(acc, a) * ops.cast(acc, b), axis=axes)

    if acc == dtype:
        return stage(name, shape, body, names)
    total = stage(f"{name}_acc", shape, body, names)
    return elementwise(name, total, lambda value: ops.rounded(dtype, value))


def matmul(x: Tensor, y: Tensor, out_dtype: str | None = None) -> Tensor:
    """
    `sum_k x[…, m, k] * y[…, k, n]`. Leading dimensions broadcast. A 1-D operand is a row (lhs) or a column (rhs).

    Products and sums are formed in `out_dtype`, at least in f32. Floats of two types give f32, or f64 beside f64.
    Bytes with and without sign give i16.
    """
    require_number("matmul", x, y)
    if not dtypes.is_mixed_product(x.dtype, y.dtype):
        require_same_type("matmul", x, y)
    if x.rank == 0 or y.rank == 0:
        raise TEError("matmul: an operand has no dimensions, expected at least 1")
    k_of_y = y.shape[max(y.rank - 2, 0)]
    if isinstance(x.shape[-1], int) and isinstance(k_of_y, int) and not same_dim(x.shape[-1], k_of_y):
        raise TEError(
            f"matmul: shapes {shape_text(x.shape)} and {shape_text(y.shape)} disagree, K = {x.shape[-1]} against "
            f"{k_of_y}"
        )
    batch = broadcast_shapes("matmul", x.shape[:-2], y.shape[:-2])
    rows, columns = x.shape[-2:-1], y.shape[1:][-1:]
    k = reduce_axis(k_of_y if isinstance(k_of_y, int) else x.shape[-1], "k")

    def factors(indices: Indices) -> tuple[Expr, Expr]:
        outer, inner = indices[: len(batch)], indices[len(batch) :]
        row, column = inner[: len(rows)], inner[len(rows) :]
        x_indices = broadcast_indices(x.shape[:-2], batch, outer) + row + (k,)
        y_indices = broadcast_indices(y.shape[:-2], batch, outer) + (k,) + column
        return x[x_indices], y[y_indices]

    dtype = _result_type("matmul", x, y, out_dtype)
    names = [f"b{dim}" for dim in range(len(batch))] + ["m"] * len(rows) + ["n"] * len(columns)
    shape = batch + rows + columns
    return sum_of_products("matmul", shape, names, (k,), factors, dtype)


def conv2d(
    x: Tensor,
    w: Tensor,
    strides: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0, 0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_dtype: str | None = None,
) -> Tensor:
    """
    Cross-correlation of images with kernels. The image is padded by `padding = [top, left, bottom, right]` elements of
    zero.

    `y[n, o, h, w] = sum_{i, kh, kw} x[n, g(o) * I + i, h * sh + kh * dh - top, w * sw + kw * dw - left] * w[o, i, kh,
    kw]` where `g(o)` is the group of output channel o and I the number of input channels per group.

    Bytes with and without sign give i16, or as `out_dtype` says.
    """
    require_number("conv2d", x, w)
    if {x.dtype, w.dtype} != dtypes.BYTES:
        require_same_type("conv2d", x, w)
    require_rank("conv2d", x, 4)
    require_rank("conv2d", w, 4)
    dtype = _result_type("conv2d", x, w, out_dtype)
    data = positions("conv2d", "data_layout", data_layout, PIXEL_LAYOUTS)
    kernel = positions("conv2d", "kernel_layout", kernel_layout, ("OIHW", "HWIO"))
    stride_h, stride_w = pair("conv2d", "strides", strides)
    dilation_h, dilation_w = pair("conv2d", "dilation", dilation)
    top, left, bottom, right = pair("conv2d", "padding", padding, 4)
    sizes = {letter: static_dim("conv2d", w, dim) for letter, dim in kernel.items()}
    _check_channels(static_dim("conv2d", x, data["C"]), sizes["O"], sizes["I"], groups)
    result: dict[str, Dim] = {
        "N": x.shape[data["N"]],
        "C": sizes["O"],
        "H": window_count("conv2d", x.shape[data["H"]], sizes["H"], stride_h, dilation_h, top, bottom),
        "W": window_count("conv2d", x.shape[data["W"]], sizes["W"], stride_w, dilation_w, left, right),
    }
    image = padded_image("conv2d_pad", x, data["H"], data["W"], (top, left, bottom, right), const(0, x.dtype))
    axes = (reduce_axis(sizes["I"], "ci"), reduce_axis(sizes["H"], "kh"), reduce_axis(sizes["W"], "kw"))
    channels_per_group = sizes["O"] // groups

    def factors(indices: Indices) -> tuple[Expr, Expr]:
        at = dict(zip(data_layout, indices, strict=True))
        ci, kh, kw = axes
        first = at["C"] // channels_per_group * sizes["I"] if groups > 1 and channels_per_group else ZERO
        source = {
            "N": at["N"],
            "C": first + ci,
            "H": at["H"] * stride_h + kh * dilation_h,
            "W": at["W"] * stride_w + kw * dilation_w,
        }
        weight = {"O": at["C"], "I": ci, "H": kh, "W": kw}
        return image[tuple(source[letter] for letter in data_layout)], w[tuple(weight[c] for c in kernel_layout)]

    names = [{"N": "n", "C": "co", "H": "oh", "W": "ow"}[letter] for letter in data_layout]
    shape = [result[letter] for letter in data_layout]
    return sum_of_products("conv2d", shape, names, axes, factors, dtype)


def _check_channels(inputs: int, outputs: int, per_group: int, groups: int) -> None:
    if groups < 1 or inputs % groups or outputs % groups:
        raise TEError(f"conv2d: {groups} groups do not divide {inputs} input and {outputs} output channels")
    if inputs // groups != per_group:
        raise TEError(
            f"conv2d: the kernel has {per_group} input channels, expected {inputs // groups} = "
            f"{inputs} channels in {groups} groups"
        )
