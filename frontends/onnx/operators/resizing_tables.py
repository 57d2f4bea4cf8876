"""What each element of an axis of known extents is made of when it is resized: places, indices, weights."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np

from ....lazy_dataclass import dataclass
from ..emitting.sizes import Extent, Size
from ..errors import ConversionError

ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)


@dataclass(frozen=True)
class Sampling:
    """The attributes of the operator, which map places and weigh what is around them."""

    mode: str
    coordinates: str
    nearest: str = "round_prefer_floor"
    cubic: float = -0.75
    outside: bool = True
    """True if what lies outside counts, as a copy of the border."""
    antialias: bool = False
    extrapolation: float = 0.0

    def check(self) -> None:
        """Raises `ConversionError` for attributes that are not in the specification."""
        for what, found, allowed in (
            ("mode", self.mode, ("nearest", "linear", "cubic")),
            ("coordinate_transformation_mode", self.coordinates, COORDINATES),
            ("nearest_mode", self.nearest, ROUNDINGS),
        ):
            if found not in allowed:
                raise ConversionError(f"{what} is '{found}', expected {', '.join(allowed)}")
        if self.antialias and self.mode == "nearest":
            raise ConversionError("antialias is set, expected mode linear or cubic with it")


@dataclass(frozen=True)
class Line:
    """The resizing of one axis."""

    size: Extent
    wanted: Extent
    scale: float | None
    """`None` for the quotient of extents that are not known."""
    crop: tuple[float, float] | None = None
    """The places of the first and the last element of the result, as shares of the axis."""

    @property
    def known(self) -> tuple[int, int, float] | None:
        """The three where they are all known."""
        if isinstance(self.size, Size) or isinstance(self.wanted, Size) or self.scale is None:
            return None
        return self.size, self.wanted, self.scale


def places_of(size: int, wanted: int, scale: float, crop: tuple[float, float] | None, coordinates: str) -> Any:
    """Returns the place of each element of the result on the axis of the input, in elements."""
    at = np.arange(wanted, dtype=np.float64)
    length = scale * size
    match coordinates:
        case "align_corners":
            return at * 0 if length == 1 else at * (size - 1) / (length - 1)
        case "asymmetric":
            return at / scale
        case "tf_half_pixel_for_nn":
            return (at + 0.5) / scale
        case "tf_crop_and_resize":
            first, last = crop or (0.0, 1.0)
            if length == 1:
                return at * 0 + (first + last) / 2 * (size - 1)
            return first * (size - 1) + at * (last - first) * (size - 1) / (length - 1)
        case "pytorch_half_pixel" if length == 1:
            return at * 0 - 0.5
        case "half_pixel_symmetric":
            return size / 2 * (1 - wanted / length) + (at + 0.5) / scale - 0.5
    return (at + 0.5) / scale - 0.5


def nearest_indices(places: Any, size: int, rounding: str) -> Any:
    functions: dict[str, Callable[[Any], Any]] = {
        "round_prefer_floor": lambda at: np.ceil(at - 0.5),
        "round_prefer_ceil": lambda at: np.floor(at + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    return np.clip(functions[rounding](places), 0, max(size - 1, 0)).astype(np.int64)


def is_repetition(indices: Any, size: int) -> bool:
    """Returns whether the indices name each element equally often, in order, and more than once."""
    count = len(indices) // size if size and len(indices) % size == 0 else 0
    return count > 1 and bool((indices == np.arange(len(indices)) // count).all())


def table_of(places: Any, size: int, scale: float, sampling: Sampling) -> tuple[Any, Any]:
    """Returns (positions, weights) of what each element of the result is made of, of shape (elements, taps)."""
    stretch = min(scale, 1.0) if sampling.antialias else 1.0
    taps = np.floor(places)[:, None] + taps_of(sampling, stretch)
    distance = np.abs(taps - places[:, None]) * stretch
    weights = np.maximum(1 - distance, 0) if sampling.mode == "linear" else cubic(distance, sampling.cubic)
    inside = (taps >= 0) & (taps < size)
    if not sampling.outside:
        weights = weights * inside
    if sampling.antialias or not sampling.outside:
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / np.where(total == 0, 1, total)
    used = (weights != 0).any(axis=0)
    positions = np.clip(taps, 0, max(size - 1, 0)).astype(np.int64)
    return positions[:, used], weights[:, used]


def taps_of(sampling: Sampling, stretch: float) -> Any:
    """
    Returns the elements that count, as distances from the last one before the place.

    The kernel is `1 / stretch` times as wide.
    """
    reach = ceil((1 if sampling.mode == "linear" else 2) / stretch)
    return np.arange(1 - reach, reach + 1)


def cubic(distance: Any, a: float) -> Any:
    """
    The kernel of cubic convolution with the free parameter `a`.

    Source: R. Keys, "Cubic Convolution Interpolation for Digital Image Processing", IEEE Trans. ASSP 29(6), 1981.
    """
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
