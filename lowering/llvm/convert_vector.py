"""The conversion of 1-D `vector` ops. The type converter refuses vectors of more dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from xdsl.dialects import arith, llvm, scf, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ...core.ir.literals import constant_of
from ...core.roles import BUFFER_ALIGNMENT
from ...dialects import llvm_ext
from .addressing import address, is_nontemporal, lane_alignment, layout_of, load_value, store_value
from .attributes import fastmath, number, numbers32
from .convert_arith import NO_BF16
from .llvm_body import ConversionTable, LLVMBody
from .small_floats import element_type, is_bf16
from .types import MemRefLayout

FLOAT_REDUCTION = {
    "minimumf": ("llvm.vector.reduce.fminimum", "llvm.minimum"),
    "maximumf": ("llvm.vector.reduce.fmaximum", "llvm.maximum"),
    "minnumf": ("llvm.vector.reduce.fmin", "llvm.minnum"),
    "maxnumf": ("llvm.vector.reduce.fmax", "llvm.maxnum"),
}
INTEGER_REDUCTION = {
    "minui": ("llvm.vector.reduce.umin", "llvm.umin"),
    "minsi": ("llvm.vector.reduce.smin", "llvm.smin"),
    "maxui": ("llvm.vector.reduce.umax", "llvm.umax"),
    "maxsi": ("llvm.vector.reduce.smax", "llvm.smax"),
}
BITWISE_REDUCTION: dict[str, tuple[str, type[Operation]]] = {
    "add": ("llvm.vector.reduce.add", llvm.AddOp),
    "mul": ("llvm.vector.reduce.mul", llvm.MulOp),
    "and": ("llvm.vector.reduce.and", llvm.AndOp),
    "or": ("llvm.vector.reduce.or", llvm.OrOp),
    "xor": ("llvm.vector.reduce.xor", llvm.XOrOp),
}


def lanes_of(value_type: Attribute) -> int:
    """Returns the number of lanes of a 1-D vector type."""
    assert isinstance(value_type, VectorType)
    return value_type.get_shape()[0]


def broadcast(builder: LLVMBody, scalar: SSAValue, vector_type: Attribute) -> SSAValue:
    """Returns `scalar` in every lane."""
    owner = scalar.owner
    if isinstance(owner, llvm.ConstantOp) and isinstance(owner.value, IntegerAttr) and scalar.type != i1:
        return builder.constant(owner.value.value.data, vector_type)
    lanes = lanes_of(vector_type)
    poison = builder.emit(llvm_ext.PoisonOp, (), vector_type)
    first = builder.emit(llvm.InsertElementOp, (poison, scalar, builder.constant(0)), vector_type)
    mask = {"mask": numbers32((0,) * lanes)}
    return builder.emit(llvm.ShuffleVectorOp, (first, poison), vector_type, mask)


def _row_stride_is_one(builder: LLVMBody, op: Operation, layout: MemRefLayout) -> bool:
    if layout.strides and layout.strides[-1] != 1 and layout.shape[-1] != 1:
        builder.error(f"last dimension has stride {layout.strides[-1]}, expected 1")
        return False
    return True


def alignment_at(builder: LLVMBody, base: SSAValue, layout: MemRefLayout, indices: Sequence[SSAValue]) -> int:
    """
    Returns the bytes to which the element at `indices` is known to be aligned.

    It follows from the alignment of the buffer and from what divides each index (constants, and loop variables that
    start at and step by constants).
    """
    known = builder.alignment.get(builder.value(base), 0)
    lane = lane_alignment(layout.value_type)
    if known <= lane:
        return lane
    for stride, index in zip(layout.strides, indices, strict=True):
        known = gcd(known, stride * divisor_of(index) * layout.element_bytes)
    return max(lane, min(known & -known, BUFFER_ALIGNMENT))


def divisor_of(index: SSAValue) -> int:
    """Returns a number that divides `index` for certain, or 0 when the index is the constant 0."""
    if (known := constant_of(index)) is not None:
        return known
    if isinstance(index, BlockArgument):
        loop = index.owner.parent_op()
        if isinstance(loop, scf.ForOp) and index.index == 0:
            lower, step = constant_of(loop.lb), constant_of(loop.step)
            return 1 if lower is None or step is None else gcd(lower, step)
        return 1
    if isinstance(index.owner, arith.MuliOp):
        return (constant_of(index.owner.lhs) or 1) * (constant_of(index.owner.rhs) or 1)
    return 1


def convert_load(builder: LLVMBody, op: vector.LoadOp) -> None:
    layout = layout_of(builder, op.base)
    result_type = builder.types.convert(op.result.type)
    if not _row_stride_is_one(builder, op, layout):
        return
    pointer = address(builder, op.base, layout, op.indices, in_parts=True)
    alignment = alignment_at(builder, op.base, layout, op.indices)
    loaded = load_value(builder, pointer, result_type, alignment, nontemporal=is_nontemporal(op))
    builder.bind(op.result, loaded)


def convert_store(builder: LLVMBody, op: vector.StoreOp) -> None:
    layout = layout_of(builder, op.base)
    builder.types.convert(op.vector.type)
    if not _row_stride_is_one(builder, op, layout):
        return
    pointer = address(builder, op.base, layout, op.indices, in_parts=True)
    alignment = alignment_at(builder, op.base, layout, op.indices)
    store_value(builder, builder.value(op.vector), pointer, alignment, nontemporal=is_nontemporal(op))


def masked_load(
    builder: LLVMBody, base: SSAValue, indices: Sequence[SSAValue], mask: SSAValue, pass_thru: SSAValue
) -> SSAValue:
    """Makes an `llvm_ext.masked_load` of the lanes from `indices` on. Booleans are bytes in memory."""
    layout = layout_of(builder, base)
    pointer = address(builder, base, layout, indices, inbounds=False)
    boolean = builder.types.is_boolean(pass_thru.type)
    if boolean:
        pass_thru = builder.resize_integer(
            pass_thru, builder.types.like(layout.memory_type, pass_thru.type), signed=False
        )
    properties = {"alignment": number(lane_alignment(layout.value_type))}
    operands = (pointer, mask, pass_thru)
    loaded = builder.emit(llvm_ext.MaskedLoadOp, operands, pass_thru.type, properties)
    return builder.icmp("ne", loaded, builder.constant(0, loaded.type)) if boolean else loaded


def masked_store(
    builder: LLVMBody, base: SSAValue, indices: Sequence[SSAValue], mask: SSAValue, value: SSAValue
) -> None:
    """Makes an `llvm_ext.masked_store` of the lanes from `indices` on. Booleans are bytes in memory."""
    layout = layout_of(builder, base)
    pointer = address(builder, base, layout, indices, inbounds=False)
    if builder.types.is_boolean(value.type):
        value = builder.resize_integer(value, builder.types.like(layout.memory_type, value.type), signed=False)
    properties = {"alignment": number(lane_alignment(layout.value_type))}
    builder.emit_void(llvm_ext.MaskedStoreOp, (value, pointer, mask), properties)


def convert_masked_load(builder: LLVMBody, op: vector.MaskedLoadOp) -> None:
    builder.types.convert(op.result.type)
    if not _row_stride_is_one(builder, op, layout_of(builder, op.base)):
        return
    mask, pass_thru = builder.value(op.mask), builder.value(op.pass_thru)
    builder.bind(op.result, masked_load(builder, op.base, op.indices, mask, pass_thru))


def convert_masked_store(builder: LLVMBody, op: vector.MaskedStoreOp) -> None:
    if not _row_stride_is_one(builder, op, layout_of(builder, op.base)):
        return
    mask, value = builder.value(op.mask), builder.value(op.value_to_store)
    masked_store(builder, op.base, op.indices, mask, value)


def first_lanes(builder: LLVMBody, count: SSAValue, mask_type: Attribute) -> SSAValue:
    """Returns a mask whose first `count` lanes are set. `count` is an i64 of any value."""
    lanes = lanes_of(mask_type)
    at_least = builder.intrinsic_value("llvm.smax", (count, builder.constant(0)), i64)
    clamped = builder.intrinsic_value("llvm.smin", (at_least, builder.constant(lanes)), i64)
    numbers_type = builder.types.vector(i32, lanes)
    numbers = builder.emit(
        llvm.ConstantOp,
        (),
        numbers_type,
        {"value": DenseIntOrFPElementsAttr.from_list(VectorType(i32, [lanes]), list(range(lanes)))},
    )
    bound = broadcast(builder, builder.resize_integer(clamped, i32, signed=True), numbers_type)
    return builder.icmp("slt", numbers, bound)


def convert_create_mask(builder: LLVMBody, op: vector.CreateMaskOp) -> None:
    mask_type = builder.types.convert(op.mask_vector.type)
    builder.bind(op.mask_vector, first_lanes(builder, builder.value(op.mask_dim_sizes[0]), mask_type))


def _transfer_mask(
    builder: LLVMBody, op: vector.TransferReadOp | vector.TransferWriteOp, vector_type: Attribute
) -> SSAValue | None:
    """Returns the mask of the lanes that exist and are wanted, or None for all. Notes an error for other maps."""
    permutation = op.permutation_map
    assert isinstance(permutation, AffineMapAttr) and isinstance(op.source.type, MemRefType)
    rank = op.source.type.get_num_dims()
    if str(permutation.data) != f"({', '.join(f'd{d}' for d in range(rank))}) -> (d{rank - 1})":
        builder.error(f"permutation map {permutation.data} is not the last dimension")
        return None
    mask = None if op.mask is None else builder.value(op.mask)
    if not op.in_bounds.data[0].value.data:
        extent = builder.constant(layout_of(builder, op.source).shape[-1])
        left = builder.sub(extent, builder.value(op.indices[-1]))
        mask_type = builder.types.like(i1, vector_type)
        inside = first_lanes(builder, left, mask_type)
        mask = inside if mask is None else builder.binary(llvm.AndOp, mask, inside)
    return mask


def convert_transfer_read(builder: LLVMBody, op: vector.TransferReadOp) -> None:
    result_type = builder.types.convert(op.result.type)
    layout = layout_of(builder, op.source)
    if not _row_stride_is_one(builder, op, layout):
        return
    errors = len(builder.state.errors)
    mask = _transfer_mask(builder, op, result_type)
    if len(builder.state.errors) > errors:
        return
    if mask is None:
        pointer = address(builder, op.source, layout, op.indices, in_parts=True)
        alignment = alignment_at(builder, op.source, layout, op.indices)
        builder.bind(op.result, load_value(builder, pointer, result_type, alignment))
        return
    padding = broadcast(builder, builder.value(op.padding), result_type)
    builder.bind(op.result, masked_load(builder, op.source, op.indices, mask, padding))


def convert_transfer_write(builder: LLVMBody, op: vector.TransferWriteOp) -> None:
    value = builder.value(op.vector)
    layout = layout_of(builder, op.source)
    if not _row_stride_is_one(builder, op, layout):
        return
    errors = len(builder.state.errors)
    mask = _transfer_mask(builder, op, value.type)
    if len(builder.state.errors) > errors:
        return
    if mask is None:
        pointer = address(builder, op.source, layout, op.indices, in_parts=True)
        store_value(builder, value, pointer, alignment_at(builder, op.source, layout, op.indices))
    else:
        masked_store(builder, op.source, op.indices, mask, value)


def convert_broadcast(builder: LLVMBody, op: vector.BroadcastOp) -> None:
    target = builder.types.convert(op.vector.type)
    source = builder.value(op.source)
    if isinstance(source.type, VectorType):
        if source.type == target:
            builder.bind(op.vector, source)
        else:
            builder.error(f"source is {op.source.type}, expected a scalar or {op.vector.type}")
        return
    builder.bind(op.vector, broadcast(builder, source, target))


def convert_fma(builder: LLVMBody, op: vector.FMAOp) -> None:
    operands = builder.values_of(op.operands)
    if is_bf16(operands[0].type):
        builder.error(NO_BF16)
        return
    builder.bind(op.res, builder.intrinsic_value("llvm.fma", operands, operands[0].type))


def convert_reduction(builder: LLVMBody, op: vector.ReductionOp) -> None:
    """Reduces a vector. Float sums and products are ordered, lane 0 first, unless the op has the flag `reassoc`."""
    operand = builder.value(op.vector)
    accumulator = None if op.acc is None else builder.value(op.acc)
    element = element_type(operand.type)
    if is_bf16(element):
        builder.error(NO_BF16)
        return
    kind = str(op.kind.data)
    flags = fastmath(op.properties.get("fastmath"))
    is_sum = kind in ("add", "mul")
    if is_sum and not isinstance(element, type(i32)):
        start = accumulator
        if start is None:
            start = builder.float_constant(-0.0 if kind == "add" else 1.0, element)
        name = f"llvm.vector.reduce.f{kind}"
        builder.bind(op.dest, builder.intrinsic_value(name, (start, operand), element, flags))
        return
    if kind in BITWISE_REDUCTION:
        name, combine = BITWISE_REDUCTION[kind]
        result = builder.intrinsic_value(name, (operand,), element)
        if accumulator is not None:
            result = builder.binary(combine, result, accumulator, _no_overflow_flags(combine))
        builder.bind(op.dest, result)
        return
    name, combine_name = (FLOAT_REDUCTION | INTEGER_REDUCTION)[kind]
    if kind in INTEGER_REDUCTION:
        flags = fastmath(None)
    result = builder.intrinsic_value(name, (operand,), element, flags)
    if accumulator is not None:
        result = builder.intrinsic_value(combine_name, (result, accumulator), element, flags)
    builder.bind(op.dest, result)


def _no_overflow_flags(op_type: type[Operation]) -> dict[str, Attribute]:
    return {"overflowFlags": IntegerAttr(0, 32)} if op_type in (llvm.AddOp, llvm.MulOp) else {}


def _position(builder: LLVMBody, op: vector.ExtractOp | vector.InsertOp) -> SSAValue:
    """Returns the lane as an i64, the dynamic one when the static position says so."""
    static = op.static_position.get_values()
    if not static:  # The one element of a vector of rank 0, which is a vector of one lane here.
        return builder.constant(0)
    if static[0] == DYNAMIC_INDEX:
        return builder.value(op.dynamic_position[0])
    return builder.constant(int(static[0]))


def convert_extract(builder: LLVMBody, op: vector.ExtractOp) -> None:
    operand = builder.value(op.vector)
    operands = (operand, _position(builder, op))
    element = element_type(operand.type)
    builder.bind(op.result, builder.emit(llvm_ext.ExtractElementOp, operands, element))


def convert_insert(builder: LLVMBody, op: vector.InsertOp) -> None:
    operands = (builder.value(op.dest), builder.value(op.source), _position(builder, op))
    builder.bind(op.result, builder.emit(llvm.InsertElementOp, operands, operands[0].type))


def convert_shuffle(builder: LLVMBody, op: vector.ShuffleOp) -> None:
    """Converts a shuffle. It pads the shorter operand with poison lanes first, as LLVM requires both of one length."""
    lhs, rhs = builder.value(op.v1), builder.value(op.v2)
    result_type = builder.types.convert(op.result.type)
    mask = [int(lane) for lane in op.mask.get_values()]
    left, right = lanes_of(lhs.type), lanes_of(rhs.type)
    length = max(left, right)
    lhs, rhs = _padded(builder, lhs, length), _padded(builder, rhs, length)
    lanes = [lane if lane < left else lane - left + length for lane in mask]
    properties = {"mask": DenseArrayBase.from_list(i32, lanes)}
    builder.bind(op.result, builder.emit(llvm.ShuffleVectorOp, (lhs, rhs), result_type, properties))


def _padded(builder: LLVMBody, value: SSAValue, length: int) -> SSAValue:
    lanes = lanes_of(value.type)
    if lanes == length:
        return value
    wide = builder.types.vector(element_type(value.type), length)
    mask = DenseArrayBase.from_list(i32, [*range(lanes), *[-1] * (length - lanes)])
    return builder.emit(llvm.ShuffleVectorOp, (value, value), wide, {"mask": mask})


def convert_bitcast(builder: LLVMBody, op: vector.BitcastOp) -> None:
    target = builder.types.convert(op.result.type)
    builder.bind(op.result, builder.bitcast(builder.value(op.source), target))


CONVERSIONS: ConversionTable = {
    vector.LoadOp: convert_load,
    vector.StoreOp: convert_store,
    vector.MaskedLoadOp: convert_masked_load,
    vector.MaskedStoreOp: convert_masked_store,
    vector.TransferReadOp: convert_transfer_read,
    vector.TransferWriteOp: convert_transfer_write,
    vector.CreateMaskOp: convert_create_mask,
    vector.BroadcastOp: convert_broadcast,
    vector.FMAOp: convert_fma,
    vector.ReductionOp: convert_reduction,
    vector.ExtractOp: convert_extract,
    vector.InsertOp: convert_insert,
    vector.ShuffleOp: convert_shuffle,
    vector.BitcastOp: convert_bitcast,
}
