"""Element types of the table `te/dtypes.py` as attributes of the IR."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Final, get_args

from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute

from ...te import dtypes

_CLASSES: Final = {class_.name: class_ for class_ in get_args(AnyFloat)}

FLOATS: Final[dict[str, AnyFloat]] = {name: _CLASSES[name]() for name in dtypes.FLOATS}
"""The attribute of each float type by name."""

ATTRIBUTES: Final[dict[str, Attribute]] = {
    **FLOATS,
    "i1": IntegerType(1),
    **{name: IntegerType(dtypes.bit_width(name)) for name in dtypes.SIGNED},
    **{name: IntegerType(dtypes.bit_width(name), Signedness.UNSIGNED) for name in dtypes.UNSIGNED},
}
"""The attribute of each element type that tensors may hold, by its name in the IR."""

_INTEGER_PREFIX: Final = {Signedness.SIGNLESS: "i", Signedness.UNSIGNED: "ui", Signedness.SIGNED: "si"}


def dtype_name(element_type: Attribute) -> str | None:
    """
    Returns `f32`, `ui8`, `i1` …, the name of a float type of the table, of any integer type or of `index`.

    It is None for any other type.
    """
    if isinstance(element_type, IntegerType):
        return f"{_INTEGER_PREFIX[element_type.signedness.data]}{element_type.width.data}"
    return element_type.name if element_type.name in FLOATS or isinstance(element_type, IndexType) else None


def vector_type(element: Attribute, shape: Sequence[int]) -> VectorType:
    """Returns `vector<shape x element>`, shared. To make one takes as long as three ops."""
    return _vector_type(element, tuple(shape))


@lru_cache(4096)
def _vector_type(element: Attribute, shape: tuple[int, ...]) -> VectorType:
    return VectorType(element, shape)


def element_bytes(element_type: Attribute) -> int | None:
    """Returns the bytes of one element in memory, None for a type that the table lacks."""
    is_integer = isinstance(element_type, IntegerType)
    row = dtypes.TABLE.get(f"i{element_type.width.data}" if is_integer else element_type.name)
    return None if row is None else row.storage_bytes


def byte_size(type_: Attribute) -> int:
    """Returns the bytes of a tensor or memref of known size, and 0 for what has no size in memory."""
    if not isinstance(type_, TensorType | MemRefType) or any(size < 0 for size in type_.get_shape()):
        return 0
    return prod(type_.get_shape()) * (element_bytes(type_.get_element_type()) or 0)


def is_small_float(element_type: Attribute) -> bool:
    """Returns whether the elements are floats that are computed in another type and then rounded once."""
    name = element_type.name
    return name in dtypes.SMALL_FLOATS and name not in dtypes.STORED_FLOATS
