"""Integers of 4 and 2 bits in ONNX models: where their bytes are, casts, conversions by block, and what is refused."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import stepwell
from onnx import TensorProto, helper, numpy_helper
from onnx_one_node import run as run_node
from small_integers import TYPES, Array, any_bytes, each_type, packed, saturated, values_of, wrapped
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.weights import open_weights
from stepwell.frontends import OnnxError
from stepwell.frontends.onnx.files import tensors as tensor_files

ONNX = {"ui4": TensorProto.UINT4, "i4": TensorProto.INT4, "ui2": TensorProto.UINT2, "i2": TensorProto.INT2}

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def tensor(name: str, dtype: str, numbers: Array, raw: bool = True) -> TensorProto:
    """A tensor whose bytes Python's integers make, as raw data or in `int32_data`."""
    data = packed(numbers, dtype)
    made = TensorProto(name=name, data_type=ONNX[dtype], dims=numbers.shape)
    if raw:
        made.raw_data = data
    else:
        made.int32_data.extend(data)
    return made


def refused(operator: str, inputs: dict[str, Any], **options: Any) -> str:
    with pytest.raises(OnnxError) as caught:
        run_node(operator, inputs, known=[name for name in inputs if name != "x"], **options)
    return str(caught.value)


@each_type
@pytest.mark.parametrize("raw", [True, False])
def test_initialisers_of_any_length(dtype: str, raw: bool) -> None:
    """15 elements do not fill their last byte."""
    _, numbers = any_bytes(np.random.default_rng(2), dtype, (3, 5))
    info = helper.make_tensor_value_info("y", ONNX[dtype], [3, 5])
    made = tensor("w", dtype, numbers, raw)
    constant = helper.make_node("Constant", [], ["c"], value=tensor("value", dtype, numbers, raw))
    same = helper.make_node("Identity", ["w"], ["y"]), helper.make_node("Identity", ["c"], ["z"])
    outputs = [info, helper.make_tensor_value_info("z", ONNX[dtype], [3, 5])]
    graph = helper.make_graph([constant, *same], "g", [], outputs, [made])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)])
    for found in stepwell.compile_onnx(model, tuning=False)():
        assert found.dtype == TYPES[dtype]
        np.testing.assert_array_equal(values_of(found), numbers)


def test_lengths_that_do_not_fit() -> None:
    numbers = np.zeros((3, 5), np.int64)
    short, few = tensor("w", "i4", numbers), tensor("w", "i4", numbers, raw=False)
    short.raw_data = short.raw_data[:-1]
    del few.int32_data[-1]
    for made, message in (
        (short, "initializer 'w' holds 7 bytes, expected 8 for 3x5xi4"),
        (few, "initializer 'w' holds 7 bytes in int32_data, expected 8 for 3x5xi4"),
    ):
        graph = helper.make_graph([], "g", [], [helper.make_tensor_value_info("w", TensorProto.INT4, [3, 5])], [made])
        with pytest.raises(OnnxError) as caught:
            stepwell.from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
        assert message in str(caught.value).replace("initialiser", "initializer")


@pytest.mark.ci_cases(9)
@each_type
@pytest.mark.parametrize("operator", ["Cast", "CastLike"])
@pytest.mark.parametrize("known", [False, True])
def test_casts_keep_the_lowest_bits(dtype: str, operator: str, known: bool) -> None:
    """The specification leaves open what floats beyond the range become; its cases wrap."""
    x = np.concatenate([np.arange(-40, 40), [0.7, -0.7, 2.9, 1000.5, -1000.5]]).astype(np.float32)
    like: dict[str, Any] = {} if operator == "Cast" else {"like": np.ones(1, TYPES[dtype])}
    to: dict[str, Any] = {"to": ONNX[dtype]} if operator == "Cast" else {}
    (found,) = run_node(operator, {"x": x, **like}, version=25, known=["x"] if known else [], **to)
    assert found.dtype == TYPES[dtype]
    np.testing.assert_array_equal(values_of(found), wrapped(np.trunc(x).astype(np.int64), dtype).astype(np.int64))


