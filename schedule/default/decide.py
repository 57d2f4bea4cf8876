"""
Decides how the grids of a loop function are scheduled, and why. Nothing is changed here but attributes of blocks: what
the kernels do with the decisions is in the families of kernels (docs/schedules.md).

A decision that a block has already is checked and kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import ceil

from xdsl.dialects.builtin import DictionaryAttr, IntegerType, StringAttr, bf16
from xdsl.ir import Attribute

from ...analysis.loop_nests import levels_of, perfect_block
from ...core.ir.answers import kept
from ...core.ir.walk import ops_of
from ...core.messages.diagnostics import fail
from ...core.roles import REASON, ROWS, ROWS_AT_ONCE, SHARE, TILING
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
from ...dialects.tensor_loop import BlockOp, GridOp
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ..bytes.amx_products import default_panels
from ..bytes.choose import is_byte_product, is_product_of_halves, on_tile_registers
from ..bytes.products import byte_tile
from ..depthwise.convolution import Depthwise
from ..depthwise.schedule import choose_depthwise
from ..grouped.spread import Spread
from ..grouped.spread_tiles import choose_spread
from ..kernels.contraction import Contraction
from ..kernels.epilogue import epilogue_of
from ..kernels.given_tiling import attribute_of, refuse, refuse_unfit, tiling_for, tiling_of
from ..kernels.tilings import Tiling
from ..packed.choose import choose_packed
from ..packed.product import PackedProduct
from ..primitives.nests import function_of
from ..products.tile_contraction import grids_taken_up
from ..products.transpose import LANES, Transpose, transpose_of
from .given_choices import attribute_of_plan, winograd_for
from .loop_order import choose_order, why_left_alone
from .scans import decide_scan, given_order

GIVEN = "the block asks for it"


@dataclass(frozen=True)
class Options:
    """What a plan is for."""

    target: Machine
    winograd: bool = True
    """False where Winograd's filtering, which rounds otherwise, is not allowed."""
    flush: str = "none"
    """One of `FLUSHED`: it tells which products of bf16 may take numbers below 2**-126 for zeros."""
    file: str = ""
    """The file of the rules that decide, empty for the shipped one."""


@dataclass(frozen=True)
class Decision:
    """The decision about one grid."""

    attribute: Attribute | None
    """What the block gets as `stepwell.tiling`, `None` where it is left alone."""
    reason: str
    epilogue: GridOp | None = None
    """The grid after it that is computed on its tiles."""
    pad: GridOp | None = None
    """The grid before it that makes a padded copy, which is not needed."""

    @property
    def plain(self) -> bool:
        """Returns whether nothing better than a plain loop nest was found."""
        return self.attribute is None or (isinstance(self.attribute, OrderAttr) and not self.attribute.vectorized.data)


@kept
def block_of(grid: GridOp) -> BlockOp | None:
    """
    Returns the block that the decision about a grid stands on: its only one, or the first of several. It is `None`
    where the grid holds no block but those of grids inside it, and where another kernel has taken it up.
    """
    if grid.parent is None:
        return None
    block = perfect_block(levels_of(grid))
    return block or next((each for each in ops_of(grid, BlockOp) if _grid_around(each) is grid), None)


def _grid_around(block: BlockOp) -> GridOp | None:
    """Returns the innermost grid around a block."""
    parent = block.parent_op()
    while parent is not None and not isinstance(parent, GridOp):
        parent = parent.parent_op()
    return parent


def chosen_for(grid: GridOp) -> Attribute | None:
    """Returns what is decided about a grid, `None` where nothing is."""
    block = block_of(grid)
    return None if block is None else block.attributes.get(TILING)


