"""
Sizes that are computed at run time: extents of tensors whose `?` is not known yet, and what follows from them.

A `SizesValue` is a small tensor of integers of which some are such sizes. Arithmetic on shapes works on these
expressions, and adds no ops; ops that compute them are added where something takes the tensor as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import numpy as np
from xdsl.ir import Operation, SSAValue

from ....dialects.graph.constants import ConstantOp, FullOp
from ....dialects.graph.dynamic import DynamicOp, ShapeOfOp
from ....dialects.graph.shapes import Shaped
from ....dialects.traits import LoopSemantics
from ....te.dtypes import numpy_dtype
from ..value import Value, ValueBuilder
from .values import KnownValue, RuntimeValue

if TYPE_CHECKING:
    pass

DEEPEST: Final = 64
"""The most levels of an expression. What is deeper is computed by ops."""

MOST_ELEMENTS: Final = 64
"""The most elements of a tensor that are followed one by one."""

NEVER_NEGATIVE: Final = frozenset({"size", "add", "multiply", "divide", "maximum", "minimum"})
"""Extents, and what results from numbers that are not negative."""


class Size:
    """
    A number that is computed at run time. Equal expressions are one object.

    `op` is `size` with `args = (tensor, axis)`, `element` with `args = (tensor, position)`, or a graph op with sizes
    and numbers as `args`.
    """

    __slots__ = ("__weakref__", "args", "depth", "natural", "op")

    _all: WeakValueDictionary[tuple[Any, ...], Size] = WeakValueDictionary()

    op: str
    args: tuple[Any, ...]
    depth: int
    natural: bool
    """True if the number cannot be negative."""

    def __new__(cls, op: str, *args: Any) -> Size:
        found = cls._all.get((op, args))
        if found is None:
            found = super().__new__(cls)
            found.op, found.args = op, args
            inner = [each for each in args if isinstance(each, Size)]
            found.depth = 1 + max((each.depth for each in inner), default=0)
            found.natural = op == "size" or (op in NEVER_NEGATIVE and all(is_natural(each) for each in args))
            cls._all[op, args] = found
        return found

    def __repr__(self) -> str:
        return f"{self.op}({', '.join('%' if isinstance(each, SSAValue) else repr(each) for each in self.args)})"


Extent = int | Size
"""A number that is known, or computed at run time."""


def is_natural(extent: Any) -> bool:
    """Returns whether a number is known not to be negative."""
    return extent.natural if isinstance(extent, Size) else isinstance(extent, int) and extent >= 0


# Arithmetic

NUMBERS: Final[dict[str, Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "maximum": max,
    "minimum": min,
    "equal": lambda a, b: a == b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "logical_and": lambda a, b: a and b,
    "logical_or": lambda a, b: a or b,
}
"""The graph ops that are followed, on integers. A quotient is cut towards 0."""


def combined(op: str, a: Extent, b: Extent) -> Extent:
    """`a op b`, as simple as follows at once. Raises `ZeroDivisionError`."""
    if not isinstance(a, Size) and not isinstance(b, Size):
        return NUMBERS[op](a, b)
    match op, a, b:
        case ("add", x, 0) | ("add", 0, x) | ("subtract", x, 0):
            return x
        case ("multiply", x, 1) | ("multiply", 1, x) | ("divide", x, 1):
            return x
        case ("multiply", _, 0) | ("multiply", 0, _):
            return 0
        case ("divide", Size(op="multiply", args=(x, int(k))), int(n)) if k == n != 0:
            return x
        case ("logical_and", x, True) | ("logical_and", True, x) | ("logical_or", x, False) | ("logical_or", False, x):
            return x
    if a is b and op in _OF_EQUALS:
        return {"subtract": 0, "maximum": a, "minimum": a}.get(op, op not in ("less", "greater"))
    return _by_sign(op, a, b) if _by_sign(op, a, b) is not None else _ordered(op, a, b)


_OF_EQUALS = ("subtract", "maximum", "minimum", "equal", "less", "less_equal", "greater", "greater_equal")


def _by_sign(op: str, a: Extent, b: Extent) -> Any:
    """Returns what follows for a natural number and a negative one, `None` for nothing."""
    if isinstance(b, int) and is_natural(a) and b < 0:
        return {
            "equal": False,
            "less": False,
            "less_equal": False,
            "greater": True,
            "greater_equal": True,
            "maximum": a,
            "minimum": b,
        }.get(op)
    if isinstance(a, int) and is_natural(b) and a < 0:
        return {
            "equal": False,
            "less": True,
            "less_equal": True,
            "greater": False,
            "greater_equal": False,
            "maximum": b,
            "minimum": a,
        }.get(op)
    if op == "maximum" and 0 in (a, b):
        other = b if a == 0 else a
        return other if is_natural(other) else None
    return None


def _ordered(op: str, a: Extent, b: Extent) -> Size:
    """Returns the expression, with numbers on the right of what commutes."""
    swap = op in ("add", "multiply", "maximum", "minimum", "equal") and isinstance(a, int)
    return Size(op, b, a) if swap else Size(op, a, b)


def chosen(condition: Extent, a: Extent, b: Extent) -> Extent:
    """Returns `a` where the condition holds, else `b`."""
    if not isinstance(condition, Size):
        return a if condition else b
    return a if a is b or (not isinstance(a, Size) and a == b) else Size("where", condition, a, b)


def product(extents: Sequence[Extent]) -> Extent:
    """Returns the product of all extents, the number in it last."""
    number, result = 1, None
    for extent in extents:
        if isinstance(extent, Size):
            result = extent if result is None else combined("multiply", result, extent)
        else:
            number *= extent
    return number if result is None else combined("multiply", result, number)


def quotient(extents: Sequence[Extent], divisors: Sequence[Extent]) -> int | None:
    """
    Returns the product of `extents` over that of `divisors`, if it is a number that follows from equal sizes in both.
    """
    above = [each for each in extents if isinstance(each, Size)]
    number, divisor = 1, 1
    for each in extents:
        number *= 1 if isinstance(each, Size) else each
    for each in divisors:
        if not isinstance(each, Size):
            divisor *= each
        elif each in above:
            above.remove(each)
        else:
            return None
    return number // divisor if not above and divisor > 0 and number % divisor == 0 else None


# Values


class SizesValue(Value):
    """A tensor of integers or booleans: `elements` is an array of objects, of numbers and sizes."""

    def __init__(self, elements: np.ndarray[Any, Any], dtype: str):
        self.elements = elements
        self._dtype = dtype

    @property
    def shaped(self) -> Shaped:
        return Shaped(tuple(self.elements.shape), self._dtype)

    def computed(self, b: ValueBuilder) -> SSAValue:
        """Returns the tensor as an SSA value at the current place."""
        flat: list[Extent] = self.elements.reshape(-1).tolist()
        result = vector(b, flat, self._dtype)
        if self.elements.ndim != 1:
            result = b.reshape(result, shape=self.elements.shape)
        return b.ssa(result)


def sizes_value(elements: np.ndarray[Any, Any], dtype: str) -> Value:
    """Returns a tensor of numbers and sizes, which is known if there are only numbers."""
    if any(isinstance(each, Size) for each in elements.reshape(-1)):
        return SizesValue(elements, dtype)
    flat = [int(each) for each in elements.reshape(-1)]
    return KnownValue(np.array(flat, np.int64).astype(numpy_dtype(dtype)).reshape(elements.shape))


def objects(values: Sequence[Extent]) -> np.ndarray[Any, Any]:
    """Returns a vector of objects."""
    array = np.empty(len(values), object)
    array[:] = list(values)
    return array


def extents_of(value: Value) -> tuple[Extent, ...]:
    """Returns the shape of a value, with sizes where it has `?`."""
    if not isinstance(value, RuntimeValue):
        return tuple(dim for dim in value.shape if dim is not None)
    given = value.sizes or (None,) * value.rank
    return tuple(
        dim if dim is not None else size or Size("size", value.ssa, axis)
        for axis, (dim, size) in enumerate(zip(value.shape, given, strict=True))
    )


def elements_of(value: Value) -> np.ndarray[Any, Any] | None:
    """
    Returns the elements of a small tensor of integers or booleans, `None` for any other tensor.

    Elements that are computed are sizes.
    """
    if isinstance(value, SizesValue):
        return value.elements
    if value.dtype not in ("i64", "i32", "i1") or None in value.shape:
        return None
    count = 1
    for dim in value.shape:
        count *= dim or 0
    if count > MOST_ELEMENTS:
        return None
    if value.known is not None:
        return objects(value.known.reshape(-1).tolist()).reshape(value.known.shape)
    if not isinstance(value, RuntimeValue) or value.dtype == "i1":
        return None
    shape = [dim or 0 for dim in value.shape]
    return objects([Size("element", value.ssa, place) for place in range(count)]).reshape(shape)


# Ops that compute them


def vector(b: ValueBuilder, extents: Sequence[Extent], dtype: str = "i64") -> Value:
    """A vector of numbers and sizes."""
    if not any(isinstance(each, Size) for each in extents):
        return KnownValue(np.array(_numbers(extents), np.int64).astype(numpy_dtype(dtype)))
    parts: list[Value] = []
    place = 0
    while place < len(extents):
        count = _run(extents, place)
        parts.append(_part(b, extents[place : place + count], dtype))
        place += count
    result = parts[0] if len(parts) == 1 else b.concat(*parts, axis=0)
    return result if result.dtype == dtype else b.astype(result, dtype=dtype)


def scalar(b: ValueBuilder, extent: Extent, dtype: str = "i64") -> Value:
    """A number or size as a tensor of rank 0."""
    return b.reshape(vector(b, [extent], dtype), shape=())


def _run(extents: Sequence[Extent], place: int) -> int:
    """Counts the entries from `place` on that are numbers, or one after the other extents of one tensor."""
    count = 1
    while place + count < len(extents) and _follows(extents[place], extents[place + count], count):
        count += 1
    return count


def _numbers(extents: Sequence[Extent]) -> list[int]:
    return [int(each) for each in extents if not isinstance(each, Size)]


def _follows(first: Extent, other: Extent, distance: int) -> bool:
    if not isinstance(first, Size) or not isinstance(other, Size):
        return not isinstance(first, Size) and not isinstance(other, Size)
    same = first.op == other.op == "size" and first.args[0] is other.args[0]
    return same and other.args[1] == first.args[1] + distance


def _part(b: ValueBuilder, extents: Sequence[Extent], dtype: str) -> Value:
    first = extents[0]
    if not isinstance(first, Size):
        kind = numpy_dtype(dtype if dtype == "i1" else "i64")
        return KnownValue(np.array(_numbers(extents), np.int64).astype(kind))
    if first.op == "size":
        tensor, axis = first.args
        shape = b.shapes.get((b.block, tensor))
        if shape is None:
            shape = b.shapes[b.block, tensor] = b.shape_of(tensor)
        if len(extents) == shape.shape[0]:
            return shape
        return b.strided_slice(shape, axes=(0,), begin=(axis,), end=(axis + len(extents),))
    return _computed(b, first)


def _computed(b: ValueBuilder, size: Size) -> Value:
    """One size as a vector of one element. Recurses `DEEPEST` levels at most."""
    if size.op == "element":
        tensor, place = size.args
        flat = b.reshape(RuntimeValue(tensor), shape=(-1,))
        one = b.strided_slice(flat, axes=(0,), begin=(place,), end=(place + 1,))
        return one if one.dtype == "i64" else b.astype(one, dtype="i64")
    operands = [_operand(b, each) for each in size.args]
    return getattr(b, size.op)(*operands)


def _operand(b: ValueBuilder, extent: Extent) -> Value:
    if isinstance(extent, Size):
        return _part(b, [extent], "i64")
    return KnownValue(np.array([extent], bool if isinstance(extent, bool) else np.int64))


# Where they come from


def follows_from_shapes(value: Value) -> bool:
    """Returns whether all elements are known once the shapes of the arguments are."""
    if isinstance(value, SizesValue):
        return all(_is_shape(each) for each in value.elements.reshape(-1))
    return not isinstance(value, RuntimeValue) or _computed_from_shapes(value.ssa)


def _is_shape(extent: Any) -> bool:
    stack = [extent]
    while stack:
        each = stack.pop()
        if not isinstance(each, Size) or each.op == "size":
            continue
        if each.op == "element" and not _computed_from_shapes(each.args[0]):
            return False
        stack.extend(arg for arg in each.args if isinstance(arg, Size))
    return True


def _computed_from_shapes(value: SSAValue) -> bool:
    """
    Returns whether `specialize-shapes` can compute a tensor, which holds if it is made of constants and
    `graph.shape_of`.
    """
    stack, seen = [value], {value}
    while stack:
        op = stack.pop().owner
        if not isinstance(op, Operation) or not isinstance(op, LoopSemantics | ConstantOp | FullOp | DynamicOp):
            return False
        if isinstance(op, ShapeOfOp):
            continue
        stack.extend(each for each in op.operands if each not in seen)
        seen.update(op.operands)
    return True
