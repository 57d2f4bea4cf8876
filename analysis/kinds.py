"""The fusion kinds, and how the kinds of the stages of a computation make up its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from .reduced_rows import Rows


class OpKind(IntEnum):
    """From the easiest to fuse to the hardest; a chain of ops that only move or map is as hard as its hardest."""

    ELEMENTWISE = 0
    """A result element needs the elements of the operands at the same place. Dimensions of size 1 are ignored."""
    BROADCAST = 1
    """As before, but some result dimensions are missing in every operand."""
    INJECTIVE = 2
    """A result element needs a known few elements anywhere: transposition, slices, concatenation."""
    REDUCTION = 3
    """The elements along whole dimensions are combined: nothing may run between the loop and its result."""
    OUT_FUSABLE = 4
    """A contraction, a window, or a reduction with more after it: elementwise ops may follow in the same kernel."""
    OPAQUE = 5
    """Nothing is known, the op may fail, or it has several results."""


@dataclass(frozen=True)
class OpFacts:
    """What fusion needs to know about an op."""

    kind: OpKind
    rows: Rows | None = None
    """Of its reductions, when all go over the same rows; None too when it has none."""


OPAQUE_FACTS = OpFacts(OpKind.OPAQUE)


def kind_of_stages(kinds: Sequence[OpKind]) -> OpKind:
    """The kind of a computation with one result from the kinds of its stages, the last of which is the result."""
    if OpKind.OPAQUE in kinds:
        return OpKind.OPAQUE
    reductions = [kind for kind in kinds if kind >= OpKind.REDUCTION]
    if not reductions:
        return max(kinds)
    if kinds[-1] < OpKind.REDUCTION:
        return OpKind.OUT_FUSABLE
    return kinds[-1] if len(reductions) == 1 else OpKind.OPAQUE
