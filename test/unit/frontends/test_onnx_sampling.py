"""Operators of ONNX that read between pixels or in regions, against the onnx package and sums in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper
from onnx_one_node import expected, run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(13)


@pytest.mark.ci_cases(0)
@settings(max_examples=60 if FULL else 9)
@given(data=st.data())
def test_samples_of_grids(data: st.DataObject) -> None:
    rank = data.draw(st.integers(2, 3))
    mode = data.draw(st.sampled_from(("linear", "nearest", "cubic") if rank == 2 else ("linear", "nearest")))
    options = {
        "mode": mode,
        "padding_mode": data.draw(st.sampled_from(("zeros", "border", "reflection"))),
        "align_corners": data.draw(st.integers(0, 1)),
    }
    spatial = [data.draw(st.integers(2, 4)) for _ in range(rank)]
    x = RNG.standard_normal((2, 2, *spatial)).astype(np.float32)
    grid = RNG.uniform(-1.9, 1.9, (2, *[3, 2, 2][:rank], rank)).astype(np.float32)
    (found,), (wanted,) = (way("GridSample", {"x": x, "g": grid}, version=20, **options) for way in (run, expected))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_first_names_of_modes() -> None:
    inputs = {"x": np.zeros((1, 1, 3, 3), np.float32), "g": np.zeros((1, 2, 2, 2), np.float32)}
    assert 'mode = "cubic"' in text_of("GridSample", inputs, version=16, mode="bicubic")
    assert "mode" not in text_of("GridSample", inputs, version=16, mode="bilinear")


def between(image: Array, y: float, x: float) -> float:
    """Linear interpolation with zeros around the image."""
    total = 0.0
    for i in (int(np.floor(y)), int(np.floor(y)) + 1):
        for j in (int(np.floor(x)), int(np.floor(x)) + 1):
            if 0 <= i < image.shape[0] and 0 <= j < image.shape[1]:
                total += (1 - abs(y - i)) * (1 - abs(x - j)) * float(image[i, j])
    return total


@pytest.mark.parametrize("masked", [False, True])
def test_convolutions_with_moved_taps(masked: bool) -> None:
    x, w = RNG.standard_normal((1, 4, 5, 6)), RNG.standard_normal((2, 2, 2, 3))
    offset, mask = RNG.standard_normal((1, 2 * 2 * 6, 3, 3)), RNG.uniform(0, 1, (1, 12, 3, 3))
    bias = np.array([1.0, -1.0])
    inputs: dict[str, Array | None] = {"x": x, "w": w, "o": offset, "b": bias if masked else None}
    if masked:
        inputs["m"] = mask
    else:
        del inputs["b"]
    inputs = {name: None if each is None else each.astype(np.float32) for name, each in inputs.items()}
    options: dict[str, Any] = {"strides": [2, 2], "dilations": [2, 1], "pads": [1, 1, 1, 0]}
    (found,) = run("DeformConv", inputs, version=19, group=2, offset_group=2, **options)
    moves = offset.reshape(2, 2, 3, 2, 3, 3)
    weights = mask.reshape(2, 2, 3, 3, 3) if masked else np.ones((2, 2, 3, 3, 3))
    for o, i, j in np.ndindex(2, 3, 3):
        total = bias[o] if masked else 0.0
        for c, r, s in np.ndindex(2, 2, 3):
            group = (o * 2 + c) // 2
            dy, dx = moves[group, r, s, :, i, j]
            value = between(x[0, o * 2 + c], i * 2 - 1 + r * 2 + dy, j * 2 - 1 + s + dx)
            total += w[o, c, r, s] * weights[group, r, s, i, j] * value
        assert abs(found[0, o, i, j] - total) < 1e-4


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("coordinates", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_aligned_regions(mode: str, coordinates: str) -> None:
    """Regions that reach outside, and one that is empty."""
    x = RNG.standard_normal((2, 3, 6, 5)).astype(np.float32)
    rois = np.array([[0, 0, 5, 5], [-3, 2, 4, 9], [2, 2, 2, 2], [1.3, 0.2, 8.1, 3.9]], np.float32)
    inputs = {"x": x, "r": rois, "i": np.array([0, 1, 1, 0])}
    options = {"output_height": 2, "output_width": 3, "sampling_ratio": 2, "spatial_scale": 0.5, "mode": mode}
    options |= {"coordinate_transformation_mode": coordinates}
    (found,), (wanted,) = (way("RoiAlign", inputs, version=16, **options) for way in (run, expected))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("coordinates", ["half_pixel", "output_half_pixel"])
def test_regions_that_are_sampled_as_densely_as_they_are_large(coordinates: str) -> None:
    """Some of which lie outside, are empty, or inside out."""
    x = RNG.standard_normal((2, 3, 9, 7)).astype(np.float32)
    corners = RNG.uniform(-4, 12, (12, 2))
    rois = np.concatenate([corners, corners + RNG.uniform(0, 14, (12, 2))], axis=1).astype(np.float32)
    rois[:4] = [[0, 0, 0, 0], [1, 1, 4, 4], [-30, -30, 50, 60], [5, 5, 3, 3]]
    inputs = {"x": x, "r": rois, "i": RNG.integers(0, 2, 12)}
    options = {"output_height": 2, "output_width": 3, "spatial_scale": 0.75}
    options |= {"coordinate_transformation_mode": coordinates}
    (found,), (wanted,) = (way("RoiAlign", inputs, version=16, **options) for way in (run, expected))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_aligned_regions_of_version_10_are_of_corners() -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    inputs = {"x": x, "r": np.array([[0, 0, 2, 2]], np.float32), "i": np.array([0])}
    (found,) = run("RoiAlign", inputs, version=10, sampling_ratio=1, output_height=2, output_width=2)
    assert found.reshape(-1).tolist() == [2.5, 3.5, 6.5, 7.5]


def test_maxima_of_regions() -> None:
    x = RNG.standard_normal((2, 2, 6, 7)).astype(np.float32)
    rois = np.array([[1, 0, 0, 9, 7], [0, 4, 2, 10, 3], [0, 20, 20, 30, 30]], np.float32)
    inputs = {"x": x, "r": rois}
    (found,) = run("MaxRoiPool", inputs, version=22, pooled_shape=[2, 3], spatial_scale=0.5)
    for r, (image, *corners) in enumerate(rois):
        left, top, right, bottom = (int(each * 0.5 + 0.5) for each in corners)
        high, wide = max(bottom - top + 1, 1) / 2, max(right - left + 1, 1) / 3
        for i, j in np.ndindex(2, 3):
            rows = slice(int(np.floor(i * high)) + top, int(np.ceil((i + 1) * high)) + top)
            columns = slice(int(np.floor(j * wide)) + left, int(np.ceil((j + 1) * wide)) + left)
            part = x[int(image), :, rows, columns]
            wanted = part.max((1, 2)) if part.size else np.zeros(2)
            assert np.array_equal(found[r, :, i, j], wanted)


IMAGE = np.zeros((1, 4, 5, 5), np.float32)
ROIS = {"x": IMAGE, "r": np.zeros((1, 4), np.float32), "i": np.zeros(1, np.int64)}
GRID = {"x": IMAGE, "g": np.zeros((1, 2, 2, 2), np.float32)}
FILTER = np.zeros((2, 4, 3, 3), np.float32)
MOVED = {"x": IMAGE, "w": FILTER, "o": np.zeros((1, 18, 3, 3), np.float32)}


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "message"),
    [
        ("GridSample", GRID, {"mode": "area"}, "mode is 'area', expected linear, nearest or cubic"),
        (
            "GridSample",
            GRID,
            {"padding_mode": "wrap"},
            "padding_mode is 'wrap', expected zeros, border or refl",
        ),
        ("GridSample", {**GRID, "x": IMAGE.astype(np.int32)}, {}, "expected floats"),
        ("RoiAlign", ROIS, {"mode": "max"}, "sampling_ratio is 0, expected at least 1, or 0 with mode avg"),
        ("RoiAlign", ROIS, {"sampling_ratio": -1}, "sampling_ratio is -1, expected at least 1"),
        ("RoiAlign", ROIS, {"mode": "min"}, "mode is 'min'"),
        ("DeformConv", MOVED, {"group": 3}, "do not divide into 3 groups"),
        ("DeformConv", MOVED, {"offset_group": 3}, "4 channels do not divide into 3 groups of offsets"),
        ("DeformConv", MOVED, {"pads": [1, 1, 1, 1]}, "expected the extents \\[1, 18, 5, 5\\]"),
    ],
)
def test_what_does_not_fit_is_refused(
    operator: str, inputs: dict[str, Array], attributes: dict[str, Any], message: str
) -> None:
    version = {"GridSample": 20, "RoiAlign": 16, "DeformConv": 19}[operator]
    with pytest.raises(OnnxError, match=message):
        text_of(operator, inputs, version=version, **attributes)


def test_extents_may_be_unknown() -> None:
    grid = RNG.uniform(-1.2, 1.2, (2, 3, 2, 2)).astype(np.float32)
    node = helper.make_node("GridSample", ["x", "g"], ["y"], padding_mode="border")
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, [2, 1, "h", "w"])],
        [helper.make_tensor_value_info("y", 1, [None] * 4)],
        [numpy_helper.from_array(grid, "g")],
    )
    module = stepwell.from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]))
    executable = stepwell.compile(module, cache=False)
    for spatial in ((3, 4), (5, 2)):
        x = RNG.standard_normal((2, 1, *spatial)).astype(np.float32)
        (wanted,) = expected("GridSample", {"x": x, "g": grid}, version=20, padding_mode="border")
        np.testing.assert_allclose(executable(x)[0], wanted, rtol=1e-4, atol=1e-5)
