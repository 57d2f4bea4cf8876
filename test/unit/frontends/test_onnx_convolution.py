"""Convolutions of ONNX of 1 to 4 spatial dimensions and transposed ones, against sums over taps in NumPy."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper
from onnx_one_node import run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]
Ints = list[int]


def whole(rng: np.random.Generator, *shape: int) -> Array:
    """Small whole numbers, of which every sum is exact."""
    return rng.integers(-3, 4, shape).astype(np.float32)


def correlated(x: Array, w: Array, strides: Ints, dilations: Ints, before: Ints, after: Ints, groups: int) -> Array:
    """Every tap of the filter with the slice of the padded input that it meets."""
    padded = np.pad(x, [(0, 0), (0, 0), *zip(before, after, strict=True)])
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations, strict=True)]
    counts = [(size - each) // stride + 1 for size, each, stride in zip(padded.shape[2:], reach, strides, strict=True)]
    result = np.zeros((len(x), len(w), *counts), x.dtype)
    outputs, inputs = len(w) // groups, w.shape[1]
    for o, i in product(range(len(w)), range(inputs)):
        for tap in np.ndindex(w.shape[2:]):
            part = tuple(
                slice(t * d, t * d + (c - 1) * s + 1, s)
                for t, d, c, s in zip(tap, dilations, counts, strides, strict=True)
            )
            result[:, o] += w[(o, i, *tap)] * padded[(slice(None), o // outputs * inputs + i, *part)]
    return result


def scattered(x: Array, w: Array, strides: Ints, dilations: Ints, before: Ints, shape: Ints, groups: int) -> Array:
    """Every element of the input times the filter, added at its place."""
    result = np.zeros((len(x), w.shape[1] * groups, *shape), x.dtype)
    inputs = x.shape[1] // groups
    for place in np.ndindex(x.shape[2:]):
        for tap in np.ndindex(w.shape[2:]):
            at = [p * s + t * d - b for p, s, t, d, b in zip(place, strides, tap, dilations, before, strict=True)]
            if any(not 0 <= each < size for each, size in zip(at, shape, strict=True)):
                continue
            for c, o in product(range(x.shape[1]), range(w.shape[1])):
                target = (slice(None), c // inputs * w.shape[1] + o, *at)
                result[target] += x[(slice(None), c, *place)] * w[(c, o, *tap)]
    return result


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("rank", [1, 3, 4])
def test_convolutions_of_every_rank(rank: int) -> None:
    rng = np.random.default_rng(rank)
    x, w = whole(rng, 2, 4, *[5, 6, 4, 3][:rank]), whole(rng, 6, 2, *[2, 3, 1, 2][:rank])
    strides, dilations = [2, 1, 1, 2][:rank], [2, 1, 2, 1][:rank]
    before, after = [1, 0, 0, 1][:rank], [2, 1, 0, 0][:rank]
    (found,) = run(
        "Conv",
        {"x": x, "w": w},
        version=22,
        known=["w"],
        strides=strides,
        dilations=dilations,
        pads=before + after,
        group=2,
    )
    assert np.array_equal(found, correlated(x, w, strides, dilations, before, after, 2))


def test_filters_and_batches_may_come_at_run_time() -> None:
    rng = np.random.default_rng(0)
    x, w, bias = whole(rng, 2, 3, 4, 4), whole(rng, 3, 2, 3, 2), whole(rng, 2)
    (found,) = run("ConvTranspose", {"x": x, "w": w, "b": bias}, version=22, strides=[2, 3])
    by_hand = scattered(x, w, [2, 3], [1, 1], [0, 0], [9, 11], 1)
    assert np.array_equal(found, by_hand + bias[:, None, None])


def test_a_stride_as_long_as_the_filter_is_a_product_dealt_out() -> None:
    """No zeros are multiplied: the convolution has one tap, and four channels for each of the result."""
    text = text_of(
        "ConvTranspose",
        {"x": np.zeros((1, 3, 4, 4), np.float32), "w": np.zeros((3, 5, 2, 2), np.float32)},
        version=22,
        strides=[2, 2],
    )
    assert "(tensor<1x3x4x4xf32>, tensor<20x3x1x1xf32>) -> tensor<1x20x4x4xf32>" in text
    assert "graph.pad" not in text


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize(
    ("outputs", "kernel", "attributes", "filters"),
    [
        # Remainders with the same taps are one convolution, others have one each, with their own taps only.
        (16, 3, {"pads": [1] * 4, "output_padding": [1, 1]}, ["16x3x1x1", "16x3x1x2", "16x3x2x1", "16x3x2x2"]),
        (16, 4, {"pads": [1] * 4}, ["16x3x2x2"] * 4),
        (16, 4, {}, ["64x3x2x2"]),
        (16, 7, {"strides": [4, 4]}, ["16x3x1x1", "48x3x1x2", "48x3x2x1", "144x3x2x2"]),
        # Nine taps of floats are left to Winograd's method. Few channels fill vectors together.
        (16, 5, {"pads": [1] * 4}, ["64x3x3x3"]),
        (2, 3, {"pads": [1] * 4}, ["8x3x2x2"]),
        (8, 4, {"pads": [1] * 4}, ["32x3x2x2"]),
        # Places that no tap meets take no products.
        (16, 3, {"dilations": [2, 2]}, ["16x3x3x3"]),
        (16, 3, {"strides": [4, 4], "pads": [0] * 4}, ["144x3x1x1"]),
        (16, 3, {"dilations": [2, 1], "strides": [3, 1]}, ["16x3x1x3"] * 3),
    ],
)
def test_remainders_take_their_own_taps(
    outputs: int, kernel: int, attributes: dict[str, Any], filters: list[str]
) -> None:
    rng = np.random.default_rng(outputs + kernel)
    x, w = whole(rng, 1, 3, 4, 5), whole(rng, 3, outputs, kernel, kernel)
    bias = whole(rng, outputs)
    attributes = {"strides": [2, 2], **attributes}
    text = text_of("ConvTranspose", {"x": x, "w": w, "b": bias}, version=22, **attributes)
    found = re.findall(r"graph\.conv2d.*?, tensor<([0-9x]+)xf32>\)", text)
    assert sorted(found) == sorted(filters)
    (y,) = run("ConvTranspose", {"x": x, "w": w, "b": bias}, version=22, known=["w", "b"], **attributes)
    dilations, before = attributes.get("dilations", [1, 1]), attributes.get("pads", [0] * 4)[:2]
    wanted = scattered(x, w, attributes["strides"], dilations, before, list(y.shape[2:]), 1)
    assert np.array_equal(y, wanted + bias[:, None, None])


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize(("kernel", "pads"), [(2, 0), (3, 1), (4, 1), (5, 2)])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_transposed_convolutions_of_integers(kernel: int, pads: int, axis: int | None) -> None:
    """Scales of output channels move along with the filter, so that integers are multiplied."""
    rng = np.random.default_rng(kernel)
    x, w = whole(rng, 1, 16, 4, 5), rng.integers(-20, 21, (16, 32, kernel, kernel)).astype(np.int8)
    count = 1 if axis is None else w.shape[axis]
    scale = (2.0 ** rng.integers(-3, 0, count)).astype(np.float32)
    zero = np.zeros(count, np.int8)
    one, two = np.float32(1), np.uint8(100)
    constants = {"w": w, "s": scale if axis is not None else scale[0], "z": zero if axis is not None else zero[0]}
    constants |= {"one": one, "two": two}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "one", "two"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "one", "two"], ["r"]),
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["v"], axis=axis or 0),
        helper.make_node("ConvTranspose", ["r", "v"], ["y"], strides=[2, 2], pads=[pads] * 4),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, x.shape)],
        [helper.make_tensor_value_info("y", 1, [None] * 4)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    executable = stepwell.compile_onnx(model, cache=False)
    (y,) = executable(x=x)
    real = w * (scale[0] if axis is None else scale.reshape([-1 if n == axis else 1 for n in range(4)]))
    wanted = scattered(x, real.astype(np.float32), [2, 2], [1, 1], [pads, pads], list(y.shape[2:]), 1)
    assert np.array_equal(y, wanted)
    types = set(re.findall(r"graph\.conv2d .*\(tensor<[0-9x]+x(\w+)>, tensor<[0-9x]+x(\w+)>", executable.ir("graph")))
    assert types == ({("f32", "f32")} if axis == 0 else {("ui8", "i8")})


@settings(max_examples=40 if FULL else 6)
@given(data=st.data())
def test_transposed_convolutions(data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, 3))

    def each(low: int, high: int) -> Ints:
        return [data.draw(st.integers(low, high)) for _ in range(rank)]

    sizes, kernel, strides, dilations = each(1, 3), each(1, 3), each(1, 3), each(1, 2)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    before = [data.draw(st.integers(0, r - 1)) for r in reach]
    after = [data.draw(st.integers(0, r - 1 - b)) for r, b in zip(reach, before, strict=True)]
    more = [data.draw(st.integers(0, max(s, d) - 1)) for s, d in zip(strides, dilations, strict=True)]
    shape = [
        (n - 1) * s + r - b - a + m for n, s, r, b, a, m in zip(sizes, strides, reach, before, after, more, strict=True)
    ]
    groups, outputs = data.draw(st.integers(1, 2)), data.draw(st.sampled_from([2, 16]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x, w = whole(rng, 2, 2 * groups, *sizes), whole(rng, 2 * groups, outputs, *kernel)
    bias = whole(rng, outputs * groups)
    attributes = {"strides": strides, "dilations": dilations, "group": groups}
    attributes |= {"pads": before + after, "output_padding": more}
    inputs = {"x": x, "w": w, "b": bias}
    (found,) = run("ConvTranspose", inputs, version=22, known=["w", "b"], **attributes)
    wanted = scattered(x, w, strides, dilations, before, shape, groups)
    assert np.array_equal(found, wanted + bias.reshape(-1, *[1] * rank))


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize(
    ("attributes", "before", "shape"),
    [
        ({"auto_pad": "SAME_UPPER"}, 1, 12),
        ({"auto_pad": "SAME_LOWER"}, 2, 12),
        ({"auto_pad": "VALID"}, 0, 15),
        ({"output_shape": [17]}, 0, 17),
        ({"output_shape": [13], "auto_pad": "SAME_UPPER"}, 1, 13),
        ({"output_shape": [12]}, 2, 12),
    ],
)
def test_what_is_cut_off_may_follow_from_the_shape(attributes: dict[str, Any], before: int, shape: int) -> None:
    rng = np.random.default_rng(5)
    x, w = whole(rng, 1, 2, 4), whole(rng, 2, 1, 6)
    (found,) = run("ConvTranspose", {"x": x, "w": w}, version=22, known=["w"], strides=[3], **attributes)
    assert np.array_equal(found, scattered(x, w, [3], [1], [before], [shape], 1))


@pytest.mark.parametrize(
    ("operator", "w", "attributes", "message"),
    [
        ("Conv", (2, 3, 3), {}, "kernel has the extents"),
        ("Conv", (2, 3, 3, 3), {"pads": [1, 1]}, "pads are"),
        ("Conv", (2, 3, 3, 3), {"auto_pad": "SAME"}, "auto_pad is 'SAME', expected NOTSET, SAME_UPPER"),
        ("ConvTranspose", (3, 2, 3, 3), {"group": 2}, "3 input channels do not divide into 2 groups"),
        (
            "ConvTranspose",
            (3, 2, 3, 3),
            {"output_padding": [1]},
            "output_padding or output_shape do not have 2",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    operator: str, w: tuple[int, ...], attributes: dict[str, Any], message: str
) -> None:
    inputs = {"x": np.zeros((1, 3, 6, 6), np.float32), "w": np.zeros(w, np.float32)}
    with pytest.raises(OnnxError, match=message):
        text_of(operator, inputs, version=22, **attributes)


def test_a_window_that_does_not_fit_is_refused() -> None:
    inputs = {"x": np.zeros((1, 1, 2, 6, 6), np.float32), "w": np.zeros((1, 1, 3, 1, 1), np.float32)}
    with pytest.raises(OnnxError, match="a window of 3 does not fit into the 2 planes"):
        text_of("Conv", inputs, version=22)


def test_extents_may_be_unknown() -> None:
    """Of transposed convolutions and of blocks of pixels, for every size of image."""
    weight = whole(np.random.default_rng(7), 2, 4, 3, 3)
    nodes = [
        helper.make_node("ConvTranspose", ["x", "w"], ["t"], strides=[2, 2], pads=[1, 0, 1, 1]),
        helper.make_node("DepthToSpace", ["t"], ["s"], blocksize=2),
        helper.make_node("SpaceToDepth", ["s"], ["y"], blocksize=2),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, ["n", 2, "h", "w"])],
        [helper.make_tensor_value_info("y", 1, [None] * 4)],
        [numpy_helper.from_array(weight, "w")],
    )
    module = stepwell.from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    executable = stepwell.compile(module, cache=False)
    for shape in ((1, 2, 3, 4), (2, 2, 5, 2)):
        x = whole(np.random.default_rng(8), *shape)
        full = [2 * shape[2] - 1, 2 * shape[3]]
        wanted = scattered(x, weight, [2, 2], [1, 1], [1, 0], full, 1)
        (found,) = executable(x)
        assert np.array_equal(found, wanted)


def test_volumes_may_have_unknown_extents() -> None:
    weight = whole(np.random.default_rng(9), 2, 1, 3, 2, 2)
    node = helper.make_node("Conv", ["x", "w"], ["y"], strides=[2, 1, 1], pads=[1, 0, 0, 0, 1, 0], group=2)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, ["n", 2, 4, "h", "w"])],
        [helper.make_tensor_value_info("y", 1, [None] * 5)],
        [numpy_helper.from_array(weight, "w")],
    )
    module = stepwell.from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)]))
    executable = stepwell.compile(module, cache=False)
    for shape in ((1, 2, 4, 3, 4), (2, 2, 4, 5, 2)):
        x = whole(np.random.default_rng(10), *shape)
        (found,) = executable(x)
        assert np.array_equal(found, correlated(x, weight, [2, 1, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0], 2))
