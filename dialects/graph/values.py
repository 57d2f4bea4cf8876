"""
The values of a function that is being built: they have the operators of Python, each of which adds ops.

A builder gives these classes to the results and arguments that it makes, and takes them away in `get`. The rest of the
compiler sees the plain values of xDSL only, and asks for their exact class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import BlockArgument, OpResult, SSAValue

from ...core.ir.element_types import dtype_name
from .indices import indexed
from .methods import OpMethods
from .places import caller, fail_at


def _unary(op: str) -> Callable[[Any], Any]:
    def operator(self: Any) -> Any:
        return getattr(self.builder, op)(self)

    operator.__doc__ = f"Returns the result of `graph.{op}`."
    return operator


def _binary(op: str) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        return getattr(self.builder, op)(self, other)

    operator.__doc__ = f"Returns the result of `graph.{op}` on both sides, of which one may be a number or an array."
    return operator


def _reflected(op: str) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        return getattr(self.builder, op)(other, self)

    operator.__doc__ = f"Returns the result of `graph.{op}` on a number or an array and this value."
    return operator


class Value:
    """
    A value of the function that a `GraphBuilder` is building: `x + 1`, `x @ w`, `x[:, 0]`, `-x`, `x < y`.

    The other side of an operator may be a number or an array, which takes the element type of this value. `==` says
    whether two values are the same one, as everywhere in xDSL. `builder.equal(x, y)` compares their elements.
    """

    __slots__ = ()  # Objects change to this class and back, so their layout has to stay.
    builder: OpMethods
    __array_ufunc__ = None
    """Makes NumPy leave `array + x` to this class."""
    __iter__ = None

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Returns the extents, None for a `?`. Raises BuilderError for a value that is no tensor."""
        return tuple([None if size == DYNAMIC_INDEX else size for size in self._tensor_type.get_shape()])

    @property
    def dtype(self) -> str:
        """Returns the element type, such as `f32`. Raises BuilderError for a value that is no tensor."""
        return dtype_name(self._tensor_type.element_type) or str(self._tensor_type.element_type)

    @property
    def _tensor_type(self) -> TensorType:
        assert isinstance(self, SSAValue)
        if not isinstance(self.type, TensorType):
            fail_at(caller(), f"the value has type {self.type}, expected a tensor")
        return self.type

    def __repr__(self) -> str:
        assert isinstance(self, SSAValue)
        return f"<stepwell.Value %{self.name_hint or '?'} : {self.type}>"

    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _binary("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _binary("divide"), _reflected("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _reflected("floor_divide")
    __mod__, __rmod__ = _binary("mod"), _reflected("mod")
    __pow__, __rpow__ = _binary("power"), _reflected("power")
    __matmul__, __rmatmul__ = _binary("matmul"), _reflected("matmul")
    __and__, __rand__ = _binary("bitwise_and"), _reflected("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or"), _reflected("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor"), _reflected("bitwise_xor")
    __lshift__, __rlshift__ = _binary("left_shift"), _reflected("left_shift")
    __rshift__, __rrshift__ = _binary("right_shift"), _reflected("right_shift")
    __lt__, __le__ = _binary("less"), _binary("less_equal")
    __gt__, __ge__ = _binary("greater"), _binary("greater_equal")
    __neg__, __abs__, __invert__ = _unary("negative"), _unary("abs"), _unary("bitwise_not")

    def __getitem__(self, items: Any) -> Any:
        """Returns part of the tensor, as NumPy does for numbers, slices, `None`, `...` and one array of integers."""
        return indexed(self.builder, self, items if isinstance(items, tuple) else (items,))

    def __eq__(self, other: object) -> bool:
        if other is None or isinstance(other, SSAValue):
            return self is other
        fail_at(caller(), "== asks whether two values are the same one", "builder.equal(x, y) compares their elements")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        if not self.builder.is_building:
            return True
        what = "a value has no truth value while its function is built"
        fail_at(caller(), what, "builder.where(condition, x, y) selects element by element")


class ResultValue(OpResult, Value):
    """The result of an op."""

    def __repr__(self) -> str:
        return Value.__repr__(self)

    def __eq__(self, other: object) -> bool:
        return Value.__eq__(self, other)

    __hash__ = object.__hash__


class ArgumentValue(BlockArgument, Value):
    """An argument of a function."""

    def __repr__(self) -> str:
        return Value.__repr__(self)

    def __eq__(self, other: object) -> bool:
        return Value.__eq__(self, other)

    __hash__ = object.__hash__


def with_operators(value: SSAValue, builder: OpMethods) -> Any:
    """Gives a value the operators of `Value`, and returns it."""
    made: Any = ArgumentValue if isinstance(value, BlockArgument) else ResultValue
    value.__class__ = made
    value.builder = builder  # pyright: ignore[reportAttributeAccessIssue]
    return value


def without_operators(value: SSAValue) -> None:
    """Makes a value the plain one that it was."""
    plain: Any = BlockArgument if isinstance(value, BlockArgument) else OpResult
    value.__class__ = plain
    vars(value).pop("builder", None)
