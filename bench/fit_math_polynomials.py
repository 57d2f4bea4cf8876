"""
Fits the polynomial coefficients of `lowering/math_expansions`: run it to print `coefficients.py`, with `--pieces`
`pieces.py`.

Method: iteratively reweighted least squares (C. L. Lawson, 1961) on a Chebyshev grid in `numpy.longdouble` (64-bit
significand), minimising the largest error of the whole expansion, relative unless said. (The Remez exchange does not
apply as it is: where the known part is exact at 0 the basis vanishes there and is no Haar system.) Coefficients are
then rounded to the working format one at a time, lowest power first, and the others are fitted again. Functions come
from the C library in long double, erf and erfc from their series and continued fraction.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

Real = np.longdouble
Array = np.ndarray
GRID = 1001


@dataclass(frozen=True)
class Fit:
    """
    `function(x) ~ known(x) + sum_k c_k x^power_k` on [low, high], the error divided by `scale(x)`.

    `precision` is the numpy type that holds the coefficients.
    """

    name: str
    function: Callable[[Array], Array]
    known: Callable[[Array], Array]
    powers: Sequence[int]
    low: float
    high: float
    scale: Callable[[Array], Array]
    precision: type = np.float32


def least_squares(matrix: Array, right: Array) -> Array:
    """Least squares by modified Gram-Schmidt, twice, in long double (numpy.linalg has only double)."""
    count = matrix.shape[1]
    q, r = matrix.astype(Real), np.eye(count, dtype=Real)
    for _ in range(2):
        step = np.zeros((count, count), Real)
        q = q.copy()
        for k in range(count):
            step[k, k] = np.sqrt(np.sum(q[:, k] ** 2))
            q[:, k] /= step[k, k]
            step[k, k + 1 :] = q[:, k] @ q[:, k + 1 :]
            q[:, k + 1 :] -= np.outer(q[:, k], step[k, k + 1 :])
        r = step @ r
    rest = q.T @ right
    for k in reversed(range(count)):
        rest[k] = (rest[k] - r[k, k + 1 :] @ rest[k + 1 :]) / r[k, k]
    return rest


def lawson(basis: Array, target: Array) -> Array:
    """Coefficients with (nearly) the smallest max |target - basis @ c| over the grid."""
    weights = np.ones(len(basis), Real)
    best, best_error = np.zeros(basis.shape[1], Real), Real(np.inf)
    for _ in range(60):
        root = np.sqrt(weights)
        coefficients = least_squares(basis * root[:, None], target * root)
        error = np.abs(target - basis @ coefficients)
        if np.max(error) < best_error:
            best, best_error = coefficients, np.max(error)
        weights = weights * error
        weights /= np.sum(weights)
    return best


def fit(job: Fit) -> tuple[list[float], float]:
    """Rounded coefficients, lowest power first, and the largest error of the rounded polynomial."""
    middle, half = Real(job.low + job.high) / 2, Real(job.high - job.low) / 2
    x = middle - half * np.cos(np.pi * (np.arange(GRID, dtype=Real) + Real(0.5)) / GRID)
    scale = job.scale(x)
    target = (job.function(x) - job.known(x)) / scale
    columns = [x**power / scale for power in job.powers]
    rounded: list[float] = []
    for index in range(len(columns)):
        coefficients = lawson(np.stack(columns[index:], axis=1), target)
        value = job.precision(coefficients[0])
        rounded.append(float(value))
        target = target - columns[index] * Real(value)
    return rounded, float(np.max(np.abs(target)))


def erf_series(x: Array) -> Array:
    """erf by its Taylor series in exact fractions, rounded to long double: |x| <= 1.2."""
    coefficients: list[Real] = []
    factorial = Fraction(1)
    for n in range(40):
        factorial *= max(n, 1)
        term = Fraction((-1) ** n, 2 * n + 1) / factorial
        coefficients.append(Real(term.numerator) / Real(term.denominator))
    total = np.zeros_like(x)
    for coefficient in reversed(coefficients):
        total = total * x * x + coefficient
    return total * x * (2 / np.sqrt(PI))


def erfc_fraction(x: Array) -> Array:
    """erfc(x) = exp(-x^2)/sqrt(pi) * 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + ...)))), x >= 0.9."""
    tail = np.zeros_like(x)
    for n in range(400, 0, -1):
        tail = (Real(n) / 2) / (x + tail)
    return np.exp(-x * x) / np.sqrt(PI) / (x + tail)


def normal_tail(x: Array) -> Array:
    """The normal distribution above x, erfc(x / sqrt 2) / 2, x >= 0."""
    z = x / np.sqrt(Real(2))
    return np.where(z < 1, 1 - erf_series(np.minimum(z, 1)), erfc_fraction(np.maximum(z, 1))) / 2


def tanh_tail(x: Array) -> Array:
    """(1 - tanh z) / 2 with z = sqrt(2 / pi) (x + 0.044715 x^3), x >= 0."""
    z = np.sqrt(2 / PI) * (x + Real("0.044715") * x**3)
    return 1 / (1 + np.exp(2 * z))


PI = 4 * np.arctan(Real(1))
LN2 = np.log(Real(2))


def zero(x: Array) -> Array:
    return np.zeros_like(x)


def identity(x: Array) -> Array:
    return x


def one(x: Array) -> Array:
    return np.ones_like(x)


def twice_atanh(x: Array) -> Array:
    return 2 * np.arctanh(x)


def odd(first: int, count: int) -> range:
    return range(first, first + 2 * count, 2)


TAIL_MIDDLE = 2.75

JOBS = (
    Fit("EXP", np.exp, lambda x: 1 + x, range(2, 7), -0.3467, 0.3467, np.exp),
    Fit("EXPM1", np.expm1, identity, range(2, 8), -0.3467, 0.3467, np.expm1),
    Fit("EXP2", np.exp2, one, range(1, 7), -0.5001, 0.5001, np.exp2),
    Fit("EXP2_OF_PARTS", np.exp2, one, range(1, 3), -0.01563, 0.01563, np.exp2),
    Fit("LOG1P", np.log1p, lambda x: x - x * x / 2, range(3, 12), -0.2930, 0.4143, np.log1p),
    Fit(
        "LOG2_ATANH",
        lambda s: 2 * np.arctanh(s) / LN2,
        zero,
        odd(1, 6),
        1e-6,
        0.1717,
        lambda s: 2 * np.arctanh(s) / LN2,
        np.float64,
    ),
    Fit("SIN", np.sin, identity, odd(3, 4), 1e-6, 0.80, np.sin),
    Fit("COS", np.cos, lambda x: 1 - x * x / 2, range(4, 10, 2), 1e-6, 0.80, np.cos),
    Fit("SIN64", np.sin, identity, odd(3, 5), 1e-6, 0.80, np.sin, np.float64),
    Fit("COS64", np.cos, one, range(2, 12, 2), 1e-6, 0.80, np.cos, np.float64),
    Fit("ERF_SMALL", erf_series, identity, odd(1, 8), 1e-6, 1.0, erf_series),
    Fit(
        "ERFC_LOG2",
        lambda x: np.log2(erfc_fraction(x)),
        zero,
        range(8),
        1.0,
        4.0,
        lambda x: 1 / erfc_fraction(x),
    ),
    Fit(
        "NORMAL_TAIL",  # what counts is the error of x times it, near 0 that of itself
        lambda v: normal_tail(v + Real(TAIL_MIDDLE)),
        zero,
        range(18),
        -TAIL_MIDDLE,
        TAIL_MIDDLE,
        lambda v: 1 / np.maximum(v + Real(TAIL_MIDDLE), 0.4),
    ),
    Fit("ATAN", np.arctan, identity, odd(3, 10), 1e-6, 1.0, np.arctan),
    Fit("ASIN", np.arcsin, identity, odd(3, 6), 1e-6, 0.5001, np.arcsin),
    Fit("EXP_F64", np.exp, lambda x: 1 + x, range(2, 12), -0.3467, 0.3467, np.exp, np.float64),
    Fit("EXPM1_F64", np.expm1, identity, range(2, 13), -0.3467, 0.3467, np.expm1, np.float64),
    Fit("EXP2_F64", np.exp2, one, range(1, 13), -0.5001, 0.5001, np.exp2, np.float64),
    Fit("ATANH_F64", twice_atanh, lambda s: 2 * s, odd(3, 7), 1e-6, 0.1717, twice_atanh, np.float64),
    Fit("SIN_F64", np.sin, identity, odd(3, 6), 1e-6, 0.79, np.sin, np.float64),
    Fit("COS_F64", np.cos, lambda x: 1 - x * x / 2, range(4, 16, 2), 1e-6, 0.79, np.cos, np.float64),
    Fit("SINH", np.sinh, identity, odd(3, 4), 1e-6, 1.0, np.sinh),
)


PIECES_PER_DOUBLING = 8
PIECES = 32
FIRST = 1.25
"""Of 1, 1.125, ..., 1.875 that with which the largest errors are smallest."""


@dataclass(frozen=True)
class Pieces:
    """
    `function(a) ~ sum_k c_k (a - centre)^k` on each of 32 pieces of 0 <= a <= limit, the error divided by `scale(a)`.

    The pieces are those of `1.25 <= 1.25 + slope a < 20` that have the same exponent and the same three bits after it.
    The first is about 0, and its leading coefficients are `first`.
    """

    name: str
    function: Callable[[Array], Array]
    limit: float
    slope: float
    first: tuple[float, ...]
    scale: Callable[[Array], Array]
    first_slope: float = 0.0
    """What the code adds to the second coefficient of the first piece, which is so given to more places."""
    degree: int = 4

    def edges(self) -> list[float]:
        """The begins of the pieces, and the end of the last."""
        start = int((FIRST - 1) * PIECES_PER_DOUBLING)
        numbers = range(start, start + PIECES + 1)
        parts = [divmod(number, PIECES_PER_DOUBLING) for number in numbers]
        edges = [2.0**doubling * (1 + part / PIECES_PER_DOUBLING) for doubling, part in parts]
        assert FIRST + self.limit * self.slope < edges[-1]
        return [(edge - FIRST) / self.slope for edge in edges]


def exact_centre(function: Callable[[Array], Array], middle: float) -> tuple[np.float32, np.float32]:
    """
    A number near the middle at which the function is nearly an f32, and that: so the first coefficient loses nothing
    (S. Gal, Computing elementary functions: a new approach for achieving high accuracy and good performance, 1986).
    """
    near = (np.float32(middle).view(np.int32) + np.arange(-2000, 2000, dtype=np.int32)).view(np.float32)
    values = function(near.astype(Real))
    rounded = values.astype(np.float32)
    best = int(np.argmin(np.abs(values - rounded) / np.spacing(np.abs(rounded))))
    return near[best], rounded[best]


def fit_piece(job: Pieces, low: float, high: float) -> tuple[list[np.float32], float]:
    """The centre and the coefficients of a piece, and the largest error."""
    if low == 0:
        centre, row = np.float32(0), [np.float32(value) for value in job.first]
    else:
        centre, value = exact_centre(job.function, (low + high) / 2)
        row = [value]
    angles = np.pi * (np.arange(GRID // 2, dtype=Real) + Real(0.5)) / (GRID // 2)
    a = Real(low + high) / 2 - Real(high - low) / 2 * np.cos(angles)
    powers = [(a - Real(centre)) ** k / job.scale(a) for k in range(job.degree + 1)]
    rest = job.function(a) / job.scale(a)
    if low == 0:
        rest = rest - Real(job.first_slope) * powers[1]
    for value, power in zip(row, powers, strict=False):
        rest = rest - Real(value) * power
    for k in range(len(row), job.degree + 1):
        value = np.float32(lawson(np.stack(powers[k:], axis=1), rest)[0])
        row.append(value)
        rest = rest - Real(value) * powers[k]
    return [centre, *row], float(np.max(np.abs(rest)))


PIECEWISE = (
    Pieces("TANH", np.tanh, 9.0625, 2.06, (0.0, 1.0), np.tanh),
    Pieces(
        "ERF",
        lambda x: np.where(x < 1, erf_series(np.minimum(x, 1)), 1 - erfc_fraction(np.maximum(x, 1))),
        3.9375,
        4.75,
        (0.0,),
        lambda x: np.where(x < 1, erf_series(np.minimum(x, 1)), 1),
        first_slope=1.0,
    ),
    Pieces("NORMAL_TAIL", normal_tail, 5.5, 3.4, (0.5,), lambda x: 1 / np.maximum(x, 0.4)),
    Pieces("TANH_TAIL", tanh_tail, 5.5, 3.4, (0.5,), lambda x: 1 / np.maximum(x, 0.4)),
)


def pi_fraction() -> Fraction:
    """pi to 300 bits by Machin's formula, 16 atan(1/5) - 4 atan(1/239)."""

    def arctan_of_inverse(n: int) -> Fraction:
        return sum((Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(150)), Fraction(0))

    return 16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)


