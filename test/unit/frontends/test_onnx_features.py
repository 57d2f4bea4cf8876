"""
Classic models: features, linear models and the older forms of trees, against the evaluator of onnx where it follows the
specification.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_one_node import expected, run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]
ML: dict[str, Any] = {"domain": "ai.onnx.ml", "version": 3}
RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 3)).astype(np.float32)


def agree(operator: str, inputs: dict[str, Array], outputs: int = 1, **attributes: Any) -> list[Array]:
    found, wanted = (way(operator, inputs, outputs=outputs, **ML, **attributes) for way in (run, expected))
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    return list(found)


# Features


@pytest.mark.parametrize("scale", [[2.0], [0.5, 2.0, -1.0]])
def test_scaler(scale: list[float]) -> None:
    agree("Scaler", {"x": X}, offset=[0.5, 1.0, -1.0], scale=scale)


def test_scaler_of_integers_gives_floats() -> None:
    (found,) = run("Scaler", {"x": np.array([[1, 2]])}, offset=[0.5, 0.5], scale=[2.0, 3.0], **ML)
    assert found.dtype == np.float32 and found.tolist() == [[1.0, 4.5]]


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(norm: str) -> None:
    agree("Normalizer", {"x": np.vstack([X, np.zeros((1, 3), np.float32)])}, norm=norm)


def test_imputer() -> None:
    holes = np.where(X > 0.5, np.float32(np.nan), X)
    agree("Imputer", {"x": holes}, imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=float("nan"))
    agree("Imputer", {"x": holes}, imputed_value_floats=[7.0], replaced_value_float=float("nan"))
    whole = RNG.integers(-1, 2, (4, 2))
    agree("Imputer", {"x": whole}, imputed_value_int64s=[5, 6], replaced_value_int64=-1)


def test_feature_vectorizer() -> None:
    agree("FeatureVectorizer", {"a": X, "b": X[:, :1], "c": X[:, 0].copy()}, inputdimensions=[2, 3, 1])


def test_one_hot_encoder() -> None:
    agree("OneHotEncoder", {"x": np.array([[1, 5], [7, 2]])}, cats_int64s=[1, 2, 5], zeros=1)


def test_label_encoder() -> None:
    keys = np.array([3, 1, 9, 4])
    agree("LabelEncoder", {"x": keys}, keys_int64s=[1, 3, 4], values_floats=[0.5, 1.5, 2.5], default_float=-2.0)
    (found,) = run(
        "LabelEncoder",
        {"x": np.array([1.5, np.nan, 2.0], np.float32)},
        keys_floats=[1.5, float("nan")],
        values_int64s=[10, 20],
        **ML,
    )
    assert found.tolist() == [10, 20, -1]


# Linear models


@pytest.mark.parametrize("targets", [1, 2])
def test_linear_regressor(targets: int) -> None:
    coefficients = RNG.standard_normal(3 * targets).tolist()
    agree("LinearRegressor", {"x": X}, coefficients=coefficients, intercepts=[0.5] * targets, targets=targets)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("how", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_linear_classifier(how: str) -> None:
    options = {"coefficients": RNG.standard_normal(9).tolist(), "intercepts": [0.1, -0.2, 0.3]}
    agree("LinearClassifier", {"x": X}, 2, classlabels_ints=[4, 9, 2], post_transform=how, **options)


def test_linear_classifier_of_two() -> None:
    options = {"coefficients": [1.0, -2.0, 0.5], "intercepts": [0.1], "classlabels_ints": [10, 20]}
    labels, scores = run("LinearClassifier", {"x": X}, outputs=2, post_transform="LOGISTIC", **options, **ML)
    plain = X @ np.array([1.0, -2.0, 0.5]) + 0.1
    np.testing.assert_allclose(scores[:, 1], 1 / (1 + np.exp(-plain)), rtol=1e-4)
    assert labels.tolist() == np.where(plain > 0, 20, 10).tolist()


# Trees

BRANCHES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def trees(count: int, ids: int, prefix: str, same: bool = False, missing: bool = False) -> dict[str, list[Any]]:
    """Full trees of random depths whose leaves give one or two of `ids` something."""
    columns = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
    nodes: dict[str, list[Any]] = {f"nodes_{name}": [] for name in columns}
    tracks: list[int] = []
    gifts: dict[str, list[Any]] = {f"{prefix}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(count):
        depth = int(RNG.integers(0, 4))
        total = 2 ** (depth + 1) - 1
        for number in range(total):
            leaf = number >= total // 2
            row = [
                tree,
                number,
                0 if leaf else int(RNG.integers(3)),
                0.0 if leaf else float(RNG.integers(-1, 2)),
            ]
            row += ["LEAF" if leaf else str(RNG.choice(BRANCHES))]
            row += [0, 0] if leaf else [2 * number + 1, 2 * number + 2]
            for name, value in zip(nodes, row, strict=True):
                nodes[name].append(value)
            tracks.append(int(RNG.integers(2)))
            chosen = RNG.permutation(ids)[:2] if leaf else []
            for target in [0] if same and leaf else chosen:
                gift = [tree, number, int(target), float(np.float32(RNG.random()))]
                for name, value in zip(gifts, gift, strict=True):
                    gifts[name].append(value)
    return nodes | gifts | ({"nodes_missing_value_tracks_true": tracks} if missing else {})


GRID = np.round(RNG.standard_normal((9, 3)) * 1.5).astype(np.float32)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("how", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_regression_by_trees(how: str) -> None:
    options = trees(4, 2, "target")
    base = {"base_values": [0.5, -1.0]} if how in ("SUM", "AVERAGE") else {}
    full = options | base | {"n_targets": 2, "aggregate_function": how}
    agree("TreeEnsembleRegressor", {"x": GRID}, **full)


def test_missing_values_go_one_way() -> None:
    options = trees(4, 1, "target", missing=True)  # `x != split` holds for NaN, for the evaluator it does not
    options["nodes_modes"] = ["BRANCH_LEQ" if mode == "BRANCH_NEQ" else mode for mode in options["nodes_modes"]]
    agree("TreeEnsembleRegressor", {"x": np.where(GRID == 0, np.float32(np.nan), GRID)}, n_targets=1, **options)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("how", ["NONE", "SOFTMAX", "LOGISTIC"])
def test_classification_by_trees(how: str) -> None:
    agree(
        "TreeEnsembleClassifier",
        {"x": GRID},
        2,
        classlabels_int64s=[3, 1, 7],
        post_transform=how,
        **trees(4, 3, "class"),
    )


@pytest.mark.parametrize("how", ["NONE", "LOGISTIC"])
def test_weights_for_one_of_two_classes(how: str) -> None:
    options = trees(3, 2, "class", same=True)
    agree("TreeEnsembleClassifier", {"x": GRID}, 2, classlabels_int64s=[0, 1], post_transform=how, **options)


def test_trees_of_doubles_and_integers() -> None:
    options = trees(3, 1, "target")
    for dtype in (np.int64, np.float64):
        found = run("TreeEnsembleRegressor", {"x": GRID.astype(dtype)}, n_targets=1, **options, **ML)
        same = run("TreeEnsembleRegressor", {"x": GRID}, n_targets=1, **options, **ML)
        np.testing.assert_allclose(found[0], same[0], rtol=1e-6)


# What is refused

TREE = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_values": [0.0, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "target_treeids": [0],
    "target_nodeids": [1],
    "target_ids": [0],
    "target_weights": [1.0],
}


@pytest.mark.parametrize(
    ("operator", "attributes", "message"),
    [
        ("Scaler", {"offset": [1.0, 2.0]}, "offset has 2 entries, expected one for each column"),
        ("Normalizer", {"norm": "L3"}, "norm is 'L3', expected MAX, L1 or L2"),
        ("Imputer", {"imputed_value_floats": [1.0, 2.0]}, "there are 2 values, expected one"),
        (
            "FeatureVectorizer",
            {"inputdimensions": [1, 2]},
            "inputdimensions is \\(1, 2\\), expected 1 entries",
        ),
        ("OneHotEncoder", {"cats_strings": ["a"]}, "the categories are strings"),
        (
            "OneHotEncoder",
            {"cats_int64s": [1], "zeros": 0},
            "zeros is 0: an element that is no category is an error",
        ),
        ("LabelEncoder", {"keys_strings": ["a"], "values_int64s": [1]}, "keys or values are strings"),
        ("LabelEncoder", {"keys_int64s": [1, 2], "values_int64s": [1]}, "there are 2 keys and 1 values"),
        ("LinearRegressor", {"coefficients": [1.0, 2.0]}, "2 coefficients and 0 intercepts do not fit"),
        (
            "LinearRegressor",
            {"coefficients": [1.0] * 3, "post_transform": "PROBIT"},
            "post_transform is PROBIT",
        ),
        (
            "LinearClassifier",
            {"coefficients": [1.0] * 3, "classlabels_ints": [1, 2, 3]},
            "there are 1 lines of coefficients for 3 labels",
        ),
        (
            "LinearClassifier",
            {"coefficients": [1.0] * 3, "classlabels_strings": ["a", "b"]},
            "the labels are strings, expected classlabels_ints",
        ),
        ("TreeEnsembleRegressor", {**TREE, "nodes_truenodeids": [9, 0, 0]}, "node 9 of tree 0 is missing"),
        ("TreeEnsembleRegressor", {**TREE, "nodes_modes": ["IF", "LEAF", "LEAF"]}, "a node has mode 'IF'"),
        (
            "TreeEnsembleRegressor",
            {**TREE, "target_ids": [4]},
            "a weight is for target 4 at node 1 of tree 0",
        ),
        (
            "TreeEnsembleRegressor",
            {**TREE, "nodes_featureids": [0]},
            "attributes of nodes have \\[1, 3\\] entries",
        ),
        ("TreeEnsembleRegressor", {**TREE, "aggregate_function": "MEAN"}, "aggregate_function is MEAN"),
        (
            "TreeEnsembleClassifier",
            {name.replace("target", "class"): value for name, value in TREE.items()},
            "there are 0 labels, expected at least 2",
        ),
    ],
)
def test_what_is_refused(operator: str, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(OnnxError, match=message):
        text_of(operator, {"x": X}, outputs=1, **ML, **attributes)
