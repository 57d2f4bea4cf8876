"""Ops that combine the elements along axes, and the softmax family, which normalises along one."""

from __future__ import annotations

from abc import ABC

from xdsl.irdl import irdl_op_definition

from .base import NUMBERS, PureGraphOp, tensor_operand, tensor_result
from .normal_form import AXIS, AXIS_OR_FLAT, REDUCED_AXES
from .properties import BOOL, optional_prop, prop
from .shapes import Shaped, normalise_axis, reduce, reject_empty


class ReductionOp(PureGraphOp, ABC):
    """
    An op whose `result` combines the elements of `operand` along `axis`.

    `axis` lists one or more dimensions, where negative ones count from the end. When it is absent, all dimensions are
    reduced.
    """

    axis = optional_prop(REDUCED_AXES)
    keepdims = prop(BOOL, False)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, axis: tuple[int, ...] | None, keepdims: bool) -> tuple[Shaped, ...]:
        return (Shaped(reduce(x.shape, axis, keepdims), x.dtype),)


class NonEmptyReductionOp(ReductionOp, ABC):
    """A reduction that is not defined when there are no elements."""

    @classmethod
    def infer(cls, x: Shaped, *, axis: tuple[int, ...] | None, keepdims: bool) -> tuple[Shaped, ...]:
        reject_empty(x.shape, axis, cls.name)
        return super().infer(x, axis=axis, keepdims=keepdims)


class ArgReductionOp(PureGraphOp, ABC):
    """An op that returns the i64 index of an element along `axis`, or in the flattened tensor when `axis` is absent."""

    axis = optional_prop(AXIS_OR_FLAT)
    keepdims = prop(BOOL, False)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, axis: int | None, keepdims: bool) -> tuple[Shaped, ...]:
        axes = None if axis is None else (axis,)
        reject_empty(x.shape, axes, cls.name)
        return (Shaped(reduce(x.shape, axes, keepdims), "i64"),)


class AxisNormalisationOp(PureGraphOp, ABC):
    """An op along one `axis` that keeps the shape."""

    axis = prop(AXIS, -1)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, axis: int) -> tuple[Shaped, ...]:
        normalise_axis(axis, len(x.shape))
        return (x,)


@irdl_op_definition
class SumOp(ReductionOp):
    """
    Computes the sum along `axis`.

    Numerics: floats are accumulated in at least f32. The order is unspecified. Integers wrap. The empty sum is 0.

    ```mlir
    %y = graph.sum %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sum"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class ProdOp(ReductionOp):
    """
    Computes the product along `axis`.

    Numerics: floats are accumulated in at least f32. The order is unspecified. Integers wrap. The empty product is 1.

    ```mlir
    %y = graph.prod %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.prod"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class MeanOp(ReductionOp):
    """
    Computes the mean along `axis`, which is the sum divided by the number of elements.

    Numerics: the sum is accumulated in at least f32. The order is unspecified. The mean of no elements is NaN.

    ```mlir
    %y = graph.mean %x, axis = [-1], keepdims = true : (tensor<4x8xf32>) -> tensor<4x1xf32>
    ```
    """

    name = "graph.mean"

    operand = tensor_operand("F")


@irdl_op_definition
class MaxOp(NonEmptyReductionOp):
    """
    Returns the greatest element along `axis`.

    Numerics: NaN wins, and -0 < +0. It is an error when there are no elements.

    ```mlir
    %y = graph.max %x, axis = [0] : (tensor<4x8xf32>) -> tensor<8xf32>
    ```
    """

    name = "graph.max"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class MinOp(NonEmptyReductionOp):
    """
    Returns the smallest element along `axis`.

    Numerics: NaN wins, and -0 < +0. It is an error when there are no elements.

    ```mlir
    %y = graph.min %x, axis = [0] : (tensor<4x8xf32>) -> tensor<8xf32>
    ```
    """

    name = "graph.min"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class AnyOp(ReductionOp):
    """
    Returns whether some element along `axis` is true.

    Numerics: the result is false when there are no elements.

    ```mlir
    %y = graph.any %x, axis = [1] : (tensor<4x8xi1>) -> tensor<4xi1>
    ```
    """

    name = "graph.any"

    operand = tensor_operand("B")


@irdl_op_definition
class AllOp(ReductionOp):
    """
    Returns whether every element along `axis` is true.

    Numerics: the result is true when there are no elements.

    ```mlir
    %y = graph.all %x, axis = [1] : (tensor<4x8xi1>) -> tensor<4xi1>
    ```
    """

    name = "graph.all"

    operand = tensor_operand("B")


@irdl_op_definition
class ArgmaxOp(ArgReductionOp):
    """
    Returns the index of the greatest element along `axis`.

    Numerics: the first of equal elements wins, and the first NaN wins over all others. It is an error when there are no
    elements.

    ```mlir
    %y = graph.argmax %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4xi64>
    ```
    """

    name = "graph.argmax"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class ArgminOp(ArgReductionOp):
    """
    Returns the index of the smallest element along `axis`.

    Numerics: the first of equal elements wins, and the first NaN wins over all others. It is an error when there are no
    elements.

    ```mlir
    %y = graph.argmin %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4xi64>
    ```
    """

    name = "graph.argmin"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class SoftmaxOp(AxisNormalisationOp):
    """
    Computes the softmax along `axis`, `y = e / sum(e)` with `e = exp(x - max(x))`.

    Numerics: f16 and bf16 are computed in f32. A row of -inf gives NaN.

    ```mlir
    %y = graph.softmax %x, axis = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.softmax"

    operand = tensor_operand("F")


@irdl_op_definition
class LogSoftmaxOp(AxisNormalisationOp):
    """
    Computes the logarithm of the softmax along `axis`, `y = (x - max(x)) - log(sum(exp(x - max(x))))`.

    Numerics: f16 and bf16 are computed in f32.

    ```mlir
    %y = graph.log_softmax %x, axis = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.log_softmax"

    operand = tensor_operand("F")
