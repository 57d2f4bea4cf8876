"""Hyperbolic and inverse functions, of one operand."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from .base import tensor_operand
from .elementwise import UnaryOp


@irdl_op_definition
class SinhOp(UnaryOp):
    """
    Hyperbolic sine, `y = (e^x - e^-x) / 2`.

    Numerics: sinh(-0) = -0; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.sinh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sinh"

    operand = tensor_operand("F")


@irdl_op_definition
class CoshOp(UnaryOp):
    """
    Hyperbolic cosine, `y = (e^x + e^-x) / 2`.

    Numerics: cosh(-inf) = inf; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.cosh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.cosh"

    operand = tensor_operand("F")


@irdl_op_definition
class AsinOp(UnaryOp):
    """
    Arc sine, `sin(y) = x`, between -pi/2 and pi/2.

    Numerics: asin(-0) = -0, NaN beyond 1; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.asin %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.asin"

    operand = tensor_operand("F")


@irdl_op_definition
class AcosOp(UnaryOp):
    """
    Arc cosine, `cos(y) = x`, between 0 and pi.

    Numerics: acos(1) = 0, NaN beyond 1; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.acos %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.acos"

    operand = tensor_operand("F")


@irdl_op_definition
class AtanOp(UnaryOp):
    """
    Arc tangent, `tan(y) = x`, between -pi/2 and pi/2.

    Numerics: atan(-0) = -0, atan(inf) = pi/2; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.atan %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.atan"

    operand = tensor_operand("F")


@irdl_op_definition
class AsinhOp(UnaryOp):
    """
    Inverse of sinh, `sinh(y) = x`.

    Numerics: asinh(-0) = -0, asinh(-inf) = -inf; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.asinh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.asinh"

    operand = tensor_operand("F")


@irdl_op_definition
class AcoshOp(UnaryOp):
    """
    Inverse of cosh, `cosh(y) = x`, from 0 up.

    Numerics: acosh(1) = 0, NaN below 1; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.acosh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.acosh"

    operand = tensor_operand("F")


@irdl_op_definition
class AtanhOp(UnaryOp):
    """
    Inverse of tanh, `tanh(y) = x`.

    Numerics: atanh(-0) = -0, atanh(1) = inf, NaN beyond 1; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.atanh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.atanh"

    operand = tensor_operand("F")
