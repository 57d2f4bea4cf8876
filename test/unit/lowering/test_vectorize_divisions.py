"""Integer divisions that run as floats, against whole numbers of Python, where quotients are next to whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.reference.registry import evaluate
from stepwell.runtime.errors import ExecutionError

TYPES = {"i8": np.int8, "ui8": np.uint8, "i16": np.int16, "ui16": np.uint16, "i32": np.int32, "ui32": np.uint32}
TYPES |= {"i64": np.int64, "ui64": np.uint64}


def program(op: str, dtype: str, size: int) -> str:
    type_ = f"tensor<{size}x{dtype}>"
    return f"""
func.func @main(%x: {type_}, %y: {type_}) -> {type_} {{
  %z = graph.{op} %x, %y : ({type_}, {type_}) -> {type_}
  func.return %z : {type_}
}}
"""


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Dividends next to multiples of their divisors, of all sizes, and the limits of the type."""
    limits, random = np.iinfo(TYPES[dtype]), np.random.default_rng(7)
    found: list[tuple[int, int]] = []
    for _ in range(400):
        divisor = int(random.integers(1, 1 << int(random.integers(1, limits.bits)), dtype=np.uint64))
        most = limits.max // divisor
        number = int(random.integers(0, max(most >> int(random.integers(0, limits.bits)), 1) + 1, dtype=np.uint64))
        found += [(number * divisor + by, divisor) for by in (-1, 0, 1)]
        if limits.min:
            found += [(-number * divisor - by, divisor) for by in (-1, 0, 1)]
            found += [(number * divisor + by, -divisor) for by in (-1, 0, 1)]
    edges = [limits.min, limits.min + 1, limits.max, limits.max - 1, 1, 2, 3]
    found += [(a, b) for a in edges for b in edges if b]
    kept = [(a, b) for a, b in found if limits.min <= a <= limits.max and limits.min <= b <= limits.max]
    x, y = zip(*kept, strict=True)
    return np.array(x, TYPES[dtype]), np.array(y, TYPES[dtype])


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("dtype", list(TYPES))
@pytest.mark.parametrize("op", ["divide", "floor_divide", "mod"])
def test_quotients_are_exact(op: str, dtype: str) -> None:
    x, y = pairs(dtype)
    (found,) = stepwell.compile(program(op, dtype, x.size), cache=False, threads=1)(x, y)
    wrapped = np.array(
        [_by_hand(op, int(a), int(b)) % 2 ** (8 * x.itemsize) for a, b in zip(x, y, strict=True)], object
    )
    np.testing.assert_array_equal(found.view(f"u{x.itemsize}"), wrapped.astype(f"u{x.itemsize}"))
    np.testing.assert_array_equal(found, evaluate(f"graph.{op}", {}, x, y)[0])


def _by_hand(op: str, a: int, b: int) -> int:
    if op == "mod":
        return a % b
    return a // b if op == "floor_divide" or (a < 0) == (b < 0) else -(-a // b)


def test_a_division_by_zero_fails_after_its_row() -> None:
    program_ = stepwell.compile(program("divide", "i32", 40), cache=False, threads=1)
    for place in (0, 17, 39):
        y = np.ones(40, np.int32)
        y[place] = 0
        with pytest.raises(ExecutionError, match="graph.divide: integer division by zero"):
            program_(np.arange(40, dtype=np.int32), y)
