"""
Losses of classifiers.

The number of the class that a label names is picked by a sum over all classes of the numbers at the label and zeros
elsewhere, which is one pass over the scores together with what comes before it. Labels that name no class pick 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value


@converter("NegativeLogLikelihoodLoss", since=12)
def negative_log_likelihood_loss(
    b: GraphBuilder,
    x: Value,
    labels: Value,
    weights: Value | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Value:
    """
    Returns `-weights[c] * x[n, c, …]` where `c = labels[n, …]`, or the sum or weighted mean of it.

    Labels that are `ignore_index` give 0.
    """
    if x.rank < 2 or labels.rank != x.rank - 1:
        raise ConversionError(f"the labels are {labels.shaped}, expected the shape of {x.shaped} without classes")
    chosen = _chosen(b, x, labels, ignore_index)
    factors = None if weights is None else b.reshape(weights, shape=(-1, *(1,) * (x.rank - 2)))
    loss = _picked(b, chosen, b.negative(x if factors is None else b.multiply(x, factors)))
    match reduction:
        case "none":
            return loss
        case "sum":
            return b.sum(loss)
        case "mean" if factors is None and ignore_index is None:
            return b.mean(loss)
        case "mean":
            counted = b.full((), 1.0, x.dtype) if factors is None else factors
            return b.divide(b.sum(loss), b.sum(_picked(b, chosen, counted)))
    raise ConversionError(f"reduction is '{reduction}', expected none, sum or mean")


@converter("SoftmaxCrossEntropyLoss", since=12)
def softmax_cross_entropy_loss(
    b: GraphBuilder,
    scores: Value,
    labels: Value,
    weights: Value | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Any:
    """Returns the loss of the logarithms of the softmax of the scores, and these logarithms."""
    logarithms = b.log_softmax(scores, axis=1)
    loss = negative_log_likelihood_loss(b, logarithms, labels, weights, ignore_index=ignore_index, reduction=reduction)
    return loss, logarithms


def _chosen(b: GraphBuilder, x: Value, labels: Value, ignore_index: int | None) -> Value:
    """Returns whether the label of a sample is a class, and not the one that is ignored."""
    count = x.shape[1]
    if count is None:
        raise ConversionError(f"the scores are {x.shaped}, expected the number of classes to be known")
    wanted = b.expand_dims(labels, axis=(1,))
    shape = (count, *(1,) * (x.rank - 2))
    classes = np.arange(count, dtype=np.int32 if labels.dtype == "i32" else np.int64).reshape(shape)
    chosen = b.equal(wanted, b.constant(classes))
    if ignore_index is None or not 0 <= ignore_index < count:
        return chosen
    return b.logical_and(chosen, b.not_equal(wanted, ignore_index))


def _picked(b: GraphBuilder, chosen: Value, x: Value) -> Value:
    return b.sum(b.where(chosen, x, b.full((), 0.0, x.dtype)), axis=(1,))
