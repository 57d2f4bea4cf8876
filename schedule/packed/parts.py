"""
Makes parts of 8 bits of the rows that packed weights are multiplied with, so that products are dot products of bytes.

The numbers of `PackedProduct.depth` neighbours become integers of one unit, a power of two that the greatest of them
says: `x = (…(p0 * 256 + p1) * 256 + …) * unit`. With three parts the greatest keeps 22 bits, and all others as many
places. Sums of products of parts and weights are exact.
"""

from __future__ import annotations

from xdsl.dialects import arith, math, memref
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType, VectorType, f32, i8, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects import tile
from ...dialects.tensor_loop import AllocOp
from ...lazy_dataclass import dataclass
from ...machine.machine import LINE_BYTES
from ..kernels.contraction import Operand
from ..kernels.epilogue import place_of
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest
from .maps import MapBody, mapped
from .product import PackedProduct

EXPONENT = 0x7F800000
"""The bits of the exponent of an f32, all of which are set in infinities and NaN."""

MANTISSA = 23
"""The bits of an f32 behind the exponent."""


@dataclass(frozen=True)
class Parts:
    """The rows of a product in parts."""

    values: SSAValue
    """
    The parts `[row, (step * parts + part) * depth + number]`, the highest first. Numbers that x does not have are 0.
    Parts of a step lie side by side, and rows are not a multiple of a page apart, so that all of a tile stay in L1.
    """
    units: SSAValue
    """The units `[row, step]`, NaN where a number is infinite or NaN."""
    sums: SSAValue
    """
    The sums of each part of a step, `[row, step * parts + part]`. Where all weights have one zero point, they are
    integers, times that and negative: what the sums of products start with.
    """
    count: int


def places_of(parts: int) -> int:
    """Returns how much greater than its unit, as a power of two, the leading bit of the greatest number is."""
    return 8 * parts - 3


def emit_parts(builder: ScheduledNest, p: PackedProduct, count: int) -> Parts:
    """Emits the nests that make `count` parts of the rows of `p`."""
    rows, steps = p.c.extent(p.c.m), p.steps
    start = p.one_zero_point
    parts = Parts(
        _buffer(builder, "parts", i8, rows, steps * count * p.depth + LINE_BYTES),
        _buffer(builder, "units", f32, rows, steps),
        _buffer(builder, "starts" if start else "sums", i32 if start else f32, rows, steps * count),
        count,
    )
    x = p.c.a if p.c.extent(p.c.k) == steps * p.depth else _filled_up(builder, p)
    within = p.block_size // p.depth
    with builder.nest([rows, p.blocks, within], ["m", "b", "s"]) as (m, b, s):
        axes = [
            Bound("spatial", m, rows, "vm"),
            Bound("spatial", b, p.blocks, "vb"),
            Bound("spatial", s, within, "vs"),
        ]
        with builder.blocked("parts", axes) as (vm, vb, vs):
            step = builder.sum(builder.scaled(vb, within), vs)
            if p.unit is None:
                _emit_step(builder, p, x, parts, vm, step)
            else:
                _emit_rounded(builder, p, parts, vm, vb, step)
    return parts


def place_of_part(builder: ScheduledNest, p: PackedProduct, parts: Parts, step: Index, part: int) -> Index:
    """Returns where a part of a step begins in its row."""
    return builder.sum(builder.scaled(step, parts.count * p.depth), part * p.depth)


def _buffer(builder: ScheduledNest, name: str, element: Attribute, *sizes: int) -> SSAValue:
    result = builder.add(AllocOp(MemRefType(element, sizes))).results[0]
    result.name_hint = name
    return result


def _filled_up(builder: ScheduledNest, p: PackedProduct) -> Operand:
    """Emits a copy of the rows with zeros up to the end of the last block of weights."""
    c, length = p.c, p.steps * p.depth
    rows, depth = c.extent(c.m), c.extent(c.k)
    made = _buffer(builder, "rows", f32, rows, length)
    for name, first, count in (("copy", 0, depth), ("fill", depth, length - depth)):
        with builder.nest([rows, count], ["m", "k"], "vectorized") as (m, k):
            axes = [Bound("spatial", m, rows, "vm"), Bound("spatial", k + first, first + count, "vk")]
            with builder.blocked(name, axes) as (vm, vk):
                if name == "copy":
                    indices = [builder.affine(index, _at(p, vm, vk)) for index in c.a.indices]
                    value = builder.add(memref.LoadOp.get(c.a.buffer, indices)).res
                else:
                    value = builder.constant(FloatAttr(0.0, f32))
                builder.add(memref.StoreOp.get(value, made, [builder.value(vm), builder.value(vk)]))
    return Operand(made, (_dimension(c.m), _dimension(c.k)))


def _dimension(axis: int | None) -> AffineExpr:
    return AffineExpr.constant(0) if axis is None else AffineExpr.dimension(axis)


def _at(p: PackedProduct, row: Index, k: Index) -> dict[int, Index]:
    at: dict[int, Index] = dict.fromkeys(p.c.outer, 0)
    if p.c.m is not None:
        at[p.c.m] = row
    return at | {p.c.k: k}


