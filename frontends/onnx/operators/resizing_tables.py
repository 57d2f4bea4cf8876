"""What each element of an axis of known extents is made of when it is resized: places, indices, weights."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .resizing import Sampling


def places_of(size: int, wanted: int, scale: float, crop: tuple[float, float] | None, coordinates: str) -> Any:
    """The place of each element of the result on the axis of the input, in elements."""
    import numpy as np

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
    import numpy as np

    functions: dict[str, Callable[[Any], Any]] = {
        "round_prefer_floor": lambda at: np.ceil(at - 0.5),
        "round_prefer_ceil": lambda at: np.floor(at + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    return np.clip(functions[rounding](places), 0, max(size - 1, 0)).astype(np.int64)


def is_repetition(indices: Any, size: int) -> bool:
    """Whether they name each element equally often, in order, but not once."""
    import numpy as np

    count = len(indices) // size if size and len(indices) % size == 0 else 0
    return count > 1 and bool((indices == np.arange(len(indices)) // count).all())


def table_of(places: Any, size: int, scale: float, sampling: Sampling) -> tuple[Any, Any]:
    """(positions, weights) of what each element of the result is made of, of shape (elements, taps)."""
    import numpy as np

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
    """The elements that count, as distances from the last one before the place; the kernel is `1 / stretch` times as wide."""
    import numpy as np

    reach = ceil((1 if sampling.mode == "linear" else 2) / stretch)
    return np.arange(1 - reach, reach + 1)


def cubic(distance: Any, a: float) -> Any:
    """
    The kernel of cubic convolution with the free parameter `a`.

    Source: R. Keys, "Cubic Convolution Interpolation for Digital Image Processing", IEEE Trans. ASSP 29(6), 1981.
    """
    import numpy as np

    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
