"""Mathematical functions and activations, of one operand."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from .base import NUMBERS, tensor_operand
from .elementwise import UnaryOp
from .properties import FLOAT, TextKind, prop


@irdl_op_definition
class ExpOp(UnaryOp):
    """
    `y = e^x`.

    Numerics: exp(-inf) = 0, exp(inf) = inf; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.exp"

    operand = tensor_operand("F")


@irdl_op_definition
class Exp2Op(UnaryOp):
    """
    `y = 2^x`.

    Numerics: exp2(-inf) = 0, exp2(inf) = inf; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.exp2 %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.exp2"

    operand = tensor_operand("F")


@irdl_op_definition
class Expm1Op(UnaryOp):
    """
    `y = e^x - 1`, accurate near 0.

    Numerics: expm1(-0) = -0, expm1(-inf) = -1; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.expm1"

    operand = tensor_operand("F")


@irdl_op_definition
class LogOp(UnaryOp):
    """
    Natural logarithm, `e^y = x`.

    Numerics: log(0) = -inf, NaN below 0; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.log"

    operand = tensor_operand("F")


@irdl_op_definition
class Log2Op(UnaryOp):
    """
    Logarithm to base 2, `2^y = x`.

    Numerics: log2(0) = -inf, NaN below 0; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.log2 %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.log2"

    operand = tensor_operand("F")


@irdl_op_definition
class Log10Op(UnaryOp):
    """
    Logarithm to base 10, `10^y = x`.

    Numerics: log10(0) = -inf, NaN below 0; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.log10 %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.log10"

    operand = tensor_operand("F")


@irdl_op_definition
class Log1pOp(UnaryOp):
    """
    `y = log(1 + x)`, accurate near 0.

    Numerics: log1p(-1) = -inf, NaN below -1, log1p(-0) = -0; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.log1p %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.log1p"

    operand = tensor_operand("F")


@irdl_op_definition
class SqrtOp(UnaryOp):
    """
    `y = sqrt(x)`.

    Numerics: rounded correctly; sqrt(-0) = -0, NaN below 0; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sqrt"

    operand = tensor_operand("F")


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """
    `y = 1 / sqrt(x)`.

    Numerics: rsqrt(+0) = +inf, rsqrt(-0) = -inf, rsqrt(inf) = 0, NaN below 0; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.rsqrt"

    operand = tensor_operand("F")


@irdl_op_definition
class SinOp(UnaryOp):
    """
    `y = sin(x)`, `x` in radians.

    Numerics: sin(-0) = -0, sin(±inf) = NaN; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sin"

    operand = tensor_operand("F")


@irdl_op_definition
class CosOp(UnaryOp):
    """
    `y = cos(x)`, `x` in radians.

    Numerics: cos(±inf) = NaN; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.cos %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.cos"

    operand = tensor_operand("F")


@irdl_op_definition
class TanOp(UnaryOp):
    """
    `y = tan(x)`, `x` in radians.

    Numerics: tan(-0) = -0, tan(±inf) = NaN; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.tan %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.tan"

    operand = tensor_operand("F")


@irdl_op_definition
class TanhOp(UnaryOp):
    """
    `y = tanh(x) = (e^x - e^-x) / (e^x + e^-x)`.

    Numerics: tanh(±inf) = ±1, tanh(-0) = -0; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.tanh"

    operand = tensor_operand("F")


@irdl_op_definition
class ErfOp(UnaryOp):
    """
    Error function, `y = 2/sqrt(pi) * integral of e^(-t^2) for t from 0 to x`.

    Numerics: erf(±inf) = ±1; error bounds in docs/numerics.md.

    ```mlir
    %y = graph.erf %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.erf"

    operand = tensor_operand("F")


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """
    `y = 1 / (1 + e^-x)`.

    Numerics: no overflow; sigmoid(-inf) = 0, sigmoid(inf) = 1; computed in f32 for f16 and bf16.

    ```mlir
    %y = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sigmoid"

    operand = tensor_operand("F")


@irdl_op_definition
class SiluOp(UnaryOp):
    """
    `y = x * sigmoid(x)`.

    Numerics: silu(-inf) = -0; computed in f32 for f16 and bf16.
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
    `y = x/2 * (1 + erf(x / sqrt(2)))`, or with `approximate = "tanh"`
    `y = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3)))`.

    Numerics: gelu(-inf) = -0; computed in f32 for f16 and bf16.
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
    `y = maximum(x, 0)`.

    Numerics: NaN stays NaN; relu(-0) = +0.

    ```mlir
    %y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.relu"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class LeakyReluOp(UnaryOp):
    """
    `y = x` where `x > 0`, else `alpha * x`.

    Numerics: NaN stays NaN; `alpha` is rounded to the element type.

    ```mlir
    %y = graph.leaky_relu %x, alpha = 0.2 : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.leaky_relu"

    operand = tensor_operand("F")

    alpha = prop(FLOAT, 0.01)
