"""
Chooses the register tile of a contraction: how many rows and columns of the result are summed up in registers at once.

The choice counts what an out-of-order core does per step of the sum. There is one multiply-add per register of the
tile, and one load per row and per vector of columns. The machine says how many of each begin in a cycle. A step takes
at least the latency of a multiply-add.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from operator import mul
from typing import NamedTuple

from ...dialects.tile.ops import LANES
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine

MOST_VECTORS = 8

DEPTH = 4
"""The most steps of the sum that one `tile.mma` writes out."""

IN_HALVES = (0.72, 0.59, 0.82)
"""
The cycles that a multiply-add, an element of a and an extended vector of b take of what they share where registers are
worked on in halves. Fitted to the times of five tiles on a Zen 4 (docs/decisions/037-small-floats-go-on-in-f32.md).
"""

EXTENSION = 0.5
"""
The multiply-adds that extending a vector of b takes the time of, where two begin in a cycle. With 8x48 and 13x32 sums
of 384 steps the second is 2.5 % faster on a Zen 5, and where nothing is extended they take the same time.
"""

COST_OF_FORM = 0.02
"""
The share of the cycles that a tile of another form at an edge must save, where it counts. Each form is code of its own,
and LLVM takes as long for it as for the others. (64 to 256 channels of 56x56 in tiles of 4x64 in place of 6x64 and
2x64, 8 images: 1.08 times as fast on a Zen 5, one image 1.03.)
"""

FEW_ROWS = 4
"""The most rows of tiles that wait for vectors of b."""

LONGEST_STEP = 1792
"""
The most bytes of b that one iteration of the loop of such a tile reads. Processors load ahead what an instruction will
read at equal distances, if these are below half a page. With 28 lines in an iteration, each takes 0.28 ns from L2 on a
Zen 5, and with 30 or more 0.47 (docs/decisions/041-lines-in-sets.md).
"""


class Words(NamedTuple):
    """What a group of bytes takes that is multiplied in 16 bits."""

    products: int
    """The instructions for a vector of sums, then those that extend a group of a, and a vector of groups of b."""
    left: int
    right: int
    registers: int
    """The registers of a vector of groups of b, then those of a group of a beside one."""
    more: int


IN_REGISTERS = Words(4, 2, 3, 2, 2)
"""Bytes are extended in registers: two products and two sums, and what gets every other byte."""

IN_MEMORY = Words(2, 0, 0, 1, 0)
"""Operands are pairs of 16 bits in memory: a product and a sum."""


@dataclass(frozen=True)
class RegisterTile:
    """A tile of rows by columns, in elements. The columns are whole vectors, except where the result is narrower."""

    rows: int
    columns: int


def steps_at_once(tile: RegisterTile, element_bytes: int, target: Machine, integers: bool = False) -> int:
    """
    Returns the steps of the sum that one `tile.mma` writes out: `DEPTH`, which saves most of the work of the loop, or
    one.

    Between the steps of one loop body LLVM moves sums to other registers and loads early. When registers are short,
    that spills to the stack. This happens where a product is several instructions. It also happens in tall tiles, where
    an element of a takes a register of its own and its one product ends in it, unless products take elements from
    memory. There one step at a time is as fast or faster (measured: floats 0 to 11 %, integers 0 to 3 %), as the loop
    is little work beside the instructions inside.

    Tiles of few rows wait for b, which the processor loads ahead where a loop goes on by less than half a page.
    """
    vectors = ceil(tile.columns / target.lanes(element_bytes))
    tall = tile.rows > 6 * vectors and not target.broadcasts
    if integers or not target.fma or tall:
        return 1
    return steps_that_stream(tile.rows, vectors * target.register_bytes, DEPTH)


def steps_that_stream(rows: int, step_bytes: int, steps: int) -> int:
    """
    Returns as many of `steps` as one iteration of a loop takes over `step_bytes` of b each: all of them, or fewer where
    the tile waits for b.
    """
    while waits_for_columns(rows) and steps > 1 and steps * step_bytes > LONGEST_STEP:
        steps //= 2
    return steps


def waits_for_columns(rows: int) -> bool:
    """Returns whether a tile has so few rows that its products wait for b, not for each other."""
    return rows <= FEW_ROWS


def temporaries(target: Machine, integers: bool = False) -> int:
    """
    Returns the registers beside sums and a row of b.

    They hold an element of a, and a product that is not added at once. For integers they hold widened operands too, and
    without FMA (SSE2) the halves of a product.
    """
    if integers:
        return 3 if target.fma else 4
    return 1 if target.fma else 2


def fits(
    rows: int, vectors: int, target: Machine, integers: bool = False, spare: int = 0, words: Words | None = None
) -> bool:
    """
    Returns whether a tile leaves room for the vectors of a row of b, `temporaries`, and `spare` registers.

    With 32 registers LLVM spills one register earlier than the count says. With three vectors or more, or elements of a
    in registers of their own, it spills two registers earlier. So it does with integers of one vector when they take
    half of the registers (all measured).
    """
    kept = 1 if target.registers < 32 else 2 if vectors < 3 and target.broadcasts else 3
    if integers and vectors == 1 and 2 * rows >= target.registers:
        return False
    of_b, more = (vectors, 0) if words is None else (vectors * words.registers, words.more)
    return rows * vectors + of_b + temporaries(target, integers) + more + spare <= target.registers - kept


def choose_tile(
    rows: int,
    columns: int,
    element_bytes: int,
    target: Machine,
    far: bool = False,
    integers: bool = False,
    tallest: int | None = None,
    spare: int = 0,
    extended: bool = False,
    words: Words | None = None,
    cost_of_form: float = 0.0,
) -> RegisterTile:
    """
    Returns the tile with the fewest cycles for a result of `rows` x `columns`. With `far` b does not stay in L2. With
    `integers` a product and a sum are several instructions on every target. `tallest` is the most rows of a tile, and
    `spare` registers are left to LLVM. With `extended`, vectors of b are extended as they are loaded, and elements of a
    are not. With `words`, groups of bytes are multiplied in 16 bits. Each form of a tile beside the first, as those at
    the edges, adds the part `cost_of_form` to the cycles.
    """
    fused = target.fma and not integers
    lanes = target.lanes(element_bytes)
    best: tuple[float, int, RegisterTile] | None = None
    for vectors in range(1, MOST_VECTORS + 1):
        if vectors > 1 and (vectors - 1) * lanes >= columns:
            break
        if not _is_cut_well(vectors * lanes):
            continue
        for most in range(1, target.registers if tallest is None else tallest + 1):
            if not fits(most, vectors, target, integers, spare, words):
                break
            height = ceil(rows / ceil(rows / most))
            down, across = split_evenly(rows, height), split_columns(columns, vectors * lanes)
            cost = sum(
                count * _cycles(each, width, lanes, target, far, fused, extended, words) * wide
                for each, count in down
                for width, wide in across
            )
            cost *= 1 + cost_of_form * (len(down) * len(across) - 1)
            cost = round(cost, 6)  # The same loads in another order are a tie.
            tile = RegisterTile(height, min(columns, vectors * lanes))
            if best is None or (cost, -most) < best[:2]:
                best = (cost, -most, tile)
    assert best is not None
    return best[2]


def _is_cut_well(columns: int) -> bool:
    """
    Returns whether the last of the pieces of 16 elements that a row is cut into fills its registers. LLVM rounds it up
    to a power of 2.
    """
    rest = columns % LANES
    return rest & (rest - 1) == 0


def _cycles(
    rows: int,
    columns: int,
    lanes: int,
    target: Machine,
    far: bool,
    fused: bool,
    extended: bool = False,
    words: Words | None = None,
) -> float:
    """
    Returns the cycles per step of the sum of one tile.

    A part of a cycle per load is added to the time of the units, as not all loads overlap (measured). Rows of a are
    many streams, and vectors of b come from L2 or from beyond. Where products and sums are separate instructions, so is
    the one that puts an element of a in all lanes. Extending vectors of b counts on machines where it was measured.
    """
    vectors = ceil(columns / lanes)
    instructions: float = rows * vectors if fused else 2 * rows * vectors + rows
    if extended and target.multiply_adds == 1:
        instructions = max(instructions, sum(map(mul, IN_HALVES, (rows * vectors, rows, vectors))))
    elif extended:
        instructions += EXTENSION * vectors
    elif words is not None:
        instructions = sum(map(mul, words[:3], (rows * vectors, rows, vectors)))
    delays = rows / 12 + vectors * (0.15 if far else 0.12)
    return max(instructions / target.multiply_adds, (rows + vectors) / target.loads, target.latency) + delays


def split_evenly(extent: int, most: int) -> list[tuple[int, int]]:
    """
    Returns `extent` in parts of at most `most` that differ by one at most, as (size, how many), the larger size first.
    """
    parts = ceil(extent / most)
    size, larger = divmod(extent, parts)
    split: Sequence[tuple[int, int]] = ((size + 1, larger), (size, parts - larger))
    return [(each, count) for each, count in split if count]


def split_columns(extent: int, width: int) -> list[tuple[int, int]]:
    """Returns `extent` in parts of `width` and a last, smaller one, as (size, how many)."""
    whole, rest = divmod(extent, width)
    return [(size, count) for size, count in ((width, whole), (rest, 1)) if size and count]
