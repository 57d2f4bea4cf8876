"""
Cuts up depthwise convolutions and Winograd's filtering as the IR requests, by `stepwell.tiling` of a block
(`kernels/given_tiling.py`).
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ...core.roles import TILING
from ...dialects.schedule import WinogradAttr
from ...machine.machine import Machine
from ..kernels.contraction import Contraction
from ..kernels.given_tiling import refuse
from ..kernels.register_tiles import RegisterTile, fits, steps_at_once
from ..winograd.plan import Plan, Winograd, best_plan, blocks_of, plan_winograd, shares_of, winograd_of


def winograd_for(c: Contraction, target: Machine) -> tuple[Winograd, Plan] | None:
    """
    Returns how `c` is computed by Winograd's filtering, or `None` where it is not. A request of its block goes before
    the choice of `plan_winograd`.
    """
    found = c.block.attributes.get(TILING)
    if found is not None and not isinstance(found, WinogradAttr):
        return None
    w = winograd_of(c)
    if found is None:
        plan = None if w is None else plan_winograd(w, target)
    else:
        plan = None if w is None else _given_plan(w, found, target)
    return None if w is None or plan is None else (w, plan)


def _given_plan(w: Winograd, given: WinogradAttr, target: Machine) -> Plan:
    """Returns the plan that an attribute describes. Fails at the block where it does not fit."""
    plan = plan_of(w, given, target)
    reason = reason_against_plan(w, plan, target)
    if reason is not None:
        refuse(w.c.block, given, reason)
    return plan


def plan_of(w: Winograd, given: WinogradAttr, target: Machine) -> Plan:
    """Returns the plan with the numbers of `given`, where the tile is cut to the sizes that there are."""
    images, rows, tile_rows, tile_columns = given.numbers
    squares = images * rows * w.squares[1]
    tile = RegisterTile(min(tile_rows, squares), min(tile_columns, w.c.extent(w.c.n)))
    size = w.c.tile_element.size  # pyright: ignore[reportAttributeAccessIssue]
    steps = steps_at_once(tile, size, target)
    return replace(
        best_plan(w, target),
        images=images,
        rows=rows,
        tile=tile,
        parts=shares_of(w, (images, rows), target),
        steps=steps,
    )


def attribute_of_plan(plan: Plan) -> WinogradAttr:
    """Returns the attribute of a plan. It is the inverse of `plan_of`."""
    return WinogradAttr.of(plan.images, plan.rows, plan.tile.rows, plan.tile.columns)


def reason_against_plan(w: Winograd, plan: Plan, target: Machine) -> str | None:
    """Returns why `w` cannot be computed in that way for `target`, or `None` where it can."""
    if (plan.images, plan.rows) not in blocks_of(w):
        down = w.squares[0]
        expected = (
            f"a part of the {down} rows of squares of one image, or all of them of a part of the {w.images} images"
        )
        return f"a block has {plan.rows} rows of squares of {plan.images} images, expected {expected}"
    lanes = target.lanes(w.c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
    rows, columns = plan.tile.rows, plan.tile.columns
    if columns % lanes and columns < w.c.extent(w.c.n):
        return f"{columns} columns are no whole vectors of {lanes} elements"
    if not fits(rows, ceil(columns / lanes), target):
        return f"tiles of {rows}x{columns} elements take too many registers for '{target.name}'"
    return None
