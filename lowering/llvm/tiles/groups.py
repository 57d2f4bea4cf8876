"""
The conversion of `tile.mma` of groups: dot products of four bytes, added to 32-bit integers (by `amx`: `registers.py`).

A piece of B is one load of `4 * lanes` bytes, a group of A one of four bytes, in all lanes. Instructions for dot
products (`INTRINSICS`) multiply and add a piece at once, or the part of one that fills a register. The last piece of a
row gets lanes that nobody looks at, so that it fills one. `vpmaddwd` multiplies numbers of 16 bits and adds the
products of neighbours, so bytes 0 and 2 of each group are extended, with their signs or without, and then bytes 1 and
3. That is once for a group of A and a piece of B, whatever the tile. Elsewhere the first bytes of all groups are
multiplied and added, then the second ones, and so on. (The intrinsic `llvm.vector.partial.reduce.add` does not say
which products go to which lane.) Both wrap and neither saturates, so the results are the same.

Of bytes that hold two numbers of 4 bits the lower and then the upper halves are multiplied. Products of two of them
with bytes fit 16 bits, so `vpmaddubsw` and `vpmaddwd` make their dot products without saturation.

Groups of two bf16 are as long. `vdpbf16ps` multiplies and adds a piece of them at once. In pieces that it does not take
both elements are extended to f32, by a shift and a mask, and multiplied and added one after the other. Where no
instruction is named, all are (`pairs.py`).
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, VectorType, bf16, f32, i8, i16, i32
from xdsl.ir import SSAValue

from ....dialects import tile
from ....dialects.tile.instructions import (
    BFDOT,
    PMADDWD,
    SDOT,
    UDOT,
    USDOT,
    VDPBF16PS,
    VEX_VPDPBUSD,
    VEX_VPMADDWD,
    VPDPBUSD,
    VPMADDUBSW,
    VPMADDWD,
    WORDS,
)
from ....dialects.tile.mma import GROUP, group_of
from ....dialects.tile.ops import LANES
from ..convert_vector import broadcast
from ..lanes import resized
from ..llvm_body import LLVMBody
from ..pieces import pieces_of
from .cursor import PlaceCursor
from .pairs import convert_mma_of_pairs
from .registers import convert_mma_on_tile_registers

_EVEX = {16: "512", 8: "256", 4: "128"}
_PMADDWD = {8: "llvm.x86.avx2.pmadd.wd", 4: "llvm.x86.sse2.pmadd.wd"}
_NEON = "llvm.aarch64.neon"
INTRINSICS = {
    VPDPBUSD: {lanes: f"llvm.x86.avx512.vpdpbusd.{bits}" for lanes, bits in _EVEX.items()},
    VEX_VPDPBUSD: {lanes: f"llvm.x86.avx512.vpdpbusd.{bits}" for lanes, bits in _EVEX.items() if lanes < 16},
    VDPBF16PS: {lanes: f"llvm.x86.avx512bf16.dpbf16ps.{bits}" for lanes, bits in _EVEX.items()},
    VPMADDUBSW: {8: "llvm.x86.avx2.pmadd.ub.sw", 4: "llvm.x86.ssse3.pmadd.ub.sw.128"},
    VPMADDWD: {16: "llvm.x86.avx512.pmaddw.d.512", **_PMADDWD},
    VEX_VPMADDWD: _PMADDWD,
    PMADDWD: {4: _PMADDWD[4]},
    SDOT: {4: f"{_NEON}.sdot.v4i32.v16i8", 2: f"{_NEON}.sdot.v2i32.v8i8"},
    UDOT: {4: f"{_NEON}.udot.v4i32.v16i8", 2: f"{_NEON}.udot.v2i32.v8i8"},
    USDOT: {4: f"{_NEON}.usdot.v4i32.v16i8", 2: f"{_NEON}.usdot.v2i32.v8i8"},
    BFDOT: {4: f"{_NEON}.bfdot.v4f32.v8bf16", 2: f"{_NEON}.bfdot.v2f32.v4bf16"},
}
"""
The intrinsic for each number of lanes of the sum. For AVX-VNNI LLVM takes the same intrinsics as for AVX-512 VNNI, and
chooses by the features of the target how the instruction is encoded.
"""


def convert_mma_of_groups(builder: LLVMBody, op: tile.MmaOp) -> None:
    """Emits, per step of the depth, the groups of a row of B, then for each row one group of A in all lanes."""
    assert isinstance(op.acc.type, VectorType)
    if op.uses_amx:
        convert_mma_on_tile_registers(builder, op)
        return
    group, halves = group_of(op.a_place.type.element_type), 1 if op.nibbles is None else 2
    element = op.a_place.type.element_type
    if element == bf16 and op.using is None:
        convert_mma_of_pairs(builder, op)
        return
    left, right = PlaceCursor(builder, op.a_place), PlaceCursor(builder, op.b_place)
    if left.steps[1] != 1 or right.steps[1] != group or right.layout.strides[-1] != 1:
        builder.error("groups are not next to each other in memory")
        return
    accumulate = {i8: _accumulate, i16: _accumulate_words, bf16: _accumulate_halves}[element]
    pieces = pieces_of(op.acc.type)
    in_row = [piece for piece in pieces if piece.row == 0]
    lanes = [_enough(op, piece.lanes) for piece in pieces]
    totals = [resized(builder, each, wide) for each, wide in zip(builder.pieces[op.acc], lanes, strict=True)]
    for step in range(op.depth.value.data):
        columns: list[SSAValue] = []
        for piece, wide in zip(in_row, lanes, strict=False):
            bytes_ = builder.types.vector(i8, GROUP * piece.lanes)
            loaded = builder.load(right.at(step, piece.column), bytes_, alignment=1)
            columns.append(resized(builder, loaded, GROUP * wide))
        for half in range(halves):
            vectors = columns if halves == 1 else [_nibbles(builder, each, half) for each in columns]
            for number_of_row, row in enumerate(op.row_range):
                factor = builder.load(left.at(number_of_row, group * (halves * step + half)), i32, alignment=1)
                for number, vector in enumerate(vectors):
                    place = row * len(in_row) + number
                    totals[place] = accumulate(builder, op, factor, vector, totals[place])
    builder.pieces[op.result] = [
        resized(builder, each, piece.lanes) for each, piece in zip(totals, pieces, strict=True)
    ]


def _enough(op: tile.MmaOp, lanes: int) -> int:
    """Returns the fewest lanes, of those a piece has and more, that the instruction of `op` is for."""
    wide = next((each for each in (2, 4, 8, LANES) if each >= lanes and _width(op, each)), lanes)
    return lanes if _width(op, lanes) else wide


def _nibbles(builder: LLVMBody, bytes_: SSAValue, half: int) -> SSAValue:
    """Returns the lower or upper half of each byte. Words are shifted, as there are no shifts of bytes."""
    assert isinstance(bytes_.type, VectorType)
    words = builder.types.vector(i32, bytes_.type.get_shape()[0] // GROUP)
    found = builder.bitcast(bytes_, words)
    if half:
        found = builder.binary(llvm.LShrOp, found, builder.constant(4, words))
    return builder.bitcast(builder.binary(llvm.AndOp, found, builder.constant(0x0F0F0F0F, words)), bytes_.type)


def _accumulate(builder: LLVMBody, op: tile.MmaOp, group: SSAValue, vector: SSAValue, total: SSAValue) -> SSAValue:
    """Returns the sum of `total` and the dot products of a group of A with each group of a piece of B."""
    assert isinstance(total.type, VectorType) and isinstance(vector.type, VectorType)
    (lanes,) = total.type.get_shape()
    spread = builder.cached(
        ("groups", group, lanes), lambda: builder.bitcast(broadcast(builder, group, total.type), vector.type)
    )
    if _width(op, lanes):
        return _dot(builder, op, total, (spread, vector))
    left_signed, right_signed = op.unsigned is None, op.right_unsigned is None
    for element in range(GROUP):
        mask = DenseArrayBase.from_list(i32, range(element, GROUP * lanes, GROUP))
        left = _part(builder, spread, mask, element, left_signed)
        right = _part(builder, vector, mask, element, right_signed)
        products = builder.mul(left, right)  # 16 bits hold 255 * 255, or 255 * -128 with a sign.
        signed = left_signed or right_signed
        total = builder.add(total, builder.resize_integer(products, total.type, signed=signed))
    return total


def _accumulate_words(
    builder: LLVMBody, op: tile.MmaOp, group: SSAValue, vector: SSAValue, total: SSAValue
) -> SSAValue:
    """Returns the sum of `total` and the dot products of a pair of i16 of A with each pair of a piece of B."""
    assert isinstance(total.type, VectorType)
    wide: VectorType = total.type
    (lanes,) = wide.get_shape()
    words = builder.types.vector(i16, 2 * lanes)
    spread = builder.cached(
        ("words", group, lanes), lambda: builder.bitcast(broadcast(builder, group, total.type), words)
    )
    pairs = builder.cached(("words", vector), lambda: builder.bitcast(vector, words))
    if _width(op, lanes):
        return _dot(builder, op, total, (spread, pairs))
    for element in range(2):
        mask = DenseArrayBase.from_list(i32, range(element, 2 * lanes, 2))
        left, right = (_element_of(builder, each, mask, element, wide) for each in (spread, pairs))
        total = builder.add(total, builder.mul(left, right))
    return total


def _element_of(builder: LLVMBody, pairs: SSAValue, mask: DenseArrayBase, element: int, wide: VectorType) -> SSAValue:
    """Returns one element of each pair of i16, in 32 bits."""
    type_ = builder.types.vector(i16, wide.get_shape()[0])
    return builder.cached(
        ("element", pairs, element),
        lambda: builder.resize_integer(
            builder.emit(llvm.ShuffleVectorOp, (pairs, pairs), type_, {"mask": mask}), wide, signed=True
        ),
    )


def _width(op: tile.MmaOp, lanes: int) -> int:
    """Returns the lanes of the instruction that `op` names for a piece of `lanes`, 0 where it has none for that."""
    widths = INTRINSICS[op.using.data] if op.using is not None else {}
    if lanes in widths:
        return lanes
    widest = max(widths, default=0)
    return widest if widest and lanes in (2 * widest, 4 * widest) else 0


def _dot(builder: LLVMBody, op: tile.MmaOp, total: SSAValue, factors: tuple[SSAValue, SSAValue]) -> SSAValue:
    """Returns `total` plus the dot products of `factors`, a register at a time where a piece is several."""
    assert op.using is not None and isinstance(total.type, VectorType)
    (lanes,) = total.type.get_shape()
    width = _width(op, lanes)
    intrinsic = INTRINSICS[op.using.data][width]
    if width == lanes:
        return _added(builder, op, intrinsic, total, factors)
    parts = [[_lanes_of(builder, each, part, lanes // width) for part in range(lanes // width)] for each in factors]
    sums = [_lanes_of(builder, total, part, lanes // width) for part in range(lanes // width)]
    return _joined(
        builder,
        [_added(builder, op, intrinsic, each, (a, b)) for each, a, b in zip(sums, *parts, strict=True)],
    )


def _added(
    builder: LLVMBody, op: tile.MmaOp, intrinsic: str, total: SSAValue, factors: tuple[SSAValue, SSAValue]
) -> SSAValue:
    """Returns `total` plus the dot products of a register of A and one of B."""
    assert op.using is not None and isinstance(total.type, VectorType)
    using, (lanes,) = op.using.data, total.type.get_shape()
    if using in WORDS and factors[0].type == builder.types.vector(i16, 2 * lanes):
        return builder.add(total, builder.intrinsic_value(intrinsic, factors, total.type))
    if using in WORDS:
        for odd in range(2):
            signs = (op.unsigned is None, op.right_unsigned is None)
            words = [_words(builder, *each, odd) for each in zip(factors, signs, strict=True)]
            total = builder.add(total, builder.intrinsic_value(intrinsic, words, total.type))
        return total
    if op.right_unsigned is not None:
        factors = (factors[1], factors[0])
    if using != VPMADDUBSW:
        return builder.intrinsic_value(intrinsic, (total, *factors), total.type)
    pairs = builder.types.vector(i16, 2 * lanes)
    products = builder.intrinsic_value(intrinsic, factors, pairs)
    ones = builder.constant(1, pairs)
    return builder.add(total, builder.intrinsic_value(_PMADDWD[lanes], (products, ones), total.type))


def _words(builder: LLVMBody, bytes_: SSAValue, signed: bool, odd: int) -> SSAValue:
    """Returns every other byte, from the first or the second on, in 16 bits."""
    assert isinstance(bytes_.type, VectorType)
    type_ = builder.types.vector(i16, bytes_.type.get_shape()[0] // 2)

    def make() -> SSAValue:
        pairs = builder.cached(("words", bytes_), lambda: builder.bitcast(bytes_, type_))
        eight, low = builder.constant(8, type_), builder.constant(0xFF, type_)
        if not signed:
            return builder.binary(llvm.LShrOp, pairs, eight) if odd else builder.binary(llvm.AndOp, pairs, low)
        return builder.binary(llvm.AShrOp, pairs if odd else builder.shl(pairs, eight), eight)

    return builder.cached(("words", bytes_, signed, odd), make)


def _lanes_of(builder: LLVMBody, vector: SSAValue, part: int, parts: int) -> SSAValue:
    """Returns one of the equal `parts` of a vector."""
    assert isinstance(vector.type, VectorType)
    size = vector.type.get_shape()[0] // parts
    type_ = builder.types.vector(vector.type.element_type, size)
    mask = DenseArrayBase.from_list(i32, range(part * size, (part + 1) * size))
    return builder.cached(
        ("lanes", vector, part, parts),
        lambda: builder.emit(llvm.ShuffleVectorOp, (vector, vector), type_, {"mask": mask}),
    )


def _joined(builder: LLVMBody, parts: list[SSAValue]) -> SSAValue:
    """Returns the lanes of all `parts`, a power of 2 of them, in one vector."""
    while len(parts) > 1:
        first = parts[0].type
        assert isinstance(first, VectorType)
        size = 2 * first.get_shape()[0]
        type_, mask = builder.types.vector(first.element_type, size), DenseArrayBase.from_list(i32, range(size))
        parts = [
            builder.emit(llvm.ShuffleVectorOp, pair, type_, {"mask": mask})
            for pair in zip(parts[::2], parts[1::2], strict=True)
        ]
    return parts[0]


def _accumulate_halves(
    builder: LLVMBody, op: tile.MmaOp, group: SSAValue, vector: SSAValue, total: SSAValue
) -> SSAValue:
    """Returns the sum of `total` and the dot products of a pair of bf16 of A with each pair of a piece of B."""
    assert isinstance(total.type, VectorType)
    (lanes,) = total.type.get_shape()
    words, halves = builder.types.vector(i32, lanes), builder.types.vector(bf16, 2 * lanes)
    spread = builder.cached(("pairs", group, lanes), lambda: broadcast(builder, group, words))
    if _width(op, lanes):
        return _dot(builder, op, total, (builder.bitcast(spread, halves), builder.bitcast(vector, halves)))
    pairs = builder.bitcast(vector, words)
    for element in range(2):
        factors = (_half(builder, spread, element), _half(builder, pairs, element))
        total = builder.intrinsic_value("llvm.fmuladd", (*factors, total), total.type)
    return total


def _half(builder: LLVMBody, pairs: SSAValue, element: int) -> SSAValue:
    """Returns one element of each pair of bf16 as an f32, of which it is the upper half."""
    assert isinstance(pairs.type, VectorType)
    words = pairs.type

    def make() -> SSAValue:
        if element:
            bits = builder.binary(llvm.AndOp, pairs, builder.constant(-(1 << 16), words))
        else:
            bits = builder.shl(pairs, builder.constant(16, words))
        return builder.bitcast(bits, builder.types.vector(f32, words.get_shape()[0]))

    return builder.cached(("half", pairs, element), make)


def _part(builder: LLVMBody, groups: SSAValue, mask: DenseArrayBase, element: int, signed: bool) -> SSAValue:
    """Returns one element of each group, in 16 bits."""
    lanes = len(mask)
    short, wide = builder.types.vector(i8, lanes), builder.types.vector(i16, lanes)

    def make() -> SSAValue:
        picked = builder.emit(llvm.ShuffleVectorOp, (groups, groups), short, {"mask": mask})
        return builder.resize_integer(picked, wide, signed=signed)

    return builder.cached(("part", groups, element, signed), make)
