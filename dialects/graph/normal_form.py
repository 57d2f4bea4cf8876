"""
The kinds of properties that can be written in several ways, and the one form of each in which ops are compared.

`axis = -1` and `axis = 1` of a tensor of rank 2 say the same, as do all axes listed and none. A kind says so beside the
declaration of the property. Comparisons ask the op for its normal form, and the op keeps what was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, FloatAttr, IntegerAttr, TensorType, f64, i64
from xdsl.ir import Attribute, Operation

from ...lazy_dataclass import dataclass
from . import shapes
from .properties import ElementTypeKind, IntegerKind, IntegersKind, NumberKind, PropertyKind
from .shapes import Shape, ShapeError


@dataclass(frozen=True)
class AxisKind(IntegerKind):
    """
    A dimension of the first operand, where negative ones count from the end. Its normal form counts from the start.

    With `absent_is_flat`, an absent one means the flattened operand, which is dimension 0 of rank 1.
    """

    absent_is_flat: bool = False

    def normal(self, attribute: Attribute | None, op: Operation) -> Attribute | None:
        axis = None if attribute is None else self.to_python(attribute)
        if axis is not None and axis >= 0:
            return attribute
        rank = len(_operand_shape(op))
        if axis is None:
            return _integer(0) if self.absent_is_flat and rank == 1 else None
        return _integer(axis + rank) if -rank <= axis else attribute


@dataclass(frozen=True)
class AxesKind(IntegersKind):
    """
    Dimensions of the first operand. The normal form lists them all, counted from the start.

    It is sorted when the order makes no difference. `absent` says which ones are meant when none are given: all, all in
    reversed order, or those of extent 1. With `new`, they are dimensions that the result has in addition.
    """

    ordered: bool = True
    absent: Literal["all", "reversed", "ones"] | None = None
    new: bool = False

    def normal(self, attribute: Attribute | None, op: Operation) -> Attribute | None:
        shape = _operand_shape(op)
        if attribute is None:
            return self._of_absent(shape)
        axes = self.to_python(attribute)
        try:
            found = shapes.normalise_axes(axes, len(shape) + (len(axes) if self.new else 0))
        except ShapeError:
            return attribute
        return _integers(found if self.ordered else tuple(sorted(found)))

    def _of_absent(self, shape: Shape) -> Attribute | None:
        axes = range(len(shape))
        match self.absent:
            case "all":
                return _integers(tuple(axes))
            case "reversed":
                return _integers(tuple(reversed(axes)))
            case "ones":
                return _integers(tuple(axis for axis in axes if shape[axis] == 1))
            case None:
                return None


@dataclass(frozen=True)
class StepsKind(IntegersKind):
    """One step for each entry of `axes`. An absent list means steps of 1."""

    def normal(self, attribute: Attribute | None, op: Operation) -> Attribute | None:
        axes = op.properties.get("axes")
        if attribute is not None or not isinstance(axes, DenseArrayBase):
            return attribute
        return _integers((1,) * len(axes))


@dataclass(frozen=True)
class NewShapeKind(IntegersKind):
    """A shape of as many elements as the first operand has. The normal form has no -1 where the extents are known."""

    def normal(self, attribute: Attribute | None, op: Operation) -> Attribute | None:
        if attribute is None or -1 not in (wanted := self.to_python(attribute)):
            return attribute
        try:
            found = shapes.reshape(_operand_shape(op), wanted)
        except ShapeError:
            return attribute
        return attribute if None in found else _integers(tuple(dim for dim in found if dim is not None))


@dataclass(frozen=True)
class ResultTypeKind(ElementTypeKind):
    """The element type of the result. An absent one means that of the first operand."""

    def normal(self, attribute: Attribute | None, op: Operation) -> Attribute | None:
        return _element_type(op) if attribute is None else attribute


@dataclass(frozen=True)
class ElementKind(NumberKind):
    """A number of the element type of the first operand. The normal form is a float exactly when that type is one."""

    def normal(self, attribute: Attribute | None, op: Operation) -> Attribute | None:
        if attribute is None:
            return None
        number = self.to_python(attribute)
        if isinstance(_element_type(op), AnyFloat):
            return FloatAttr(float(number), f64) if isinstance(number, int) else attribute
        return self.from_python(int(number)) if isinstance(number, float) and number.is_integer() else attribute


AXIS = AxisKind()
"""A property that holds a dimension of the first operand."""
AXES = AxesKind()
"""A property that holds dimensions of the first operand."""
AXIS_OR_FLAT = AxisKind(absent_is_flat=True)
REDUCED_AXES = AxesKind(ordered=False, absent="all")
STEPS = StepsKind()
NEW_SHAPE = NewShapeKind()
RESULT_TYPE = ResultTypeKind()
ELEMENT = ElementKind()


def has_normal_form(kind: PropertyKind) -> bool:
    """Returns whether properties of this kind can be written in several ways."""
    return type(kind).normal is not PropertyKind.normal


def _operand_shape(op: Operation) -> Shape:
    """Returns the shape of the first operand. It is that of a scalar where this is no tensor."""
    type_ = op.operands[0].type if op.operands else None
    if not isinstance(type_, TensorType):
        return ()
    return tuple(None if dim < 0 else dim for dim in type_.get_shape())


def _element_type(op: Operation) -> Attribute | None:
    type_ = op.operands[0].type if op.operands else None
    return type_.element_type if isinstance(type_, TensorType) else None


@lru_cache(maxsize=1024)
def _integer(value: int) -> Attribute:
    return IntegerAttr(value, i64)


@lru_cache(maxsize=1024)
def _integers(values: Sequence[int]) -> Attribute:
    return DenseArrayBase.from_list(i64, values)
