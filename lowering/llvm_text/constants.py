"""Numbers, bytes, names and types as LLVM text."""

from __future__ import annotations

import struct
from collections.abc import Callable
from math import isinf, isnan

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    VectorType,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType, LLVMPointerType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute

from ...core.ir.element_types import element_bytes
from ...te.dtypes import TABLE
from .names import byte_string

FLOAT_NAMES: dict[type[Attribute], str] = {
    BFloat16Type: "bfloat",
    Float16Type: "half",
    Float32Type: "float",
    Float64Type: "double",
}


class EmitError(Exception):
    """Tells what of the llvm dialect has no entry in the tables."""


def metadata_string(text: str) -> str:
    """Returns `text` in quotes."""
    return f'"{byte_string(text.encode())}"'


def float_bits(value: float, float_type: Attribute) -> int:
    """
    Returns the bits of the number of `float_type` nearest to `value`, ties to even.

    A NaN keeps its sign and the upper bits of its payload, and is made quiet.
    """
    row = TABLE[float_type.name]
    exponent_bits, fraction_bits = row.exponent_bits, row.mantissa_bits
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    if fraction_bits == 52:
        return bits
    sign = bits >> 63 << (exponent_bits + fraction_bits)
    top = ((1 << exponent_bits) - 1) << fraction_bits
    if isnan(value):
        return sign | top | 1 << (fraction_bits - 1) | (bits & (2**52 - 1)) >> (52 - fraction_bits)
    if isinf(value):
        return sign | top
    exponent, fraction = bits >> 52 & 0x7FF, bits & (2**52 - 1)
    if exponent == 0:
        return sign
    scaled = exponent - 1023 + (1 << (exponent_bits - 1)) - 1
    significand = fraction | 1 << 52
    shift = 52 - fraction_bits
    if scaled <= 0:
        shift += 1 - scaled
        scaled = 0
        if shift > 54:
            return sign
    kept, cut = significand >> shift, significand & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    kept += cut > half or (cut == half and kept & 1)
    # The implicit bit of `kept` adds one to the exponent field. A carry out of the fraction does as well.
    result = kept if scaled == 0 else kept + ((scaled - 1) << fraction_bits)
    return sign | min(result, top)


def bits_text(bits: int, float_type: Attribute) -> str:
    """Returns the LLVM constant of `float_type` with these bits."""
    if isinstance(float_type, BFloat16Type):
        return f"0xR{bits:04X}"
    if isinstance(float_type, Float16Type):
        return f"0xH{bits:04X}"
    if isinstance(float_type, Float32Type):
        return f"0x{_widened(bits):016X}"
    return f"0x{bits:016X}"


def _widened(bits: int) -> int:
    """Returns the bits of the f64 that equals the f32 of these bits. LLVM writes an f32 that way."""
    if bits & 0x7F800000 == 0x7F800000:
        return bits >> 31 << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def type_text(value_type: Attribute) -> str:
    """Returns a type as LLVM text."""
    if (name := FLOAT_NAMES.get(type(value_type))) is not None:
        return name
    match value_type:
        case IntegerType():
            return f"i{value_type.width.data}"
        case LLVMPointerType():
            space = value_type.addr_space
            return "ptr" if isinstance(space, NoneAttr) or not space.data else f"ptr addrspace({space.data})"
        case VectorType() if value_type.get_num_dims() == 1 and not value_type.get_num_scalable_dims():
            return f"<{value_type.get_shape()[0]} x {type_text(value_type.element_type)}>"
        case LLVMArrayType():
            return f"[{value_type.size.data} x {type_text(value_type.type)}]"
        case LLVMStructType():
            if value_type.struct_name.data:
                raise EmitError(f"named struct type {value_type} has no text form")
            return "{ " + ", ".join(type_text(t) for t in value_type.types) + " }" if value_type.types.data else "{}"
        case LLVMVoidType():
            return "void"
        case LLVMFunctionType():
            arguments = [type_text(t) for t in value_type.inputs]
            return f"{type_text(value_type.output)} ({', '.join([*arguments, *['...'] * value_type.is_variadic])})"
    raise EmitError(f"type {value_type} has no text form")


def mangled(value_type: Attribute) -> str:
    """Returns the suffix of an overloaded intrinsic for this type."""
    if type(value_type) in FLOAT_NAMES:
        return value_type.name
    match value_type:
        case IntegerType():
            return f"i{value_type.width.data}"
        case LLVMPointerType():
            space = value_type.addr_space
            return "p0" if isinstance(space, NoneAttr) else f"p{space.data}"
        case VectorType():
            return f"v{value_type.get_shape()[0]}{mangled(value_type.element_type)}"
    raise EmitError(f"type {value_type} in the overload of an intrinsic has no suffix")


def constant_text(value: Attribute, value_type: Attribute) -> str:
    """Returns the text of a constant without its type."""
    match value:
        case IntegerAttr() if isinstance(value_type, IntegerType):
            return _integer_text(value.value.data, value_type)
        case FloatAttr() if type(value_type) in FLOAT_NAMES:
            return bits_text(float_bits(value.value.data, value_type), value_type)
        case IntegerAttr() if type(value_type) in FLOAT_NAMES and value.value.data == 0:
            return bits_text(0, value_type)
        case DenseIntOrFPElementsAttr() if isinstance(value_type, VectorType):
            return _dense_text(value, value_type)
    raise EmitError(f"constant {value} of type {value_type} has no text form")


def _integer_text(value: int, value_type: IntegerType) -> str:
    if value_type.width.data == 1:
        return "true" if value else "false"
    return str(value)


def element_reader(element_type: Attribute, size: int) -> Callable[[bytes], str]:
    """Returns a function from the little-endian bytes of one element to its text."""
    if isinstance(element_type, IntegerType):
        return lambda data: _integer_text(int.from_bytes(data, "little", signed=True), element_type)
    if type(element_type) in FLOAT_NAMES and size == element_bytes(element_type):
        return lambda data: bits_text(int.from_bytes(data, "little"), element_type)
    raise EmitError(f"dense elements of type {element_type} have no text form")


def _dense_text(value: DenseIntOrFPElementsAttr, vector_type: VectorType) -> str:
    data = value.data.data
    lanes = vector_type.get_shape()[0]
    size = len(data) // max(len(value), 1)
    element = vector_type.element_type
    if not any(data):
        return "zeroinitializer"
    read, element_text = element_reader(element, size), type_text(element)
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    if len(set(pieces)) == 1:
        return f"splat ({element_text} {read(pieces[0])})"
    if len(pieces) != lanes:
        raise EmitError(f"constant has {len(pieces)} elements for {lanes} lanes")
    return "<" + ", ".join(f"{element_text} {read(piece)}" for piece in pieces) + ">"


__all__ = ["EmitError", "FunctionType"]
