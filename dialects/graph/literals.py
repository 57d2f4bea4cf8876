"""
The text of constants: `dense<…>` and the number of `graph.full`, exact for every element type.

xDSL decodes a whole dense attribute to print it. This module looks at the bytes instead. A splat prints as one
element. A constant of more than `MOST_PRINTED_ELEMENTS` elements prints in hexadecimal. So does one that holds a NaN or
an infinity, which have no decimal literal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite, prod
from typing import TYPE_CHECKING, Any, Final

from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    FloatData,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ...core.attributes import unchecked
from ...core.ir.element_types import ATTRIBUTES, dtype_name
from ...core.text.numbers import is_too_large
from ...te.dtypes import SIGNED, SMALL_INTEGERS, TABLE, integer_range
from .element_types import CLASSES, check_number
from .numerals import float_of_bits, float_text, parse_number, rounded
from .properties import PropertyKind
from .shapes import Shaped, size
from .signature import tensor_type

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer

MOST_PRINTED_ELEMENTS: Final = 64
"""The most elements that are printed one by one."""

TRUE_BYTE: Final = 0xFF
"""The byte in which xDSL stores a true i1 element, which is minus one. A false one is stored as 0."""

_SPREAD: Final = {
    name: bytes(
        (byte & 2**bits - 1) - (2**bits if signed and byte >> bits - 1 & 1 else 0) & 0xFF for byte in range(256)
    )
    for name, bits, signed in ((name, TABLE[name].bits, TABLE[name].kind == "signed") for name in SMALL_INTEGERS)
}
"""
What each byte becomes in a dense attribute of small integers: bits above the value are those of its sign, or zeros.

