"""Running sums and products."""

from __future__ import annotations

from abc import ABC

from xdsl.irdl import irdl_op_definition

from .base import NUMBERS, PureTemplateOp, tensor_operand, tensor_result
from .properties import BOOL, INTEGER, prop
from .scans_loops import scan_loops
from .shapes import Shaped, normalise_axis


class ScanOp(PureTemplateOp, ABC):
    """`y[…, i, …]` combines `x[…, 0, …]` to `x[…, i, …]` along `axis`, in that order."""

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
    `y[i] = x[0] + … + x[i]` along `axis`; without the last term if `exclusive`, where `y[0]` is 0; with `reverse` from
    the end on, `y[i] = x[n - 1] + … + x[i]`.

    Numerics: added one after the other in that order, in f32 for f16 and bf16, where each result is rounded once;
    integers wrap.

    ```mlir
    %y = graph.cumulative_sum %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.cumulative_sum"

    operand = tensor_operand(NUMBERS)
    axis = prop(INTEGER)
    exclusive = prop(BOOL, False)
    reverse = prop(BOOL, False)


@irdl_op_definition
class CumulativeProdOp(ScanOp):
    """
    `y[i] = x[0] * … * x[i]` along `axis`; without the last factor if `exclusive`, where `y[0]` is 1; with `reverse`
    from the end on, `y[i] = x[n - 1] * … * x[i]`.

    Numerics: multiplied one after the other in that order, in f32 for f16 and bf16, where each result is rounded once;
    integers wrap.

    ```mlir
    %y = graph.cumulative_prod %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.cumulative_prod"

    operand = tensor_operand(NUMBERS)
    axis = prop(INTEGER)
    exclusive = prop(BOOL, False)
    reverse = prop(BOOL, False)
