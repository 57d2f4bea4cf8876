"""Reductions over windows: each is recognised and decided."""

from __future__ import annotations

from ...dialects.tensor_loop import GridOp
from .plan import WindowPlan, decide_window
from .window import Window, window_of


def planned_window(grid: GridOp) -> tuple[Window, WindowPlan] | None:
    """Returns the reduction over windows that `grid` is, and how it is scheduled, or `None` for any other grid."""
    window = window_of(grid)
    plan = None if window is None else decide_window(window)
    return None if window is None or plan is None else (window, plan)
