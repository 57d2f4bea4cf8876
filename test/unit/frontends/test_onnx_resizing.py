"""Resize and Upsample of ONNX against the evaluator of the onnx package, and what they become."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper
from onnx_one_node import expected, run, text_of
from stepwell import from_onnx
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(12)
COORDINATES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def inputs_of(x: Array, scales: Any = None, sizes: Any = None, roi: Any = None) -> dict[str, Array | None]:
    return {
        "x": x,
        "roi": None if roi is None else np.array(roi, np.float32),
        "scales": None if scales is None else np.array(scales, np.float32),
        "sizes": None if sizes is None else np.array(sizes),
    }


def resized(way: Any, x: Array, *, version: int = 19, **options: Any) -> Any:
    parts = {name: options.pop(name, None) for name in ("scales", "sizes", "roi")}
    known = [name for name, value in parts.items() if value is not None]
    inputs = inputs_of(x, **parts)
    while len(inputs) > 1 and inputs[list(inputs)[-1]] is None:
        inputs.popitem()
    result = way("Resize", inputs, version=version, known=known, **options)
    return result if isinstance(result, str) else result[0]


@settings(max_examples=80 if FULL else 12)
@given(data=st.data())
def test_as_the_specification(data: st.DataObject) -> None:
    mode = data.draw(st.sampled_from(("nearest", "linear", "cubic")))
    x = RNG.standard_normal((2, data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6)))).astype(np.float32)
    options: dict[str, Any] = {"mode": mode}
    options["coordinate_transformation_mode"] = data.draw(st.sampled_from(COORDINATES))
    if mode == "nearest":
        options["nearest_mode"] = data.draw(st.sampled_from(ROUNDINGS))
    elif mode == "cubic":
        options["exclude_outside"] = data.draw(st.integers(0, 1))
        options["cubic_coeff_a"] = data.draw(st.sampled_from((-0.75, -0.5)))
    if mode != "nearest" and options["coordinate_transformation_mode"] == "half_pixel":
        options["antialias"] = data.draw(st.integers(0, 1))
    if data.draw(st.booleans()):
        options["sizes"] = [2, data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))]
    else:
        options["scales"] = [1.0, *(data.draw(st.sampled_from((1.0, 1.5, 2.0, 3.0))) for _ in range(2))]
    found, wanted = resized(run, x, **options), resized(expected, x, **options)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("policy", ["stretch", "not_larger", "not_smaller"])
def test_the_ratio_of_the_axes_may_be_kept(policy: str) -> None:
    x = RNG.standard_normal((2, 3, 4)).astype(np.float32)
    options = {"sizes": [9, 8], "axes": [2, 1], "mode": "linear", "keep_aspect_ratio_policy": policy}
    found = resized(run, x, **options)
    assert found.shape == {"stretch": (2, 8, 9), "not_larger": (2, 7, 9), "not_smaller": (2, 8, 11)}[policy]
    np.testing.assert_allclose(found, resized(expected, x, **options), rtol=1e-4, atol=1e-5)


def test_crops_that_reach_outside_are_filled() -> None:
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    options: dict[str, Any] = {"sizes": [3, 3], "roi": [0.5, -1, 1.5, 1], "extrapolation_value": 99.0}
    options |= {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}
    found = resized(run, x, **options)
    assert (found[2] == 99).all() and (found[:, 0] == 99).all() and (found[:2, 1:] != 99).all()
    np.testing.assert_allclose(found, resized(expected, x, **options), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "float16", "float64"])
def test_element_types(dtype: str) -> None:
    """Integers are rounded to the nearest, and do not leave their range."""
    x = (RNG.uniform(-100, 100, (3, 4)) if dtype != "uint8" else RNG.uniform(0, 255, (3, 4))).astype(dtype)
    options = {"sizes": [5, 7], "mode": "cubic"}
    found, wanted = resized(run, x, **options), resized(expected, x, **options)
    assert found.dtype == dtype
    if dtype.startswith("float"):
        np.testing.assert_allclose(found, wanted, rtol=1e-3 if dtype == "float16" else 1e-12, atol=1e-2)
    else:
        assert np.array_equal(found, wanted)


def test_the_nearest_elements_are_repeated_or_skipped() -> None:
    """No gather where a repetition or a slice is the same."""
    x = np.zeros((1, 2, 4, 6), np.float32)
    options: dict[str, Any] = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    larger = resized(text_of, x, scales=[1, 1, 2, 3], **options)
    assert larger.count("graph.broadcast_to") == 1 and "take" not in larger
    smaller = resized(text_of, x, scales=[1, 1, 0.5, 0.5], **options)
    assert smaller.count("graph.strided_slice") == 2 and "take" not in smaller
    assert "graph.take" in resized(text_of, x, scales=[1, 1, 1, 1.5], **options)
    assert "graph" not in resized(text_of, x, sizes=[1, 2, 4, 6], mode="linear").partition("->")[2]


def test_linear_maps_are_sums_of_two_elements_per_axis() -> None:
    text = resized(text_of, np.zeros((1, 2, 4, 6), np.float32), scales=[1, 1, 2, 2], mode="linear")
    assert text.count("graph.resample") == 2
    assert "tensor<8x2xi64>, tensor<8x2xf32>" in text and "tensor<12x2xi64>" in text


def test_the_last_axis_grows_first_and_shrinks_last() -> None:
    x = np.zeros((1, 2, 4, 6), np.float32)
    for scale, first in ((2, 3), (0.5, 2)):
        text = resized(text_of, x, scales=[1, 1, scale, scale], mode="linear", antialias=int(scale < 1))
        assert [int(axis) for axis in re.findall(r"graph.resample .*axis = (\d)", text)] == [first, 5 - first]


def test_the_nearest_by_the_middle_of_elements() -> None:
    """Coordinates of version 11 alone: `floor((i + 0.5) / scale)`."""
    x = np.arange(10, dtype=np.float32).reshape(1, 10)
    options: dict[str, Any] = {
        "coordinate_transformation_mode": "tf_half_pixel_for_nn",
        "nearest_mode": "floor",
    }
    found = resized(run, x, version=11, roi=[], scales=[1.0, 0.4], **options)
    assert found.tolist() == [[1, 3, 6, 8]]


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_the_batch_may_be_unknown(mode: str) -> None:
    import stepwell

    node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, ["n", 2, 3, 4])],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "s")],
    )
    module = from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)]))
    assert "tensor<?x2x6x8xf32>" in str(module)
    x = RNG.standard_normal((3, 2, 3, 4)).astype(np.float32)
    (found,) = stepwell.compile(module, cache=False)(x)
    wanted = resized(expected, x, scales=[1, 1, 2, 2], mode=mode)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_first_forms() -> None:
    """`place = i / scale`, and of two neighbours the one before."""
    x = RNG.standard_normal((1, 1, 3, 3)).astype(np.float32)
    scales = np.array([1, 1, 2, 1.5], np.float32)
    rows, columns = np.arange(6) // 2, (np.arange(4) / 1.5).astype(int)
    for operator, version in (("Upsample", 9), ("Resize", 10)):
        (found,) = run(operator, {"x": x, "s": scales}, version=version, known=["s"])
        assert np.array_equal(found, x[:, :, rows][..., columns])
    (found,) = run("Upsample", {"x": x}, version=7, scales=[1.0, 1.0, 2.0, 1.0], mode="linear")
    between = (x[:, :, :-1] + x[:, :, 1:]) / 2
    np.testing.assert_allclose(found[:, :, 1:5:2], between, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scales": [1, 1, 2], "mode": "bilinear"}, "mode is 'bilinear', expected nearest, linear, cubic"),
        ({"scales": [1, 1, 2], "nearest_mode": "up"}, "nearest_mode is 'up', expected round_prefer_floor"),
        (
            {"scales": [1, 1, 2], "coordinate_transformation_mode": "x"},
            "coordinate_transformation_mode is 'x'",
        ),
        ({"scales": [1, 1, 2], "antialias": 1}, "antialias is set, expected mode linear or cubic with it"),
        ({"scales": [1, 2]}, "do not have one entry for each of 3 axes"),
        ({}, "scales and sizes are both given or both missing"),
        ({"scales": [1, 1, 2], "sizes": [1, 1, 2]}, "scales and sizes are both given or both missing"),
        ({"scales": [1, 1, -2.0]}, r"scales are \[1.0, 1.0, -2.0\], expected finite numbers above 0"),
        (
            {"sizes": [1, 1, 2], "keep_aspect_ratio_policy": "fit"},
            "keep_aspect_ratio_policy is 'fit', expected stretch, not_larger or not_smaller",
        ),
    ],
)
def test_what_is_not_in_the_specification_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnnxError, match=message):
        resized(text_of, np.zeros((1, 1, 4), np.float32), **options)


def of_any_size(nodes: list[Any], *arrays: tuple[str, Array]) -> Any:
    """A model of an image whose extents are not known."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, ["n", 2, "h", "w"])],
        [helper.make_tensor_value_info("y", 1, [None] * 4)],
        [numpy_helper.from_array(array, name) for name, array in arrays],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])


