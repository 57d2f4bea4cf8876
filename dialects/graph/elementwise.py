"""Elementwise ops of one operand: the result has the shape of the operand."""

from __future__ import annotations

from abc import ABC
from typing import Any

from xdsl.irdl import irdl_op_definition

from .base import ANY, NUMBERS, PureGraphOp, tensor_operand, tensor_result
from .element_types import check_number
from .properties import ELEMENT_TYPE, FLOAT, NUMBER, TextKind, optional_prop, prop
from .shapes import Shaped


class UnaryOp(PureGraphOp, ABC):
    """`result[i] = function(operand[i])`, of the shape and element type of the operand."""

    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, **properties: Any) -> tuple[Shaped, ...]:
        return (x,)


class UnaryTestOp(UnaryOp, ABC):
    """`result[i] = condition(operand[i])`, of element type i1."""

    @classmethod
    def infer(cls, x: Shaped, **properties: Any) -> tuple[Shaped, ...]:
        return (Shaped(x.shape, "i1"),)


@irdl_op_definition
class NegativeOp(UnaryOp):
    """
    `y = -x`.

    Numerics: the sign of floats flips, of NaN too; unsigned integers wrap.

    ```mlir
    %y = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.negative"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class AbsOp(UnaryOp):
    """
    `y = |x|`.

    Numerics: floats lose their sign; the smallest signed integer stays what it is.

    ```mlir
    %y = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.abs"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class SignOp(UnaryOp):
    """
    `y = -1, 0 or +1` as `x` is negative, zero or positive.

    Numerics: NaN stays NaN; both zeros give +0.

    ```mlir
    %y = graph.sign %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sign"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class SquareOp(UnaryOp):
    """
    `y = x * x`.

    Numerics: rounded once; integers wrap.

    ```mlir
    %y = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.square"

    operand = tensor_operand(NUMBERS)


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


@irdl_op_definition
class FloorOp(UnaryOp):
    """
    The greatest integer value not above `x`.

    Numerics: exact; -0 is kept; integers stay what they are.

    ```mlir
    %y = graph.floor %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.floor"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class CeilOp(UnaryOp):
    """
    The least integer value not below `x`.

    Numerics: exact; -0 is kept; integers stay what they are.

    ```mlir
    %y = graph.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.ceil"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class TruncOp(UnaryOp):
    """
    The integer value of `x` towards zero.

    Numerics: exact; -0 is kept; integers stay what they are.

    ```mlir
    %y = graph.trunc %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.trunc"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class RoundOp(UnaryOp):
    """
    The integer value nearest to `x`, the even one of two equally near.

    Numerics: exact; -0 is kept; integers stay what they are.

    ```mlir
    %y = graph.round %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.round"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class LogicalNotOp(UnaryOp):
    """
    `y = not x`.

    ```mlir
    %y = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
    ```
    """

    name = "graph.logical_not"

    operand = tensor_operand("B")


@irdl_op_definition
class BitwiseNotOp(UnaryOp):
    """
    Every bit of `x` inverted.

    ```mlir
    %y = graph.bitwise_not %x : (tensor<4xi8>) -> tensor<4xi8>
    ```
    """

    name = "graph.bitwise_not"

    operand = tensor_operand("SUB")


@irdl_op_definition
class IsnanOp(UnaryTestOp):
    """
    Whether `x` is NaN.

    ```mlir
    %y = graph.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "graph.isnan"

    operand = tensor_operand("F")


@irdl_op_definition
class IsinfOp(UnaryTestOp):
    """
    Whether `x` is +inf or -inf.

    ```mlir
    %y = graph.isinf %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "graph.isinf"

    operand = tensor_operand("F")


@irdl_op_definition
class IsfiniteOp(UnaryTestOp):
    """
    Whether `x` is neither NaN nor infinite.

    ```mlir
    %y = graph.isfinite %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "graph.isfinite"

    operand = tensor_operand("F")


@irdl_op_definition
class ClipOp(PureGraphOp):
    """
    `y = minimum(maximum(x, min), max)`; an absent bound does not limit.

    Numerics: bounds are rounded to the float type; NaN stays NaN; an integer type takes integers of its range.

    ```mlir
    %y = graph.clip %x, min = 0.0, max = 6.0 : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.clip"

    operand = tensor_operand(NUMBERS)

    min = optional_prop(NUMBER)
    max = optional_prop(NUMBER)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, min: int | float | None, max: int | float | None) -> tuple[Shaped, ...]:
        check_number("min", min, x.dtype)
        check_number("max", max, x.dtype)
        return (x,)


@irdl_op_definition
class AstypeOp(PureGraphOp):
    """
    `y` is `x` converted to the element type `dtype`.

    Numerics: to floats rounds to nearest even; floats to integers truncate and saturate, NaN gives 0; integers wrap;
    to i1 is `x != 0`; from i1 gives 0 or 1.

    ```mlir
    %y = graph.astype %x, dtype = f16 : (tensor<4xf32>) -> tensor<4xf16>
    ```
    """

    name = "graph.astype"

    operand = tensor_operand(ANY)

    dtype = prop(ELEMENT_TYPE)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, dtype: str) -> tuple[Shaped, ...]:
        return (Shaped(x.shape, dtype),)
