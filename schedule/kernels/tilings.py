"""Cuts contractions into register tiles, panels and parts, by the rules of docs/targets.md."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import ceil, prod

from xdsl.dialects.builtin import Float16Type, IntegerType, bf16, f16, f32

from ...core.ir.element_types import is_small_float
from ...lazy_dataclass import dataclass
from ...machine.machine import LINE_BYTES, Machine
from .contraction import Contraction
from .register_tiles import COST_OF_FORM, DEPTH, RegisterTile, choose_tile, steps_at_once

BLOCK_DEPTH = 1024
"""The most steps of the sum between reloads of a tile, twice as many of small floats. A panel has at most 256 KiB."""

MANY_ROWS = 192
"""
The rows from which it pays to extend panels of f16 before all tiles. A vector that is extended and stored takes the
time of about three multiply-adds (measured on a Zen 4: 120 rows take 4 % more time, 196 rows 2 % less).
"""

CONVERTED_ROWS = 10
"""
The most rows of a tile where a is f16, which is converted several steps at a time. With more, products wait for that
(measured: 10 rows take 6 % more time than in f32, 12 rows 27 %, 13 rows 50 %).
"""

SPARE_OF_PAIRS = 1
"""
The registers that are left to LLVM where b is in pairs and elements of a take a register of their own. It loads words
of the next pair early, and spills sums otherwise (measured with AVX2: 6x16 sums take 1.0 to 1.5 times as long as 5x16).
"""

FEW_SWEEPS = 4
MANY_SWEEPS = 20
"""
The numbers of tiles of rows that read b from which one panel at a time pays, and from which it pays to copy any b into
panels. For a large b the machine says that (`sweeps_in_place`).
"""

MOST_L2_IN_PLACE = 4
"""The most bytes of b, as multiples of L2, of which a machine may say that it is read where it lies."""

SPREAD_LINES = 256
"""The rows of b whose lines L1 holds together if they are spread over its sets."""


@dataclass(frozen=True)
class Tiling:
    """The register tiles, panels and parts that a contraction is cut into."""

    tile: RegisterTile
    pack_b: bool = False
    """True where b is copied into panels as wide as the tile first."""
    depth_blocks: int = 1
    """The number of parts of k, which have the same size."""
    panels: int | None = None
    """The number of panels of b per block. `None` stands for all."""
    panels_outside: bool = False
    """
    True where the loop over panels is outside those over tiles of rows and over axes that b does not have. Each panel
    is then read once, and all of a for each.
    """
    steps: int = DEPTH
    """The steps of the sum that one `tile.mma` writes out."""
    lines_ahead: int = 0
    """The cache lines of the next panels of b that are prefetched in each iteration of the loop over k."""
    in_pairs: bool = False
    """True where panels that are made once have two steps of the sum side by side."""
    extended: bool = False
    """True where panels that are made once are extended to the precision of the sums before all tiles, in each call."""
    rows_ahead: bool = False
    """True where the rows of a that the next tile reads are prefetched, a part at each step of the loop over k."""


def choose_tiling(c: Contraction, prepacked: bool, target: Machine) -> Tiling:
    """
    Returns the default for one core of `target` (see docs/targets.md). `prepacked` means that b is in panels already.
    """
    bytes_per = c.tile_element.size  # pyright: ignore[reportAttributeAccessIssue]
    rows, columns, depth = c.extent(c.m), c.extent(c.n), c.extent(c.k)
    steps = depth * prod(c.extents[axis] for axis in c.reduce)
    b_bytes = columns * steps * bytes_per
    integers = isinstance(c.tile_element, IntegerType)
    converted = isinstance(c.a.type.element_type, Float16Type) and c.a.type.element_type != c.tile_element
    tallest = min(CONVERTED_ROWS if converted else target.registers, rows_near(c, target))
    spare = SPARE_OF_PAIRS if prepacked and not target.broadcasts and _may_be_in_pairs(c, target) else 0
    far = 2 * b_bytes > target.l2_bytes
    extended = _extends_as_loaded(c, prepacked, target)
    shared = [axis for axis in c.outer if axis not in c.b.axes()]
    form = COST_OF_FORM if has_several(c, shared) else 0.0
    chosen = choose_tile(rows, columns, bytes_per, target, far, integers, tallest, spare, extended, cost_of_form=form)
    sweeps = ceil(rows / chosen.rows) * prod(c.extents[axis] for axis in shared)
    strided = c.b.stride_along(c.n) != 1
    large = b_bytes >= target.pack_from_bytes
    pack = prepacked or strided or sweeps >= _sweeps_to_pack(c, b_bytes, target)
    narrow = bytes_per // c.b.type.element_type.size  # pyright: ignore[reportAttributeAccessIssue]
    least = ceil(depth / (BLOCK_DEPTH * max(narrow, 1)))
    blocks, panels = 1, None
    if not c.reduce and pack and rows > 2 * chosen.rows:
        blocks = next((count for count in range(least, 2 * least) if depth % count == 0), 1)
        panels = _panels_per_block(rows, depth // blocks * bytes_per, chosen.columns, target)
    elif large and not pack and sweeps >= FEW_SWEEPS:
        panels = 1  # Those columns stay near while the rows go by.
    near = steps * chosen.columns * bytes_per <= 2 * target.l1_bytes
    if any(c.extents[axis] > 1 for axis in shared):
        far = prod(c.a.type.get_shape()) * c.a.type.element_type.size > target.l2_bytes  # pyright: ignore[reportAttributeAccessIssue]
        outside = b_bytes > (target.l2_bytes // 2 if far and not near else target.a_bytes) or (
            prepacked and _is_batch_far(c, b_bytes, target)
        )
    else:
        once = sweeps <= FEW_SWEEPS or 2 * b_bytes > target.l2_bytes
        room = (
            2 * target.a_bytes if prepacked else target.a_bytes
        )  # b as it came is in L2 too while its panels are copied.
        outside = rows * (depth // blocks) * bytes_per <= room and (near or once)
    tiling = Tiling(chosen, pack, blocks, panels, outside, steps_of(c, chosen, target))
    tiling = replace(tiling, rows_ahead=rows_ahead(c, tiling, target))
    return with_panels(c, tiling, target) if prepacked else tiling


def _sweeps_to_pack(c: Contraction, b_bytes: int, target: Machine) -> int:
    """
    Returns the tiles of rows that read b from which copying it pays.

    One that is larger than L2 is read where it lies only if its rows are in many sets of the caches (measured on a
    Zen 5: rows of 1000 numbers 1.1 times as fast as copied, those of 1024 0.8).
    """
    if b_bytes < target.pack_from_bytes:
        return MANY_SWEEPS
    apart = (c.b.stride_along(c.k) or 0) * c.b.type.element_type.size  # pyright: ignore[reportAttributeAccessIssue]
    spread = target.lines_together(apart, SPREAD_LINES) == SPREAD_LINES
    most = (MOST_L2_IN_PLACE if spread else 1) * target.l2_bytes
    return FEW_SWEEPS if b_bytes > most else target.sweeps_in_place + 1


def has_several(c: Contraction, axes: Iterable[int]) -> bool:
    """Returns whether rows end again and again, as those of images do, along these axes."""
    return any(c.extents[axis] > 1 for axis in axes)


def with_panels(c: Contraction, tiling: Tiling, target: Machine) -> Tiling:
    """Returns `tiling` for a b that is in panels already."""
    depth = c.extent(c.k) // tiling.depth_blocks
    paired = _may_be_in_pairs(c, target) and depth % 2 == 0 and tiling.steps % 2 == 0
    extended = _extends_ahead(c, target)
    one_block = tiling.panels is None or tiling.panels * tiling.tile.columns >= c.extent(c.n)
    read_at_once = extended and one_block and not tiling.panels_outside
    ahead = 0 if read_at_once else lines_ahead(c, tiling, target)
    return replace(tiling, lines_ahead=ahead, in_pairs=paired, extended=extended)


def _extends_as_loaded(c: Contraction, prepacked: bool, target: Machine) -> bool:
    """Returns whether tiles extend vectors of b from f16 to f32, and take elements of a as they are."""
    types = (c.a.type.element_type, c.b.type.element_type, c.tile_element)
    return types == (f32, f16, f32) and not (prepacked and _extends_ahead(c, target))


def _extends_ahead(c: Contraction, target: Machine) -> bool:
    """
    Returns whether panels of f16 that are made once are extended before all tiles that read them.

    They are where so many rows read them that this takes less time than extending them for each tile of rows, and where
    they are no larger than L2.
    """
    if (c.b.type.element_type, c.tile_element) != (f16, f32) or any(axis in c.b.axes() for axis in c.outer):
        return False
    rows = c.extent(c.m) * prod(c.extents[axis] for axis in c.outer)
    steps = c.extent(c.k) * prod(c.extents[axis] for axis in c.reduce)
    return rows >= MANY_ROWS and steps * c.extent(c.n) * f32.size <= target.l2_bytes


def _may_be_in_pairs(c: Contraction, target: Machine) -> bool:
    """
    Returns whether steps of the sum may lie in pairs in panels of b, but for an odd step in the end.

    They do where b is bf16 and a vector of f32 is one instruction on words of two, but two on a row of bf16. That is
    so on x86-64.
    """
    types = (c.a.type.element_type, c.b.type.element_type, c.tile_element)
    return target.code_target.is_x86_64 and types == (bf16, bf16, f32)


def rows_near(c: Contraction, target: Machine) -> int:
    """
    Returns the most rows of a tile whose lines of a stay in L1 together.

    A line holds several steps of the sum of a row. Where rows are a multiple of a page apart, all their lines go to one
    set, and more of them than that holds come from L2 again at each step.
    """
    stride = None if c.m is None or c.a.stride_along(c.k) != 1 else c.a.stride_along(c.m)
    apart = (stride or 0) * c.a.type.element_type.size  # pyright: ignore[reportAttributeAccessIssue]
    if apart < LINE_BYTES:
        return target.registers
    return target.lines_together(apart, target.registers)


def _is_batch_far(c: Contraction, b_bytes: int, target: Machine) -> bool:
    """Returns whether there are several b, which do not stay in L2 together while other axes go by."""
    count = prod(c.extents[axis] for axis in c.outer if axis in c.b.axes())
    return count > 1 and count * b_bytes > target.near_bytes


def steps_of(c: Contraction, tile: RegisterTile, target: Machine) -> int:
    """Returns the steps of the sum of `c` that one `tile.mma` writes out."""
    bytes_per = c.tile_element.size  # pyright: ignore[reportAttributeAccessIssue]
    return steps_at_once(tile, bytes_per, target, isinstance(c.tile_element, IntegerType))


def _panels_per_block(rows: int, part_bytes: int, columns: int, target: Machine) -> int:
    """
    Returns how many panels stay in L2 with the part of b that they were copied from. Where a takes at most half of L2,
    it must stay there as well. `part_bytes` are the bytes of a part of k.
    """
    a_bytes = rows * part_bytes
    room = target.near_bytes - (a_bytes if 2 * a_bytes <= target.l2_bytes else 0)
    return max(1, room // (2 * columns * part_bytes))


def lines_ahead(c: Contraction, tiling: Tiling, target: Machine) -> int:
    """
    Returns how many lines the next tile is to prefetch, so that the tiles of rows together prefetch a whole panel.

    There are none where all of b stays in L2, or two panels do not, or one tile reads each. There are none either where
    the share of a tile in one step at a time is less than a line. Small floats count as those of the sums: the panels
    that they are extended to take the room, and weights of a model leave L2 between two calls however small they are.
    """
    bytes_per = c.b.type.element_type.size  # pyright: ignore[reportAttributeAccessIssue]
    bytes_near = c.tile_element.size if is_small_float(c.b.type.element_type) else bytes_per  # pyright: ignore
    tiles = ceil(c.extent(c.m) / tiling.tile.rows) * prod(c.extents[axis] for axis in c.outer)
    row_bytes = tiling.tile.columns * bytes_per
    column_bytes = bytes_near * prod(c.extents[axis] for axis in (c.k, *c.reduce))
    fits = 2 * column_bytes * tiling.tile.columns <= target.near_bytes
    if tiles == 1 or 2 * column_bytes * c.extent(c.n) <= target.l2_bytes or not fits:
        return 0
    if tiling.steps == 1 and row_bytes < tiles * LINE_BYTES:
        return 0
    return ceil(tiling.steps * row_bytes / LINE_BYTES / tiles)


def rows_ahead(c: Contraction, tiling: Tiling, target: Machine) -> bool:
    """
    Returns whether the rows of a that the next tile reads are to be prefetched.

    They are where a is far larger than L2, and `rows_follow`. The processor's own prefetching loses track of several
    rows read side by side.
    """
    bytes_per = c.a.type.element_type.size  # pyright: ignore[reportAttributeAccessIssue]
    return rows_follow(c, tiling) and bytes_per * prod(c.a.type.get_shape()) > 2 * target.l2_bytes


def rows_follow(c: Contraction, tiling: Tiling) -> bool:
    """Returns whether a tile of rows reads them once (one panel), and the rows of the next tile follow in memory."""
    one_panel = tiling.depth_blocks == 1 and c.extent(c.n) <= tiling.tile.columns
    once = all(c.extents[axis] == 1 for axis in c.reduce)
    if not one_panel or not once or c.m is None or c.a.padding is not None:
        return False
    return c.a.stride_along(c.k) == 1 and c.a.stride_along(c.m) == c.extent(c.k)
