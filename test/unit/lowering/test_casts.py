"""`astype` between all element types, natively, against the reference: every 8- and 16-bit value, and the hard ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.reference import evaluate
from stepwell.reference.element_types import DTYPES
from tolerances import check_same

Array = np.ndarray[Any, Any]

FLOATS = ("f16", "bf16", "f32", "f64")


def wide_values() -> Array:
    """Doubles where conversions go wrong: limits of every integer type, ties of every float type, and beyond."""
    found: list[float] = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        0.5,
        1.5,
        2.5,
        1e-45,
        5e-324,
        1e300,
        3.5e38,
        65519.9,
        65520.0,
    ]
    for bits in (7, 8, 15, 16, 31, 32, 63, 64):
        edge = 2.0**bits
        found += [edge, edge - 0.5, edge - 1, edge + 1, np.nextafter(edge, 0), np.nextafter(edge, np.inf)]
    for fraction, least in ((10, -24), (7, -133), (23, -149)):
        for exponent in (0, 5, -14, -126, least):
            unit = 2.0 ** (exponent - (fraction if exponent > least else 0))
            for steps in (0.5, 1.5, 2.5):
                tie = (2.0**exponent if exponent > least else 0.0) + steps * unit
                found += [tie, np.nextafter(tie, 0), np.nextafter(tie, 1e9)]
    values = np.array(found)
    return np.concatenate([values, -values])


def values_of(dtype: str) -> Array:
    """All values of a type of up to 16 bits, else chosen ones and random bits."""
    numpy_type = np.dtype(DTYPES[dtype])
    if dtype == "i1":
        return np.array([False, True])
    if numpy_type.itemsize <= 2:
        return np.arange(2 ** (8 * numpy_type.itemsize), dtype=f"u{numpy_type.itemsize}").view(numpy_type)
    random = np.random.default_rng(5).integers(0, 256, 4096 * numpy_type.itemsize, dtype=np.uint8).view(numpy_type)
    with np.errstate(all="ignore"):
        if dtype in FLOATS:
            small = (np.random.default_rng(6).standard_normal(4096) * 2.0**16).astype(numpy_type)
            return np.concatenate([wide_values().astype(numpy_type), small, random])
    edges = [sign * 2**bits + step for bits in range(64) for sign in (1, -1) for step in (-1, 0, 1)]
    # Halfway between neighbours of f32, f16 and bf16, where a second rounding shows.
    edges += [2**60 + 2 ** (60 - bits) + step for bits in (8, 9, 11, 12, 24, 25, 53) for step in (-1, 0, 1)]
    edges += [2**15 + 16 + step for step in (-1, 0, 1)] + [65519, 65520, 65521]
    width = 8 * numpy_type.itemsize
    kept = np.array([edge % 2**width for edge in edges], np.uint64).astype(f"u{numpy_type.itemsize}").view(numpy_type)
    return np.concatenate([kept, random])


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("source", DTYPES)
def test_conversions_to_every_type(source: str) -> None:
    values = values_of(source)
    lines = [
        (
            f"  %{target} = graph.astype %x, dtype = {target} : (tensor<{values.size}x{source}>) -> "
            f"tensor<{values.size}x{target}>"
        )
        for target in DTYPES
    ]
    types = ", ".join(f"tensor<{values.size}x{target}>" for target in DTYPES)
    returned = ", ".join(f"%{target}" for target in DTYPES)
    body = "\n".join(lines)
    text = (
        f"func.func @main(%x: tensor<{values.size}x{source}>) -> ({types}) {{\n{body}\n"
        f"  func.return {returned} : {types}\n}}"
    )
    found = stepwell.compile(text, opt_level=0, cache=False)(values)
    assert len(found) == len(DTYPES)
    for target, array in zip(DTYPES, found, strict=True):
        (expected,) = evaluate("graph.astype", {"dtype": target}, values)
        try:
            check_same([array], [expected])
        except AssertionError as error:
            raise AssertionError(f"{source} to {target}: {error}") from error
