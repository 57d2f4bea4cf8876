"""
Non-maximum suppression of boxes that are known at import. The number of boxes that stay depends on data, so it is the
shape of no result that is computed at run time.

Source: the operator NonMaxSuppression of ONNX. What it leaves open is as in onnxruntime: numbers are f32, a box
suppresses another one when their overlap is above the threshold, and of equal scores the first one is taken first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import Known, converter
from ..value import Value

Array = np.ndarray[Any, Any]


@converter("NonMaxSuppression")
def non_max_suppression(
    b: GraphBuilder,
    boxes: Known,
    scores: Known,
    most: Known | None = None,
    iou_threshold: Known | None = None,
    score_threshold: Known | None = None,
    *,
    center_point_box: int = 0,
) -> Value:
    """Returns batch, class and box of those that stay, in the order in which they are selected."""
    places, weights = np.asarray(boxes), np.asarray(scores)
    if places.ndim != 3 or weights.ndim != 3 or places.shape != (weights.shape[0], weights.shape[2], 4):
        raise ConversionError(
            f"boxes have the shape {list(places.shape)} and scores {list(weights.shape)}, "
            "expected [batches, boxes, 4] and [batches, classes, boxes]"
        )
    if center_point_box not in (0, 1):
        raise ConversionError(f"center_point_box is {center_point_box}, expected 0 or 1")
    count, overlap = _number(most, "max_output_boxes_per_class", 0), _number(iou_threshold, "iou_threshold", 0.0)
    if not 0 <= overlap <= 1:
        raise ConversionError(f"iou_threshold is {overlap:g}, expected 0 to 1")
    least = None if score_threshold is None else _number(score_threshold, "score_threshold", 0.0)
    found: list[tuple[int, int, int]] = []
    for batch, category in np.ndindex(*weights.shape[:2]):
        low, high = _corners(places[batch].astype(np.float32), bool(center_point_box))
        kept = _kept(low, high, weights[batch, category].astype(np.float32), count, overlap, least)
        found += [(batch, category, box) for box in kept]
    return b.constant(np.array(found, np.int64).reshape(-1, 3))


def _number(array: Any, what: str, default: float) -> float:
    """Returns the only element of an input, which has rank 0 or 1. Raises `ConversionError`."""
    if array is None:
        return default
    if array.size != 1:
        raise ConversionError(f"{what} has the shape {list(array.shape)}, expected one element")
    return array.reshape(()).item()


def _corners(boxes: Array, from_centre: bool) -> tuple[Array, Array]:
    """Returns the least and the greatest coordinates of each box. Two corners may be those of either diagonal."""
    one, other = boxes[:, :2], boxes[:, 2:]
    if from_centre:
        half = other / np.float32(2)
        return one - half, one + half
    return np.minimum(one, other), np.maximum(one, other)


def _kept(low: Array, high: Array, scores: Array, count: float, overlap: float, least: float | None) -> list[int]:
    """Returns at most `count` boxes, the best first, without those that overlap a better one too much."""
    order = np.argsort(-scores, kind="stable")
    if least is not None:
        order = order[scores[order] > np.float32(least)]
    kept: list[int] = []
    while len(order) and len(kept) < count:
        best, order = int(order[0]), order[1:]
        kept.append(best)
        order = order[~(_overlaps(low, high, best, order) > np.float32(overlap))]
    return kept


def _overlaps(low: Array, high: Array, box: int, others: Array) -> Array:
    """Returns the area that a box shares with each of some others, over the area of both. It is 0 without an area."""
    with np.errstate(all="ignore"):
        shared = np.minimum(high[box], high[others]) - np.maximum(low[box], low[others])
        inner = np.where((shared > 0).all(axis=1), shared[:, 0] * shared[:, 1], np.float32(0))
        area = np.prod(high - low, axis=1)
        union = area[box] + area[others] - inner
        flat = (inner <= 0) | (area[box] <= 0) | (area[others] <= 0) | (union <= 0)
        return np.where(flat, np.float32(0), inner / union)
