"""Elementwise arithmetic of two and three operands, which broadcast as in NumPy."""

from __future__ import annotations

from abc import ABC

from xdsl.interfaces import ConditionallySpeculatableInterface
from xdsl.irdl import irdl_op_definition, traits_def

from ..traits import Commutative, MayFail
from .base import NUMBERS, GraphOp, PureGraphOp, shaped_of, tensor_operand, tensor_result
from .element_types import CLASSES
from .shapes import Shaped, broadcast


class BinaryOp(PureGraphOp, ABC):
    """
    An op that computes `result[i] = function(lhs[i], rhs[i])`. The result has the broadcast shape and the element type
    of the operands.
    """

    result = tensor_result()

    @classmethod
    def infer(cls, lhs: Shaped, rhs: Shaped) -> tuple[Shaped, ...]:
        return (Shaped(broadcast(lhs.shape, rhs.shape), lhs.dtype),)


class DivisionOp(MayFail, ConditionallySpeculatableInterface, GraphOp, ABC):
    """A division. On integers it fails when an element of the divisor is zero."""

    result = tensor_result()

    @classmethod
    def infer(cls, lhs: Shaped, rhs: Shaped) -> tuple[Shaped, ...]:
        return (Shaped(broadcast(lhs.shape, rhs.shape), lhs.dtype),)

    def may_fail(self) -> bool:
        return shaped_of(self.operands[0].type, "lhs").dtype not in CLASSES["F"]

    def is_speculatable(self) -> bool:
        return not self.may_fail()


@irdl_op_definition
class AddOp(BinaryOp):
    """
    Computes the sum, `z = x + y`.

    Numerics: floats round once, and integers wrap.

    ```mlir
    %z = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.add"

    lhs = tensor_operand(NUMBERS)
    rhs = tensor_operand(NUMBERS)

    traits = traits_def(Commutative())


@irdl_op_definition
class SubtractOp(BinaryOp):
    """
    Computes the difference, `z = x - y`.

    Numerics: floats round once, and integers wrap.

    ```mlir
    %z = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.subtract"

    lhs = tensor_operand(NUMBERS)
    rhs = tensor_operand(NUMBERS)


@irdl_op_definition
class MultiplyOp(BinaryOp):
    """
    Computes the product, `z = x * y`.

    Numerics: floats round once, and integers wrap.

    ```mlir
    %z = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.multiply"

    lhs = tensor_operand(NUMBERS)
    rhs = tensor_operand(NUMBERS)

    traits = traits_def(Commutative())


@irdl_op_definition
class DivideOp(DivisionOp):
    """
    Computes the quotient, `z = x / y`. Integers truncate towards zero.

    Numerics: floats round once, and `INT_MIN / -1` wraps.
    Fails: integer division by zero.

    ```mlir
    %z = graph.divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.divide"

    lhs = tensor_operand(NUMBERS)
    rhs = tensor_operand(NUMBERS)


@irdl_op_definition
class FloorDivideOp(DivisionOp):
    """
    Computes the quotient rounded down, `z = floor(x / y)`.

    Numerics: the quotient is exact before the floor.
    Fails: integer division by zero.

    ```mlir
    %z = graph.floor_divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.floor_divide"

    lhs = tensor_operand(NUMBERS)
    rhs = tensor_operand(NUMBERS)


@irdl_op_definition
class ModOp(DivisionOp):
    """
    Computes the remainder with the sign of the divisor, `z = x - floor(x / y) * y`.

    Numerics: the result is exact. On floats, `y = 0` gives NaN.
    Fails: integer division by zero.

    ```mlir
    %z = graph.mod %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.mod"

    lhs = tensor_operand(NUMBERS)
    rhs = tensor_operand(NUMBERS)


@irdl_op_definition
class PowerOp(BinaryOp):
    """
    Computes the power, `z = x^y`.

    Numerics: floats follow `pow` of IEEE 754. Integers wrap, and a negative exponent gives 0 except for base 1 and -1.

    ```mlir
    %z = graph.power %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.power"

    lhs = tensor_operand(NUMBERS)
    rhs = tensor_operand(NUMBERS)


@irdl_op_definition
class MaximumOp(BinaryOp):
    """
    Returns the greater of `x` and `y`.

    Numerics: NaN wins, and -0 < +0.

    ```mlir
    %z = graph.maximum %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.maximum"

    lhs = tensor_operand(NUMBERS)
    rhs = tensor_operand(NUMBERS)

    traits = traits_def(Commutative())


@irdl_op_definition
class MinimumOp(BinaryOp):
    """
    Returns the smaller of `x` and `y`.

    Numerics: NaN wins, and -0 < +0.

    ```mlir
    %z = graph.minimum %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.minimum"

    lhs = tensor_operand(NUMBERS)
    rhs = tensor_operand(NUMBERS)

    traits = traits_def(Commutative())


@irdl_op_definition
class EwiseFmaOp(PureGraphOp):
    """
    Computes a product and a sum in one step, `result = x * y + z`. All three operands broadcast.

    Numerics: floats round once, as in fusedMultiplyAdd of IEEE 754. Integers wrap.

    ```mlir
    %w = graph.ewise_fma %x, %y, %z : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.ewise_fma"

    x = tensor_operand(NUMBERS)
    y = tensor_operand(NUMBERS)
    z = tensor_operand(NUMBERS)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, y: Shaped, z: Shaped) -> tuple[Shaped, ...]:
        return (Shaped(broadcast(x.shape, y.shape, z.shape), x.dtype),)
