"""Operators of classic machine learning, of the domain ai.onnx.ml: features, trees."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ....dialects.graph.shapes import compatible
from ....lazy_dataclass import dataclass
from ....te.dtypes import numpy_dtype
from ..emitting.forms import broadcast
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..registry import converter
from ..value import Value

Array = np.ndarray[Any, Any]

DOMAIN: Final = "ai.onnx.ml"

MEMBER: Final = 6
"""The mode of a node that asks whether a feature is in a set."""


@converter("Binarizer", domain=DOMAIN)
def binarizer(b: GraphBuilder, x: Value, *, threshold: float = 0.0) -> Value:
    """1 above the threshold, else 0."""
    limit = threshold if x.dtype.startswith(("f", "b")) else math.floor(threshold)
    return b.astype(b.greater(x, limit), dtype=x.dtype)


@converter("ArrayFeatureExtractor", domain=DOMAIN)
def array_feature_extractor(b: GraphBuilder, x: Value, indices: Value) -> Value:
    """Returns the columns of the last dimension at `indices`. A vector counts as one row."""
    rows = b.reshape(x, shape=(1, -1)) if x.rank == 1 else x
    return b.take(rows, b.reshape(indices, shape=(-1,)), axis=-1)


# Trees


@dataclass
class Forest:
    """
    The nodes and leaves of all trees, as arrays by one number. Nodes come first, then leaves, which lead to themselves.
    """

    roots: Array
    features: Array
    splits: Array
    modes: Array
    missing: Array
    if_true: Array
    if_false: Array
    members: Array | None
    """The set of each node, filled up with NaN."""

    def depth(self) -> int:
        """The most nodes on the way from a root to a leaf."""
        level, found = set(self.roots.tolist()), 0
        nodes = self.count
        while inner := {number for number in level if number < nodes}:
            found += 1
            if found > nodes:
                raise ConversionError("a tree leads back to one of its nodes")
            level = {int(way[number]) for number in inner for way in (self.if_true, self.if_false)}
        return found

    @property
    def count(self) -> int:
        return len(self.modes)


@converter("TreeEnsemble", domain=DOMAIN, since=5)
def tree_ensemble(
    b: GraphBuilder,
    x: Value,
    *,
    tree_roots: tuple[int, ...],
    nodes_featureids: tuple[int, ...],
    nodes_splits: Any,
    nodes_modes: Any,
    nodes_truenodeids: tuple[int, ...],
    nodes_trueleafs: tuple[int, ...],
    nodes_falsenodeids: tuple[int, ...],
    nodes_falseleafs: tuple[int, ...],
    leaf_targetids: tuple[int, ...],
    leaf_weights: Any,
    nodes_missing_value_tracks_true: tuple[int, ...] | None = None,
    nodes_hitrates: Any = None,
    membership_values: Any = None,
    n_targets: int = 1,
    aggregate_function: int = 1,
    post_transform: int = 0,
) -> Value:
    """
    Moves all rows down all trees, a level at a time. A row at a leaf stays there. `nodes_hitrates` do not change the
    result.
    """
    nodes, leaves = len(nodes_featureids), len(leaf_targetids)
    forest = Forest(
        np.array(tree_roots, np.int64),
        _extended(nodes_featureids, leaves, np.int64),
        _extended(nodes_splits, leaves, nodes_splits.dtype),
        np.asarray(nodes_modes),
        _extended(nodes_missing_value_tracks_true or (0,) * nodes, leaves, np.bool_),
        _ways(nodes_truenodeids, nodes_trueleafs, leaves),
        _ways(nodes_falsenodeids, nodes_falseleafs, leaves),
        _members(nodes_modes, membership_values, leaves),
    )
    leaf = b.subtract(walked(b, x, forest), nodes)
    weights = b.take(b.constant(np.asarray(leaf_weights)), leaf, axis=0)
    targets = b.take(b.constant(np.array(leaf_targetids, np.int64)), leaf, axis=0)
    scores = _scores(b, weights, targets, n_targets, aggregate_function, len(tree_roots))
    match post_transform:
        case 0:
            return scores
        case 1:
            return b.softmax(scores, axis=-1)
        case 2:
            return b.sigmoid(scores)
    raise ConversionError(f"post_transform is {post_transform}, expected 0 (none), 1 (softmax) or 2 (logistic)")


def _extended(values: Any, leaves: int, dtype: Any) -> Array:
    return np.concatenate([np.asarray(values, dtype), np.zeros(leaves, dtype)])


def _ways(numbers: tuple[int, ...], are_leaves: tuple[int, ...], leaves: int) -> Array:
    count = len(numbers)
    inner = np.array(numbers, np.int64) + np.where(np.array(are_leaves, bool), count, 0)
    return np.concatenate([inner, count + np.arange(leaves)])


def _members(modes: Any, values: Any, leaves: int) -> Array | None:
    """The sets, which NaN separates, of the nodes that ask for one."""
    asking = np.flatnonzero(np.asarray(modes) == MEMBER)
    if not len(asking):
        return None
    if values is None:
        raise ConversionError("attribute 'membership_values' is missing")
    ends = np.flatnonzero(np.isnan(values))
    if len(ends) != len(asking):
        raise ConversionError(f"membership_values has {len(ends)} sets, expected {len(asking)}")
    starts = np.concatenate([[0], ends[:-1] + 1])
    table = np.full((len(modes) + leaves, max(1, int((ends - starts).max()))), np.nan, values.dtype)
    for node, start, end in zip(asking, starts, ends, strict=True):
        table[node, : end - start] = values[start:end]
    return table


def walked(b: GraphBuilder, x: Value, forest: Forest) -> Value:
    """The number of the leaf that each row comes to in each tree, `(rows, trees)`."""
    place = broadcast(b, b.constant(forest.roots), [extents_of(x)[0], len(forest.roots)])
    for _ in range(forest.depth()):
        place = _next(b, x, forest, place)
    return place


def _next(b: GraphBuilder, x: Value, forest: Forest, place: Value) -> Value:
    """Returns the node of each row in each tree after one more comparison."""

    def of(table: Array) -> Value:
        return b.take(b.constant(table), place, axis=0)

    value = b.take_along_axis(x, of(forest.features), axis=1)
    split = of(forest.splits.astype(numpy_dtype(x.dtype)))
    kinds = sorted(set(forest.modes.tolist()))
    modes = np.concatenate([forest.modes.astype(np.int64), np.zeros(len(forest.features) - forest.count, np.int64)])
    goes = _compared(b, kinds[-1], value, split, forest, of)
    if len(kinds) > 1:
        mode = of(modes)
        for kind in kinds[:-1]:
            goes = b.where(b.equal(mode, kind), _compared(b, kind, value, split, forest, of), goes)
    if forest.missing.any():
        goes = b.logical_or(goes, b.logical_and(b.isnan(value), of(forest.missing)))
    return b.where(goes, of(forest.if_true), of(forest.if_false))


def _compared(b: GraphBuilder, kind: int, value: Value, split: Value, forest: Forest, of: Any) -> Value:
    names = ("less_equal", "less", "greater_equal", "greater", "equal", "not_equal")
    if kind == MEMBER:
        return b.any(b.equal(b.expand_dims(value, axis=(2,)), of(forest.members)), axis=(2,))
    if not 0 <= kind < len(names):
        raise ConversionError(f"a node has mode {kind}, expected 0 to {MEMBER}")
    return getattr(b, names[kind])(value, split)


def _scores(b: GraphBuilder, weights: Value, targets: Value, count: int, function: int, trees: int) -> Value:
    """
    Returns the sum, the mean over trees, the least or the greatest of the weights of each (row, target).

    A target without weights gets 0.
    """
    numbers = b.constant(np.arange(count, dtype=np.int64))
    own = b.equal(b.expand_dims(targets, axis=(2,)), numbers)
    each = b.expand_dims(weights, axis=(2,))
    zero = b.full((), 0.0, weights.dtype)
    match function:
        case 0 | 1:
            total = b.sum(b.where(own, each, zero), axis=(1,))
            return total if function else b.divide(total, float(trees))
        case 2 | 3:
            op, worst = (b.min, np.inf) if function == 2 else (b.max, -np.inf)
            best = op(b.where(own, each, b.full((), worst, weights.dtype)), axis=(1,))
            return b.where(b.any(own, axis=(1,)), best, zero)
    raise ConversionError(f"aggregate_function is {function}, expected 0 (average), 1 (sum), 2 (min) or 3 (max)")


# Of the set com.microsoft


@converter("CDist", domain="com.microsoft")
def cdist(b: GraphBuilder, x: Value, y: Value, *, metric: str = "sqeuclidean") -> Value:
    """
    Returns the distance of each row of `x` to each of `y`: the root of `x^2 + y^2 - 2 x y`, as in onnxruntime.

    Source: its operator documentation, ContribOperators.
    """
    if metric not in ("euclidean", "sqeuclidean"):
        raise ConversionError(f"metric is '{metric}', expected euclidean or sqeuclidean")
    if x.rank != 2 or y.rank != 2 or not compatible(x.shape[1:], y.shape[1:]) or x.dtype != y.dtype:
        raise ConversionError(f"the inputs are {x.shaped} and {y.shaped}, expected two matrices with as many columns")
    left = b.sum(b.square(x), axis=1, keepdims=True)
    right = b.sum(b.square(y), axis=1, keepdims=False)
    products = b.multiply(b.matmul(x, b.permute_dims(y, axes=(1, 0))), 2.0)
    squares = b.maximum(b.subtract(b.add(left, right), products), 0.0)
    return b.sqrt(squares) if metric == "euclidean" else squares
