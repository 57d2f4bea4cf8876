"""Results of one program before and after a pass: where they differ by more than its class of numerics allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ..lazy_dataclass import dataclass
from ..reference.element_types import Array, is_float

FACTOR = 16
"""The factor by which a difference may be larger than those of perturbed runs."""

ULPS = 8
"""Units of the last place that a result of a pass that rounds may always be off."""


@dataclass(frozen=True)
class Mismatch:
    """The worst element of a result that differs."""

    result: int
    index: tuple[int, ...]
    before: Any
    after: Any
    tolerance: float

    def __str__(self) -> str:
        where = f"[{', '.join(map(str, self.index))}]"
        values = f"{self.after}, before it {self.before}"
        return f"result {self.result} at {where} is {values} (tolerance {_short(self.tolerance)})"


def _short(number: float) -> str:
    return "0, the same bits" if number == 0 else f"{number:.2g}"


@dataclass(frozen=True)
class Slack:
    """The tolerance of each element of a result, and which elements docs/numerics.md leaves open."""

    tolerance: Array
    open: Array


@dataclass(frozen=True)
class Comparison:
    """What comparing all results gave: the first mismatch, and the number of elements that were left open."""

    mismatch: Mismatch | None = None
    open: int = 0


def slack_of(result: Array, samples: Sequence[Array], steps: bool = False) -> Slack:
    """
    Returns the slack of a result, from the results of runs in which every operation was off by some units. With `steps`
    integers of up to 16 bits, which stand for reals, may be as far off as they were in a run, and one more.

    The tolerance is some times the differences seen, at the element or on the mean of the tensor. Elements that change
    by more than rounding are open: an integer that is another one, a number that becomes infinite or NaN.
    """
    if not is_float(result.dtype):
        opened, most = np.zeros(result.shape, bool), np.zeros(result.shape)
        for sample in samples:
            opened |= sample != result
            most = np.maximum(most, np.abs(_wide(sample) - _wide(result)))
        if steps and result.dtype.kind != "b" and result.dtype.itemsize <= 2:
            return Slack(most + 1, np.zeros(result.shape, bool))
        return Slack(np.zeros(result.shape), opened)
    info = ml_dtypes.finfo(result.dtype)
    with np.errstate(all="ignore"):
        wide = _wide(result)
        finite = np.isfinite(wide)
        opened, largest = np.zeros(result.shape, bool), np.zeros(result.shape, wide.dtype)
        for sample in samples:
            other = _wide(sample)
            opened |= np.isfinite(other) != finite
            largest = np.maximum(largest, np.where(finite & np.isfinite(other), np.abs(other - wide), 0))
        mean = largest.mean() if largest.size else 0.0
        size = np.where(finite, np.abs(wide), 0)
        eps = float(info.eps)
        tolerance = FACTOR * np.maximum(largest, mean) + ULPS * eps * size + ULPS * eps + 4 * float(info.tiny)
    return Slack(tolerance, opened)


def exactly(before: Sequence[Array], after: Sequence[Array]) -> Comparison:
    """Compares bit by bit. A NaN is a NaN, the sign of a zero counts."""
    for number, (one, other) in enumerate(zip(before, after, strict=True)):
        other = _like(other, one)
        same = _bits(one) == _bits(other)
        if is_float(one.dtype):
            same |= np.isnan(_wide(one)) & np.isnan(_wide(other))
        if not same.all():
            return Comparison(_worst(number, one, other, ~same, np.zeros(one.shape)))
    return Comparison()


def nearly(
    before: Sequence[Array], after: Sequence[Array], slacks: Sequence[Slack], numerics: str, *, infinite: bool = False
) -> Comparison:
    """
    Compares within the slack what a pass of the class `numerics` may change.

    Infinities and NaNs that come or go are open in the class `fast`. In others but `exact` so is what was NaN, where
    inputs are `infinite`: those compute the same function of real numbers, and x * sigmoid(x) is NaN at -inf. Zeros are
    equal whatever their signs are.
    """
    count = 0
    for number, (one, other, slack) in enumerate(zip(before, after, slacks, strict=True)):
        other = _like(other, one)
        if not is_float(one.dtype):
            near = (slack.tolerance > 0) & (np.abs(_wide(one) - _wide(other)) <= slack.tolerance)
            apart = (one != other) & ~near
            wrong = apart & ~slack.open
            count += int((apart & slack.open).sum())
            if wrong.any():
                return Comparison(_worst(number, one, other, wrong, slack.tolerance), count)
            continue
        left, right = _wide(one), _wide(other)
        with np.errstate(all="ignore"):
            same = (left == right) | (np.isnan(left) & np.isnan(right)) | (np.abs(left - right) <= slack.tolerance)
        opened = slack.open.copy()
        if numerics == "fast":
            opened |= ~(np.isfinite(left) & np.isfinite(right))
        elif infinite and numerics != "exact":
            opened |= np.isnan(left)
        wrong = ~same & ~opened
        count += int((~same & opened).sum())
        if wrong.any():
            return Comparison(_worst(number, one, other, wrong, slack.tolerance), count)
    return Comparison(None, count)


def _like(array: Array, wanted: Array) -> Array:
    """Returns an array with the element type of another of as many bytes: levels below loops have no signs."""
    array = np.asarray(array)
    if array.dtype != wanted.dtype and array.dtype.itemsize == wanted.dtype.itemsize:
        array = np.ascontiguousarray(array).view(wanted.dtype)
    return array.reshape(wanted.shape)


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.itemsize <= 8 else array


def _bits(array: Array) -> Array:
    array = np.ascontiguousarray(array)
    return array.view(f"u{array.dtype.itemsize}").reshape(array.shape)


def _worst(number: int, before: Array, after: Array, wrong: Array, tolerance: Array) -> Mismatch:
    """Returns the wrong element that is furthest off."""
    with np.errstate(all="ignore"):
        far = np.abs(_wide(after) - _wide(before))
    far = np.where(wrong, np.where(np.isfinite(far), far, np.inf), -1.0)
    index = np.unravel_index(int(np.argmax(far)), before.shape)
    where = tuple(map(int, index))
    return Mismatch(number, where, before[index], after[index], float(tolerance[index]))
