"""Running sums and products."""

from __future__ import annotations

from abc import ABC

from xdsl.irdl import irdl_op_definition

from .base import NUMBERS, PureTemplateOp, tensor_operand, tensor_result
from .normal_form import AXIS
from .properties import BOOL, prop
from .scans_loops import scan_loops
from .shapes import Shaped, normalise_axis


class ScanOp(PureTemplateOp, ABC):
    """An op whose `y[…, i, …]` combines `x[…, 0, …]` to `x[…, i, …]` along `axis`, in that order."""

    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, axis: int, exclusive: bool, reverse: bool) -> tuple[Shaped, ...]:
        normalise_axis(axis, len(x.shape))
        return (x,)

    def loop_function(self) -> str:
        return scan_loops(self)


@irdl_op_definition
class CumulativeSumOp(ScanOp):
    """
    Computes the running sum along `axis`, `y[i] = x[0] + … + x[i]`.

    With `exclusive` the last term is left out, and `y[0]` is 0. With `reverse` the sum runs from the end,
    `y[i] = x[n - 1] + … + x[i]`.

    Numerics: the terms are added one after the other in that order. f16 and bf16 are added in f32, and each result is
    rounded once. Integers wrap.

    ```mlir
    %y = graph.cumulative_sum %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.cumulative_sum"

    operand = tensor_operand(NUMBERS)
    axis = prop(AXIS)
    exclusive = prop(BOOL, False)
    reverse = prop(BOOL, False)


@irdl_op_definition
class CumulativeProdOp(ScanOp):
    """
    Computes the running product along `axis`, `y[i] = x[0] * … * x[i]`.

    With `exclusive` the last factor is left out, and `y[0]` is 1. With `reverse` the product runs from the end,
    `y[i] = x[n - 1] * … * x[i]`.

    Numerics: the factors are multiplied one after the other in that order. f16 and bf16 are multiplied in f32, and each
    result is rounded once. Integers wrap.

    ```mlir
    %y = graph.cumulative_prod %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.cumulative_prod"

    operand = tensor_operand(NUMBERS)
    axis = prop(AXIS)
    exclusive = prop(BOOL, False)
    reverse = prop(BOOL, False)
