"""The table of element types: what derives from its rows, and that every list of types elsewhere has them all."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from stepwell import te
from stepwell.core.ir.element_types import ATTRIBUTES
from stepwell.core.weights import DTYPES as WEIGHTS
from stepwell.frontends.onnx.types import DTYPES as ONNX
from stepwell.runtime.exporting.header import C_TYPES
from stepwell.te.dtypes import ALL, FLOATS, SMALL_INTEGERS, STORED_FLOATS, TABLE, holds_all, numpy_dtype, of_numpy


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_of_floats_are_the_formats_of_numpy(dtype: str) -> None:
    row, info = TABLE[dtype], ml_dtypes.finfo(numpy_dtype(dtype))
    assert (row.bits, row.mantissa_bits, row.greatest) == (info.bits, info.nmant, float(info.max))
    assert 2.0 ** (1 - row.bias) == float(info.smallest_normal)
    assert row.bits == 1 + row.exponent_bits + row.mantissa_bits
    bits = np.array([row.overflow_bits - 1, row.overflow_bits], f"u{row.storage_bytes}").view(numpy_dtype(dtype))
    assert float(bits[0]) == row.greatest
    assert math.isinf(float(bits[1])) if row.has_infinity else math.isnan(float(bits[1]))
    assert of_numpy(numpy_dtype(dtype).name) == dtype


@pytest.mark.parametrize(
    "table", [ATTRIBUTES, C_TYPES, [*WEIGHTS.values(), *SMALL_INTEGERS], ONNX.values()], ids=["ir", "c", "file", "onnx"]
)
def test_no_list_leaves_a_type_out(table: object) -> None:
    assert sorted(table) == sorted(ALL)  # type: ignore[call-overload]


@pytest.mark.parametrize("narrow", STORED_FLOATS)
def test_which_types_hold_all_floats_of_8_bits(narrow: str) -> None:
    values = np.arange(256, dtype=np.uint8).view(numpy_dtype(narrow)).astype(np.float64)
    for wide in FLOATS:
        with np.errstate(all="ignore"):
            kept = np.array_equal(values.astype(np.float32).astype(numpy_dtype(wide)).astype(np.float64), values, True)
        assert holds_all(narrow, wide) == kept, wide
    assert not any(holds_all(dtype, narrow) for dtype in ("f16", "i8", "ui8"))


@pytest.mark.parametrize("dtype", STORED_FLOATS)
def test_nothing_is_computed_on_floats_of_8_bits(dtype: str) -> None:
    x = te.Var("x", dtype)
    for name, build in {
        "add": lambda: x + x,
        "max": lambda: te.maximum(x, x),
        "div": lambda: te.binary("div", x, x),
        "neg": lambda: te.unary("neg", x),
        "exp": lambda: te.exp(x),
    }.items():
        with pytest.raises(te.TEError, match=f"^'{name}' is not defined on {dtype}$"):
            build()
    assert te.cast("f32", x).dtype == "f32"
