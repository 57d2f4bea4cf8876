"""Pooling and padding of ONNX, against windows written out in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_one_node import expected, run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(3)


def windows(x: Array, kernel: list[int], strides: list[int], pads: list[int], ceil: bool) -> Any:
    """Yields (place, the elements of the input in the window, how many places of declared padding it has)."""
    rank = len(kernel)
    before, after = pads[:rank], pads[rank:]
    counts: list[int] = []
    for n, k, s, b, a in zip(x.shape[2:], kernel, strides, before, after, strict=True):
        extra = -(-(n + b + a - k) // s) if ceil else (n + b + a - k) // s
        counts.append(extra + 1 - (ceil and extra * s >= n + b))
    for place in np.ndindex(*counts):
        starts = [p * s - b for p, s, b in zip(place, strides, before, strict=True)]
        inside = [slice(max(t, 0), min(t + k, n)) for t, k, n in zip(starts, kernel, x.shape[2:], strict=True)]
        declared = [min(t + k, n + a) - t for t, k, n, a in zip(starts, kernel, x.shape[2:], after, strict=True)]
        yield place, x[(slice(None), slice(None), *inside)], int(np.prod(declared))


def combined(operator: str, elements: Array, count: int) -> Array:
    axes = tuple(range(2, elements.ndim))
    if operator == "MaxPool":
        return elements.max(axes)
    wide = elements.astype(np.float64)
    return wide.sum(axes) / count if operator == "AveragePool" else (np.abs(wide) ** 3).sum(axes) ** (1 / 3)


CASES = [
    ((1, 2, 7), [3], [2], [1, 1], False),
    ((1, 2, 6, 7), [3, 2], [2, 3], [1, 0, 0, 1], True),
    ((1, 2, 4, 5, 6), [2, 3, 2], [2, 2, 1], [0, 1, 1, 1, 1, 0], True),
]


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("case", CASES, ids=["1-D", "2-D", "3-D"])
@pytest.mark.parametrize("operator", ["MaxPool", "AveragePool", "LpPool"])
def test_windows_of_every_rank(operator: str, case: Any) -> None:
    shape, kernel, strides, pads, ceil = case
    x = RNG.standard_normal(shape).astype(np.float32)
    options: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "pads": pads}
    options |= {"ceil_mode": int(ceil)}
    if operator == "LpPool":
        options["p"] = 3
    if operator == "AveragePool":
        options["count_include_pad"] = int(ceil)
    (found,) = run(operator, {"x": x}, version=22, **options)
    by_hand = np.zeros(found.shape)
    for place, elements, declared in windows(x, kernel, strides, pads, ceil):
        count = declared if ceil else int(np.prod(elements.shape[2:]))
        value = combined(operator, elements, count)
        by_hand[(slice(None), slice(None), *place)] = value
    np.testing.assert_allclose(found, by_hand, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("order", [0, 1])
def test_places_of_maxima(order: int) -> None:
    """Of equals the first in the order of the window."""
    x = RNG.integers(0, 3, (2, 2, 5, 6)).astype(np.float32)
    options: dict[str, Any] = {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 0]}
    best, places = run("MaxPool", {"x": x}, version=22, outputs=2, storage_order=order, **options)
    image = np.arange(30).reshape((5, 6), order="F" if order else "C")
    for n, c, i, j in np.ndindex(best.shape):
        rows, columns = slice(max(2 * i - 1, 0), 2 * i + 2), slice(2 * j, 2 * j + 2)
        part = x[n, c, rows, columns]
        assert best[n, c, i, j] == part.max()
        assert places[n, c, i, j] == (n * 2 + c) * 30 + image[rows, columns].flat[int(part.argmax())]


def test_global_pooling_by_norms() -> None:
    x = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)
    (found,) = run("GlobalLpPool", {"x": x}, version=22, p=1)
    np.testing.assert_allclose(found, np.abs(x).sum((2, 3), keepdims=True), rtol=1e-5)


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("widths", [(1, 2, 0, 3), (0, 7, 5, 0), (2, -1, -1, 4)])
def test_padding(mode: str, widths: tuple[int, ...]) -> None:
    """Longer than the input too: images of images."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    cut = x[max(-widths[0], 0) : 3 + min(widths[2], 0), max(-widths[1], 0) : 4 + min(widths[3], 0)]
    pairs = [(max(widths[d], 0), max(widths[d + 2], 0)) for d in range(2)]
    inputs = {"x": x, "p": np.array(widths)}
    (found,) = run("Pad", inputs, version=19, known=["p"], mode=mode)
    assert np.array_equal(found, np.pad(cut, pairs, mode=mode))  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_padding_of_some_axes_with_a_value() -> None:
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    inputs = {"x": x, "p": np.array([1, 2]), "v": np.array(7, np.int32), "a": np.array([-1])}
    (found,) = run("Pad", inputs, version=19, known=["p", "v", "a"])
    assert np.array_equal(found, np.pad(x, [(0, 0), (1, 2)], constant_values=7))


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.bool_])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_d11_padding_with_a_value_that_is_known_at_run_time(dtype: type[np.generic], shape: tuple[int, ...]) -> None:
    x = np.arange(6).reshape(2, 3).astype(dtype)
    inputs = {"x": x, "p": np.array([1, 2, 0, -1]), "v": np.full(shape, 7, dtype)}
    (found,) = run("Pad", inputs, version=19, known=["p"])
    assert np.array_equal(found, np.pad(x[:, :2], [(1, 0), (2, 0)], constant_values=dtype(7)))  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_the_evaluator_of_onnx_agrees() -> None:
    x = RNG.standard_normal((1, 1, 6, 6)).astype(np.float32)
    options: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [3, 2], "dilations": [2, 1]}
    (found,), (wanted,) = (way("MaxPool", {"x": x}, version=22, **options) for way in (run, expected))
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    ("operator", "shape", "attributes", "message"),
    [
        (
            "MaxPool",
            (1, 1, 4, 4),
            {"kernel_shape": [2]},
            "the kernel has the extents \\[2\\], expected 2 known",
        ),
        ("MaxPool", (1, 1, 2, 2, 2, 2), {"kernel_shape": [1] * 4}, "expected rank 3, 4 or 5"),
        ("AveragePool", (1, 1, 4, 4), {"kernel_shape": [2, 2], "strides": [1]}, "strides are \\[1\\]"),
        ("Pad", (4,), {"mode": "mirror"}, "mode is 'mirror', expected constant, reflect, edge or wrap"),
    ],
)
def test_what_does_not_fit_is_refused(
    operator: str, shape: tuple[int, ...], attributes: dict[str, Any], message: str
) -> None:
    inputs: dict[str, Array | None] = {"x": np.zeros(shape, np.float32)}
    known: list[str] = []
    if operator == "Pad":
        inputs["p"], known = np.array([1, 1]), ["p"]
    with pytest.raises(OnnxError, match=message):
        text_of(operator, inputs, version=22 if operator != "Pad" else 19, known=known, **attributes)


def test_nothing_to_pad_with_is_refused() -> None:
    inputs = {"x": np.zeros((0,), np.float32), "p": np.array([1, 1])}
    with pytest.raises(OnnxError, match="dimension 0 is empty, expected elements to pad with"):
        text_of("Pad", inputs, version=19, known=["p"], mode="edge")
