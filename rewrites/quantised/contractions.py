"""
Conditions and builders of `integer_arithmetic.mlir`: products and convolutions of bytes for any signs and zero points.

They are formed of bytes and summed up in 32 bits, and what zero points add is taken away (`zero_points.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from ...core.derived_weights import BYTES
from ...dialects.graph.base import plain_properties
from ...dialects.graph.contraction import Conv2dOp, MatmulOp
from ...dialects.graph.quantisation import DequantizeOp
from ...patterns.language.constants import splat_number
from ...patterns.language.match import Match, as_value
from ...patterns.language.registry import Thing, builder, condition
from ...te.dtypes import SMALL_INTEGERS
from ..inference.quantisation import converted, dtype_of, emit, shape_of
from .moves import full
from .scales import is_prepared, product, reshaped
from .zero_points import (
    WORDS,
    RightZeros,
    added_by_right,
    middle,
    parts,
    signed,
    sums_along,
    sums_of_weight,
    sums_of_windows,
    times,
)

LEAST_EXTENT: Final = 16
"""Channels, and outputs of groups, from which on machines have products of bytes for convolutions."""

MOST_TERMS: Final = 1 << 15
"""Sums of so many products of differences of bytes stay below 2^31."""

BYTE_VALUES: Final = 1 << 8

LARGEST_EXACT: Final = 1 << 24
"""All integers up to this one are numbers of f32, so sums of integers are exact in any order while none exceeds it."""


@condition("byte", otherwise="the {0} is no tensor of bytes")
def byte(match: Match, thing: Thing) -> bool:
    """The elements are of type i8 or ui8."""
    return dtype_of(as_value(thing)) in BYTES


@condition("byte-of-weights", protects="cost", otherwise="the {1} is no tensor of bytes")
def byte_of_weights(match: Match, op: Conv2dOp | MatmulOp, thing: Thing) -> bool:
    """
    The elements of the right operand are of type i8 or ui8, or integers of fewer bits. Few rows read those packed, as
    they wait for memory.
    """
    value = as_value(thing)
    if dtype_of(value) not in SMALL_INTEGERS or op.name != "graph.matmul" or not is_prepared(match, value):
        return dtype_of(value) in (*BYTES, *SMALL_INTEGERS)
    return prod(shape_of(op.operands[0])[:-1]) >= LEAST_EXTENT


@condition("byte-or-word", otherwise="the {0} is no tensor of integers of 8 or 16 bits")
def byte_or_word(match: Match, thing: Thing) -> bool:
    """The elements are integers of 8 or 16 bits."""
    return dtype_of(as_value(thing)) in (*BYTES, *WORDS)


@condition("byte-or-less")
def byte_or_less(match: Match, thing: Thing) -> bool:
    """The elements are integers of 8, 4 or 2 bits."""
    return dtype_of(as_value(thing)) in (*BYTES, *SMALL_INTEGERS)


@condition("left-zero-point", otherwise="the {1} is not one number, or not a known one of words")
def left_zero_point(match: Match, left: Thing, zero: Thing) -> bool:
    """The zero point of the left operand is one number, which for words is known."""
    value = as_value(zero)
    return splat_number(value) is not None or (dtype_of(as_value(left)) in BYTES and not shape_of(value))


@condition("float32")
def float32(match: Match, thing: Thing) -> bool:
    """The elements are of type f32."""
    return dtype_of(as_value(thing)) == "f32"


@condition("plain-in-groups", protects="cost", otherwise="there is no kernel for groups of words or with zero points")
def plain_in_groups(match: Match, op: Conv2dOp, data: DequantizeOp, kernel: DequantizeOp) -> bool:
    """
    The convolution has one group, or its image has bytes and the zero point of its weights is 0 once they have a sign.
    Words are two convolutions, and a zero point of weights asks for sums of windows. In groups of few channels both
    take longer than floats.
    """
    if plain_properties(op)["groups"] == 1:
        return True
    return dtype_of(data.operands[0]) in BYTES and splat_number(kernel.operands[2]) == middle(kernel.operands[0])


@condition("scales-of-outputs", otherwise="the scales of the {1} are not those of output channels or columns")
def scales_of_outputs(match: Match, op: Conv2dOp | MatmulOp, kernel: DequantizeOp) -> bool:
    """The right operand has one scale and zero point, or one for each output channel or column."""
    if not shape_of(kernel.operands[1]):
        return True
    properties = plain_properties(kernel)
    rank = len(shape_of(kernel.operands[0]))
    wanted = rank - 1 if op.name == "graph.matmul" else plain_properties(op)["kernel_layout"].index("O")
    return not properties["block_size"] and properties["axis"] % rank == wanted and rank > 1


@condition("scales-of-rows", otherwise="the scales of the {1} are not those of rows")
def scales_of_rows(match: Match, op: MatmulOp, data: DequantizeOp) -> bool:
    """The left operand has one scale, or one for each row and a zero point that is the same for all and known."""
    scales, rank = shape_of(data.operands[1]), len(shape_of(data.operands[0]))
    if not scales:
        return True
    properties = plain_properties(data)
    of_rows = rank > 1 and not properties["block_size"] and properties["axis"] % rank == rank - 2
    return of_rows and splat_number(data.operands[2]) is not None


@condition("byte-kernel", protects="cost", otherwise="there is no kernel on bytes for groups of few channels")
def byte_kernel(match: Match, op: Conv2dOp) -> bool:
    """
    There are kernels on bytes for the convolution: it has one group, or in each one channel and one output, or 16 of
    both.
    """
    groups = plain_properties(op)["groups"]
    inputs, outputs = (shape_of(each)[_channels(op)] for each in (op.operands[0], op.results[0]))
    return groups == 1 or groups == inputs == outputs or min(inputs, outputs) // groups >= LEAST_EXTENT


@condition("exact-on-floats")
def exact_on_floats(match: Match, op: Conv2dOp) -> bool:
    """There are no kernels on bytes for the convolution of bytes, and each of its sums is a number of f32."""
    if byte_kernel(match, op) or dtype_of(op.results[0]) != "i32":
        return False
    largest = prod(255 if dtype_of(each) == "ui8" else 128 for each in op.operands)
    return 0 <= _terms(op) * largest <= LARGEST_EXACT


@condition("one-output", protects="cost")
def one_output(match: Match, op: Conv2dOp) -> bool:
    """
    The convolution of bytes has one output, and as many channels as kernels on bytes want. These kernels have two
    outputs or more.
    """
    inputs, outputs = (shape_of(each)[_channels(op)] for each in (op.operands[0], op.results[0]))
    return outputs == 1 and inputs >= LEAST_EXTENT and dtype_of(op.results[0]) == "i32"


def _channels(op: Conv2dOp) -> int:
    """Returns the dimension of the channels of an image."""
    return plain_properties(op)["data_layout"].index("C")


@condition("sums-fit", otherwise="the sums could exceed 32 bits, or an operand is a vector")
def sums_fit(match: Match, op: Conv2dOp | MatmulOp) -> bool:
    """The terms of each sum are so few that 32 bits hold it."""
    return 0 <= _terms(op) <= MOST_TERMS


def _terms(op: Conv2dOp | MatmulOp) -> int:
    """Returns the number of terms of each sum, -1 where it is not known."""
    shape = shape_of(op.operands[1])
    if op.name == "graph.matmul":
        return shape[-2] if len(shape) > 1 and len(shape_of(op.operands[0])) > 1 else -1
    terms = [size for size, name in zip(shape, plain_properties(op)["kernel_layout"], strict=True) if name != "O"]
    return -1 if DYNAMIC_INDEX in terms else prod(terms)


def _scaled(
    match: Match, sums: Sequence[SSAValue], op: Operation, data: DequantizeOp, scales: SSAValue
) -> Sequence[SSAValue]:
    """Returns the real numbers that sums stand for: those of bytes, or of the upper and the lower bytes of words."""
    of_rows = bool(shape_of(data.operands[1]))  # Their products with scales of columns would be a matrix.
    factor = scales if of_rows else product(match, data.operands[1], scales)
    real, *lower = (emit(match, "astype", each, dtype="f32") for each in sums)
    for each in lower:
        real = emit(match, "ewise_fma", real, full(match, BYTE_VALUES, "f32"), each)
    if of_rows:
        real = emit(match, "multiply", real, reshaped(match, data.operands[1], [-1, 1]))
    return match.create("graph.multiply", [real, factor], [op.results[0].type]).results


@builder("integer-conv2d")
def integer_conv2d(match: Match, op: Conv2dOp, data: DequantizeOp, kernel: DequantizeOp) -> Sequence[SSAValue]:
    """
    The convolution of bytes, or of the two bytes of words. Padding has the value of the zero point, so that every
    window has as many terms.
    """
    weights = signed(match, kernel)
    sums = [_sums_of_conv2d(match, op, *part, kernel, *weights) for part in parts(match, data)]
    scales = kernel.operands[1]
    if shape_of(scales):
        scales = reshaped(match, scales, _spread(op))
    return _scaled(match, sums, op, data, scales)


def _spread(op: Conv2dOp) -> list[int]:
    """Returns the shape in which a vector of channels broadcasts against images."""
    return [-1, *[1] * (3 - _channels(op))]


def _sums_of_conv2d(
    match: Match,
    op: Conv2dOp,
    image: SSAValue,
    zero: int | SSAValue,
    kernel: DequantizeOp,
    weights: SSAValue,
    other: int | SSAValue,
) -> SSAValue:
    """Returns the sums of products of bytes, less what the zero points of both add."""
    properties = plain_properties(op)
    image = _padded(match, image, zero, properties)
    inside = {**properties, "padding": (0, 0, 0, 0), "out_dtype": "i32"}
    sums = _windows(match, image, weights, inside)
    layout = properties["kernel_layout"]
    if zero != 0:
        less = _added_by_image(match, zero, kernel.operands[0], weights, layout)
        sums = emit(match, "subtract", sums, emit(match, "reshape", less, shape=_spread(op)))
    if other != 0:
        windows = sums_of_windows(match, image, shape_of(weights), inside)
        other = other if isinstance(other, int) else reshaped(match, other, _spread(op))
        sums = emit(match, "subtract", sums, added_by_right(match, other, windows, zero, _terms(op)))
    return sums


def _added_by_image(match: Match, zero: int | SSAValue, kernel: SSAValue, weights: SSAValue, layout: str) -> SSAValue:
    """Returns what the zero point of an image adds: its product with the sums of filters."""
    sums = sums_of_weight(match, kernel, layout.index("O"), zero if isinstance(zero, int) else 1)
    if sums is not None and isinstance(zero, int):
        return sums
    over = [axis for axis, name in enumerate(layout) if name != "O"]
    return times(match, zero, sums_along(match, weights, over) if sums is None else sums)


@builder("groups-on-floats")
def groups_on_floats(match: Match, op: Conv2dOp, image: Thing, kernel: Thing) -> Sequence[SSAValue]:
    """The convolution of the same numbers in f32, whose sums are converted."""
    reals = [emit(match, "astype", as_value(each), dtype="f32") for each in (image, kernel)]
    sums = emit(match, "conv2d", *reals, **{**plain_properties(op), "out_dtype": None})
    return (emit(match, "astype", sums, dtype="i32"),)


@builder("first-of-two-outputs")
def first_of_two_outputs(match: Match, op: Conv2dOp, image: Thing, kernel: Thing) -> Sequence[SSAValue]:
    """The convolution with a filter of zeros as well, without the output of that."""
    properties = plain_properties(op)
    pads = [0] * 8
    pads[2 * properties["kernel_layout"].index("O") + 1] = 1
    two = emit(match, "pad", as_value(kernel), pad_width=pads, value=0)
    sums = emit(match, "conv2d", as_value(image), two, **properties)
    return (emit(match, "strided_slice", sums, axes=[_channels(op)], begin=[0], end=[1], strides=[1]),)


def _windows(match: Match, image: SSAValue, weights: SSAValue, properties: dict[str, Any]) -> SSAValue:
    """
    The sums of windows without padding. Of few channels the rows of the window become channels, until there are
    `LEAST_EXTENT`: kernels on bytes want as many, and rows of images move as a whole.
    """
    image_shape, shape = shape_of(image), shape_of(weights)
    plain = properties["data_layout"] == "NCHW" and properties["kernel_layout"] == "OIHW" and properties["groups"] == 1
    if not plain or DYNAMIC_INDEX in (*image_shape, *shape):
        return emit(match, "conv2d", image, weights, **properties)
    outputs, inputs, height, width = shape
    step, spacing = properties["strides"][0], properties["dilation"][0]
    rows = (image_shape[2] - spacing * (height - 1) - 1) // step + 1
    if inputs >= LEAST_EXTENT or inputs * height < LEAST_EXTENT or rows < 1:
        return emit(match, "conv2d", image, weights, **properties)
    parts: list[SSAValue] = []
    for tap in range(0, height * spacing, spacing):
        end = tap + (rows - 1) * step + 1
        parts.append(emit(match, "strided_slice", image, axes=[2], begin=[tap], end=[end], strides=[step]))
    wide = emit(match, "concat", *parts, axis=1)
    order = emit(match, "permute_dims", weights, axes=[0, 2, 1, 3])
    narrow = emit(match, "reshape", order, shape=[outputs, height * inputs, 1, width])
    strides, dilation = (1, properties["strides"][1]), (1, properties["dilation"][1])
    return emit(match, "conv2d", wide, narrow, **{**properties, "strides": strides, "dilation": dilation})


def _padded(match: Match, image: SSAValue, zero: int | SSAValue, properties: dict[str, Any]) -> SSAValue:
    """Returns the image with bytes around it that stand for 0. Both the difference and the sum of bytes wrap."""
    top, left, bottom, right = properties["padding"]
    if not any((top, left, bottom, right)):
        return image
    widths = {"H": [top, bottom], "W": [left, right]}
    pads = [each for name in properties["data_layout"] for each in widths.get(name, [0, 0])]
    if isinstance(zero, int):
        return emit(match, "pad", image, pad_width=pads, value=zero)
    byte = converted(match, zero, dtype_of(image))
    inside = emit(match, "pad", emit(match, "subtract", image, byte), pad_width=pads, value=0)
    return emit(match, "add", inside, byte)


@builder("integer-matmul")
def integer_matmul(match: Match, op: MatmulOp, data: DequantizeOp, kernel: DequantizeOp) -> Sequence[SSAValue] | None:
    """
    The product of bytes, or of the two bytes of words, less what the zero points add. Declines operands of two float
    types.

    A right zero point of 0 that is an exception among activations is like the others.
    """
    if dtype_of(data.operands[1]) != dtype_of(kernel.operands[1]):
        return None
    is_exception = match.session.index(RightZeros).is_exception(match, kernel)
    right, b = signed(match, kernel)
    sums = [_sums_of_matmul(match, op, *part, kernel, right, b, is_exception) for part in parts(match, data)]
    return _scaled(match, sums, op, data, kernel.operands[1])


def _sums_of_matmul(
    match: Match,
    op: MatmulOp,
    left: SSAValue,
    a: int | SSAValue,
    kernel: DequantizeOp,
    right: SSAValue,
    b: int | SSAValue,
    is_exception: bool,
) -> SSAValue:
    """Returns the sums of products of bytes, less what the zero points of both add."""
    less: list[SSAValue] = []
    if a != 0:
        less.append(_added_by_left(match, a, kernel.operands[0], right))
    if b != 0 or is_exception:
        less.append(added_by_right(match, b, sums_along(match, left, [-1]), a, _terms(op)))
    # Sums of rows come before the product of these rows, with which they are one chain in attention.
    sums = emit(match, "matmul", left, right, out_dtype="i32")
    for each in less:
        sums = emit(match, "subtract", sums, each)
    return sums


def _added_by_left(match: Match, zero: int | SSAValue, kernel: SSAValue, right: SSAValue) -> SSAValue:
    """Returns what the zero point of the left operand adds: its product with the sums of columns."""
    factor = zero if isinstance(zero, int) else 1
    sums = sums_of_weight(match, kernel, -1, factor) if len(shape_of(right)) == 2 else None
    if sums is not None and isinstance(zero, int):
        return sums
    return times(match, zero, sums_along(match, right, [-2]) if sums is None else sums)
