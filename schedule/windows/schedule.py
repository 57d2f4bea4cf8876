"""Reductions over windows in a module: each is recognised, decided and emitted."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ...core.ir.walk import ops_of
from ...dialects.tensor_loop import GridOp
from .apply import apply_window
from .plan import decide_window
from .window import window_of


def schedule_windows(module: ModuleOp) -> int:
    """
    Schedules all reductions over windows, and returns how many there are.

    They come before other grids, since those may be padded copies that windows can do without.
    """
    count = 0
    for grid in ops_of(module, GridOp):
        if grid.parent is None:
            continue  # It was a padded copy.
        window = window_of(grid)
        plan = None if window is None else decide_window(window)
        if window is not None and plan is not None:
            apply_window(window, plan)
            count += 1
    return count
