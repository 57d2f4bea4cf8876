"""Numbers, lists, arrays of subclasses and masked arrays as arguments of a call."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.runtime.errors import ArgumentError


def same(dtype: str, shape: str = "") -> stepwell.Executable:
    type_ = f"tensor<{shape}{dtype}>"
    return stepwell.compile(f"func.func @main(%x: {type_}) -> {type_} {{\n  func.return %x : {type_}\n}}\n")


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        *[(dtype, 2**60) for dtype in ("i64", "ui64", "f64", "f32", "bf16")],
        *[("f64", 2**70), ("f32", -(2**60)), ("i64", np.uint64(2**60)), ("f64", 1e300)],
        *[("i64", -(2**63)), ("ui64", 2**64 - 1), ("i64", 2**53 + 1), ("f32", float("inf"))],
    ],
)
def test_large_numbers_that_a_type_has_are_taken(dtype: str, number: Any) -> None:
    assert same(dtype)(number)[0] == number
    assert same(dtype, "2x")([number, number])[0].tolist() == [number, number]


def test_no_number_of_a_list_is_rounded_in_silence() -> None:
    assert same("i64", "2x")([2**53 + 1, 1.0])[0].tolist() == [2**53 + 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same("f16", "2x")([np.float16(1.5), np.float16(2)])[0].tolist() == [1.5, 2]
    assert same("ui64", "2x")([2**64 - 1, 1.0])[0].tolist() == [2**64 - 1, 1]
    nan, array = float("nan"), np.array([2**62 + 2**20, 1])
    assert same("i64", "2x2x")([array, [1.0, 2]])[0].tolist() == [[2**62 + 2**20, 1], [1, 2]]
    assert np.isnan(same("f32", "2x")([nan, 2**60])[0][0])
    for dtype, given, blamed in (
        ("f64", [2**53 + 1, 1.0], 2**53 + 1),
        ("f32", [1.0, 2**53 + 2], 2**53 + 2),
        ("f32", [nan, 1e300], r"1e\+300"),
        ("i64", [2**63, 1], 2**63),
        ("ui64", [1, -(2**60)], -(2**60)),
        ("i64", [nan, 2**60], "nan"),
        ("ui8", [2**60, 1], 2**60),
        ("i32", [1e18, 1.5], r"1e\+18"),
    ):
        with pytest.raises(ArgumentError, match=f"argument 'x' holds {blamed}.*, which tensor<2x{dtype}> does not"):
            same(dtype, "2x")(given)
    with pytest.raises(ArgumentError, match="argument 'x' holds object, expected numbers of type tensor<2xf32>"):
        same("f32", "2x")([None, 1])


class Lies(np.ndarray):
    """Says that it is larger than it is, and of another type."""

    @property
    def shape(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return (1 << 20,)

    @property
    def dtype(self) -> Any:
        return np.dtype(np.float32)


def test_a_subclass_is_not_believed_about_its_shape_and_type() -> None:
    exe, array = same("f32", "1048576x"), np.ones(4, np.float32)
    with pytest.raises(ArgumentError, match="argument 'x' has shape 4, expected tensor<1048576xf32>"):
        exe(array.view(Lies))
    with pytest.raises(ArgumentError, match="output 'result0' has shape 4|argument 'result0' has shape 4"):
        exe.run_into([array.view(Lies)], np.ones(1 << 20, np.float32))
    with pytest.raises(ArgumentError, match="has element type float64, expected float32"):
        same("f32", "?x")(np.ones(4).view(Lies))
    assert same("f32", "?x")(array.view(Lies))[0].shape == (4,)


def test_other_subclasses_are_arguments_and_outputs() -> None:
    class Mine(np.ndarray):
        pass

    exe, given, out = same("f32", "4x"), np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert exe(given.view(Mine))[0].tolist() == given.tolist()
    exe.run_into([out.view(Mine)], given.view(Mine))
    assert out.tolist() == given.tolist()


@pytest.mark.parametrize("size", ["4", "?"])
def test_masked_arrays_are_refused(size: str) -> None:
    exe, given = same("f32", f"{size}x"), np.ones(4, np.float32)
    masked = np.ma.array(given, mask=[True, False, False, False])
    with pytest.raises(ArgumentError, match=r"argument 'x' has a mask, expected .*; array\.filled\(…\) gives"):
        exe(masked)
    with pytest.raises(ArgumentError, match="output 'result0' has a mask"):
        exe.run_into([masked], given + 1)
    assert exe(masked.filled(0))[0].tolist() == [0, 1, 1, 1]
