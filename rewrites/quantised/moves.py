"""Conditions and builders of `integer_arithmetic.mlir`: signs and moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, Final

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.graph.base import plain_properties, python_properties
from ...dialects.graph.constants import FullOp
from ...dialects.graph.contraction import Conv2dOp, MatmulOp
from ...dialects.graph.movement import (
    BroadcastToOp,
    ExpandDimsOp,
    PermuteDimsOp,
    ReshapeOp,
    SqueezeOp,
    StridedSliceOp,
)
from ...dialects.graph.quantisation import DequantizeOp, QuantizeOp
from ...dialects.graph.shapes import Shaped
from ...dialects.graph.signature import tensor_type
from ...patterns.language.constants import splat_number
from ...patterns.language.match import Index, Match, Session, as_value
from ...patterns.language.registry import Thing, builder, condition
from ...te.dtypes import TABLE, bit_width, is_integer, is_small_integer
from ..inference.quantisation import dtype_of, emit, shape_of

FLIP: Final = 128
"""What an unsigned byte is greater by than the signed one of the same order."""

MOVES: Final = frozenset(
    f"graph.{name}"
    for name in (
        "permute_dims",
        "reshape",
        "expand_dims",
        "squeeze",
        "strided_slice",
        "broadcast_to",
        "take",
        "take_along_axis",
        "gather_nd",
    )
)
"""Ops each of whose elements is one of the first operand."""

MANY: Final = 16
"""The elements that a scale serves at least where it is repeated."""

PRODUCTS: Final = (MatmulOp, Conv2dOp)


def full(match: Match, number: float, dtype: str, shape: Sequence[int] = ()) -> SSAValue:
    """Returns a tensor of one number. Equal ones are one op at the start of the block."""
    return match.session.index(_Numbers).of(match, number, dtype, tuple(shape))


class _Numbers(Index):
    """The tensors of one number that builders have made. Each layer of a quantised net would else have its own."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._made: dict[tuple[object, ...], Operation] = {}
        self._detached = set[Operation]()

    def of(self, match: Match, number: float, dtype: str, shape: tuple[int, ...]) -> SSAValue:
        """Returns a tensor of one number that can be used at the root of a match."""
        key = match.root.parent, repr(number), dtype, shape
        op = self._made.get(key)
        if op is None or (op.parent is not match.root.parent and op not in match.new_ops):
            op = self._made[key] = match.add(FullOp(number, tensor_type(Shaped(shape, dtype))))
            self._detached.add(op)
        return op.results[0]

    def inserted(self, op: Operation) -> None:
        """Moves a number to the start of its block, where all that is rewritten later finds it."""
        if op in self._detached and (block := op.parent) is not None and (first := block.first_op) is not op:
            self._detached.discard(op)
            op.detach()
            assert first is not None
            block.insert_op_before(op, first)


@condition("unsigned-byte")
def unsigned_byte(match: Match, thing: Thing) -> bool:
    """The elements are of type ui8."""
    return dtype_of(as_value(thing)) == "ui8"


@condition("signed-byte")
def signed_byte(match: Match, thing: Thing) -> bool:
    """The elements are of type i8."""
    return dtype_of(as_value(thing)) == "i8"


@condition("steps-come-back")
def steps_come_back(match: Match, integers: Thing, scale: Thing) -> bool:
    """
    Steps of the integers times the scale, over the scale, round to the same steps. The scale is known.

    Product and quotient round to the type of the scale. With `m` bits after the leading one, both together are off by
    at most `2^-m` of a number of steps, which are fewer than `2^bits`.
    """
    row, real = TABLE[dtype_of(as_value(integers))], TABLE[dtype_of(as_value(scale))]
    number = splat_number(as_value(scale))
    if number is None or not is_integer(row.name) or row.bits + 2 > real.mantissa_bits:
        return False
    return 2.0 ** (1 - real.bias) <= number and number * 2.0**row.bits < real.greatest


@condition("plain-integers")
def plain_integers(match: Match, thing: Thing) -> bool:
    """The elements are integers of at least a byte, which ops compute on."""
    dtype = dtype_of(as_value(thing))
    return is_integer(dtype) and not is_small_integer(dtype)


