"""
Keeps statistics of a tensor instead of its data: range, mean, spread, histogram and percentiles over all batches.

For each tensor, one histogram of bounded size and a few numbers are kept, however many batches there are. Histogram,
counts, least and greatest value do not depend on the order of the batches or on how the data is divided into them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.files import cannot, write_atomically
from ...lazy_dataclass import dataclass
from .histogram import Histogram

FORMAT: Final = "stepwell-calibration"
VERSION: Final = 2
SIDES: Final = ("inputs", "outputs")
VALUES: Final = "values"
"""The key of what is recorded of the values of a function, by name."""


@dataclass(frozen=True)
class StatisticsOptions:
    """The most `bins` of a histogram, at least 4, and the `percentiles` to report, each from 0 to 100."""

    bins: int = 2048
    percentiles: tuple[float, ...] = (0.1, 1.0, 50.0, 99.0, 99.9)

    def __post_init__(self) -> None:
        object.__setattr__(self, "percentiles", tuple(float(each) for each in self.percentiles))
        if self.bins < 4:
            raise ValueError(f"a histogram has {self.bins} bins, expected at least 4")
        for each in self.percentiles:
            if not 0 <= each <= 100:
                raise ValueError(f"a percentile is {each}, expected a number from 0 to 100")


@dataclass
class TensorStatistics:
    """
    Statistics of all elements of one tensor over all batches so far.

    `count`, `minimum`, `maximum`, `mean`, `standard_deviation` (of the whole, divided by `count`) and `histogram` are
    of the finite elements. The others are counted. Without finite elements `minimum` and all that follows is `None`.
    `type` is the type of the tensor in the IR.

    `batch_minimum` and `batch_maximum` are means over the `averaged` batches with finite elements, of the least and the
    greatest element of each. With a `channel_axis` there is the mean of each of its indices too, `channel_means`.
    """

    type: str
    options: StatisticsOptions = field(default_factory=StatisticsOptions)
    batches: int = 0
    count: int = 0
    nan: int = 0
    positive_infinity: int = 0
    negative_infinity: int = 0
    minimum: int | float | None = None
    maximum: int | float | None = None
    mean: float | None = None
    standard_deviation: float | None = None
    averaged: int = 0
    batch_minimum: float | None = None
    batch_maximum: float | None = None
    channel_axis: int | None = None
    channel_means: tuple[float, ...] | None = None
    histogram: Histogram | None = None

    def __str__(self) -> str:
        batches = "1 batch" if self.batches == 1 else f"{self.batches} batches"
        if self.minimum is None:
            return f"{self.type}, {batches}, no finite element"
        return (
            f"{self.type}, {batches}, from {self.minimum:.6g} to {self.maximum:.6g}, "
            f"mean {self.mean:.6g}, standard deviation {self.standard_deviation:.6g}"
        )

    def update(self, array: Any) -> None:
        """Takes in the tensor of one more batch."""
        array = np.asarray(array)
        self.batches += 1
        with np.errstate(invalid="ignore"):
            values = array.astype(np.float64).reshape(-1)
        finite = np.isfinite(values)
        if self.channel_axis is not None and finite.any():
            self._take_in_channels(array.astype(np.float64), finite.reshape(array.shape))
        if not finite.all():
            self.nan += int(np.count_nonzero(np.isnan(values)))
            self.positive_infinity += int(np.count_nonzero(values == np.inf))
            self.negative_infinity += int(np.count_nonzero(values == -np.inf))
            array, values = array.reshape(-1)[finite], values[finite]
        if values.size:
            self._take_in(array, values)

    def _take_in(self, array: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        """Merges finite `values`, the float64 of `array`."""
        smallest, largest = (_number(array, each) for each in (array.min(), array.max()))
        mean, deviation = _moments(values)
        histogram = Histogram.of(values, self.options.bins)
        self.averaged += 1
        self.batch_minimum = _averaged(self.batch_minimum, float(smallest), self.averaged)
        self.batch_maximum = _averaged(self.batch_maximum, float(largest), self.averaged)
        if self.minimum is not None and self.maximum is not None:
            smallest, largest = min(smallest, self.minimum), max(largest, self.maximum)
        if self.histogram is not None and self.mean is not None and self.standard_deviation is not None:
            histogram = self.histogram.merged(histogram, float(smallest), float(largest), self.options.bins)
            mean, deviation = _merged_moments(
                (self.count, self.mean, self.standard_deviation), (values.size, mean, deviation)
            )
        self.minimum, self.maximum, self.histogram = smallest, largest, histogram
        self.mean, self.standard_deviation = mean, deviation
        self.count += int(values.size)

    def _take_in_channels(self, values: np.ndarray[Any, Any], finite: np.ndarray[Any, Any]) -> None:
        """Merges the means along the axis of channels. Each element that is counted has the same weight."""
        assert self.channel_axis is not None
        axes = tuple(axis for axis in range(values.ndim) if axis != self.channel_axis % values.ndim)
        counts = np.maximum(finite.sum(axis=axes), 1)
        means = np.where(finite, values, 0.0).sum(axis=axes) / counts
        if self.channel_means is not None:
            share = values.size / (self.count + values.size)
            means = np.asarray(self.channel_means) * (1 - share) + means * share
        self.channel_means = tuple(means.tolist())

    @property
    def not_finite(self) -> int:
        """The number of elements that were NaN or infinite."""
        return self.nan + self.positive_infinity + self.negative_infinity

    def percentile(self, percent: float) -> float | None:
        """
        Returns the value that `percent` % of the finite elements do not exceed, or `None` without finite elements.

        It interpolates between neighbours (NumPy's `linear`), and is off by one bin of the histogram at most.
        """
        if self.histogram is None or self.minimum is None or self.maximum is None:
            return None
        rank = percent / 100 * (self.count - 1)
        ranks = [math.floor(rank), math.ceil(rank)]
        low, high = float(self.minimum), float(self.maximum)
        below, above = (
            low if k == 0 else high if k == self.count - 1 else min(max(value, low), high)
            for k, value in zip(ranks, self.histogram.ordered(ranks), strict=True)
        )
        share = rank - ranks[0]
        return below * (1 - share) + above * share

    @property
    def percentiles(self) -> dict[float, float | None]:
        """The percentiles of the options."""
        return {each: self.percentile(each) for each in self.options.percentiles}

    def to_json(self) -> dict[str, Any]:
        """Returns plain data of the form that docs/calibration.md describes."""
        histogram = self.histogram
        return {
            "type": self.type,
            "batches": self.batches,
            "count": self.count,
            "nan": self.nan,
            "positive_infinity": self.positive_infinity,
            "negative_infinity": self.negative_infinity,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "mean": self.mean,
            "standard_deviation": self.standard_deviation,
            "averaged": self.averaged,
            "batch_minimum": self.batch_minimum,
            "batch_maximum": self.batch_maximum,
            "channel_axis": self.channel_axis,
            "channel_means": None if self.channel_means is None else list(self.channel_means),
            "percentiles": {_shown(each): value for each, value in self.percentiles.items()},
            "histogram": None
            if histogram is None
            else {
                "exponent": histogram.exponent,
                "first": histogram.first,
                "counts": list(histogram.counts),
            },
        }

    @staticmethod
    def from_json(data: Mapping[str, Any], bins: int) -> TensorStatistics:
        """Returns what `to_json` made plain. Raises KeyError, TypeError or ValueError for anything else."""
        found = data["histogram"]
        histogram = None
        if found is not None:
            counts = tuple(int(count) for count in found["counts"])
            histogram = Histogram(int(found["exponent"]), int(found["first"]), counts)
        options = StatisticsOptions(bins, tuple(float(each) for each in data["percentiles"]))
        names = ("type", "batches", "count", "nan", "positive_infinity", "negative_infinity")
        names += ("minimum", "maximum", "mean", "standard_deviation")
        names += ("averaged", "batch_minimum", "batch_maximum", "channel_axis")
        means = None if data["channel_means"] is None else tuple(float(each) for each in data["channel_means"])
        plain = {name: data[name] for name in names}
        statistics = TensorStatistics(options=options, histogram=histogram, channel_means=means, **plain)
        if statistics.count != (0 if histogram is None else histogram.total):
            raise ValueError(f"the histogram does not count {statistics.count} elements")
        return statistics


def _averaged(mean: float | None, value: float, count: int) -> float:
    """Returns the mean of `count` values: `value` and others whose mean is `mean`."""
    return value if mean is None else mean * ((count - 1) / count) + value / count


def _number(array: np.ndarray[Any, Any], value: Any) -> int | float:
    """Returns an element as a Python number. Integers and i1 stay exact."""
    return int(value) if array.dtype.kind in "iub" else float(value)


def _shown(percent: float) -> str:
    return str(int(percent)) if percent == int(percent) else str(percent)


def _moments(values: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Returns mean and standard deviation. Values are scaled, so that squares of large numbers do not overflow."""
    exponent = math.frexp(float(np.abs(values).max()))[1]
    scaled = np.ldexp(values, -exponent)
    return math.ldexp(float(scaled.mean()), exponent), math.ldexp(float(scaled.std()), exponent)


def _merged_moments(one: tuple[int, float, float], two: tuple[int, float, float]) -> tuple[float, float]:
    """
    Returns mean and standard deviation of two sets together, from those of each.

    `mean = (n1 m1 + n2 m2) / n`, `variance = (n1 v1 + n2 v2) / n + n1 n2 (m2 - m1)^2 / n^2`.
    Source: Chan, Golub, LeVeque, *Updating formulae and a pairwise algorithm for computing sample variances*, 1979.
    """
    (n1, m1, s1), (n2, m2, s2) = one, two
    w1, w2 = n1 / (n1 + n2), n2 / (n1 + n2)
    apart = math.sqrt(w1 * w2)
    return m1 * w1 + m2 * w2, math.hypot(math.sqrt(w1) * s1, math.sqrt(w2) * s2, apart * m2 - apart * m1)


# Files


def save_statistics(path: str | Path, statistics: Mapping[str, Any]) -> None:
    """Writes what `calibrate(…, statistics=True)` returned as JSON, the form of which docs/calibration.md describes."""
    bins = next((tensor.options.bins for tensor in _tensors(statistics)), StatisticsOptions().bins)
    functions = _mapped(statistics, TensorStatistics.to_json)
    data = {"format": FORMAT, "version": VERSION, "bins": bins, "functions": functions}
    write_atomically(path, _compact(json.dumps(data, indent=1, allow_nan=False)) + "\n")


def load_statistics(path: str | Path) -> dict[str, Any]:
    """
    Returns what `save_statistics` was given.

    Raises StepwellError when the file cannot be read or is not of this format and version.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise cannot("read", path, error) from error
    except ValueError as error:
        raise StepwellError(Diagnostic(f"'{path}' is not JSON: {error}")) from error
    found = (data.get("format"), data.get("version")) if isinstance(data, dict) else (None, None)
    if found != (FORMAT, VERSION):
        message = f"'{path}' has format {found[0]!r} version {found[1]!r}, expected {FORMAT!r} version {VERSION}"
        raise StepwellError(Diagnostic(message))
    try:
        return _mapped(data["functions"], lambda tensor: TensorStatistics.from_json(tensor, data["bins"]))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        message = f"'{path}' is not well-formed: {type(error).__name__}: {error}"
        raise StepwellError(Diagnostic(message)) from error


def _mapped(functions: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Returns the same table of functions, or of lists of calls, with every tensor changed."""

    def of_call(call: Mapping[str, Any]) -> dict[str, Any]:
        if VALUES in call:
            return {VALUES: {name: change(tensor) for name, tensor in call[VALUES].items()}}
        return {side: [change(tensor) for tensor in call[side]] for side in SIDES}

    return {
        name: [of_call(call) for call in found] if isinstance(found, list) else of_call(found)
        for name, found in functions.items()
    }


def _tensors(functions: Mapping[str, Any]) -> list[TensorStatistics]:
    calls = [call for found in functions.values() for call in (found if isinstance(found, list) else [found])]
    named = [tensor for call in calls for tensor in call.get(VALUES, {}).values()]
    return named + [tensor for call in calls for side in SIDES for tensor in call.get(side, ())]


def _compact(text: str) -> str:
    """Returns indented JSON with the counts of a histogram on one line."""
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        if inside:
            lines[-1] += line.strip() + (" " if line.endswith(",") else "")
            inside = not line.strip().startswith("]")
        else:
            lines.append(line)
            inside = line.strip() in ('"counts": [', '"channel_means": [')
    return "\n".join(lines)
