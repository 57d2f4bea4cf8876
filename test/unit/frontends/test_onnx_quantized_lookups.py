"""Lookups in quantised tables of `com.microsoft` against onnxruntime and NumPy, and what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from onnx import helper, numpy_helper
from onnx_one_node import by_onnxruntime, text_of
from onnx_quantised_node import DOMAIN, both, quantised_model
from stepwell.frontends import OnnxError

Array = Any
KNOWN = ("data", "scales", "zero_points")


def bits_of(packed: Array, bits: int, count: int) -> Array:
    """The first `count` numbers of each row of bytes."""
    parts = np.stack([packed >> shift & (2**bits - 1) for shift in range(0, 8, bits)], axis=-1)
    return parts.reshape(*packed.shape[:-1], -1)[..., :count]


def looked_up(numbers: Array, indices: Array, scales: Array, zeros: Array, block: int, gather: int, axis: int) -> Array:
    """The whole table as real numbers, and what stands at the indices; zeros for those outside."""
    extent, size = numbers.shape[axis], numbers.shape[gather]
    spread = [np.repeat(each.astype(np.float32), block, axis=axis) for each in (scales, zeros)]
    factor, offset = (np.take(each, np.arange(extent), axis=axis) for each in spread)
    real = ((numbers.astype(np.float32) - offset) * factor).astype(scales.dtype)
    found = np.take(real, np.where(np.abs(indices + 0.5) < size, indices, 0), axis=gather)
    outside = (np.abs(indices + 0.5) > size).reshape(*indices.shape, *[1] * (numbers.ndim - gather - 1))
    return np.where(outside, np.zeros((), scales.dtype), found)


BYTES = [
    (bits, columns, dtype, zeros)
    for bits in (2, 4, 8)
    for columns in (64, 72)
    for dtype in (np.float32, np.float16)
    for zeros in (True, False)
]


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize(("bits", "columns", "dtype", "zeros"), BYTES)
def test_tables_of_bytes(bits: int, columns: int, dtype: Any, zeros: bool) -> None:
    random, blocks = np.random.default_rng(bits + columns), -(-columns // 16)
    inputs = {
        "data": random.integers(0, 256, (9, columns * bits // 8), np.uint8),
        "indices": random.integers(-9, 9, (2, 3)),
        "scales": random.standard_normal((9, blocks)).astype(dtype),
        "zero_points": random.integers(0, 256, (9, -(-blocks * bits // 8)), np.uint8) if zeros else None,
    }
    known = KNOWN if zeros else KNOWN[:2]
    (found,), (wanted,) = both("GatherBlockQuantized", inputs, known=known, bits=bits, block_size=16)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, wanted)
    packed = inputs["zero_points"]
    offset = np.full((9, blocks), 2 ** (bits - 1)) if packed is None else bits_of(packed, bits, blocks)
    numbers = bits_of(inputs["data"], bits, columns)
    np.testing.assert_array_equal(found, looked_up(numbers, inputs["indices"], inputs["scales"], offset, 16, 0, 1))


SMALL = [
    ((6, 40), 0, 1, True),  # rows of whole bytes stay as the file has them
    ((5, 33), 0, -1, False),
    ((40, 5), 1, 0, True),
    ((40, 5), 0, 0, True),
    ((3, 20, 7), 1, 1, False),
    ((3, 4, 18), -2, 2, True),
    ((3, 18, 4), 0, 1, True),
]


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4])
@pytest.mark.parametrize(("shape", "gather", "axis", "zeros"), SMALL)
def test_tables_of_four_bits(shape: tuple[int, ...], gather: int, axis: int, zeros: bool, dtype: Any) -> None:
    random = np.random.default_rng(sum(shape))
    low, last = (-8 if dtype == ml_dtypes.int4 else 0), len(shape)
    blocks = [-(-size // 16) if number == axis % last else size for number, size in enumerate(shape)]
    inputs = {
        "data": random.integers(low, low + 16, shape).astype(dtype),
        "indices": random.integers(-shape[gather], shape[gather], (4,)).astype(np.int32),
        "scales": random.standard_normal(blocks).astype(np.float32),
        "zero_points": random.integers(low, low + 16, blocks).astype(dtype) if zeros else None,
    }
    options = {"block_size": 16, "gather_axis": gather, "quantize_axis": axis}
    (found,), (wanted,) = both("GatherBlockQuantized", inputs, known=KNOWN if zeros else KNOWN[:2], **options)
    np.testing.assert_array_equal(found, wanted)
    offset = inputs["zero_points"] if zeros else np.zeros(blocks)
    data, indices = inputs["data"], inputs["indices"]
    np.testing.assert_array_equal(
        found, looked_up(data, indices, inputs["scales"], offset, 16, gather % last, axis % last)
    )


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
@pytest.mark.parametrize(("block", "scales"), [(0, (5, 1)), (16, (5, 3)), (16, (1, 3))])
def test_tables_of_floats_of_eight_bits(block: int, scales: tuple[int, int], dtype: Any) -> None:
    random = np.random.default_rng(3)
    inputs = {
        "data": random.standard_normal((5, 40)).astype(dtype),
        "indices": np.array([[4], [-1], [2]]),
        "scales": random.standard_normal(scales).astype(np.float32),
    }
    (found,), (wanted,) = both("GatherBlockQuantized", inputs, known=KNOWN[:2], block_size=block)
    np.testing.assert_array_equal(found, wanted)
    rows = inputs["data"].astype(np.float32)[[[4], [-1], [2]]]
    factor = np.broadcast_to(np.repeat(inputs["scales"], block or 40, axis=1)[:, :40], (5, 40))
    np.testing.assert_array_equal(found, rows * factor[[[4], [-1], [2]]])


@pytest.mark.parametrize("known", [(), ("indices",)])
def test_indices_outside_give_zeros(known: tuple[str, ...]) -> None:
    random = np.random.default_rng(4)
    inputs = {
        "data": random.integers(0, 256, (9, 32), np.uint8),
        "indices": np.array([[-10, 9, 8], [-9, 1 << 30, 0]]),
        "scales": random.standard_normal((9, 2)).astype(np.float32),
    }
    (found,), (wanted,) = both("GatherBlockQuantized", inputs, known=(*KNOWN[:2], *known), bits=8, block_size=16)
    np.testing.assert_array_equal(found, wanted)
    outside = [[True, True, False], [False, True, False]]
    assert not found[outside].any() and found[np.logical_not(outside)].any(axis=-1).all()


def test_a_single_index_that_is_known() -> None:
    random = np.random.default_rng(5)
    inputs = {
        "data": random.integers(0, 256, (9, 32), np.uint8),
        "indices": np.array(-2),
        "scales": random.standard_normal((9, 4)).astype(np.float32),
    }
    (found,), (wanted,) = both("GatherBlockQuantized", inputs, known=("indices",), block_size=16)
    np.testing.assert_array_equal(found, wanted)


def embedding(rows: int, columns: int, symmetric: bool) -> Any:
    """A lookup of any number of rows, as the quantiser of onnxruntime writes it for an embedding."""
    random, blocks = np.random.default_rng(6), columns // 32
    arrays = {
        "table": random.integers(0, 256, (rows, columns // 2), np.uint8),
        "scales": random.random((rows, blocks)).astype(np.float32),
        "zeros": random.integers(0, 256, (rows, -(-blocks // 2)), np.uint8),
    }
    if symmetric:
        del arrays["zeros"]
    ends = [
        helper.make_tensor_value_info(name, dtype, shape)
        for name, dtype, shape in (("i", 7, ["n", "m"]), ("y", 1, ["n", "m", columns]))
    ]
    inputs = ["table", "i", *list(arrays)[1:]]
    node = helper.make_node("GatherBlockQuantized", inputs, ["y"], domain=DOMAIN, block_size=32)
    weights = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], weights)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


@pytest.mark.parametrize("symmetric", [True, False])
def test_an_embedding_of_a_language_model(symmetric: bool) -> None:
    """Only rows become floats, and the table takes half a byte for each number."""
    made = embedding(300, 96, symmetric)
    indices = np.random.default_rng(7).integers(0, 300, (2, 5))
    executable = stepwell.compile_onnx(made, tuning=False)
    np.testing.assert_array_equal(executable(indices)[0], by_onnxruntime(made, {"i": indices})[0])
    text = executable.specialised(indices).ir("graph")
    assert "300x48xui8" in text
    assert not any(f"300x96x{dtype}" in text for dtype in ("f32", "ui8", "i4", "ui4"))


def test_rows_of_odd_numbers_of_four_bits_are_not_bytes() -> None:
    inputs = {
        "data": np.zeros((70, 33), ml_dtypes.uint4),
        "indices": np.zeros(2, np.int64),
        "scales": np.ones((70, 3), np.float32),
    }
    options = {"version": 1, "domain": DOMAIN, "known": KNOWN[:2], "block_size": 16}
    assert "70x33xui4" in text_of("GatherBlockQuantized", inputs, **options)
    inputs["data"] = np.zeros((70, 34), ml_dtypes.uint4)
    assert "70x17xui8" in text_of("GatherBlockQuantized", inputs, **options)


TABLE = np.zeros((4, 32), np.uint8)


@pytest.mark.parametrize(
    ("change", "attributes", "message"),
    [
        (
            {"data": np.zeros((4, 32), np.float32)},
            {},
            "data is tensor<4x32xf32>, expected elements of ui8, ui4, i4, f8E4M3FN, f8E5M2",
        ),
        ({}, {"gather_axis": 2}, "gather_axis is 2, expected one of the 2 dimensions of tensor<4x32xui8>"),
        ({}, {"quantize_axis": -3}, "quantize_axis is -3, expected one of the 2 dimensions of tensor<4x32xui8>"),
        ({}, {"bits": 3}, "bits is 3, expected 2 or 4 or 8 for tensor<4x32xui8>"),
        ({"data": TABLE.astype(ml_dtypes.int4)}, {"bits": 8}, "bits is 8, expected 4 for tensor<4x32xi4>"),
        (
            {},
            {"quantize_axis": 0},
            "gather_axis is 0 and quantize_axis 0, expected the last dimension to be quantised, in which bytes hold 2 "
            "numbers each, and another one to be looked up in",
        ),
        ({}, {"gather_axis": 1}, "gather_axis is 1 and quantize_axis 1, expected the last dimension to be quantised"),
        ({}, {"block_size": 24}, "block_size is 24, expected a power of 2 of at least 16"),
        ({}, {"block_size": 0}, "block_size is 0, expected a power of 2 of at least 16"),
        (
            {"scales": np.ones((4, 4), np.float64)},
            {},
            "scales is tensor<4x4xf64>, expected elements of f32, f16, bf16",
        ),
        (
            {"scales": np.ones((4, 2), np.float32)},
            {},
            "scales is tensor<4x2xf32>, expected 4x4: the blocks of 16 of tensor<4x32xui8>",
        ),
        ({"scales": np.ones((1, 4), np.float32)}, {}, "scales is tensor<1x4xf32>, expected 4x4: the blocks of 16"),
        (
            {"data": np.zeros((4, 64), ml_dtypes.float8_e5m2), "zero_points": np.zeros((4, 4), np.uint8)},
            {},
            "zero_points is tensor<4x4xui8>, expected none for tensor<4x64xf8E5M2>",
        ),
        (
            {"zero_points": np.zeros((4, 2), np.int8)},
            {},
            "zero_points is tensor<4x2xi8>, expected elements of ui8 as data has",
        ),
        (
            {"zero_points": np.zeros((4, 4), np.uint8)},
            {},
            "zero_points is tensor<4x4xui8>, expected 4x2: the blocks of 16 of tensor<4x32xui8>",
        ),
        ({"indices": np.zeros(2, np.int16)}, {}, "indices is tensor<2xi16>, expected elements of i32 or i64"),
    ],
)
def test_what_does_not_fit(change: dict[str, Array], attributes: dict[str, int], message: str) -> None:
    inputs = {"data": TABLE, "indices": np.zeros(2, np.int64), "scales": np.ones((4, 4), np.float32)} | change
    made = quantised_model("GatherBlockQuantized", inputs, **{"block_size": 16, **attributes})
    with pytest.raises(OnnxError, match=message):
        stepwell.from_onnx(made)


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        (0, "the table has an extent that is not known, expected it to be known"),
        (1, r"data is tensor<4x\?xui8>, expected extent 1 to be known"),
    ],
)
def test_extents_that_are_not_known(axis: int, message: str) -> None:
    inputs = {"data": TABLE, "indices": np.zeros(2, np.int64), "scales": np.ones((4, 4), np.float32)}
    made = quantised_model("GatherBlockQuantized", inputs, block_size=16)
    made.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = "n"
    with pytest.raises(OnnxError, match=message):
        stepwell.from_onnx(made)


# Embeddings that are normalised


NAMES = ("word", "position", "segment", "gamma", "beta")


def embeddings(dtype: Any, segments: bool, mask: Array | None) -> dict[str, Array | None]:
    random, low = np.random.default_rng(8), np.iinfo(dtype).min
    shapes = ((11, 6), (7, 6), (2, 6), (6,), (6,))
    tables = {
        name: random.integers(low, low + 256, shape).astype(dtype) for name, shape in zip(NAMES, shapes, strict=True)
    }
    scales = {f"{name}_scale": np.array(0.01 * number, np.float32) for number, name in enumerate(NAMES, 1)}
    zeros = {f"{name}_zero": np.array(low + 120 + number, dtype) for number, name in enumerate(NAMES)}
    ids = {"ids": random.integers(0, 11, (2, 5)), "segment_ids": random.integers(0, 2, (2, 5))}
    inputs = {name: each.astype(np.int32) for name, each in ids.items()} | tables | {"mask": mask} | scales | zeros
    return inputs if segments else {name: None if "segment" in name else each for name, each in inputs.items()}


def normalised(inputs: dict[str, Any], epsilon: float) -> Array:
    def real(name: str) -> Array:
        return (inputs[name].astype(np.float64) - inputs[f"{name}_zero"]) * inputs[f"{name}_scale"]

    total = real("word")[inputs["ids"]] + real("position")[:5]
    if inputs["segment"] is not None:
        total = total + real("segment")[inputs["segment_ids"]]
    centred = total - total.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)
    return centred / deviation * real("gamma") + real("beta")


EMBEDDINGS = [
    (np.uint8, True, np.array([[1, 1, 0, 1, 0], [1, 2, 1, 1, 1]], np.int32), 0.5),
    (np.int8, False, None, 1e-12),
]


@pytest.mark.parametrize(("dtype", "segments", "mask", "epsilon"), EMBEDDINGS)
def test_embeddings_that_are_normalised(dtype: Any, segments: bool, mask: Array | None, epsilon: float) -> None:
    inputs = embeddings(dtype, segments, mask)
    runtime = ("ids", "segment_ids", "mask")
    known = [name for name, each in inputs.items() if each is not None and name not in runtime]
    found, wanted = both("QEmbedLayerNormalization", inputs, outputs=2, known=known, epsilon=epsilon)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found[0], normalised(inputs, epsilon), rtol=1e-5, atol=1e-5)
    assert found[1].dtype == np.int32
    np.testing.assert_array_equal(found[1], wanted[1])
    np.testing.assert_array_equal(found[1], [0, 0] if mask is None else [3, 4])


def test_embeddings_with_inputs_left_out() -> None:
    inputs = embeddings(np.uint8, True, None)
    message = "segment_embedding is missing, expected all inputs but the mask and those of segments"
    with pytest.raises(OnnxError, match=message):
        stepwell.from_onnx(quantised_model("QEmbedLayerNormalization", inputs | {"segment": None}, outputs=2))
    with pytest.raises(OnnxError, match="beta_zero_point is missing, expected all inputs but the mask"):
        stepwell.from_onnx(quantised_model("QEmbedLayerNormalization", inputs | {"beta_zero": None}, outputs=2))
    more = inputs | {"more": np.zeros((), np.uint8)}
    with pytest.raises(OnnxError, match="the node has 19 inputs, expected at most 18"):
        stepwell.from_onnx(quantised_model("QEmbedLayerNormalization", more, outputs=2))
