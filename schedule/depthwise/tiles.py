"""
Chooses the register tiles of a depthwise convolution: how many rows and pixels each has, and the taps of the pixels.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import ceil, gcd, prod

from xdsl.dialects.builtin import i8
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.affine import linear_terms
from ...core.ir.element_types import element_bytes
from ...core.roles import TILING
from ...dialects.schedule import DepthwiseAttr
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ..kernels.given_tiling import refuse
from ..kernels.register_tiles import split_evenly
from .convolution import Depthwise

MOST_ROWS = 7
"""The most rows of a tile. More would save little, because few rows are read twice then."""

COST_OF_VARIANT = 0.05
COST_OF_VARIANT_NEAR_L3 = 0.005
"""
The share of the cost that another form of a tile must save, at a border or of another size. Its code is written out
too. (The first was measured on Sapphire Rapids, the second on Zen 5. Zen 4 takes the same tiles with up to
0.02.)
"""

CYCLES_OF_VARIANT = 130
"""
The cycles of all channels that another form of a tile must save beside that. Its code takes 5 to 20 ms to compile,
which small images do not bring in again.
"""

KEPT = 3
"""The registers beyond those that are counted, which the lowering of tiles and LLVM keep."""

KEPT_OF_32 = 5
"""The registers kept of 32. LLVM moves loads up as long as it believes that there is room (measured)."""

Tap = tuple[int, ...]


@dataclass(frozen=True)
class Segment:
    """
    Neighbouring pixels of a tile that have the same taps inside the image. It holds the first of them, from the left of
    the tile, and their number.
    """

    first: int
    count: int
    taps: frozenset[Tap]


Segments = tuple[Segment, ...]


class DepthwiseTiles:
    """The tiles of one depthwise convolution."""

    cycles_of_variant = CYCLES_OF_VARIANT

    def __init__(self, d: Depthwise, target: Machine):
        self.d = d
        self.c = d.c
        self.taps = d.taps()
        *self.outer, self.y = d.c.outer or (None,)
        self.columns = self._columns(target)
        assert d.c.m is not None
        self.runs = d.runs(d.c.m)
        self.vertical = self._vertical()
        self.rows, self.pixels = self._given(target) or self._shape(target)

    def _columns(self, target: Machine) -> int:
        """Returns the channels of a tile, which are those of a vector register."""
        return min(self.c.extent(self.c.n), target.lanes(self.d.element.size))  # pyright: ignore[reportAttributeAccessIssue]

    def _vertical(self) -> tuple[int, AffineExpr] | None:
        """Returns the dimension of the image that y moves in, and its index."""
        place = None if self.y is None else self.c.a.dimension_along(self.y)
        return None if place is None else (place[0], self.c.a.indices[place[0]])

    def _down(self, axis: int) -> int:
        """Returns the rows of the image per step of an axis."""
        return self._terms_down.get(AffineDimExpr(axis), 0)

    @cached_property
    def _terms_down(self) -> Mapping[AffineExpr, int]:
        return {} if self.vertical is None else linear_terms(self.vertical[1])[0]

    def _across(self, axis: int) -> int:
        """Returns the pixels of a row of the image per step of an axis."""
        return self._terms_across.get(AffineDimExpr(axis), 0)

    @cached_property
    def _terms_across(self) -> Mapping[AffineExpr, int]:
        assert self.c.m is not None
        place = self.c.a.dimension_along(self.c.m)
        assert place is not None
        return linear_terms(self.c.a.indices[place[0]])[0]

    def _given(self, target: Machine) -> tuple[int, int] | None:
        """Returns the rows and pixels of a tile that the block asks for. Fails at the block where they do not fit."""
        found = self.c.block.attributes.get(TILING)
        if found is None:
            return None
        if not isinstance(found, DepthwiseAttr):
            refuse(self.c.block, found, "a depthwise convolution takes a #schedule.depthwise")
        shape = self.cut(*found.numbers)
        if shape[0] > self._most_rows():
            refuse(self.c.block, found, f"tiles have {self._most_rows()} rows at most")
        if shape not in self.legal_shapes(target):
            reason = (
                f"{shape[0]}x{shape[1]} pixels take {self._registers(*shape, target)} registers, too many for "
                f"'{target.name}'"
            )
            refuse(self.c.block, found, reason)
        return shape

    def cut(self, rows: int, pixels: int) -> tuple[int, int]:
        """Returns a tile cut to the image."""
        assert self.c.m is not None
        return min(rows, self.c.extent(self.y)), min(pixels, self.c.extent(self.c.m))

    def _most_rows(self) -> int:
        return MOST_ROWS if self.y is not None and self._down(self.y) else 1

    def legal_shapes(self, target: Machine) -> list[tuple[int, int]]:
        """Returns the rows and pixels of the tiles that stay in registers."""
        registers = target.registers - (KEPT if target.registers < 32 else KEPT_OF_32)
        rows, pixels = self.cut(self._most_rows(), target.registers)
        return [
            (height, width)
            for height in range(1, rows + 1)
            for width in range(1, pixels + 1)
            if (height, width) == (1, 1) or self._registers(height, width, target) <= registers
        ]

    def _shape(self, target: Machine) -> tuple[int, int]:
        """Returns the rows and pixels of a tile that take the fewest cycles for an image and fit in registers."""
        choices = self.legal_shapes(target)
        if self._is_far(target):
            choices = [shape for shape in choices if shape[1] == 1]
        near = [shape for shape in choices if self._is_near(shape, target)]
        return min(near or choices, key=lambda shape: self.cost(shape, target))

    def _is_near(self, shape: tuple[int, int], target: Machine) -> bool:
        """Returns whether the lines that a tile reads stay in L1 until the next tile reads them."""
        return self._inputs(*shape)[0] + self._rows_written(shape[0], target) <= self._rows_near(target)

    def _rows_written(self, height: int, target: Machine) -> int:
        """
        Returns the rows of the result that count beside those of the image in L1, but for one.

        What is pushed out of L1 comes from L3 where that holds an image and its result and L2 does not. There all of
        them count (measured on a Zen 5: 128 channels of 56x56 take 1.03 to 1.09 times as long in 6x2 as in 5x2).
        """
        in_l3 = target.line_cycles > 1 and self._is_beyond_l2(target) and not self._is_far(target)
        return height - 1 if in_l3 else 0

    def _rows_near(self, target: Machine) -> int:
        """
        Returns the most rows of an image whose lines stay in L1 together.

        Lines of rows that are a multiple of a way of L1 apart go to one set, and push each other out once there are
        more of them than it holds beside one of the result (measured: 9 rows of 8 take 1.4 times as long).
        """
        if self.vertical is None:
            return target.registers
        sizes = self.c.a.type.get_shape()[self.vertical[0] + 1 :]
        apart = prod(sizes) * (element_bytes(self.c.a.type.element_type) or 1)
        sets = target.l1_way_bytes // gcd(apart, target.l1_way_bytes)
        return max(1, sets * (target.l1_ways - 1))

    def cost(self, shape: tuple[int, int], target: Machine) -> tuple[float, int]:
        """Returns the cycles for an image in tiles of a shape, then a number that decides between equals."""
        assert self.c.m is not None
        down = split_evenly(self.c.extent(self.y), shape[0])
        across = split_evenly(self.c.extent(self.c.m), shape[1])
        total = sum(m * n * self._cycles(height, width, target) for height, m in down for width, n in across)
        variants = len(down) * len(self._across_image(shape[1]))
        vectors = ceil(self.c.extent(self.c.n) / self.columns)
        share = self._cost_of_variant(target) + self.cycles_of_variant / (total * vectors)
        return total * (1 + share * variants), -shape[0] * shape[1]

    def _cost_of_variant(self, target: Machine) -> float:
        return COST_OF_VARIANT_NEAR_L3 if target.l3_is_near else COST_OF_VARIANT

    def _is_far(self, target: Machine) -> bool:
        """
        Returns whether image and result do not stay in L2, so that a tile is one pixel wide.

        Its reads of a row are then one stream of memory, since the other pixels have been read for the tile before. The
        processor does not recognise several streams by turns (measured). Where L3 is near, one image at a time counts
        (measured on Zen 4: 512 channels of 14x14, 8 images, in tiles of one pixel take 1.28 times as long).

        Where a line of L2 costs more than a cycle, what L3 holds is near (measured on a Zen 5: 32 to 256 channels of
        56x56 and 112x112 take 1.04 to 1.12 times as long in tiles of one pixel, and 0.88 times where they are beyond
        L3). But wider tiles have code for both borders, which takes some 40 ms to compile. So L3 is only near where
        there is a quarter of it or more to read and write.
        """
        if not target.l3_is_near:
            return self._bytes() > target.near_bytes
        if target.line_cycles > 1 and target.l3_bytes // 4 <= self._bytes() <= target.l3_bytes:
            return False
        return self._is_beyond_l2(target)

    def _is_beyond_l2(self, target: Machine) -> bool:
        """Returns whether L2 does not hold an image and its result."""
        images = prod(self.c.extents[axis] for axis in self.outer if axis is not None and not self._down(axis))
        return self._bytes() > images * target.l2_bytes

    def _bytes(self) -> int:
        """Returns the bytes of the images and results."""
        elements = sum(prod(each.type.get_shape()) for each in (self.c.a, self.c.out))
        return elements * (element_bytes(self.c.a.type.element_type) or 1)

    def _inputs(self, height: int, width: int) -> tuple[int, int]:
        """Returns the rows and columns of the image that a tile reads."""
        assert self.c.m is not None
        down, across, _ = self._reach
        stride = self._down(self.y) if self.y is not None else 0
        return (height - 1) * stride + down + 1, (width - 1) * self._across(self.c.m) + across + 1

    @cached_property
    def _reach(self) -> tuple[int, int, int]:
        """Returns how far down and across a tap reaches along one axis, and how many taps differ across."""
        places = [
            [(self._down(axis) * t, self._across(axis) * t) for axis, t in zip(self.d.reduce, tap, strict=True)]
            for tap in self.taps
        ]
        down = max(down for steps in places for down, _ in steps)
        return (
            down,
            max(across for steps in places for _, across in steps),
            len({tuple(across for _, across in steps) for steps in places}),
        )

    def _registers(self, height: int, width: int, target: Machine) -> int:
        """
        Returns the registers of a tile.

        They hold sums, a row of inputs, the weights that this row is multiplied by, and the products where they are not
        added at once.
        """
        kept = min(len(self.taps), self._reach[2] * height)
        return height * width + self._inputs(height, width)[1] + kept + (1 if target.fma else 4)

    def _cycles(self, height: int, width: int, target: Machine) -> float:
        """
        Returns the cycles of a tile: multiply-adds or loads, or the latency of a sum. Bytes that are loaded become
        integers and then floats.
        """
        added = height * width * len(self.taps) * (1 if target.fma else 2)
        rows, columns = self._inputs(height, width)
        loaded = rows * columns + len(self.taps)
        converted = 2 * loaded if self.c.a.type.element_type == i8 else 0
        work = max((added + converted) / target.multiply_adds, loaded / target.loads, len(self.taps) * target.latency)
        return work + self._lines_from_l2(height, width, target) * target.line_cycles

    def _lines_from_l2(self, height: int, width: int, target: Machine) -> int:
        """
        Returns the lines of inputs that a tile reads from L2.

        Tiles beside each other share some of their inputs. Those are in L1 still where that holds what a tile reads and
        writes of all channels, the weights among it. Where a line costs less than a cycle, that is not told apart.
        """
        assert self.c.m is not None
        rows, columns = self._inputs(height, width)
        line = self.c.extent(self.c.n) * (element_bytes(self.c.a.type.element_type) or 1)
        if target.line_cycles < 1 or (rows * columns + len(self.taps) + height * width) * line > target.l1_bytes:
            return rows * columns
        return rows * min(columns, width * self._across(self.c.m))

    def _across_image(self, most: int) -> list[tuple[int, int, int, Segments]]:
        """
        Returns the tiles side by side, each as its start, its pixels, the number with the same segments, and the
        segments.
        """
        found: list[tuple[int, int, int, Segments]] = []
        start = 0
        for size, number in split_evenly(self.c.extent(self.c.m), most):
            for _ in range(number):
                segments = self._segments(start, size)
                if found and found[-1][1] == size and found[-1][3] == segments:
                    found[-1] = (*found[-1][:2], found[-1][2] + 1, segments)
                else:
                    found.append((start, size, 1, segments))
                start += size
        return found

    def _segments(self, start: int, size: int) -> Segments:
        found: list[Segment] = []
        for run in self.runs:
            first, last = max(start, run.start), min(start + size, run.start + run.count)
            if first < last:
                found.append(Segment(first - start, last - first, run.taps))
        return tuple(found)
