"""Types of the scf level as types of the llvm dialect, and the memory layout of memrefs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    StridedLayoutAttr,
    VectorType,
    i1,
    i8,
    i64,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType, LLVMPointerType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute

from ...core.ir import element_types
from ...core.messages.texts import HAS_A_SIGN
from ...lazy_dataclass import dataclass
from ...te.dtypes import STORED_FLOATS

PTR = LLVMPointerType()
F32 = Float32Type()
F64 = Float64Type()

_LLVM_TYPES = (LLVMArrayType, LLVMFunctionType, LLVMPointerType, LLVMStructType, LLVMVoidType)


MOST_BITS = 1 << 23
"""The widest integer of LLVM."""

MOST_LANES = 1 << 14
"""The longest vector that is lowered. LLVM splits it into registers, which takes a second for one op of this length."""


class UnsupportedTypeError(Exception):
    """Tells which type of the source has no counterpart, and why."""


@dataclass(frozen=True, slots=True)
class MemRefLayout:
    """
    The places of the elements of a memref.

    Strides count elements. The pointer that stands for a memref points at its element (0, ..., 0), the layout's offset
    included.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    value_type: Attribute
    """The type of an element as a value, `i1` for booleans."""
    memory_type: Attribute
    """The type of an element in memory, `i8` for booleans."""
    element_bytes: int

    @property
    def is_boolean(self) -> bool:
        return self.value_type is not self.memory_type

    @property
    def count(self) -> int:
        """Returns the number of elements."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """Returns the size of the elements in bytes, gaps between them not counted."""
        return self.count * self.element_bytes

    @property
    def is_contiguous(self) -> bool:
        """Returns whether the elements fill one block in row-major order."""
        return self.count == 0 or all(
            extent == 1 or stride == expected
            for extent, stride, expected in zip(self.shape, self.strides, row_major_strides(self.shape), strict=True)
        )


def row_major_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the strides in elements of a dense row-major array."""
    strides: list[int] = []
    size = 1
    for extent in reversed(shape):
        strides.append(size)
        size *= extent
    return tuple(reversed(strides))


def element_bytes(element_type: Attribute) -> int:
    """Returns the bytes of an element in memory. Raises `UnsupportedTypeError` for a type without memory form."""
    if isinstance(element_type, IntegerType) and 1 < element_type.width.data < 8:
        raise UnsupportedTypeError(f"element type {element_type} has no form in memory, where an i8 holds it")
    if (size := element_types.element_bytes(element_type)) is not None:
        return size
    if isinstance(element_type, LLVMPointerType):
        return 8
    if isinstance(element_type, VectorType) and element_type.get_num_dims() == 1:
        return element_bytes(element_type.element_type) * element_type.get_shape()[0]
    raise UnsupportedTypeError(f"element type {element_type} has no form in memory")


