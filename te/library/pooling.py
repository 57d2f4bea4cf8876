"""The largest and the mean element of windows of images."""

from __future__ import annotations

from collections.abc import Sequence

from ...lazy_dataclass import dataclass
from .. import dtypes, ops
from ..expr import Axis, Const, Expr, TEError, binary, const
from ..tensor import Dim, Tensor, reduce_axis
from .shapes import Indices, pair, require_float, require_number, stage, window_count
from .windows import PIXEL_LAYOUTS, padded_image, positions, require_rank

_AXIS_NAMES = {"N": "n", "C": "c", "H": "oh", "W": "ow"}


@dataclass(frozen=True)
class _Direction:
    """The windows along one dimension of the image. Sizes are in elements."""

    dim: int
    size: Dim
    window: int
    stride: int
    dilation: int
    before: int
    after: int
    count: Dim


@dataclass(frozen=True)
class _Windows:
    """The windows of a pooling op: its two directions, result shape and axes."""

    name: str
    x: Tensor
    height: _Direction
    width: _Direction
    shape: tuple[Dim, ...]
    names: list[str]
    axes: tuple[Axis, ...]

    @property
    def padding(self) -> tuple[int, ...]:
        return (self.height.before, self.width.before, self.height.after, self.width.after)

    def padded(self, value: Const) -> Tensor:
        """Returns the input surrounded by `value`."""
        return padded_image(f"{self.name}_pad", self.x, self.height.dim, self.width.dim, self.padding, value)

    def element(self, image: Tensor, indices: Indices) -> Expr:
        """Returns the element of the padded image under window `indices` and the reduce axes."""
        source = list(indices)
        for direction, axis in zip((self.height, self.width), self.axes, strict=True):
            source[direction.dim] = indices[direction.dim] * direction.stride + axis * direction.dilation
        return image[tuple(source)]


def _windows(
    name: str,
    x: Tensor,
    pool_size: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    layout: str,
) -> _Windows:
    require_rank(name, x, 4)
    at = positions(name, "layout", layout, PIXEL_LAYOUTS)
    window = pair(name, "pool_size", pool_size)
    stride = pair(name, "strides", strides)
    step = pair(name, "dilation", dilation)
    border = pair(name, "padding", padding, 4)
    directions: list[_Direction] = []
    for k, dim in enumerate((at["H"], at["W"])):
        before, after = border[k], border[k + 2]
        if window[k] < 1:
            raise TEError(f"{name}: pool_size is {window[k]}, expected at least 1")
        if max(before, after) >= step[k] * (window[k] - 1) + 1:
            raise TEError(f"{name}: padding {max(before, after)} is not less than the window of {window[k]}")
        count = window_count(name, x.shape[dim], window[k], stride[k], step[k], before, after)
        directions.append(_Direction(dim, x.shape[dim], window[k], stride[k], step[k], before, after, count))
    shape = list(x.shape)
    for direction in directions:
        shape[direction.dim] = direction.count
    names = [_AXIS_NAMES[letter] for letter in layout]
    axes = (reduce_axis(window[0], "kh"), reduce_axis(window[1], "kw"))
    return _Windows(name, x, directions[0], directions[1], tuple(shape), names, axes)


def max_pool2d(
    x: Tensor,
    pool_size: Sequence[int],
    strides: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0, 0, 0),
    dilation: Sequence[int] = (1, 1),
    layout: str = "NCHW",
) -> Tensor:
    """The largest element of each window, or NaN if it holds one. Padding `[top, left, bottom, right]` never wins."""
    require_number("max_pool2d", x)
    windows = _windows("max_pool2d", x, pool_size, strides, padding, dilation, layout)
    image = windows.padded(ops.lowest(x.dtype))
    return stage("max_pool2d", windows.shape, lambda i: ops.max(windows.element(image, i), windows.axes), windows.names)


def _counted(direction: _Direction, index: Expr) -> Expr | int:
    """
    Returns how many elements of the window at `index` lie in the image.

    These are the taps t with `0 <= index * stride - before + t * dilation < size`, that is `ceil((before - index *
    stride) / dilation) <= t < ceil((size + before - index * stride) / dilation)`.
    """
    if direction.before == direction.after == 0:
        return direction.window
    start, round_up = index * direction.stride, direction.dilation - 1
    low = (const(direction.before + round_up, "index") - start) // direction.dilation
    high = (direction.size + (direction.before + round_up) - start) // direction.dilation
    first = binary("max", low, 0) if direction.before else const(0, "index")
    return binary("min", high, direction.window) - first


def avg_pool2d(
    x: Tensor,
    pool_size: Sequence[int],
    strides: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0, 0, 0),
    dilation: Sequence[int] = (1, 1),
    layout: str = "NCHW",
    count_include_pad: bool = False,
) -> Tensor:
    """
    The sum of each window divided by the number of elements counted. These are the elements inside the image, or all
    elements with `count_include_pad`.
    """
    require_float("avg_pool2d", x)
    windows = _windows("avg_pool2d", x, pool_size, strides, padding, dilation, layout)
    acc = dtypes.accumulator(x.dtype)
    image = windows.padded(const(0, x.dtype))
    total = stage(
        "avg_pool2d_sum",
        windows.shape,
        lambda i: ops.sum(ops.cast(acc, windows.element(image, i)), windows.axes),
        windows.names,
    )

    height, width = windows.height, windows.width
    if count_include_pad or not any(windows.padding):
        area = float(height.window * width.window)
        return stage(
            "avg_pool2d", windows.shape, lambda i: ops.cast(x.dtype, total[i] / const(area, acc)), windows.names
        )
    # A table for one image. It is read in rows, while whole numbers per element would be counted anew for each channel.
    areas = stage(
        "avg_pool2d_area",
        (height.count, width.count),
        lambda at: ops.cast(acc, _counted(height, at[0]) * _counted(width, at[1])),
        ("oh", "ow"),
    )

    def body(i: Indices) -> Expr:
        return ops.cast(x.dtype, total[i] / areas[i[height.dim], i[width.dim]])

    return stage("avg_pool2d", windows.shape, body, windows.names)