UNKNOWN = [
    ({"mode": "nearest"}, 2.0),
    ({"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "ceil"}, 1.5),
    ({"mode": "nearest", "coordinate_transformation_mode": "half_pixel_symmetric"}, 0.5),
    ({"mode": "linear", "coordinate_transformation_mode": "align_corners"}, 2.0),
    ({"mode": "linear", "antialias": 1}, 0.5),
    ({"mode": "cubic", "exclude_outside": 1, "coordinate_transformation_mode": "pytorch_half_pixel"}, 1.5),
]


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("options", "scale"), UNKNOWN)
def test_extents_may_be_unknown(options: dict[str, Any], scale: float) -> None:
    import stepwell

    scales = np.array([1, 1, scale, 2], np.float32)
    model = of_any_size([helper.make_node("Resize", ["x", "", "s"], ["y"], **options)], ("s", scales))
    executable = stepwell.compile(from_onnx(model), cache=False)
    for shape in ((1, 2, 4, 3), (2, 2, 1, 5) if scale >= 1 else (2, 2, 6, 5)):
        x = RNG.standard_normal(shape).astype(np.float32)
        (found,), wanted = executable(x), resized(expected, x, scales=scales, **options)
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_sizes_may_follow_from_shapes() -> None:
    """To the extents of another tensor, as exporters write it."""
    import stepwell

    nodes = [
        helper.make_node("AveragePool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Shape", ["x"], ["full"]),
        helper.make_node("Slice", ["full", "two", "four"], ["spatial"]),
        helper.make_node("Shape", ["p"], ["small"]),
        helper.make_node("Slice", ["small", "zero", "two"], ["leading"]),
        helper.make_node("Concat", ["leading", "spatial"], ["sizes"], axis=0),
        helper.make_node("Resize", ["p", "", "", "sizes"], ["y"], mode="linear"),
    ]
    numbers = [(name, np.array([value])) for name, value in (("zero", 0), ("two", 2), ("four", 4))]
    executable = stepwell.compile(from_onnx(of_any_size(nodes, *numbers)), cache=False)
    for shape in ((1, 2, 4, 6), (2, 2, 5, 8)):
        x = RNG.standard_normal(shape).astype(np.float32)
        high, wide = shape[2] // 2, shape[3] // 2
        pooled = x[:, :, : 2 * high, : 2 * wide].reshape(*shape[:2], high, 2, wide, 2).mean((3, 5))
        wanted = resized(expected, pooled, sizes=list(shape), mode="linear")
        np.testing.assert_allclose(executable(x)[0], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"coordinate_transformation_mode": "tf_crop_and_resize"},
            "expected the extents of the input to be known",
        ),
    ],
)
def test_what_needs_extents_is_refused(options: dict[str, Any], message: str) -> None:
    model = of_any_size(
        [helper.make_node("Resize", ["x", "r", "s"], ["y"], **options)],
        ("r", np.array([0, 0, 0, 0, 1, 1, 1, 1], np.float32)),
        ("s", np.array([1, 1, 2, 2], np.float32)),
    )
    with pytest.raises(OnnxError, match=message):
        from_onnx(model)
