"""Operands and results of graph ops: their tensor types, element type classes and groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Final
from weakref import ref

from typing_extensions import TypeVar
from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    IntConstraint,
    IRDLOperation,
    VarOperandDef,
    VerificationContext,
    operand_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from ...core.ir.element_types import ATTRIBUTES, dtype_name
from ...lazy_dataclass import dataclass
from ...te.dtypes import BYTES, STORED
from .element_types import CLASSES, class_members, class_text, rejection
from .shapes import Shaped

# Types


@lru_cache(maxsize=4096)
def tensor_type(shaped: Shaped) -> TensorType:
    """Returns the tensor type of a shape and element type. Types are shared because making one costs 50 µs."""
    dims = [DYNAMIC_INDEX if dim is None else dim for dim in shaped.shape]
    return TensorType(ATTRIBUTES[shaped.dtype], dims)


_known: dict[int, tuple[ref[TensorType], Shaped]] = {}
"""
The shapes of types, by identity: types are shared, and to hash one takes longer than to look at it. A type that goes
takes its entry along.
"""


def shaped_of(type_: Attribute, what: str) -> Shaped:
    """
    Returns the shape and element type of a tensor type. Raises `VerifyException`, which names `what`, for any other
    type.
    """
    known = _known.get(id(type_))
    if known is not None and known[0]() is type_:
        return known[1]
    if not isinstance(type_, TensorType):
        raise VerifyException(f"{what} has type {type_}, expected a ranked tensor")
    if not isinstance(type_.encoding, NoneAttr):
        raise VerifyException(f"{what} has type {type_}, expected a tensor without an encoding")
    name = dtype_name(type_.element_type)
    if name is None or name not in ATTRIBUTES:
        raise VerifyException(f"{what}: {rejection(type_.element_type)}")
    dims = tuple(None if dim.data == DYNAMIC_INDEX else dim.data for dim in type_.shape.data)
    for dim in dims:
        if dim is not None and dim < 0:
            raise VerifyException(f"{what} has a negative extent {dim}")
    shaped = Shaped(dims, name)
    _known[id(type_)] = ref(type_, partial(_known.pop, id(type_))), shaped
    return shaped


# Definitions of operands and results

MIXES: Final = {"floats": frozenset(class_members("F")), "bytes": BYTES}
"""The element types that an operand of an op may have beside another one of the same kind."""


@dataclass(frozen=True)
class TensorOf(AttrConstraint[Attribute]):
    """
    A tensor whose element type is in one of `classes`. Operands of one `group` have the same element type.

    One that `mixes` types of some kinds, `floats` or `bytes`, may be another one of these than they are.

    As an irdl constraint it accepts everything, because `TensorOp.verify_` gives better messages than irdl would.
    """

    classes: str
    group: str = ""
    mixes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wrong = [letter for letter in self.classes if letter not in CLASSES]
        if wrong or not self.classes:
            found = f"'{wrong[0]}' is no class of element types" if wrong else "there is no class of element types"
            raise ValueError(f"{found}, expected letters of {', '.join(CLASSES)}")

    def goes_with(self, dtype: str, leader: str) -> bool:
        """Returns whether an operand of this element type may stand beside the first one of its group."""
        return dtype == leader or any({dtype, leader} <= MIXES[kind] for kind in self.mixes)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Accepts every attribute, because `TensorOp.verify_` does the check."""

    def mapping_type_vars(self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]) -> TensorOf:
        return self

    def __str__(self) -> str:
        return f"tensor of {class_text(self.classes)}"


ANY = "".join(CLASSES)
"""The classes of all element types."""

NUMBERS = "FSU"
"""The classes of all element types but `i1`."""


def tensor_operand(classes: str = ANY, group: str = "", *, mixes: tuple[str, ...] = ()) -> Any:
    """
    Declares an operand that is a tensor of `classes`, of the same element type as the others of its group.

    One that `mixes` types of some kinds, `floats` or `bytes`, may be another one of these than they are.
    """
    return operand_def(TensorOf(classes, group, mixes))


def tensor_operands(classes: str = ANY) -> Any:
    """Declares one or more operands that are tensors of `classes`."""
    return var_operand_def(TensorOf(classes))


def tensor_result() -> Any:
    """Declares a result, whose type is what `infer` says."""
    return result_def(TensorOf(ANY))


def tensor_results() -> Any:
    """Declares results, whose number and types are what `infer` says."""
    return var_result_def(TensorOf(ANY))


# Operands of an op


@cache
def operand_signature(op_type: type[IRDLOperation]) -> tuple[tuple[str, TensorOf, bool], ...]:
    """Returns the name and constraint of each operand of an op, and whether any number of values may stand there."""
    signature: list[tuple[str, TensorOf, bool]] = []
    for name, operand_definition in op_type.get_irdl_definition().operands:
        constraint: Any = operand_definition.constr
        while not isinstance(constraint, TensorOf):  # irdl wraps it in its constraints of ranges
            constraint = getattr(constraint, "constr", None) or constraint.constraint
        signature.append((name, constraint, isinstance(operand_definition, VarOperandDef)))
    return tuple(signature)


def operand_names(op_type: type[IRDLOperation], count: int) -> list[tuple[str, TensorOf]]:
    """
    Returns the name and constraint of each of `count` operands. Raises `VerifyException` for a wrong number of them.
    """
    signature = operand_signature(op_type)
    if signature[0][2] and count:
        return [(f"operand {number}", signature[0][1]) for number in range(count)]
    if len(signature) != count:
        raise VerifyException(f"the op takes {operands_text(op_type)}, found {count}")
    return [(name, constraint) for name, constraint, _ in signature]


def operands_text(op_type: type[IRDLOperation]) -> str:
    """Returns the operands of an op in words: `2 operands (lhs, rhs)`."""
    signature = operand_signature(op_type)
    if signature[0][2]:
        return "at least 1 operand"
    names = ", ".join(name for name, _, _ in signature)
    return f"{len(signature)} operand{'' if len(signature) == 1 else 's'} ({names})"


def checked_operands(op_type: type[IRDLOperation], operands: Sequence[SSAValue]) -> list[Shaped]:
    """
    Returns the shapes and element types of `operands`.

    Raises `VerifyException` when they are not of the classes that the op wants, or differ within a group.
    """
    result: list[Shaped] = []
    group_leader: dict[str, tuple[str, str]] = {}
    for value, (name, constraint) in zip(operands, operand_names(op_type, len(operands)), strict=True):
        shaped = shaped_of(value.type, name)
        if shaped.dtype not in class_members(constraint.classes):
            wanted = class_text(constraint.classes)
            hint = " to compute with; convert with graph.astype" if shaped.dtype in STORED else ""
            raise VerifyException(f"{name} has element type {shaped.dtype}, expected {wanted}{hint}")
        leader, dtype = group_leader.setdefault(constraint.group, (name, shaped.dtype))
        if not constraint.goes_with(shaped.dtype, dtype):
            raise VerifyException(
                f"{leader} has element type {dtype} but {name} has {shaped.dtype}; convert with graph.astype"
            )
        result.append(shaped)
    return result
