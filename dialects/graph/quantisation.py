"""Integers and floats of 8 bits that stand for real numbers: `(q - zero_point) * scale`."""

from __future__ import annotations

from typing import Final

from xdsl.irdl import irdl_op_definition

from ...te.dtypes import SMALL_INTEGERS, STORED_FLOATS
from .base import PureGraphOp, tensor_operand, tensor_result
from .normal_form import AXIS
from .properties import INTEGER, prop
from .shapes import Shape, Shaped, ShapeError, compatible, normalise_axis, text

PACKED_BITS: Final = (4, 8)
"""The bits of the weights of `graph.matmul_packed`."""

QUANTISED: Final = (*SMALL_INTEGERS, "i8", "ui8", "i16", "ui16", "i32", *STORED_FLOATS)
"""Element types of quantised tensors."""

SUMS: Final = "i32"
"""The element type of sums of products of quantised numbers."""


def _check(x: Shaped, scale: Shaped, zero_point: Shaped, axis: int, block_size: int) -> None:
    """Raises `ShapeError` unless scale and zero point are one for all, one per index of `axis`, or one per block."""
    if zero_point.dtype not in QUANTISED:
        raise ShapeError(f"zero_point has element type {zero_point.dtype}, expected one of {', '.join(QUANTISED)}")
    if not compatible(scale.shape, zero_point.shape):
        raise ShapeError(f"scale is {text(scale.shape)} but zero_point is {text(zero_point.shape)}")
    if block_size < 0:
        raise ShapeError(f"block_size is {block_size}, expected at least 0")
    if not scale.shape and not block_size:
        return
    position = normalise_axis(axis, len(x.shape))
    expected = x.shape[position : position + 1]
    what = f"the extent of axis {axis}"
    if block_size:
        extent = x.shape[position]
        blocks = None if extent is None else -(-extent // block_size)
        expected = (*x.shape[:position], blocks, *x.shape[position + 1 :])
        what = f"blocks of {block_size} along axis {axis}"
    if not compatible(scale.shape, expected):
        raise ShapeError(f"scale is {text(scale.shape)}, expected {text(expected)}: {what} of {text(x.shape)}")


@irdl_op_definition
class QuantizeOp(PureGraphOp):
    """
    Quantises floats, `result = saturate(round(x / scale) + zero_point)`.

    Shapes: `scale` and `zero_point` have one shape. It is that of a scalar, of a vector along `axis`, or with
    `block_size` that of `x` with one element for each block along `axis`.
    Numerics: the quotient is rounded to the type of `x`, then to the nearest integer, halves to even. The sum is one of
    f32 (f64 for f64). It saturates to the element type of `zero_point`, and NaN gives 0. For a float of 8 bits the
    quotient is not rounded to an integer. The sum is rounded to that type, to nearest even. What lies beyond it,
    infinities too, becomes its greatest number. NaN stays NaN.

    ```mlir
    %q = graph.quantize %x, %scale, %zero_point : (tensor<1x3x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4x4xui8>
    ```

    Source: ONNX, QuantizeLinear, version 21.
    """

    name = "graph.quantize"

    operand = tensor_operand("F", "x")
    scale = tensor_operand("F", "x")
    zero_point = tensor_operand("SUQE", "zero_point")
    axis = prop(AXIS, 1)
    block_size = prop(INTEGER, 0)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, scale: Shaped, zero_point: Shaped, *, axis: int, block_size: int) -> tuple[Shaped, ...]:
        _check(x, scale, zero_point, axis, block_size)
        return (Shaped(x.shape, zero_point.dtype),)


@irdl_op_definition
class DequantizeOp(PureGraphOp):
    """
    Computes the real numbers that quantised ones stand for, `result = (x - zero_point) * scale`.

    Shapes: as in `graph.quantize`.
    Numerics: operands are converted to f32 (f64 for f64). The difference is one of that type, exact for integers of up
    to 16 bits. The product is rounded to the type of `scale`.

    ```mlir
    %y = graph.dequantize %q, %scale, %zero_point, axis = 0
        : (tensor<8x3x3x3xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<8x3x3x3xf32>
    ```

    Source: ONNX, DequantizeLinear, version 21.
    """

    name = "graph.dequantize"

    operand = tensor_operand("SUQE", "x")
    scale = tensor_operand("F", "scale")
    zero_point = tensor_operand("SUQE", "x")
    axis = prop(AXIS, 1)
    block_size = prop(INTEGER, 0)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, scale: Shaped, zero_point: Shaped, *, axis: int, block_size: int) -> tuple[Shaped, ...]:
        _check(x, scale, zero_point, axis, block_size)
        return (Shaped(x.shape, scale.dtype),)


