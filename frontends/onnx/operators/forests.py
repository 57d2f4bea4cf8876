"""The older forms of trees in ai.onnx.ml: each node has its tree and its number, and leaves are nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .classic import DOMAIN, Forest, walked
from .features import Floats, Ints, as_floats, labels_of, transformed

Array = np.ndarray[Any, Any]

BRANCHES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
"""The comparisons of nodes, by the number that the newer form has for them."""


def forest_of(
    treeids: tuple[int, ...],
    nodeids: tuple[int, ...],
    features: tuple[int, ...],
    values: Any,
    modes: tuple[str, ...],
    if_true: tuple[int, ...],
    if_false: tuple[int, ...],
    missing: Ints,
) -> tuple[Forest, dict[tuple[int, int], int]]:
    """The trees by one number for each node, leaves last, and that number by (tree, node)."""
    count = len(nodeids)
    columns = (treeids, features, values, modes, if_true, if_false)
    if any(len(column) != count for column in columns) or (missing and len(missing) != count):
        raise ConversionError(
            f"attributes of nodes have {sorted({len(each) for each in columns})} entries, expected {count}"
        )
    if unknown := [mode for mode in modes if mode != "LEAF" and mode not in BRANCHES]:
        raise ConversionError(f"a node has mode '{unknown[0]}', expected LEAF or {', '.join(BRANCHES)}")
    order = sorted(range(count), key=lambda node: modes[node] == "LEAF")
    number = {(treeids[node], nodeids[node]): place for place, node in enumerate(order)}
    inner = sum(mode != "LEAF" for mode in modes)
    ways: list[list[int]] = []
    children: set[int] = set()
    for place, node in enumerate(order):
        way = [place, place]
        if place < inner:
            names = [(treeids[node], side[node]) for side in (if_true, if_false)]
            if lost := [name for name in names if name not in number]:
                raise ConversionError(f"node {lost[0][1]} of tree {lost[0][0]} is missing")
            way = [number[name] for name in names]
            children.update(way)
        ways.append(way)
    roots = [place for place in range(count) if place not in children]
    table = np.array(ways, np.int64).reshape(-1, 2)
    splits = np.array([values[node] for node in order])
    tracks = np.array([bool(missing and missing[node]) for node in order])
    kinds = np.array([BRANCHES.index(modes[node]) for node in order[:inner]], np.int64)
    columns_ = np.array([features[node] for node in order], np.int64)
    columns_[inner:] = 0
    forest = Forest(
        np.array(roots, np.int64), columns_, splits, kinds, tracks, table[:, 0].copy(), table[:, 1].copy(), None
    )
    return forest, number


def weights_of(
    number: dict[tuple[int, int], int],
    treeids: tuple[int, ...],
    nodeids: tuple[int, ...],
    ids: tuple[int, ...],
    weights: Any,
    count: int,
    nothing: float = 0.0,
) -> Array:
    """Returns what each node gives each of `count` targets, or `nothing`, as `(nodes, count)` of f32."""
    table = np.full((len(number), count), nothing, np.float32)
    seen = np.zeros(table.shape, bool)
    for tree, node, target, weight in zip(treeids, nodeids, ids, weights, strict=True):
        if (tree, node) not in number or not 0 <= target < count:
            raise ConversionError(f"a weight is for target {target} at node {node} of tree {tree}, which is not there")
        place = number[tree, node], target
        table[place] = table[place] + weight if seen[place] else weight
        seen[place] = True
    return table


@converter("TreeEnsembleRegressor", domain=DOMAIN)
def tree_ensemble_regressor(
    b: GraphBuilder,
    x: Value,
    *,
    nodes_treeids: tuple[int, ...],
    nodes_nodeids: tuple[int, ...],
    nodes_featureids: tuple[int, ...],
    nodes_modes: tuple[str, ...],
    nodes_truenodeids: tuple[int, ...],
    nodes_falsenodeids: tuple[int, ...],
    target_treeids: tuple[int, ...],
    target_nodeids: tuple[int, ...],
    target_ids: tuple[int, ...],
    nodes_values: Floats = None,
    nodes_values_as_tensor: Any = None,
    nodes_hitrates: Floats = None,
    nodes_hitrates_as_tensor: Any = None,
    nodes_missing_value_tracks_true: Ints = None,
    target_weights: Floats = None,
    target_weights_as_tensor: Any = None,
    base_values: Floats = None,
    base_values_as_tensor: Any = None,
    n_targets: int = 1,
    aggregate_function: str = "SUM",
    post_transform: str = "NONE",
) -> Value:
    """
    Returns the sum, mean, least or greatest of what the leaves of all trees give each target, plus the base values.
    """
    forest, number = forest_of(
        nodes_treeids,
        nodes_nodeids,
        nodes_featureids,
        nodes_values if nodes_values is not None else nodes_values_as_tensor,
        nodes_modes,
        nodes_truenodeids,
        nodes_falsenodeids,
        nodes_missing_value_tracks_true,
    )
    nothing = {"MIN": np.inf, "MAX": -np.inf}.get(aggregate_function, 0.0)
    weights = target_weights if target_weights is not None else target_weights_as_tensor
    table = weights_of(number, target_treeids, target_nodeids, target_ids, weights, n_targets, nothing)
    each = b.take(b.constant(table), walked(b, as_floats(b, x), forest), axis=0)
    match aggregate_function:
        case "SUM":
            scores = b.sum(each, axis=(1,))
        case "AVERAGE":
            scores = b.divide(b.sum(each, axis=(1,)), float(len(forest.roots)))
        case "MIN" | "MAX":
            scores = (b.min if aggregate_function == "MIN" else b.max)(each, axis=(1,))
            scores = b.where(b.isinf(scores), b.full((), 0.0, "f32"), scores)
        case _:
            raise ConversionError(f"aggregate_function is {aggregate_function}, expected SUM, AVERAGE, MIN or MAX")
    base = base_values if base_values is not None else base_values_as_tensor
    scores = scores if base is None else b.add(scores, b.constant(np.array(base, np.float32)))
    return transformed(b, scores, post_transform)


@converter("TreeEnsembleClassifier", domain=DOMAIN)
def tree_ensemble_classifier(
    b: GraphBuilder,
    x: Value,
    *,
    nodes_treeids: tuple[int, ...],
    nodes_nodeids: tuple[int, ...],
    nodes_featureids: tuple[int, ...],
    nodes_modes: tuple[str, ...],
    nodes_truenodeids: tuple[int, ...],
    nodes_falsenodeids: tuple[int, ...],
    class_treeids: tuple[int, ...],
    class_nodeids: tuple[int, ...],
    class_ids: tuple[int, ...],
    nodes_values: Floats = None,
    nodes_values_as_tensor: Any = None,
    nodes_hitrates: Floats = None,
    nodes_hitrates_as_tensor: Any = None,
    nodes_missing_value_tracks_true: Ints = None,
    class_weights: Floats = None,
    class_weights_as_tensor: Any = None,
    base_values: Floats = None,
    base_values_as_tensor: Any = None,
    classlabels_int64s: Ints = None,
    classlabels_strings: Any = None,
    post_transform: str = "NONE",
) -> Any:
    """
    Returns the label of the largest score, and the scores, which are sums over the trees.

    Where there are two labels and leaves give the first only, that is the score of the second; the other one is
    `1 - score`, or `-score` for a logistic function or softmax after it.
    """
    forest, number = forest_of(
        nodes_treeids,
        nodes_nodeids,
        nodes_featureids,
        nodes_values if nodes_values is not None else nodes_values_as_tensor,
        nodes_modes,
        nodes_truenodeids,
        nodes_falsenodeids,
        nodes_missing_value_tracks_true,
    )
    count = len(classlabels_int64s or classlabels_strings or ())
    if count < 2:
        raise ConversionError(f"there are {count} labels, expected at least 2")
    weights = class_weights if class_weights is not None else class_weights_as_tensor
    single = count == 2 and set(class_ids) == {0}
    table = weights_of(number, class_treeids, class_nodeids, class_ids, weights, 1 if single else count)
    scores = b.sum(b.take(b.constant(table), walked(b, as_floats(b, x), forest), axis=0), axis=(1,))
    base = base_values if base_values is not None else base_values_as_tensor
    if base is not None:
        if len(base) != scores.shape[1]:
            raise ConversionError(f"base_values has {len(base)} entries, expected {scores.shape[1]}")
        scores = b.add(scores, b.constant(np.array(base, np.float32)))
    if single:
        other = b.subtract(b.full((), 1.0, "f32"), scores) if post_transform == "NONE" else b.negative(scores)
        scores = b.concat(other, scores, axis=1)
    scores = transformed(b, scores, post_transform)
    return labels_of(b, scores, classlabels_int64s, count), scores
