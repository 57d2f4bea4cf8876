"""Test points, exact references and error measures for the expansions of math functions."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import erf as _erf

import numpy as np

FULL = os.environ.get("STEPWELL_FULL", "") == "1"
COUNT = 1_000_000 if FULL else 100_000
Array = np.ndarray
Real = np.longdouble

_EDGE_BITS = [
    *(0x00000000, 0x00000001, 0x00000002, 0x003FFFFF, 0x007FFFFF, 0x00800000, 0x00800001, 0x01000000),
    *(
        0x33000000,
        0x337FFFFF,
        0x33800000,
        0x3EFFFFFF,
        0x3F000000,
        0x3F000001,
        0x3F3504F2,
        0x3F3504F3,
        0x3F3504F4,
    ),
    *(
        0x3F7FFFFF,
        0x3F800000,
        0x3F800001,
        0x3FB504F3,
        0x3FB504F4,
        0x40000000,
        0x40400000,
        0x47000000,
        0x4B000000,
    ),
    *(
        0x4B000001,
        0x4B7FFFFF,
        0x4B800000,
        0x4E7FFFFF,
        0x4E800000,
        0x53800000,
        0x7F000000,
        0x7F7FFFFF,
        0x7F800000,
    ),
    *(0x7FC00000, 0x7F800001),
]
EDGES = np.array(_EDGE_BITS + [bits | 0x80000000 for bits in _EDGE_BITS], np.uint32).view(np.float32)
"""Zeros, denormals, powers of two, limits of the windows, largest numbers, infinities, NaNs; both signs."""

_HARD = [
    *(
        88.72283,
        88.722839,
        88.7228394,
        -103.972076,
        -103.972084,
        -87.33654,
        -87.33655,
        127.99999,
        128.0,
        -149.5,
        -150.0,
    ),
    *(
        -126.0,
        -126.5,
        0.5,
        0.25,
        1.5,
        2.5,
        3.1415927,
        1.5707964,
        0.78539819,
        10.0,
        9.0109,
        0.3466,
        4.0,
        3.9,
        89.41599,
    ),
    *(
        1e10,
        1e20,
        1e30,
        2.5e38,
        0.1,
        1e-10,
        1e-30,
        1e-44,
        2.0**23 + 1,
        2.0**24 - 1,
        8388607.5,
        16367173 * 2.0**72,
    ),
]
HARD = np.array(_HARD + [-value for value in _HARD], np.float32)


def neighbours(points: Array, steps: int = 40) -> Array:
    """Each point with `steps` floats on either side."""
    bits = points.view(np.int32)[:, None].astype(np.int64) + np.arange(-steps, steps + 1)[None, :]
    return bits.astype(np.int32).reshape(-1).view(np.float32)


def unary_points(dense: list[tuple[float, float]], count: int = COUNT, seed: int = 7) -> Array:
    """Half uniform in the bits of f32, half uniform in the given ranges, and the neighbourhoods of hard points."""
    rng = np.random.default_rng(seed)
    parts = [rng.integers(0, 1 << 32, count // 2, dtype=np.uint32).view(np.float32)]
    for low, high in dense:
        parts.append(rng.uniform(low, high, count // (2 * len(dense))).astype(np.float32))
    parts += [EDGES, neighbours(HARD), neighbours(EDGES[np.isfinite(EDGES)], 8)]
    return np.concatenate(parts)


def multiples_of_half_pi(count: int = 20000, seed: int = 3) -> Array:
    """The floats nearest to multiples of pi/2, small and large, where sin, cos and tan cancel."""
    rng = np.random.default_rng(seed)
    k = np.concatenate([np.arange(1, count), rng.integers(1, 1 << 30, count)]).astype(Real)
    points = (k * (Real(2) * np.arctan(Real(1)))).astype(np.float32)
    return neighbours(points, 2)


def pairs(count: int = COUNT, seed: int = 11) -> tuple[Array, Array]:
    """
    Pairs for pow and atan2: all bits, ordinary sizes, near 1 with large exponents, integers, and every pair of edges.
    """
    rng = np.random.default_rng(seed)
    quarter = count // 4
    bits = rng.integers(0, 1 << 32, (2, quarter), dtype=np.uint32).view(np.float32)
    ordinary = (
        np.exp(rng.uniform(-6, 6, quarter)).astype(np.float32),
        rng.uniform(-20, 20, quarter).astype(np.float32),
    )
    near_one = (1 + rng.normal(0, 1, quarter) * 2.0 ** rng.uniform(-24, -3, quarter)).astype(np.float32)
    reach = (rng.uniform(-150, 130, quarter) * np.log(2) / np.log(near_one.astype(np.float64) + 1e-12)).astype(
        np.float32
    )
    whole = (
        rng.uniform(-30, 30, quarter).astype(np.float32),
        rng.integers(-40, 40, quarter).astype(np.float32),
    )
    special = np.concatenate([EDGES, HARD])
    grid_x, grid_y = (axis.reshape(-1) for axis in np.meshgrid(special, special))
    x = np.concatenate([bits[0], ordinary[0], near_one, whole[0], grid_x])
    y = np.concatenate([bits[1], ordinary[1], reach, whole[1], grid_y])
    return x, y


def ulp_errors(result: Array, exact: Array, precision: int = 24, minimum: int = -126) -> Array:
    """
    |result - exact| in units of the last place of `exact` (of a denormal one where it is that small).

    inf stands for 2^128, so a result that overflows too early or too late by a rounding counts as that much. A NaN must
    meet a NaN.
    """
    top = 128 if minimum == -126 else 16
    limit = np.ldexp(Real(1), top)
    with np.errstate(all="ignore"):
        exact = np.clip(exact.astype(Real), -limit, limit)
        found = np.clip(result.astype(Real), -limit, limit)
        exponent = np.frexp(exact)[1] - 1
        exponent = np.clip(np.where(exact == 0, minimum, exponent), minimum, top - 1)
        error = np.abs(found - exact) / np.ldexp(Real(1), exponent - (precision - 1))
    nan = np.isnan(exact) | np.isnan(found)
    return np.where(nan, np.where(np.isnan(exact) & np.isnan(found), Real(0), Real(np.inf)), error).astype(np.float64)


def _reduced(x: Array) -> tuple[Array, Array]:
    """(quadrant, r) of x modulo pi/2 by Python's integers; |r| <= pi/4 in long double, for finite f32."""
    quadrants, rests = np.zeros(len(x), np.int64), np.zeros(len(x), Real)
    mantissas, exponents = np.frexp(x.astype(np.float64))
    for index, (mantissa, exponent) in enumerate(zip((mantissas * 2**24).tolist(), exponents.tolist(), strict=True)):
        shift = exponent - 24 + 300
        quotient = int(mantissa) * _TWO_OVER_PI_BITS  # scaled by 2^(300 - (exponent - 24))
        fraction_bits = 600 - shift
        whole = (quotient + (1 << (fraction_bits - 1))) >> fraction_bits
        rest = quotient - (whole << fraction_bits)
        quadrants[index] = whole & 3
        drop = max(fraction_bits - 400, 0)
        top = rest >> drop
        excess = max(abs(top).bit_length() - 63, 0)
        rests[index] = np.ldexp(Real(top >> excess), excess + drop - fraction_bits)
    return quadrants, rests * (Real(2) * np.arctan(Real(1)))


