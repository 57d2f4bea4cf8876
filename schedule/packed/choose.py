"""Chooses how products with packed weights are cut up, as their block asks for or else by the rules."""

from __future__ import annotations

from math import ceil

from ...core.roles import TILING
from ...dialects.schedule import PackedAttr
from ...dialects.tile.instructions import IN_STEPS, PMADDWD, VEX_VPMADDWD, VPMADDUBSW, VPMADDWD
from ...dialects.tile.mma import GROUP
from ...machine.machine import Machine
from ..kernels.given_tiling import refuse, refuse_unfit
from ..kernels.register_tiles import choose_tile, fits
from .instructions import instruction_for
from .panels import VECTORS
from .product import PackedProduct

PARTS = 3
"""The parts of a number by default: 22 bits of the greatest, about as many as f32 has."""

MOST_PARTS = 4

UNPACKING = 3
"""The instructions that make two vectors of numbers of one of bytes."""

IN_PIECES = 1.2
"""
What it costs to read a panel a piece at a time, in instructions, as lines of memory do not follow each other then.
Fitted to the times of ten tiles on a Zen 4.
"""

FEWEST_ROWS = {VPMADDUBSW: 8, VPMADDWD: 4, VEX_VPMADDWD: 2, PMADDWD: 2, None: 4}
"""
The fewest rows for which weights become floats, where that is ever faster: without dot products of bytes. Measured on a
Zen 5 with 2048x2048 weights of 4 and 8 bits; without any of these instructions (Arm) it is a guess.
"""

TALLEST = 6
"""The most rows of a tile by default."""

SPARE = 4
"""The registers for masks, a group of x and what LLVM needs."""

STEPWISE = 4
"""The registers beside those where a dot product takes several instructions (AVX2: LLVM spills sums with two less)."""


def registers_of(rows: int, vectors: int, parts: int, stepwise: bool) -> int:
    """
    Returns the registers that a tile takes: sums of each part and in all, and two halves of a row of weights.

    `stepwise` says that a dot product takes several instructions.
    """
    return (parts + 1) * rows * vectors + 2 * vectors + SPARE + stepwise * STEPWISE


def _cost(rows: int, vectors: int, parts: int) -> float:
    """Returns the instructions for a vector of groups and a row: dot products, the share of unpacking, and reading."""
    return 2 * parts + UNPACKING / rows + (vectors < VECTORS) * IN_PIECES


def _is_stepwise(p: PackedProduct, target: Machine) -> bool:
    return instruction_for(p.bits, target) in (None, *IN_STEPS)


def choose_packed(p: PackedProduct, target: Machine) -> PackedAttr:
    """
    Returns how `p` is cut up. Fails at the block where its attribute does not fit.

    Of the tiles that fit, the one with the fewest instructions for a group of weights is chosen.
    """
    found = p.c.block.attributes.get(TILING)
    if isinstance(found, PackedAttr):
        if (reason := reason_against(p, found, target)) is not None:
            refuse(p.c.block, found, reason)
        return found
    if found is not None:
        refuse_unfit(p.c.block, found)
    parts = PARTS if p.unit is None else 1
    rows, lanes, stepwise = p.c.extent(p.c.m), target.lanes(GROUP), _is_stepwise(p, target)
    if p.unit is None and rows >= FEWEST_ROWS.get(instruction_for(p.bits, target), rows + 1):
        tile = choose_tile(rows, p.c.extent(p.c.n), GROUP, target)
        return PackedAttr.of(tile.rows, tile.columns, 0)
    fitting = [
        (_cost(height, vectors, parts), -height * vectors, height, vectors)
        for most in range(1, min(rows, TALLEST) + 1)
        for vectors in (1, 2, VECTORS)
        if registers_of(most, vectors, parts, stepwise) <= target.registers
        for height in (ceil(rows / ceil(rows / most)),)
    ]
    *_, height, vectors = min(fitting, default=(0, 0, 1, 1))
    return PackedAttr.of(height, vectors * lanes, parts)


def reason_against(p: PackedProduct, chosen: PackedAttr, target: Machine) -> str | None:
    """Returns why `p` cannot be cut up in that way, or `None` where it can."""
    rows, columns, parts = chosen.numbers
    lanes = target.lanes(GROUP)
    if not parts:
        return _reason_against_floats(p, min(rows, p.c.extent(p.c.m)), columns, target)
    width = VECTORS * lanes
    if width % columns or columns % lanes:
        return f"{columns} columns are no whole vectors of {lanes} that divide a panel of {width}"
    if p.unit is not None and parts != 1:
        return f"numbers are rounded to 8 bits, so they have 1 part and not {parts}"
    if p.unit is None and not 2 <= parts <= MOST_PARTS:
        return f"a number has {parts} parts, expected 2 to {MOST_PARTS}, or 0 to make the weights floats"
    needed = registers_of(min(rows, p.c.extent(p.c.m)), columns // lanes, parts, _is_stepwise(p, target))
    if needed > target.registers and (rows, columns) != (1, lanes):
        return f"they take {needed} registers, too many for the {target.registers} of '{target.name}'"
    return None


def _reason_against_floats(p: PackedProduct, rows: int, columns: int, target: Machine) -> str | None:
    """Returns why the weights of `p` cannot be multiplied as floats in tiles of that size, or `None`."""
    if p.unit is not None:
        return "numbers are rounded to 8 bits, so they have 1 part and not 0"
    vectors = ceil(columns / target.lanes(GROUP))
    if not fits(rows, vectors, target) and (rows, vectors) != (1, 1):
        return f"tiles of {rows}x{columns} do not fit in the {target.registers} registers of '{target.name}'"
    return None
