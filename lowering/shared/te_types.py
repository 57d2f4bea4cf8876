"""Element types of tensor expressions as IR types: how a value is computed with, and how it lies in memory."""

from __future__ import annotations

from functools import cache, lru_cache

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType, MemRefType, TensorType
from xdsl.ir import Attribute

from ... import te
from ...core.ir.element_types import FLOATS, dtype_name
from ...te import dtypes


@cache
def compute_type(dtype: str) -> Attribute:
    """
    Returns the type of a value of element type `dtype` in a register: integers are signless, `i1` is `i1`.

    An integer of less than a byte is an `i8`, whose upper bits do not count.
    """
    if dtype == "index":
        return IndexType()
    if dtypes.is_small_integer(dtype):
        return IntegerType(8)
    return FLOATS.get(dtype) or IntegerType(dtypes.bit_width(dtype))


@cache
def storage_type(dtype: str) -> Attribute:
    """Returns the type of an element in memory: as `compute_type`, but `i1` takes an `i8`."""
    return IntegerType(8) if dtype == "i1" else compute_type(dtype)


def storage_of(element_type: Attribute) -> Attribute:
    """Returns the type in memory of a tensor's element type."""
    if isinstance(element_type, IntegerType):
        return storage_type(dtype_of(element_type))
    return element_type


@lru_cache(256)
def dtype_of(element_type: Attribute) -> str:
    """Returns the te name of a tensor's element type: `f32`, `i8`, `ui8`, `i1` …"""
    return dtype_name(element_type) or str(element_type)


def is_static(type_: TensorType | MemRefType) -> bool:
    """Returns whether every size of a type is known."""
    return all(size >= 0 for size in type_.get_shape())


def buffer_type(tensor: te.Tensor) -> MemRefType:
    """Returns the type of the buffer that holds `tensor`. Symbolic sizes become `?`."""
    return _buffer_type(tensor.dtype, tuple(size if isinstance(size, int) else DYNAMIC_INDEX for size in tensor.shape))


@lru_cache(4096)
def _buffer_type(dtype: str, shape: tuple[int, ...]) -> MemRefType:
    return MemRefType(storage_type(dtype), shape)


@lru_cache(4096)
def buffer_of(type_: TensorType) -> MemRefType:
    """Returns the memref type that holds a tensor type."""
    return MemRefType(storage_of(type_.get_element_type()), type_.get_shape())
