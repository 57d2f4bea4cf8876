"""
What the zero points of two operands add to sums of products of their bytes, for the builders of products.

With K terms in each sum

    sum (a - za) * (b - zb) = sum a * b - za * sum b - zb * (sum a - K * za)

Right operands have signs: an unsigned byte less 128 is a signed one, and the zero point goes with it.
Source: B. Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference,
CVPR 2018, section 2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from xdsl.ir import SSAValue

from ...core.derived_weights import BYTES, sums_key
from ...core.ir.walk import ops_of
from ...dialects.graph.base import plain_properties
from ...dialects.graph.constants import WeightOp
from ...dialects.graph.contraction import MatmulOp
from ...dialects.graph.movement import PermuteDimsOp
from ...dialects.graph.quantisation import DequantizeOp
from ...dialects.graph.shapes import Shaped
from ...dialects.graph.signature import tensor_type
from ...patterns.language.constants import splat_number
from ...patterns.language.match import Index, Match, Session
from ..inference.quantisation import converted, dtype_of, emit, shape_of
from .moves import FLIP, full
from .scales import is_prepared

WORDS: Final = ("i16", "ui16")

FLIP_OF_WORDS: Final = 1 << 15
"""What words with signs and those without differ by."""


def middle(x: SSAValue) -> int:
    """Returns the zero point of bytes that is 0 once they have a sign."""
    return FLIP if dtype_of(x) == "ui8" else 0


def signed(match: Match, op: DequantizeOp) -> tuple[SSAValue, int | SSAValue]:
    """
    Returns the bytes of `op` with signs, and their zero point: a number, or where there are several a tensor of i32.
    """
    x, _, zeros = op.operands
    number, shift = splat_number(zeros), middle(x)
    zero: int | SSAValue
    if number is not None:
        zero = int(number) - shift
    else:
        zero = converted(match, zeros, "i32")
        zero = emit(match, "subtract", zero, full(match, shift, "i32")) if shift else zero
    if not shift:
        return converted(match, x, "i8"), zero
    return emit(match, "astype", emit(match, "bitwise_xor", x, full(match, FLIP, "ui8")), dtype="i8"), zero


def parts(match: Match, op: DequantizeOp) -> list[tuple[SSAValue, int | SSAValue]]:
    """
    Returns the bytes of a left operand as they are, with or without signs, and their zero point: a number, or where it
    is not known a tensor of i32. Of words these are the upper bytes and then the lower ones, both without signs, with
    the two bytes of the zero point.
    """
    x, number = op.operands[0], splat_number(op.operands[2])
    if number is None:
        return [(x, converted(match, op.operands[2], "i32"))]
    zero = int(number)
    if dtype_of(x) not in WORDS:
        return [(x, zero)]
    if dtype_of(x) == "i16":
        flipped = emit(match, "bitwise_xor", x, full(match, -FLIP_OF_WORDS, "i16"))
        x, zero = emit(match, "astype", flipped, dtype="ui16"), zero + FLIP_OF_WORDS
    upper = emit(match, "astype", emit(match, "right_shift", x, full(match, 8, "ui16")), dtype="ui8")
    lower = emit(match, "astype", emit(match, "bitwise_and", x, full(match, 255, "ui16")), dtype="ui8")
    return [(upper, zero >> 8), (lower, zero & 255)]


def sums_along(match: Match, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    """Returns sums of bytes along axes, which stay, in 32 bits."""
    return emit(match, "sum", converted(match, x, "i32"), axis=list(axes), keepdims=True)


def sums_of_weight(match: Match, x: SSAValue, axis: int, factor: int) -> SSAValue | None:
    """
    Returns the sums of bytes with signs for each index of an axis, times a factor, where a weight has the bytes.

    A key of its own names them (`core.derived_weights`), so that no kernel need sum up the weight. The matrices of a
    batch have none together, and integers of fewer bits have none.
    """
    if dtype_of(x) not in BYTES:
        return None
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


def sums_of_windows(match: Match, image: SSAValue, kernel: Sequence[int], properties: dict[str, Any]) -> SSAValue:
    """
    Returns the sums of the windows of a convolution in one group, without padding and with one channel. `kernel` is the
    shape of its weights. Channels are summed up first, so that a window is a sum of few numbers.
    """
    layout = properties["kernel_layout"]
    window = tuple(1 if name in "OI" else size for size, name in zip(kernel, layout, strict=True))
    sums = sums_along(match, image, [properties["data_layout"].index("C")])
    if set(window) == {1} and properties["strides"] == (1, 1):
        return sums
    return emit(match, "conv2d", sums, full(match, 1, "i32", window), **{**properties, "out_dtype": None})


def times(match: Match, factor: int | SSAValue, sums: SSAValue, more: int = 0) -> SSAValue:
    """
    Returns `factor * sums + more` in one op, which stays as it is for all numbers. So layers whose zero points differ
    share a kernel, also where one has 1 or -1.
    """
    other = full(match, factor, "i32") if isinstance(factor, int) else factor
    return emit(match, "ewise_fma", sums, other, full(match, more, "i32"))


def added_by_right(match: Match, zero: int | SSAValue, sums: SSAValue, other: int | SSAValue, terms: int) -> SSAValue:
    """
    Returns what the zero point of the right operand adds: `zero * (sums - other * terms)`, with sums of the left one,
    whose zero point is `other`.
    """
    if not isinstance(other, int):
        sums, other = emit(match, "subtract", sums, times(match, terms, other)), 0
    if isinstance(zero, int):
        return times(match, zero, sums, -zero * other * terms)
    return emit(match, "multiply", times(match, 1, sums, -other * terms), zero)


class RightZeros(Index):
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
