"""What a model declares of the inputs that a call gives, and of its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...lazy_dataclass import dataclass
from ...runtime.errors import wrong_count
from ...runtime.program.arrays import ArrayType, check_type, note_size
from .inputs import Inputs, size_names
from .types import DTYPES

if TYPE_CHECKING:
    from onnx import GraphProto, ValueInfoProto

MOST_ELEMENTS: Final = 64
"""The largest number of elements of an input that is taken for sizes without being named as such."""

VALUE_TYPES: Final = frozenset({"i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"})
"""Element types of such inputs."""


@dataclass(frozen=True)
class DeclaredInput:
    """An input that a call gives. Its `type` has no shape when the model declares none."""

    name: str
    dtype: str
    type: ArrayType | None
    sizes: tuple[str, ...]
    """The name of each extent, `""` for none."""

    @property
    def may_be_value(self) -> bool:
        """True if the input may hold sizes or choose a branch, as few integers or booleans may."""
        if self.dtype not in VALUE_TYPES or self.type is None or len(self.type.shape) > 1:
            return False
        return prod(size or 1 for size in self.type.shape) <= MOST_ELEMENTS

    def check(self, value: Any) -> None:
        """Raises ArgumentError for what is no array of the declared type."""
        check_type(value, self.type or ArrayType(self.dtype, (None,) * np.ndim(value)), self.name)

    def __str__(self) -> str:
        return f"{self.name}: {self.type or f'tensor<*x{self.dtype}>'}"


def declared_input(inputs: Inputs, info: ValueInfoProto) -> DeclaredInput:
    """Returns an input that a call gives, as the model declares it."""
    dtype = inputs.element_type(info.name, info.type)
    if not info.type.tensor_type.HasField("shape"):
        return DeclaredInput(info.name, dtype, None, ())
    shaped = inputs.shaped(info.name, info.type)
    return DeclaredInput(info.name, dtype, ArrayType(dtype, shaped.shape), tuple(size_names(info, shaped)))


def declared_outputs(graph: GraphProto) -> list[tuple[str, ArrayType | None]]:
    """Returns the names of the outputs, and their types where the model declares an element type and a rank."""
    found: list[tuple[str, ArrayType | None]] = []
    for info in graph.output:
        tensor = info.type.tensor_type
        dtype = DTYPES.get(tensor.elem_type)
        sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
        known = dtype is not None and tensor.HasField("shape")
        found.append((info.name, ArrayType(dtype, tuple(sizes)) if known and dtype is not None else None))
    return found


def check_all(inputs: Sequence[DeclaredInput], arrays: Sequence[Any]) -> None:
    """Raises ArgumentError for arrays that are not of the declared types, or give one name two sizes."""
    if len(arrays) != len(inputs):
        raise wrong_count("the model", [each.name for each in inputs], arrays)
    sizes: dict[str, tuple[int, str]] = {}
    for array, each in zip(arrays, inputs, strict=True):
        each.check(array)
        for name, size in zip(each.sizes, array.shape, strict=False):
            note_size(sizes, name, size, each.name)
