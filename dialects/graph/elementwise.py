"""Elementwise ops of one operand: the result has the shape of the operand."""

from __future__ import annotations

from abc import ABC
from typing import Any

from xdsl.irdl import irdl_op_definition

from ...te import dtypes
from .base import ANY, NUMBERS, PureGraphOp, tensor_operand, tensor_result
from .element_types import check_number
from .normal_form import ELEMENT
from .properties import ELEMENT_TYPE, optional_prop, prop
from .shapes import Shaped, ShapeError


class UnaryOp(PureGraphOp, ABC):
    """
    An op that computes `result[i] = function(operand[i])`. The result has the shape and element type of the operand.
    """

    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, **properties: Any) -> tuple[Shaped, ...]:
        return (x,)


class UnaryTestOp(UnaryOp, ABC):
    """
    An op that computes `result[i] = condition(operand[i])`. The result has the shape of the operand and element type
    i1.
    """

    @classmethod
    def infer(cls, x: Shaped, **properties: Any) -> tuple[Shaped, ...]:
        return (Shaped(x.shape, "i1"),)


@irdl_op_definition
class NegativeOp(UnaryOp):
    """
    Computes the negative, `y = -x`.

    Numerics: the sign of a float flips, also that of a NaN. Unsigned integers wrap.

    ```mlir
    %y = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.negative"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class AbsOp(UnaryOp):
    """
    Computes the absolute value, `y = |x|`.

    Numerics: a float loses its sign. The smallest signed integer stays what it is.

    ```mlir
    %y = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.abs"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class SignOp(UnaryOp):
    """
    Computes the sign: `y` is -1, 0 or +1 where `x` is negative, zero or positive.

    Numerics: NaN stays NaN, and both zeros give +0.

    ```mlir
    %y = graph.sign %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.sign"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class SquareOp(UnaryOp):
    """
    Computes the square, `y = x * x`.

    Numerics: floats round once, and integers wrap.

    ```mlir
    %y = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.square"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class FloorOp(UnaryOp):
    """
    Returns the greatest integer value that is not above `x`.

    Numerics: the result is exact, and -0 is kept. Integers stay what they are.

    ```mlir
    %y = graph.floor %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.floor"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class CeilOp(UnaryOp):
    """
    Returns the least integer value that is not below `x`.

    Numerics: the result is exact, and -0 is kept. Integers stay what they are.

    ```mlir
    %y = graph.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.ceil"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class TruncOp(UnaryOp):
    """
    Rounds `x` towards zero to an integer value.

    Numerics: the result is exact, and -0 is kept. Integers stay what they are.

    ```mlir
    %y = graph.trunc %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.trunc"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class RoundOp(UnaryOp):
    """
    Rounds `x` to the nearest integer value. Of two that are equally near, the even one is taken.

    Numerics: the result is exact, and -0 is kept. Integers stay what they are.

    ```mlir
    %y = graph.round %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.round"

    operand = tensor_operand(NUMBERS)


@irdl_op_definition
class LogicalNotOp(UnaryOp):
    """
    Computes the negation, `y = not x`.

    ```mlir
    %y = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
    ```
    """

    name = "graph.logical_not"

    operand = tensor_operand("B")


@irdl_op_definition
class BitwiseNotOp(UnaryOp):
    """
    Inverts every bit of `x`.

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
    Limits `x` to a range, `y = minimum(maximum(x, min), max)`. A bound that is absent does not limit.

    Numerics: the bounds are rounded to the float type, and NaN stays NaN. For an integer type, a bound must be an
    integer that the type can hold.

    ```mlir
    %y = graph.clip %x, min = 0.0, max = 6.0 : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.clip"

    operand = tensor_operand(NUMBERS)

    min = optional_prop(ELEMENT)
    max = optional_prop(ELEMENT)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, min: int | float | None, max: int | float | None) -> tuple[Shaped, ...]:
        check_number("min", min, x.dtype)
        check_number("max", max, x.dtype)
        return (x,)


@irdl_op_definition
class AstypeOp(PureGraphOp):
    """
    Converts `x` to the element type `dtype`.

    Numerics: a conversion to a float type rounds to nearest even. A conversion from a float to an integer type
    truncates and saturates, and NaN gives 0. Conversions between integer types wrap. A conversion to i1 gives `x != 0`,
    and one from i1 gives 0 or 1.

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
    Reads the bits of `x` as the element type `dtype`, which has the same number of bits.

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
