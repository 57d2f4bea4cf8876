"""
The register tile of a contraction: how many rows and columns of the result are summed up in registers at once.

Chosen by counting what an out-of-order core does per step of the sum: one multiply-add per register of the tile (two a cycle),
one load per row and per vector of columns (two a cycle), and at least the latency of a multiply-add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from .targets import X86_64_V4, Target

MOST_VECTORS = 8

PIECE = 16
"""Elements that the lowering of tiles puts in one value of LLVM."""


@dataclass(frozen=True)
class RegisterTile:
    """Rows by columns, in elements; the columns are whole vectors but where the result is narrower."""

    rows: int
    columns: int


def fits(rows: int, vectors: int, target: Target = X86_64_V4) -> bool:
    """
    Whether a tile leaves room for the vectors of a row of b and a broadcast element of a, and for products where they are
    not added at once. With 32 registers LLVM spills one register earlier than the count says, with three vectors or more
    two (measured).
    """
    kept = 1 if target.registers < 32 else 2 if vectors < 3 else 3
    return rows * vectors + vectors + (1 if target.fma else 4) <= target.registers - kept


def choose_tile(
    rows: int, columns: int, element_bytes: int, target: Target = X86_64_V4, far: bool = False
) -> RegisterTile:
    """The tile with the fewest cycles for a result of `rows` x `columns`; `far`: b does not stay in L2."""
    lanes = target.lanes(element_bytes)
    best: tuple[float, int, RegisterTile] | None = None
    for vectors in range(1, MOST_VECTORS + 1):
        if vectors > 1 and (vectors - 1) * lanes >= columns:
            break
        if not _is_cut_well(vectors * lanes):
            continue
        for most in range(1, target.registers):
            if not fits(most, vectors, target):
                break
            height = ceil(rows / ceil(rows / most))
            cost = sum(
                count * _cycles(each, width, lanes, target, far) * wide
                for each, count in split_evenly(rows, height)
                for width, wide in split_columns(columns, vectors * lanes)
            )
            cost = round(cost, 6)  # the same loads in another order are a tie
            tile = RegisterTile(height, min(columns, vectors * lanes))
            if best is None or (cost, -most) < best[:2]:
                best = (cost, -most, tile)
    assert best is not None
    return best[2]


def _is_cut_well(columns: int) -> bool:
    """Whether the last of the pieces of 16 elements that a row is cut into fills its registers: LLVM rounds it up to a power of 2."""
    rest = columns % PIECE
    return rest & (rest - 1) == 0


def _cycles(rows: int, columns: int, lanes: int, target: Target, far: bool) -> float:
    """
    Cycles per step of the sum of one tile. On top of what the units take comes a part of a cycle per load, as not all of that
    overlaps (measured): rows of a are many streams, vectors of b come from L2, or from beyond.
    """
    vectors = ceil(columns / lanes)
    instructions = rows * vectors * (1 if target.fma else 2)
    delays = rows / 12 + vectors * (0.15 if far else 0.12)
    return max(instructions / 2, (rows + vectors) / 2, target.latency) + delays


def split_evenly(extent: int, most: int) -> list[tuple[int, int]]:
    """`extent` in parts of at most `most` that differ by one at most, as (size, how many), the larger size first."""
    parts = ceil(extent / most)
    size, larger = divmod(extent, parts)
    split: Sequence[tuple[int, int]] = ((size + 1, larger), (size, parts - larger))
    return [(each, count) for each, count in split if count]


def split_columns(extent: int, width: int) -> list[tuple[int, int]]:
    """`extent` in parts of `width` and a last, smaller one, as (size, how many)."""
    whole, rest = divmod(extent, width)
    return [(size, count) for size, count in ((width, whole), (rest, 1)) if size and count]
