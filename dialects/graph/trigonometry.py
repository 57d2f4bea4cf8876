"""Hyperbolic and inverse functions, of one operand."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from .base import tensor_operand
from .elementwise import UnaryOp


@irdl_op_definition
class SinhOp(UnaryOp):
    """
    Computes the hyperbolic sine, `y = (e^x - e^-x) / 2`.

    Numerics: sinh(-0) = -0. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.sinh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sinh"

    operand = tensor_operand("F")


@irdl_op_definition
class CoshOp(UnaryOp):
    """
    Computes the hyperbolic cosine, `y = (e^x + e^-x) / 2`.

    Numerics: cosh(-inf) = inf. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.cosh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.cosh"

    operand = tensor_operand("F")


@irdl_op_definition
class AsinOp(UnaryOp):
    """
    Computes the arc sine, `sin(y) = x` with `y` between -pi/2 and pi/2.

    Numerics: asin(-0) = -0, and the result is NaN where `|x| > 1`. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.asin %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.asin"

    operand = tensor_operand("F")


@irdl_op_definition
class AcosOp(UnaryOp):
    """
    Computes the arc cosine, `cos(y) = x` with `y` between 0 and pi.

    Numerics: acos(1) = 0, and the result is NaN where `|x| > 1`. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.acos %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.acos"

    operand = tensor_operand("F")


@irdl_op_definition
class AtanOp(UnaryOp):
    """
    Computes the arc tangent, `tan(y) = x` with `y` between -pi/2 and pi/2.

    Numerics: atan(-0) = -0 and atan(inf) = pi/2. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.atan %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.atan"

    operand = tensor_operand("F")


@irdl_op_definition
class AsinhOp(UnaryOp):
    """
    Computes the inverse of sinh, `sinh(y) = x`.

    Numerics: asinh(-0) = -0 and asinh(-inf) = -inf. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.asinh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.asinh"

    operand = tensor_operand("F")


@irdl_op_definition
class AcoshOp(UnaryOp):
    """
    Computes the inverse of cosh, `cosh(y) = x` with `y` of at least 0.

    Numerics: acosh(1) = 0, and the result is NaN below 1. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.acosh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.acosh"

    operand = tensor_operand("F")


@irdl_op_definition
class AtanhOp(UnaryOp):
    """
    Computes the inverse of tanh, `tanh(y) = x`.

    Numerics: atanh(-0) = -0 and atanh(1) = inf, and the result is NaN where `|x| > 1`. The error bounds are in
    docs/numerics.md.

    ```mlir
    %y = graph.atanh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.atanh"

    operand = tensor_operand("F")