def decide_depthwise(d: Depthwise, options: Options) -> Decision:
    """Decides about a depthwise convolution. Fails at the block where its attribute does not fit."""
    epilogue = epilogue_of(d.c)
    given = TILING in d.c.block.attributes
    chosen = choose_depthwise(d, options.target)
    if isinstance(chosen, FlatRowsAttr):
        lanes = options.target.lanes(d.c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
        reason = f"{d.c.extent(d.c.n)} channels do not fill vectors of {lanes}, flattened rows do"
    else:
        rows, pixels = chosen.numbers
        reason = f"{rows}x{pixels} sums share the inputs and weights that are in registers"
    return Decision(chosen, GIVEN if given else reason, None if epilogue is None else epilogue.grid, d.pad)


def decide_shared(s: Spread, options: Options) -> Decision:
    """Decides about a grouped convolution whose groups share vectors. Fails where its attribute does not fit."""
    epilogue, given = epilogue_of(s.source), TILING in s.c.block.attributes
    chosen = choose_spread(s, options.target)
    rows, pixels = chosen.numbers
    reason = f"{s.columns(options.target) // s.outs} groups fill a vector, in {rows}x{pixels} sums"
    return Decision(chosen, GIVEN if given else reason, None if epilogue is None else epilogue.grid, s.d.pad)


def decide_product(c: Contraction, prepacked: bool, options: Options) -> Decision:
    """
    Decides about a product or convolution. `prepacked` tells that `prepack-weights` lays out its right operand. Fails
    at the block where its attribute does not fit.
    """
    given = c.block.attributes.get(TILING)
    if not options.winograd and isinstance(given, WinogradAttr):
        del c.block.attributes[TILING]  # The option says how results are rounded, which the schedule may not.
        given = None
    pairs = is_product_of_halves(c, options.target, prepacked, options.flush)  # Twice as fast as products of f32.
    found = winograd_for(c, options.target) if prepacked and options.winograd and not pairs else None
    if found is not None:
        w, plan = found
        reason = "16 products instead of 36 save more cycles than the transforms take"
        chosen, taken = attribute_of_plan(plan), epilogue_of(w.c)
        epilogue, pad = None if taken is None else taken.grid, w.pad
    elif is_byte_product(c, options.target, prepacked, options.flush):
        chosen, reason = _bytes(c, options.target)
        taken = epilogue_of(c)
        epilogue, pad = None if taken is None else taken.grid, None
        given = given if isinstance(given, DotsAttr | TileRegistersAttr) else None
    else:
        tiling = tiling_for(c, prepacked, options.target)
        if tiling.panels is not None and tiling.panels >= ceil(c.extent(c.n) / tiling.tile.columns):
            tiling = replace(tiling, panels=None)
        chosen, reason = attribute_of(tiling), _why_tiles(c, tiling, prepacked, options.target)
        epilogue, pad = grids_taken_up(c, tiling)
    return Decision(given or chosen, reason if given is None else GIVEN, epilogue, pad)


def decide_packed(p: PackedProduct, options: Options) -> Decision:
    """Decides about a product with packed weights. Fails at the block where its attribute does not fit."""
    given = TILING in p.c.block.attributes
    chosen, epilogue = choose_packed(p, options.target), epilogue_of(p.c)
    reason = f"weights of {p.bits} bits are unpacked in registers, sums of bytes are exact"
    if not chosen.parts.data:
        reason = f"weights of {p.bits} bits become floats a panel at a time, for {p.c.extent(p.c.m)} rows"
    return Decision(chosen, GIVEN if given else reason, None if epilogue is None else epilogue.grid)


def _bytes(c: Contraction, target: Machine) -> tuple[Attribute, str]:
    """Returns how a product of bytes or of bf16 is computed."""
    if on_tile_registers(c, target):
        return TileRegistersAttr.of(default_panels(c, target)), f"'{target.name}' has tile registers for it"
    tile = byte_tile(c, target)
    kind = "two bf16" if c.a.type.element_type == bf16 else "four bytes"
    return DotsAttr.of(tile.rows, tile.columns), f"'{target.name}' has dot products of {kind}"


def _why_tiles(c: Contraction, tiling: Tiling, prepacked: bool, target: Machine) -> str:
    tile, lanes = tiling.tile, target.lanes(c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
    vectors = tile.rows * ceil(tile.columns / lanes)
    kind = "integers" if isinstance(c.tile_element, IntegerType) else "sums"
    parts = [f"{tile.rows}x{tile.columns} {kind} take {vectors} of {target.registers} registers and the fewest cycles"]
    if prepacked:
        parts.append("b is laid out once")
    elif tiling.pack_b:
        parts.append("b is copied into panels, as many tiles read it or its columns are apart")
    else:
        parts.append("b is read where it lies, as few tiles read it")
    if tiling.depth_blocks > 1:
        parts.append(f"each of {tiling.depth_blocks} parts of a panel stays in a cache")
    return "; ".join(parts)


def check_side(t: Transpose, given: TransposeAttr) -> None:
    """Fails at the block of `t` where its columns of tiles cannot be cut up as its attribute says."""
    columns = t.extents[t.column] // LANES
    if columns % given.side.data:
        refuse(t.block, given, f"{given.side.data} tiles side by side do not divide the {columns} of a row")


def decide_order(grid: GridOp) -> Decision:
    """Decides about the loops of any other grid. Fails at the block where its attribute does not fit."""
    block, given = block_of(grid), chosen_for(grid)
    if isinstance(given, OrderAttr):
        given_order(grid, given)
        return Decision(given, GIVEN)
    if isinstance(given, TransposeAttr) and (turned := transpose_of(grid)) is not None:
        check_side(turned, given)
        return Decision(given, GIVEN)
    if block is not None and given is not None:
        refuse_unfit(block, given)
    order = choose_order(grid) or decide_scan(grid)
    if order is None:
        return Decision(None, why_left_alone(grid))
    return Decision(OrderAttr.of(order.numbers, order.vectorized), order.reason)


def write(block: BlockOp, name: str, value: Attribute | None, reason: str) -> None:
    """
    Writes a decision and its reason on a block. A decision that is there already, and did not come with a reason, gets
    one of its own.
    """
    reasons = _reasons(block)
    if value is not None:
        if block.attributes.get(name) == value:
            reason = reason_of(block, name)
        block.attributes[name] = value
    block.attributes.pop(REASON, None)  # The reasons are printed last.
    block.attributes[REASON] = DictionaryAttr({**reasons, name: StringAttr(reason)})


def _reasons(block: BlockOp) -> dict[str, Attribute]:
    """Returns the reasons that are on a block. Fails at the block where they are none."""
    found = block.attributes.get(REASON)
    if found is None:
        return {}
    if not isinstance(found, DictionaryAttr):
        fail(block, f"'{REASON}' is {found}, expected a dictionary of texts")
    return dict(found.data)


def reason_of(block: BlockOp, name: str) -> str:
    """Returns the reason of a decision."""
    found = _reasons(block).get(name)
    return found.data if isinstance(found, StringAttr) else GIVEN


@contextmanager
def handing_on(block: BlockOp) -> Iterator[None]:
    """
    Hands on what `block` says about rows and threads to the blocks that are made while it is cut up. Of those the first
    is the one that shares loops with what comes before.
    """
    share = block.attributes.get(SHARE)
    of_first = {name: block.attributes[name] for name in (ROWS, ROWS_AT_ONCE) if name in block.attributes}
    if share is None and not of_first:
        yield
        return
    function = function_of(block)
    before = set(ops_of(function, BlockOp))
    yield
    made = [each for each in ops_of(function, BlockOp) if each not in before]
    for each in made:
        if share is not None:
            each.attributes[SHARE] = share
    for each in made[:1]:
        each.attributes.update(of_first)


def described(attribute: Attribute | None) -> str:
    """Returns a decision in words for remarks."""
    match attribute:
        case None:
            return "left alone"
        case TilingAttr():
            tile = tiling_of(attribute).tile
            return f"tiles {tile.rows}x{tile.columns}"
        case DotsAttr():
            return f"dot products of bytes in tiles {attribute.rows.data}x{attribute.columns.data}"
        case PackedAttr() if not attribute.parts.data:
            return f"panels of floats in tiles {attribute.rows.data}x{attribute.columns.data}"
        case PackedAttr():
            return f"{attribute.parts.data} parts of 8 bits in tiles {attribute.rows.data}x{attribute.columns.data}"
        case TileRegistersAttr():
            return f"tile registers, {attribute.panels.data} panels at a time"
        case WinogradAttr():
            return f"Winograd's filtering in tiles {attribute.tile_rows.data}x{attribute.tile_columns.data}"
        case OrderAttr():
            kind = "vectorized loops" if attribute.vectorized.data else "a plain loop nest"
            return f"{kind} in order {list(attribute.numbers)}"
        case OnTilesAttr() | LeftOutAttr():
            kind = "on the tiles of" if isinstance(attribute, OnTilesAttr) else "left out by"
            return f'{kind} "{attribute.block.data}"'
        case DepthwiseAttr():
            return f"tiles of {attribute.rows.data}x{attribute.pixels.data} pixels"
        case TransposeAttr():
            return "tiles 16x16 that are turned"
        case FlatRowsAttr():
            return f"vectors of flattened rows, {attribute.rows.data} rows at a time"
        case _:
            return str(attribute)
