"""
The experts that each row goes to, their weights, and the order of the work: tiles of rows of one expert.

Sources: N. Shazeer et al., Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer, ICLR 2017.
L. Liu et al., Sparse Backpropagation for MoE Training, 2023, and GRIN, 2024, for the sparse mixer.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ....lazy_dataclass import dataclass
from ..emitting.forms import backwards
from ..emitting.graph_builder import GraphBuilder
from ..value import Value

LEAST_WEIGHT: Final = 1e-8
"""Experts with weights up to this one are left out by QMoE, as onnxruntime does."""

JITTER: Final = 0.01
"""Half the relative distance from the greatest score within which the sparse mixer counts others, as in Phi-3.5-MoE."""

LOW: Final = 4
TALLEST: Final = 32
"""The rows of a tile where there are few, and the most. More of them make no product faster (measured on a Zen 5)."""


@dataclass
class Routes:
    """The experts of each row, `rows x k` of i64, and their weights in f32. Weights up to `least` count as none."""

    experts: Value
    weights: Value
    least: float

    @property
    def count(self) -> int:
        """The number of pairs of a row and an expert."""
        rows, k = self.experts.shape
        return (rows or 0) * (k or 0)


def by_softmax_of_all(b: GraphBuilder, scores: Value, k: int, normalised: bool) -> Routes:
    """Returns the experts with the greatest of all probabilities, and these or their shares of their sum."""
    weights, experts = _greatest(b, b.softmax(scores, axis=1), k)
    if normalised:
        weights = b.divide(weights, b.sum(weights, axis=(1,), keepdims=True))
    return Routes(experts, weights, 0.0)


def by_softmax_of_chosen(b: GraphBuilder, scores: Value, k: int) -> Routes:
    """Returns the experts with the greatest scores, and probabilities among them."""
    chosen, experts = _greatest(b, scores, k)
    return Routes(experts, b.softmax(chosen, axis=1), LEAST_WEIGHT)


def by_given_weights(b: GraphBuilder, scores: Value, k: int, given: Value, normalised: bool) -> Routes:
    """Returns the experts with the greatest scores, and the weights that are given, or their shares of their sum."""
    _, experts = _greatest(b, scores, k)
    weights = b.take_along_axis(given, experts, axis=1)
    if normalised:
        total = b.sum(weights, axis=(1,), keepdims=True)
        none = b.full((), 0.0, "f32")
        weights = b.where(b.equal(total, 0.0), none, b.divide(weights, total))
    return Routes(experts, weights, LEAST_WEIGHT)


def by_sparse_mixer(b: GraphBuilder, scores: Value) -> Routes:
    """
    Returns the two experts with the greatest scores, one after the other.

    The weight of each is its probability among the scores that are near to it. The second knows nothing of the first.
    """
    nothing = b.full((), float("-inf"), "f32")
    numbers = b.constant(np.arange(scores.shape[1] or 0, dtype=np.int64)[None])
    left, experts, weights = scores, [], []
    for _ in range(2):
        most = b.max(left, axis=(1,), keepdims=True)
        expert = b.argmax(left, axis=1, keepdims=True)
        distance = b.divide(b.subtract(most, scores), b.maximum(b.abs(scores), most))
        near = b.where(b.greater(distance, 2 * JITTER), nothing, left)
        experts.append(expert)
        weights.append(b.take_along_axis(b.softmax(near, axis=1), expert, axis=1))
        left = b.where(b.equal(numbers, expert), nothing, left)
    return Routes(b.concat(*experts, axis=1), b.concat(*weights, axis=1), 0.0)


def _greatest(b: GraphBuilder, scores: Value, k: int) -> tuple[Value, Value]:
    """Returns the `k` greatest scores of each row and their places, of equal ones the last ones, as onnxruntime."""
    found, places = b.top_k(backwards(b, scores, 1), k=k, axis=1)
    last = (scores.shape[1] or 0) - 1
    return found, b.subtract(b.full((), last, "i64"), places)


# The order


@dataclass
class Tiles:
    """
    Rows of one expert each, in tiles of equal height. There are at most `most` tiles, and `count` of them at run time.

    `experts` has the expert of each tile, and `rows` the rows of the input in it, as `most x height`. `places` says
    where the pairs of a row and an expert are, in the order of the routes; without it they are in that order.
    """

    count: int | Value
    most: int
    height: int
    experts: Value
    rows: Value
    places: Value | None


def height_of(pairs: int, experts: int) -> int:
    """
    Returns the height of tiles: half of what an expert gets where all get the same, as a power of two.

    Higher ones would have more places for nothing. Up to `LOW`, tiles of all that an expert gets are faster.
    """
    share = 1 << max(-(-pairs // experts) - 1, 0).bit_length()
    return max(min(share, LOW), min(share // 2, TALLEST))


def tiles_of(b: GraphBuilder, routes: Routes, experts: int, height: int) -> Tiles:
    """
    Returns the tiles of rows that go to one expert.

    The last tile of an expert is filled up with the first row of the input, whose results there nobody takes.
    """
    pairs, k = routes.count, routes.experts.shape[1] or 1
    chosen = b.reshape(routes.experts, shape=(pairs,))
    source = b.constant(np.arange(pairs, dtype=np.int64) // k)
    if height == 1:
        return Tiles(pairs, pairs, 1, chosen, b.reshape(source, shape=(pairs, 1)), None)
    most = (pairs + (height - 1) * min(experts, pairs)) // height
    numbers = b.constant(np.arange(experts, dtype=np.int64)[None])
    mine = b.astype(b.equal(b.expand_dims(chosen, axis=(1,)), numbers), dtype="i64")
    before = b.subtract(b.sum(b.multiply(b.cumulative_sum(mine, axis=0), mine), axis=(1,)), 1)
    shift = height.bit_length() - 1
    tiles = b.right_shift(b.add(b.sum(mine, axis=(0,)), height - 1), shift)
    ends = b.cumulative_sum(tiles, axis=0)
    first = b.take(b.subtract(ends, tiles), chosen, axis=0)
    places = b.add(b.left_shift(first, shift), before)
    room = b.full((most * height,), 0, "i64")
    rows = b.scatter_nd(room, b.expand_dims(places, axis=(1,)), source)
    all_tiles = b.constant(np.arange(most, dtype=np.int64)[:, None])
    passed = b.sum(b.astype(b.less_equal(b.expand_dims(ends, axis=(0,)), all_tiles), dtype="i64"), axis=(1,))
    count = b.reshape(b.strided_slice(ends, axes=(0,), begin=(-1,), end=(experts,)), shape=())
    own = b.minimum(passed, experts - 1)
    return Tiles(count, most, height, own, b.reshape(rows, shape=(most, height)), places)
