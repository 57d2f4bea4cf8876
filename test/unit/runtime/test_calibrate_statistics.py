"""Calibration statistics against NumPy on the whole data, in any order and portions; the file they are saved in."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import counts
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.rewrites.calibration.histogram import Histogram
from stepwell.rewrites.calibration.statistics import (
    StatisticsOptions,
    TensorStatistics,
    load_statistics,
    save_statistics,
)

SETTINGS = settings(max_examples=2000 if counts.FULL else 150, deadline=None, derandomize=not counts.FULL)
PERCENTS = (0.0, 0.1, 1.0, 25.0, 50.0, 99.0, 99.9, 100.0)

anything = st.floats(width=64)
# NumPy's own deviation of tiny numbers underflows.
ordinary = (
    st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-100)
    | st.integers(-3, 3).map(float)
    | st.floats(0.999, 1.001)
)


def statistics_of(*arrays: Any, bins: int = 64) -> TensorStatistics:
    statistics = TensorStatistics("tensor<?xf64>", StatisticsOptions(bins, PERCENTS))
    for array in arrays:
        statistics.update(np.asarray(array))
    return statistics


def portions(values: list[float], cuts: list[int]) -> list[Any]:
    places = sorted(cut % (len(values) + 1) for cut in cuts)
    return [np.array(part, np.float64) for part in np.split(np.array(values, np.float64), places)]


def plainly(statistics: TensorStatistics) -> tuple[Any, ...]:
    """What does not depend on the order of the data."""
    return (
        statistics.count,
        statistics.nan,
        statistics.positive_infinity,
        statistics.negative_infinity,
        statistics.minimum,
        statistics.maximum,
        statistics.histogram,
    )


@SETTINGS
@given(st.lists(anything, max_size=40), st.lists(st.integers(0, 40), max_size=4), st.integers(4, 70))
def test_order_and_portions_make_no_difference(values: list[float], cuts: list[int], bins: int) -> None:
    whole = statistics_of(values, bins=bins)
    parts = portions(values, cuts)
    for order in (parts, parts[::-1]):
        assert plainly(statistics_of(*order, bins=bins)) == plainly(whole)


@SETTINGS
@given(st.lists(anything, min_size=1, max_size=60), st.integers(4, 70))
def test_the_histogram_counts_each_value_in_its_bin(values: list[float], bins: int) -> None:
    finite = [value for value in values if math.isfinite(value)]
    histogram = statistics_of(values, bins=bins).histogram
    if not finite:
        assert histogram is None
        return
    assert histogram is not None and histogram.total == len(finite) and len(histogram.counts) <= bins
    from fractions import Fraction

    width = Fraction(2) ** histogram.exponent
    for index, count in enumerate(histogram.counts):
        low = (histogram.first + index) * width
        assert sum(low <= Fraction(value) < low + width for value in finite) == count


@SETTINGS
@given(st.lists(st.lists(ordinary, max_size=30), min_size=1, max_size=4), st.integers(4, 300))
def test_the_numbers_are_those_of_numpy(batches: list[list[float]], bins: int) -> None:
    found = statistics_of(*batches, bins=bins)
    values = np.array([value for batch in batches for value in batch])
    assert found.batches == len(batches) and found.count == len(values)
    if not len(values):
        assert found.minimum is found.maximum is found.mean is found.standard_deviation is None
        assert set(found.percentiles.values()) == {None}
        return
    assert (found.minimum, found.maximum) == (values.min(), values.max())
    scale = float(np.abs(values).max())
    assert found.mean == pytest.approx(values.mean(), rel=1e-12, abs=1e-12 * scale)
    assert found.standard_deviation == pytest.approx(values.std(), rel=1e-9, abs=1e-9 * scale)
    histogram = found.histogram
    assert histogram is not None
    limit = max(2 * (values.max() - values.min()) / (bins - 1), scale * 2.0**-39, 5e-324)
    assert histogram.width <= limit
    for percent in PERCENTS:
        exact = float(np.percentile(values, percent))
        value = found.percentile(percent)
        assert value is not None and abs(value - exact) <= histogram.width + 1e-12 * scale
    assert (found.percentile(0), found.percentile(100)) == (values.min(), values.max())


def test_percentiles_of_much_data_are_close() -> None:
    generator = np.random.default_rng(3)
    batches = [generator.standard_normal((50, 40)).astype(np.float32) * 3 + 1 for _ in range(10)]
    found = statistics_of(*batches, bins=2048)
    everything = np.concatenate(batches).astype(np.float64)
    for percent in PERCENTS:
        assert found.percentile(percent) == pytest.approx(np.percentile(everything, percent), abs=0.03)
    assert found.histogram is not None and 1024 <= len(found.histogram.counts) <= 2048
    expected, _ = np.histogram(everything, found.histogram.edges)
    assert tuple(expected) == found.histogram.counts


@pytest.mark.parametrize(
    "values",
    [
        [0.0, -0.0],
        [5e-324, -5e-324, 0.0],
        [1.7e308, -1.7e308, 1e-300, -1e-300],
        [1.0] * 5,
        [-1.0, np.nextafter(-1.0, 0)],
        [2.0**60, 2.0**60 + 2.0**20],
    ],
)
def test_extreme_ranges(values: list[float]) -> None:
    found = statistics_of(values[:1], values[1:], bins=8)
    assert plainly(found) == plainly(statistics_of(values, bins=8))
    assert found.histogram is not None and found.histogram.total == len(values)
    assert found.mean is not None and math.isfinite(found.mean)
    assert found.standard_deviation is not None and math.isfinite(found.standard_deviation)
    for percent in PERCENTS:
        value = found.percentile(percent)
        assert value is not None and min(values) <= value <= max(values)


def test_a_negative_value_too_small_for_its_bin_is_in_the_bin_below_zero() -> None:
    histogram = Histogram.of(np.array([-1e-300, 1.0e300, 1e-300]), 4)
    assert histogram.first == -1 and histogram.counts[:2] == (1, 1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.bool_])
def test_integers_stay_exact(dtype: Any) -> None:
    values = np.array([0, 1, 1], dtype)
    if dtype is np.int64:
        values = np.array([-(2**63), 2**63 - 1, 2**53 + 1])
    found = statistics_of(values)
    assert (found.minimum, found.maximum) == (int(values.min()), int(values.max()))
    assert type(found.minimum) is int


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_small_floats(dtype: Any) -> None:
    values = np.array([1.5, np.nan, np.inf, -np.inf, -2], dtype)
    found = statistics_of(values)
    assert (found.minimum, found.maximum, found.count) == (-2.0, 1.5, 2)
    assert (found.nan, found.positive_infinity, found.negative_infinity, found.not_finite) == (1, 1, 1, 3)
    assert found.mean == -0.25


def test_the_size_does_not_grow_with_the_batches(tmp_path: Path) -> None:
    statistics = statistics_of(bins=16)
    for scale in range(60):
        statistics.update(np.array([-1.0, 0.3, 1.0]) * 2.0**scale)
        assert statistics.histogram is not None and len(statistics.histogram.counts) <= 16
    assert statistics.histogram is not None and statistics.histogram.total == 180


@pytest.mark.parametrize(
    "options, message",
    [((3, ()), "3 bins, expected at least 4"), ((8, (-1,)), "-1.0, expected"), ((8, (100.5,)), "100.5")],
)
def test_options_out_of_range_are_errors(options: tuple[int, tuple[float, ...]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StatisticsOptions(*options)


def test_a_text_form() -> None:
    assert str(statistics_of([1.0, 2.0])) == ("tensor<?xf64>, 1 batch, from 1 to 2, mean 1.5, standard deviation 0.5")
    assert str(statistics_of([], [np.nan])) == "tensor<?xf64>, 2 batches, no finite element"


# Files


def functions() -> dict[str, Any]:
    call = {
        "inputs": [statistics_of([1.0, 0.1, -3e300, 5e-324]), statistics_of([np.nan, np.inf])],
        "outputs": [statistics_of(np.array([True, False]))],
    }
    return {"f": call, 'odd "counts': [call, {"inputs": [], "outputs": [statistics_of()]}]}


def test_a_file_holds_everything(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    save_statistics(path, functions())
    assert load_statistics(path) == functions()
    text = path.read_text()
    assert "NaN" not in text and "Infinity" not in text
    data = json.loads(text)
    assert {key: data[key] for key in ("format", "version", "bins")} == {
        "format": "stepwell-calibration",
        "version": 2,
        "bins": 64,
    }
    tensor = data["functions"]["f"]["outputs"][0]
    assert list(tensor) == [
        "type", "batches", "count", "nan", "positive_infinity", "negative_infinity", "minimum", "maximum", "mean",
        "standard_deviation", "averaged", "batch_minimum", "batch_maximum", "channel_axis", "channel_means",
        "percentiles", "histogram",
    ]  # fmt: skip
    assert list(tensor["percentiles"]) == ["0", "0.1", "1", "25", "50", "99", "99.9", "100"]
    on_one_line = re.findall(r'^ +"counts": \[[0-9, ]+\]$', text, re.MULTILINE)
    assert len(on_one_line) == 4


def test_a_file_without_functions(tmp_path: Path) -> None:
    save_statistics(tmp_path / "s.json", {})
    assert load_statistics(tmp_path / "s.json") == {}


def test_statistics_go_on_after_loading(tmp_path: Path) -> None:
    save_statistics(tmp_path / "s.json", {"f": {"inputs": [statistics_of([1.0, 2.0])], "outputs": []}})
    (loaded,) = load_statistics(tmp_path / "s.json")["f"]["inputs"]
    loaded.update(np.array([9.0]))
    assert plainly(loaded) == plainly(statistics_of([1.0, 2.0, 9.0]))


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda text: "", "is not JSON"),
        (lambda text: text[: len(text) // 2], "is not JSON"),
        (lambda text: "[1]", "has format None version None, expected 'stepwell-calibration' version 2"),
        (lambda text: text.replace('"version": 2', '"version": 1'), "version 1, expected"),
        (lambda text: text.replace('"count": 4', '"count": 5'), "the histogram does not count 5 elements"),
        (lambda text: text.replace('"minimum"', '"least"'), "is not well-formed: KeyError"),
        (lambda text: text.replace('"inputs"', '"in"'), "is not well-formed: KeyError: 'inputs'"),
        (lambda text: text.replace('"counts": [', '"counts": ["x", '), "is not well-formed: ValueError"),
    ],
)
def test_a_file_that_is_not_right_is_an_error(tmp_path: Path, change: Any, message: str) -> None:
    path = tmp_path / "s.json"
    save_statistics(path, functions())
    path.write_text(change(path.read_text()))
    with pytest.raises(StepwellError, match=message):
        load_statistics(path)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StepwellError, match="cannot read .*no such file"):
        load_statistics(tmp_path / "s.json")