@pytest.mark.ci_cases(2)
@each_type
@pytest.mark.parametrize("precision", [TensorProto.FLOAT, TensorProto.DOUBLE])
def test_quantising_saturates(dtype: str, precision: int) -> None:
    """As an op of ours, and in f64 as arithmetic."""
    x, scale = np.linspace(-9, 9, 90, dtype=np.float32).reshape(9, 10), np.array([0.5, 0.3, 1], np.float32)
    zero, zeros = any_bytes(np.random.default_rng(1), dtype, (3, 10))
    s, z = np.repeat(np.tile(scale[:, None], (1, 10)), 3, 0), np.repeat(zeros, 3, 0)
    spread = {"x": x, "s": np.tile(scale[:, None], (1, 10)), "z": zero}
    (found,) = run_node("QuantizeLinear", spread, version=25, axis=0, block_size=3, precision=precision)
    wide = np.float64 if precision == TensorProto.DOUBLE else np.float32
    wanted = saturated(np.rint(x.astype(wide) / s.astype(wide)) + z, dtype)
    np.testing.assert_array_equal(values_of(found), wanted)
    back = run_node(
        "DequantizeLinear", {"x": found, **{key: spread[key] for key in "sz"}}, version=25, axis=0, block_size=3
    )
    np.testing.assert_array_equal(back[0], (wanted - z).astype(np.float32) * s)


SIZES = (320, 140)
X = np.ones((4, 6), np.float32)
Q = np.ones((4, 6), TYPES["i4"])
SCALES = np.ones((2, 6), np.float32)
DIVISORS = "finite numbers other than 0"


@pytest.mark.parametrize(
    ("operator", "inputs", "options", "message"),
    [
        ("DequantizeLinear", {"x": Q, "s": np.array(np.nan, np.float32)}, {}, "scale has nan, expected finite numbers"),
        (
            "DequantizeLinear",
            {"x": Q, "s": np.where(np.eye(2, 6) > 0, np.inf, 1).astype(np.float32)},
            {"axis": 0, "block_size": 2},
            "scale has inf at (0, 0), expected finite numbers",
        ),
        ("QuantizeLinear", {"x": X, "s": np.array(0, np.float32)}, {}, f"scale has 0.0, expected {DIVISORS}"),
        (
            "QuantizeLinear",
            {"x": X, "s": np.array([1, 1, -np.inf, 1, 1, 1], np.float32)},
            {},
            f"scale has -inf at (2,), expected {DIVISORS}",
        ),
        ("QuantizeLinear", {"x": X, "s": np.array(np.nan, np.float32)}, {}, f"scale has nan, expected {DIVISORS}"),
        ("QuantizeLinear", {"x": X, "s": np.array(1, np.int32)}, {}, "scale is tensor<i32>, expected floats"),
        ("DequantizeLinear", {"x": Q, "s": np.array(1, np.int32)}, {}, "'x_scale', has element type i32, expected f32"),
        (
            "DequantizeLinear",
            {"x": Q, "s": np.array(1, np.float32), "z": np.array(1, np.int8)},
            {},
            "zero_point is tensor<i8>, expected elements of i4 as the input has",
        ),
        (
            "QuantizeLinear",
            {"x": X, "s": np.array(1, np.float32), "z": np.array(1, TYPES["ui4"])},
            {"output_dtype": TensorProto.INT4},
            "output_dtype is i4, but zero_point is tensor<ui4>",
        ),
        (
            "DequantizeLinear",
            {"x": Q, "s": SCALES},
            {"axis": 0, "block_size": 3},
            None,  # The last block is shorter.
        ),
        (
            "DequantizeLinear",
            {"x": Q, "s": SCALES},
            {"axis": 0, "block_size": 1},
            "scale is tensor<2x6xf32>, expected 4x6 elements: the blocks of 1 of tensor<4x6xi4>",
        ),
        (
            "DequantizeLinear",
            {"x": Q, "s": SCALES, "z": np.ones((4, 6), TYPES["i4"])},
            {"axis": 0, "block_size": 2},
            "zero_point is tensor<4x6xi4>, expected 2x6 elements: the blocks of 2 of tensor<4x6xi4>",
        ),
        (
            "DequantizeLinear",
            {"x": Q, "s": SCALES},
            {"axis": 0, "block_size": -2},
            "block_size is -2, expected at least 0",
        ),
        (
            "QuantizeLinear",
            {"x": X, "s": SCALES},
            {"axis": 0, "block_size": -2},
            "block_size is -2, expected at least 0",
        ),
        (
            "DequantizeLinear",
            {"x": Q, "s": np.ones(5, np.float32)},
            {"axis": 1},
            "scale is tensor<5xf32>, expected 6 elements",
        ),
    ],
)
def test_malformed_conversions(
    operator: str, inputs: dict[str, Array], options: dict[str, int], message: str | None
) -> None:
    if message is None:
        run_node(operator, inputs, version=25, known=["s"], **options)
        return
    assert message in refused(operator, inputs, version=25, **options)


