"""
Vectors with more lanes than anybody looks at, so that they are whole registers.

LLVM passes a vector from block to block in one register after the other, if its lanes are a power of 2. If not, it
rounds the lanes up where one register holds them. Where none does, it passes each lane by itself: a loop that carries
vectors of 12 floats takes three times as long with AVX2 as one of 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, FixedBitwidthType, VectorType, bf16, i32
from xdsl.ir import Attribute, SSAValue

from ...dialects import llvm_ext
from .llvm_body import LLVMBody

LEAST_REGISTER: Final = 128
"""The bits of a vector that a register holds on every machine."""


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


def whole_lanes(type_: VectorType) -> int:
    """
    Returns the lanes with which blocks pass on a vector: a power of 2, or its own where any register holds it.

    Those of bf16 keep their own, as LLVM has no shuffles of bf16.
    """
    (lanes,), element = type_.get_shape(), type_.element_type
    if not isinstance(element, FixedBitwidthType) or element == bf16 or lanes * element.bitwidth <= LEAST_REGISTER:
        return lanes
    return 1 << (lanes - 1).bit_length()


def passed_on(builder: LLVMBody, type_: Attribute) -> Attribute:
    """Returns the type in which blocks pass on values of a type."""
    if not isinstance(type_, VectorType):
        return type_
    return builder.types.vector(type_.element_type, whole_lanes(type_))


def carried(builder: LLVMBody, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Returns values as blocks pass them on."""
    return [
        resized(builder, each, whole_lanes(each.type)) if isinstance(each.type, VectorType) else each for each in values
    ]


def as_before(builder: LLVMBody, values: Sequence[SSAValue], types: Sequence[Attribute]) -> list[SSAValue]:
    """Returns values that blocks have passed on in the types that they had before."""
    return [
        resized(builder, each, type_.get_shape()[0]) if isinstance(type_, VectorType) else each
        for each, type_ in zip(values, types, strict=True)
    ]
