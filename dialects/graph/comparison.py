"""Comparisons, logic, bits and selection: elementwise, with broadcasting as in NumPy."""

from __future__ import annotations

from abc import ABC

from xdsl.irdl import irdl_op_definition, traits_def

from ..traits import Commutative
from .base import ANY, PureGraphOp, tensor_operand, tensor_result
from .binary import BinaryOp
from .shapes import Shaped, broadcast


class ComparisonOp(BinaryOp, ABC):
    """
    An op that computes `result[i] = relation(lhs[i], rhs[i])`. The result has the broadcast shape and element type i1.
    """

    @classmethod
    def infer(cls, lhs: Shaped, rhs: Shaped) -> tuple[Shaped, ...]:
        return (Shaped(broadcast(lhs.shape, rhs.shape), "i1"),)


@irdl_op_definition
class EqualOp(ComparisonOp):
    """
    Returns whether `x = y`.

    Numerics: a comparison with NaN is false. On i1 false < true.

    ```mlir
    %z = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "graph.equal"

    lhs = tensor_operand(ANY)
    rhs = tensor_operand(ANY)

    traits = traits_def(Commutative())


@irdl_op_definition
class NotEqualOp(ComparisonOp):
    """
    Returns whether `x != y`.

    Numerics: a comparison with NaN is true. On i1 false < true.

    ```mlir
    %z = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "graph.not_equal"

    lhs = tensor_operand(ANY)
    rhs = tensor_operand(ANY)

    traits = traits_def(Commutative())


@irdl_op_definition
class LessOp(ComparisonOp):
    """
    Returns whether `x < y`.

    Numerics: a comparison with NaN is false. On i1 false < true.

    ```mlir
    %z = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "graph.less"

    lhs = tensor_operand(ANY)
    rhs = tensor_operand(ANY)


@irdl_op_definition
class LessEqualOp(ComparisonOp):
    """
    Returns whether `x <= y`.

    Numerics: a comparison with NaN is false. On i1 false < true.

    ```mlir
    %z = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "graph.less_equal"

    lhs = tensor_operand(ANY)
    rhs = tensor_operand(ANY)


@irdl_op_definition
class GreaterOp(ComparisonOp):
    """
    Returns whether `x > y`.

    Numerics: a comparison with NaN is false. On i1 false < true.

    ```mlir
    %z = graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "graph.greater"

    lhs = tensor_operand(ANY)
    rhs = tensor_operand(ANY)


@irdl_op_definition
class GreaterEqualOp(ComparisonOp):
    """
    Returns whether `x >= y`.

    Numerics: a comparison with NaN is false. On i1 false < true.

    ```mlir
    %z = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "graph.greater_equal"

    lhs = tensor_operand(ANY)
    rhs = tensor_operand(ANY)


@irdl_op_definition
class LogicalAndOp(BinaryOp):
    """
    Computes the conjunction, `z = x and y`.

    ```mlir
    %z = graph.logical_and %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    ```
    """

    name = "graph.logical_and"

    lhs = tensor_operand("B")
    rhs = tensor_operand("B")

    traits = traits_def(Commutative())


@irdl_op_definition
class LogicalOrOp(BinaryOp):
    """
    Computes the disjunction, `z = x or y`.

    ```mlir
    %z = graph.logical_or %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    ```
    """

    name = "graph.logical_or"

    lhs = tensor_operand("B")
    rhs = tensor_operand("B")

    traits = traits_def(Commutative())


@irdl_op_definition
class LogicalXorOp(BinaryOp):
    """
    Computes the exclusive or, `z = x xor y`, which is true where exactly one operand is true.

    ```mlir
    %z = graph.logical_xor %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    ```
    """

    name = "graph.logical_xor"

    lhs = tensor_operand("B")
    rhs = tensor_operand("B")

    traits = traits_def(Commutative())


@irdl_op_definition
class BitwiseAndOp(BinaryOp):
    """
    Computes the bits that are set in both `x` and `y`.

    ```mlir
    %z = graph.bitwise_and %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
    ```
    """

    name = "graph.bitwise_and"

    lhs = tensor_operand("SUB")
    rhs = tensor_operand("SUB")

    traits = traits_def(Commutative())


@irdl_op_definition
class BitwiseOrOp(BinaryOp):
    """
    Computes the bits that are set in `x` or in `y`.

    ```mlir
    %z = graph.bitwise_or %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
    ```
    """

    name = "graph.bitwise_or"

    lhs = tensor_operand("SUB")
    rhs = tensor_operand("SUB")

    traits = traits_def(Commutative())


@irdl_op_definition
class BitwiseXorOp(BinaryOp):
    """
    Computes the bits that are set in exactly one of `x` and `y`.

    ```mlir
    %z = graph.bitwise_xor %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
    ```
    """

    name = "graph.bitwise_xor"

    lhs = tensor_operand("SUB")
    rhs = tensor_operand("SUB")

    traits = traits_def(Commutative())


@irdl_op_definition
class LeftShiftOp(BinaryOp):
    """
    Computes `z = x * 2^y`, where the bits beyond the width are lost.

    Numerics: `y` counts as unsigned. A count of the width or more gives 0.

    ```mlir
    %z = graph.left_shift %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
    ```
    """

    name = "graph.left_shift"

    lhs = tensor_operand("SU")
    rhs = tensor_operand("SU")


@irdl_op_definition
class RightShiftOp(BinaryOp):
    """
    Computes `z = floor(x / 2^y)`.

    Numerics: `y` counts as unsigned. A count of the width or more gives 0, or -1 where `x` is negative.

    ```mlir
    %z = graph.right_shift %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
    ```
    """

    name = "graph.right_shift"

    lhs = tensor_operand("SU")
    rhs = tensor_operand("SU")


@irdl_op_definition
class WhereOp(PureGraphOp):
    """
    Selects elements: `result = x` where `condition` is true, and `result = y` elsewhere. All three operands broadcast.

    ```mlir
    %z = graph.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
    """

    name = "graph.where"

    condition = tensor_operand("B", "condition")
    x = tensor_operand(ANY)
    y = tensor_operand(ANY)
    result = tensor_result()

    @classmethod
    def infer(cls, condition: Shaped, x: Shaped, y: Shaped) -> tuple[Shaped, ...]:
        return (Shaped(broadcast(condition.shape, x.shape, y.shape), x.dtype),)
