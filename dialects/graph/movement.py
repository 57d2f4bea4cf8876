"""Ops that only move elements: every element of a result is an element of an operand, or padding."""

from __future__ import annotations

from xdsl.interfaces import ConditionallySpeculatableInterface
from xdsl.irdl import irdl_op_definition

from ...te.dtypes import integer_range
from ..traits import MayFail
from . import shapes
from .base import (
    ANY,
    GraphOp,
    PureGraphOp,
    plain_properties,
    tensor_operand,
    tensor_operands,
    tensor_result,
    tensor_results,
)
from .element_types import check_number
from .normal_form import AXES, AXIS, ELEMENT, NEW_SHAPE, STEPS, AxesKind
from .properties import INTEGER, INTEGERS, optional_prop, prop
from .shapes import Shaped, normalise_axis
from .signature import shaped_of


@irdl_op_definition
class PermuteDimsOp(PureGraphOp):
    """
    Permutes the dimensions, `result.shape[k] = operand.shape[axes[k]]`. Their order is reversed when `axes` is absent.

    ```mlir
    %y = graph.permute_dims %x, axes = [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
    ```
    """

    name = "graph.permute_dims"

    operand = tensor_operand(ANY)
    axes = optional_prop(AxesKind(absent="reversed"))
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, axes: tuple[int, ...] | None) -> tuple[Shaped, ...]:
        return (Shaped(shapes.permute(x.shape, axes), x.dtype),)


@irdl_op_definition
class ReshapeOp(PureGraphOp):
    """
    Returns the same elements, in row-major order, in another shape. One extent may be -1, which stands for what is
    left.

    ```mlir
    %y = graph.reshape %x, shape = [2, -1] : (tensor<4x6xf32>) -> tensor<2x12xf32>
    ```
    """

    name = "graph.reshape"

    operand = tensor_operand(ANY)
    shape = prop(NEW_SHAPE)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, shape: tuple[int, ...]) -> tuple[Shaped, ...]:
        return (Shaped(shapes.reshape(x.shape, shape), x.dtype),)


@irdl_op_definition
class ExpandDimsOp(PureGraphOp):
    """
    Inserts dimensions of extent 1 at the positions `axis` of the result.

    ```mlir
    %y = graph.expand_dims %x, axis = [0, -1] : (tensor<4xf32>) -> tensor<1x4x1xf32>
    ```
    """

    name = "graph.expand_dims"

    operand = tensor_operand(ANY)
    axis = prop(AxesKind(ordered=False, new=True))
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, axis: tuple[int, ...]) -> tuple[Shaped, ...]:
        return (Shaped(shapes.expand_dims(x.shape, axis), x.dtype),)


@irdl_op_definition
class SqueezeOp(PureGraphOp):
    """
    Removes the dimensions `axis`, which have extent 1. When `axis` is absent, it removes all dimensions of extent 1.

    ```mlir
    %y = graph.squeeze %x, axis = [0] : (tensor<1x4x1xf32>) -> tensor<4x1xf32>
    ```
    """

    name = "graph.squeeze"

    operand = tensor_operand(ANY)
    axis = optional_prop(AxesKind(ordered=False, absent="ones"))
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, axis: tuple[int, ...] | None) -> tuple[Shaped, ...]:
        return (Shaped(shapes.squeeze(x.shape, axis), x.dtype),)