This is how xDSL stores them. In memory they are zeros.
"""

_elided: ContextVar[int | None] = ContextVar("stepwell_elided_constants", default=None)


@contextmanager
def eliding_constants(most_elements: int = 16) -> Iterator[None]:
    """
    Prints constants of more than `most_elements` elements as `dense<__elided__>` inside the block. Splats print as
    ever.

    Such text is meant for people, because it cannot be read back.
    """
    token = _elided.set(most_elements)
    try:
        yield
    finally:
        _elided.reset(token)


def is_splat_data(data: bytes, element_bytes: int) -> bool:
    """Returns whether `data` is one element of `element_bytes` bytes repeated at least once."""
    if len(data) < element_bytes:
        return False
    first = data[:element_bytes]
    middle = len(data) // element_bytes // 2 * element_bytes
    if data[middle : middle + element_bytes] != first or data[-element_bytes:] != first:
        return False  # this nearly always decides, without a copy of the data
    return data == first * (len(data) // element_bytes)


def splat_value(data: bytes, dtype: str) -> int | float | bool | None:
    """
    Returns the value of all elements of a dense attribute as a Python number.

    It is `None` when the elements differ or there are none.
    """
    width = TABLE[dtype].storage_bytes
    if not is_splat_data(data, width):
        return None
    element: Any = ATTRIBUTES[dtype]
    value = element.unpack(data[:width], 1)[0]
    return value != 0 if dtype == "i1" else value


def check_dense(attribute: Attribute, shaped: Shaped) -> None:
    """Raises `VerifyException` unless `attribute` holds exactly the elements of `shaped`. It decodes nothing."""
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        raise VerifyException(f"'value' is {attribute}, expected dense<…>")
    data = attribute.data.data
    count = size(shaped.shape)
    if count is None:
        raise VerifyException(f"a constant has type {shaped}, expected a static shape")
    width = TABLE[shaped.dtype].storage_bytes
    if len(data) != count * width:
        found, rest = divmod(len(data), width)
        if rest:
            raise VerifyException(f"the constant holds {len(data)} bytes, expected {count * width} for {shaped}")
        raise VerifyException(f"the constant holds {found} elements, expected {count} for {shaped}")
    if shaped.dtype == "i1" and (rest := data.translate(None, bytes([0, TRUE_BYTE]))):
        raise VerifyException(f"an i1 element is stored as 0x{rest[0]:02X}, expected 0x00 or 0x{TRUE_BYTE:02X}")
    if shaped.dtype in SMALL_INTEGERS and (rest := data.translate(None, _SPREAD[shaped.dtype])):
        low, high = integer_range(shaped.dtype)
        negative = f" or 0x{low & 0xFF:02X} to 0xFF" if low else ""
        raise VerifyException(
            f"an element of type {shaped.dtype} is stored as 0x{rest[0]:02X}, expected 0x00 to 0x{high:02X}{negative}"
        )


def dense_of_bytes(data: bytes, shaped: Shaped) -> DenseIntOrFPElementsAttr:
    """
    Returns the dense attribute of `data`, the elements in row-major order as they lie in memory.

    The bytes are little endian, and an i1 is a byte 0 or 1. Of the byte of a smaller integer, only its bits count. One
    element stands for all.
    """
    count = size(shaped.shape) or 0
    if len(data) == TABLE[shaped.dtype].storage_bytes and count != 1:
        data = data * count
    if shaped.dtype == "i1":
        data = data.replace(b"\x01", bytes([TRUE_BYTE]))
    if shaped.dtype in SMALL_INTEGERS:
        data = data.translate(_SPREAD[shaped.dtype])
    attribute = unchecked(DenseIntOrFPElementsAttr, type=tensor_type(shaped), data=BytesAttr(data))
    check_dense(attribute, shaped)
    return attribute


def memory_bytes(attribute: DenseIntOrFPElementsAttr) -> bytes:
    """
    Returns the elements as they lie in memory, with an i1 as a byte 0 or 1. This is the inverse of `dense_of_bytes`.
    """
    dtype = dtype_name(attribute.type.element_type)
    return unsigned_bytes(attribute.data.data, str(dtype))


def unsigned_bytes(data: bytes, dtype: str) -> bytes:
    """Returns the data of a dense attribute as it lies in memory: bits of a byte above those of the type are zeros."""
    if dtype == "i1":
        return data.replace(bytes([TRUE_BYTE]), b"\x01")
    return data.translate(_SPREAD[f"u{dtype}"]) if dtype in SMALL_INTEGERS and dtype in SIGNED else data


def with_signs(value: DenseIntOrFPElementsAttr, dtype: str) -> DenseIntOrFPElementsAttr:
    """Returns an attribute as the text has it in normal form. Hexadecimal digits of an i4 may leave out its sign."""
    data, bits = value.data.data, TABLE[dtype].bits
    if dtype == "i1":
        data = unsigned_bytes(data, dtype).replace(b"\x01", bytes([TRUE_BYTE]))
    elif dtype in SMALL_INTEGERS:
        spread = _SPREAD[dtype]
        data = data.translate(spread[: 2**bits] + bytes(range(2**bits, 256)))
    return value if data == value.data.data else DenseIntOrFPElementsAttr(value.type, BytesAttr(data))  # pyright: ignore


def dense_of_values(values: Sequence[Any], shaped: Shaped) -> DenseIntOrFPElementsAttr:
    """Returns the dense attribute of Python numbers in row-major order. One number stands for all elements."""
    element = ATTRIBUTES[shaped.dtype]
    if shaped.dtype == "i1":
        return dense_of_bytes(bytes(1 if value else 0 for value in values), shaped)
    if isinstance(element, AnyFloat):
        return dense_of_bytes(element.pack([float(value) for value in values]), shaped)
    for value in values:
        check_number("an element", value, shaped.dtype)
    assert isinstance(element, IntegerType)
    return dense_of_bytes(element.pack(list(values)), shaped)


# Printing


def print_dense(printer: Printer, attribute: DenseIntOrFPElementsAttr) -> None:
    """Prints `dense<…> : type`."""
    type_ = attribute.type
    assert isinstance(type_, TensorType)
    printer.print_string(f"dense<{_dense_text(attribute, str(dtype_name(type_.element_type)))}> : ")
    printer.print_attribute(type_)


def _dense_text(attribute: DenseIntOrFPElementsAttr, dtype: str) -> str:
    data, shape = attribute.data.data, attribute.type.get_shape()
    width = TABLE[dtype].storage_bytes
    count = len(data) // width
    if count == 0:
        return ""
    if is_splat_data(data, width):
        return _element_texts(data[:width], dtype)[0] or f'"0x{data[:width].hex().upper()}"'
    most = _elided.get()
    if most is not None and count > most:
        return "__elided__"
    if count <= MOST_PRINTED_ELEMENTS and count == prod(shape):
        texts = _element_texts(data, dtype)
        if None not in texts:
            return _nested([element for element in texts if element is not None], shape)
    return f'"0x{data.hex().upper()}"'


def _element_texts(data: bytes, dtype: str) -> list[str | None]:
    """Returns the literal of each element, and `None` for NaN and infinities."""
    element: Any = ATTRIBUTES[dtype]
    values = element.unpack(data, len(data) // TABLE[dtype].storage_bytes)
    if dtype in CLASSES["F"]:
        return [float_text(value, dtype) if isfinite(value) else None for value in values]
    if dtype == "i1":
        return ["true" if value else "false" for value in values]
    return [str(value) for value in values]


def _nested(texts: Sequence[str], shape: Sequence[int]) -> str:
    if not shape:
        return texts[0]
    if len(shape) == 1:
        return f"[{', '.join(texts)}]"
    step = len(texts) // shape[0]
    rows = (_nested(texts[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))
    return f"[{', '.join(rows)}]"


# The number of graph.full


def element_text(attribute: FloatAttr | IntegerAttr, dtype: str) -> str:
    """Returns the literal of a scalar attribute of element type `dtype`."""
    value = attribute.value.data
    if dtype == "i1":
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else float_text(value, dtype)


def scalar_attribute(value: Any, dtype: str) -> FloatAttr | IntegerAttr:
    """
    Returns a Python number as an attribute of element type `dtype`.

    Floats are rounded. Raises `ShapeError` when an integer type cannot hold the number.
    """
    element: Any = ATTRIBUTES[dtype]
    if dtype in CLASSES["F"]:
        return unchecked(FloatAttr, value=FloatData(rounded(float(value), dtype)), type=element)
    check_number("the value", value, dtype)
    return IntegerAttr(int(value), element)


def parse_scalar(parser: Parser, kind: PropertyKind) -> bool | int | float | bytes:
    """Parses a number, `true` or `false`. It returns the digits of a hexadecimal literal as bytes."""
    boolean = parser.parse_optional_boolean()
    return boolean if boolean is not None else parse_number(parser, lambda: kind.wrong(parser, "graph.full"))


def scalar_of_literal(
    parser: Parser, value: bool | int | float | bytes, dtype: str, start: int, end: int
) -> FloatAttr | IntegerAttr:
    """
    Returns the attribute of a parsed literal.

    Hexadecimal digits are the bits of a float, or the value of an integer.
    """
    if isinstance(value, bytes):
        if dtype in CLASSES["F"]:
            return FloatAttr(float_of_bits(parser, value, dtype, start), ATTRIBUTES[dtype])  # pyright: ignore
        value = int.from_bytes(value, "little")
    elif dtype in CLASSES["F"] and is_too_large(value, ATTRIBUTES[dtype]):  # pyright: ignore[reportArgumentType]
        parser.raise_error(f"{parser.lexer.input.content[start:end].strip()} is too large for {dtype}", start, end)
    if isinstance(value, bool) != (dtype == "i1") and not (dtype == "i1" and value in (0, 1)):
        wanted = "true or false" if dtype == "i1" else "a number"
        parser.raise_error(f"an element of type {dtype} is {wanted}", start, end)
    try:
        return scalar_attribute(value, dtype)
    except ValueError as error:
        parser.raise_error(str(error), start, end)
