"""Ops that put elements in order."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from .base import NUMBERS, PureTemplateOp, tensor_operand, tensor_result
from .normal_form import AXIS
from .properties import BOOL, INTEGER, prop
from .shapes import Shaped, ShapeError, normalise_axis, text
from .sorting_loops import top_k_loops


@irdl_op_definition
class TopKOp(PureTemplateOp):
    """
    Returns the `k` greatest elements along `axis` in descending order, and their i64 positions.

    When `largest` is false, it returns the smallest elements in ascending order.

    Shapes: both results have the shape of the operand, but with the extent `k` along `axis`. `k` is at most the extent
    of the operand.
    Numerics: of equal elements, the one with the lower position comes first. -0 and +0 are equal, and NaN is greater
    than every number.

    The loops keep a heap of the best elements so far, whose root is the worst of them. Heapsort then puts them in order
    (J. W. J. Williams, Algorithm 232, 1964).

    ```mlir
    %v, %i = graph.top_k %x, k = 3, axis = 1 : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
    ```
    """

    name = "graph.top_k"

    operand = tensor_operand(NUMBERS)
    k = prop(INTEGER)
    axis = prop(AXIS, -1)
    largest = prop(BOOL, True)
    values = tensor_result()
    indices = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, k: int, axis: int, largest: bool) -> tuple[Shaped, ...]:
        position = normalise_axis(axis, len(x.shape))
        extent = x.shape[position]
        if k < 0 or (extent is not None and k > extent):
            most = "at least 0" if extent is None else f"0 to {extent}"
            raise ShapeError(f"k is {k}, expected {most} for axis {position} of {text(x.shape)}")
        shape = (*x.shape[:position], k, *x.shape[position + 1 :])
        return Shaped(shape, x.dtype), Shaped(shape, "i64")

    def loop_function(self) -> str:
        return top_k_loops(self)
