"""The moves in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Sequence

from ..move import Move
from ..subject import Program
from .ops import OPS, PARTS, DropArguments
from .regions import DETAILS, INSIDE
from .text import LINES, TYPES

PROGRAM_MOVES: Sequence[Move] = (*PARTS, *OPS, *INSIDE, DropArguments(), *DETAILS, *TYPES, *LINES)


def moves_for(program: Program) -> Sequence[Move]:
    """Returns the moves for a program. One that is not valid loses lines only."""
    return LINES if program.module is None else PROGRAM_MOVES
