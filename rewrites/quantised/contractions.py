"""
Conditions and builders of `integer_arithmetic.mlir`: products and convolutions of bytes for any signs and zero points.

They are formed of bytes and summed up in 32 bits. Those of right operands have signs: an unsigned byte less 128 is a
signed one, and the zero point goes with it. Then

    sum (a - za) * (b - zb) = sum a * b - za * sum b - zb * (sum a - K * za)

with K terms in each sum. Source: B. Jacob et al., Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference, CVPR 2018, section 2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from ...core.derived_weights import BYTES, sums_key
from ...core.ir.walk import ops_of
from ...dialects.graph.base import plain_properties
from ...dialects.graph.constants import WeightOp
from ...dialects.graph.contraction import Conv2dOp, MatmulOp
from ...dialects.graph.movement import PermuteDimsOp
from ...dialects.graph.quantisation import DequantizeOp
from ...dialects.graph.shapes import Shaped
from ...dialects.graph.signature import tensor_type
from ...patterns.language.constants import splat_number
from ...patterns.language.match import Index, Match, Session, as_value
from ...patterns.language.registry import Thing, builder, condition
from ...te.dtypes import SMALL_INTEGERS
from ..inference.quantisation import dtype_of, emit, shape_of
from .moves import FLIP, full
from .scales import is_prepared, product, reshaped

LEAST_EXTENT: Final = 16
"""Outputs, and channels, from which on machines have products of bytes for convolutions."""

MOST_TERMS: Final = 1 << 15
"""Sums of so many products of differences of bytes stay below 2^31."""

LARGEST_EXACT: Final = 1 << 24
"""All integers up to this one are numbers of f32, so sums of integers are exact in any order while none exceeds it."""


@condition("byte", otherwise="the {0} is no tensor of bytes")
def byte(match: Match, thing: Thing) -> bool:
    """The elements are of type i8 or ui8."""
    return dtype_of(as_value(thing)) in BYTES


@condition("byte-or-less")
def byte_or_less(match: Match, thing: Thing) -> bool:
    """The elements are integers of 8, 4 or 2 bits."""
    return dtype_of(as_value(thing)) in (*BYTES, *SMALL_INTEGERS)


@condition("float32")
def float32(match: Match, thing: Thing) -> bool:
    """The elements are of type f32."""
    return dtype_of(as_value(thing)) == "f32"


@condition("known-zero", otherwise="the zero point of the {0} is not in the middle of their range")
def known_zero(match: Match, op: DequantizeOp) -> bool:
    """The zero points are known to be 0, or 128 of bytes without signs: that is 0 once they have one."""
    number = splat_number(op.operands[2])
    return number == (FLIP if dtype_of(op.operands[0]) == "ui8" else 0)


@condition("scales-of-outputs", otherwise="the scales of the {1} are not those of output channels or columns")
def scales_of_outputs(match: Match, op: Conv2dOp | MatmulOp, kernel: DequantizeOp) -> bool:
    """The right operand has one scale, or one for each output channel or column."""
    if not shape_of(kernel.operands[1]):
        return True
    properties = plain_properties(kernel)
    rank = len(shape_of(kernel.operands[0]))
    wanted = rank - 1 if op.name == "graph.matmul" else plain_properties(op)["kernel_layout"].index("O")
    return not properties["block_size"] and properties["axis"] % rank == wanted and rank > 1


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


def _channels(op: Conv2dOp) -> int:
    """Returns the dimension of the channels of an image."""
    return plain_properties(op)["data_layout"].index("C")


@condition("sums-fit", otherwise="the sums could exceed 32 bits")
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


def _signed(match: Match, op: DequantizeOp) -> tuple[SSAValue, int]:
    """Returns the bytes of `op` with signs, and their zero point."""
    x, _, zero = op.operands
    number = splat_number(zero)
    assert number is not None
    if dtype_of(x) == "i8":
        return x, int(number)
    flipped = emit(match, "bitwise_xor", x, full(match, FLIP, "ui8"))
    return emit(match, "astype", flipped, dtype="i8"), int(number) - FLIP


def _as_it_is(op: DequantizeOp) -> tuple[SSAValue, int]:
    """Returns the bytes of `op`, and their zero point. Those of a left operand may have signs or none."""
    number = splat_number(op.operands[2])
    assert number is not None
    return op.operands[0], int(number)


def _sums(match: Match, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    """Returns sums of bytes along axes, which stay, in 32 bits."""
    return emit(match, "sum", emit(match, "astype", x, dtype="i32"), axis=list(axes), keepdims=True)


def _sums_of_weight(match: Match, x: SSAValue, axis: int, factor: int) -> SSAValue | None:
    """
    Returns the sums of bytes with signs for each index of an axis, times a factor, where a weight has the bytes.

    A key of its own names them (`core.derived_weights`), so that no kernel need sum up the weight. The matrices of a
    batch have none together.
    """
    owner, rank = x.owner, len(shape_of(x))
    axis %= rank
    if isinstance(owner, PermuteDimsOp):
        axes = plain_properties(owner)["axes"]
        axis = (tuple(reversed(range(rank))) if axes is None else axes)[axis] % rank
        owner = owner.operands[0].owner
    if not isinstance(owner, WeightOp):
        return None
    type_ = tensor_type(Shaped((shape_of(owner.results[0])[axis],), "i32"))
    return match.add(WeightOp(sums_key(owner.weight_key, axis, factor), type_)).results[0]


def _times(match: Match, factor: int, sums: SSAValue, more: int = 0) -> SSAValue:
    """
    Returns `factor * sums + more` in one op, which stays as it is for all numbers. So layers whose zero points differ
    share a kernel, also where one has 1 or -1.
    """
    return emit(match, "ewise_fma", sums, full(match, factor, "i32"), full(match, more, "i32"))


def _scaled(match: Match, sums: SSAValue, op: Operation, data: DequantizeOp, scales: SSAValue) -> Sequence[SSAValue]:
    """Returns the real numbers that `sums` stand for."""
    factor = product(match, data.operands[1], scales)
    real = emit(match, "astype", sums, dtype="f32")
    return match.create("graph.multiply", [real, factor], [op.results[0].type]).results


@builder("integer-conv2d")
def integer_conv2d(match: Match, op: Conv2dOp, data: DequantizeOp, kernel: DequantizeOp) -> Sequence[SSAValue]:
    """The convolution of bytes. Padding has the value of the zero point, so that every window has as many terms."""
    properties = plain_properties(op)
    image, zero = _as_it_is(data)
    weights, _ = _signed(match, kernel)
    image = _padded(match, image, zero, properties)
    sums = _windows(match, image, weights, {**properties, "padding": (0, 0, 0, 0), "out_dtype": "i32"})
    layout, channels = properties["kernel_layout"], _channels(op)
    spread = [-1, *[1] * (3 - channels)]
    if zero:
        less = _sums_of_weight(match, kernel.operands[0], layout.index("O"), zero)
        if less is None:
            over = [axis for axis, name in enumerate(layout) if name != "O"]
            less = _times(match, zero, _sums(match, weights, over))
        sums = emit(match, "subtract", sums, emit(match, "reshape", less, shape=spread))
    scales = kernel.operands[1]
    if shape_of(scales):
        scales = reshaped(match, scales, spread)
    return _scaled(match, sums, op, data, scales)


@builder("groups-on-floats")
def groups_on_floats(match: Match, op: Conv2dOp, image: Thing, kernel: Thing) -> Sequence[SSAValue]:
    """The convolution of the same numbers in f32, whose sums are converted."""
    reals = [emit(match, "astype", as_value(each), dtype="f32") for each in (image, kernel)]
    sums = emit(match, "conv2d", *reals, **{**plain_properties(op), "out_dtype": None})
    return (emit(match, "astype", sums, dtype="i32"),)


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
    if inputs >= LEAST_EXTENT or outputs < LEAST_EXTENT or inputs * height < LEAST_EXTENT or rows < 1:
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


def _padded(match: Match, image: SSAValue, zero: int, properties: dict[str, Any]) -> SSAValue:
    top, left, bottom, right = properties["padding"]
    if not any((top, left, bottom, right)):
        return image
    widths = {"H": [top, bottom], "W": [left, right]}
    pads = [each for name in properties["data_layout"] for each in widths.get(name, [0, 0])]
    return emit(match, "pad", image, pad_width=pads, value=zero)


class _RightZeros(Index):
    """
    The zero points of right operands that are computed, as in attention.

    Where most are something else than 0, those that are 0 by chance get the same sums, times 0. So all layers share
    their kernels.
    """

    def __init__(self, session: Session):
        super().__init__(session)
        self._is_rare: bool | None = None

    def is_exception(self, match: Match, kernel: DequantizeOp) -> bool:
        """Returns whether a zero point is 0, but those of most others are not. The first question counts them."""
        if self._is_rare is None:
            products = ops_of(self.session.scope, MatmulOp)
            found = [self._is_zero(match, op.operands[1].owner) for op in products]
            self._is_rare = found.count(False) > found.count(True)
        return self._is_rare and self._is_zero(match, kernel) is True

    @staticmethod
    def _is_zero(match: Match, kernel: object) -> bool | None:
        """Returns whether the zero point is 0, or `None` for weights and what is not known."""
        if not isinstance(kernel, DequantizeOp) or is_prepared(match, kernel.operands[0]):
            return None
        number = splat_number(kernel.operands[2])
        return None if number is None else number == 0


@builder("integer-matmul")
def integer_matmul(match: Match, op: MatmulOp, data: DequantizeOp, kernel: DequantizeOp) -> Sequence[SSAValue] | None:
    """
    The product of bytes, less what the zero points add. Declines operands of two float types.

    A right zero point of 0 that is an exception among activations is like the others.
    """
    if dtype_of(data.operands[1]) != dtype_of(kernel.operands[1]):
        return None
    is_exception = match.session.index(_RightZeros).is_exception(match, kernel)
    (left, a), (right, b) = _as_it_is(data), _signed(match, kernel)
    less: list[SSAValue] = []
    if a:
        sums = _sums_of_weight(match, kernel.operands[0], -1, a) if len(shape_of(right)) == 2 else None
        less.append(_times(match, a, _sums(match, right, [-2])) if sums is None else sums)
    if b or is_exception:
        less.append(_times(match, b, _sums(match, left, [-1]), -a * b * shape_of(right)[-2]))
    # Sums of rows come before the product of these rows, with which they are one chain in attention.
    sums = emit(match, "matmul", left, right, out_dtype="i32")
    for each in less:
        sums = emit(match, "subtract", sums, each)
    return _scaled(match, sums, op, data, kernel.operands[1])
