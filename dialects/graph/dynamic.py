"""
Ops whose results have shapes that the program computes.

The pass `specialize-shapes` replaces them by ops of static shape.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import ceil
from typing import Any, ClassVar

from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import Pure

from . import shapes
from .base import ANY, NUMBERS, PureGraphOp, TensorOp, tensor_operand, tensor_result
from .constants import ConstantOp
from .element_types import check_number
from .movement import BroadcastToOp, PadOp, ReshapeOp, StridedSliceOp
from .normal_form import AXES, ELEMENT
from .properties import BOOL, INTEGERS, prop
from .shapes import Dim, Shaped, ShapeError
from .signature import shaped_of, tensor_type

LARGEST_RANGE = 1 << 24
"""The most elements that a `graph.arange` may have."""


@irdl_op_definition
class ShapeOfOp(PureGraphOp):
    """
    Returns the extents of `operand` as a vector with one element per dimension.

    ```mlir
    %s = graph.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
    ```
    """

    name = "graph.shape_of"

    operand = tensor_operand(ANY)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped) -> tuple[Shaped, ...]:
        return (Shaped((len(x.shape),), "i64"),)


class DynamicOp(TensorOp, ABC):
    """
    An op that takes sizes as tensors.

    It stands for another op, which is known once the sizes are. Therefore it has no loops of its own.

    Extents of the result that are not known are `?`. The type of the result may say more than what follows from the
    operands.
    """

    traits = traits_def(Pure())

    SIZES: ClassVar[tuple[str, ...]] = ()
    """The operands whose elements must be known."""

    @abstractmethod
    def static_form(self, *sizes: list[Any]) -> list[Operation]:
        """
        Returns ops of static shape, the last of which computes the result.

        It returns no ops when the operand is the result. `sizes` are the elements of the operands `SIZES`, row by row.
        Raises `ShapeError` when they do not fit.
        """

    @property
    def source(self) -> SSAValue:
        """The operand that is brought into shape."""
        return self.operands[0]

    def source_shape(self) -> tuple[int, ...]:
        """Returns the shape of `source`, which is static when `static_form` is called."""
        shape = shaped_of(self.source.type, "the operand").shape
        return tuple(dim for dim in shape if dim is not None)


def _entries(sizes: Shaped, name: str, count: int | None = None) -> int:
    """
    Returns the length of a vector of sizes. Raises `ShapeError` when it is unknown, or is not the `count` that is
    given.
    """
    if len(sizes.shape) != 1 or sizes.shape[0] is None:
        raise ShapeError(f"{name} is {sizes}, expected a vector of known length")
    if count is not None and sizes.shape[0] != count:
        raise ShapeError(f"{name} has {sizes.shape[0]} entries, expected {count}")
    return sizes.shape[0]


@irdl_op_definition
class DynamicReshapeOp(DynamicOp):
    """
    Reshapes `operand` to the shape that a vector holds. One extent may be -1, which stands for what is left.

    With `copy_zeros`, an extent 0 is replaced by that of the same dimension of `operand`. The static form is
    `graph.reshape`.

    ```mlir
    %y = graph.dynamic_reshape %x, %s : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x2x4xf32>
    ```
    """

    name = "graph.dynamic_reshape"

    operand = tensor_operand(ANY)
    shape = tensor_operand("S", "sizes")
    copy_zeros = prop(BOOL, False)
    result = tensor_result()

    SIZES: ClassVar = ("shape",)

    @classmethod
    def infer(cls, x: Shaped, shape: Shaped, *, copy_zeros: bool) -> tuple[Shaped, ...]:
        return (Shaped((None,) * _entries(shape, "shape"), x.dtype),)

    def static_form(self, *sizes: list[Any]) -> list[Operation]:
        (wanted,), source = sizes, self.source_shape()
        if self.properties["copy_zeros"] == BOOL.from_python(True):
            wanted = [_copied(source, number) if dim == 0 else dim for number, dim in enumerate(wanted)]
        found = shapes.reshape(source, wanted)
        return [] if found == source else [ReshapeOp(self.source, shape=found)]


def _copied(source: tuple[int, ...], number: int) -> int:
    if number >= len(source):
        raise ShapeError(f"extent {number} of shape is 0, which copies one of {shapes.text(source)}")
    return source[number]


@irdl_op_definition
class DynamicBroadcastToOp(DynamicOp):
    """
    Stretches `operand` to the shape that its own shape and the one in a vector broadcast to.

    Either shape may stretch, as in NumPy.

    ```mlir
    %y = graph.dynamic_broadcast_to %x, %s : (tensor<1x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
    ```
    """

    name = "graph.dynamic_broadcast_to"

    operand = tensor_operand(ANY)
    shape = tensor_operand("S", "sizes")
    result = tensor_result()

    SIZES: ClassVar = ("shape",)

    @classmethod
    def infer(cls, x: Shaped, shape: Shaped) -> tuple[Shaped, ...]:
        unknown: tuple[Dim, ...] = (None,) * _entries(shape, "shape")
        return (Shaped(shapes.broadcast(x.shape, unknown), x.dtype),)

    def static_form(self, *sizes: list[Any]) -> list[Operation]:
        (wanted,), source = sizes, self.source_shape()
        if min(wanted, default=0) < 0:
            raise ShapeError(f"shape is {wanted}, expected extents of at least 0")
        found = shapes.broadcast(source, tuple(wanted))
        return [] if found == source else [BroadcastToOp(self.source, shape=found)]


@irdl_op_definition
class DynamicSliceOp(DynamicOp):
    """
    Computes `graph.strided_slice` along `axes`, with positions that vectors hold. Each vector has one entry per axis.

    ```mlir
    %y = graph.dynamic_slice %x, %b, %e, %s, axes = [1] : (tensor<4x?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
        -> tensor<4x?xf32>
    ```
    """

    name = "graph.dynamic_slice"

    operand = tensor_operand(ANY)
    begin = tensor_operand("S", "sizes")
    end = tensor_operand("S", "sizes")
    strides = tensor_operand("S", "sizes")
    axes = prop(AXES)
    result = tensor_result()

    SIZES: ClassVar = ("begin", "end", "strides")

    @classmethod
    def infer(
        cls, x: Shaped, begin: Shaped, end: Shaped, strides: Shaped, *, axes: tuple[int, ...]
    ) -> tuple[Shaped, ...]:
        for name, sizes in (("begin", begin), ("end", end), ("strides", strides)):
            _entries(sizes, name, len(axes))
        along = shapes.normalise_axes(axes, len(x.shape), "axes entry")
        return (Shaped(tuple(None if i in along else dim for i, dim in enumerate(x.shape)), x.dtype),)

    def static_form(self, *sizes: list[Any]) -> list[Operation]:
        begin, end, strides = sizes
        axes = INTEGERS.to_python(self.properties["axes"])
        shapes.strided_slice(self.source_shape(), axes, begin, end, strides)
        return [StridedSliceOp(self.source, axes=axes, begin=begin, end=end, strides=strides)]


@irdl_op_definition
class DynamicPadOp(DynamicOp):
    """
    Computes `graph.pad` with widths that a vector holds, `[before0, after0, before1, …]`. Negative widths cut.

    Numerics: `value` is rounded to the float type. For an integer type, it must be an integer that the type can hold.

    ```mlir
    %y = graph.dynamic_pad %x, %w, value = 0.5 : (tensor<?x8xf32>, tensor<4xi64>) -> tensor<?x?xf32>
    ```
    """

    name = "graph.dynamic_pad"

    operand = tensor_operand(ANY)
    pad_width = tensor_operand("S", "sizes")
    value = prop(ELEMENT, 0)
    result = tensor_result()

    SIZES: ClassVar = ("pad_width",)

    @classmethod
    def infer(cls, x: Shaped, pad_width: Shaped, *, value: int | float) -> tuple[Shaped, ...]:
        check_number("value", value, x.dtype)
        _entries(pad_width, "pad_width", 2 * len(x.shape))
        return (Shaped((None,) * len(x.shape), x.dtype),)

    def static_form(self, *sizes: list[Any]) -> list[Operation]:
        (widths,), source, ops = sizes, self.source, []
        extents = self.source_shape()
        cut = [i for i in range(len(extents)) if min(widths[2 * i], widths[2 * i + 1]) < 0]
        if cut:
            begin = [max(-widths[2 * i], 0) for i in cut]
            end = [max(extents[i] + min(widths[2 * i + 1], 0), 0) for i in cut]
            ops.append(StridedSliceOp(source, axes=cut, begin=begin, end=end))
            source = ops[-1].results[0]
        if any(width > 0 for width in widths):
            added = [max(width, 0) for width in widths]
            ops.append(PadOp(source, pad_width=added, value=self.properties["value"]))
        return ops


@irdl_op_definition
class ArangeOp(DynamicOp):
    """
    Computes `result[i] = start + i * delta` for all elements before `limit`.

    Shapes: the number of elements is `max(ceil((limit - start) / delta), 0)`.
    Numerics: floats are computed in f64 and rounded once.

    ```mlir
    %r = graph.arange %start, %limit, %delta : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
    ```
    """

    name = "graph.arange"

    start = tensor_operand(NUMBERS)
    limit = tensor_operand(NUMBERS)
    delta = tensor_operand(NUMBERS)
    result = tensor_result()

    SIZES: ClassVar = ("start", "limit", "delta")

    @classmethod
    def infer(cls, *operands: Shaped) -> tuple[Shaped, ...]:
        for name, operand in zip(cls.SIZES, operands, strict=True):
            if operand.shape:
                raise shapes.rank_error(name, operand.shape, "0")
        return (Shaped((None,), operands[0].dtype),)

    def static_form(self, *sizes: list[Any]) -> list[Operation]:
        (start,), (limit,), (delta,) = sizes
        if delta == 0:
            raise ShapeError("delta is 0, expected a step forward or back")
        count = range_length(start, limit, delta)
        if count > LARGEST_RANGE:
            raise ShapeError(f"the range has {count} elements, expected at most {LARGEST_RANGE}")
        type_ = tensor_type(Shaped((count,), shaped_of(self.source.type, "start").dtype))
        values: Sequence[Any] = [start + number * delta for number in range(count)]
        return [ConstantOp.from_values(values, type_)]


def range_length(start: float, limit: float, delta: float) -> int:
    """Returns the number of elements of a range. Raises `ShapeError` when it is not finite."""
    if isinstance(start, int) and isinstance(limit, int) and isinstance(delta, int):
        return max(-((start - limit) // delta), 0)
    length = (limit - start) / delta
    if length != length or length in (float("inf"), float("-inf")):
        raise ShapeError(f"a range from {start} to {limit} by {delta} has no length")
    return max(ceil(length), 0)
