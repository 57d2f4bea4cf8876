"""
Estimates how long loops take on one core, for decisions on threads: which loops are too small to share, and how large a
chunk is.

Only the order of magnitude matters, so the figures are those of one core of a server of 2020 with vectors of 512 bits.
All times are in nanoseconds. Where LLVM does not vectorise a loop, its arithmetic takes `SCALAR` times as long.
"""

from __future__ import annotations

from functools import cache
from math import ceil, prod

from xdsl.dialects import arith, math, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, VectorType
from xdsl.ir import Operation, Region, SSAValue

from ..core import roles
from ..core.ir.literals import constant_of
from ..core.ir.walk import ops_in
from ..dialects import tile
from ..dialects.tensor_loop import BlockOp, ForOp, InitOp, LoopOp

# pyright: reportPrivateUsage=false
# Each property of xDSL costs a call, and whole functions are estimated.

GRAIN, LEAST_GRAIN = 20_000, 4_000
"""The most and the least time of a chunk for one thread. Taking a chunk costs 0.1 µs, which is 2 % of the least."""

CHUNKS = 16
"""The number of chunks of a loop, where the grain allows it: enough for a few threads to end together."""

WORTH_SHARING = 100_000
"""A loop that takes less time is done before a second thread is awake, as waking one costs 30 to 60 µs."""

WORTH_SHARING_AWAKE = 10_000
"""The same where workers are awake: handing work over and waiting for the last chunk cost about 1 µs."""

KEEPS_AWAKE = 2_000_000
"""
In a program that takes at most so long, waking workers is not worth it for small loops. It is compared with a bound
that is two to four times the time of most programs.
"""

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
    if type(op) is tile.MapOp:
        return _elements(op.results[0]) * _region(op.regions[0], True)
    if type(op) is tile.MultiplyAddOp:
        return _elements(op.results[0]) * _ELEMENT["multiply-add"]
    if type(op) is tile.LoadOp:
        return _elements(op.results[0]) * _load(op._operands[0])
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
    if isinstance(op, tile.MmaOp):
        kind = "multiply-add of a tile register" if op.uses_amx else "multiply-add"
        apart = op.products if op.using is None else 1 if op.nibbles is None else 2
        return op.sums * op.depth.value.data * apart * _ELEMENT[kind]
    if op.regions:
        return sum(_region(region, vectorized) for region in op.regions)
    if isinstance(op, tile.StoreOp):
        return _elements(op.tile) * _load(op.buffer)
    return _scalar(op) * (1.0 if vectorized else SCALAR)


def grain_of(function: Operation, work: float, most: float = GRAIN) -> float:
    """
    Returns the nanoseconds of a chunk of a loop in `function` that takes `work` nanoseconds: the `stepwell.grain` of
    the function, else so many that there are `CHUNKS` chunks, at least `LEAST_GRAIN` and at most `most`.
    """
    found = function.attributes.get(roles.GRAIN)
    return found.value.data if isinstance(found, IntegerAttr) else min(most, max(LEAST_GRAIN, work / CHUNKS))


def _region(region: Region, vectorized: bool) -> float:
    return sum(nanoseconds(op, vectorized) for block in region.blocks for op in ops_in(block))


def _scalar(op: Operation) -> float:
    kind = _kind(op.__class__)
    if kind == "load":
        return _load(op._operands[0])
    if kind == "store":
        return _load(op._operands[1])
    if kind == "call":
        return _UNKNOWN_CALL
    results = op.results
    if kind == "constant" or not results or type(results[0]._type) is IndexType:
        return 0.0
    return _elements(results[0]) * _ELEMENT[kind]


def is_function(op: Operation) -> bool:
    """Returns whether `op` takes as long as a function of a number that is no instruction, such as `math.exp`."""
    return _kind(op.__class__) == "function"


@cache
def _kind(kind: type[Operation]) -> str:
    """Returns what takes the time of an op on scalars."""
    if issubclass(kind, memref.LoadOp | memref.StoreOp):
        return "load" if issubclass(kind, memref.LoadOp) else "store"
    if kind.name in ("func.call", "tensor_loop.call"):
        return "call"
    if issubclass(kind, arith.ConstantOp):
        return "constant"
    if issubclass(kind, _DIVISIONS):
        return "division"
    return "function" if kind.name.startswith("math.") and not issubclass(kind, _CHEAP_MATH) else "arith"


def _load(buffer: SSAValue) -> float:
    """Returns the time to load or store an element of `buffer`."""
    type_ = buffer._type
    assert isinstance(type_, MemRefType)
    size = getattr(type_.element_type, "size", 8) * prod(type_.get_shape())
    return _ELEMENT["far load" if size > NEAR_BYTES else "load"]


def _elements(value: SSAValue) -> int:
    type_ = value._type
    return prod(type_.get_shape()) if type(type_) is VectorType else 1


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
