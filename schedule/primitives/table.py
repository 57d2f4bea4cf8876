"""The primitives: each module whose functions are steps has its name here."""

from __future__ import annotations

from ...dialects.schedule.ops import STEPS
from . import cut, inline, layout, marks, move, queries, reduction, reindex, reshape, sampling, staging, tensorize
from .steps import PRIMITIVES as PRIMITIVES
from .steps import Primitive

MODULES = (cut, inline, layout, marks, move, queries, reduction, reindex, reshape, sampling, staging, tensorize)


def all_primitives() -> list[Primitive]:
    """Returns the primitives in the order of the ops of the dialect."""
    return [PRIMITIVES[op_type] for op_type in STEPS]