@irdl_op_definition
class RequantizeOp(PureGraphOp):
    """
    Quantises sums of products of quantised numbers, `result = saturate(round(x * multiplier) + zero_point)`.

    The multiplier is what one of the sums stands for, in steps of the result: the scales of both factors over that of
    the result. It may as well be one over the scale of floats.

    Shapes: `multiplier` is a scalar, or a vector along `axis`. `zero_point` is a scalar.
    Numerics: sums of 32 bits are converted to the type of `multiplier`. The product is rounded to that type, then to
    the nearest integer, halves to even. The sum is one of f32 (f64 for f64). It saturates as in `graph.quantize`, and
    becomes a float of 8 bits as there.

    ```mlir
    %q = graph.requantize %sums, %multiplier, %zero_point, axis = 1
        : (tensor<4x8xi32>, tensor<8xf32>, tensor<ui8>) -> tensor<4x8xui8>
    ```

    Source: B. Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
    Inference, CVPR 2018, section 2.2.
    """

    name = "graph.requantize"

    operand = tensor_operand("FS", "x")
    multiplier = tensor_operand("F", "multiplier")
    zero_point = tensor_operand("SUQE", "zero_point")
    axis = prop(AXIS, 1)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, multiplier: Shaped, zero_point: Shaped, *, axis: int) -> tuple[Shaped, ...]:
        if x.dtype not in (SUMS, multiplier.dtype):
            raise ShapeError(f"operand has element type {x.dtype}, expected {SUMS} or {multiplier.dtype} of multiplier")
        if zero_point.dtype not in QUANTISED:
            raise ShapeError(f"zero_point has element type {zero_point.dtype}, expected one of {', '.join(QUANTISED)}")
        if zero_point.shape:
            raise ShapeError(f"zero_point is {text(zero_point.shape)}, expected a scalar")
        if multiplier.shape:
            position = normalise_axis(axis, len(x.shape))
            expected = x.shape[position : position + 1]
            if not compatible(multiplier.shape, expected):
                what = f"the extent of axis {axis} of {text(x.shape)}"
                raise ShapeError(f"multiplier is {text(multiplier.shape)}, expected () or {text(expected)}: {what}")
        return (Shaped(x.shape, zero_point.dtype),)


def _packed_shapes(outputs: int | None, inputs: int | None, bits: int, block_size: int) -> tuple[Shape, Shape]:
    """Returns the shapes of packed weights and of their scales."""
    blocks = None if inputs is None else -(-inputs // block_size)
    return (outputs, None if blocks is None else blocks * block_size * bits // 8), (outputs, blocks)


@irdl_op_definition
class MatmulPackedOp(PureGraphOp):
    """
    Multiplies by a matrix of packed integers with a scale for each block of a row.

    ```
    result[…, m, n] = sum over k of x[…, m, k] * (w[n, k] - zero_point[n, k / block_size]) * scale[n, k / block_size]
    ```

    Shapes: `x` is …xMxK, `scale` is NxB with `B = ceil(K / block_size)`, `zero_point` is NxB or a scalar, and `result`
    is …xMxN. `weights` are Nx(B * block_size * bits / 8) bytes. With `bits = 4` a byte holds two numbers from 0 to 15,
    that of the lower k in its lower half. What a last block has beyond K does not count.
    Numerics: products and sums are formed in at least f32. The order of summation is unspecified, and so is when the
    scale is multiplied. With `rounded_bits = 8` each block of a row of x is rounded before, to 127 steps up to the
    greatest absolute value in it: `x` stands for `round(x * (127 / greatest)) * (greatest / 127)`. K is whole blocks
    then. A block of numbers up to 2**-100 is rounded to zeros.

    ```mlir
    %y = graph.matmul_packed %x, %w, %scale, %zero_point, bits = 4, block_size = 32
        : (tensor<1x64xf32>, tensor<16x32xui8>, tensor<16x2xf32>, tensor<16x2xui8>) -> tensor<1x16xf32>
    ```

    Source: MatMulNBits of the domain com.microsoft in onnxruntime.
    """

    name = "graph.matmul_packed"

    operand = tensor_operand("F", "x")
    weights = tensor_operand("U", "weights")
    scale = tensor_operand("F", "x")
    zero_point = tensor_operand("U", "weights")
    bits = prop(INTEGER, 4)
    block_size = prop(INTEGER, 32)
    rounded_bits = prop(INTEGER, 0)
    result = tensor_result()

    @classmethod
    def infer(
        cls,
        x: Shaped,
        weights: Shaped,
        scale: Shaped,
        zero_point: Shaped,
        *,
        bits: int,
        block_size: int,
        rounded_bits: int,
    ) -> tuple[Shaped, ...]:
        if weights.dtype != "ui8":
            raise ShapeError(f"weights has element type {weights.dtype}, expected ui8")
        if bits not in PACKED_BITS:
            raise ShapeError(f"bits is {bits}, expected {' or '.join(map(str, PACKED_BITS))}")
        if block_size < 1 or block_size * bits % 8:
            raise ShapeError(f"block_size is {block_size}, expected whole bytes of {bits} bits")
        if not x.shape:
            raise ShapeError("operand is a scalar, expected at least 1 dimension")
        if rounded_bits not in (0, 8):
            raise ShapeError(f"rounded_bits is {rounded_bits}, expected 0 or 8")
        if rounded_bits and x.shape[-1] is not None and x.shape[-1] % block_size:
            raise ShapeError(f"rows of {x.shape[-1]} numbers are rounded, expected whole blocks of {block_size}")
        if len(weights.shape) != 2:
            raise ShapeError(f"weights is {text(weights.shape)}, expected a matrix of bytes")
        packed, blocks = _packed_shapes(weights.shape[0], x.shape[-1], bits, block_size)
        if not compatible(weights.shape, packed):
            taken = f"{text(x.shape[-1:])} numbers of {bits} bits in blocks of {block_size}"
            raise ShapeError(f"weights is {text(weights.shape)}, expected {text(packed)}: rows of {taken}")
        for name, found in (("scale", scale), ("zero_point", zero_point)):
            if name == "zero_point" and not found.shape:
                continue
            if not compatible(found.shape, blocks):
                raise ShapeError(f"{name} is {text(found.shape)}, expected {text(blocks)}: one for each block of a row")
        return (Shaped((*x.shape[:-1], weights.shape[0]), x.dtype),)