def _two_over_pi_bits(bits: int = 300) -> int:
    """2/pi * 2^bits, by Machin's formula in integers."""
    one = 1 << (2 * bits)

    def arctan_inverse(n: int) -> int:
        total, term, k = 0, one // n, 0
        while term:
            total += term // (2 * k + 1) * (-1) ** k
            term //= n * n
            k += 1
        return total

    pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
    return 2 * (one << bits) // pi


_TWO_OVER_PI_BITS = _two_over_pi_bits()


def trigonometric(name: str) -> Callable[[Array], Array]:
    """sin, cos or tan with an exact reduction of any finite argument."""

    def function(x: Array) -> Array:
        result = np.full(len(x), np.nan, Real)
        finite = np.isfinite(x)
        quadrant, r = _reduced(x[finite])
        sine, cosine = np.sin(r), np.cos(r)
        if name == "tan":
            odd = quadrant % 2 == 1
            value = np.where(odd, -cosine, sine) / np.where(odd, sine, cosine)
        else:
            turned = (quadrant + (name == "cos")) % 4
            value = np.where(turned % 2 == 0, sine, cosine) * np.where(turned >= 2, -1, 1)
        result[finite] = np.where((x[finite] == 0) & (name != "cos"), x[finite], value)
        return result

    return function


def erf(x: Array) -> Array:
    """erf of an f32 by the C library in double."""
    return np.array([_erf(value) for value in x.astype(np.float64).tolist()], Real)
