"""
Arena planning: where in one block of memory each buffer lives, so that buffers alive at the same time never overlap.

Greedy by size: the largest buffer first, each at the lowest offset that is free during its whole life. That is close to
the lower bound (the most bytes alive at once) on chains, which is what graphs mostly are. It looks at all pairs, so
beyond `MOST_BY_SIZE` buffers they are placed in order of time instead, which looks at live ones only.
"""

from __future__ import annotations

from dataclasses import dataclass

ALIGNMENT = 64
"""Bytes; every buffer starts at a multiple."""

MOST_BY_SIZE = 2000
"""Buffers placed by size; more are placed by time."""


@dataclass(frozen=True)
class Lifetime:
    """A buffer of `size` bytes, alive from time `start` to time `end`, both included."""

    size: int
    start: int
    end: int

    def overlaps(self, other: Lifetime) -> bool:
        return self.start <= other.end and other.start <= self.end


@dataclass(frozen=True)
class ArenaPlan:
    """`offsets[i]` (bytes) is where buffer i lies; `size` is what the arena needs; `peak` is the lower bound."""

    offsets: tuple[int, ...]
    size: int
    peak: int


def aligned(size: int) -> int:
    """`size` rounded up to a multiple of `ALIGNMENT` bytes."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def plan_arena(lifetimes: list[Lifetime], reuse: bool = True) -> ArenaPlan:
    """Offsets for all buffers. Without `reuse` every buffer has bytes of its own: a debugging aid."""
    offsets = [0] * len(lifetimes)
    if not reuse:
        total = 0
        for i, lifetime in enumerate(lifetimes):
            offsets[i] = total
            total += aligned(lifetime.size)
        return ArenaPlan(tuple(offsets), total, _peak(lifetimes))
    place = _place_by_size if len(lifetimes) <= MOST_BY_SIZE else _place_by_time
    total = place(lifetimes, offsets)
    return ArenaPlan(tuple(offsets), total, _peak(lifetimes))


def _place_by_size(lifetimes: list[Lifetime], offsets: list[int]) -> int:
    """Fills `offsets`, largest buffer first; returns the size of the arena."""
    placed: list[int] = []
    total = 0
    for i in sorted(range(len(lifetimes)), key=lambda i: (-lifetimes[i].size, lifetimes[i].start, i)):
        neighbours = [j for j in placed if lifetimes[i].overlaps(lifetimes[j])]
        offsets[i] = _lowest_gap(aligned(lifetimes[i].size), neighbours, lifetimes, offsets)
        total = max(total, offsets[i] + aligned(lifetimes[i].size))
        placed.append(i)
    return total


def _place_by_time(lifetimes: list[Lifetime], offsets: list[int]) -> int:
    """Fills `offsets`, first buffer first; returns the size of the arena."""
    alive: list[int] = []
    total = 0
    for i in sorted(range(len(lifetimes)), key=lambda i: (lifetimes[i].start, -lifetimes[i].size, i)):
        alive = [j for j in alive if lifetimes[j].end >= lifetimes[i].start]
        offsets[i] = _lowest_gap(aligned(lifetimes[i].size), alive, lifetimes, offsets)
        total = max(total, offsets[i] + aligned(lifetimes[i].size))
        alive.append(i)
    return total


def _lowest_gap(size: int, neighbours: list[int], lifetimes: list[Lifetime], offsets: list[int]) -> int:
    """The lowest offset at which `size` bytes fit between `neighbours`."""
    offset = 0
    for low, high in sorted((offsets[j], offsets[j] + aligned(lifetimes[j].size)) for j in neighbours):
        if offset + size <= low:
            break
        offset = max(offset, high)
    return offset


def _peak(lifetimes: list[Lifetime]) -> int:
    """The most bytes alive at one time."""
    changes: dict[int, int] = {}
    for lifetime in lifetimes:
        size = aligned(lifetime.size)
        changes[lifetime.start] = changes.get(lifetime.start, 0) + size
        changes[lifetime.end + 1] = changes.get(lifetime.end + 1, 0) - size
    alive = peak = 0
    for time in sorted(changes):
        alive += changes[time]
        peak = max(peak, alive)
    return peak