def test_scales_of_zero_and_below_are_those_of_weights() -> None:
    """onnxruntime writes a negative one where the number farthest from 0 is positive, and 0 for a block of zeros."""
    numbers, scale = np.array([[3, -2], [1, 7]]), np.array([-0.5, 0], np.float32)
    given = {"x": numbers.astype(TYPES["i4"]), "s": scale}
    (found,) = run_node("DequantizeLinear", given, version=21, known=["s"])
    np.testing.assert_array_equal(found, (numbers * scale).astype(np.float32))


def test_what_else_is_refused() -> None:
    four = numpy_helper.from_array(np.ones(3, np.float32), "w")
    four.data_type = TensorProto.FLOAT4E2M1
    info = helper.make_tensor_value_info("w", TensorProto.FLOAT4E2M1, [3])
    with pytest.raises(StepwellError, match="float4e2m1"):
        stepwell.from_onnx(helper.make_model(helper.make_graph([], "g", [], [info], [four])))
    message = refused("Add", {"x": Q, "y": Q}, version=21)
    assert "'graph.add': lhs has element type i4, expected float or integer to compute with" in message


# Models of weights


def linear(folder: Path, dtype: str, transposed: bool) -> tuple[Path, Array, Any]:
    """A model of a product with weights by block, whose tensors are in another file."""
    inputs, outputs, block = SIZES[0], SIZES[1], 32
    random = np.random.default_rng(0)
    _, w = any_bytes(random, dtype, (inputs, outputs))
    _, z = any_bytes(random, dtype, (inputs // block, outputs))
    s = random.uniform(0.01, 0.1, z.shape).astype(np.float32)
    turned = [np.ascontiguousarray(each.T) if transposed else each for each in (w, s, z)]
    tensors = [tensor("w", dtype, turned[0]), numpy_helper.from_array(turned[1], "s"), tensor("z", dtype, turned[2])]
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"], axis=int(transposed), block_size=block)]
    product = (
        helper.make_node("Gemm", ["x", "d"], ["y"], transB=1)
        if transposed
        else helper.make_node("MatMul", ["x", "d"], ["y"])
    )
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, size])
        for name, size in (("x", inputs), ("y", outputs))
    ]
    graph = helper.make_graph([*nodes, product], "g", infos[:1], infos[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    path = folder / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="m.bin", size_threshold=1000)
    real = (w - np.repeat(z, block, 0)) * np.repeat(s.astype(np.float64), block, 0)
    x = random.standard_normal((2, inputs)).astype(np.float32)
    return path, x, x.astype(np.float64) @ real


@pytest.mark.parametrize(("dtype", "transposed"), [("i4", True), ("ui4", False)])
def test_weights_stay_in_the_file_of_the_model(
    dtype: str, transposed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As onnxruntime computes it. Nothing but zero points is unpacked, and no array is a copy of the weights."""
    monkeypatch.setattr(tensor_files, "LEAST_MAPPED", 1)
    path, x, wanted = linear(tmp_path, dtype, transposed)
    unpacked: list[tuple[int, ...]] = []
    for module in (tensor_files, "stepwell.core.weights"):
        original = tensor_files.unpack
        spy = lambda data, name, shape, original=original: unpacked.append(tuple(shape)) or original(data, name, shape)  # noqa: E731
        monkeypatch.setattr(f"{module}.unpack" if isinstance(module, str) else f"{module.__name__}.unpack", spy)
    module = stepwell.from_onnx(path)
    attribute: Any = module.attributes["stepwell.weights"]
    file = open_weights(attribute.data)
    assert file.entry("w").dtype == dtype and file.array("w#packed").base is not None
    executable = stepwell.compile(module, cache=False)
    (found,) = executable(x)
    assert all(np.prod(shape) < prod(SIZES) for shape in unpacked)
    theirs = onnxruntime.InferenceSession(str(path)).run(None, {"x": x})[0]
    scale = np.abs(wanted).max()
    assert np.abs(found - wanted).max() <= 2e-6 * scale
    assert np.abs(theirs - wanted).max() <= 2e-2 * scale  # It rounds x to 8 bits in some of its kernels.


def test_weights_in_a_file_that_is_named(tmp_path: Path) -> None:
    path, x, wanted = linear(tmp_path, "i4", False)
    module = stepwell.from_onnx(path, weights=tmp_path / "own.safetensors")
    size = (tmp_path / "own.safetensors").stat().st_size
    assert prod(SIZES) // 2 < size < prod(SIZES) // 2 * 1.4
    assert np.abs(stepwell.compile(module, cache=False)(x)[0] - wanted).max() <= 2e-6 * np.abs(wanted).max()
