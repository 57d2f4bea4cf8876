"""The plan of an arena in which only some buffers may share bytes, for the search for a wrong one."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ...core.passes.applications import allowed, counted
from ...core.roles import aligned
from .arena import ArenaPlan, Lifetime, peak, plan_arena


def planned(lifetimes: Sequence[Lifetime], reuse: bool, offsets: Sequence[Operation]) -> ArenaPlan:
    """
    Returns the plan of `plan_arena`, in which buffers beyond the limit of applications have bytes of their own.

    `offsets` are the ops that say where each buffer lies. They tell the place of an application.
    """
    if not reuse or counted() is None:
        return plan_arena(lifetimes, reuse)
    shared = [allowed("buffer", f"buffer {number}", op) for number, op in enumerate(offsets)]
    first = plan_arena([each for each, may in zip(lifetimes, shared, strict=True) if may])
    within, end = iter(first.offsets), first.size
    found: list[int] = []
    for lifetime, may in zip(lifetimes, shared, strict=True):
        found.append(next(within) if may else end)
        end += 0 if may else aligned(lifetime.size)
    return ArenaPlan(tuple(found), end, peak(lifetimes))
