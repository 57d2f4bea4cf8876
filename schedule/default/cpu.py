"""The pass `schedule-cpu`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from .apply_schedule_plan import ApplySchedulePlanPass
from .plan_schedules import PlanSchedulesPass


@dataclass(frozen=True)
class ScheduleCPUPass(StepwellPass):
    """
    Orders the loops of each grid so that the innermost one walks through memory, and marks it `vectorized` where it
    may. It is `plan-schedules{prepack=false}` and `apply-schedule-plan` in a row.

    Before:

        tensor_loop.grid (%i, %j, %k) in (128, 10, 784) { <matmul> }

    After:

        tensor_loop.for %i in 128 {
          tensor_loop.for %k in 784 {
            tensor_loop.for %j in 10 vectorized { <matmul> } } }

    Grids that are not a perfect nest around one block are left as they are. So are blocks with asserts or ops other
    than loads, stores and arithmetic, and single loops, which have been scheduled. Float sums are marked only if their
    additions carry `fastmath<reassoc>`. Running it twice changes nothing.

    Copies that turn an array move tiles of 16x16 elements (`products/transpose.py`). Loops over the same rows become
    one loop (`rows/schedule.py`) that takes several rows at a time (`rows/several.py`). Maxima before an exponential do
    not look at the sign of zeros (`rows/maxima.py`).

    A convolution reads its image without a padded copy where taps outside can be left out (`products/borders.py`).

    A contraction whose block has `stepwell.tiling = #schedule.tiling<...>` is cut up by that attribute
    (docs/tuning.md). A tiling that does not fit is an error.

    `target` names the machine to schedule for (docs/targets.md), or that of the pass context when left out. `flush`
    says which products of bf16 may take numbers below 2**-126 for zeros, as AMX does: `none`, those with `weights` that
    are laid out once, or `all`.
    """

    name = "schedule-cpu"

    target: str | None = None
    flush: str = "none"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PlanSchedulesPass(self.target, prepack=False, flush=self.flush).apply(ctx, op)
        ApplySchedulePlanPass(self.target, self.flush).apply(ctx, op)
