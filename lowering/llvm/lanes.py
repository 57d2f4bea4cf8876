"""
Vectors with more lanes than anybody looks at, so that they are whole registers.

LLVM passes a vector from block to block in one register after the other, if its lanes are a power of 2. If not, it
rounds the lanes up where one register holds them. Where none does, it passes each lane by itself: a loop that carries
vectors of 12 floats takes three times as long with AVX2 as one of 16.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, VectorType, i32
from xdsl.ir import Attribute, SSAValue

from ...dialects import llvm_ext
from .llvm_body import LLVMBody


def resized(builder: LLVMBody, vector: SSAValue, lanes: int) -> SSAValue:
    """Returns the first lanes of a vector. Lanes that it does not have may hold anything."""
    assert isinstance(vector.type, VectorType)
    (found,) = vector.type.get_shape()
    if found == lanes:
        return vector
    before = vector.owner
    if isinstance(before, llvm.ShuffleVectorOp) and found < lanes and _is_first_lanes(before, found, lanes):
        return before.operands[0]
    poison = builder.cached(("poison", vector.type), lambda: builder.emit(llvm_ext.PoisonOp, (), vector.type))
    mask = DenseArrayBase.from_list(i32, [min(lane, found) for lane in range(lanes)])
    type_ = builder.types.vector(vector.type.element_type, lanes)
    return builder.emit(llvm.ShuffleVectorOp, (vector, poison), type_, {"mask": mask})


def _is_first_lanes(op: llvm.ShuffleVectorOp, found: int, lanes: int) -> bool:
    """Returns whether a vector is the first lanes, so many as it has, of one that has `lanes`."""
    source = op.operands[0].type
    return (
        isinstance(source, VectorType)
        and source.get_shape() == (lanes,)
        and op.mask.get_values() == tuple(range(found))
    )


def rounded(lanes: int) -> int:
    """Returns the least power of 2 that is as many lanes or more."""
    return 1 << (lanes - 1).bit_length()


def passed_on(builder: LLVMBody, type_: Attribute) -> Attribute:
    """Returns the type in which blocks pass on values of a type: vectors have a power of 2 of lanes."""
    lanes = _lanes(type_)
    return builder.types.vector(type_.element_type, rounded(lanes)) if lanes else type_  # pyright: ignore


def carried(builder: LLVMBody, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Returns values as blocks pass them on."""
    return [resized(builder, each, rounded(lanes)) if (lanes := _lanes(each.type)) else each for each in values]


def as_before(builder: LLVMBody, values: Sequence[SSAValue], types: Sequence[Attribute]) -> list[SSAValue]:
    """Returns values that blocks have passed on in the types that they had before."""
    pairs = zip(values, types, strict=True)
    return [resized(builder, each, lanes) if (lanes := _lanes(type_)) else each for each, type_ in pairs]


def _lanes(type_: Attribute) -> int | None:
    """Returns the lanes of vectors of a type, `None` for other types."""
    return type_.get_shape()[0] if isinstance(type_, VectorType) else None
