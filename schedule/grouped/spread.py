"""
Grouped convolutions whose groups share vectors: `out[p, g * OUTS + o] += a[p + tap, g * INS + i] * b[tap, i, c]`, where
`c` is `g * OUTS + o` and at least two groups have room in a vector of results.

A vector holds the results of all channels of some groups. For each channel `i` of a group, the element of the image
that a group needs is spread over the lanes of the group (`tile.load ... repeat`) and multiplied by a vector of weights:

    lanes       g0o0 g0o1 g0o2 g0o3 g1o0 g1o1 ..
    image, i=1  g0i1 g0i1 g0i1 g0i1 g1i1 g1i1 ..

What remains is a depthwise convolution around which the channels of a group are a loop. So the register tiles are those
of a depthwise convolution (`depthwise/schedule.py`): a spread vector serves all taps and all rows of a tile.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.affine import linear_terms, normal_form
from ...core.roles import TILING
from ...dialects.schedule import DepthwiseAttr
from ...dialects.tensor_loop import GridOp
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ..depthwise.convolution import Depthwise, has_runs
from ..kernels.contraction import Contraction, Operand, contraction_of
from ..kernels.padding import is_zero, without_copy

MOST_TAPS = 32
"""The most taps of a window that are written out for each channel of a group."""


@dataclass(frozen=True)
class Spread:
    """
    A grouped convolution whose groups share vectors. In `d` the axis n runs through the channels of all groups, and
    the axis of the groups counts for nothing but the image.
    """

    source: Contraction
    """The contraction with a group as an axis, as it is in the IR."""
    d: Depthwise
    group: int
    """The axis of the groups."""
    ins: int
    """The channels of the image in a group."""
    outs: int
    """The channels of the result in a group."""

    @property
    def c(self) -> Contraction:
        return self.d.c

    def columns(self, target: Machine) -> int:
        """Returns the channels of a vector: those of as many whole groups as it has room for."""
        lanes = target.lanes(self.c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
        return min(lanes // self.outs * self.outs, self.c.extent(self.c.n))

    def whole(self, index: AffineExpr) -> AffineExpr:
        """Returns an index in which the axis n runs through the channels of all groups."""
        dims = [AffineDimExpr(axis) for axis in range(len(self.c.extents))]
        dims[self.group] = AffineExpr.constant(0)  # pyright: ignore[reportArgumentType, reportCallIssue]
        return normal_form(index.replace_dims_and_symbols(dims, ()))

    def whole_operand(self, operand: Operand) -> Operand:
        """Returns an operand whose axis n runs through the channels of all groups."""
        return replace(operand, indices=tuple(self.whole(index) for index in operand.indices))


def decide_spread(grid: GridOp, target: Machine) -> Spread | None:
    """Returns how `grid` is computed by vectors that groups share, or `None` where it is not."""
    c = contraction_of(grid)
    if c is None or c.m is None or not _is_window(c):
        return None
    if not isinstance(c.block.attributes.get(TILING), DepthwiseAttr | None):
        return None  # The block asks for a product per group.
    group = _group_axis(c)
    if group is None:
        return None
    ins, outs = c.extent(c.k), c.extent(c.n)
    lanes = target.lanes(c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
    if 2 * outs > lanes or not _moves(c):
        return None
    extents = tuple(
        outs * c.extents[group] if axis == c.n else 1 if axis == group else extent
        for axis, extent in enumerate(c.extents)
    )
    outer = tuple(axis for axis in c.outer if axis != group)
    found = Spread(c, Depthwise(replace(c, extents=extents, outer=outer)), group, ins, outs)
    whole = replace(found.c, b=found.whole_operand(c.b), out=found.whole_operand(c.out))
    direct, pad = without_copy(whole)
    if pad is not None and has_runs(Depthwise(direct, pad)):
        return replace(found, d=Depthwise(direct, pad))
    return replace(found, d=Depthwise(whole))


def _is_window(c: Contraction) -> bool:
    """Returns whether all operands are floats of one type, and the taps are few enough to be written out."""
    types = {operand.type.element_type for operand in (c.a, c.b, c.out)}
    padded = c.a.padding is None or is_zero(c.a.padding)
    taps = prod(c.extents[axis] for axis in c.reduce)
    return len(types) == 1 and isinstance(c.tile_element, AnyFloat) and padded and taps <= MOST_TAPS


def _group_axis(c: Contraction) -> int | None:
    """
    Returns the axis that chooses a group: `g * OUTS + n` in the result and in b, `g * INS + k` in a, and nothing else.
    """
    found = [axis for axis in c.outer if axis in c.b.axes() and c.extents[axis] > 1]
    if len(found) != 1:
        return None
    (group,) = found
    places = [(c.out, c.n), (c.b, c.n), (c.a, c.k)]
    for operand, inner in places:
        moving = [index for index in operand.indices if group in index.used_dims()]
        wanted = {AffineDimExpr(group): c.extent(inner), AffineDimExpr(inner): 1}
        if len(moving) != 1 or linear_terms(moving[0]) != (wanted, 0):
            return None
    return group


def _moves(c: Contraction) -> bool:
    """Returns whether the pixels of a tile are apart in the image and in the result, forwards, and not in b."""
    assert c.m is not None
    a, out = c.a.dimension_along(c.m), c.out.dimension_along(c.m)
    return a is not None and out is not None and a[1] > 0 and out[1] == 1 and c.a.stride_along(c.k) == 1
