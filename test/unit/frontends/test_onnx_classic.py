"""Trees, n-grams, and operators whose result has a shape that depends on data, against plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from onnx_one_node import run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]
ML = "ai.onnx.ml"


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_binarizer(dtype: Any) -> None:
    x = np.arange(-3, 4).astype(dtype)
    (found,) = run("Binarizer", {"x": x}, version=1, domain=ML, threshold=0.5)
    assert found.dtype == dtype and np.array_equal(found, x > 0.5)


def test_features_are_columns() -> None:
    x = np.arange(12, dtype=np.int64).reshape(3, 4)
    for array in (x, x[0]):
        inputs = {"x": array, "i": np.array([[3, 0]])}
        (found,) = run("ArrayFeatureExtractor", inputs, version=1, domain=ML)
        assert np.array_equal(found, np.atleast_2d(array)[:, [3, 0]])


# Trees

MODES = [
    lambda x, y: x <= y,
    lambda x, y: x < y,
    lambda x, y: x >= y,
    lambda x, y: x > y,
    lambda x, y: x == y,
    lambda x, y: x != y,
]


def random_forest(rng: np.random.Generator, trees: int, modes: list[int], targets: int) -> dict[str, Any]:
    """Full trees of random depths; attributes of the node."""
    nodes: list[dict[str, Any]] = []
    leaves: list[tuple[int, float]] = []
    sets: list[float] = []

    def grow(depth: int) -> tuple[int, int]:
        """(number, whether it is a leaf)."""
        if depth == 0:
            leaves.append((int(rng.integers(targets)), float(rng.standard_normal())))
            return len(leaves) - 1, 1
        mode = int(rng.choice(modes))
        own: dict[str, Any] = {
            "mode": mode,
            "feature": int(rng.integers(3)),
            "split": float(rng.integers(-2, 3)),
        }
        own["missing"] = int(rng.integers(2))
        nodes.append(own)
        number = len(nodes) - 1
        if mode == 6:
            own["set"] = [float(each) for each in rng.integers(-2, 3, rng.integers(1, 4))]
            sets.extend([*own["set"], float("nan")])
        own["true"], own["false"] = grow(depth - 1), grow(int(rng.integers(depth)))
        return number, 0

    roots = [grow(int(rng.integers(1, 4)))[0] for _ in range(trees)]
    found = {
        "tree_roots": roots,
        "nodes_featureids": [each["feature"] for each in nodes],
        "nodes_missing_value_tracks_true": [each["missing"] for each in nodes],
        "nodes_truenodeids": [each["true"][0] for each in nodes],
        "nodes_trueleafs": [each["true"][1] for each in nodes],
        "nodes_falsenodeids": [each["false"][0] for each in nodes],
        "nodes_falseleafs": [each["false"][1] for each in nodes],
        "leaf_targetids": [target for target, _ in leaves],
        "n_targets": targets,
    }
    arrays = {
        "nodes_splits": np.array([each["split"] for each in nodes], np.float32),
        "nodes_modes": np.array([each["mode"] for each in nodes], np.uint8),
        "leaf_weights": np.array([weight for _, weight in leaves], np.float32),
    }
    if sets:
        arrays["membership_values"] = np.array(sets, np.float32)
    return {"plain": found, "arrays": arrays, "nodes": nodes, "leaves": leaves, "roots": roots}


def walked(forest: dict[str, Any], x: Array, targets: int, function: int) -> Array:
    result = np.zeros((len(x), targets))
    for row, features in enumerate(x):
        scores: list[list[float]] = [[] for _ in range(targets)]
        for root in forest["roots"]:
            number, leaf = root, 0
            while not leaf:
                node = forest["nodes"][number]
                value = features[node["feature"]]
                if node["mode"] == 6:
                    goes = bool(value in node["set"])
                else:
                    goes = bool(MODES[node["mode"]](value, node["split"]))
                if np.isnan(value) and node["missing"]:
                    goes = True
                number, leaf = node["true" if goes else "false"]
            target, weight = forest["leaves"][number]
            scores[target].append(float(np.float32(weight)))
        for target, own in enumerate(scores):
            total = {0: sum(own) / len(forest["roots"]), 1: sum(own)}
            total |= {2: min(own, default=0), 3: max(own, default=0)}
            result[row, target] = total[function]
    return result


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("modes", "function"), [([0], 1), ([0, 3, 4], 0), ([1, 2, 5, 6], 2), ([0, 6], 3)])
def test_forests(modes: list[int], function: int) -> None:
    from onnx import numpy_helper

    rng = np.random.default_rng(function)
    forest = random_forest(rng, 4, modes, 3)
    x = rng.integers(-3, 4, (40, 3)).astype(np.float32)
    x[::7, 1] = np.nan
    tensors = {name: numpy_helper.from_array(array, name) for name, array in forest["arrays"].items()}
    options = {**forest["plain"], **tensors, "aggregate_function": function}
    (found,) = run("TreeEnsemble", {"x": x}, version=5, domain=ML, **options)
    np.testing.assert_allclose(found, walked(forest, x, 3, function), rtol=1e-6, atol=1e-6)


def test_a_tree_that_leads_back_is_refused() -> None:
    from onnx import numpy_helper

    forest = random_forest(np.random.default_rng(0), 1, [0], 1)
    plain = forest["plain"] | {
        "nodes_truenodeids": [0] * len(forest["nodes"]),
        "nodes_trueleafs": [0] * len(forest["nodes"]),
    }
    tensors = {name: numpy_helper.from_array(array, name) for name, array in forest["arrays"].items()}
    with pytest.raises(OnnxError, match="a tree leads back to one of its nodes"):
        text_of("TreeEnsemble", {"x": np.zeros((1, 3), np.float32)}, version=5, domain=ML, **plain, **tensors)


# N-grams


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize(("least", "most", "skips"), [(1, 2, 0), (2, 3, 2), (1, 1, 3)])
def test_n_grams(mode: str, least: int, most: int, skips: int) -> None:
    rng = np.random.default_rng(skips)
    x = rng.integers(0, 4, (3, 9)).astype(np.int32)
    pool = [(2,), (3,), (0, 1), (1, 1), (3, 2), (0, 1, 2), (2, 2, 2)]
    coordinates = [3, 0, 6, 1, 2, 5, 4]
    weights = [float(number + 1) / 2 for number in range(7)]
    expected = np.zeros((3, 7))
    for row, own in enumerate(x.tolist()):
        seen: Counter[tuple[int, ...]] = Counter()
        for width in range(least, most + 1):
            for distance in range(1, 2 if width == 1 else skips + 2):
                for start in range(len(own) - distance * (width - 1)):
                    seen[tuple(own[start + distance * number] for number in range(width))] += 1
        for gram, coordinate in zip(pool, coordinates, strict=True):
            count = seen[gram] if mode != "IDF" else min(seen[gram], 1)
            expected[row, coordinate] = count * (1 if mode == "TF" else weights[coordinate])
    (found,) = run(
        "TfIdfVectorizer",
        {"x": x},
        version=9,
        max_gram_length=most,
        min_gram_length=least,
        max_skip_count=skips,
        mode=mode,
        ngram_counts=[0, 2, 8],
        ngram_indexes=coordinates,
        pool_int64s=[each for gram in pool for each in gram],
        weights=weights,
    )
    assert found.dtype == np.float32 and np.array_equal(found, expected)


# Shapes that depend on data


def test_shapes_that_depend_on_data_want_known_inputs() -> None:
    x = np.zeros((100, 100), np.float32)
    x[3, 4] = x[70, 2] = 1
    (found,) = run("NonZero", {"x": x}, version=13, known=["x"])
    assert found.tolist() == [[3, 70], [4, 2]]
    for operator, inputs, version in (
        ("NonZero", {"x": x}, 13),
        ("Unique", {"x": x[0]}, 11),
        (
            "NonMaxSuppression",
            {"b": np.zeros((1, 2, 4), np.float32), "s": np.zeros((1, 1, 2), np.float32)},
            11,
        ),
    ):
        with pytest.raises(OnnxError, match=r"input 0.* is computed at run time, expected it to be known at import"):
            text_of(operator, inputs, version=version)


@pytest.mark.parametrize("sort", [0, 1])
def test_unique_of_many_known_elements(sort: int) -> None:
    x = np.random.default_rng(2).integers(0, 9, 5000)
    values, first, inverse, counts = run("Unique", {"x": x}, version=11, outputs=4, known=["x"], sorted=sort)
    assert np.array_equal(values[inverse], x) and np.array_equal(x[first], values)
    assert np.array_equal(counts, [np.count_nonzero(x == value) for value in values])
    assert np.array_equal(np.sort(first) == first, [True] * 9) if not sort else np.array_equal(values, range(9))
