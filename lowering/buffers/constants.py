"""Constants of tensors as read-only globals, each content once, and constants that are indices."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation

from ...core.ir.appending import new_op
from ...core.ir.symbols import symbol
from ...core.messages.locations import copy_location
from ...dialects.graph.constants import ConstantOp
from ...dialects.graph.literals import memory_bytes
from ..shared.te_types import storage_of


@lru_cache(maxsize=4096)
def index_number(value: int) -> IntegerAttr[IndexType]:
    """Returns `value : index`."""
    return IntegerAttr.from_index_int_value(value)


@lru_cache(maxsize=4096)
def _buffer_type(element_type: Attribute, shape: tuple[int, ...]) -> MemRefType:
    """Returns the type of a buffer. A quantised model has hundreds of constants of one number."""
    return MemRefType(element_type, shape)


_PRIVATE: Final = StringAttr("private")

_CONSTANT: Final = UnitAttr()


class ConstantPool:
    """The `memref.global`s of a module, found by content."""

    def __init__(self, module: ModuleOp):
        self.module = module
        symbols = (op.get_attr_or_prop("sym_name") for op in module.ops)
        self.names = {symbol.data for symbol in symbols if isinstance(symbol, StringAttr)}
        self.by_content: dict[DenseIntOrFPElementsAttr, str] = {
            op.initial_value: op.sym_name.data
            for op in module.ops
            if isinstance(op, memref.GlobalOp)
            and op.constant is not None
            and isinstance(op.initial_value, DenseIntOrFPElementsAttr)
        }

    def load(self, op: ConstantOp) -> memref.GetGlobalOp:
        """Returns an op whose result is the buffer with the constant's elements."""
        assert isinstance(op.value, DenseIntOrFPElementsAttr)
        value = stored(op.value)
        type_ = _buffer_type(value.type.element_type, value.type.get_shape())
        if value not in self.by_content:
            self.by_content[value] = self._add(op, value, type_)
        return new_op(memref.GetGlobalOp, (), (type_,), {"name": symbol(self.by_content[value])})

    def _add(self, op: Operation, value: DenseIntOrFPElementsAttr, type_: MemRefType) -> str:
        number = len(self.by_content)
        while (name := f"constant_{number}") in self.names:
            number += 1
        self.names.add(name)
        given = {"sym_name": StringAttr(name), "type": type_, "initial_value": value}
        new = new_op(memref.GlobalOp, (), (), {**given, "sym_visibility": _PRIVATE, "constant": _CONSTANT})
        copy_location(op, new)
        first = self.module.body.block.first_op
        assert first is not None
        self.module.body.block.insert_op_before(new, first)
        return name


def stored(value: DenseIntOrFPElementsAttr) -> DenseIntOrFPElementsAttr:
    """Returns a dense attribute with the elements as they lie in memory: signless, booleans as bytes."""
    element = value.type.element_type
    storage = storage_of(element)
    if storage == element:
        return value
    type_ = TensorType(storage, value.type.get_shape())
    return DenseIntOrFPElementsAttr(type_, BytesAttr(memory_bytes(value)))  # pyright: ignore[reportArgumentType]
