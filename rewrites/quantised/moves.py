"""Conditions and builders of `integer_arithmetic.mlir`: signs and moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from ...dialects.graph.base import plain_properties, python_properties
from ...dialects.graph.constants import FullOp
from ...dialects.graph.quantisation import DequantizeOp, QuantizeOp
from ...dialects.graph.shapes import Shaped
from ...dialects.graph.signature import tensor_type
from ...patterns.language.constants import splat_number
from ...patterns.language.match import Index, Match, Session, as_value
from ...patterns.language.registry import Thing, builder, condition
from ...te.dtypes import TABLE, is_integer, is_small_integer
from ..inference.quantisation import dtype_of, shape_of

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
"""Ops each of whose results is an element of the first operand."""


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
    value = as_value(thing)
    while isinstance(op := value.owner, Operation) and op.name in MOVES:
        value = op.operands[0]
    return isinstance(op, QuantizeOp) and splat_number(op.operands[2]) is not None and _is_only_dequantized(value)


def _is_only_dequantized(value: SSAValue) -> bool:
    """Returns whether all users dequantize by a zero point that is known, or move elements for such users."""
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if user.name in MOVES and use.index == 0:
                pending += user.results
            elif not isinstance(user, DequantizeOp) or splat_number(user.operands[2]) is None:
                return False
    return True


@builder("signed-bytes")
def signed_bytes(match: Match, op: DequantizeOp, quantized: Thing) -> Sequence[SSAValue]:
    """The same conversions, and moves between them, through signed bytes."""
    signed = match.session.index(_Signed).of(match, as_value(quantized))
    return (_with_sign(match, op, signed, op.results[0].type),)


class _Signed(Index):
    """The signed bytes that stand for unsigned ones. Each stands behind those, where all their users find it."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._made: dict[SSAValue, SSAValue] = {}
        self._sources: dict[Operation, Operation] = {}
        """What each new op that is in no block yet stands for."""

    def of(self, match: Match, value: SSAValue) -> SSAValue:
        """Returns the signed bytes for what a `graph.quantize` makes, or for what has been moved from there."""
        waiting: list[Operation] = []
        while (signed := self._known(match, value)) is None and not isinstance(value.owner, QuantizeOp):
            assert isinstance(value.owner, Operation)
            waiting.append(value.owner)
            value = value.owner.operands[0]
        if signed is None:
            assert isinstance(value.owner, QuantizeOp)
            signed = self._note(value.owner, _with_sign(match, value.owner, value.owner.operands[0], None))
        for move in reversed(waiting):
            made = match.create(move.name, [signed, *move.operands[1:]], None, move.properties)
            signed = self._note(move, made.results[0])
        return signed

    def _known(self, match: Match, value: SSAValue) -> SSAValue | None:
        signed = self._made.get(value)
        op = None if signed is None else signed.owner
        return signed if isinstance(op, Operation) and (op.parent is not None or op in match.new_ops) else None

    def _note(self, source: Operation, signed: SSAValue) -> SSAValue:
        assert isinstance(signed.owner, Operation)
        self._made[source.results[0]] = signed
        self._sources[signed.owner] = source
        return signed

    def inserted(self, op: Operation) -> None:
        """Moves an op behind the one that it stands for."""
        source = self._sources.pop(op, None)
        if source is not None and source.parent is not None:
            op.detach()
            source.parent.insert_op_after(op, source)


def _with_sign(match: Match, op: Operation, x: SSAValue, type_: Any) -> SSAValue:
    """Returns the conversion `op` of `x` with a zero point less 128."""
    scale, zero = op.operands[1:]
    number = splat_number(zero)
    assert number is not None
    moved = full(match, int(number) - FLIP, "i8", shape_of(zero))
    types = None if type_ is None else [type_]
    return match.create(op.name, [x, scale, moved], types, op.properties).results[0]


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
    """One scale serves all elements, or the op is a `graph.permute_dims`."""
    return not shape_of(real.operands[1]) or op.name == "graph.permute_dims"


@builder("moved-integers")
def moved_integers(match: Match, op: Operation, real: DequantizeOp) -> Sequence[SSAValue] | None:
    """A `graph.dequantize` of what `op` makes of integers."""
    if not moves_scales(match, op, real):
        return None
    quantized, scale, zero = real.operands
    moved = match.create(op.name, [quantized, *op.operands[1:]], None, op.properties).results[0]
    axis, block_size = (plain_properties(real)[name] for name in ("axis", "block_size"))
    if block_size:
        scale = match.create(op.name, [scale], None, op.properties).results[0]
        number = splat_number(zero)
        if number is None:
            zero = match.create(op.name, [zero], None, op.properties).results[0]
        else:
            zero = full(match, number, dtype_of(zero), shape_of(scale))
    if shape_of(scale):
        rank = len(shape_of(quantized))
        axes = plain_properties(op)["axes"]
        order = tuple(reversed(range(rank))) if axes is None else tuple(each % rank for each in axes)
        axis = order.index(axis % rank)
    op_type: Any = type(real)
    properties = python_properties(op_type, {"axis": axis, "block_size": block_size})
    return match.create(real.name, [moved, scale, zero], [op.results[0].type], properties).results


__all__ = ["FLIP", "full", "known_zero_point"]
