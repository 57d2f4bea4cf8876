"""The moves in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Sequence

from ..move import Move
from ..onnx_model import Model
from ..subject import Program, Subject
from .blocks import KeepBlock
from .onnx_model import MODEL_MOVES
from .ops import OPS, PARTS, DropArguments
from .regions import DETAILS, INSIDE
from .text import LINES, TYPES

PROGRAM_MOVES: Sequence[Move] = (KeepBlock(), *PARTS, *OPS, *INSIDE, DropArguments(), *DETAILS, *TYPES, *LINES)


def moves_for(subject: Subject) -> Sequence[Move]:
    """Returns the moves for a program or a model. Text that cannot be parsed loses lines only."""
    if isinstance(subject, Model):
        return MODEL_MOVES
    return LINES if isinstance(subject, Program) and subject.module is None else PROGRAM_MOVES
