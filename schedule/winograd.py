"""
Convolutions 3x3 of stride 1 by Winograd's minimal filtering F(2x2, 3x3): 16 products instead of 36 per four outputs.

With `d` a square of 4x4 inputs, `g` a filter of 3x3 and `*` elementwise, two by two outputs are `A^T ((G g G^T) * (B^T d B)) A`, where

    B^T = 1  0 -1  0     G =  1    0    0     A^T = 1  1  1  0
          0  1  1  0         1/2  1/2  1/2          0  1 -1 -1
          0 -1  1  0         1/2 -1/2  1/2
          0  1  0 -1          0    0    1

Summed over the channels before the last step, `*` becomes 16 matrix products, squares x channels in x channels out. Filters are transformed
when the program is loaded. S. Winograd, "Arithmetic Complexity of Computations", SIAM, 1980; A. Lavin, S. Gray, "Fast Algorithms for
Convolutional Neural Networks", CVPR 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    MemRefType,
    VectorType,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ..analysis.affine import is_linear, linear_terms, normal_form
from ..dialects import tile
from ..dialects.tensor_loop import AllocOp, GridOp
from ..dialects.tile import Place
from .contraction import Contraction, Operand, alone
from .epilogue import Epilogue, emit_epilogue, epilogue_of, place_of
from .loop_builder import Bound, Index, NestBuilder
from .padding import erase_with_buffers, is_zero, pad_before
from .register_tiles import RegisterTile, choose_tile, split_columns, split_evenly
from .targets import X86_64_V4, Target

SQUARE, OUTPUTS, TAPS = 4, 2, 3
"""Inputs, outputs and taps along an axis of a square."""

DEPTH = 4
"""Steps of the sum that one `tile.mma` spells out."""

VECTORS = 2
"""Vectors of channels that are transformed at once: 16 results of one step stay in registers."""

ENOUGH_SQUARES = 48
"""Squares of a block: with fewer, reading the filters again for each block costs more than it saves."""

CYCLES_OF_TRANSFORM = 120
"""Cycles that it takes to transform a vector of a square, one way (measured with all of it in L2)."""

FAR_BYTES_PER_CYCLE = 8
"""Bytes of filters per cycle that come from beyond L2 (measured)."""

Steps = tuple[tuple[int, ...], ...]
"""Rows of a matrix of -1, 0 and 1."""

OF_INPUT: Steps = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
OF_OUTPUT: Steps = ((1, 1, 1, 0), (0, 1, -1, -1))
OF_FILTER: Steps = ((1, 0, 0), (1, 1, 1), (1, -1, 1), (0, 0, 1))
HALVED = (False, True, True, False)
"""The rows of `G` that have a factor of one half."""


@dataclass(frozen=True)
class Winograd:
    """A convolution that can be computed so, with `c.a` the image without a padded copy."""

    c: Contraction
    batch: int | None
    """The axis of the images; the other axes but these have extent 1."""
    y: int
    ky: int
    kx: int
    pad: GridOp | None = None
    """What makes the padded copy that is not needed."""

    @property
    def x(self) -> int:
        assert self.c.m is not None
        return self.c.m

    @property
    def images(self) -> int:
        return self.c.extent(self.batch)

    @property
    def squares(self) -> tuple[int, int]:
        """Squares down and across an image."""
        return ceil(self.c.extents[self.y] / OUTPUTS), ceil(self.c.extents[self.x] / OUTPUTS)

    def inputs(self, axis: int) -> tuple[int, int, int]:
        """The dimension of the image that y or x moves in, its size, and where the first square starts, at most 0 before it."""
        place = self.c.a.dimension_along(axis)
        assert place is not None
        return place[0], self.c.a.type.get_shape()[place[0]], linear_terms(self.c.a.indices[place[0]])[1]


@dataclass(frozen=True)
class Plan:
    """How many squares are worked on at once: their inputs, transformed, and the products of those stay in the second-level cache."""

    images: int
    rows: int
    """Rows of squares; less than all only of one image."""
    tile: RegisterTile


def winograd_of(c: Contraction) -> Winograd | None:
    """The form of `c` for this, `None` when it is no convolution of 3x3 with stride 1 of single or double precision."""
    types = {operand.type.element_type for operand in (c.a, c.b, c.out)}
    if len(types) != 1 or not isinstance(c.tile_element, Float32Type | Float64Type) or not is_zero(c.init):
        return None
    if len(c.reduce) != 2 or any(c.extents[axis] != TAPS for axis in c.reduce) or c.m is None:
        return None
    long = [axis for axis in c.outer if c.extents[axis] > 1]
    if not 1 <= len(long) <= 2 or any(axis in c.b.axes() for axis in c.outer):
        return None
    if c.a.stride_along(c.k) != 1 or not all(
        alone(c.a, c.k) and alone(c.b, axis) for axis in (*c.reduce, c.k, c.n)
    ):
        return None
    *images, y = long
    pairs = [[r for r in c.reduce if _slides(c.a, axis, r)] for axis in (y, c.m)]
    if any(len(found) != 1 for found in pairs) or any(not alone(c.out, axis) for axis in (*long, c.m)):
        return None
    found = Winograd(c, images[0] if images else None, y, pairs[0][0], pairs[1][0])
    direct = _on_image(found)
    return direct if _is_plain(direct) else None


def _slides(a: Operand, axis: int, tap: int) -> bool:
    """Whether `axis` and `tap` move in the same dimension, which nothing else moves in, one element at a time."""
    for index in a.indices:
        if axis in index.used_dims():
            terms, _ = linear_terms(index)
            return terms == {AffineDimExpr(axis): 1, AffineDimExpr(tap): 1}
    return False


def _on_image(w: Winograd) -> Winograd:
    """`w` on the image itself where it reads a padded copy."""
    producer = pad_before(w.c)
    if producer is None:
        return w
    grid, source = producer
    composed = tuple(
        normal_form(index.replace_dims_and_symbols(list(w.c.a.indices), ())) for index in source.indices
    )
    if not all(is_linear(index) for index in composed):
        return w
    return replace(w, c=replace(w.c, a=replace(source, indices=composed)), pad=grid)


def _is_plain(w: Winograd) -> bool:
    """Whether what is outside the image is zero, above, below, left and right only."""
    c = w.c
    if c.a.padding is not None and not is_zero(c.a.padding):
        return False
    if not (_slides(c.a, w.y, w.ky) and _slides(c.a, w.x, w.kx) and alone(c.a, c.k)):
        return False
    for axis in (w.y, w.x):
        _, size, start = w.inputs(axis)
        if start > 0 or start <= -SQUARE or c.a.padding is None and c.extents[axis] + TAPS - 1 + start > size:
            return False
    others = [index for index in c.a.indices if not index.used_dims() & {w.y, w.x}]
    expected = {AffineDimExpr(c.k), *([] if w.batch is None else [AffineDimExpr(w.batch)])}
    return all(not index.used_dims() or index in expected or _is_unit(c, index) for index in others)


def _is_unit(c: Contraction, index: AffineExpr) -> bool:
    """Whether an index is an axis of extent 1."""
    return isinstance(index, AffineDimExpr) and c.extents[index.position] == 1


# Plan


def plan_winograd(w: Winograd, target: Target = X86_64_V4) -> Plan | None:
    """
    As many squares at once as fit half of the second-level cache, but enough to use the filters well, which are read once per
    block; `None` where the convolution itself takes fewer cycles.
    """
    c = w.c
    size = c.tile_element.size  # pyright: ignore[reportAttributeAccessIssue]
    if not _pays(w, target.lanes(size), size, target):
        return None
    down, across = w.squares
    of_row = SQUARE**2 * across * (c.extent(c.k) + c.extent(c.n)) * size
    choices = [(1, rows) for rows in range(1, down + 1) if down % rows == 0]
    choices += [(images, down) for images in range(2, w.images + 1) if w.images % images == 0]
    fitting = [choice for choice in choices if prod(choice) * of_row <= target.l2_bytes // 2]
    enough = [choice for choice in choices if prod(choice) * across >= ENOUGH_SQUARES]
    images, rows = max([*fitting[-1:], *(enough[:1] or choices[-1:])], key=prod)
    return Plan(images, rows, choose_tile(images * rows * across, c.extent(c.n), size, target))


def _pays(w: Winograd, lanes: int, size: int, target: Target) -> bool:
    """
    Whether this takes fewer cycles than the convolution itself: of multiply-adds, two vectors a cycle, and of transforms; or of
    filters that come from beyond the second-level cache, if those are more.
    """
    depth, vectors = w.c.extent(w.c.k), ceil(w.c.extent(w.c.n) / lanes)
    squares = w.images * prod(w.squares)
    outputs = w.images * w.c.extents[w.y] * w.c.extents[w.x]

    def cycles(products: int, transforms: int, taps: int) -> float:
        streamed = taps * depth * w.c.extent(w.c.n) * size
        far = streamed / FAR_BYTES_PER_CYCLE if streamed > target.l2_bytes // 2 else 0
        return max(products * depth * vectors / 2 + transforms * CYCLES_OF_TRANSFORM, far)

    direct = cycles(outputs * TAPS**2, 0, TAPS**2)
    return cycles(squares * SQUARE**2, squares * (ceil(depth / lanes) + vectors), SQUARE**2) < direct


def filters_type(w: Winograd, plan: Plan) -> list[int]:
    """The shape of the transformed filters: place in the square, panel, channel in, channel out."""
    panels = ceil(w.c.extent(w.c.n) / plan.tile.columns)
    return [SQUARE**2, panels, w.c.extent(w.c.k), plan.tile.columns]


# Transforms


def _map(builder: NestBuilder, tiles: Sequence[SSAValue], body: Callable[[Block], SSAValue]) -> SSAValue:
    block = Block(arg_types=[each.type.element_type for each in tiles])  # pyright: ignore[reportAttributeAccessIssue]
    block.add_op(tile.YieldOp(body(block)))
    return builder.add(tile.MapOp(tiles, tiles[0].type, Region(block))).result


def _combine(
    builder: NestBuilder, tiles: Sequence[SSAValue], signs: Sequence[int], halved: bool = False
) -> SSAValue:
    """The sum of the tiles with these signs, the first of them that counts having +, or half of it."""
    ordered = sorted((place for place, sign in enumerate(signs) if sign), key=lambda place: -signs[place])
    if len(ordered) == 1 and not halved:
        return tiles[ordered[0]]

    def body(block: Block) -> SSAValue:
        total: SSAValue = block.args[0]
        for argument, place in zip(block.args[1:], ordered[1:], strict=True):
            kind = arith.AddfOp if signs[place] > 0 else arith.SubfOp
            op: Operation = kind(total, argument)
            block.add_op(op)
            total = op.results[0]
        if halved:
            half = arith.ConstantOp(FloatAttr(0.5, total.type))  # pyright: ignore[reportArgumentType]
            op = arith.MulfOp(total, half.result)
            block.add_ops([half, op])
            total = op.result
        return total

    return _map(builder, [tiles[place] for place in ordered], body)


def _load(builder: NestBuilder, buffer: SSAValue, at: Sequence[Index], width: int) -> SSAValue:
    """A row of elements along the last dimension."""
    assert isinstance(buffer.type, MemRefType)
    type_ = VectorType(buffer.type.element_type, [1, width])
    return builder.add(tile.LoadOp(buffer, [builder.value(index) for index in at], type_)).result


def _store(builder: NestBuilder, value: SSAValue, buffer: SSAValue, at: Sequence[Index]) -> None:
    builder.add(tile.StoreOp(value, buffer, [builder.value(index) for index in at]))


def emit_filters(block: Block, w: Winograd, plan: Plan, made: SSAValue) -> None:
    """Appends what transforms all filters to `block`."""
    c = w.c
    builder = NestBuilder(block, c.block)
    first = 0
    for width, count in split_columns(c.extent(c.n), plan.tile.columns):
        with builder.nest([count, c.extent(c.k)], ["p", "k"]) as (panel, k):
            axes = [
                Bound("spatial", panel + first, first + count, "vp"),
                Bound("spatial", k, c.extent(c.k), "vk"),
            ]
            with builder.blocked("filters", axes) as (vp, vk):
                at = {c.k: vk, c.n: builder.scaled(vp, plan.tile.columns)}
                taps = [
                    [_tap(builder, w, at | {w.ky: i, w.kx: j}, width) for i in range(TAPS)]
                    for j in range(TAPS)
                ]
                columns = [_transformed(builder, column, OF_FILTER, HALVED) for column in taps]
                for i in range(SQUARE):
                    row = [column[i] for column in columns]
                    for j, value in enumerate(_transformed(builder, row, OF_FILTER, HALVED)):
                        _store(builder, value, made, (SQUARE * i + j, vp, vk, 0))
        first += count


def _tap(builder: NestBuilder, w: Winograd, at: dict[int, Index], width: int) -> SSAValue:
    place = place_of(builder, w.c.b, at, None, w.c.n)
    type_ = VectorType(w.c.tile_element, [1, width])
    return builder.add(tile.LoadOp(place.buffer, place.indices, type_, place.along, place.by)).result


def _transformed(
    builder: NestBuilder, tiles: Sequence[SSAValue], steps: Steps, halved: Sequence[bool] = (False,) * SQUARE
) -> list[SSAValue]:
    """A matrix times a vector of tiles."""
    return [_combine(builder, tiles, row, half) for row, half in zip(steps, halved, strict=False)]


def tile_winograd(w: Winograd, plan: Plan, filters: SSAValue, target: Target = X86_64_V4) -> None:
    """Replaces the grid of `w` by loops over blocks of squares; `filters` holds the transformed filters (`filters_type`)."""
    block = Block()
    epilogue = epilogue_of(w.c)
    _Emitter(NestBuilder(block, w.c.block), w, plan, filters, epilogue, target).run()
    last = w.c.grid if epilogue is None else epilogue.grid
    parent, ops = last.parent, list(block.ops)
    assert parent is not None
    for op in ops:
        op.detach()
    parent.insert_ops_before(ops, last)
    for grid in {w.c.grid: None, last: None, w.pad: None}:
        if grid is not None:
            erase_with_buffers(grid)


class _Emitter:
    """Emits the nest of one convolution."""

    def __init__(
        self,
        builder: NestBuilder,
        w: Winograd,
        plan: Plan,
        filters: SSAValue,
        epilogue: Epilogue | None,
        target: Target,
    ):
        self.builder = builder
        self.w = w
        self.c = w.c
        self.plan = plan
        self.filters = filters
        self.epilogue = epilogue
        self.lanes = target.lanes(w.c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
        self.down, self.across = w.squares
        self.squares = plan.images * plan.rows * self.across
        self.width = min(w.c.extent(w.c.k), VECTORS * self.lanes)

    def run(self) -> None:
        """Blocks of squares: the inputs transformed, the products, the outputs transformed."""
        chunks = ceil(self.c.extent(self.c.k) / self.width)
        columns = SQUARE + OUTPUTS * (self.across - 1)
        self.strip = self._buffer([chunks, SQUARE, columns, self.width], "strip")
        self.inputs = self._buffer([SQUARE**2, self.squares, self.c.extent(self.c.k)], "inputs")
        self.products = self._buffer([SQUARE**2, self.squares, self.c.extent(self.c.n)], "products")
        self._borders(chunks, columns)
        blocks = [self.w.images // self.plan.images, self.down // self.plan.rows]
        with self.builder.nest(blocks, ["n0", "y0"]) as found:
            self.outside = [
                Bound("spatial", at, extent, name)
                for at, extent, name in zip(found, blocks, ("vn0", "vy0"), strict=True)
            ]
            self._transform_inputs()
            self._multiply()
            self._transform_outputs()

    def _buffer(self, shape: list[int], name: str) -> SSAValue:
        result = self.builder.add(AllocOp(MemRefType(self.c.tile_element, shape))).results[0]
        result.name_hint = name
        return result

    # Places

    def _kept(self) -> tuple[int, int, int]:
        """The columns of the strip that are in the image: how many are left and right of them, and how many they are."""
        _, size, start = self.w.inputs(self.w.x)
        columns = SQUARE + OUTPUTS * (self.across - 1)
        kept = min(size + -start, columns) - -start
        return -start, columns - kept - -start, kept

    def _image(self, n0: Index, n1: Index) -> Index:
        return self.builder.sum(self.builder.scaled(n0, self.plan.images), n1)

    def _row(self, y0: Index, y1: Index) -> Index:
        """The number of a row of squares in its image."""
        return self.builder.sum(self.builder.scaled(y0, self.plan.rows), y1)

    def _square(self, n1: Index, y1: Index, x: Index) -> Index:
        """The number of a square in its block."""
        builder = self.builder
        row = builder.sum(builder.scaled(n1, self.plan.rows), y1)
        return builder.sum(builder.scaled(row, self.across), x)

    def _splat(self, type_: VectorType) -> SSAValue:
        return self.builder.constant(DenseIntOrFPElementsAttr.from_list(type_, [0.0]))  # pyright: ignore

    # Inputs

    def _borders(self, chunks: int, columns: int) -> None:
        """Zeros left and right of the image, which stay there."""
        left, right, _ = self._kept()
        for first, count in ((0, left), (columns - right, right)):
            if not count:
                continue
            with self.builder.nest([chunks, SQUARE, count], ["c", "i", "x"]) as (c, i, x):
                axes = [
                    Bound("spatial", c, chunks, "vc"),
                    Bound("spatial", i, SQUARE, "vi"),
                    Bound("spatial", x, count, "vx"),
                ]
                with self.builder.blocked("border", axes) as (vc, vi, vx):
                    zero = self._splat(VectorType(self.c.tile_element, [1, self.width]))
                    _store(self.builder, zero, self.strip, (vc, vi, self.builder.sum(vx, first), 0))

    def _transform_inputs(self) -> None:
        """A strip of four rows at a time: first down the rows, then along them, for as many channels as keep it in the first-level cache."""
        first = 0
        for width, count in split_columns(self.c.extent(self.c.k), self.width):
            extents = [count, self.plan.images, self.plan.rows]
            with self.builder.nest(extents, ["c", "n1", "y1"]) as (c, n1, y1):
                axes = [
                    *self.outside,
                    Bound("spatial", c + first, first + count, "vc"),
                    Bound("spatial", n1, self.plan.images, "vn1"),
                    Bound("spatial", y1, self.plan.rows, "vy1"),
                ]
                self._down(axes, width)
                self._along(axes, width)
            first += count

    def _down(self, axes: list[Bound], width: int) -> None:
        builder = self.builder
        left, _, kept = self._kept()
        with (
            builder.loop(kept, "x") as x,
            builder.blocked("rows", [*axes, Bound("spatial", x, kept, "vx")]) as (n0, y0, c, n1, y1, vx),
        ):
            row = builder.scaled(self._row(y0, y1), OUTPUTS)
            image, channel = self._image(n0, n1), builder.scaled(c, self.width)
            loaded = [self._input(image, builder.sum(row, i), i, vx, channel, width) for i in range(SQUARE)]
            for i, value in enumerate(_transformed(builder, loaded, OF_INPUT)):
                _store(builder, value, self.strip, (c, i, builder.sum(vx, left), 0))

    def _input(self, image: Index, row: Index, i: int, x: Index, channel: Index, width: int) -> SSAValue:
        """A pixel of the image, zeros above and below it. `row` is that of the square and `i`."""
        builder = self.builder
        dimension, size, start = self.w.inputs(self.w.y)
        low, high = i + start, OUTPUTS * (self.down - 1) + i + start
        row = builder.value(builder.sum(row, start))
        at: list[Index] = []
        for number, index in enumerate(self.c.a.indices):
            used = index.used_dims()
            if number == dimension:
                at.append(row)
            elif self.w.x in used:
                at.append(x)
            elif self.c.k in used:
                at.append(channel)
            else:
                at.append(image if self.w.batch in used else 0)
        bounds = [(low < 0, "sge", 0), (high >= size, "slt", size)]
        compared = [
            builder.add(arith.CmpiOp(row, builder.value(limit), predicate)).result
            for needed, predicate, limit in bounds
            if needed
        ]
        if not compared:
            return self._pixel(at, width)
        inside = compared[0] if len(compared) == 1 else builder.add(arith.AndIOp(*compared)).result
        then, otherwise = Block(), Block()
        with builder.inside(then):
            value = self._pixel(at, width)
            builder.add(scf.YieldOp(value))
        with builder.inside(otherwise):
            builder.add(scf.YieldOp(self._splat(VectorType(self.c.tile_element, [1, width]))))
        return builder.add(scf.IfOp(inside, [value.type], Region(then), Region(otherwise))).results[0]

    def _pixel(self, at: list[Index], width: int) -> SSAValue:
        place = self.c.a.dimension_along(self.c.k)
        assert place is not None
        type_ = VectorType(self.c.tile_element, [1, width])
        indices = [self.builder.value(index) for index in at]
        return self.builder.add(tile.LoadOp(self.c.a.buffer, indices, type_, (-1, place[0]))).result

    def _along(self, axes: list[Bound], width: int) -> None:
        builder = self.builder
        with builder.nest([SQUARE, self.across], ["i", "x"]) as (i, x):
            here = [*axes, Bound("spatial", i, SQUARE, "vi"), Bound("spatial", x, self.across, "vx")]
            with builder.blocked("squares", here) as (_, _, c, n1, y1, vi, vx):
                column = builder.scaled(vx, OUTPUTS)
                loaded = [
                    _load(builder, self.strip, (c, vi, builder.sum(column, j), 0), width)
                    for j in range(SQUARE)
                ]
                place, square = builder.scaled(vi, SQUARE), self._square(n1, y1, vx)
                channel = builder.scaled(c, self.width)
                for j, value in enumerate(_transformed(builder, loaded, OF_INPUT)):
                    _store(builder, value, self.inputs, (builder.sum(place, j), square, channel))

    # Products

    def _multiply(self) -> None:
        builder, columns = self.builder, self.plan.tile.columns
        with builder.loop(SQUARE**2, "s") as s:
            first = 0
            for width, count in split_columns(self.c.extent(self.c.n), columns):
                with builder.loop(count, "p") as panel:
                    start = 0
                    for rows, number in split_evenly(self.squares, self.plan.tile.rows):
                        with builder.loop(number, "m0") as m0:
                            axes = [
                                *self.outside,
                                Bound("spatial", s, SQUARE**2, "vs"),
                                Bound("spatial", panel + first, first + count, "vp"),
                                Bound("spatial", m0, number, "vm0"),
                            ]
                            self._product(axes, start, rows, width)
                        start += rows * number
                first += count

    def _product(self, axes: list[Bound], start: int, rows: int, width: int) -> None:
        builder = self.builder
        with builder.blocked(self.c.block.block_name.data, axes) as (_, _, s, panel, m0):
            row = builder.sum(builder.scaled(m0, rows), start)
            depth = self.c.extent(self.c.k)

            def step(k: Index, total: SSAValue, steps: int = DEPTH) -> SSAValue:
                values = [builder.value(index) for index in (s, row, k)]
                a = Place(self.inputs, tuple(values), (1, 2), (1, 1))
                values = [builder.value(index) for index in (s, panel, k, 0)]
                b = Place(self.filters, tuple(values), (2, 3), (1, 1))
                return builder.add(tile.MmaOp(total, a, b, steps)).result

            total = self._splat(VectorType(self.c.tile_element, [rows, width]))
            total = builder.counted(depth, DEPTH, total, step, "k")
            if rest := depth % DEPTH:
                total = step(depth - rest, total, rest)
            column = builder.scaled(panel, self.plan.tile.columns)
            _store(builder, total, self.products, (s, row, column))

    # Outputs

    def _transform_outputs(self) -> None:
        """Squares that reach over the right edge in runs of their own; those over the lower edge are tested."""
        most = VECTORS * self.lanes
        whole, rest = divmod(self.c.extents[self.w.x], OUTPUTS)
        extents = [self.plan.images, self.plan.rows]
        with self.builder.nest(extents, ["n1", "y1"]) as (n1, y1):
            for start, count, across in ((0, whole, OUTPUTS), (whole, 1, rest)):
                if not count or not across:
                    continue
                with self.builder.loop(count, "x") as x:
                    first = 0
                    for width, panels in split_columns(self.c.extent(self.c.n), most):
                        with self.builder.loop(panels, "p") as panel:
                            axes = [
                                *self.outside,
                                Bound("spatial", n1, self.plan.images, "vn1"),
                                Bound("spatial", y1, self.plan.rows, "vy1"),
                                Bound("spatial", x + start, start + count, "vx"),
                                Bound("spatial", panel + first, first + panels, "vp"),
                            ]
                            with self.builder.blocked("outputs", axes) as values:
                                self._outputs(values, across, width)
                        first += panels

    def _outputs(self, values: list[Index], across: int, width: int) -> None:
        builder, c = self.builder, self.c
        n0, y0, n1, y1, x, panel = values
        square = self._square(n1, y1, x)
        column = builder.scaled(panel, VECTORS * self.lanes)
        sums: list[list[SSAValue]] = []
        for i in range(SQUARE):
            loaded = [
                _load(builder, self.products, (SQUARE * i + j, square, column), width) for j in range(SQUARE)
            ]
            sums.append(_transformed(builder, loaded, OF_OUTPUT[:across]))
        row, x = builder.scaled(self._row(y0, y1), OUTPUTS), builder.scaled(x, OUTPUTS)
        at: dict[int, Index] = dict.fromkeys(c.outer, 0)
        if self.w.batch is not None:
            at[self.w.batch] = self._image(n0, n1)
        at[c.n] = column
        for i in range(OUTPUTS):
            at[self.w.y] = builder.sum(row, i)
            tiles = [_combine(builder, [each[j] for each in sums], OF_OUTPUT[i]) for j in range(across)]
            if OUTPUTS * (self.down - 1) + i < c.extents[self.w.y]:
                self._finish(tiles, at, x)
                continue
            limit = builder.value(c.extents[self.w.y])
            inside = builder.add(arith.CmpiOp(builder.value(at[self.w.y]), limit, "slt")).result
            then = Block()
            with builder.inside(then):
                self._finish(tiles, at, x)
                builder.add(scf.YieldOp())
            builder.add(scf.IfOp(inside, [], Region(then)))

    def _finish(self, tiles: list[SSAValue], at: dict[int, Index], x: Index) -> None:
        """Stores outputs side by side, or what the epilogue makes of them."""
        builder, c, epilogue = self.builder, self.c, self.epilogue
        for j, value in enumerate(tiles):
            here = at | {self.w.x: builder.sum(x, j)}
            if epilogue is None or epilogue.keeps_result:
                place = place_of(builder, c.out, here, c.m, c.n)
                builder.add(tile.StoreOp(value, place.buffer, place.indices, place.along, place.by))
            if epilogue is not None:
                emit_epilogue(builder, c, epilogue, value, here)
