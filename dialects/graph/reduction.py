"""Ops that combine the elements along axes, and the softmax family, which normalises along one."""

from __future__ import annotations

from abc import ABC

from xdsl.irdl import irdl_op_definition

from .base import NUMBERS, PureGraphOp, tensor_operand, tensor_result
from .properties import BOOL, INTEGER, INTEGERS, optional_prop, prop
from .shapes import Shaped, normalise_axis, reduce, reject_empty


class ReductionOp(PureGraphOp, ABC):
    """`result` combines the elements of `operand` along `axis`: several, counted from the end when negative, or all."""

    axis = optional_prop(INTEGERS)
    keepdims = prop(BOOL, False)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, axis: tuple[int, ...] | None, keepdims: bool) -> tuple[Shaped, ...]:
        return (Shaped(reduce(x.shape, axis, keepdims), x.dtype),)


class NonEmptyReductionOp(ReductionOp, ABC):
    """A reduction that is not defined on no elements."""

    @classmethod
    def infer(cls, x: Shaped, *, axis: tuple[int, ...] | None, keepdims: bool) -> tuple[Shaped, ...]:
        reject_empty(x.shape, axis, cls.name)
        return super().infer(x, axis=axis, keepdims=keepdims)


class ArgReductionOp(PureGraphOp, ABC):
    """The i64 index of an element along `axis`, or in the flattened tensor when it is absent."""

    axis = optional_prop(INTEGER)
    keepdims = prop(BOOL, False)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, axis: int | None, keepdims: bool) -> tuple[Shaped, ...]:
        axes = None if axis is None else (axis,)
        reject_empty(x.shape, axes, cls.name)
        return (Shaped(reduce(x.shape, axes, keepdims), "i64"),)


class AxisNormalisationOp(PureGraphOp, ABC):
    """An op along one `axis` that keeps the shape."""

    axis = prop(INTEGER, -1)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, axis: int) -> tuple[Shaped, ...]:
        normalise_axis(axis, len(x.shape))
        return (x,)


@irdl_op_definition
class SumOp(ReductionOp):
    """
    The sum along `axis`.

    Numerics: accumulated in at least f32; the order is unspecified; integers wrap; the empty sum is 0.

    ```mlir
    %y = graph.sum %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sum"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class ProdOp(ReductionOp):
    """
    The product along `axis`.

    Numerics: accumulated in at least f32; the order is unspecified; integers wrap; the empty product is 1.

    ```mlir
    %y = graph.prod %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.prod"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class MeanOp(ReductionOp):
    """
    The sum along `axis` divided by the number of elements.

    Numerics: accumulated in at least f32; the order is unspecified; the mean of nothing is NaN.

    ```mlir
    %y = graph.mean %x, axis = [-1], keepdims = true : (tensor<4x8xf32>) -> tensor<4x1xf32>
    ```
    """

    name = "graph.mean"

    operand = tensor_operand("F")


@irdl_op_definition
class MaxOp(NonEmptyReductionOp):
    """
    The greatest element along `axis`.

    Numerics: NaN wins; -0 < +0; no elements are an error.

    ```mlir
    %y = graph.max %x, axis = [0] : (tensor<4x8xf32>) -> tensor<8xf32>
    ```
    """

    name = "graph.max"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class MinOp(NonEmptyReductionOp):
    """
    The smallest element along `axis`.

    Numerics: NaN wins; -0 < +0; no elements are an error.

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

    Numerics: of no elements: false.

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

    Numerics: of no elements: true.

    ```mlir
    %y = graph.all %x, axis = [1] : (tensor<4x8xi1>) -> tensor<4xi1>
    ```
    """

    name = "graph.all"

    operand = tensor_operand("B")


@irdl_op_definition
class ArgmaxOp(ArgReductionOp):
    """
    The index of the greatest element along `axis`.

    Numerics: the first of equal ones; the first NaN wins; no elements are an error.

    ```mlir
    %y = graph.argmax %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4xi64>
    ```
    """

    name = "graph.argmax"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class ArgminOp(ArgReductionOp):
    """
    The index of the smallest element along `axis`.

    Numerics: the first of equal ones; the first NaN wins; no elements are an error.

    ```mlir
    %y = graph.argmin %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4xi64>
    ```
    """

    name = "graph.argmin"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class SoftmaxOp(AxisNormalisationOp):
    """
    `y = e / sum(e)` along `axis`, with `e = exp(x - max(x))`.

    Numerics: computed in f32 for f16 and bf16; a row of -inf gives NaN.

    ```mlir
    %y = graph.softmax %x, axis = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.softmax"

    operand = tensor_operand("F")


@irdl_op_definition
class LogSoftmaxOp(AxisNormalisationOp):
    """
    `y = (x - max(x)) - log(sum(exp(x - max(x))))` along `axis`.

    Numerics: computed in f32 for f16 and bf16.

    ```mlir
    %y = graph.log_softmax %x, axis = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.log_softmax"

    operand = tensor_operand("F")
