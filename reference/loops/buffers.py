"""Arrays become the arguments of an entry, and its outputs become arrays again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation

from ...core.roles import AXIS, BYTES, DIMS, IN_PLACE, KEY, NAME, ROLE, SIGNATURE, TEMPORARY
from ...dialects.tensor_loop import FuncOp
from ...lazy_dataclass import dataclass
from ..arith import dtype_of
from ..element_types import Array
from .control import argument_attributes
from .faults import LoopFault, fault, listed
from .storage import Buffer, Storage, new_buffer, span_of, typed

Weights = Callable[[str], Array]
"""Returns the array of a weight, by its key. What nothing has written is masked in it."""


@dataclass
class Argument:
    """One argument of an entry: its type, what it is for, and its name in messages."""

    type: Attribute
    role: str
    """`input`, `weight`, `output`, `arena`, `temporary`, `size`, `stride`, or `buffer` for any other."""
    name: str
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    @property
    def is_given(self) -> bool:
        """Returns whether the caller has to give an array."""
        return self.role in ("input", "buffer") or (self.role == "output" and IN_PLACE in self.attributes)


def arguments_of(entry: Operation) -> list[Argument]:
    """Returns the arguments of a `tensor_loop.func` or of a `func.func` on buffers."""
    block = entry.regions[0].blocks[0]
    attributes = argument_attributes(entry, len(block.args))
    inputs = len(entry.inputs) if isinstance(entry, FuncOp) else len(block.args)
    found: list[Argument] = []
    for number, (argument, each) in enumerate(zip(block.args, attributes, strict=True)):
        role = each.get(ROLE)
        if isinstance(role, StringAttr):
            what = role.data
        elif TEMPORARY in each:
            what = "temporary"
        elif isinstance(entry, FuncOp):
            what = "input" if number < inputs else "output"
        else:
            what = "buffer"
        name = each.get(NAME)
        hint = argument.name_hint or f"arg{number}"
        found.append(Argument(argument.type, what, name.data if isinstance(name, StringAttr) else hint, each))
    return found


class Arguments:
    """The values of the arguments of an entry, made from the arrays that are given."""

    def __init__(
        self,
        entry: Operation,
        arrays: Sequence[Any],
        weights: Weights,
        sizes: Sequence[Sequence[int]] | None = None,
    ):
        self._entry = entry
        self._arguments = arguments_of(entry)
        self._weights = weights
        self._named_sizes: dict[str, int] = {}
        outputs = [argument.name for argument in self._arguments if argument.role == "output"]
        self._sizes = {} if sizes is None else dict(zip(outputs, sizes, strict=True))
        given = self._distributed([np.asarray(array) for array in arrays])
        for argument, array in zip(self._arguments, given, strict=True):
            if array is not None and isinstance(argument.type, MemRefType):
                self._note_sizes(argument, array.shape)
        self.values: list[Any] = []
        for argument, array in zip(self._arguments, given, strict=True):
            self.values.append(self._value(argument, array))

    def _error(self, message: str) -> LoopFault:
        return fault("unknown", self._entry, message)

    def _distributed(self, arrays: list[Array]) -> list[Array | None]:
        """Returns the array of each argument: those that must be given, or these and all outputs."""
        required = [argument.is_given for argument in self._arguments]
        with_outputs = [given or a.role == "output" for given, a in zip(required, self._arguments, strict=True)]
        for chosen in (required, with_outputs):
            if sum(chosen) == len(arrays):
                rest = iter(arrays)
                return [next(rest) if each else None for each in chosen]
        names = ", ".join(a.name for a in self._arguments if a.is_given)
        raise self._error(f"{len(arrays)} arrays are given, expected {sum(required)} ({names})")

    def _note_sizes(self, argument: Argument, shape: Sequence[int]) -> None:
        names = argument.attributes.get(DIMS)
        for name, size in zip(names.data if isinstance(names, ArrayAttr) else (), shape, strict=False):
            if isinstance(name, StringAttr) and name.data:
                self._named_sizes.setdefault(name.data, size)

    def _value(self, argument: Argument, array: Array | None) -> Any:
        if argument.role in ("size", "stride"):
            return self._number_of_buffer(argument)
        if not isinstance(argument.type, MemRefType):
            assert array is not None
            return array.astype(dtype_of(argument.type))[()]
        if argument.role == "weight":
            key = argument.attributes.get(KEY)
            assert isinstance(key, StringAttr)
            weight = self._weights(key.data)
            buffer = self._given(argument, np.asarray(weight))
            if isinstance(weight, np.ma.MaskedArray):
                buffer.mask[buffer.places()[np.ma.getmaskarray(weight)]] = 0
            return buffer.protected("it is a weight")
        if argument.role == "arena":
            size = argument.attributes.get(BYTES)
            bytes_ = size.value.data if isinstance(size, IntegerAttr) else prod(argument.type.get_shape())
            return new_buffer(Storage(bytes_, "arena"), np.dtype(np.int8), (bytes_,))
        if argument.role in ("output", "temporary") and IN_PLACE not in argument.attributes:
            return self._empty(argument, array)
        assert array is not None
        buffer = self._given(argument, array)
        return buffer.protected(self._why(argument)) if argument.role == "input" else buffer

    def _why(self, argument: Argument) -> str:
        name = self._entry.get_attr_or_prop("sym_name")
        return f"it is an input of @{name.data}" if isinstance(name, StringAttr) else "it is an input"

    def _given(self, argument: Argument, array: Array) -> Buffer:
        """Returns a buffer with the bits of an array. Raises `LoopFault` where it does not fit the type."""
        assert isinstance(argument.type, MemRefType)
        dtype = dtype_of(argument.type)
        if array.dtype.itemsize != dtype.itemsize or not _fits(argument.type, array.shape):
            message = (
                f"argument '{argument.name}' is {argument.type}, found {array.dtype} of shape {listed(array.shape)}"
            )
            raise self._error(message)
        buffer = _laid_out(argument, array.shape, array.size, dtype)
        buffer.elements[buffer.places()] = np.ascontiguousarray(array).view(dtype).reshape(buffer.sizes)
        buffer.mask[buffer.places()] = buffer.full
        return buffer

    def _empty(self, argument: Argument, array: Array | None) -> Buffer:
        """Returns a buffer that holds nothing. Its unknown sizes are those of the array, or of a name."""
        assert isinstance(argument.type, MemRefType)
        declared = list(argument.type.get_shape())
        if array is not None:
            declared = list(array.shape)
        elif argument.name in self._sizes:
            declared = list(self._sizes[argument.name])
        names = argument.attributes.get(DIMS)
        for axis, name in enumerate(names.data if isinstance(names, ArrayAttr) else ()):
            if declared[axis] == DYNAMIC_INDEX and isinstance(name, StringAttr):
                declared[axis] = self._named_sizes.get(name.data, DYNAMIC_INDEX)
        if DYNAMIC_INDEX in declared:
            raise self._error(f"the sizes of '{argument.name}' are not known; give arrays for the outputs too")
        return _laid_out(argument, declared, prod(declared), dtype_of(argument.type))

    def _number_of_buffer(self, argument: Argument) -> Any:
        """Returns the size or stride of the buffer before an argument."""
        axis = argument.attributes.get(AXIS)
        buffer = next(each for each in reversed(self.values) if isinstance(each, Buffer))
        assert isinstance(axis, IntegerAttr)
        numbers = buffer.sizes if argument.role == "size" else buffer.strides
        return np.int64(numbers[axis.value.data])

    def outputs(self) -> tuple[Array, ...]:
        """
        Returns the arrays of the outputs, or of all buffers where the entry does not say which are outputs.

        Raises `LoopFault` for an element that nothing has written.
        """
        for argument, buffer in self._outputs():
            missing = ~buffer.are_written()
            if missing.any():
                at = listed(np.argwhere(missing)[0])
                message = f"element {at} of '{argument.name}' is returned, but nothing has written it"
                raise fault("unwritten", self._entry, message)
        return tuple(map(np.asarray, self.outputs_as_written()))

    def outputs_as_written(self) -> tuple[np.ma.MaskedArray, ...]:
        """Returns the arrays that `outputs` returns. What nothing has written is masked in them."""
        types, outputs = _result_types(self._entry), self._outputs()
        found = [np.ma.MaskedArray(buffer.array(), ~buffer.are_written()) for _, buffer in outputs]
        return tuple(
            array.view(types[number]) if len(types) == len(outputs) else array for number, array in enumerate(found)
        )

    def _outputs(self) -> list[tuple[Argument, Buffer]]:
        return [
            (argument, value)
            for argument, value in zip(self._arguments, self.values, strict=True)
            if argument.role in ("output", "buffer") and isinstance(value, Buffer)
        ]


def flattened(values: Sequence[Any], arguments: Sequence[Argument]) -> list[Any]:
    """Returns the values, where a buffer whose type is a vector of its elements (`memref<?xf32>`) is one."""
    found: list[Any] = []
    for value, argument in zip(values, arguments, strict=True):
        rank = len(argument.type.get_shape()) if isinstance(argument.type, MemRefType) else 0
        if isinstance(value, Buffer) and len(value.sizes) != rank:
            count = len(value.elements)
            value = Buffer(value.storage, value.base, value.elements, value.mask, 0, (count,), (1,), value.read_only)
        found.append(value)
    return found


def _fits(type_: MemRefType, shape: Sequence[int]) -> bool:
    declared = type_.get_shape()
    is_vector = len(declared) == 1 and declared[0] == DYNAMIC_INDEX  # Of `flatten-dynamic-buffers`, perhaps.
    return is_vector or (
        len(declared) == len(shape) and all(d in (DYNAMIC_INDEX, s) for d, s in zip(declared, shape, strict=True))
    )


def _laid_out(argument: Argument, sizes: Sequence[int], count: int, dtype: np.dtype[Any]) -> Buffer:
    """Returns a buffer that holds nothing, with the strides and offset of its type, or dense."""
    assert isinstance(argument.type, MemRefType)
    layout = argument.type.layout
    strides = layout.get_strides() if isinstance(layout, StridedLayoutAttr) else None
    if strides is None or None in strides or len(strides) != len(sizes):
        return new_buffer(Storage(count * dtype.itemsize, argument.name), dtype, sizes)
    assert isinstance(layout, StridedLayoutAttr)
    known = tuple(stride for stride in strides if stride is not None)
    first = layout.get_offset() or 0
    span = span_of(first, sizes, known)
    size = 0 if span is None else (span[1] + 1) * dtype.itemsize
    storage = Storage(size, argument.name)
    elements, mask = typed(storage, 0, size, dtype)
    return Buffer(storage, 0, elements, mask, first, tuple(sizes), known)


def _result_types(entry: Operation) -> list[np.dtype[Any]]:
    """Returns the element types of the results of an entry on the graph level, where it tells them."""
    signature = entry.attributes.get(SIGNATURE)
    if not isinstance(signature, FunctionType):
        return []
    return [dtype_of(type_) for type_ in signature.outputs if isinstance(type_, TensorType)]