@condition("narrow", protects="cost")
def narrow(match: Match, real: DequantizeOp) -> bool:
    """The integers have fewer bits than the numbers that they stand for, so less is moved."""
    return bit_width(dtype_of(real.operands[0])) < bit_width(dtype_of(real.results[0]))


@condition("known-zero-point", otherwise="the {0} is not known")
def known_zero_point(match: Match, thing: Thing) -> bool:
    """The zero point is one number that is known."""
    return splat_number(as_value(thing)) is not None


@condition("moved-from-quantize", protects="cost")
def moved_from_quantize(match: Match, thing: Thing) -> bool:
    """
    Ops that move elements lead from a `graph.quantize` to the tensor, and from there to `graph.dequantize` only. All
    zero points are known.
    """
    source = _source(as_value(thing))
    if not isinstance(source.owner, QuantizeOp) or splat_number(source.owner.operands[2]) is None:
        return False
    return all(isinstance(op, DequantizeOp) and splat_number(op.operands[2]) is not None for op in _readers(source))


@condition("multiplied-from-right", protects="cost")
def multiplied_from_right(match: Match, thing: Thing) -> bool:
    """
    A `graph.dequantize` of the tensor, or of where it has been moved, is the right operand of a product. All that is
    read of the tensor gets other signs then, once.
    """
    return match.session.index(_Flipped).is_to_flip(as_value(thing), lambda value: _is_multiplied(value, 1))


@condition("multiplied-from-left", protects="cost")
def multiplied_from_left(match: Match, thing: Thing) -> bool:
    """
    A `graph.dequantize` of the tensor, or of where it has been moved, is the left operand of a product, or the image of
    a convolution. None is the right one. All that is read of the tensor gets other signs then, once.
    """

    def holds(value: SSAValue) -> bool:
        return _is_multiplied(value, 0) and not _is_multiplied(value, 1)

    return match.session.index(_Flipped).is_to_flip(as_value(thing), holds)


def _is_multiplied(source: SSAValue, index: int) -> bool:
    """Returns whether what is read from the bytes is such an operand of a product."""
    real = [op.results[0] for op in _readers(source) if isinstance(op, DequantizeOp)]
    return any(use.index == index and isinstance(use.operation, PRODUCTS) for each in real for use in each.uses)


def _source(value: SSAValue) -> SSAValue:
    """Returns the tensor whose elements have been moved to `value`."""
    while isinstance(op := value.owner, Operation) and op.name in MOVES:
        value = op.operands[0]
    return value


def _readers(value: SSAValue) -> Iterator[Operation]:
    """Yields the ops that use the elements of a tensor, wherever these have been moved."""
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            if use.operation.name in MOVES and use.index == 0:
                pending += use.operation.results
            else:
                yield use.operation


@builder("bytes-of-other-signs")
def bytes_of_other_signs(match: Match, op: DequantizeOp, quantized: Thing) -> Sequence[SSAValue]:
    """The same conversions, and moves between them, through bytes that are 128 less or, where they have signs, more."""
    flipped = match.session.index(_Flipped).of(match, as_value(quantized))
    return (_flipped(match, op, flipped, op.results[0].type),)


