"""Addresses of memref elements, and loads and stores through them, for `memref` and `vector` accesses alike."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BFloat16Type, IntegerAttr, MemRefType, UnitAttr, VectorType, i8, i16
from xdsl.ir import Attribute, Operation, SSAValue

from ...core.ir.literals import constant_of
from .attributes import NSW, NUW
from .index_parts import parts_of
from .llvm_body import LLVMBody
from .types import MemRefLayout, element_bytes


def layout_of(builder: LLVMBody, value: SSAValue) -> MemRefLayout:
    """Returns the layout of a memref of the source program."""
    assert isinstance(value.type, MemRefType)
    return builder.types.layout(value.type)


def scaled(builder: LLVMBody, value: SSAValue, factor: int, flags: int) -> SSAValue:
    """Returns `value * factor`, made once per block."""
    if factor == 1:
        return value
    return builder.cached(("mul", value, factor, flags), lambda: builder.mul(value, builder.constant(factor), flags))


def summed(builder: LLVMBody, lhs: SSAValue | None, rhs: SSAValue, flags: int) -> SSAValue:
    """Returns `lhs + rhs`, made once per block, or `rhs` when there is no left side yet."""
    if lhs is None:
        return rhs
    return builder.cached(("add", lhs, rhs, flags), lambda: builder.add(lhs, rhs, flags))


def linear_index(
    builder: LLVMBody, strides: Sequence[int], indices: Sequence[SSAValue | int], flags: int
) -> tuple[SSAValue | None, int]:
    """
    Returns `sum(stride * index)` in elements as (sum of the unknown terms, sum of the constant ones).

    Indices are values of the source program or integers. `flags` are what the arithmetic may promise about overflow.
    """
    total: SSAValue | None = None
    constant = 0
    for stride, index in zip(strides, indices, strict=True):
        known = index if isinstance(index, int) else constant_of(index)
        if known is not None:
            constant += known * stride
        elif stride != 0:
            assert not isinstance(index, int)
            term = scaled(builder, builder.value(index), stride, flags)
            total = summed(builder, total, term, flags)
    return total, constant


def address(
    builder: LLVMBody,
    base: SSAValue,
    layout: MemRefLayout,
    indices: Sequence[SSAValue],
    *,
    inbounds: bool = True,
    in_parts: bool = False,
) -> SSAValue:
    """
    Returns a pointer to the element at `indices`, made once per block for the same element.

    In bounds no index is negative, so nothing wraps, signed or not, unless a stride is negative.
    `inbounds=False` is for accesses under a mask, whose first element need not exist.

    With `in_parts`, elements whose indices differ by constants are at constant distances from one pointer, which lies
    in the buffer as they do: loop strength reduction would look for such distances for long. Loops on numbers do
    without. LLVM takes conditions out of them only where their branches have no pointer in common.
    """
    pointer = builder.value(base)
    flags = 0
    if inbounds:
        flags = NSW | NUW if all(stride >= 0 for stride in layout.strides) else NSW

    def make() -> SSAValue:
        apart = in_parts and flags & NUW
        split = _in_parts(layout.strides, indices) if apart else (layout.strides, indices, 0)
        strides, values, distance = split
        total, constant = linear_index(builder, strides, values, flags)
        constant += distance
        if total is None:
            return builder.gep(pointer, constant, layout.memory_type, inbounds=inbounds) if constant else pointer
        if constant and not apart:
            total = summed(builder, total, builder.constant(constant), flags if constant > 0 else flags & NSW)
            constant = 0
        base = builder.cached(
            ("base", pointer, total, layout.memory_type, inbounds),
            lambda: builder.gep(pointer, total, layout.memory_type, inbounds=inbounds),
        )
        return builder.gep(base, constant, layout.memory_type, inbounds=inbounds) if constant else base

    return builder.cached(("address", pointer, layout.strides, inbounds, in_parts, *indices), make)


def _in_parts(strides: Sequence[int], indices: Sequence[SSAValue]) -> tuple[list[int], list[SSAValue], int]:
    """Returns strides and indices of an element before the one at `indices`, and how many elements lie between."""
    found = [parts_of(index) for index in indices]
    pairs = list(zip(strides, found, strict=True))
    between = sum(stride * each.constant for stride, each in pairs)
    return [stride * each.factor for stride, each in pairs], [each.value for each in found], between


def lane_alignment(value_type: Attribute) -> int:
    """Returns the bytes to which a scalar, or a lane of a vector, is aligned in memory."""
    return element_bytes(value_type.element_type if isinstance(value_type, VectorType) else value_type)


def load_value(
    builder: LLVMBody, pointer: SSAValue, value_type: Attribute, alignment: int, *, nontemporal: bool = False
) -> SSAValue:
    """Loads a scalar or vector. Booleans are bytes in memory, bf16 moves as bits. `alignment` is in bytes."""
    boolean = builder.types.is_boolean(value_type)
    memory_type = builder.types.like(i8, value_type) if boolean else moved_as(value_type)
    loaded = builder.load(pointer, memory_type, alignment)
    if nontemporal:
        assert builder.block.last_op is not None
        builder.block.last_op.attributes["nontemporal"] = UnitAttr()
    if boolean:
        return builder.icmp("ne", loaded, builder.constant(0, memory_type))
    return builder.bitcast(loaded, value_type)


def store_value(
    builder: LLVMBody, value: SSAValue, pointer: SSAValue, alignment: int, *, nontemporal: bool = False
) -> None:
    """Stores a scalar or vector. Booleans are bytes 0 or 1 in memory, bf16 moves as bits. `alignment` is in bytes."""
    if builder.types.is_boolean(value.type):
        value = builder.resize_integer(value, builder.types.like(i8, value.type), signed=False)
    store = builder.store(builder.bitcast(value, moved_as(value.type)), pointer, alignment)
    if nontemporal:
        store.properties["nontemporal"] = UnitAttr()


def moved_as(value_type: Attribute) -> Attribute:
    """
    Returns the type in which a value is loaded, stored and chosen.

    LLVM may hold a bf16 in a register as an f32, and the instruction by which it goes back takes denormals for zeros.
    """
    return i16 if isinstance(value_type, BFloat16Type) else value_type


def is_nontemporal(op: Operation) -> bool:
    """Returns whether the property `nontemporal` is set."""
    flag = op.properties.get("nontemporal")
    return isinstance(flag, IntegerAttr) and flag.value.data != 0
