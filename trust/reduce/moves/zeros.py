"""Constants of zeros, of whatever type a value has."""

from __future__ import annotations

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.graph.constants import ConstantOp


def zero_like(op: Operation, type_: Attribute) -> SSAValue | None:
    """Returns a new constant of zeros before an op, in its dialect, or `None` for a type without any."""
    made = _zero(op, type_)
    if made is None or op.parent is None:
        return None
    made.location = op.location
    op.parent.insert_op_before(made, op)
    return made.results[0]


def _zero(op: Operation, type_: Attribute) -> Operation | None:
    scalar = _scalar(type_)
    if op.name.startswith("llvm") and (scalar is not None or isinstance(type_, llvm.LLVMPointerType)):
        return llvm.ZeroOp.create(result_types=[type_])
    if scalar is not None:
        return arith.ConstantOp(scalar)
    if not isinstance(type_, TensorType | VectorType) or any(size < 0 for size in type_.get_shape()):
        return None
    element = _scalar(type_.element_type)
    if element is None:
        return None
    value = DenseIntOrFPElementsAttr.from_list(type_, [element.value.data])  # pyright: ignore
    if isinstance(type_, TensorType) and op.name.startswith("graph."):
        return ConstantOp(value)
    return arith.ConstantOp(value)


def _scalar(type_: Attribute) -> IntegerAttr | FloatAttr | None:
    if isinstance(type_, IntegerType | IndexType):
        return IntegerAttr(0, type_)
    if isinstance(type_, AnyFloat):
        return FloatAttr(0.0, type_)
    return None
