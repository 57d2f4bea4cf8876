"""The pass `merge-composite`: patterns that a code generator knows by name become functions of that name."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from .partition_by_pattern import outlined_matches, pattern_attributes


@dataclass(frozen=True)
class MergeCompositePass(StepwellPass):
    """
    Moves each match of a table of patterns into a composite function, which targets know by the name of the pattern.

    `table` is as for `partition-by-pattern`. Here an earlier pattern of the table gets all its matches before a later
    one is tried, even when matches of the later one are larger. A match whose inner ops are used outside is left alone,
    with a remark. Composite functions are atoms: `annotate-target` looks them up by name, and `inline-primitive` puts
    their bodies back.

    Before:
        %0 = graph.matmul %x, %w : …
        %1 = graph.add %0, %b : …
    After (`table=openblas`):
        %0 = func.call @openblas_matmul_add_0(%x, %w, %b) : …
        func.func private @openblas_matmul_add_0(…) attributes {graph.primitive,
            graph.composite = "openblas.matmul_add"} { … }

    Raises an error for a table that does not exist or is not valid.
    """

    name = "merge-composite"

    table: str
    bind_constants: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for made, entry in outlined_matches(ctx, op, self.table, self.bind_constants, larger_wins=False):
            made.attributes |= pattern_attributes(entry)
            self.count(entry.name)