def two_over_pi_windows() -> list[tuple[int, float, float]]:
    """
    Returns (E, c0, c1): for |x| >= 2^E, `x * 2/pi` mod 4 is `x * (c0 + c1)` mod 4, as `trigonometric.py` explains.
    """
    ratio = 2 / pi_fraction()
    windows = [(-200, ratio)]
    for exponent in range(40, 128, 16):
        modulus = Fraction(2) ** (25 - exponent)
        windows.append((exponent, ratio % modulus))
    return [(exponent, float(c), float(c - Fraction(float(c)))) for exponent, c in windows]


def print_pieces() -> None:
    """Rows of the shortest numbers that are the same f32."""
    print('"""Piecewise polynomials printed by `bench/fit_math_polynomials.py --pieces`, not to be edited."""\n')
    print("from __future__ import annotations")
    for job in PIECEWISE:
        edges = job.edges()
        rows = [fit_piece(job, low, high) for low, high in zip(edges, edges[1:], strict=False)]
        error = max(error for _, error in rows)
        print(f"\n# {job.limit} at most, {FIRST} + {job.slope} a; largest error {error:.1e} = 2^{np.log2(error):.1f}")
        print(f"{job.name}: tuple[tuple[float, ...], ...] = (")
        for row, _ in rows:
            print(f"    ({', '.join(repr(float(str(value))) for value in row)}),")
        print(")")


def main() -> None:
    if "--pieces" in sys.argv:
        print_pieces()
        return
    print('"""Coefficients printed by `bench/fit_math_polynomials.py`, not to be edited."""\n')
    print("from __future__ import annotations\n")
    for job in JOBS:
        coefficients, error = fit(job)
        print(f"# [{job.low}, {job.high}], largest error {error:.1e} = 2^{np.log2(error):.1f}")
        print(f"{job.name}: tuple[float, ...] = (")
        for value in coefficients:
            print(f"    {value!r},")
        print(")\n")
    print("# (E, c0, c1): for |x| >= 2^E, x * 2/pi = x * (c0 + c1) mod 4")
    print("TWO_OVER_PI: tuple[tuple[int, float, float], ...] = (")
    for exponent, high, low in two_over_pi_windows():
        print(f"    ({exponent}, {high!r}, {low!r}),")
    print(")")


if __name__ == "__main__":
    main()
