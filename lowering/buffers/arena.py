"""
Plans the arena: where in one block of memory each buffer lies, so that buffers alive at the same time never overlap.

The least memory is an instance of dynamic storage allocation, which is NP-hard. The lower bound is the most bytes alive
at one time. Buffers are placed one after the other, each at the lowest offset that is free during its whole life. They
are placed in several orders: by time, by bytes times duration, and by size and by breadth. The last two follow
Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020. The order with the smallest arena
wins. While it is above the bound, some more rounds place buffers earlier that end at the top. The first order that
meets the bound ends the search. The same buffers always give the same plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from ...core.roles import aligned
from ...lazy_dataclass import dataclass

MOST_BY_SIZE = 2000
"""
The most buffers that are placed in several orders, which looks at all pairs.

More buffers are placed by time only, which looks at live ones only.
"""

ROUNDS = 200
"""The number of attempts at a better order after the fixed ones."""

ROUNDS_HIGHEST_FIRST = 150
"""
The part of these rounds that moves what ends at the top to the front, whether that helps at once or not.

The other rounds change the best order.
"""

MOST_COMPARISONS = 2_000_000
"""The pairs of neighbours that are looked at before the search ends with its best order. They take about a second."""


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
    """The place of each buffer: `offsets[i]` in bytes. The arena needs `size` bytes, and `peak` is the lower bound."""

    offsets: tuple[int, ...]
    size: int
    peak: int


def plan_arena(lifetimes: Sequence[Lifetime], reuse: bool = True) -> ArenaPlan:
    """Returns offsets for all buffers. Without `reuse` every buffer has bytes of its own: a debugging aid."""
    bound = peak(lifetimes)
    if not reuse:
        offsets: list[int] = []
        total = 0
        for lifetime in lifetimes:
            offsets.append(total)
            total += aligned(lifetime.size)
        return ArenaPlan(tuple(offsets), total, bound)
    placed = _by_time(lifetimes) if len(lifetimes) > MOST_BY_SIZE else _best(lifetimes, bound)
    return ArenaPlan(tuple(placed), _top(lifetimes, placed), bound)


def peak(lifetimes: Sequence[Lifetime]) -> int:
    """Returns the most bytes alive at one time, sizes rounded up to the alignment: no plan needs less."""
    changes: dict[int, int] = {}
    for lifetime in lifetimes:
        size = aligned(lifetime.size)
        changes[lifetime.start] = changes.get(lifetime.start, 0) + size
        changes[lifetime.end + 1] = changes.get(lifetime.end + 1, 0) - size
    alive = most = 0
    for time in sorted(changes):
        alive += changes[time]
        most = max(most, alive)
    return most


def _top(lifetimes: Sequence[Lifetime], offsets: Sequence[int]) -> int:
    return max((offset + aligned(one.size) for offset, one in zip(offsets, lifetimes, strict=True)), default=0)


def _by_time(lifetimes: Sequence[Lifetime]) -> list[int]:
    """Returns offsets, first buffer first."""
    offsets = [0] * len(lifetimes)
    alive: list[int] = []
    for i in sorted(range(len(lifetimes)), key=lambda i: (lifetimes[i].start, -lifetimes[i].size, i)):
        alive = [j for j in alive if lifetimes[j].end >= lifetimes[i].start]
        taken = [(offsets[j], offsets[j] + aligned(lifetimes[j].size)) for j in alive]
        offsets[i] = _lowest_gap(aligned(lifetimes[i].size), taken)
        alive.append(i)
    return offsets


def _best(lifetimes: Sequence[Lifetime], bound: int) -> list[int]:
    """Returns the offsets of the order that needs the least memory."""
    neighbours = _neighbours(lifetimes)
    pairs = sum(map(len, neighbours)) + len(lifetimes)
    budget = MOST_COMPARISONS
    best_order: list[int] = []
    best, best_top = [0] * len(lifetimes), -1
    for order in _orders(lifetimes, neighbours):
        offsets = _place(lifetimes, neighbours, order)
        top = _top(lifetimes, offsets)
        if best_top < 0 or top < best_top:
            best_order, best, best_top = order, offsets, top
        budget -= pairs
        if best_top == bound or budget < 0:
            return best
    generator = Random(0)
    order, offsets = best_order, best
    for round_ in range(ROUNDS):
        if round_ < ROUNDS_HIGHEST_FIRST:
            order = _highest_first(lifetimes, order, offsets)
        else:
            order = _with_highest_earlier(lifetimes, best_order, best, generator)
        offsets = _place(lifetimes, neighbours, order)
        top = _top(lifetimes, offsets)
        if top <= best_top:
            best_order, best, best_top = order, offsets, top
        budget -= pairs
        if best_top == bound or budget < 0:
            break
    return best


def _neighbours(lifetimes: Sequence[Lifetime]) -> list[list[int]]:
    """Returns for each buffer those that are alive at some time with it."""
    neighbours: list[list[int]] = [[] for _ in lifetimes]
    alive: list[int] = []
    for i in sorted(range(len(lifetimes)), key=lambda i: lifetimes[i].start):
        alive = [j for j in alive if lifetimes[j].end >= lifetimes[i].start]
        for j in alive:
            neighbours[i].append(j)
            neighbours[j].append(i)
        alive.append(i)
    return neighbours


def _orders(lifetimes: Sequence[Lifetime], neighbours: list[list[int]]) -> Iterator[list[int]]:
    """Yields orders to place the buffers in, each with every buffer once."""
    indices = range(len(lifetimes))

    def duration(i: int) -> int:
        return lifetimes[i].end - lifetimes[i].start + 1

    def breadth(i: int) -> int:
        return lifetimes[i].size + sum(lifetimes[j].size for j in neighbours[i])

    yield sorted(indices, key=lambda i: (-lifetimes[i].size, lifetimes[i].start, i))
    yield sorted(indices, key=lambda i: (-lifetimes[i].size, -duration(i), i))
    yield sorted(indices, key=lambda i: (lifetimes[i].start, -lifetimes[i].size, i))
    yield sorted(indices, key=lambda i: (-lifetimes[i].size * duration(i), i))
    yield sorted(indices, key=lambda i: (-duration(i), -lifetimes[i].size, i))
    yield sorted(indices, key=lambda i: (-lifetimes[i].end, -lifetimes[i].size, i))
    yield sorted(indices, key=lambda i: (-breadth(i), -lifetimes[i].size, i))


def _highest_first(lifetimes: Sequence[Lifetime], order: list[int], offsets: Sequence[int]) -> list[int]:
    """Returns `order` with the buffers that end at the top of the arena moved to its front."""
    top = _top(lifetimes, offsets)
    highest = [i for i in order if offsets[i] + aligned(lifetimes[i].size) == top]
    return highest + [i for i in order if i not in highest]


def _with_highest_earlier(
    lifetimes: Sequence[Lifetime], order: list[int], offsets: list[int], generator: Random
) -> list[int]:
    """Returns `order` with one buffer that ends at the top of the arena moved to an earlier place."""
    top = _top(lifetimes, offsets)
    highest = [k for k, i in enumerate(order) if offsets[i] + aligned(lifetimes[i].size) == top]
    position = generator.choice(highest)
    moved = order[:position] + order[position + 1 :]
    moved.insert(generator.randint(0, position), order[position])
    return moved


def _place(lifetimes: Sequence[Lifetime], neighbours: list[list[int]], order: Sequence[int]) -> list[int]:
    """Returns offsets, with each buffer of `order` at the lowest place that those before it leave."""
    offsets = [-1] * len(lifetimes)
    for i in order:
        taken = [(offsets[j], offsets[j] + aligned(lifetimes[j].size)) for j in neighbours[i] if offsets[j] >= 0]
        offsets[i] = _lowest_gap(aligned(lifetimes[i].size), taken)
    return offsets


def _lowest_gap(size: int, taken: list[tuple[int, int]]) -> int:
    """Returns the lowest offset at which `size` bytes fit beside those `taken` (from, to)."""
    offset = 0
    for low, high in sorted(taken):
        if offset + size <= low:
            break
        offset = max(offset, high)
    return offset