def _emit_step(builder: ScheduledNest, p: PackedProduct, x: Operand, parts: Parts, row: Index, step: Index) -> None:
    """Emits the parts of one step of a row."""
    first = builder.scaled(step, p.depth)
    place = place_of(builder, x, _at(p, row, first), None, p.c.k)
    type_ = VectorType(f32, [1, p.depth])
    found = builder.add(tile.LoadOp(place.buffer, place.indices, type_, place.along, place.by)).result
    absolute = mapped(builder, [found], f32, lambda body, value: body(math.AbsFOp(value)))
    greatest = builder.add(tile.ReduceOp("maximumf", absolute)).result
    unit, inverse = _unit(builder, greatest, parts.count)
    whole = mapped(builder, [found], i32, lambda body, value: _whole(body, value, inverse, parts.count))
    builder.add(memref.StoreOp.get(unit, parts.units, [builder.value(row), builder.value(step)]))
    for number in reversed(range(parts.count)):
        part = mapped(builder, [whole], i8, lambda body, value: body(arith.TruncIOp(value, i8)))
        _store_part(builder, p, parts, (row, step, number), part)
        if number:
            whole = mapped(builder, [whole], i32, _rest)


def _emit_rounded(
    builder: ScheduledNest, p: PackedProduct, parts: Parts, row: Index, block: Index, step: Index
) -> None:
    """Emits the one part of a step of a row that is integers of 8 bits already. NaN becomes 0, as its unit is NaN."""
    assert p.unit is not None
    first = builder.scaled(step, p.depth)
    at = _at(p, row, first)
    place = place_of(builder, p.c.a, at, None, p.c.k)
    found = builder.add(tile.LoadOp(place.buffer, place.indices, VectorType(f32, [1, p.depth]), place.along, place.by))
    indices = [*(builder.affine(index, at) for index in p.unit.indices[:-1]), builder.value(block)]
    unit = builder.add(memref.LoadOp.get(p.unit.buffer, indices)).res
    builder.add(memref.StoreOp.get(unit, parts.units, [builder.value(row), builder.value(step)]))
    part = mapped(builder, [found.result], i8, _narrowed)
    _store_part(builder, p, parts, (row, step, 0), part)


def _narrowed(body: MapBody, value: SSAValue) -> SSAValue:
    inside = body(arith.CmpfOp(body(math.AbsFOp(value)), body.number(127.0), "ole"))
    kept = body(arith.SelectOp(inside, value, body.number(0.0)))
    return body(arith.TruncIOp(body(arith.FPToSIOp(kept, i32)), i8))


def _store_part(
    builder: ScheduledNest, p: PackedProduct, parts: Parts, at: tuple[Index, Index, int], part: SSAValue
) -> None:
    """Emits the stores of a part of a step of a row, and of its sum."""
    row, step, number = at
    indices = [builder.value(row), builder.value(place_of_part(builder, p, parts, step, number))]
    builder.add(tile.StoreOp(part, parts.values, indices))
    column = builder.sum(builder.scaled(step, parts.count), number)
    total = _sum(builder, p, part)
    builder.add(memref.StoreOp.get(total, parts.sums, [builder.value(row), builder.value(column)]))


def _sum(builder: ScheduledNest, p: PackedProduct, part: SSAValue) -> SSAValue:
    """Returns the sum of a part, as `Parts.sums` holds it. All sums are exact in f32."""
    floats = mapped(builder, [part], f32, lambda body, value: body(arith.SIToFPOp(value, f32)))
    total = builder.add(tile.ReduceOp("addf", floats)).result
    if not p.one_zero_point:
        return total
    if isinstance(p.zero_point, int):
        zero_point = builder.constant(IntegerAttr((p.zero_point + 128) % 256 - 128, i8))
    else:
        zero_point = builder.add(memref.LoadOp.get(p.zero_point.buffer, [])).res
    offset = builder.add(arith.NegfOp(builder.add(arith.UIToFPOp(zero_point, f32)).result)).result
    return builder.add(arith.FPToSIOp(builder.add(arith.MulfOp(total, offset)).result, i32)).result


def _unit(builder: ScheduledNest, greatest: SSAValue, parts: int) -> tuple[SSAValue, SSAValue]:
    """
    Returns the unit of numbers of which `greatest` is the greatest, and the inverse of it.

    Both are powers of two, made by their exponents. The unit is at least the least normal number.
    """
    add, number = builder.add, lambda value: builder.constant(IntegerAttr(_wrapped(value), i32))
    bits = add(arith.BitcastOp(greatest, i32)).result
    exponent = add(arith.AndIOp(bits, number(EXPONENT))).result
    places = places_of(parts) << MANTISSA
    kept = add(arith.MaxSIOp(exponent, number(places + (1 << MANTISSA)))).result
    unit = add(arith.BitcastOp(add(arith.SubiOp(kept, number(places))).result, f32)).result
    inverse = add(arith.SubiOp(number((254 << MANTISSA) + places), kept)).result
    finite = add(arith.CmpiOp(exponent, number(EXPONENT), "ult")).result
    unit = add(arith.SelectOp(finite, unit, builder.constant(FloatAttr(float("nan"), f32)))).result
    return unit, add(arith.BitcastOp(inverse, f32)).result


def _wrapped(value: int) -> int:
    """Returns an integer of 32 bits with a sign."""
    return (value + 2**31) % 2**32 - 2**31


def _whole(body: MapBody, value: SSAValue, inverse: SSAValue, parts: int) -> SSAValue:
    """Returns a number in units, rounded to an integer. What is not finite becomes 0, as the unit is NaN there."""
    units = body(arith.MulfOp(value, inverse))
    most = body.number(2.0 ** (8 * parts - 2))
    inside = body(arith.CmpfOp(body(math.AbsFOp(units)), most, "ole"))
    kept = body(arith.SelectOp(inside, units, body.number(0.0)))
    return body(arith.FPToSIOp(body(math.RoundEvenOp(kept)), i32))


def _rest(body: MapBody, value: SSAValue) -> SSAValue:
    """Returns what is left of an integer without its lowest part, a byte with a sign, in units of 256."""
    raised = body(arith.AddiOp(value, body.whole(128)))
    return body(arith.ShRSIOp(raised, body.whole(8)))
