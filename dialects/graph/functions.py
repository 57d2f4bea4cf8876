"""Mathematical functions and activations, of one operand."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from .base import NUMBERS, tensor_operand
from .elementwise import UnaryOp
from .properties import FLOAT, TextKind, prop


@irdl_op_definition
class ExpOp(UnaryOp):
    """
    Computes the exponential function, `y = e^x`.

    Numerics: exp(-inf) = 0 and exp(inf) = inf. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.exp"

    operand = tensor_operand("F")


@irdl_op_definition
class Exp2Op(UnaryOp):
    """
    Computes the power of two, `y = 2^x`.

    Numerics: exp2(-inf) = 0 and exp2(inf) = inf. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.exp2 %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.exp2"

    operand = tensor_operand("F")


@irdl_op_definition
class Expm1Op(UnaryOp):
    """
    Computes `y = e^x - 1`, which is accurate also where `x` is near 0.

    Numerics: expm1(-0) = -0 and expm1(-inf) = -1. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.expm1"

    operand = tensor_operand("F")


@irdl_op_definition
class LogOp(UnaryOp):
    """
    Computes the natural logarithm, `e^y = x`.

    Numerics: log(0) = -inf, and the result is NaN below 0. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.log"

    operand = tensor_operand("F")


@irdl_op_definition
class Log2Op(UnaryOp):
    """
    Computes the logarithm to base 2, `2^y = x`.

    Numerics: log2(0) = -inf, and the result is NaN below 0. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.log2 %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.log2"

    operand = tensor_operand("F")


@irdl_op_definition
class Log10Op(UnaryOp):
    """
    Computes the logarithm to base 10, `10^y = x`.

    Numerics: log10(0) = -inf, and the result is NaN below 0. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.log10 %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.log10"

    operand = tensor_operand("F")


@irdl_op_definition
class Log1pOp(UnaryOp):
    """
    Computes `y = log(1 + x)`, which is accurate also where `x` is near 0.

    Numerics: log1p(-0) = -0 and log1p(-1) = -inf, and the result is NaN below -1. The error bounds are in
    docs/numerics.md.

    ```mlir
    %y = graph.log1p %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.log1p"

    operand = tensor_operand("F")


@irdl_op_definition
class SqrtOp(UnaryOp):
    """
    Computes the square root, `y = sqrt(x)`.

    Numerics: the result is rounded correctly. sqrt(-0) = -0, and the result is NaN below 0. The error bounds are in
    docs/numerics.md.

    ```mlir
    %y = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sqrt"

    operand = tensor_operand("F")


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """
    Computes the reciprocal of the square root, `y = 1 / sqrt(x)`.

    Numerics: rsqrt(+0) = +inf, rsqrt(-0) = -inf and rsqrt(inf) = 0, and the result is NaN below 0. The error bounds are
    in docs/numerics.md.

    ```mlir
    %y = graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.rsqrt"

    operand = tensor_operand("F")


@irdl_op_definition
class SinOp(UnaryOp):
    """
    Computes the sine, `y = sin(x)`, with `x` in radians.

    Numerics: sin(-0) = -0 and sin(±inf) = NaN. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sin"

    operand = tensor_operand("F")


@irdl_op_definition
class CosOp(UnaryOp):
    """
    Computes the cosine, `y = cos(x)`, with `x` in radians.

    Numerics: cos(±inf) = NaN. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.cos %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.cos"

    operand = tensor_operand("F")


@irdl_op_definition
class TanOp(UnaryOp):
    """
    Computes the tangent, `y = tan(x)`, with `x` in radians.

    Numerics: tan(-0) = -0 and tan(±inf) = NaN. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.tan %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.tan"

    operand = tensor_operand("F")


@irdl_op_definition
class TanhOp(UnaryOp):
    """
    Computes the hyperbolic tangent, `y = tanh(x) = (e^x - e^-x) / (e^x + e^-x)`.

    Numerics: tanh(±inf) = ±1 and tanh(-0) = -0. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.tanh"

    operand = tensor_operand("F")


@irdl_op_definition
class ErfOp(UnaryOp):
    """
    Computes the error function, `y = 2/sqrt(pi) * integral of e^(-t^2) for t from 0 to x`.

    Numerics: erf(±inf) = ±1. The error bounds are in docs/numerics.md.

    ```mlir
    %y = graph.erf %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.erf"

    operand = tensor_operand("F")


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """
    Computes the logistic function, `y = 1 / (1 + e^-x)`.

    Numerics: nothing overflows, sigmoid(-inf) = 0 and sigmoid(inf) = 1. f16 and bf16 are computed in f32.

    ```mlir
    %y = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sigmoid"

    operand = tensor_operand("F")


@irdl_op_definition
class SiluOp(UnaryOp):
    """
    Computes the sigmoid-weighted linear unit, `y = x * sigmoid(x)`.

    Numerics: silu(-inf) = -0. f16 and bf16 are computed in f32.
    Source: Elfwing, Uchibe, Doya, *Sigmoid-weighted linear units*, 2018.

    ```mlir
    %y = graph.silu %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.silu"

    operand = tensor_operand("F")


@irdl_op_definition
class GeluOp(UnaryOp):
    """
    Computes the Gaussian error linear unit, `y = x/2 * (1 + erf(x / sqrt(2)))`.

    With `approximate = "tanh"` it computes `y = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3)))` instead.

    Numerics: gelu(-inf) = -0. f16 and bf16 are computed in f32.
    Source: Hendrycks, Gimpel, *Gaussian error linear units*, 2016.

    ```mlir
    %y = graph.gelu %x, approximate = "tanh" : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.gelu"

    operand = tensor_operand("F")

    approximate = prop(TextKind(("none", "tanh")), "none")


@irdl_op_definition
class ReluOp(UnaryOp):
    """
    Computes the rectified linear unit, `y = maximum(x, 0)`.

    Numerics: NaN stays NaN, and relu(-0) = +0.

    ```mlir
    %y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.relu"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class LeakyReluOp(UnaryOp):
    """
    Computes the leaky rectified linear unit: `y = x` where `x > 0`, and `y = alpha * x` elsewhere.

    Numerics: NaN stays NaN, and `alpha` is rounded to the element type.

    ```mlir
    %y = graph.leaky_relu %x, alpha = 0.2 : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.leaky_relu"

    operand = tensor_operand("F")

    alpha = prop(FLOAT, 0.01)
