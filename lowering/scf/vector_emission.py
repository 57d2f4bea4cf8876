"""The loops that run the iterations of a loop side by side, on register tiles of one row."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    VectorType,
    f32,
    i1,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.cloning import clone_op
from ...core.ir.literals import constant_of
from ...core.roles import LOOP
from ...dialects import tile
from ...dialects.tile.ops import LANES
from .row_prefetch import Request
from .vector_body import IDENTITY, Reduction, VectorBody

REGISTERS = 4
"""The registers that one iteration works on: the latencies of their chains of instructions overlap."""


def emit_vectors(body: VectorBody, requests: Sequence[Request] = ()) -> None:
    """
    Puts loops over tiles, and the tiles that are left, in the place of the loop of `body`.

    The loops prefetch what `requests` say.
    """
    loop = body.loop
    width = LANES * min(_registers(body), body.extent // LANES)
    whole = body.extent - body.extent % width
    aligned = body.extent - body.extent % LANES
    chunks = [(start, end - start) for start, end in ((whole, aligned), (aligned, body.extent)) if end > start]
    loops = _TileLoops(body, requests)
    totals = list(loop.iter_args)
    totals = loops.combined(totals, loops.loop(whole, width))
    for start, columns in chunks:
        totals = loops.combined(totals, loops.row(loops.index(start), columns, loops.identities(columns)))
    Rewriter.replace_op(loop, [], totals)


def _registers(body: VectorBody) -> int:
    """Returns how many registers one iteration works on: fewer where several masks of NaNs are carried, which are 7."""
    return REGISTERS if len({each.number for each in body.extremes}) < 2 else REGISTERS // 2


class _TileLoops:
    """Emits loops over tiles, and single tiles, before the loop of `body`."""

    def __init__(self, body: VectorBody, requests: Sequence[Request]):
        self.body = body
        self.requests = requests
        self.tested = tuple(dict.fromkeys(each.number for each in body.extremes))
        """The numbers that maxima and minima look at, each once. Both may look at the same."""
        self.point = InsertPoint.before(body.loop)

    def add(self, op: Operation) -> Operation:
        op.location = self.body.loop.location
        Rewriter.insert_op(op, self.point)
        return op

    def index(self, number: int) -> SSAValue:
        return self.add(arith.ConstantOp(IntegerAttr(number, IndexType()))).results[0]

    def identities(self, columns: int) -> list[SSAValue]:
        """
        Returns a tile to start from for each sum, maximum or minimum. After those come the tiles that say where the
        numbers of maxima and minima were no NaNs, one for each number.
        """
        types = [VectorType(each.argument.type, [1, columns]) for each in self.body.reductions]  # pyright: ignore
        found: list[DenseIntOrFPElementsAttr] = [
            DenseIntOrFPElementsAttr.from_list(type_, [IDENTITY[each.kind]])  # pyright: ignore
            for type_, each in zip(types, self.body.reductions, strict=True)
        ]
        clean = DenseIntOrFPElementsAttr.from_list(VectorType(i1, [1, columns]), [1])
        found += [clean for _ in self.tested]
        return [self.add(arith.ConstantOp(each)).results[0] for each in found]

    def combined(self, totals: Sequence[SSAValue], tiles: Sequence[SSAValue]) -> list[SSAValue]:
        """Returns the numbers so far, combined with all elements of the tiles."""
        result: list[SSAValue] = []
        for total, found, each in zip(totals, self._with_nans(tiles), self.body.reductions, strict=True):
            if isinstance(each.update, arith.AddiOp):
                number = self.add(tile.ReduceOp(each.kind, found)).results[0]
                result.append(self.add(arith.AddiOp(total, number)).results[0])
                continue
            number = self.add(tile.ReduceOp(each.kind, found, each.update.fastmath)).results[0]
            result.append(self.add(type(each.update)(total, number, each.update.fastmath)).results[0])
        return result

    def _with_nans(self, tiles: Sequence[SSAValue]) -> list[SSAValue]:
        """Returns the tiles of the reductions, with NaNs in the lanes in which a maximum or minimum has met one."""
        body = self.body
        found = list(tiles[: len(body.reductions)])
        masks = dict(zip(self.tested, tiles[len(body.reductions) :], strict=True))
        for each in body.extremes:
            place, clean = body.reductions.index(each), masks[each.number]
            block = Block(arg_types=[f32, i1])
            nan = arith.ConstantOp(FloatAttr(math.nan, f32))
            chosen = arith.SelectOp(block.args[1], block.args[0], nan.result)
            block.add_ops([nan, chosen, tile.YieldOp(chosen.result)])
            merged = tile.MapOp([found[place], clean], found[place].type, Region(block))
            found[place] = self.add(merged).results[0]
        return found

    def loop(self, extent: int, width: int) -> list[SSAValue]:
        """Emits the loop over tiles of `width` columns and returns the tiles that it carries."""
        start = self.identities(width)
        block = Block(arg_types=[IndexType(), *(value.type for value in start)])
        block.args[0].name_hint = self.body.variable.name_hint
        for argument, each in zip(block.args[1:], self.body.reductions, strict=False):
            argument.name_hint = each.argument.name_hint
        first, last, step = (self.index(number) for number in (0, extent, width))
        outer, self.point = self.point, InsertPoint.at_end(block)
        results = self.row(block.args[0], width, block.args[1:])
        self.add(scf.YieldOp(*results))
        self.point = outer
        loop = scf.ForOp(first, last, step, start, Region(block))
        loop.attributes[LOOP] = StringAttr("no-unroll")
        return list(self.add(loop).results)

    def row(self, start: SSAValue, columns: int, carried: Sequence[SSAValue]) -> list[SSAValue]:
        """Emits the iterations from `start` on as one row and returns what becomes of the carried tiles."""
        body = self.body
        kept: dict[SSAValue, SSAValue] = {body.variable: start}
        tiles: dict[SSAValue, SSAValue] = {
            each.argument: value for each, value in zip(body.reductions, carried, strict=False)
        }
        updates = {each.update for each in body.reductions}
        extremes: dict[Operation, Reduction] = {each.update: each for each in body.extremes}
        clean: dict[SSAValue, SSAValue] = dict(zip(self.tested, carried[len(body.reductions) :], strict=True))
        untested = set(clean)
        if columns >= LANES:
            self._ask_ahead(start, columns)
        for op in body.block.ops:
            if isinstance(op, memref.LoadOp) and op in body.moving:
                place = [kept.get(index, index) for index in op.indices]
                type_ = VectorType(op.res.type, [1, columns])  # pyright: ignore[reportArgumentType]
                load = tile.LoadOp(kept.get(op.memref, op.memref), place, type_, (-1, body.moving[op]))
                tiles[op.res] = self._located(load, op).results[0]
            elif isinstance(op, memref.StoreOp):
                value = self._mapped(op.value, columns, kept, tiles)
                place = [kept.get(index, index) for index in op.indices]
                self._located(tile.StoreOp(value, op.memref, place, (-1, body.moving[op])), op)
            elif op in extremes:
                each = extremes[op]
                number = self._mapped(each.number, columns, kept, tiles)
                tiles[op.results[0]] = self._extreme(each, number, tiles[each.argument])
                if each.number in untested:
                    untested.remove(each.number)
                    clean[each.number] = self._clean(number, clean[each.number])
            elif op in updates:
                self._mapped(op.results[0], columns, kept, tiles)
            elif op in body.kept:
                copy = self._located(clone_op(op, kept), op)
                kept[op.results[0]] = copy.results[0]
        return [*(tiles[each.update.results[0]] for each in body.reductions), *clean.values()]

    def _extreme(self, each: Reduction, number: SSAValue, so_far: SSAValue) -> SSAValue:
        """Returns a maximum or minimum of two tiles, the first of which may have NaNs. It passes over them."""
        op = tile.LargerOp if each.kind == "maximumf" else tile.SmallerOp
        block = Block(arg_types=[f32, f32])
        found = op(*block.args)
        block.add_ops([found, tile.YieldOp(found.result)])
        return self.add(tile.MapOp([number, so_far], so_far.type, Region(block))).results[0]

    def _clean(self, number: SSAValue, so_far: SSAValue) -> SSAValue:
        """Returns where a tile has no NaN, and those before it had none."""
        block = Block(arg_types=[f32, i1])
        ordered = arith.CmpfOp(block.args[0], block.args[0], "ord")
        both = arith.AndIOp(ordered.result, block.args[1])
        block.add_ops([ordered, both, tile.YieldOp(both.result)])
        return self.add(tile.MapOp([number, so_far], so_far.type, Region(block))).results[0]

    def _ask_ahead(self, start: SSAValue, columns: int) -> None:
        """Prefetches the same columns of the rows that the loop marks for prefetching."""
        for request in self.requests:
            access = request.access
            places = [start if index is self.body.variable else self._before_loop(index) for index in access.indices]
            place = [index for index in places if index is not None]
            if len(place) == len(places):
                writes = isinstance(access, memref.StoreOp)
                self.add(tile.PrefetchOp(access.memref, place, request.ahead, columns, write=writes))

    def _before_loop(self, index: SSAValue) -> SSAValue | None:
        """Returns an index that the loop does not change. It is `None` where the loop computes it."""
        owner = index.owner
        if not isinstance(owner, Operation) or owner.parent is not self.body.block:
            return index
        number = constant_of(index)
        return None if number is None else self.index(number)

    def _located(self, op: Operation, source: Operation) -> Operation:
        self.add(op)
        op.location = source.location
        return op

    def _mapped(
        self,
        value: SSAValue,
        columns: int,
        kept: dict[SSAValue, SSAValue],
        tiles: dict[SSAValue, SSAValue],
    ) -> SSAValue:
        """Returns the tile of `value`: one that is there, or a map over those that it is computed from."""
        if value in tiles:
            return tiles[value]
        needed = self._slice(value, tiles)
        body = Block()
        copies: dict[SSAValue, SSAValue] = {}
        sources: list[SSAValue] = []
        used = dict.fromkeys(operand for op in needed for operand in op.operands)
        for operand in (*used, value):
            if operand in tiles:
                sources.append(tiles[operand])
                copies[operand] = body.insert_arg(operand.type, len(body.args))
                copies[operand].name_hint = operand.name_hint
            elif operand in kept:
                copies[operand] = kept[operand]
        for op in needed:
            for copy in self._copies(op, copies):
                copy.location = op.location
                body.add_op(copy)
        body.add_op(tile.YieldOp(copies.get(value, value)))
        type_ = VectorType(value.type, [1, columns])  # pyright: ignore[reportArgumentType]
        tiles[value] = self.add(tile.MapOp(sources, type_, Region(body))).results[0]
        return tiles[value]

    def _copies(self, op: Operation, copies: dict[SSAValue, SSAValue]) -> list[Operation]:
        """
        Returns the ops that stand for `op` in a map.

        They are a copy, or the choice that is a maximum of a carried number, which is never NaN, and any other.
        """
        if not isinstance(op, arith.MaxnumfOp) or all(op is not each.update for each in self.body.reductions):
            return [clone_op(op, copies)]
        carried = next(each.argument for each in self.body.reductions if each.update is op)
        (other,) = [operand for operand in op.operands if operand is not carried]
        so_far, number = copies[carried], copies.get(other, other)
        is_larger = arith.CmpfOp(number, so_far, "ogt")
        larger = arith.SelectOp(is_larger.result, number, so_far)
        copies[op.result] = larger.result
        return [is_larger, larger]

    def _slice(self, value: SSAValue, tiles: dict[SSAValue, SSAValue]) -> list[Operation]:
        """
        Returns the ops, in order, that compute `value` from the tiles that are there and from values that are the same
        in all lanes.
        """
        computed = set(self.body.computed)
        found: set[Operation] = set()
        pending = [value]
        while pending:
            each = pending.pop()
            owner = each.owner
            if each not in tiles and isinstance(owner, Operation) and owner in computed and owner not in found:
                found.add(owner)
                pending += owner.operands
        return [op for op in self.body.computed if op in found]
