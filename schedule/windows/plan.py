"""Decides how a reduction over windows runs."""

from __future__ import annotations

from math import prod

from ...lazy_dataclass import dataclass
from .window import Side, Window

MOST_TAPS = 32
"""The most taps whose loads are written out one after the other. More would not stay in the decoded-op cache."""

LEAST_VECTOR = 4
"""The least extent of a loop of vectors, as in the default order of loops."""


CHUNKS = (64, 48, 32, 16)
"""The vectors of channels that a row of combinations holds, the first that divides the channels."""

ROW_COST = 2
"""What a row of combinations costs for each result beside its taps: a store and a load."""


@dataclass(frozen=True)
class WindowPlan:
    """The way in which a window is reduced. `vector` is the axis of the loop of vectors."""

    vector: int
    row: Side | None
    """The side whose taps are combined from a row of combinations over the other sides, `None` without such a row."""
    unrolled: tuple[Side, ...]
    """The sides whose taps are written out."""
    chunk: int
    """The elements of `vector` that a row holds for each pixel, 0 where `vector` moves along the row."""
    reason: str


def decide_window(window: Window) -> WindowPlan | None:
    """
    Returns how a window is reduced, `None` where the default order of loops is as good.

    With channels last each vector of channels takes all taps one after the other. With channels first, or where there
    are many taps, a row of the image is combined over the other sides of the window at first. What is left are windows
    of one dimension on that row. So a window of 13×13 takes 26 steps, not 169, and no load is masked.
    """
    if 0 in window.extents or prod(side.size for side in window.sides) == 0 or window.taps == 1:
        return None
    axis = next((axis for axis in _vector_axes(window) if window.out.stride_along(axis) == 1), None)
    if axis is not None:
        return _by_channels(window, axis) if window.extents[axis] >= LEAST_VECTOR else None
    row = next((side for side in window.sides if window.image.stride_along(side.tap) == side.apart), None)
    if row is None or window.out.stride_along(row.axis) != 1 or row.outputs < LEAST_VECTOR:
        return None
    return WindowPlan(row.axis, row, _unrolled(_others(window, row)), 0, "rows are combined before windows on them")


def _vector_axes(window: Window) -> list[int]:
    """Returns the axes whose neighbours are neighbours in the image, and may be taken side by side."""
    single = [side.axis for side in window.sides if side.taps == 1 and not side.is_guarded]
    return [axis for axis in (*window.free, *single) if window.image.stride_along(axis) == 1]


def _by_channels(window: Window, axis: int) -> WindowPlan:
    """Returns the plan whose vectors run along `axis`, by rows where that saves a third of the steps or more."""
    chunk = next((chunk for chunk in CHUNKS if window.extents[axis] % chunk == 0), 0)
    row = next((side for side in reversed(window.sides) if side.taps > 1), window.sides[-1])
    others = _others(window, row)
    columns = -(-prod(side.taps for side in others) * row.size // max(row.outputs, 1))
    steps = columns + row.taps + ROW_COST
    if chunk and 3 * steps <= 2 * window.taps:
        return WindowPlan(axis, row, _unrolled(others), chunk, f"{steps} steps by rows, {window.taps} by windows")
    return WindowPlan(axis, None, _unrolled(window.sides), 0, "neighbours in memory are in different windows")


def _others(window: Window, row: Side) -> tuple[Side, ...]:
    return tuple(side for side in window.sides if side is not row)


def _unrolled(sides: tuple[Side, ...]) -> tuple[Side, ...]:
    """Returns the last sides whose taps together are few enough."""
    kept: tuple[Side, ...] = ()
    for side in reversed(sides):
        if prod(each.taps for each in (side, *kept)) > MOST_TAPS:
            break
        kept = (side, *kept)
    return kept
