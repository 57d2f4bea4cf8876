"""
A histogram of bounded size that grows with its data. It is the same in whatever order and portions the data arrive.

Bins are as wide as a power of two and start at multiples of it. When a value does not fit, bins are merged in pairs,
which is exact: `floor(floor(x / w) / 2) = floor(x / 2w)`. The width is the least with which all values fit in the
number of bins. It depends on the smallest and the largest value only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...lazy_dataclass import dataclass

_INDEX_BITS = 40
"""The number of bits of the integers that number bins from zero on, so that float64 holds a bin and a place in it."""

_LEAST_EXPONENT = -1074
"""The exponent of the least positive float64."""


def _bin(value: float, exponent: int) -> int:
    """Returns `floor(value / 2^exponent)`, in exact arithmetic."""
    index = math.floor(math.ldexp(value, -exponent))
    return -1 if index == 0 and value < 0 else index  # The quotient was too small for a float.


def _exponent(smallest: float, largest: float, bins: int, least: int = _LEAST_EXPONENT) -> int:
    """Returns the least exponent, from `least` on, with which `smallest` to `largest` lie in `bins` bins."""
    magnitude = max(abs(smallest), abs(largest))
    exponent = max(least, math.frexp(magnitude)[1] - _INDEX_BITS if magnitude else least)
    while _bin(largest, exponent) - _bin(smallest, exponent) >= bins:
        exponent += 1
    return exponent


@dataclass(frozen=True)
class Histogram:
    """Bin `i` counts the values `x` with `(first + i) * 2^exponent <= x < (first + i + 1) * 2^exponent`."""

    exponent: int
    first: int
    counts: tuple[int, ...]

    @staticmethod
    def of(values: np.ndarray[Any, Any], bins: int) -> Histogram:
        """Returns the histogram of finite float64 `values`, at least one, in at most `bins` bins."""
        smallest, largest = float(values.min()), float(values.max())
        exponent = _exponent(smallest, largest, bins)
        with np.errstate(under="ignore"):
            numbers = np.floor(np.ldexp(values, -exponent)).astype(np.int64)
        numbers[(numbers == 0) & (values < 0)] = -1
        first = _bin(smallest, exponent)
        return Histogram(exponent, first, tuple(np.bincount(numbers - first).tolist()))

    @property
    def total(self) -> int:
        """The number of values counted."""
        return sum(self.counts)

    @property
    def width(self) -> float:
        """The width of a bin."""
        return math.ldexp(1.0, self.exponent)

    @property
    def edges(self) -> np.ndarray[Any, Any]:
        """The borders of the bins, one more than there are bins."""
        with np.errstate(over="ignore"):
            return np.ldexp(self.first + np.arange(len(self.counts) + 1, dtype=np.float64), self.exponent)

    def coarser(self, exponent: int) -> Histogram:
        """Returns the same counts in bins of width `2^exponent`, which is no less than that of these."""
        shift = min(exponent - self.exponent, 63)
        numbers = (self.first + np.arange(len(self.counts), dtype=np.int64)) >> shift
        merged = np.zeros(int(numbers[-1] - numbers[0]) + 1, np.int64)
        np.add.at(merged, numbers - numbers[0], np.asarray(self.counts, np.int64))
        return Histogram(exponent, int(numbers[0]), tuple(merged.tolist()))

    def merged(self, other: Histogram, smallest: float, largest: float, bins: int) -> Histogram:
        """Returns the histogram of the values of both, which lie between `smallest` and `largest`."""
        exponent = _exponent(smallest, largest, bins, max(self.exponent, other.exponent))
        one, two = self.coarser(exponent), other.coarser(exponent)
        first = min(one.first, two.first)
        last = max(one.first + len(one.counts), two.first + len(two.counts))
        counts = np.zeros(last - first, np.int64)
        for each in (one, two):
            counts[each.first - first : each.first - first + len(each.counts)] += np.asarray(each.counts)
        return Histogram(exponent, first, tuple(counts.tolist()))

    def ordered(self, ranks: list[int]) -> list[float]:
        """Returns the value of each rank (from 0) among all values sorted, right to within one bin."""
        ends = np.cumsum(np.asarray(self.counts, np.int64))
        found: list[float] = []
        for rank in ranks:
            number = int(np.searchsorted(ends, rank, side="right"))
            count = self.counts[number]
            place = (rank - (int(ends[number]) - count) + 0.5) / count
            with np.errstate(over="ignore"):
                found.append(float(np.ldexp(self.first + number + place, self.exponent)))
        return found