@irdl_op_definition
class BroadcastToOp(PureGraphOp):
    """
    Stretches `operand` to `shape` as in NumPy.

    ```mlir
    %y = graph.broadcast_to %x, shape = [4, 8] : (tensor<8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.broadcast_to"

    operand = tensor_operand(ANY)
    shape = prop(INTEGERS)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, shape: tuple[int, ...]) -> tuple[Shaped, ...]:
        return (Shaped(shapes.broadcast_to(x.shape, shape), x.dtype),)


@irdl_op_definition
class ConcatOp(PureGraphOp):
    """
    Joins one or more operands, one after the other along `axis`.

    ```mlir
    %z = graph.concat %x, %y, axis = 1 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<4x5xf32>
    ```
    """

    name = "graph.concat"

    inputs = tensor_operands(ANY)
    axis = prop(AXIS, 0)
    result = tensor_result()

    @classmethod
    def infer(cls, *inputs: Shaped, axis: int) -> tuple[Shaped, ...]:
        return (Shaped(shapes.concat([x.shape for x in inputs], axis), inputs[0].dtype),)


@irdl_op_definition
class SplitOp(PureGraphOp):
    """
    Cuts the operand along `axis` into `sections` equal parts, or before each of the positions `indices`.

    ```mlir
    %a, %b = graph.split %x, sections = 2, axis = 1 : (tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    %c, %d = graph.split %x, indices = [1] : (tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>)
    ```
    """

    name = "graph.split"

    operand = tensor_operand(ANY)
    sections = optional_prop(INTEGER)
    indices = optional_prop(INTEGERS)
    axis = prop(AXIS, 0)
    parts = tensor_results()

    @classmethod
    def infer(
        cls, x: Shaped, *, sections: int | None, indices: tuple[int, ...] | None, axis: int
    ) -> tuple[Shaped, ...]:
        return tuple(Shaped(shape, x.dtype) for shape in shapes.split(x.shape, axis, sections, indices))


@irdl_op_definition
class StridedSliceOp(PureGraphOp):
    """
    Computes `operand[begin:end:stride]` on each of `axes`, by the rules of Python's slices.

    Negative positions count from the end, and positions out of range are clamped. Negative strides go backwards.
    Strides are 1 when absent.

    ```mlir
    %y = graph.strided_slice %x, axes = [1], begin = [0], end = [8], strides = [2] : (tensor<4x8xf32>)
        -> tensor<4x4xf32>
    ```
    """

    name = "graph.strided_slice"

    operand = tensor_operand(ANY)
    axes = prop(AXES)
    begin = prop(INTEGERS)
    end = prop(INTEGERS)
    strides = optional_prop(STEPS)
    result = tensor_result()

    @classmethod
    def infer(
        cls,
        x: Shaped,
        *,
        axes: tuple[int, ...],
        begin: tuple[int, ...],
        end: tuple[int, ...],
        strides: tuple[int, ...] | None,
    ) -> tuple[Shaped, ...]:
        return (Shaped(shapes.strided_slice(x.shape, axes, begin, end, strides), x.dtype),)


@irdl_op_definition
class PadOp(PureGraphOp):
    """
    Adds elements `value` around `operand`.

    `pad_width = [before0, after0, before1, …]` lists their numbers before and after each dimension.

    Numerics: `value` is rounded to the float type. For an integer type, it must be an integer that the type can hold.

    ```mlir
    %y = graph.pad %x, pad_width = [0, 0, 1, 1], value = 0.5 : (tensor<4x8xf32>) -> tensor<4x10xf32>
    ```
    """

    name = "graph.pad"

    operand = tensor_operand(ANY)
    pad_width = prop(INTEGERS)
    value = prop(ELEMENT, 0)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, pad_width: tuple[int, ...], value: int | float) -> tuple[Shaped, ...]:
        check_number("value", value, x.dtype)
        return (Shaped(shapes.pad(x.shape, pad_width), x.dtype),)


@irdl_op_definition
class TakeOp(MayFail, ConditionallySpeculatableInterface, GraphOp):
    """
    Takes the elements at `indices` along `axis`, `result[…, i…, …] = operand[…, indices[i…], …]`.

    Shapes: the shape of `indices` stands in place of `axis`.
    A negative index counts from the end: the extent is added once.
    Fails: index out of range. A table with an element for each index that the type of `indices` has never fails.

    ```mlir
    %y = graph.take %x, %i, axis = 1 : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4x3xf32>
    ```
    """

    name = "graph.take"

    operand = tensor_operand(ANY)
    indices = tensor_operand("SU", "indices")
    axis = prop(AXIS)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, indices: Shaped, *, axis: int) -> tuple[Shaped, ...]:
        return (Shaped(shapes.take(x.shape, indices.shape, axis), x.dtype),)

    def may_fail(self) -> bool:
        x, indices = (shaped_of(value.type, "operand") for value in self.operands)
        extent = x.shape[normalise_axis(plain_properties(self)["axis"], len(x.shape))]
        least, greatest = integer_range(indices.dtype)
        return extent is None or not -extent <= least <= greatest < extent

    def is_speculatable(self) -> bool:
        return not self.may_fail()
