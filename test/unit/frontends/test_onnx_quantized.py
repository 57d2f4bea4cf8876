"""Quantised operators of ONNX, against NumPy in 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_one_node import run, text_of
from stepwell.frontends import OnnxError
from stepwell.frontends.onnx.emitting.graph_builder import Emitter
from stepwell.frontends.onnx.emitting.values import KnownValue
from xdsl.ir import Block

BYTES = (np.uint8, np.int8)

Array = Any
"""Arrays and scalars of NumPy."""


def bytes_of(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Array:
    bounds = np.iinfo(dtype)
    return rng.integers(bounds.min, bounds.max, shape, dtype=dtype, endpoint=True)


# Conversions


def quantized(x: Array, scale: Array, zero: Array) -> Array:
    bounds = np.iinfo(zero.dtype)
    return np.clip(np.rint(x / scale) + zero, bounds.min, bounds.max).astype(zero.dtype)


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_quantizes_and_back(dtype: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((4, 3, 5)) * 100).astype(np.float32)
    scale = rng.uniform(0.01, 2, shape).astype(np.float32)
    zero = bytes_of(rng, shape, dtype)
    spread = (scale.reshape(-1, 1), zero.reshape(-1, 1)) if shape else (scale, zero)
    (found,) = run("QuantizeLinear", {"x": x, "s": scale, "z": zero}, version=21)
    wanted = quantized(x, *spread)
    np.testing.assert_array_equal(found, wanted)
    (back,) = run("DequantizeLinear", {"x": wanted, "s": scale, "z": zero}, version=21)
    np.testing.assert_allclose(back, (wanted.astype(np.float64) - spread[1]) * spread[0], rtol=1e-6)


@pytest.mark.parametrize("extent", [8, 7])
def test_blocks_along_an_axis(extent: int) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, extent, 3)).astype(np.float32)
    scale = rng.uniform(0.01, 0.1, (2, 2, 3)).astype(np.float32)
    zero = bytes_of(rng, (2, 2, 3), np.int8)
    spread = [np.repeat(each, 4, axis=1)[:, :extent] for each in (scale, zero)]
    (found,) = run("QuantizeLinear", {"x": x, "s": scale, "z": zero}, version=21, axis=1, block_size=4)
    np.testing.assert_array_equal(found, quantized(x, spread[0], spread[1]))


def test_out_of_range_is_the_nearest_and_ties_go_to_even() -> None:
    x = np.array([-1e30, -1.5, -0.5, 0.5, 1.5, 2.5, 1e30, np.inf, -np.inf], np.float32)
    one = np.float32(1)
    (found,) = run("QuantizeLinear", {"x": x, "s": np.array(one)}, version=13)
    np.testing.assert_array_equal(found, np.array([0, 0, 0, 0, 2, 2, 255, 255, 0], np.uint8))
    (found,) = run("QuantizeLinear", {"x": x, "s": np.array(one), "z": np.array(0, np.int8)}, version=13)
    np.testing.assert_array_equal(found, np.array([-128, -2, 0, 0, 2, 2, 127, 127, -128], np.int8))


def test_the_element_type_may_be_an_attribute() -> None:
    x = np.array([-3.2, 70000.0], np.float32)
    (found,) = run("QuantizeLinear", {"x": x, "s": np.array(1, np.float32)}, version=21, output_dtype=5)
    np.testing.assert_array_equal(found, np.array([-3, 32767], np.int16))


def test_32_bit_sums_become_floats() -> None:
    x = np.array([-(2**31), 2**31 - 1, 77], np.int32)
    (found,) = run("DequantizeLinear", {"x": x, "s": np.array(0.5, np.float32)}, version=13)
    np.testing.assert_array_equal(found, x.astype(np.float32) * np.float32(0.5))


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("x", [[0, 2, -3, -2.5, 1.34, 0.5], [1.0, 2.5, 2.0], [-4.0, -2.5], [0.0, 0.0]])
def test_dynamic_ranges_contain_zero(x: list[float]) -> None:
    array = np.array(x, np.float32)
    high, low = max(array.max(), np.float32(0)), min(array.min(), np.float32(0))
    scale = np.float32(1) if high == low else (high - low) / np.float32(255)
    zero = np.rint(-low / scale).astype(np.uint8)
    y, found_scale, found_zero = run("DynamicQuantizeLinear", {"x": array}, version=11, outputs=3)
    assert (found_scale, found_zero) == (scale, zero)
    np.testing.assert_array_equal(y, quantized(array, scale, zero))


# Products


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("known", [(), ("b",), ("b", "za", "zb")])
@pytest.mark.parametrize("types", [(x, y) for x in BYTES for y in BYTES])
def test_products_are_exact(types: tuple[Any, Any], known: tuple[str, ...]) -> None:
    rng = np.random.default_rng(2)
    a, b = bytes_of(rng, (5, 33), types[0]), bytes_of(rng, (33, 7), types[1])
    za, zb = bytes_of(rng, (), types[0]), bytes_of(rng, (), types[1])
    inputs = {"a": a, "b": b, "za": za, "zb": zb}
    (found,) = run("MatMulInteger", inputs, version=10, known=known)
    wanted = (a.astype(np.int64) - za) @ (b.astype(np.int64) - zb)
    np.testing.assert_array_equal(found, wanted.astype(np.int32))


@settings(max_examples=60 if FULL else 6, deadline=None)
@given(
    st.tuples(*[st.integers(1, 6)] * 3),
    st.sampled_from(["scalar", "one", "each"]),
    st.sampled_from(["scalar", "one", "each"]),
    st.integers(0, 2**32 - 1),
)
def test_zero_points_of_rows_and_columns(extents: tuple[int, int, int], rows: str, columns: str, seed: int) -> None:
    m, k, n = extents
    rng = np.random.default_rng(seed)
    sizes = {"scalar": (), "one": (1,)}
    a, b = bytes_of(rng, (2, m, k), np.uint8), bytes_of(rng, (k, n), np.int8)
    za = bytes_of(rng, sizes.get(rows, (m,)), np.uint8)
    zb = bytes_of(rng, sizes.get(columns, (n,)), np.int8)
    (found,) = run("MatMulInteger", {"a": a, "b": b, "za": za, "zb": zb}, version=10)
    wanted = (a.astype(np.int64) - za.reshape(-1, 1)) @ (b.astype(np.int64) - zb)
    np.testing.assert_array_equal(found, wanted.astype(np.int32))


@pytest.mark.parametrize("shapes", [((4,), (4, 3)), ((2, 4), (4,)), ((4,), (4,))])
def test_vectors(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    rng = np.random.default_rng(3)
    a, b = bytes_of(rng, shapes[0], np.uint8), bytes_of(rng, shapes[1], np.uint8)
    za, zb = bytes_of(rng, (), np.uint8), bytes_of(rng, (), np.uint8)
    (found,) = run("MatMulInteger", {"a": a, "b": b, "za": za, "zb": zb}, version=10)
    np.testing.assert_array_equal(found, (a.astype(np.int64) - za) @ (b.astype(np.int64) - zb))


@pytest.mark.parametrize("dtype", BYTES)
def test_quantized_products(dtype: Any) -> None:
    rng = np.random.default_rng(4)
    a, b = bytes_of(rng, (6, 40), dtype), bytes_of(rng, (40, 9), np.int8)
    za, zb, zy = bytes_of(rng, (), dtype), bytes_of(rng, (9,), np.int8), bytes_of(rng, (), dtype)
    sa, sb, sy = np.float32(0.02), rng.uniform(0.01, 0.03, 9).astype(np.float32), np.float32(3.5)
    names = ("a", "sa", "za", "b", "sb", "zb", "sy", "zy")
    values = (a, np.array(sa), za, b, sb, zb, np.array(sy), zy)
    (found,) = run("QLinearMatMul", dict(zip(names, values, strict=True)), version=21, known=names[1:])
    sums = ((a.astype(np.int64) - za) @ (b.astype(np.int64) - zb)).astype(np.float32)
    np.testing.assert_array_equal(found, quantized(sums * (sa * sb / sy), np.ones((), np.float32), zy))


# Convolutions


def convolution(x: Array, w: Array, pads: tuple[int, ...], strides: tuple[int, ...], group: int) -> Array:
    """Of integers that are centred at 0, in 64 bits."""
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    images, _, height, width = x.shape
    out, inside, kh, kw = w.shape
    rows, columns = (height - kh) // strides[0] + 1, (width - kw) // strides[1] + 1
    result = np.zeros((images, out, rows, columns), np.int64)
    for o in range(out):
        first = o // (out // group) * inside
        for i in range(rows):
            for j in range(columns):
                top, left = i * strides[0], j * strides[1]
                block = x[:, first : first + inside, top : top + kh, left : left + kw]
                result[:, o, i, j] = (block * w[o]).sum(axis=(1, 2, 3))
    return result


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("known", [(), ("w", "zx", "zw")])
@pytest.mark.parametrize("per_filter", [False, True])
@pytest.mark.parametrize(("group", "outputs"), [(1, 6), (1, 16), (2, 6)])
def test_convolutions_are_exact(known: tuple[str, ...], per_filter: bool, group: int, outputs: int) -> None:
    rng = np.random.default_rng(5)
    x, w = bytes_of(rng, (2, 4, 6, 5), np.uint8), bytes_of(rng, (outputs, 4 // group, 3, 2), np.uint8)
    zx, zw = bytes_of(rng, (), np.uint8), bytes_of(rng, (outputs,) if per_filter else (), np.uint8)
    inputs = {"x": x, "w": w, "zx": zx, "zw": zw}
    pads, strides = (1, 0, 2, 1), (2, 1)
    (found,) = run("ConvInteger", inputs, version=10, known=known, pads=pads, strides=strides, group=group)
    centred = w.astype(np.int64) - (zw.reshape(-1, 1, 1, 1) if per_filter else zw)
    wanted = convolution(x.astype(np.int64) - zx, centred, pads, strides, group)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("zeros", [(), (255, 255), (255, 0)], ids=["no zero points", "ends", "one end"])
@pytest.mark.parametrize("side", [4, 6, 7])
def test_sums_of_groups_are_exact_where_floats_are_not(side: int, zeros: tuple[int, ...]) -> None:
    """Groups of 16 channels are summed up in f32 where each sum is a number of f32: 258 terms of 255 * 255 are."""
    x = np.full((1, 32, side, side), 255 if not zeros else 0, np.uint8)
    w = np.full((4, 16, side, side), 255 if not zeros or not zeros[1] else 0, np.uint8)
    x[0, 0, 0, 0], w[:, 0, 0, 0] = 254, 253  # The sums are odd.
    inputs = {"x": x, "w": w} | ({"zx": np.uint8(zeros[0]), "zw": np.uint8(zeros[1])} if zeros else {})
    inputs = {name: np.asarray(array) for name, array in inputs.items()}
    (found,) = run("ConvInteger", inputs, version=10, known=("w",), group=2)
    zx, zw = zeros or (0, 0)
    wanted = convolution(x.astype(np.int64) - zx, w.astype(np.int64) - zw, (0, 0, 0, 0), (1, 1), 2)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("zero", [0, 3])
def test_quantized_convolutions(zero: int) -> None:
    rng = np.random.default_rng(6)
    x, w = bytes_of(rng, (1, 3, 8, 8), np.uint8), bytes_of(rng, (4, 3, 3, 3), np.int8)
    bias = rng.integers(-1000, 1000, 4, dtype=np.int32)
    sx, sy = np.float32(0.05), np.float32(20.0)
    sw = rng.uniform(0.1, 0.2, 4).astype(np.float32)
    zx, zw, zy = np.uint8(100), np.full(4, zero, np.int8), np.uint8(7)
    names = ("x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "bias")
    values = map(np.asarray, (x, sx, zx, w, sw, zw, sy, zy, bias))
    (found,) = run("QLinearConv", dict(zip(names, values, strict=True)), version=10, known=names[1:], pads=(1, 1, 1, 1))
    sums = convolution(x.astype(np.int64) - zx, w.astype(np.int64) - zero, (1, 1, 1, 1), (1, 1), 1)
    real = (sums + bias.reshape(-1, 1, 1)).astype(np.float32) * (sx * sw / sy).reshape(-1, 1, 1)
    np.testing.assert_array_equal(found, quantized(real, np.ones((), np.float32), zy))


@pytest.mark.parametrize("outputs", [3, 16])
def test_signals_of_one_dimension(outputs: int) -> None:
    rng = np.random.default_rng(7)
    x, w = bytes_of(rng, (1, 4, 20), np.uint8), bytes_of(rng, (outputs, 4, 4), np.int8)
    inputs = {"x": x, "w": w, "zx": np.array(5, np.uint8)}
    (found,) = run("ConvInteger", inputs, version=10, pads=(2, 1), dilations=(2,))
    wide = np.zeros((outputs, 4, 1, 7), np.int64)
    wide[..., 0, ::2] = w
    wanted = convolution(x.astype(np.int64)[:, :, None] - 5, wide, (0, 2, 0, 1), (1, 1), 1)
    np.testing.assert_array_equal(found[:, :, None], wanted)


@pytest.mark.parametrize("outputs", [2, 16])
def test_volumes(outputs: int) -> None:
    """A depth of the result is the sum of images."""
    rng = np.random.default_rng(9)
    x, w = bytes_of(rng, (1, 3, 4, 5, 5), np.int8), bytes_of(rng, (outputs, 3, 2, 3, 3), np.int8)
    (found,) = run("ConvInteger", {"x": x, "w": w}, version=10)
    for depth in range(3):
        images = (convolution(x[:, :, depth + k].astype(np.int64), w[:, :, k], (0,) * 4, (1, 1), 1) for k in (0, 1))
        np.testing.assert_array_equal(found[:, :, depth], sum(images))


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("shape", [(1, 3, 9, 12), (1, 3, 11), (2, 3, 4, 5, 6)])
def test_few_channels(shape: tuple[int, ...]) -> None:
    """Places in the window, along the first axes, become channels until there are 16: with strides and dilations."""
    rng = np.random.default_rng(10)
    rank = len(shape) - 2
    x, w = bytes_of(rng, shape, np.int8), bytes_of(rng, (16, 3, *(2, 3, 3)[-rank:]), np.int8)
    inputs = {"x": x, "w": w}
    options = {"strides": (1, 2, 2)[-rank:], "dilations": (1, 1, 2)[-rank:]}
    for known in ((), ("w",)):
        (found,) = run("ConvInteger", inputs, version=10, known=known, **options)
        windows = np.lib.stride_tricks.sliding_window_view(
            x.astype(np.int64),
            (1, 3, 5)[-rank:] if rank == 1 else (2, 3, 5)[-rank:],
            tuple(range(2, 2 + rank)),
        )
        steps = tuple(slice(None, None, step) for step in options["strides"])
        taps = tuple(slice(None, None, step) for step in options["dilations"])
        chosen = windows[(slice(None), slice(None), *steps, *taps)].reshape(*shape[:1], 3, -1, w[0, 0].size)
        wanted = np.einsum("ncpt,oct->nop", chosen, w.reshape(16, 3, -1).astype(np.int64))
        np.testing.assert_array_equal(found.reshape(wanted.shape), wanted)


def test_what_becomes_of_channels() -> None:
    def convolutions(channels: int, outputs: int) -> list[str]:
        shapes = (1, channels, 12, 12), (outputs, channels, 7, 5)
        inputs = {name: np.zeros(shape, np.int8) for name, shape in zip("xw", shapes, strict=True)}
        text = text_of("ConvInteger", inputs, version=10, known=("w",), strides=(2, 2))
        return [line for line in text.splitlines() if "graph.conv2d" in line]

    assert "(tensor<1x16x12x12xi8>, tensor<16x16x7x5xi8>)" in convolutions(16, 16)[0]
    assert "strides = [1, 2]" in convolutions(3, 16)[0]
    assert "(tensor<1x21x3x12xi8>, tensor<16x21x1x5xi8>)" in convolutions(3, 16)[0]
    assert "(tensor<1x35x3x4xi8>, tensor<16x35x1x1xi8>)" in convolutions(1, 16)[0]
    assert "(tensor<1x21x3x12xi8>, tensor<8x21x1x5xi8>)" in convolutions(3, 8)[0]


def test_weights_made_at_import_stay_apart() -> None:
    """Arrays too large for the text, each forgotten by the converter that made it before the next one is there."""
    emitter = Emitter(Block(), lambda graph, scope, given: [])
    arrays = [np.full(2000, number, np.int32) for number in range(8)]
    made = [emitter.ssa(KnownValue(array)) for array in arrays]
    assert len(set(made)) == len(arrays)
    for array, weight in zip(arrays, emitter.weights.values(), strict=True):
        np.testing.assert_array_equal(array, weight)


# What the text shows


def test_constant_weights_leave_one_product_and_a_constant() -> None:
    rng = np.random.default_rng(8)
    inputs = {
        "a": bytes_of(rng, (4, 8), np.uint8),
        "b": bytes_of(rng, (8, 3), np.int8),
        "za": np.array(7, np.uint8),
        "zb": np.zeros((3,), np.int8),
    }
    text = text_of("MatMulInteger", inputs, version=10, known=("b", "za", "zb"))
    assert "graph.matmul %" in text and "out_dtype = i32" in text
    assert "(tensor<4x8xui8>, tensor<8x3xi8>) -> tensor<4x3xi32>" in text
    assert text.count("graph.subtract") == 1 and "graph.sum" not in text and "graph.multiply" not in text


# What is refused


def refused(operator: str, inputs: dict[str, Any], **options: Any) -> str:
    with pytest.raises(OnnxError) as error:
        text_of(operator, inputs, **options)
    return str(error.value)


X = np.zeros((2, 4), np.float32)


def test_variants_that_are_refused() -> None:
    one, many = np.array(1, np.float32), np.ones((3,), np.float32)
    square = np.ones((2, 3), np.float32)
    message = refused("QuantizeLinear", {"x": X, "s": many}, version=13)
    assert "node 'node' (QuantizeLinear, opset 13): scale is tensor<3xf32>, expected 4 elements" in message
    message = refused("QuantizeLinear", {"x": X, "s": many}, version=13, axis=2)
    assert "axis is 2, expected one of the 2 dimensions of the input" in message
    message = refused("QuantizeLinear", {"x": X, "s": one}, version=21, output_dtype=18)
    assert "element type float8e4m3fnuz is not supported" in message
    message = refused("QuantizeLinear", {"x": X, "s": one}, version=21, output_dtype=6)
    assert "the result has element type i32, expected one of ui8, i8, ui16, i16" in message
    zero = np.array(0, np.int8)
    message = refused("QuantizeLinear", {"x": X, "s": one, "z": zero}, version=21, output_dtype=2)
    assert "output_dtype is ui8, but zero_point is tensor<i8>" in message
    message = refused("QuantizeLinear", {"x": X, "s": square}, version=21, block_size=3)
    assert "scale is tensor<2x3xf32>, expected 2x2 elements: the blocks of 3 of tensor<2x4xf32>" in message
    message = refused("QuantizeLinear", {"x": X, "s": square}, version=13)
    assert "scale is tensor<2x3xf32>, expected a scalar, a vector, or with block_size the rank" in message
    message = refused("DequantizeLinear", {"x": X.astype(np.int64), "s": one}, version=13)
    types = "ui8, i8, ui16, i16, i2, i4, ui2, ui4, f8E4M3FN, f8E5M2, i32"
    assert f"the input is tensor<2x4xi64>, expected one of {types}" in message
    message = refused("MatMulInteger", {"a": X.astype(np.int16), "b": X.T.astype(np.int8)}, version=10)
    assert "an operand is tensor<2x4xi16>, expected ui8 or i8" in message
    image, zeros = np.zeros((1, 2, 2, 2), np.uint8), np.zeros((2,), np.uint8)
    message = refused("ConvInteger", {"x": image, "w": image, "z": zeros}, version=10)
    assert "x_zero_point is tensor<2xui8>, expected one element" in message
