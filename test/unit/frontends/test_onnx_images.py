"""Operators of ONNX that rearrange images, against NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_one_node import expected, run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(11)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_blocks_of_channels(mode: str) -> None:
    """Channel, block and pixel of each element, counted out."""
    x = np.arange(2 * 12 * 2 * 3).reshape(2, 12, 2, 3).astype(np.int32)
    (found,) = run("DepthToSpace", {"x": x}, version=13, blocksize=2, mode=mode)
    for n, c, h, w in np.ndindex(found.shape):
        block = h % 2 * 2 + w % 2
        channel = block * 3 + c if mode == "DCR" else c * 4 + block
        assert found[n, c, h, w] == x[n, channel, h // 2, w // 2]


def test_there_and_back() -> None:
    x = RNG.standard_normal((2, 3, 4, 6)).astype(np.float32)
    (deep,) = run("SpaceToDepth", {"x": x}, version=13, blocksize=2)
    assert np.array_equal(run("DepthToSpace", {"x": deep}, version=13, blocksize=2)[0], x)


@pytest.mark.parametrize(("size", "wanted"), [(5, 8), (5, 2), (6, 3), (4, 4), (3, 8)])
def test_crops_and_pads_about_the_centre(size: int, wanted: int) -> None:
    x = np.arange(1, 2 * size + 1, dtype=np.float32).reshape(2, size)
    inputs = {"x": x, "s": np.array([wanted])}
    (found,) = run("CenterCropPad", inputs, version=18, known=["s"], axes=[-1])
    (by_onnx,) = expected("CenterCropPad", inputs, version=18, known=["s"], axes=[-1])
    assert np.array_equal(found, by_onnx)
    kept = found[found != 0].reshape(2, -1)
    assert kept.shape[1] == min(size, wanted) and np.all(np.diff(kept) == 1)


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("spatial", [(3, 4), (2, 3, 1)])
def test_grids_of_affine_maps(spatial: tuple[int, ...], align: int) -> None:
    rank = len(spatial)
    theta = RNG.standard_normal((2, rank, rank + 1)).astype(np.float32)
    size = np.array([2, 1, *spatial])
    (found,) = run("AffineGrid", {"t": theta, "s": size}, version=20, known=["s"], align_corners=align)
    for place in np.ndindex(spatial):
        at = [
            0.0 if n == 1 else -1 + 2 * i / (n - 1) if align else (2 * i + 1) / n - 1
            for i, n in zip(place, spatial, strict=True)
        ]
        wanted = theta @ np.array([*reversed(at), 1.0])
        np.testing.assert_allclose(found[(slice(None), *place)], wanted, rtol=1e-5, atol=1e-5)


@settings(max_examples=30 if FULL else 5)
@given(data=st.data())
def test_windows_that_overlap_are_summed(data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, 3))

    def each(low: int, high: int) -> list[int]:
        return [data.draw(st.integers(low, high)) for _ in range(rank)]

    kernel, strides, dilations, image = each(1, 3), each(1, 3), each(1, 2), each(5, 6)
    pads = [*each(0, 2), *each(0, 2)]
    counts = [
        (image[d] + pads[d] + pads[d + rank] - dilations[d] * (kernel[d] - 1) - 1) // strides[d] + 1
        for d in range(rank)
    ]
    x = RNG.integers(-3, 4, (1, 2 * int(np.prod(kernel)), int(np.prod(counts)))).astype(np.float32)
    inputs = {"x": x, "i": np.array(image), "b": np.array(kernel)}
    attributes = {"strides": strides, "dilations": dilations, "pads": pads}
    (found,) = run("Col2Im", inputs, version=18, known=["i", "b"], **attributes)
    by_hand = np.zeros((1, 2, *image), np.float32)
    columns = x.reshape(1, 2, *kernel, *counts)
    for tap, number in product(np.ndindex(*kernel), np.ndindex(*counts)):
        at = [n * s + t * d - p for n, s, t, d, p in zip(number, strides, tap, dilations, pads[:rank], strict=True)]
        if all(0 <= each < size for each, size in zip(at, image, strict=True)):
            by_hand[(0, slice(None), *at)] += columns[(0, slice(None), *tap, *number)]
    assert np.array_equal(found, by_hand)


def test_an_infinity_stays_in_its_window() -> None:
    x = np.array([[[np.inf, 1.0], [2.0, 3.0]]], np.float32)
    inputs = {"x": x, "i": np.array([4]), "b": np.array([2])}
    (found,) = run("Col2Im", inputs, version=18, known=["i", "b"], strides=[2])
    assert found.tolist() == [[[np.inf, 2.0, 1.0, 3.0]]]


@pytest.mark.parametrize("shape", [None, (1, 1, 5, 6)])
def test_maxima_go_back_to_their_places(shape: tuple[int, ...] | None) -> None:
    x = np.array([[[[5, 6], [7, 8]]]], np.float32)
    places = np.array([[[[0, 3], [9, 14]]]])
    inputs: dict[str, Array | None] = {"x": x, "i": places, "s": None if shape is None else np.array(shape)}
    known = [] if shape is None else ["s"]
    (found,) = run("MaxUnpool", inputs, version=22, known=known, kernel_shape=[2, 2], strides=[2, 2])
    by_hand = np.zeros((1, 1, 4, 4), np.float32)
    by_hand.reshape(-1)[places.reshape(-1)] = x.reshape(-1)
    if shape is not None:
        by_hand = np.pad(by_hand, [(0, 0), (0, 0), (0, 1), (0, 2)])
    assert np.array_equal(found, by_hand)


IMAGE = np.zeros((1, 6, 4, 4), np.float32)


@pytest.mark.parametrize(
    ("operator", "inputs", "known", "attributes", "message"),
    [
        (
            "DepthToSpace",
            {"x": IMAGE},
            [],
            {"blocksize": 2},
            "6 channels do not divide into blocks of 2 by 2",
        ),
        ("DepthToSpace", {"x": IMAGE[0]}, [], {"blocksize": 2}, "expected rank 4"),
        (
            "DepthToSpace",
            {"x": IMAGE[:, :4]},
            [],
            {"blocksize": 2, "mode": "X"},
            "mode is 'X', expected DCR or CRD",
        ),
        ("SpaceToDepth", {"x": IMAGE}, [], {"blocksize": 3}, "4 by 4 pixels do not divide into blocks of 3"),
        (
            "CenterCropPad",
            {"x": IMAGE, "s": np.array([3])},
            ["s"],
            {},
            "the shape is \\[3\\], expected 4 extents",
        ),
        ("AffineGrid", {"x": IMAGE[0], "s": np.array([1, 1, 2, 2])}, ["s"], {}, "expected Nx2x3 or Nx3x4"),
        (
            "Col2Im",
            {"x": IMAGE[0], "i": np.array([9]), "b": np.array([2])},
            ["i", "b"],
            {},
            "expected windows of",
        ),
        (
            "MaxUnpool",
            {"x": IMAGE, "i": IMAGE.astype(np.int64)},
            [],
            {"kernel_shape": [2]},
            "expected 1 spatial",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    operator: str, inputs: dict[str, Array], known: list[str], attributes: dict[str, Any], message: str
) -> None:
    version = {"CenterCropPad": 18, "AffineGrid": 20, "Col2Im": 18, "MaxUnpool": 22}.get(operator, 13)
    with pytest.raises(OnnxError, match=message):
        text_of(operator, inputs, version=version, known=known, **attributes)


def test_pictures_are_not_decoded() -> None:
    with pytest.raises(OnnxError, match=r"ImageDecoder \(opset 20\), node 'node'"):
        text_of("ImageDecoder", {"x": np.zeros(4, np.uint8)}, version=20)
