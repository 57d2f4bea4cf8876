"""The passes `combine-parallel-conv2d`, `combine-parallel-dense` and `combine-parallel-batch-matmul`."""

from __future__ import annotations

from abc import ABC, abstractmethod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from ...core.ir.element_types import dtype_name
from ...core.passes.base import StepwellPass
from ...dialects.graph.base import plain_properties
from ...dialects.graph.contraction import Conv2dOp, MatmulOp
from ...dialects.graph.movement import SplitOp, SqueezeOp
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import element_type
from ...patterns.language.functions import is_closed
from ...patterns.running.driver import program_order
from .parallel_branches import Branch, Combiner
from .parallel_tails import Stacked, erase_chains, followed, inserted, is_static, shape_of, stacked


def _dtype_of(value: SSAValue) -> str | None:
    return dtype_name(element_type(value.type))


def _properties_key(op: Operation) -> tuple[tuple[str, object], ...]:
    return tuple(sorted((*op.properties.items(), *op.attributes.items()), key=lambda item: item[0]))


class Conv2dCombiner(Combiner):
    """Convolutions of one tensor in one group, with equal properties and kernels of one height and width."""

    def branch_of(self, op: Operation) -> Branch | None:
        if not isinstance(op, Conv2dOp) or (properties := plain_properties(op))["groups"] != 1:
            return None
        data, kernel = op.operands
        layout = properties["kernel_layout"]
        output = layout.index("O")
        if data is kernel or not is_static(kernel, *range(4)):
            return None
        window = tuple(shape_of(kernel)[layout.index(letter)] for letter in "HW")
        axis = properties["data_layout"].index("C")
        key = (data, _properties_key(op), window)
        return Branch(key, kernel, output, axis) if is_static(op.results[0], axis) else None


class DenseCombiner(Combiner):
    """Products of one tensor with matrices."""

    def branch_of(self, op: Operation) -> Branch | None:
        if not isinstance(op, MatmulOp):
            return None
        lhs, rhs = op.operands
        if len(shape_of(lhs)) < 2 or len(shape_of(rhs)) != 2 or not is_static(rhs, 0, 1):
            return None
        axis = len(shape_of(op.results[0])) - 1
        key = lhs, _properties_key(op), _dtype_of(rhs)
        return Branch(key, rhs, 1, axis) if is_static(op.results[0], axis) else None

    def obstacle(self, op: Operation) -> str | None:
        if not isinstance(op, MatmulOp):
            return None
        lhs, rhs = (len(shape_of(operand)) for operand in op.operands)
        if lhs < 2 or rhs != 2:
            return f"operands of rank {lhs} and {rhs}, expected a left one of at least 2 and a right one of 2"
        return None if is_static(op.operands[1], 0, 1) else "the sizes of the matrices are not known"


class BatchedDenseCombiner(DenseCombiner):
    """Products of one matrix with matrices of one shape, as one batched product."""

    def branch_of(self, op: Operation) -> Branch | None:
        branch = super().branch_of(op)
        if branch is None or len(shape_of(op.operands[0])) != 2:
            return None
        return Branch((branch.key, shape_of(branch.weight)), branch.weight, 1, branch.axis)

    def combine(self, group: list[Operation]) -> None:
        place = group[0]
        weights = stacked([op.operands[1] for op in group], 0, place)
        product = inserted(MatmulOp(place.operands[0], weights, out_dtype=plain_properties(place)["out_dtype"]), place)
        last, whole = followed(group, product.results[0], Stacked(place))
        parts = inserted(SplitOp(whole, axis=0, sections=len(group)), place)
        for op, part in zip(last, parts.results, strict=True):
            value = inserted(SqueezeOp(part, axis=[0], result_types=[op.results[0].type]), place).results[0]
            value.name_hint = op.results[0].name_hint
            op.results[0].replace_all_uses_with(value)
        erase_chains(last, group)

    def obstacle(self, op: Operation) -> str | None:
        if isinstance(op, MatmulOp) and len(shape_of(op.operands[0])) > 2:
            return "with to-batch the left operand has rank 2"
        return super().obstacle(op)


