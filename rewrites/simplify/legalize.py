"""The pass `legalize`, and the table `elementary`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation

from ...core.messages.diagnostics import did_you_mean, emit_warning
from ...core.passes.base import StepwellPass
from ...dialects.graph.binary import MaximumOp, MultiplyOp
from ...dialects.graph.constants import FullOp
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import element_type
from ...patterns.language.functions import is_closed
from ...patterns.running.driver import REWRITES_OF_ONE_OP, Driver
from ...patterns.running.selection import check_limit
from .legalization import TABLES, Legalized, legalization, rules_of_table


@dataclass(frozen=True)
class LegalizePass(StepwellPass):
    """
    Replaces ops by the results of functions in a table, until no function applies.

    A table that nobody registered leaves everything as it is, with a warning. The new ops of a function are legalized
    again, and more than `limit` times in a row is an error. Fused functions are left alone.

    Before:
        %0 = graph.square %x : …
    After (table `elementary`):
        %0 = graph.multiply %x, %x : …

    Raises `PassFailedException` when a function gives a result of another type.
    """

    name = "legalize"

    table: str
    limit: int = REWRITES_OF_ONE_OP

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_limit(self.limit, self.name)
        if self.table not in TABLES:
            hint = did_you_mean(self.table, TABLES) or f"there is {', '.join(sorted(TABLES))}"
            emit_warning(op, f"no legalization table '{self.table}', nothing is legalized; {hint}")
            return
        rules = rules_of_table(self.table)
        Driver(ctx, rules, enter=lambda each: not is_closed(each), limit=self.limit).run(op)


@legalization("graph.square", table="elementary")
def _square(op: Operation) -> Legalized:
    """Returns `x * x`."""
    return MultiplyOp(op.operands[0], op.operands[0], result_types=[op.results[0].type])


@legalization("graph.relu", table="elementary")
def _relu(op: Operation) -> Legalized:
    """Returns `max(x, 0)`, NaN and the signs of zeros included."""
    zero = FullOp(0, TensorType(element_type(op.operands[0].type), []))
    return MaximumOp(op.operands[0], zero, result_types=[op.results[0].type])
