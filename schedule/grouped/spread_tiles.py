"""Emits grouped convolutions whose groups share vectors (`spread.py`) as loops over register tiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, MemRefType, VectorType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...core.ir.element_types import element_bytes
from ...dialects import tile
from ...dialects.schedule import DepthwiseAttr
from ...machine.machine import LINE_BYTES, Machine
from ..depthwise.convolution import has_runs
from ..depthwise.schedule import DepthwiseNest
from ..depthwise.tiles import COST_OF_VARIANT, DepthwiseTiles, Segments, Tap
from ..kernels.contraction import Operand
from ..kernels.epilogue import Epilogue, epilogue_of, place_of, replace_grids
from ..kernels.padding import erase_with_buffers, padded_copy
from ..kernels.register_tiles import RegisterTile
from ..kernels.scheduled_nest import Index, ScheduledNest
from ..kernels.tilings import Tiling
from .spread import Spread

FEW_TAPS = 9
"""The most taps of which a tile keeps all weights in registers."""


def spread_panels(s: Spread, target: Machine) -> Tiling:
    """Returns how the weights lie in panels: as wide as a vector (`products/panels.py`)."""
    return Tiling(RegisterTile(1, s.columns(target)), pack_b=True)


def tile_spread(s: Spread, target: Machine, packed: SSAValue | None = None) -> None:
    """
    Replaces the grid of `s` by loops over register tiles. `packed` holds the weights in panels already
    (`spread_panels`).
    """
    block = Block()
    builder = ScheduledNest(block, s.c.block)
    source, epilogue = s.source, epilogue_of(s.source)
    s = _reading(builder, s)
    pad = s.d.pad
    SpreadNest(builder, s, _whole_epilogue(s, epilogue), target, packed).run()
    replace_grids(source, epilogue, block)
    if pad is not None:
        erase_with_buffers(pad)


def choose_spread(s: Spread, target: Machine) -> DepthwiseAttr:
    """
    Returns the sums of a tile of `s`: as its block asks for, else by the rules of docs/targets.md. Fails at the block
    where its attribute does not fit.
    """
    tiles = spread_tiles(s, target)
    return DepthwiseAttr.of(tiles.rows, tiles.pixels)


def spread_tiles(s: Spread, target: Machine) -> DepthwiseTiles:
    """Returns the tiles of `s`, with the others that fit. Fails at the block where its attribute does not fit."""
    scratch = Block()
    builder = ScheduledNest(scratch, s.c.block)
    nest = SpreadNest(builder, _reading(builder, s), None, target)
    for op in reversed(list(scratch.ops)):
        op.detach()
        op.erase()
    return nest


def _reading(builder: ScheduledNest, s: Spread) -> Spread:
    """Returns `s` on a padded copy of the image, which it emits, where elements outside cannot be left out."""
    if s.c.a.padding is None or has_runs(s.d):
        return s
    return replace(s, d=replace(s.d, c=replace(s.c, a=padded_copy(builder, s.c)), pad=None))


def _whole_epilogue(s: Spread, epilogue: Epilogue | None) -> Epilogue | None:
    """Returns an epilogue whose axis n runs through the channels of all groups."""
    if epilogue is None:
        return None
    loads: Mapping[Operation, Operand] = {op: s.whole_operand(operand) for op, operand in epilogue.loads.items()}
    return replace(epilogue, out=s.whole_operand(epilogue.out), loads=loads)


class SpreadNest(DepthwiseNest):
    """The loop nest of one grouped convolution whose groups share vectors."""

    cycles_of_variant = 0  # The loop over the channels of a group keeps its code short.

    def __init__(
        self,
        builder: ScheduledNest,
        s: Spread,
        epilogue: Epilogue | None,
        target: Machine,
        packed: SSAValue | None = None,
    ):
        self.s = s
        self.packed = packed
        self.registers = target.registers
        super().__init__(builder, s.d, epilogue, target)

    # The shape of tiles

    def _columns(self, target: Machine) -> int:
        return self.s.columns(target)

    def _is_far(self, target: Machine) -> bool:
        """
        Returns whether a tile is one pixel wide, as its reads of a row are one stream of memory then.

        There is enough work per pixel for the time that it takes to come from L3. From beyond, wider tiles take 1.1 to
        1.9 times as long, and each process another time (measured on a Zen 5: 8 images of 56x56 with 128 channels, or
        with 256 and stride 2). Where a line of L2 costs less than a cycle, that was not seen.
        """
        return target.line_cycles > 1 and self._bytes() > target.l3_bytes // 2

    def _rows_near(self, target: Machine) -> int:
        return target.registers if self._is_far(target) else super()._rows_near(target)

    def _rows_written(self, height: int, target: Machine) -> int:
        """Returns 0: with several products for each input there is time to read lines again (measured on a Zen 5)."""
        return 0

    def _registers(self, height: int, width: int, target: Machine) -> int:
        """
        Returns the registers of a tile.

        They hold sums, a row of inputs, weights, and what spreading takes. LLVM keeps the weights of all taps where
        they are few. Where they are many, it loads some again, which costs less than smaller tiles (measured). Of 16
        registers, a tile of one row keeps only the weights of a row of inputs.
        """
        few = len(self.taps) > FEW_TAPS or (height == 1 and target.registers < 32)
        weights = min(len(self.taps), self._reach[2] * height) if few else len(self.taps)
        return height * width + self._inputs(height, width)[1] + weights + (2 if target.fma else 5)

    def _cost_of_variant(self, target: Machine) -> float:
        return super()._cost_of_variant(target) if target.permutes_apart else COST_OF_VARIANT

    def _cycles(self, height: int, width: int, target: Machine) -> float:
        """
        Returns the cycles of a tile for a channel of a group. Spreading takes a unit that also multiplies, but on
        machines that have another one. In a tile of one row LLVM spreads inputs anew for each tap (measured).
        """
        rows, columns = self._inputs(height, width)
        products = height * width * len(self.taps)
        added = products * (1 if target.fma else 2)
        spread: float = 0 if not target.has_wide_registers else products if height == 1 else rows * columns
        if target.permutes_apart:
            spread /= 4
        loads = (rows * columns + len(self.taps)) / 2
        work = max((added + spread) / 2, loads, len(self.taps) * target.latency)
        if target.line_cycles <= 1:  # That is not told apart.
            return work
        again = 0 if self._is_far(target) else self._crowded(rows, columns, target)
        return work + (rows * columns / self.s.ins + again) * target.line_cycles

    def _crowded(self, rows: int, columns: int, target: Machine) -> int:
        """
        Returns the lines of inputs in sets of L1 that have no room for all of theirs. Each channel of a group reads
        them again.
        """
        image = self.c.a.type
        bytes_ = element_bytes(image.element_type) or 1
        if self.vertical is None:
            return 0
        below, beside = (prod(image.get_shape()[place:]) * bytes_ for place in (self.vertical[0] + 1, -1))
        places = (row * below + column * beside for row in range(rows) for column in range(columns))
        lines = Counter(place % target.l1_way_bytes // LINE_BYTES for place in places)
        return sum(count for count in lines.values() if count >= target.l1_ways)

    def _weights(self, at: dict[int, Index], taps: Iterable[Tap], type_: VectorType) -> Mapping[Tap, SSAValue]:
        """Returns the weights of a tile. Of 16 registers, those of a tile of one row are loaded where they are used."""
        if self.rows > 1 or self.registers == 32:
            return super()._weights(at, taps, type_)
        return _LoadedLate(lambda tap: super(SpreadNest, self)._weights(at, [tap], type_)[tap], list(taps))

    # Loops

    def _channels(self, panel: Index, first: int, width: int) -> dict[int, Index]:
        """Returns the first channel of a panel, and the first group."""
        builder, outs = self.builder, self.s.outs
        self.panel = builder.sum(panel, first // self.columns)
        group = builder.sum(builder.scaled(panel, width // outs), first // outs)
        return {**super()._channels(panel, first, width), self.s.group: group}

    def _add_window(
        self, at: dict[int, Index], corner: tuple[Index, Index], segments: Segments, totals: list[list[SSAValue]]
    ) -> None:
        """Emits the loop over the channels of a group, which carries all sums."""
        builder, c = self.builder, self.c
        if self.s.ins == 1:
            super()._add_window(at | {c.k: 0}, corner, segments, totals)
            return
        before = [total for sums in totals for total in sums]
        body = Block(arg_types=[IndexType(), *(total.type for total in before)])
        body.args[0].name_hint = "i"
        carried = _by_rows(body.args[1:], totals)
        with builder.inside(body):
            super()._add_window(at | {c.k: body.args[0]}, corner, segments, carried)
            builder.add(scf.YieldOp(*(total for sums in carried for total in sums)))
        first, last, by = (builder.value(number) for number in (0, self.s.ins, 1))
        loop = builder.add(scf.ForOp(first, last, by, before, Region(body)))
        for sums, made in zip(totals, _by_rows(loop.results, totals), strict=True):
            sums[:] = made

    # Operands

    def _load(self, operand: Operand, at: dict[int, Index], type_: VectorType) -> SSAValue:
        if operand is self.c.a:
            return self._load_image(at, type_)
        if operand is self.c.b and self.packed is not None:
            return self._load_packed(self.packed, at, type_)
        return super()._load(operand, at, type_)

    def _load_image(self, at: dict[int, Index], type_: VectorType) -> SSAValue:
        """Loads a channel of several groups at some pixels, each in the lanes of its group."""
        place = place_of(self.builder, self.c.a, at, self.c.m, self.c.k)
        steps = (place.by[0], self.s.ins)
        load = tile.LoadOp(place.buffer, place.indices, type_, place.along, steps, self.s.outs)
        return self.builder.add(load).result

    def _load_packed(self, packed: SSAValue, at: dict[int, Index], type_: VectorType) -> SSAValue:
        """Loads weights from their panel, the same ones for all pixels."""
        assert isinstance(packed.type, MemRefType)
        places = [self.panel, *(at[axis] for axis in self.c.reduce), at[self.c.k], 0]
        indices = [self.builder.value(place) for place in places]
        return self.builder.add(tile.LoadOp(packed, indices, type_, (-1, len(indices) - 1))).result


class _LoadedLate(Mapping[Tap, SSAValue]):
    """Weights that are loaded each time that they are asked for."""

    def __init__(self, load: Callable[[Tap], SSAValue], taps: list[Tap]):
        self._load = load
        self._taps = taps

    def __getitem__(self, tap: Tap) -> SSAValue:
        return self._load(tap)

    def __iter__(self) -> Iterator[Tap]:
        return iter(self._taps)

    def __len__(self) -> int:
        return len(self._taps)


def _by_rows(values: Sequence[SSAValue], like: list[list[SSAValue]]) -> list[list[SSAValue]]:
    """Returns `values` in lists as long as those of `like`."""
    left = iter(values)
    return [[next(left) for _ in sums] for sums in like]
