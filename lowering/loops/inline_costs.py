"""The costs of computing a temporary where it is read: work that is repeated, or can no longer run on vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects import memref
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.access_regions import Access, body_accesses, is_inside, stride_along
from ...analysis.affine import affine_of_value
from ...core.ir.walk import walk
from ...dialects.tensor_loop import BlockOp

VECTOR_INSTRUCTIONS = frozenset(
    f"math.{name}" for name in ("absf", "ceil", "copysign", "floor", "fma", "roundeven", "trunc")
)
SLOW_INSTRUCTIONS = frozenset({"arith.divf", "arith.remf", "math.sqrt", "math.rsqrt"})

FUNCTION_WEIGHT = 20
"""The instructions of a polynomial such as that of exp."""

SLOW_WEIGHT = 4
"""The time of a division, in additions."""

MOST_SCALAR_WEIGHT = 8
"""
The instructions per element that may leave vectors in return for one pass over memory less.

A pass costs a store and a load, about 1 ns per element from the second-level cache. Eight scalar instructions cost as
much.
"""


def weight(block: BlockOp) -> int:
    """Returns about how many instructions one element of a block takes beside loads, stores and addresses."""
    return sum(_weight_of(op) for op in walk(block.body) if op.results)


def _weight_of(op: Operation) -> int:
    if isinstance(op, memref.LoadOp) or isinstance(op.results[0].type, IndexType):
        return 0
    if op.name.startswith("math.") and op.name not in VECTOR_INSTRUCTIONS | SLOW_INSTRUCTIONS:
        return FUNCTION_WEIGHT
    if op.name in SLOW_INSTRUCTIONS:
        return SLOW_WEIGHT
    return int(op.name.startswith(("arith.", "math.")) and op.name != "arith.constant")


class VectorAxes:
    """
    The axes along which the blocks of a function run on vectors. They are found once per block and kept while producers
    join it.

    Along such an axis all accesses stand still or walk through memory, and the stores agree. They walk along a spatial
    axis and stand still along a reduce axis.
    """

    def __init__(self) -> None:
        self._axes: dict[BlockOp, frozenset[int]] = {}
        self._weights: dict[BlockOp, int] = {}
        self._last: tuple[tuple[Any, ...], frozenset[int]] | None = None
        """The last question to `_after`, and its answer: `merge` asks what `survive` has just asked."""

    def of(self, block: BlockOp) -> frozenset[int]:
        """Returns the numbers of the axes."""
        if block not in self._axes:
            self._axes[block] = _vector_axes(block)
        return self._axes[block]

    def _weight(self, block: BlockOp) -> int:
        if block not in self._weights:
            self._weights[block] = weight(block)
        return self._weights[block]

    def survive(self, producer: BlockOp, reader: BlockOp, loads: Sequence[memref.LoadOp], repeats: float) -> bool:
        """
        Returns whether `reader` still runs on vectors, or little is lost, when it computes what `loads` load from
        `producer`.

        `repeats` is how often the reader runs per element of the temporary. A transposition inside a loop that computes
        exp, say, would leave exp without vectors.
        """
        after = self._after(producer, reader, loads)
        self._last = (producer, reader, *loads), after
        if after:
            return True
        losers = [block for block in (producer, reader) if self.of(block)]
        return sum(self._weight(block) for block in losers) * max(repeats, 1) <= MOST_SCALAR_WEIGHT

    def _asked_before(
        self, producer: BlockOp, reader: BlockOp, loads: Sequence[memref.LoadOp]
    ) -> frozenset[int] | None:
        """Returns what the last call of `_after` found, where it was about the same."""
        return self._last[1] if self._last is not None and self._last[0] == (producer, reader, *loads) else None

    def merge(self, producer: BlockOp, reader: BlockOp, loads: Sequence[memref.LoadOp]) -> None:
        """Notes that `producer` is about to be put in place of `loads`."""
        weights = self._weight(reader) + len(loads) * self._weight(producer)
        known = self._asked_before(producer, reader, loads)
        self._axes[reader] = self._after(producer, reader, loads) if known is None else known
        self._last = None
        self._weights[reader] = weights

    def _after(self, producer: BlockOp, reader: BlockOp, loads: Sequence[memref.LoadOp]) -> frozenset[int]:
        """Returns the axes of `reader` that will do once it holds the producer."""
        if not _is_straight(producer) or any(op.parent_block() is not reader.body.block for op in loads):
            return frozenset()
        dims: dict[SSAValue, int] = {axis: position for position, axis in enumerate(reader.axes)}
        sources = [access for access in _outside_init(producer) if not access.is_store]
        if not sources:
            return self.of(reader)
        read = [
            _seen_from([affine_of_value(index, dims, {}) for index in load.indices], source)
            for load in loads
            for source in sources
        ]
        return frozenset(axis for axis in self.of(reader) if _walks(reader, read, axis))


def _vector_axes(block: BlockOp) -> frozenset[int]:
    if not _is_straight(block):
        return frozenset()
    accesses = _outside_init(block)
    return frozenset(axis for axis in range(len(block.axes)) if _walks(block, accesses, axis))


def _walks(block: BlockOp, accesses: Sequence[Access], axis: int) -> bool:
    """Returns whether a loop over `axis` could run on vectors, as far as these accesses go."""
    if block.extents[axis] == 1:
        return False
    dims: list[AffineExpr] = [AffineDimExpr(number) for number in range(len(block.axes))]
    wanted = 1 if block.kinds[axis] == "spatial" else 0
    for access in accesses:
        stride = stride_along(access, dims, axis)
        if stride != wanted and (access.is_store or stride not in (0, 1)):
            return False
    return True


def _outside_init(block: BlockOp) -> list[Access]:
    inside = None if block.init is None else block.init.body.block
    accesses = body_accesses(block.body.block).accesses
    return [access for access in accesses if inside is None or not is_inside(access.op, inside)]


def _seen_from(read: Sequence[AffineExpr | None], source: Access) -> Access:
    """Returns the load `source` of a producer as a reader does it that reads the element at `read`."""
    places = [index for index in read if index is not None]
    if len(places) != len(read):
        return replace(source, indices=(None,) * len(source.indices), unknown=None)
    indices = [None if index is None else index.replace_dims_and_symbols(places, ()) for index in source.indices]
    unknown = source.unknown
    if unknown is not None:
        unknown = frozenset(dim for axis in unknown for dim in places[axis].used_dims())
    return replace(source, indices=tuple(indices), unknown=unknown)


def _is_straight(block: BlockOp) -> bool:
    """Returns whether nothing in a block depends on a condition."""
    return all(not op.regions or op is block.init for op in block.body.block.ops)


__all__ = ["VectorAxes", "weight"]
