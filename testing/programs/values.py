"""Random arrays of any element type, with the values that break things mixed in. They follow from their seed alone."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from ...reference.element_types import DTYPES, convert, number, round_to
from ...te.dtypes import FLOATS, SMALL_INTEGERS

Array = np.ndarray[Any, Any]

FLAVOURS: Final = {
    "any": "every magnitude, denormals, zeros of both signs, infinities, NaN; integers over the whole range",
    "moderate": "around 0 with a spread of 3; now and then a zero, an infinity or NaN",
    "finite": "around 0 with a spread of 2, no special values",
    "positive": "between 0.1 and 4",
    "near-one": "between 0.5 and 1.5, either sign; now and then a zero, an infinity or NaN",
    "small": "a few units around 0; floats are integers and halves, zeros of both signs",
    "divisor": "like any, integers never 0",
}
"""The content of each kind of values. `index:N` are positions from -N (from 0 when unsigned) to N - 1."""


def arrays_of(seed: int, shape: tuple[int, ...], dtype: str, flavour: str) -> Array:
    """A random array. `seed` fixes it; the same seed with another shape gives unrelated values."""
    random = np.random.default_rng([seed, *shape, *dtype.encode()])
    if flavour.startswith("index:"):
        return _indices(random, shape, dtype, int(flavour.removeprefix("index:")))
    if dtype == "i1":
        return random.integers(0, 2, shape).astype(np.bool_)
    if dtype in FLOATS:
        return _floats(random, shape, dtype, flavour)
    return _integers(random, shape, dtype, flavour)


def _indices(random: np.random.Generator, shape: tuple[int, ...], dtype: str, size: int) -> Array:
    limits = ml_dtypes.iinfo(DTYPES[dtype])
    low, high = max(-size, int(limits.min)), min(size - 1, int(limits.max))
    return random.integers(low, high + 1, shape, dtype=np.int64).astype(DTYPES[dtype])


def special_floats(dtype: str) -> Array:
    """Zeros, infinities, NaN, the smallest and largest numbers, and what lies around integers, in a float type."""
    info = ml_dtypes.finfo(DTYPES[dtype])
    tiny, least, most = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    values = [0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, least, -least, most, -most]
    values += [1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 127.0, 128.5, -129.0, 255.5, 65504.0, 88.8, -87.4]
    return round_to(np.array(values, np.float64), DTYPES[dtype])


def _floats(random: np.random.Generator, shape: tuple[int, ...], dtype: str, flavour: str) -> Array:
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan])
    normal = random.standard_normal(shape)
    sign = np.where(random.integers(0, 2, shape) == 1, 1.0, -1.0)
    match flavour:
        case "any" | "divisor":
            spread = {"f8E4M3FN": 2.0, "f8E5M2": 4.0, "f16": 4.0, "bf16": 30.0, "f32": 30.0, "f64": 250.0}[dtype]
            wide = sign * 10.0 ** random.uniform(-spread, spread, shape)
            plain = np.where(random.integers(0, 3, shape) == 0, wide, normal * 8)
            rounded = round_to(plain, DTYPES[dtype])
            return _mixed(random, rounded, special_floats(dtype), 0.3)
        case "moderate":
            rounded = round_to(normal * 3, DTYPES[dtype])
            share = 0.04 if random.integers(0, 3) == 0 else 0.0
            return _mixed(random, rounded, special.astype(DTYPES[dtype]), share)
        case "near-one":
            rounded = round_to(sign * random.uniform(0.5, 1.5, shape), DTYPES[dtype])
            share = 0.02 if random.integers(0, 3) == 0 else 0.0
            return _mixed(random, rounded, special.astype(DTYPES[dtype]), share)
        case "finite":
            return round_to(normal * 2, DTYPES[dtype])
        case "positive":
            return round_to(random.uniform(0.1, 4.0, shape), DTYPES[dtype])
        case "small":
            # The sign of the zeros is random too: maximum and minimum of two zeros must look at it.
            return round_to(random.integers(-4, 5, shape) / 2 * sign, DTYPES[dtype])
        case _:
            raise ValueError(f"flavour is '{flavour}', expected one of {sorted(FLAVOURS)} or index:N")


def _mixed(random: np.random.Generator, plain: Array, special: Array, share: float) -> Array:
    """`plain` with about `share` of its elements replaced by random ones of `special`."""
    chosen = special[random.integers(0, len(special), plain.shape)]
    return np.where(random.uniform(size=plain.shape) < share, chosen, plain).astype(plain.dtype)


def _integers(random: np.random.Generator, shape: tuple[int, ...], dtype: str, flavour: str) -> Array:
    limits = ml_dtypes.iinfo(DTYPES[dtype])
    low, high = int(limits.min), int(limits.max)
    if flavour in ("small", "positive", "near-one"):
        first = 1 if flavour == "positive" else max(low, -4)
        return random.integers(first, 9, shape).astype(DTYPES[dtype])
    near = random.integers(max(low, -20), 21, shape).astype(np.int64)
    drawn = np.int8 if dtype in SMALL_INTEGERS else DTYPES[dtype].type
    whole = random.integers(low, high, shape, dtype=drawn, endpoint=True).astype(DTYPES[dtype])
    edges = np.array([number(edge, DTYPES[dtype]) for edge in (low, low + 1, high, high - 1, 0, 1, -1)])
    result = np.where(random.integers(0, 2, shape) == 1, whole, convert(near, DTYPES[dtype])).astype(DTYPES[dtype])
    result = _mixed(random, result, edges, 0.25)
    if flavour == "divisor":
        result = np.where(result == 0, np.ones((), result.dtype), result).astype(result.dtype)
    return result
