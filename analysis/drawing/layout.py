"""
The layout of the boxes of `stepwell-show`: layers from top to bottom, few crossings, short lines.

The method of Sugiyama, Tagawa and Toda (IEEE Transactions on Systems, Man, and Cybernetics 11(2), 1981): layers by the
longest path, points where lines cross layers, an order in each layer by the mean place of the neighbours, then places
that keep the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ...lazy_dataclass import dataclass

SWEEPS = 8
GAP, LAYER_GAP = 24.0, 34.0
"""The space between boxes in a row, and between rows, in units of the drawing."""

LONGEST_ROUTE = 40
"""The layers that a line is led through. A longer one goes straight, beside its boxes."""

POINT_WIDTH = 10.0


@dataclass
class Layout:
    """The centre of each box, the points of each line from box to box (both ends included), and the size of all."""

    x: list[float]
    y: list[float]
    lines: list[list[tuple[float, float]]]
    width: float
    height: float


@dataclass
class _Layers:
    """Boxes and points on lines, as numbers; boxes come first."""

    rows: list[list[int]]
    row_of: list[int]
    widths: list[float]
    above: list[list[int]]
    below: list[list[int]]
    routes: list[list[int]] = field(default_factory=list)


def layout(sizes: Sequence[tuple[float, float]], arrows: Sequence[tuple[int, int]]) -> Layout:
    """Places for boxes of these widths and heights, with arrows from lower numbers to higher ones."""
    layers = _layers(sizes, arrows)
    _order(layers)
    x = _places(layers)
    left = min((place - width / 2 for place, width in zip(x, layers.widths, strict=True)), default=0.0)
    x = [place - left + GAP for place in x]
    top, y, spans = GAP, [0.0] * len(x), list[tuple[float, float]]()
    heights = [size[1] for size in sizes]
    for row in layers.rows:
        height = max((heights[node] for node in row if node < len(sizes)), default=0.0)
        for node in row:
            y[node] = top + height / 2
        spans.append((top, top + height))
        top += height + LAYER_GAP
    lines = []
    for route in layers.routes:
        first, last = route[0], route[-1]
        points = [(x[first], y[first] + heights[first] / 2)]
        for node in route[1:-1]:  # straight past the boxes of a row
            points += [(x[node], end) for end in spans[layers.row_of[node]]]
        lines.append([*points, (x[last], y[last] - heights[last] / 2)])
    width = max((place + width / 2 for place, width in zip(x, layers.widths, strict=True)), default=0.0) + GAP
    count = len(sizes)
    return Layout(x[:count], y[:count], lines, width, top - LAYER_GAP + GAP)


def _layers(sizes: Sequence[tuple[float, float]], arrows: Sequence[tuple[int, int]]) -> _Layers:
    count = len(sizes)
    depth = [0] * count
    users: list[list[int]] = [[] for _ in range(count)]
    for one, other in sorted(arrows, key=lambda arrow: arrow[1]):
        depth[other] = max(depth[other], depth[one] + 1)
        users[one].append(other)
    for node in range(count - 1, -1, -1):  # what has nothing before it goes down to who uses it
        if users[node] and not any(other == node for _, other in arrows):
            depth[node] = min(depth[user] for user in users[node]) - 1
    made = _Layers([], depth, [size[0] for size in sizes], [[] for _ in sizes], [[] for _ in sizes])
    for one, other in arrows:
        made.routes.append(_route(made, one, other))
    made.rows = [[] for _ in range(max(made.row_of, default=-1) + 1)]
    for node, row in enumerate(made.row_of):
        made.rows[row].append(node)
    return made


def _route(layers: _Layers, one: int, other: int) -> list[int]:
    """The points of a line, new ones in the layers between."""
    first, last = layers.row_of[one], layers.row_of[other]
    route = [one]
    for row in range(first + 1, last) if last - first <= LONGEST_ROUTE else ():
        route.append(len(layers.row_of))
        layers.row_of.append(row)
        layers.widths.append(POINT_WIDTH)
        layers.above.append([])
        layers.below.append([])
    route.append(other)
    for a, b in zip(route, route[1:], strict=False):
        layers.below[a].append(b)
        layers.above[b].append(a)
    return route


def _order(layers: _Layers) -> None:
    """Orders each row by where the neighbours in the row before (then after) stand."""
    position = {node: index for row in layers.rows for index, node in enumerate(row)}
    best, fewest = [list(row) for row in layers.rows], _crossings(layers, position)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        neighbours = layers.above if down else layers.below
        for row in layers.rows if down else reversed(layers.rows):

            def mean(node: int) -> float:
                near = neighbours[node]  # noqa: B023
                return sum(position[each] for each in near) / len(near) if near else float(position[node])

            row.sort(key=mean)
            for index, node in enumerate(row):
                position[node] = index
        found = _crossings(layers, position)
        if found < fewest:
            best, fewest = [list(row) for row in layers.rows], found
    layers.rows = best


def _crossings(layers: _Layers, position: dict[int, int]) -> int:
    total = 0
    for row in layers.rows:
        ends = [
            position[end]
            for node in sorted(row, key=position.__getitem__)
            for end in sorted(layers.below[node], key=position.__getitem__)
        ]
        total += sum(1 for i, end in enumerate(ends) for other in ends[i + 1 :] if other < end)
    return total


def _places(layers: _Layers) -> list[float]:
    """The x of all nodes: each row left to right, then towards the neighbours as far as the row allows."""
    x = [0.0] * len(layers.row_of)
    for row in layers.rows:
        at = 0.0
        for node in row:
            x[node] = at + layers.widths[node] / 2
            at += layers.widths[node] + GAP
    for sweep in range(2 * SWEEPS):
        down = sweep % 2 == 0
        neighbours = layers.above if down else layers.below
        for row in layers.rows if down else reversed(layers.rows):
            wanted = [
                sum(x[each] for each in neighbours[node]) / len(neighbours[node]) if neighbours[node] else x[node]
                for node in row
            ]
            for node, place in zip(row, _apart(wanted, [layers.widths[node] for node in row]), strict=True):
                x[node] = place
    return x


def _apart(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """
    Places as near to those `wanted` as can be (least squares) that keep the order and do not overlap: pools of adjacent
    violators.
    """
    offsets, total = [], 0.0
    for index, width in enumerate(widths):
        total += (widths[index - 1] / 2 + GAP + width / 2) if index else 0.0
        offsets.append(total)
    pools: list[tuple[float, int]] = []  # sum of what its members want, less their offsets; how many
    for place, offset in zip(wanted, offsets, strict=True):
        pools.append((place - offset, 1))
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            (a, m), (b, n) = pools[-2:]
            pools[-2:] = [(a + b, m + n)]
    starts = [start / count for start, count in pools for _ in range(count)]
    return [start + offset for start, offset in zip(starts, offsets, strict=True)]
