"""Grids: the real numbers that bytes stand for, `(q - zero_point) * scale`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...lazy_dataclass import dataclass

Array = np.ndarray[Any, Any]

LOW: Final = -128
HIGH: Final = 127

LEAST_SCALE: Final = 2.0**-96
"""Scales stay normal numbers, also in products of two."""

GREATEST_SCALE: Final = 2.0**96


@dataclass(frozen=True)
class Grid:
    """One scale and zero point. Symmetric grids have the zero point 0 and leave -128 out."""

    scale: float
    zero_point: int

    @property
    def low(self) -> float:
        """The least real number that a byte stands for."""
        return (LOW - self.zero_point) * self.scale

    @property
    def high(self) -> float:
        """The greatest real number that a byte stands for."""
        return (HIGH - self.zero_point) * self.scale

    def rounded(self, x: Array) -> Array:
        """Returns the number of the grid that is nearest to each element."""
        steps = np.clip(np.rint(x / self.scale) + self.zero_point, LOW, HIGH)
        return (steps - self.zero_point) * self.scale


def grid_of(low: float, high: float, *, symmetric: bool) -> Grid:
    """Returns the finest grid that reaches from `low` to `high`. It has the number 0, so padding is exact."""
    low, high = min(low, 0.0), max(high, 0.0)
    if symmetric:
        return Grid(_scale(max(-low, high) / HIGH), 0)
    scale = _scale((high - low) / (HIGH - LOW))
    return Grid(scale, int(np.clip(np.rint(LOW - low / scale), LOW, HIGH)))


def _scale(step: float) -> float:
    """Returns a scale of f32 for a step. Tensors of zeros have the scale 1."""
    return float(np.float32(min(max(step, LEAST_SCALE), GREATEST_SCALE))) if step else 1.0


def quantized_weights(weights: Array, axis: int | None) -> tuple[Array, Array]:
    """
    Returns the bytes that are nearest to `weights`, and their scales: one, or one for each index of `axis`.

    They are symmetric. The bytes are from -127 to 127.
    """
    others = None if axis is None else tuple(each for each in range(weights.ndim) if each != axis)
    greatest = np.abs(weights.astype(np.float64)).max(axis=others, initial=0.0)
    step = np.clip(greatest / HIGH, LEAST_SCALE, GREATEST_SCALE)
    scales = np.where(greatest > 0, step, 1.0).astype(np.float32)
    steps = np.rint(weights.astype(np.float64) / spread(scales, axis, weights.ndim))
    return np.clip(steps, -HIGH, HIGH).astype(np.int8), scales


def spread(values: Array, axis: int | None, rank: int) -> Array:
    """Returns `values`, one or one for each index of `axis`, in a shape that broadcasts against `rank` axes."""
    if axis is None:
        return values
    return values.reshape([-1 if each == axis else 1 for each in range(rank)])
