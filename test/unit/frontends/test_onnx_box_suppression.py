"""NonMaxSuppression of known boxes, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from onnx_one_node import by_onnxruntime, model_of, run, text_of
from stepwell.frontends import OnnxError

BOXES = np.array([[[0, 0, 1, 1], [0, 0, 1, 1.1], [2, 2, 3, 3]]], np.float32)
SCORES = np.array([[[0.9, 0.8, 0.7]]], np.float32)
NAMES = ("boxes", "scores", "most", "iou", "least")
NOT_KNOWN = "input 0, 'boxes', is computed at run time, expected it to be known at import"


def inputs_of(*arrays: Any) -> dict[str, Any]:
    types = (np.float32, np.float32, np.int64, np.float32, np.float32)
    return {
        name: None if array is None else np.array(array, dtype)
        for name, array, dtype in zip(NAMES, arrays, types, strict=False)
    }


def agreed(*arrays: Any, **attributes: Any) -> Any:
    """The boxes that stay are those of onnxruntime."""
    inputs = inputs_of(*arrays)
    known = [name for name, array in inputs.items() if array is not None]
    options = {"version": 13, "known": known, **attributes}
    (found,) = run("NonMaxSuppression", inputs, **options)
    (wanted,) = by_onnxruntime(model_of("NonMaxSuppression", inputs, **options), {})
    assert found.dtype == np.int64 and found.shape == wanted.shape and found.tolist() == wanted.tolist()
    return found


@pytest.mark.parametrize(
    ("numbers", "kept"),
    [
        (([3], [0.5], [0.1]), [0, 2]),
        ((3, 0.5, 0.1), [0, 2]),
        ((3, [0.5]), [0, 2]),
        (([3],), [0, 2]),
        ((3, 0.95), [0, 1, 2]),
        ((2, 0.95), [0, 1]),
        ((3, None, 0.75), [0]),
        ((3, 1.0, 0.7), [0, 1]),
        ((None, [0.5]), []),
        ((0,), []),
        ((-2,), []),
        ((), []),
    ],
)
def test_numbers_of_rank_0_and_left_out(numbers: tuple[Any, ...], kept: list[int]) -> None:
    assert agreed(BOXES, SCORES, *numbers)[:, 2].tolist() == kept


@pytest.mark.parametrize("from_centre", [0, 1])
@pytest.mark.parametrize("seed", range(40 if FULL else 8))
def test_boxes_at_random(seed: int, from_centre: int) -> None:
    """Of several batches and classes, with equal scores, equal boxes, and boxes without an area."""
    rng = np.random.default_rng(seed)
    batches, classes, count = rng.integers(1, 4), rng.integers(1, 4), rng.integers(1, 40)
    boxes = rng.integers(0, 12, (batches, count, 4)) / (1 if seed % 2 else 3)
    scores = rng.integers(0, 6, (batches, classes, count)) / 5
    least = [None, 0.2, [0.6]][seed % 3]
    agreed(boxes, scores, rng.integers(1, 9), rng.integers(0, 10) / 10, least, center_point_box=from_centre)


def test_corners_of_either_diagonal() -> None:
    turned = BOXES[..., [2, 1, 0, 3]]
    assert agreed(turned, SCORES, 3, 0.5)[:, 2].tolist() == [0, 2]


def test_there_may_be_no_boxes() -> None:
    agreed(np.zeros((1, 0, 4)), np.zeros((1, 2, 0)), 3)
    agreed(np.zeros((0, 2, 4)), np.zeros((0, 1, 2)), 3)


def test_more_boxes_than_are_folded() -> None:
    rng = np.random.default_rng(3)
    corner = rng.integers(0, 300, (1, 3000, 2))
    boxes = np.concatenate([corner, corner + rng.integers(1, 40, (1, 3000, 2))], axis=-1)
    agreed(boxes, rng.permutation(3000).reshape(1, 1, -1) / 3000, 50, 0.25)


def test_what_follows_is_computed_at_import() -> None:
    """The number of the boxes that stay is known."""
    text = text_of("NonMaxSuppression", inputs_of(BOXES, SCORES, 3), version=13, known=NAMES[:3])
    assert "tensor<2x3xi64>" in text and "graph.constant" in text


def test_boxes_of_a_call() -> None:
    model = model_of("NonMaxSuppression", inputs_of(BOXES, SCORES, 3), version=13, known=["most"])
    with pytest.raises(OnnxError, match=NOT_KNOWN):
        stepwell.compile_onnx(model)(BOXES, SCORES)
    found = stepwell.compile_onnx(model, values=["boxes", "scores"])(BOXES, SCORES)[0]
    assert found.tolist() == [[0, 0, 0], [0, 0, 2]]


@pytest.mark.parametrize(
    ("arrays", "attributes", "message"),
    [
        (
            (BOXES[0], SCORES),
            {},
            "boxes have the shape [3, 4] and scores [1, 1, 3], expected [batches, boxes, 4] and "
            "[batches, classes, boxes]",
        ),
        ((BOXES, SCORES[..., :2]), {}, "boxes have the shape [1, 3, 4] and scores [1, 1, 2], expected"),
        ((BOXES, SCORES, [1, 2]), {}, "max_output_boxes_per_class has the shape [2], expected one element"),
        ((BOXES, SCORES, 1, 1.5), {}, "iou_threshold is 1.5, expected 0 to 1"),
        ((BOXES, SCORES, 1, np.nan), {}, "iou_threshold is nan, expected 0 to 1"),
        ((BOXES, SCORES), {"center_point_box": 2}, "center_point_box is 2, expected 0 or 1"),
    ],
)
def test_what_is_refused(arrays: tuple[Any, ...], attributes: dict[str, Any], message: str) -> None:
    inputs = inputs_of(*arrays)
    with pytest.raises(OnnxError) as caught:
        text_of("NonMaxSuppression", inputs, version=13, known=list(inputs), **attributes)
    assert f"node 'node' (NonMaxSuppression, opset 13): {message}" in str(caught.value)
