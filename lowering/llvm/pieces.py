"""
Cuts register tiles into pieces: a `vector<ROWSxCOLUMNSxT>` becomes several registers.

A row is cut into vectors of `LANES` elements, whatever their type, and a last, shorter one. So the pieces of all tiles
of one shape belong together. LLVM cuts them again where registers are narrower.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute

from ...dialects.tile.ops import LANES
from .types import MOST_LANES, TypeConverter, UnsupportedTypeError


class Piece(NamedTuple):
    """A part of a row of a tile."""

    row: int
    column: int
    lanes: int


def is_tile(type_: Attribute) -> bool:
    """Returns whether values of this type are taken apart."""
    return isinstance(type_, VectorType) and type_.get_num_dims() == 2


def pieces_of(tile: VectorType) -> list[Piece]:
    """Returns the pieces of a tile, row by row. Raises `UnsupportedTypeError` for one that has too many elements."""
    rows, columns = tile.get_shape()
    if rows * columns > MOST_LANES:
        raise UnsupportedTypeError(f"type {tile} has {rows * columns} elements; a tile has at most {MOST_LANES}")
    return [
        Piece(row, column, min(LANES, columns - column)) for row in range(rows) for column in range(0, columns, LANES)
    ]


def piece_types(types: TypeConverter, type_: Attribute) -> list[Attribute]:
    """Returns the types of the values that stand for one of `type_`."""
    if not is_tile(type_):
        return [types.convert(type_)]
    assert isinstance(type_, VectorType)
    element = types.convert(type_.element_type)
    return [types.vector(element, piece.lanes) for piece in pieces_of(type_)]
