"""Elementwise ops of one operand: the result has the shape of the operand."""

from __future__ import annotations

from abc import ABC
from typing import Any

from xdsl.irdl import irdl_op_definition

from ...te import dtypes
from .base import ANY, NUMBERS, PureGraphOp, tensor_operand, tensor_result
from .element_types import check_number
from .properties import ELEMENT_TYPE, NUMBER, optional_prop, prop
from .shapes import Shaped, ShapeError


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
    Returns whether `x` is NaN.

    ```mlir
    %y = graph.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "graph.isnan"

    operand = tensor_operand("F")


@irdl_op_definition
class IsinfOp(UnaryTestOp):
    """
    Returns whether `x` is +inf or -inf.

    ```mlir
    %y = graph.isinf %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "graph.isinf"

    operand = tensor_operand("F")


@irdl_op_definition
class IsfiniteOp(UnaryTestOp):
    """
    Returns whether `x` is neither NaN nor infinite.

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


@irdl_op_definition
class BitcastOp(PureGraphOp):
    """
    `y` has the bits of `x`, read as the element type `dtype`, which has as many.

    ```mlir
    %y = graph.bitcast %x, dtype = i32 : (tensor<4xf32>) -> tensor<4xi32>
    ```
    """

    name = "graph.bitcast"

    operand = tensor_operand(NUMBERS)

    dtype = prop(ELEMENT_TYPE)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, dtype: str) -> tuple[Shaped, ...]:
        if dtype not in dtypes.NUMERIC:
            raise ShapeError(f"'dtype' is {dtype}, expected float or integer")
        found, wanted = dtypes.bit_width(x.dtype), dtypes.bit_width(dtype)
        if found != wanted:
            raise ShapeError(f"'dtype' is {dtype} of {wanted} bits, but the operand has elements of {found} bits")
        return (Shaped(x.shape, dtype),)