class _Flipped(Index):
    """The bytes that stand for those of other signs. Each stands behind those, where all their users find it."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._made: dict[SSAValue, SSAValue] = {}
        self._flipped = set[SSAValue]()
        self._sources: dict[Operation, Operation] = {}
        """What each new op that is in no block yet stands for."""

    def is_to_flip(self, value: SSAValue, wanted: Callable[[SSAValue], bool]) -> bool:
        """
        Returns whether a tensor is to be flipped: it is moved from one that is `wanted`, or that others are flipped of
        already. What has been flipped stays as it is.
        """
        source = _source(value)
        return source not in self._flipped and (source in self._made or wanted(source))

    def of(self, match: Match, value: SSAValue) -> SSAValue:
        """Returns the bytes for what a `graph.quantize` makes, or for what has been moved from there."""
        waiting: list[Operation] = []
        while (flipped := self._known(match, value)) is None and not isinstance(value.owner, QuantizeOp):
            assert isinstance(value.owner, Operation)
            waiting.append(value.owner)
            value = value.owner.operands[0]
        if flipped is None:
            assert isinstance(value.owner, QuantizeOp)
            flipped = self._note(value.owner, _flipped(match, value.owner, value.owner.operands[0], None))
        for move in reversed(waiting):
            made = match.create(move.name, [flipped, *move.operands[1:]], None, move.properties)
            flipped = self._note(move, made.results[0])
        return flipped

    def _known(self, match: Match, value: SSAValue) -> SSAValue | None:
        flipped = self._made.get(value)
        op = None if flipped is None else flipped.owner
        return flipped if isinstance(op, Operation) and (op.parent is not None or op in match.new_ops) else None

    def _note(self, source: Operation, flipped: SSAValue) -> SSAValue:
        assert isinstance(flipped.owner, Operation)
        self._made[source.results[0]] = flipped
        self._flipped.add(flipped)
        self._sources[flipped.owner] = source
        return flipped

    def inserted(self, op: Operation) -> None:
        """Moves an op behind the one that it stands for."""
        source = self._sources.pop(op, None)
        if source is not None and source.parent is not None:
            op.detach()
            source.parent.insert_op_after(op, source)


def _flipped(match: Match, op: Operation, x: SSAValue, type_: Any) -> SSAValue:
    """Returns the conversion `op` of `x` with a zero point of the other sign, 128 less or more."""
    scale, zero = op.operands[1:]
    number = splat_number(zero)
    assert number is not None
    to_signed = dtype_of(zero) == "ui8"
    moved = int(number) + (-FLIP if to_signed else FLIP)
    point = full(match, moved, "i8" if to_signed else "ui8", shape_of(zero))
    types = None if type_ is None else [type_]
    return match.create(op.name, [x, scale, point], types, op.properties).results[0]


@condition("same-scale")
def same_scale(match: Match, first: Thing, second: Thing) -> bool:
    """Both are one known number of one type, a normal one of f32 where it is a float."""
    one, other = as_value(first), as_value(second)
    number = splat_number(one)
    if one.type != other.type or number is None or number != splat_number(other):
        return False
    return isinstance(number, int) or 2.0**-100 < number < 2.0**100


@condition("one-scale", otherwise="the {0} is not one for all elements")
def one_scale(match: Match, thing: Thing) -> bool:
    """There is one scale for all elements."""
    type_ = as_value(thing).type
    return isinstance(type_, TensorType) and not type_.get_shape()


@condition("moves-scales")
def moves_scales(match: Match, op: Operation, real: DequantizeOp) -> bool:
    """One scale serves all elements, or the indices of the axis that has scales of its own stay those of one axis."""
    scale, found = real.operands[1], plain_properties(real)
    if not shape_of(scale) or op.name == "graph.permute_dims" or _blocks_of_rows(op, real) is not None:
        return True
    axis = found["axis"] % len(shape_of(real.operands[0]))
    return not found["block_size"] and (_moved_axis(op, axis) is not None or _repeating_axis(op, axis) is not None)


def _blocks_of_rows(op: Operation, real: DequantizeOp) -> tuple[int, ...] | None:
    """
    Returns the shape of scales after a reshape of integers whose every row has a scale. Rows become blocks of longer
    ones. It is `None` for other ops and other scales.
    """
    given, made = shape_of(real.operands[0]), shape_of(op.results[0])
    if not isinstance(op, ReshapeOp) or DYNAMIC_INDEX in (*given, *made) or min(*given, *made, 1) < 1:
        return None
    found, scales, rank = plain_properties(real), shape_of(real.operands[1]), len(given)
    axis, row = found["axis"] % max(rank, 1), given[-1] if given else 1
    if found["block_size"]:
        of_rows = axis == rank - 1 and scales == (*given[:-1], 1)
    else:
        of_rows = rank > 1 and axis == rank - 2 and prod(given[:-2]) == 1
    return (*made[:-1], made[-1] // row) if of_rows and made and not made[-1] % row else None


def _moved_axis(op: Operation, axis: int) -> int | None:
    """Returns the axis of the result that has the indices of an axis of the operand, or `None` where none has."""
    given, made, found = shape_of(op.operands[0]), shape_of(op.results[0]), plain_properties(op)
    match op:
        case PermuteDimsOp():
            order = tuple(reversed(range(len(given)))) if found["axes"] is None else found["axes"]
            moved = [each % len(given) for each in order].index(axis)
        case ExpandDimsOp():
            new = {each % len(made) for each in found["axis"]}
            moved = [each for each in range(len(made)) if each not in new][axis]
        case SqueezeOp():
            gone = range(len(given)) if found["axis"] is None else [each % len(given) for each in found["axis"]]
            left = [each for each in range(len(given)) if given[each] != 1 or each not in gone]
            moved = left.index(axis) if axis in left else -1
        case StridedSliceOp():
            moved = -1 if axis in [each % len(given) for each in found["axes"]] else axis
        case BroadcastToOp():
            moved = axis + len(made) - len(given)
        case ReshapeOp() if DYNAMIC_INDEX not in (*given, *made):
            before = prod(given[:axis])
            moved = next((each for each in range(len(made)) if prod(made[:each]) == before and made[each] != 1), -1)
        case _:
            moved = -1
    return moved if moved >= 0 and made[moved] == given[axis] != DYNAMIC_INDEX else None


def _repeating_axis(op: Operation, axis: int) -> int | None:
    """
    Returns the axis that a reshape makes of an axis and those before it, where the indices of the axis come again and
    again. Each serves many elements then, or it is `None`.
    """
    given, made = shape_of(op.operands[0]), shape_of(op.results[0])
    if not isinstance(op, ReshapeOp) or DYNAMIC_INDEX in (*given, *made) or 0 in given:
        return None
    end = prod(given[: axis + 1])
    for moved, extent in enumerate(made):
        if prod(made[: moved + 1]) == end and extent > given[axis] and not extent % given[axis]:
            return moved if extent * MANY <= prod(made) else None
    return None


@builder("moved-integers")
def moved_integers(match: Match, op: Operation, real: DequantizeOp) -> Sequence[SSAValue] | None:
    """A `graph.dequantize` of what `op` makes of integers."""
    return moved_conversion(match, op, real, op.results[0].type)


def moved_conversion(match: Match, op: Operation, real: DequantizeOp, type_: Attribute) -> Sequence[SSAValue] | None:
    """Returns a `graph.dequantize` of what `op` makes of integers, to a type. It is `None` where scales stay behind."""
    if not moves_scales(match, op, real):
        return None
    quantized, *points = real.operands
    moved = match.create(op.name, [quantized, *op.operands[1:]], None, op.properties).results[0]
    axis, block_size = (plain_properties(real)[name] for name in ("axis", "block_size"))
    if shape_of(points[0]):
        kept = None if block_size and isinstance(op, ReshapeOp) else _moved_axis(op, axis % len(shape_of(quantized)))
        rows = _blocks_of_rows(op, real) if kept is None else None
        if rows is not None:
            points = [_reshaped(match, each, rows) for each in points]
            kept, block_size = len(rows) - 1, shape_of(quantized)[-1]
        elif block_size:
            points = _moved_like(match, op, points)
        elif kept is None and (kept := _repeating_axis(op, axis % len(shape_of(quantized)))) is not None:
            points = [_repeated(match, each, shape_of(moved)[kept]) for each in points]
        if kept is None:
            return None
        axis = kept
    op_type: Any = type(real)
    properties = python_properties(op_type, {"axis": axis, "block_size": block_size})
    return match.create(real.name, [moved, *points], [type_], properties).results


def _moved_like(match: Match, op: Operation, points: Sequence[SSAValue]) -> list[SSAValue]:
    """Returns scales and zero points of blocks, moved as `op` moves the integers."""
    scale = match.create(op.name, [points[0]], None, op.properties).results[0]
    number = splat_number(points[1])
    if number is not None:
        return [scale, full(match, number, dtype_of(points[1]), shape_of(scale))]
    return [scale, match.create(op.name, [points[1]], None, op.properties).results[0]]


def _repeated(match: Match, value: SSAValue, count: int) -> SSAValue:
    """Returns the elements of a vector again and again, `count` in all."""
    number, (length,) = splat_number(value), shape_of(value)
    if number is not None:
        return full(match, number, dtype_of(value), (count,))
    return emit(match, "reshape", emit(match, "broadcast_to", value, shape=[count // length, length]), shape=[count])


def _reshaped(match: Match, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    number = splat_number(value)
    if number is not None:
        return full(match, number, dtype_of(value), shape)
    return emit(match, "reshape", value, shape=list(shape))


__all__ = ["FLIP", "full", "known_zero_point"]
