"""
Observers: from the statistics of a value to the range that its bytes cover.

What lies outside of the range saturates. A narrow range has fine steps and saturates more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..calibration.statistics import TensorStatistics
from .grids import Grid, grid_of

Array = np.ndarray[Any, Any]

Range = tuple[float, float]

LEAST_PROBABILITY: Final = 1e-9
"""What the quantised distribution gives to data that it does not know."""

SHARES: Final = tuple(number / 64 for number in range(20, 65))
"""The parts of the full range that are tried by observers that search."""


def observed_grid(statistics: TensorStatistics, observer: str, percentile: float, *, symmetric: bool) -> Grid:
    """Returns the grid of a value with finite elements."""
    if observer == "percentile":
        low, high = statistics.percentile(100 - percentile), statistics.percentile(percentile)
        return _covering(low, high, symmetric=symmetric)
    if observer == "moving-average":
        return _covering(statistics.batch_minimum, statistics.batch_maximum, symmetric=symmetric)
    if observer == "mse":
        return _searched(statistics, _squared_error, *_bins(statistics), symmetric=symmetric)
    if observer == "entropy":
        centres, counts = _bins(statistics)
        others = np.abs(centres) > statistics.histogram.width / 2 if statistics.histogram else ()
        return _searched(statistics, _divergence, centres[others], counts[others], symmetric=symmetric)
    return _covering(statistics.minimum, statistics.maximum, symmetric=symmetric)


def _covering(low: float | None, high: float | None, *, symmetric: bool) -> Grid:
    assert low is not None and high is not None
    return grid_of(float(low), float(high), symmetric=symmetric)


def outside(statistics: TensorStatistics, grid: Grid) -> float:
    """Returns the part of the finite elements that lie outside of a grid, from the histogram."""
    if statistics.histogram is None:
        return 0.0
    centres, counts = _bins(statistics)
    half = grid.scale / 2
    return float(counts[(centres < grid.low - half) | (centres > grid.high + half)].sum() / counts.sum())


def _bins(statistics: TensorStatistics) -> tuple[Array, Array]:
    """Returns the centres of the bins, within the extremes, and what they count."""
    histogram = statistics.histogram
    assert histogram is not None and statistics.minimum is not None and statistics.maximum is not None
    edges = np.clip(histogram.edges, float(statistics.minimum), float(statistics.maximum))
    return (edges[:-1] + edges[1:]) / 2, np.asarray(histogram.counts, np.float64)


def _searched(
    statistics: TensorStatistics,
    loss: Callable[[Array, Array, Grid], float],
    centres: Array,
    counts: Array,
    *,
    symmetric: bool,
) -> Grid:
    """Returns the grid of the least loss among those for parts of the full range, and for parts of its longer side."""
    if not counts.any():
        return _covering(statistics.minimum, statistics.maximum, symmetric=symmetric)
    low, high = min(float(centres[0]), 0.0), max(float(centres[-1]), 0.0)
    ranges = [(low * share, high * share) for share in SHARES]
    longer = max(-low, high)
    ranges += [(max(low, -longer * share), min(high, longer * share)) for share in SHARES]
    grids = [grid_of(*each, symmetric=symmetric) for each in ranges]
    return min(reversed(grids), key=lambda grid: loss(centres, counts, grid))


def _squared_error(centres: Array, counts: Array, grid: Grid) -> float:
    """The sum of the squares of the errors."""
    return float((counts * np.square(centres - grid.rounded(centres))).sum())


def _divergence(centres: Array, counts: Array, grid: Grid) -> float:
    """
    The divergence of Kullback and Leibler of the quantised distribution from that of the data.

    Data outside of the range counts at its ends. The quantised distribution knows what is inside: it spreads what falls
    into a step evenly over the bins of that step that hold data. Bins at zero, which is exact, have no part. What
    chance adds is taken off: counts differ from bin to bin without a reason, the more bins in a step the more.
    Source: S. Migacz, 8-bit inference with TensorRT, GTC 2017; G. Miller, Note on the bias of information estimates,
    1955.
    """
    places, place_of = np.unique(np.clip(centres, grid.low, grid.high), return_inverse=True)
    data = np.bincount(place_of, weights=counts)
    known = np.bincount(place_of, weights=np.where((centres >= grid.low) & (centres <= grid.high), counts, 0.0))
    step_of = np.unique(np.rint(places / grid.scale), return_inverse=True)[1]
    mass, filled = np.bincount(step_of, weights=known), np.bincount(step_of, weights=data > 0)
    model = np.where(data > 0, mass[step_of] / np.maximum(filled[step_of], 1), 0.0)
    if not model.any():
        return float("inf")
    seen = data > 0
    p, q = data[seen] / data.sum(), np.maximum(model[seen] / model.sum(), LEAST_PROBABILITY)
    chance = (np.count_nonzero(seen) - np.count_nonzero(filled)) / (2 * counts.sum())
    return float((p * np.log(p / q)).sum() - chance)
