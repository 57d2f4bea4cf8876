"""Other legal choices than those of a plan, and choices that are not legal, for each kind of decision."""

from __future__ import annotations

from stepwell.core.roles import MAXIMUM, PREPACKED, REASON, ROWS, SHARE, STRIP, TILING
from stepwell.dialects.schedule import (
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
from stepwell.dialects.tensor_loop import BlockOp, GridOp
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute


def planned_blocks(module: ModuleOp) -> list[BlockOp]:
    """The blocks that a plan has decided about, in order."""
    return [op for op in module.walk() if isinstance(op, BlockOp) and REASON in op.attributes]


def in_order(block: BlockOp) -> OrderAttr:
    """The loops of the grid around a block in their order, without vectors."""
    grid = block.parent_op()
    assert isinstance(grid, GridOp), "a grid of several blocks has no decision"
    return OrderAttr.of(range(len(grid.variables)), False)


def other_choices(block: BlockOp) -> list[tuple[str, Attribute]]:
    """Other legal values of the decisions about a block, as (attribute, value)."""
    found: list[tuple[str, Attribute]] = []
    chosen = block.attributes.get(TILING)
    if chosen is not None and chosen != in_order(block):
        found.append((TILING, in_order(block)))
    other = _of_the_same_kind(chosen)
    if other is not None:
        found.append((TILING, other))
    if block.attributes.get(SHARE) is not None:
        found.append((SHARE, IntegerAttr(1 if block.attributes[SHARE] == IntegerAttr(0, i64) else 0, i64)))
    if block.attributes.get(ROWS) not in (None, IntegerAttr(0, i64)):
        found.append((ROWS, IntegerAttr(0, i64)))
    if block.attributes.get(STRIP) not in (None, IntegerAttr(0, i64)):
        found += [(STRIP, IntegerAttr(rows, i64)) for rows in (0, 2)]
    if MAXIMUM in block.attributes:
        found.append((MAXIMUM, StringAttr("none")))
    if block.attributes.get(PREPACKED) == BoolAttr.from_bool(True) and not isinstance(
        chosen, WinogradAttr | PackedAttr
    ):
        found.append((PREPACKED, BoolAttr.from_bool(False)))
    return found


def _of_the_same_kind(chosen: Attribute | None) -> Attribute | None:
    """The same kernel with other numbers."""
    match chosen:
        case TilingAttr():
            return TilingAttr.of(max(1, chosen.rows.data // 2), chosen.columns.data, True)
        case WinogradAttr():
            images, rows, tile_rows, tile_columns = chosen.numbers
            return WinogradAttr.of(images, rows, max(1, tile_rows // 2), tile_columns)
        case DepthwiseAttr() | FlatRowsAttr():
            return DepthwiseAttr.of(1, 2)
        case DotsAttr():
            return DotsAttr.of(max(1, chosen.rows.data // 2), chosen.columns.data)
        case PackedAttr():
            return PackedAttr.of(1, chosen.columns.data // 2, 4) if chosen.parts.data else PackedAttr.of(1, 4, 0)
        case TileRegistersAttr():
            return TileRegistersAttr.of(1)
        case TransposeAttr():
            return TransposeAttr.of(1)
        case _:
            return None


def illegal_choice(block: BlockOp) -> tuple[Attribute, str]:
    """A value of `stepwell.tiling` that does not fit a block, and a part of the reason."""
    chosen = block.attributes.get(TILING)
    match chosen:
        case TransposeAttr():
            return TransposeAttr.of(1009), "do not divide"
        case OrderAttr() | OnTilesAttr() | LeftOutAttr():
            return OrderAttr.of(range(9), False), "loops"
        case _:
            return TransposeAttr.of(1), "the block is no copy that turns tiles|takes it along in strips of"