class TypeConverter:
    """
    Converts types, each attribute object once.

    Callers share type objects, so the cache is keyed by identity (hashing a vector or memref type costs more than the
    conversion of an op).
    """

    def __init__(self) -> None:
        self._types: dict[int, tuple[Attribute, Attribute]] = {}
        self._layouts: dict[int, tuple[Attribute, MemRefLayout]] = {}
        self._vectors: dict[tuple[Attribute, int], VectorType] = {}
        self.lanes: int | None = None

    @contextmanager
    def cut_to(self, lanes: int) -> Iterator[None]:
        """Converts numbers as vectors of `lanes` lanes inside the `with` block (the body of a `tile.map`)."""
        self.lanes = lanes
        try:
            yield
        finally:
            self.lanes = None

    def convert(self, source: Attribute) -> Attribute:
        """Returns the llvm type that holds a value of type `source`. Raises `UnsupportedTypeError`."""
        if self.lanes is not None and not isinstance(source, VectorType):
            return self.vector(self._convert(source), self.lanes)
        if (entry := self._types.get(id(source))) is not None:
            return entry[1]
        target = self._convert(source)
        self._types[id(source)] = (source, target)
        return target

    def _convert(self, source: Attribute) -> Attribute:
        if isinstance(source, IndexType):
            return i64
        if isinstance(source, IntegerType):
            if source.signedness.data != Signedness.SIGNLESS:
                raise UnsupportedTypeError(f"type {source} {HAS_A_SIGN}")
            if not 1 <= source.width.data <= MOST_BITS:
                raise UnsupportedTypeError(f"type {source} has no counterpart in LLVM, which has 1 to {MOST_BITS} bits")
            return source
        if source.name in STORED_FLOATS:
            return i8
        if source.name in element_types.FLOATS or isinstance(source, _LLVM_TYPES):
            return source
        if isinstance(source, MemRefType):
            self.layout(source)
            return PTR
        if isinstance(source, VectorType):
            if source.get_num_dims() != 1 or source.get_num_scalable_dims():
                raise UnsupportedTypeError(
                    f"type {source} is neither a 1-D vector nor, carried by scf or made by tile and arith ops, a tile"
                )
            (lanes,) = source.get_shape()
            if not 1 <= lanes <= MOST_LANES:
                raise UnsupportedTypeError(f"type {source} has {lanes} elements; a vector has 1 to {MOST_LANES}")
            return self.vector(self.convert(source.element_type), lanes)
        raise UnsupportedTypeError(f"type {source} has no counterpart in the llvm dialect")

    def vector(self, element: Attribute, lanes: int) -> VectorType:
        """Returns `vector<lanes x element>`, one object per pair."""
        key = (element, lanes)
        if (found := self._vectors.get(key)) is None:
            found = self._vectors[key] = VectorType(element, [lanes])
        return found

    def like(self, element: Attribute, shape_of: Attribute) -> Attribute:
        """Returns `element` on the lanes of `shape_of`: a vector when that is one, else the scalar."""
        if isinstance(shape_of, VectorType):
            return self.vector(element, shape_of.get_shape()[0])
        return element

    def layout(self, source: MemRefType) -> MemRefLayout:
        """Returns the layout of a memref type. Raises `UnsupportedTypeError` for what bare pointers cannot be."""
        if (entry := self._layouts.get(id(source))) is not None:
            return entry[1]
        layout = self._layout(source)
        self._layouts[id(source)] = (source, layout)
        return layout

    def _layout(self, source: MemRefType) -> MemRefLayout:
        shape = source.get_shape()
        is_flat = len(shape) == 1 and isinstance(source.layout, StridedLayoutAttr)  # flatten-dynamic-buffers
        if any(extent < 0 for extent in shape) and not is_flat:
            raise UnsupportedTypeError(f"type {source} has a dynamic dimension; run specialize-shapes first")
        space = source.memory_space
        if not isinstance(space, NoneAttr) and not (isinstance(space, IntegerAttr) and space.value.data == 0):
            raise UnsupportedTypeError(f"type {source} has memory space {space}; expected the default space")
        if isinstance(source.layout, NoneAttr):
            strides = row_major_strides(shape)
        elif isinstance(source.layout, StridedLayoutAttr):
            found = source.layout.strides.data
            strides = tuple(stride.data for stride in found if isinstance(stride, IntAttr))
            if len(strides) != len(found):
                raise UnsupportedTypeError(f"type {source} has a dynamic stride; run specialize-shapes first")
        else:
            raise UnsupportedTypeError(f"type {source} has layout {source.layout}; expected strided<...>")
        if len(strides) != len(shape):
            raise UnsupportedTypeError(f"type {source} has {len(strides)} strides for {len(shape)} dimensions")
        value_type = self.convert(source.element_type)
        size = element_bytes(value_type)
        memory_type = self.like(i8, value_type) if self.is_boolean(value_type) else value_type
        return MemRefLayout(shape, strides, value_type, memory_type, size)

    @staticmethod
    def is_boolean(value_type: Attribute) -> bool:
        """Returns whether a type is `i1` or a vector of it."""
        return (value_type.element_type if isinstance(value_type, VectorType) else value_type) == i1
