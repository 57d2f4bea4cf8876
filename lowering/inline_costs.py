"""Whether computing a temporary where it is read pays: what is repeated, and what can no longer run on vectors."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ..analysis.access_regions import Access, body_accesses, is_inside, stride_along
from ..dialects.tensor_loop import BlockOp

VECTOR_INSTRUCTIONS = frozenset(
    f"math.{name}" for name in ("absf", "ceil", "copysign", "floor", "fma", "roundeven", "trunc")
)
SLOW_INSTRUCTIONS = frozenset({"arith.divf", "arith.remf", "math.sqrt", "math.rsqrt"})

FUNCTION_WEIGHT = 20
"""Instructions of a polynomial such as that of exp."""

SLOW_WEIGHT = 4
"""How much longer a division takes than an addition."""

MOST_SCALAR_WEIGHT = 8
"""
Instructions per element that may leave vectors for one pass over memory less.

A pass costs a store and a load, about 1 ns per element from the second-level cache; eight scalar instructions cost as much.
"""


def weight(block: BlockOp) -> int:
    """About how many instructions one element of a block takes beside loads, stores and addresses."""
    return sum(_weight_of(op) for op in block.body.walk() if op.results)


def _weight_of(op: Operation) -> int:
    if isinstance(op, memref.LoadOp) or isinstance(op.results[0].type, IndexType):
        return 0
    if op.name.startswith("math.") and op.name not in VECTOR_INSTRUCTIONS | SLOW_INSTRUCTIONS:
        return FUNCTION_WEIGHT
    if op.name in SLOW_INSTRUCTIONS:
        return SLOW_WEIGHT
    return int(op.name.startswith(("arith.", "math.")) and op.name != "arith.constant")


def keeps_vectors(
    producer: BlockOp, reader: BlockOp, loads: Sequence[memref.LoadOp], buffer: SSAValue, repeats: float
) -> bool:
    """
    Whether `reader` can still run on vectors, or loses little, when it computes the elements of `buffer` itself.

    `repeats` is how often the reader runs per element of the buffer. Transposing inside a loop that computes exp, say,
    would leave exp without vectors.
    """
    made, read = _outside_init(producer), _outside_init(reader)
    kept = [access for access in read if access.buffer is not buffer]
    sources = [access for access in made if not access.is_store]
    for access in read:
        if access.buffer is buffer:
            kept += [_seen_from(access, source) for source in sources]
    conditional = any(op.parent_block() is not reader.body.block for op in loads)
    if not conditional and _runs_on_vectors(reader, kept, _is_straight(producer)):
        return True
    lost = 0.0
    if _runs_on_vectors(producer, made, True):
        lost += weight(producer) * max(repeats, 1)
    if _runs_on_vectors(reader, read, True):
        lost += weight(reader) * max(repeats, 1)
    return lost <= MOST_SCALAR_WEIGHT


def _outside_init(block: BlockOp) -> list[Access]:
    inside = None if block.init is None else block.init.body.block
    accesses = body_accesses(block.body.block).accesses
    return [access for access in accesses if inside is None or not is_inside(access.op, inside)]


def _seen_from(read: Access, source: Access) -> Access:
    """The load `source` of the producer as the reader does it, which reads the element at `read.indices`."""
    if None in read.indices:
        return Access(source.op, source.buffer, (None,) * len(source.indices))
    places = [index for index in read.indices if index is not None]
    return Access(
        source.op,
        source.buffer,
        tuple(
            None if index is None else index.replace_dims_and_symbols(places, ()) for index in source.indices
        ),
    )


def _is_straight(block: BlockOp) -> bool:
    """Whether nothing in a block depends on a condition."""
    return all(not op.regions or op is block.init for op in block.body.block.ops)


def _runs_on_vectors(block: BlockOp, accesses: Sequence[Access], straight: bool) -> bool:
    """Whether along some axis all accesses stand still or walk through memory, and the stores agree."""
    if not straight or not _is_straight(block):
        return False
    dims: list[AffineExpr] = [AffineDimExpr(number) for number in range(len(block.axes))]
    for number, (kind, extent) in enumerate(zip(block.kinds, block.extents, strict=True)):
        if extent == 1:
            continue
        wanted = 1 if kind == "spatial" else 0
        strides = [(stride_along(access, dims, number), access.is_store) for access in accesses]
        if all(stride == wanted if is_store else stride in (0, 1) for stride, is_store in strides):
            return True
    return False


__all__: Sequence[str] = ["keeps_vectors", "weight"]
