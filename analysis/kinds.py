"""Defines the fusion kinds, and how the kinds of the stages of a computation make up its own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import IntEnum

from ..lazy_dataclass import dataclass
from .reduced_rows import Rows


class OpKind(IntEnum):
    """
    The kinds of ops, from the easiest to fuse to the hardest. A chain of ops that only move or map has the kind of its
    hardest op.
    """

    ELEMENTWISE = 0
    """A result element needs the elements of the operands at the same place. Dimensions of size 1 are ignored."""
    BROADCAST = 1
    """An elementwise op some of whose result dimensions are missing in every operand."""
    INJECTIVE = 2
    """A result element needs a known few elements anywhere: transposition, slices, concatenation."""
    REDUCTION = 3
    """The elements along whole dimensions are combined: nothing may run between the loop and its result."""
    OUT_FUSABLE = 4
    """A contraction, a window, or a reduction with more after it: elementwise ops may follow in the same kernel."""
    OPAQUE = 5
    """Nothing is known, the op may fail, or it reduces and has several results."""


@dataclass(frozen=True)
class OpFacts:
    """What fusion needs to know about an op."""

    kind: OpKind
    rows: Rows | None = None
    """The rows of its reductions. It is `None` when the op has no reduction, or when they go over different rows."""


OPAQUE_FACTS = OpFacts(OpKind.OPAQUE)


def kind_of_stages(kinds: Sequence[OpKind], shapes: Sequence[Hashable]) -> OpKind:
    """
    Returns the kind of a computation from the kinds of its stages, the last of which is a result, and from the shapes
    of its results. One with several results only maps elements, and moves them where the shapes differ.
    """
    if OpKind.OPAQUE in kinds:
        return OpKind.OPAQUE
    reductions = [kind for kind in kinds if kind >= OpKind.REDUCTION]
    if not reductions:
        return max(*kinds, OpKind.ELEMENTWISE if len(set(shapes)) == 1 else OpKind.INJECTIVE)
    if len(shapes) > 1:
        return OpKind.OPAQUE
    if kinds[-1] < OpKind.REDUCTION:
        return OpKind.OUT_FUSABLE
    return kinds[-1] if len(reductions) == 1 else OpKind.OPAQUE
