"""Reads the tilings that the IR requests, by `stepwell.tiling` of a block, in place of the rules of docs/targets.md."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import NoReturn

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from ...core.ir.walk import ops_of
from ...core.messages.diagnostics import fail
from ...core.roles import TILING
from ...dialects.schedule import (
    DepthwiseAttr,
    DotsAttr,
    FlatRowsAttr,
    LeftOutAttr,
    OnTilesAttr,
    OrderAttr,
    PackedAttr,
    TileRegistersAttr,
    TilingAttr,
    TransposeAttr,
    WinogradAttr,
)
from ...dialects.tensor_loop import BlockOp
from ...machine.machine import Machine
from .contraction import Contraction
from .register_tiles import RegisterTile, fits, temporaries
from .tilings import Tiling, choose_tiling, rows_follow, steps_of, with_panels

_UNFIT: dict[type, str] = {
    TilingAttr: "the block is no contraction that register tiles are made for",
    DepthwiseAttr: "the block is no depthwise convolution that register tiles are made for",
    WinogradAttr: "the block is no convolution of 3x3 with stride 1 whose filters are known when the program is loaded",
    DotsAttr: "the block is no product of bytes that the target has dot products for",
    PackedAttr: "the block is no product with packed weights that are known when the program is loaded",
    TileRegistersAttr: "the block is no product that tile registers of the target are made for",
    FlatRowsAttr: "the block is no depthwise convolution whose rows can be flattened",
    TransposeAttr: "the block is no copy that turns tiles of 16x16 elements",
    OrderAttr: "the block is alone in no grid whose iterations may be reordered",
    OnTilesAttr: "the block before it has no register tiles that it can be computed on",
    LeftOutAttr: "no block after it can read the image without its copy",
}
"""The reason why a block has no use for an attribute."""


def tiling_for(c: Contraction, prepacked: bool, target: Machine) -> Tiling:
    """Returns how `c` is cut up: as its block asks for, else as `choose_tiling` chooses."""
    given = given_tiling(c, prepacked, target)
    return choose_tiling(c, prepacked, target) if given is None else given


def given_tiling(c: Contraction, prepacked: bool, target: Machine) -> Tiling | None:
    """
    Returns the tiling that the block of `c` requests, or `None` where it requests none. Fails at the block where it
    does not fit.

    A tile larger than the result is cut to it. `prepacked` means that b is in panels already, whatever the block says.
    """
    found = c.block.attributes.get(TILING)
    if found is None:
        return None
    if type(found) in _UNFIT and not isinstance(found, TilingAttr):
        refuse_unfit(c.block, found)
    if not isinstance(found, TilingAttr):
        fail(c.block, f"'{TILING}' is {found}, expected a #schedule.tiling")
    reason = reason_against(tiling_of(found), c, prepacked, target)
    if reason is not None:
        refuse(c.block, found, reason)
    tiling = tiling_of(found)
    tile = RegisterTile(min(tiling.tile.rows, c.extent(c.m)), min(tiling.tile.columns, c.extent(c.n)))
    tiling = replace(tiling, tile=tile, pack_b=tiling.pack_b or prepacked, steps=steps_of(c, tile, target))
    return with_panels(c, tiling, target) if prepacked else tiling


def reason_against(tiling: Tiling, c: Contraction, prepacked: bool, target: Machine) -> str | None:
    """Returns why `c` cannot be cut up in that way for `target`, or `None` where it can."""
    rows, columns = min(tiling.tile.rows, c.extent(c.m)), min(tiling.tile.columns, c.extent(c.n))
    lanes = target.lanes(c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
    vectors = ceil(columns / lanes)
    if columns % lanes and columns < c.extent(c.n):
        return f"{columns} columns are no whole vectors of {lanes} elements"
    integers = isinstance(c.tile_element, IntegerType)
    if not fits(rows, vectors, target, integers):
        needed = rows * vectors + vectors + temporaries(target, integers)
        return (
            f"{rows}x{columns} elements take {needed} registers, too many for the {target.registers} of '{target.name}'"
        )
    if tiling.depth_blocks > 1 and c.reduce:
        return f"the sum is over {len(c.reduce) + 1} axes, parts are of sums over one"
    depth = c.extent(c.k)
    if depth % tiling.depth_blocks:
        return f"{tiling.depth_blocks} parts do not divide the {depth} steps of the sum"
    if not (tiling.pack_b or prepacked) and c.b.stride_along(c.n) != 1:
        return "the columns of b are not next to each other in memory, so it must be 'packed'"
    if tiling.rows_ahead and not rows_follow(c, tiling):
        return "the rows of a that the next tile reads do not follow in memory, so none are ahead"
    return None


def tiling_of(attribute: TilingAttr) -> Tiling:
    """Returns the tiling that an attribute describes."""
    return Tiling(
        RegisterTile(attribute.rows.data, attribute.columns.data),
        bool(attribute.packed.data),
        attribute.parts.data,
        attribute.panels.data or None,
        bool(attribute.panels_outside.data),
        rows_ahead=bool(attribute.rows_ahead.data),
    )


def attribute_of(tiling: Tiling) -> TilingAttr:
    """Returns the attribute of a tiling. It is the inverse of `tiling_of`."""
    return TilingAttr.of(
        tiling.tile.rows,
        tiling.tile.columns,
        tiling.pack_b,
        tiling.depth_blocks,
        tiling.panels,
        tiling.panels_outside,
        tiling.rows_ahead,
    )


def refuse_unused(root: Operation) -> None:
    """
    Fails at a block in `root` whose tiling nobody has used, because it is no contraction on register tiles. Blocks that
    only wait to be taken up by such a one come last.
    """
    left = [(op, op.attributes[TILING]) for op in ops_of(root, BlockOp) if TILING in op.attributes]
    for op, found in sorted(left, key=lambda each: isinstance(each[1], OnTilesAttr | LeftOutAttr)):
        refuse_unfit(op, found)


def refuse_unfit(block: BlockOp, found: object) -> NoReturn:
    """Fails at a block that is not of the kind that its attribute is for."""
    refuse(block, found, _UNFIT.get(type(found), _UNFIT[TilingAttr]))


def refuse(block: BlockOp, found: object, reason: str, attribute: str = TILING) -> NoReturn:
    """Fails at a block that cannot be scheduled as one of its attributes says."""
    fail(
        block,
        f"block \"{block.block_name.data}\" cannot have '{attribute}' = {found}: {reason}",
        hint="without the attribute the rules of docs/targets.md choose; docs/tuning.md says what fits",
    )
