"""Element types of tensor expressions, as the short names MLIR prints: `f32`, `bf16`, `i1`, `i8`, `ui8`, `index` …"""

from __future__ import annotations

FLOATS = ("f16", "bf16", "f32", "f64")
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("ui8", "ui16", "ui32", "ui64")
INTEGERS = SIGNED + UNSIGNED
NUMERIC = FLOATS + INTEGERS
ALL = NUMERIC + ("i1",)
EVERY = ALL + ("index",)

LEAST_NORMAL = {"f32": 2.0**-126, "f64": 2.0**-1022}
"""
The least normal number of the types that floats are computed in.

Source: IEEE 754-2019, table 3.5. What is subnormal in f16 is normal in f32, which f16 is computed in.
"""


def is_float(dtype: str) -> bool:
    return dtype in FLOATS


def is_unsigned(dtype: str) -> bool:
    """Whether the values are never negative; `i1` counts as unsigned."""
    return dtype in UNSIGNED or dtype == "i1"


def is_integer(dtype: str) -> bool:
    """Whether the values are integers with arithmetic, `index` included and `i1` not."""
    return dtype in INTEGERS or dtype == "index"


def bit_width(dtype: str) -> int:
    """Bits of one value; an `index` has 64."""
    if dtype == "index":
        return 64
    if dtype not in EVERY:
        raise ValueError(f"unknown element type '{dtype}', expected one of {', '.join(EVERY)}")
    return int(dtype.lstrip("bfui"))


def integer_range(dtype: str) -> tuple[int, int]:
    """The smallest and largest value of an integer type."""
    bits = bit_width(dtype)
    if is_unsigned(dtype):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def accumulator(dtype: str) -> str:
    """The type in which sums and products of `dtype` are accumulated: at least f32 for floats, itself for integers."""
    return "f32" if dtype in ("f16", "bf16") else dtype
