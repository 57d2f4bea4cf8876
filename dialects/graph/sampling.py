"""Ops that read images between their elements, or in regions: along one axis, at points, in cells."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from .base import PureGraphOp, TemplateOp, tensor_operand, tensor_result
from .indexing import IndexingOp
from .normal_form import AXIS
from .properties import TextKind, prop
from .sampling_loops import pool_regions_loops
from .shapes import Shaped, ShapeError, compatible, normalise_axis, rank_error, same_dim, text

MODES = ("nearest", "linear", "cubic")
"""The ways in which the elements around a point are weighed."""

PADDINGS = ("zeros", "edge", "reflect", "symmetric")
"""
The kinds of values outside of the image. They are zeros, the border, or the mirror image about the centre or the outer
edge of the border.
"""


POOLINGS = ("sum", "max")
"""The ways in which the pixels of a cell are combined."""


@irdl_op_definition
class ResampleOp(PureGraphOp):
    """
    Computes a sparse linear map along `axis`,
    `result[…, i, …] = sum over t of weights[i, t] * operand[…, indices[i, t], …]`.

    Shapes: `indices` and `weights` are MxT, and T must be known at the latest when the op is lowered. M takes the place
    of the extent of `axis`. An index outside stands for the nearest one inside.
    Numerics: weights, products and sums are f32 for f16, bf16 and f32, and f64 for f64. The order of summation is
    unspecified.

    ```mlir
    %y = graph.resample %x, %i, %w, axis = 1 : (tensor<4x8xf32>, tensor<15x2xi64>, tensor<15x2xf32>) -> tensor<4x15xf32>
    ```
    """

    name = "graph.resample"

    operand = tensor_operand("F")
    indices = tensor_operand("S", "indices")
    weights = tensor_operand("F", "weights")
    axis = prop(AXIS)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, indices: Shaped, weights: Shaped, *, axis: int) -> tuple[Shaped, ...]:
        position = normalise_axis(axis, len(x.shape))
        for name, shaped in (("indices", indices), ("weights", weights)):
            if len(shaped.shape) != 2:
                raise rank_error(name, shaped.shape, "2")
        if not compatible(indices.shape, weights.shape):
            raise ShapeError(f"weights is {text(weights.shape)}, expected the shape {text(indices.shape)} of indices")
        count = indices.shape[0] if weights.shape[0] is None else weights.shape[0]
        if x.shape[position] == 0 and count != 0:
            raise ShapeError(f"axis {axis} of {text(x.shape)} has no elements, expected at least 1")
        return (Shaped((*x.shape[:position], count, *x.shape[position + 1 :]), x.dtype),)


@irdl_op_definition
class SampleOp(PureGraphOp):
    """
    Samples images at points, `result[n, c, p…] = sum over i… of w(points[n, p…, 0] - i0) * … * image[n, c, i…]`.

    `points` are measured in elements, dimension by dimension, and 0 is the centre of the first one. `mode` gives the
    weights w of a distance d. "nearest" takes the nearest element (half to even), "linear" is `1 - |d|`, and "cubic" is
    the convolution kernel with a = -0.75.

    `padding` gives what lies outside of the image. "zeros" gives zeros, and "edge" gives its border. "reflect" and
    "symmetric" give its mirror images, as in `numpy.pad`.

    Shapes: `operand` is NxCx…, with r spatial dimensions, `points` is Nx…xr, and `result` is NxCx….
    Numerics: f16, bf16 and f32 are computed in f32, and f64 in f64, also points and weights. Points beyond ±2^30 count
    as ±2^30. With "nearest" NaN is the element 0, and with the other modes it gives NaN.

    ```mlir
    %y = graph.sample %x, %p, padding = "edge" : (tensor<1x3x8x8xf32>, tensor<1x5x7x2xf32>) -> tensor<1x3x5x7xf32>
    ```
    """

    name = "graph.sample"

    operand = tensor_operand("F")
    points = tensor_operand("F", "points")
    mode = prop(TextKind(MODES), "linear")
    padding = prop(TextKind(PADDINGS), "zeros")
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, points: Shaped, *, mode: str, padding: str) -> tuple[Shaped, ...]:
        if len(x.shape) < 3:
            raise rank_error("operand", x.shape, "3 or more")
        if len(points.shape) < 2:
            raise rank_error("points", points.shape, "2 or more")
        rank = len(x.shape) - 2
        if points.shape[-1] not in (None, rank):
            raise ShapeError(
                f"points is {text(points.shape)}, expected its last extent to be {rank} for the operand {text(x.shape)}"
            )
        if not compatible(points.shape[:1], x.shape[:1]):
            raise ShapeError(f"points is {text(points.shape)} but the operand is {text(x.shape)}: the batches differ")
        if 0 in x.shape[2:]:
            raise ShapeError(f"the operand is {text(x.shape)}, expected its spatial extents to be at least 1")
        batch = points.shape[0] if x.shape[0] is None else x.shape[0]
        return (Shaped((batch, x.shape[1], *points.shape[1:-1]), x.dtype),)


@irdl_op_definition
class PoolRegionsOp(IndexingOp, TemplateOp):
    """
    Returns sums of pixels, weighted by their rows and columns, `result[r, p, q, c] = sum over h, w of rows[r, p, h] *
    columns[r, q, w] * operand[images[r], h, w, c]`. Region r has a grid of cells (p, q), and an image that it lies in.

    A pixel whose row or column has the weight 0 does not count, whatever it is. With `reduction = "max"` the result is
    the greatest pixel that counts, NaN if there is one, and 0 if there is none.

    Shapes: `operand` is `(N, H, W, C)`, `images` `(R)`, `rows` `(R, P, H)` and `columns` `(R, Q, W)`. The result is
    `(R, P, Q, C)`.
    A negative image counts from the end: the extent is added once.
    Fails: index out of range.

    The loops run over the rows and columns from the first to the last that counts, so small regions cost little.

    ```mlir
    %y = graph.pool_regions %x, %i, %h, %w : (tensor<2x9x9x8xf32>, tensor<5xi64>, tensor<5x3x9xf32>, tensor<5x2x9xf32>)
        -> tensor<5x3x2x8xf32>
    ```
    """

    name = "graph.pool_regions"

    operand = tensor_operand("F")
    images = tensor_operand("SU", "images")
    rows = tensor_operand("F", "rows")
    columns = tensor_operand("F", "columns")
    reduction = prop(TextKind(POOLINGS), "sum")
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, images: Shaped, rows: Shaped, columns: Shaped, *, reduction: str) -> tuple[Shaped, ...]:
        ranks = len(x.shape), len(images.shape), len(rows.shape), len(columns.shape)
        if ranks != (4, 1, 3, 3):
            raise ShapeError(f"operands have the ranks {', '.join(map(str, ranks))}, expected 4, 1, 3, 3")
        if x.dtype not in ("f32", "f64") or rows.dtype != x.dtype or columns.dtype != x.dtype:
            found = ", ".join(each.dtype for each in (x, rows, columns))
            raise ShapeError(f"operands have the element types {found}, expected f32 or f64 for all")
        regions = images.shape[0]
        for weights, size, name in ((rows, x.shape[1], "rows"), (columns, x.shape[2], "columns")):
            message = f"{name} is {text(weights.shape)}, but the operand is {text(x.shape)}"
            same_dim(weights.shape[2], size, message)
            message = f"{name} is {text(weights.shape)}, but images is {text(images.shape)}"
            regions = same_dim(weights.shape[0], regions, message)
        return (Shaped((regions, rows.shape[1], columns.shape[1], x.shape[3]), x.dtype),)

    def loop_function(self) -> str:
        return pool_regions_loops(self)
