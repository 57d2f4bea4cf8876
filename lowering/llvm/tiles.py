"""
Register tiles: how a `vector<ROWSxCOLUMNSxT>` is cut into registers.

A row is cut into vectors of 16 elements, whatever their type, so that the pieces of all tiles of one shape belong together, and a last,
shorter one. LLVM cuts them again where registers are narrower.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType
from xdsl.ir import Attribute, SSAValue

from .builder import Builder

LANES = 16


class Piece(NamedTuple):
    """A part of a row of a tile."""

    row: int
    column: int
    lanes: int


def is_tile(type_: Attribute) -> bool:
    """Whether values of this type are taken apart."""
    return isinstance(type_, VectorType) and type_.get_num_dims() == 2


def pieces_of(tile: VectorType) -> list[Piece]:
    """The pieces of a tile, row by row."""
    rows, columns = tile.get_shape()
    return [
        Piece(row, column, min(LANES, columns - column)) for row in range(rows) for column in range(0, columns, LANES)
    ]


def piece_types(builder: Builder, type_: Attribute) -> list[Attribute]:
    """The types of the values that stand for one of `type_`."""
    if not is_tile(type_):
        return [builder.types.convert(type_)]
    assert isinstance(type_, VectorType)
    element = builder.types.convert(type_.element_type)
    return [builder.types.vector(element, piece.lanes) for piece in pieces_of(type_)]


def convert_splat(builder: Builder, op: arith.ConstantOp) -> None:
    """A constant tile, all elements of which are one number."""
    assert isinstance(op.result.type, VectorType)
    if not isinstance(op.value, DenseIntOrFPElementsAttr) or not op.value.is_splat():
        builder.error("a constant tile must be a splat")
        return
    made: dict[Attribute, SSAValue] = {}
    number = op.value.get_values()[0]
    for type_ in dict.fromkeys(piece_types(builder, op.result.type)):
        if isinstance(number, float):
            made[type_] = builder.float_constant(number, type_)
        else:
            assert isinstance(number, int)
            made[type_] = builder.constant(number, type_)
    builder.pieces[op.result] = [made[type_] for type_ in piece_types(builder, op.result.type)]


def group_pieces(builder: Builder, sources: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
    """Lets `values`, pieces and whole values in order, stand for `sources`."""
    rest = iter(values)
    for source in sources:
        if is_tile(source.type):
            assert isinstance(source.type, VectorType)
            builder.pieces[source] = [next(rest) for _ in pieces_of(source.type)]
        else:
            builder.bind(source, next(rest))
