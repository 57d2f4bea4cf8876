"""Cuts up products of bytes as the IR requests, by `stepwell.tiling` of a block (`kernels/given_tiling.py`)."""

from __future__ import annotations

from math import ceil

from xdsl.dialects.builtin import i32

from ...core.roles import TILING
from ...dialects.schedule import DotsAttr, TileRegistersAttr
from ...machine.machine import Machine
from ..kernels.contraction import Contraction
from ..kernels.given_tiling import refuse
from ..kernels.register_tiles import RegisterTile, fits
from .dots import words_of


def given_dots(c: Contraction, target: Machine) -> RegisterTile | None:
    """
    Returns the tile of sums in vector registers, or `None` where the block requests none. Fails at the block where it
    does not fit.
    """
    found = c.block.attributes.get(TILING)
    if not isinstance(found, DotsAttr):
        return None
    rows, columns = found.numbers
    tile = RegisterTile(min(rows, c.extent(c.m)), min(columns, c.extent(c.n)))
    reason = reason_against_dots(tile, c, target)
    if reason is not None:
        refuse(c.block, found, reason)
    return tile


def reason_against_dots(tile: RegisterTile, c: Contraction, target: Machine) -> str | None:
    """Returns why the sums of `c` cannot be kept in tiles of that size, or `None` where they can."""
    lanes = target.lanes(i32.size)
    if tile.columns % lanes and tile.columns < c.extent(c.n):
        return f"{tile.columns} columns are no whole vectors of {lanes} elements"
    if not fits(tile.rows, ceil(tile.columns / lanes), target, words=words_of(c, target)):
        return f"tiles of {tile.rows}x{tile.columns} sums take too many registers for '{target.name}'"
    return None


def given_panels(c: Contraction) -> int | None:
    """Returns the panels of a block on tile registers, or `None` where the block does not say."""
    found = c.block.attributes.get(TILING)
    return found.panels.data if isinstance(found, TileRegistersAttr) else None