class BatchMatmulCombiner(Combiner):
    """Products of one batch of matrices with batches of equal size."""

    def branch_of(self, op: Operation) -> Branch | None:
        if not isinstance(op, MatmulOp):
            return None
        lhs, rhs = op.operands
        if len(shape_of(lhs)) != 3 or len(shape_of(rhs)) != 3 or not is_static(rhs, 0, 1, 2):
            return None
        if not is_static(op.results[0], 2):
            return None
        return Branch((lhs, _properties_key(op), _dtype_of(rhs), shape_of(rhs)[0]), rhs, 2, 2)

    def obstacle(self, op: Operation) -> str | None:
        if not isinstance(op, MatmulOp):
            return None
        lhs, rhs = (len(shape_of(operand)) for operand in op.operands)
        if (lhs, rhs) != (3, 3):
            return f"operands of rank {lhs} and {rhs}, expected batches of matrices, of rank 3"
        return None if is_static(op.operands[1], 0, 1, 2) else "the sizes of the right operands are not known"


@dataclass(frozen=True)
class _CombineParallelPass(StepwellPass, ABC):
    """The base of the three passes."""

    min_branches: int = 3

    @abstractmethod
    def combiner(self) -> Combiner:
        """Returns the object that combines the ops of the pass."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.min_branches < 2:
            raise PassFailedException(f"{self.name}: min-branches is {self.min_branches}, expected at least 2")
        combiner = self.combiner()
        combiner.run(program_order(op, lambda each: not is_closed(each)))
        if combiner.combined:
            self.count("combined branches", combiner.combined)


@dataclass(frozen=True)
class CombineParallelConv2dPass(_CombineParallelPass):
    """
    Computes convolutions of one tensor by one convolution.

    There must be at least `min-branches` of them, in one block and in one group each. They have equal strides, padding,
    dilation, layouts and element types, and kernels of one height and width. The kernels are concatenated along the
    output channels. Elementwise ops that follow in every branch and differ in operands along the channels only are
    combined too. Each branch gets a slice. The order of summation is that of a convolution, so nothing else changes. A
    rule has one root and cannot express this. Fused functions are left alone.

    Before:
        %0 = graph.conv2d %x, %w0 : …
        %1 = graph.conv2d %x, %w1 : …
        %2 = graph.conv2d %x, %w2 : …
    After:
        %3 = graph.concat %w0, %w1, %w2 : …
        %4 = graph.conv2d %x, %3 : …
        %0 = graph.strided_slice %4, axes = [1], begin = [0], end = [8] : …
        …
    """

    name = "combine-parallel-conv2d"

    def combiner(self) -> Combiner:
        return Conv2dCombiner(self.min_branches)


@dataclass(frozen=True)
class CombineParallelDensePass(_CombineParallelPass):
    """
    Computes products of one tensor with several matrices by one product.

    The matrices are concatenated along their columns, as in `combine-parallel-conv2d`, with the ops that follow. With
    `to-batch` matrices of one shape are stacked and the product is a batched one, and so are the ops that follow.

    Before:
        %0 = graph.matmul %x, %w0 : …
        %1 = graph.matmul %x, %w1 : …
        %2 = graph.matmul %x, %w2 : …
    After:
        %3 = graph.concat %w0, %w1, %w2, axis = 1 : …
        %4 = graph.matmul %x, %3 : …
        %0 = graph.strided_slice %4, axes = [1], begin = [0], end = [8] : …
        …
    """

    name = "combine-parallel-dense"

    to_batch: bool = False

    def combiner(self) -> Combiner:
        return (BatchedDenseCombiner if self.to_batch else DenseCombiner)(self.min_branches)


@dataclass(frozen=True)
class CombineParallelBatchMatmulPass(_CombineParallelPass):
    """
    Computes products of one batch of matrices with several batches by one product.

    The right sides, of rank 3 and equal batch, are concatenated along their columns, as in `combine-parallel-conv2d`,
    with what follows.

    Before:
        %0 = graph.matmul %x, %y0 : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> …
        %1 = graph.matmul %x, %y1 : …
        %2 = graph.matmul %x, %y2 : …
    After:
        %3 = graph.concat %y0, %y1, %y2, axis = 2 : …
        %4 = graph.matmul %x, %3 : …
        %0 = graph.strided_slice %4, axes = [2], begin = [0], end = [3] : …
        …
    """

    name = "combine-parallel-batch-matmul"

    def combiner(self) -> Combiner:
        return BatchMatmulCombiner(self.min_branches)
