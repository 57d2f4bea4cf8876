"""Counts how good results are: accuracy on labels, or agreement with the program in floats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...lazy_dataclass import dataclass
from ..calibration.batches import in_batch
from ..errors import ArgumentError
from ..executable import Executable

Array = np.ndarray[Any, Any]
Outputs = tuple[Array, ...]

Metric = Callable[[Sequence[Outputs], Any], float]
"""Returns how good results are, from 0 to 1, by the results of each batch and the labels."""

CLOSE: Final = 0.01
"""The part of the range of a result of one number up to which it agrees with another one."""


@dataclass(frozen=True)
class Score:
    """What is counted, and against what."""

    name: str
    """`accuracy`, `agreement`, or `metric` for one that was given."""
    labels: Any
    metric: Metric

    def of(self, outputs: Sequence[Outputs]) -> float:
        """Returns how good results are, from 0 to 1."""
        return float(self.metric(outputs, self.labels))


def score_of(labels: Sequence[Any] | None, metric: Metric | None, expected: Sequence[Outputs]) -> Score:
    """
    Returns what to count by. `expected` are the results of the program in floats.

    `labels` are an array of class numbers for each batch. Raises ArgumentError where they do not fit the results.
    """
    for number, (first, *_) in enumerate(expected, 1):
        if not first.size:
            raise ArgumentError(f"batch {number}: the result is of shape {first.shape}, expected rows to count")
    if metric is not None:
        return Score("metric", labels if labels is not None else expected, metric)
    if labels is None:
        return Score("agreement", expected, agreement)
    given = [np.array(each) for each in labels]
    if len(given) != len(expected):
        raise ArgumentError(f"there are labels of {len(given)} batches, expected {len(expected)}, as there are batches")
    for number, (own, (first, *_)) in enumerate(zip(given, expected, strict=True), 1):
        if own.shape != first.shape[:-1]:
            raise ArgumentError(
                f"the labels of batch {number} are of shape {own.shape}, expected {first.shape[:-1]}: a class "
                f"number for each row of the result, which is of shape {first.shape}"
            )
        _check_classes(number, own, first.shape[-1])
    return Score("accuracy", given, accuracy)


def _check_classes(number: int, labels: Array, count: int) -> None:
    """Raises ArgumentError for labels that are no numbers of `count` classes."""
    if labels.dtype.kind not in "biu":
        raise ArgumentError(
            f"the labels of batch {number} are of type {labels.dtype}, expected integers, which are class numbers"
        )
    outside = labels[(labels < 0) | (labels >= count)]
    if outside.size:
        raise ArgumentError(
            f"the labels of batch {number} have the class {outside.flat[0]}, expected 0 to {count - 1}, as the rows of "
            f"the result have {count} elements"
        )


def accuracy(outputs: Sequence[Outputs], labels: Sequence[Array]) -> float:
    """Returns the part of the rows of the first result whose greatest element is that of the label."""
    right = [first.argmax(-1) == own for (first, *_), own in zip(outputs, labels, strict=True)]
    return float(np.mean(np.concatenate([np.atleast_1d(each).reshape(-1) for each in right])))


def agreement(outputs: Sequence[Outputs], expected: Sequence[Outputs]) -> float:
    """
    Returns the part of the rows of the first result whose greatest element is in the same place.

    Of rows of one number, and of results of one axis, it is the part of the elements that are off by at most one
    percent of the range of all, and of integers the part of those that are equal.
    """
    pairs = [(np.atleast_1d(one[0]), np.atleast_1d(other[0])) for one, other in zip(outputs, expected, strict=True)]
    if all(one.dtype.kind in "biu" for one, _ in pairs):
        same = [(one == other).reshape(-1) for one, other in pairs]
    elif all(one.ndim > 1 and one.shape[-1] > 1 for one, _ in pairs):
        same = [(one.argmax(-1) == other.argmax(-1)).reshape(-1) for one, other in pairs]
    else:
        flat = np.concatenate([other.reshape(-1) for _, other in pairs]).astype(np.float64)
        span = float(flat.max() - flat.min()) or 1.0
        same = [(np.abs(one - other.astype(np.float64)) <= CLOSE * span).reshape(-1) for one, other in pairs]
    return float(np.mean(np.concatenate(same)))


def decibels(found: Iterable[Outputs], expected: Iterable[Outputs]) -> float:
    """
    Returns the ratio of signal to noise of floats that are results, in decibels.

    It is infinite without noise, and NaN where no result is of floats.
    """
    any_floats = False
    signal = noise = 0.0
    for one, other in zip(found, expected, strict=True):
        for own, right in zip(one, other, strict=True):
            if right.dtype.kind in "biu":
                continue
            any_floats = True
            wide = right.astype(np.float64)
            signal += float(np.square(wide).sum())
            noise += float(np.square(own.astype(np.float64) - wide).sum())
    if not any_floats:
        return float("nan")
    if not noise:
        return float("inf")
    return 10 * float(np.log10(signal / noise)) if signal else float("-inf")


def outputs_of(program: Executable, arguments: Sequence[Sequence[Any]], *more: Any) -> list[Outputs]:
    """
    Returns the results of a program for each batch of arguments, to each of which `more` are added.

    The arguments stay as they are. A program with donated ones gets copies, and its results are these.
    """
    found: list[Outputs] = []
    for number, each in enumerate(arguments, 1):
        with in_batch(number):
            found.append(tuple(np.asarray(result) for result in program(*program.apart(*each, *more))))
    return found


Batches = Iterable[Mapping[str, Any]]
