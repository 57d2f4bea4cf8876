"""
Convolutions 3x3 of stride 1 by Winograd's minimal filtering F(2x2, 3x3): 16 products instead of 36 per four outputs.

With `d` a square of 4x4 inputs, `g` a filter of 3x3 and `*` elementwise, two by two outputs are
`A^T ((G g G^T) * (B^T d B)) A`, where

    B^T = 1  0 -1  0     G =  1    0    0     A^T = 1  1  1  0
          0  1  1  0         1/2  1/2  1/2          0  1 -1 -1
          0 -1  1  0         1/2 -1/2  1/2
          0  1  0 -1          0    0    1

Summed over the channels before the last step, `*` becomes 16 matrix products, squares x channels in x channels out.
Filters are transformed when the program is loaded. Sources: S. Winograd, "Arithmetic Complexity of Computations", SIAM,
1980, and A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, prod

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.affine import linear_terms
from ...analysis.divisors import divisors
from ...analysis.work import WORTH_SHARING
from ...core.ir.element_types import is_small_float
from ...dialects.tensor_loop import GridOp
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ..kernels.contraction import Contraction, Operand, alone
from ..kernels.padding import is_zero, without_copy
from ..kernels.register_tiles import DEPTH, RegisterTile, choose_tile, steps_at_once

SQUARE, OUTPUTS, TAPS = 4, 2, 3
"""The inputs, outputs and taps along an axis of a square."""

ENOUGH_SQUARES = 48
ENOUGH_NEAR_L3 = 24
"""
The least squares of a block. With fewer, reading the filters again for each block costs more than it saves. Where L3 is
near it costs less (measured on Zen 4: blocks of 28 squares take 0.92 to 0.98 of the time of 98).
"""

CYCLES_OF_TRANSFORM = 240
"""
The cycles that it takes to transform a vector of a square, one way, at one multiply-add per cycle (measured with all of
it in L2: 120 at two).
"""

MOST_PARTS = 16
"""The most parts that have working memory, however many cores there are."""

NANOSECONDS_OF_MULTIPLY_ADD = 1 / 60
"""The same number as in `analysis.work`."""

FAR_BYTES_PER_CYCLE = 8
"""The bytes of filters per cycle that come from beyond L2 (measured)."""


@dataclass(frozen=True)
class Winograd:
    """A convolution that can be computed so, with `c.a` the image without a padded copy."""

    c: Contraction
    batch: int | None
    """The axis of the images. The other axes but these have extent 1."""
    y: int
    ky: int
    kx: int
    pad: GridOp | None = None
    """The grid that makes a padded copy, which is not needed."""

    @property
    def x(self) -> int:
        assert self.c.m is not None
        return self.c.m

    @property
    def images(self) -> int:
        return self.c.extent(self.batch)

    @property
    def squares(self) -> tuple[int, int]:
        """Returns the squares down and across an image."""
        return ceil(self.c.extents[self.y] / OUTPUTS), ceil(self.c.extents[self.x] / OUTPUTS)

    def inputs(self, axis: int) -> tuple[int, int, int]:
        """
        Returns the dimension of the image that y or x moves in, its size, and where the first square starts. The start
        is at most 0.
        """
        place = self.c.a.dimension_along(axis)
        assert place is not None
        return place[0], self.c.a.type.get_shape()[place[0]], linear_terms(self.c.a.indices[place[0]])[1]


@dataclass(frozen=True)
class Plan:
    """
    The squares that are worked on at once. Their inputs, transformed, and the products of those stay in the
    second-level cache.
    """

    images: int
    rows: int
    """The rows of squares. They are fewer than all rows only in a part of one image."""
    tile: RegisterTile
    parts: int = 1
    """The number of equal shares of the blocks, for as many threads. Each has its own working memory."""
    steps: int = DEPTH
    """The steps of the sum that one `tile.mma` of the products writes out."""


def winograd_of(c: Contraction) -> Winograd | None:
    """
    Returns the form of `c` for Winograd's filtering. It is `None` when `c` is no convolution of 3x3 with stride 1 whose
    sums are in single or double precision. Images and filters may be small floats.
    """
    types = {c.a.type.element_type, c.b.type.element_type} - {c.tile_element}
    if not isinstance(c.tile_element, Float32Type | Float64Type) or not is_zero(c.init):
        return None
    if len(types) > 1 or not all(map(is_small_float, types)):
        return None
    if len(c.reduce) != 2 or any(c.extents[axis] != TAPS for axis in c.reduce) or c.m is None:
        return None
    long = [axis for axis in c.outer if c.extents[axis] > 1]
    if not 1 <= len(long) <= 2 or any(axis in c.b.axes() for axis in c.outer):
        return None
    if c.a.stride_along(c.k) != 1 or not all(alone(c.a, c.k) and alone(c.b, axis) for axis in (*c.reduce, c.k, c.n)):
        return None
    *images, y = long
    pairs = [[r for r in c.reduce if _slides(c.a, axis, r)] for axis in (y, c.m)]
    if any(len(found) != 1 for found in pairs) or any(not alone(c.out, axis) for axis in (*long, c.m)):
        return None
    found = Winograd(c, images[0] if images else None, y, pairs[0][0], pairs[1][0])
    direct = _on_image(found)
    return direct if _is_plain(direct) else None


def _slides(a: Operand, axis: int, tap: int) -> bool:
    """
    Returns whether `axis` and `tap` move in the same dimension, which nothing else moves in, one element at a time.
    """
    for index in a.indices:
        if axis in index.used_dims():
            terms, _ = linear_terms(index)
            return terms == {AffineDimExpr(axis): 1, AffineDimExpr(tap): 1}
    return False


def _on_image(w: Winograd) -> Winograd:
    """Returns `w` on the image itself where it reads a padded copy."""
    direct, grid = without_copy(w.c)
    return w if grid is None else replace(w, c=direct, pad=grid)


def _is_plain(w: Winograd) -> bool:
    """Returns whether the elements outside the image are zero, and lie above, below, left and right only."""
    c = w.c
    if c.a.padding is not None and not is_zero(c.a.padding):
        return False
    if not (_slides(c.a, w.y, w.ky) and _slides(c.a, w.x, w.kx) and alone(c.a, c.k)):
        return False
    for axis in (w.y, w.x):
        _, size, start = w.inputs(axis)
        if start > 0 or start <= -SQUARE or c.a.padding is None and c.extents[axis] + TAPS - 1 + start > size:
            return False
    others = [index for index in c.a.indices if not index.used_dims() & {w.y, w.x}]
    expected = {AffineDimExpr(c.k), *([] if w.batch is None else [AffineDimExpr(w.batch)])}
    return all(index in expected or _is_zero_or_unit(c, index) for index in others)


def _is_zero_or_unit(c: Contraction, index: AffineExpr) -> bool:
    """Returns whether an index is always 0, either as that number or as an axis of extent 1."""
    if isinstance(index, AffineDimExpr):
        return c.extents[index.position] == 1
    return linear_terms(index) == ({}, 0)


# Plan


def plan_winograd(w: Winograd, target: Machine) -> Plan | None:
    """
    Returns as many squares at once as fit half of the second-level cache, but enough to use the filters well, which are
    read once per block. Returns `None` where the convolution itself takes fewer cycles.
    """
    size = w.c.tile_element.size  # pyright: ignore[reportAttributeAccessIssue]
    return best_plan(w, target) if _pays(w, target.lanes(size), size, target) else None


def best_plan(w: Winograd, target: Machine) -> Plan:
    """
    Returns the best plan, whether the convolution itself takes fewer cycles or not.

    Where no block with enough squares stays in L2 and L3 is near, larger blocks read the filters less often (measured
    on a Zen 5: 512 channels of 7x7, 8 images, take 0.92 of the time in blocks of four images, and 0.87 all at once).
    """
    c = w.c
    size = c.tile_element.size  # pyright: ignore[reportAttributeAccessIssue]
    across = w.squares[1]
    of_row = SQUARE**2 * across * (c.extent(c.k) + c.extent(c.n)) * size
    choices = blocks_of(w)
    fitting = [choice for choice in choices if prod(choice) * of_row <= target.l2_bytes // 2]
    least = ENOUGH_NEAR_L3 if target.l3_is_near else ENOUGH_SQUARES
    enough = [choice for choice in choices if prod(choice) * across >= least]
    most = _most_parts(w, target)
    filters = SQUARE**2 * c.extent(c.k) * c.extent(c.n) * size
    near = [choice for choice in enough if prod(choice) * of_row < filters // 2] if target.l3_is_near else []
    candidates = [choice for choice in fitting if choice in enough] or [
        max([*fitting[-1:], *(enough[:1] or choices[-1:])], key=prod),
        *near,
    ]
    images, rows = max(candidates, key=lambda choice: (_parts(w, choice, most), prod(choice)))
    chosen = choose_tile(images * rows * across, c.extent(c.n), size, target)
    steps = steps_at_once(chosen, size, target)
    return Plan(images, rows, chosen, _parts(w, (images, rows), most), steps)


def blocks_of(w: Winograd) -> list[tuple[int, int]]:
    """
    Returns the blocks of squares that can be worked on at once, as (images, rows). They are equal parts of one image,
    or equal parts of the images.
    """
    down = w.squares[0]
    parts = [(1, rows) for rows in divisors(down)]
    return parts + [(images, down) for images in divisors(w.images)[1:]]


def shares_of(w: Winograd, block: tuple[int, int], target: Machine) -> int:
    """Returns the number of parts in which blocks with these numbers of images and rows are shared."""
    return _parts(w, block, _most_parts(w, target))


def _most_parts(w: Winograd, target: Machine) -> int:
    """Returns one part per core where the work is worth sharing."""
    c = w.c
    added = w.images * prod(w.squares) * SQUARE**2 * c.extent(c.k) * c.extent(c.n)
    return min(target.cores, MOST_PARTS) if added * NANOSECONDS_OF_MULTIPLY_ADD >= WORTH_SHARING else 1


def _parts(w: Winograd, block: tuple[int, int], most: int) -> int:
    """
    Returns the parts of the images, else of the rows, in which blocks with these numbers of images and rows can be
    shared.
    """
    images, rows = w.images // block[0], w.squares[0] // block[1]
    shared = images if images > 1 else rows
    return max(parts for parts in range(1, most + 1) if shared % parts == 0)


def _pays(w: Winograd, lanes: int, size: int, target: Machine) -> bool:
    """
    Returns whether this takes fewer cycles than the convolution itself.

    It counts multiply-adds and transforms, or the filters that come from beyond the second-level
    cache if those take longer. Filters of small floats are wider when they are transformed.
    """
    depth, vectors = w.c.extent(w.c.k), ceil(w.c.extent(w.c.n) / lanes)
    squares = w.images * prod(w.squares)
    outputs = w.images * w.c.extents[w.y] * w.c.extents[w.x]

    def cycles(products: int, transforms: int, taps: int, size: int) -> float:
        streamed = taps * depth * w.c.extent(w.c.n) * size
        far = streamed / FAR_BYTES_PER_CYCLE if streamed > target.l2_bytes // 2 else 0
        return max((products * depth * vectors + transforms * CYCLES_OF_TRANSFORM) / target.multiply_adds, far)

    as_given = w.c.b.type.element_type.size  # pyright: ignore[reportAttributeAccessIssue]
    direct = cycles(outputs * TAPS**2, 0, TAPS**2, as_given)
    return cycles(squares * SQUARE**2, squares * (ceil(depth / lanes) + vectors), SQUARE**2, size) < direct


def filters_type(w: Winograd, plan: Plan) -> list[int]:
    """Returns the shape of the transformed filters: place in the square, panel, channel in, channel out."""
    panels = ceil(w.c.extent(w.c.n) / plan.tile.columns)
    return [SQUARE**2, panels, w.c.extent(w.c.k), plan.tile.columns]
