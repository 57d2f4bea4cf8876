"""
Estimates how long loops take on one core, for decisions on threads: which loops are too small to share, and how large a
chunk is.

Only the order of magnitude matters, so the figures are those of one core of a server of 2020 with vectors of 512 bits.
All times are in nanoseconds. Where LLVM does not vectorise a loop, its arithmetic takes `SCALAR` times as long.
"""

from __future__ import annotations

from math import ceil, prod

from xdsl.dialects import arith, math, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, VectorType
from xdsl.ir import Operation, Region, SSAValue

from ..core import roles
from ..core.ir.literals import constant_of
from ..dialects import tile
from ..dialects.tensor_loop import BlockOp, ForOp, InitOp, LoopOp
from ..dialects.tile.mma import group_of

GRAIN = 20_000
"""
The time of a chunk for one thread. Waking a sleeping thread costs 30 to 60 µs, and handing work to one that is awake
0.3 µs.
"""

WORTH_SHARING = 5 * GRAIN
"""A loop that takes less time is done before a second thread is awake."""

MOST_CHUNKS = 256
"""The largest number of chunks. More of them do not balance better."""

SCALAR = 8.0
_ELEMENT = {
    "load": 0.02,
    "far load": 0.1,
    "arith": 0.008,
    "division": 0.05,
    "function": 0.25,
    "multiply-add": 1 / 60,
    "multiply-add of a tile register": 1 / 400,
}

NEAR_BYTES = 1024 * 1024
"""Larger buffers do not stay in the cache of one core, so their elements come from farther away."""

_CHEAP_MATH = (
    math.AbsFOp,
    math.CeilOp,
    math.FloorOp,
    math.FmaOp,
    math.CopySignOp,
    math.TruncOp,
    math.RoundEvenOp,
)
_DIVISIONS = (arith.DivfOp, arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp, math.SqrtOp)
_UNKNOWN_CALL = 100.0


def trip_count(loop: scf.ForOp) -> int | None:
    """Returns how often a loop runs when its bounds are constants, else `None`."""
    bounds = [constant_of(value) for value in (loop.lb, loop.ub, loop.step)]
    lower, upper, step = bounds
    if lower is None or upper is None or step is None or step < 1:
        return None
    return max(0, -(-(upper - lower) // step))


def nanoseconds_of_iteration(loop: scf.ForOp | ForOp) -> float:
    """Returns the time of one iteration of a loop."""
    return _region(loop.body, _is_vectorized(loop))


def nanoseconds(op: Operation, vectorized: bool = False) -> float:
    """
    Returns the time of all of `op`. Loops of unknown length run once. `vectorized` tells that the loop around it is
    vectorised.
    """
    # Few ops have regions or work on tiles, and asking what an op is takes longer than the rest.
    if not op.regions and not op.name.startswith("tile."):
        return _scalar(op) * (1.0 if vectorized else SCALAR)
    if isinstance(op, scf.ForOp):
        trips = trip_count(op)
        return (1 if trips is None else trips) * nanoseconds_of_iteration(op)
    if isinstance(op, LoopOp):
        trips = prod(extent if isinstance(extent, int) else 1 for extent in op.extents)
        return trips * _region(op.body, _is_vectorized(op))
    if isinstance(op, InitOp):
        return 0.0
    if isinstance(op, BlockOp):
        return _region(op.body, vectorized)
    if isinstance(op, tile.MapOp):
        return _elements(op.results[0]) * _region(op.body, True)
    if isinstance(op, tile.MmaOp):
        kind = "multiply-add of a tile register" if op.uses_amx else "multiply-add"
        apart = group_of(op.a_place.type.element_type) if op.groups is not None and op.using is None else 1
        return op.sums * op.depth.value.data * apart * _ELEMENT[kind]
    if op.regions:
        return sum(_region(region, vectorized) for region in op.regions)
    if isinstance(op, tile.LoadOp):
        return _elements(op.results[0]) * _load(op.buffer)
    if isinstance(op, tile.StoreOp):
        return _elements(op.tile) * _load(op.buffer)
    return _scalar(op) * (1.0 if vectorized else SCALAR)


def grain_of(function: Operation, default: float = GRAIN) -> float:
    """Returns the nanoseconds of a chunk in `function`: its `stepwell.grain`, else `default`."""
    found = function.attributes.get(roles.GRAIN)
    return found.value.data if isinstance(found, IntegerAttr) else default


def _region(region: Region, vectorized: bool) -> float:
    return sum(nanoseconds(op, vectorized) for block in region.blocks for op in block.ops)


def _scalar(op: Operation) -> float:
    if isinstance(op, memref.LoadOp | memref.StoreOp):
        return _load(op.memref)
    if op.name in ("func.call", "tensor_loop.call"):
        return _UNKNOWN_CALL
    if not op.results or isinstance(op.results[0].type, IndexType) or isinstance(op, arith.ConstantOp):
        return 0.0
    count = _elements(op.results[0])
    if isinstance(op, _DIVISIONS):
        return count * _ELEMENT["division"]
    if op.name.startswith("math.") and not isinstance(op, _CHEAP_MATH):
        return count * _ELEMENT["function"]
    return count * _ELEMENT["arith"]


def _load(buffer: SSAValue) -> float:
    """Returns the time to load or store an element of `buffer`."""
    type_ = buffer.type
    assert isinstance(type_, MemRefType)
    size = getattr(type_.element_type, "size", 8) * prod(type_.get_shape())
    return _ELEMENT["far load" if size > NEAR_BYTES else "load"]


def _elements(value: SSAValue) -> int:
    return prod(value.type.get_shape()) if isinstance(value.type, VectorType) else 1


def _is_vectorized(loop: Operation) -> bool:
    if isinstance(loop, LoopOp):
        return bool(loop.kinds) and loop.kinds[-1] == "vectorized"
    hint = loop.attributes.get("stepwell.loop")
    return hint is not None and "vectorize" in str(hint).strip('"').split(",")


def chunk_of(trips: int, each: float, grain: float = GRAIN) -> int:
    """Returns how many of `trips` iterations of `each` nanoseconds make a chunk. Chunks are as even as can be."""
    if trips < 1:
        return 1
    least = min(trips, ceil(grain / each) if each > 0 else trips)
    count = min(ceil(trips / max(1, least)), MOST_CHUNKS)
    return ceil(trips / count)
