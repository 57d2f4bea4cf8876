"""Quantised operators of `com.microsoft`, against NumPy on the real numbers and against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import stepwell
from onnx import helper, numpy_helper
from onnx_one_node import by_onnxruntime, model_of, run
from onnx_quantised_node import both
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
from stepwell.frontends import OnnxError

Array = Any
"""Arrays and scalars of NumPy."""

DOMAIN = "com.microsoft"
SCALES = {"x": np.array(0.02, np.float32), "y": np.array(0.03, np.float32), "out": np.array(0.05, np.float32)}
ZEROS = {"x": np.array(120, np.uint8), "y": np.array(100, np.uint8), "out": np.array(7, np.uint8)}


def bytes_of(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(0, 255, shape, dtype=np.uint8, endpoint=True)


def real(q: Array, name: str) -> Array:
    return (q.astype(np.float64) - ZEROS[name]) * SCALES[name]


def check(found: Array, wanted: Array) -> None:
    """What the real numbers `wanted` are rounded to; ties may go either way, by the rounding of floats."""
    exact = wanted / SCALES["out"] + ZEROS["out"]
    assert found.dtype == np.uint8 and found.shape == exact.shape
    assert np.abs(found - np.clip(exact, 0, 255)).max() <= 0.5 + 1e-3


def operands(name: str, q: Array) -> dict[str, Array]:
    return {name: q, f"{name}_scale": SCALES[name], f"{name}_zero": ZEROS[name]}


RESULT = {"scale": SCALES["out"], "zero": ZEROS["out"]}


@pytest.mark.parametrize(("operator", "function"), [("QLinearAdd", np.add), ("QLinearMul", np.multiply)])
def test_arithmetic(operator: str, function: Any) -> None:
    x, y = bytes_of(0, 2, 3, 4), bytes_of(1, 3, 1)
    inputs = operands("x", x) | operands("y", y) | RESULT
    (found,) = run(operator, inputs, version=1, domain=DOMAIN)
    check(found, function(real(x, "x"), real(y, "y")))


def softmax(x: Array, axis: int) -> Array:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


UNARY: dict[str, tuple[dict[str, Any], Any]] = {
    "QLinearSigmoid": ({}, lambda x: 1 / (1 + np.exp(-x))),
    "QLinearLeakyRelu": ({"alpha": 0.5}, lambda x: np.where(x < 0, 0.5 * x, x)),
    "QLinearGlobalAveragePool": ({}, lambda x: x.mean(axis=(2, 3), keepdims=True)),
    "QLinearAveragePool": (
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        lambda x: x.reshape(2, 3, 2, 2, 3, 2).mean(axis=(3, 5)),
    ),
    "QLinearSoftmax": ({"axis": 1, "opset": 13}, lambda x: softmax(x, 1)),
}


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("operator", UNARY)
def test_of_one_operand(operator: str) -> None:
    attributes, function = UNARY[operator]
    x = bytes_of(2, 2, 3, 4, 6)
    (found,) = run(operator, operands("x", x) | RESULT, version=1, domain=DOMAIN, **attributes)
    check(found, function(real(x, "x")))


def test_pools_of_images_with_channels_last() -> None:
    x = bytes_of(3, 2, 4, 5, 3)
    inputs = operands("x", x) | RESULT
    (found,) = run("QLinearGlobalAveragePool", inputs, version=1, domain=DOMAIN, channels_last=1)
    check(found, real(x, "x").mean(axis=(1, 2), keepdims=True))


AVERAGES: dict[str, dict[str, Any]] = {
    "plain": {"kernel_shape": [2, 3]},
    "strides and padding": {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 0, 0, 2]},
    "padding counts": {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1], "count_include_pad": 1},
    "up": {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
    "same": {"kernel_shape": [3, 2], "auto_pad": "SAME_UPPER"},
    "one dimension": {"kernel_shape": [3], "strides": [2]},
}


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("case", AVERAGES)
def test_averages_with_channels_last(case: str) -> None:
    attributes = AVERAGES[case]
    x = bytes_of(3, 2, 5, 7, 3) if len(attributes["kernel_shape"]) == 2 else bytes_of(3, 2, 7, 3)
    inputs, known = operands("x", x) | RESULT, ("x_scale", "x_zero", "scale", "zero")
    (found,), (wanted,) = both("QLinearAveragePool", inputs, known=known, channels_last=1, **attributes)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert np.abs(found.astype(int) - wanted).max() <= 1  # ties
    moved = np.moveaxis(x, -1, 1)
    (first,) = run("QLinearAveragePool", inputs | {"x": moved}, version=1, domain=DOMAIN, **attributes)
    apart = np.abs(found.astype(int) - np.moveaxis(first, 1, -1))
    assert apart.max() <= 1 and apart.mean() < 0.1


MAXIMA: dict[str, dict[str, Any]] = {
    "plain": {"kernel_shape": [2, 3]},
    "all": {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 1, 0, 1], "dilations": [2, 1]},
    "same": {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"},
    "one dimension": {"kernel_shape": [3]},
    "three dimensions": {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2], "ceil_mode": 1},
}


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("case", MAXIMA)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_maxima_with_channels_last(case: str, dtype: Any) -> None:
    attributes = MAXIMA[case]
    x = bytes_of(4, 2, *(5, 6, 3)[: len(attributes["kernel_shape"])], 3).view(dtype)
    (found,), (wanted,) = both("NhwcMaxPool", {"x": x}, **attributes)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, wanted)
    if case == "plain":
        windows = np.lib.stride_tricks.sliding_window_view(x, (2, 3), axis=(1, 2))
        np.testing.assert_array_equal(found, windows.max(axis=(-1, -2)))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_choices(dtype: Any) -> None:
    x, y = bytes_of(5, 2, 1, 4).view(dtype), bytes_of(6, 3, 4).view(dtype)
    inputs: dict[str, Array] = {"condition": np.random.default_rng(7).random((2, 3, 4)) < 0.5}
    for name, array in (("x", x), ("y", y), ("out", None)):
        zero = (ZEROS[name].astype(int) + np.iinfo(dtype).min).astype(dtype)
        inputs |= {} if array is None else {name: array}
        inputs |= {f"{name}_scale": SCALES[name], f"{name}_zero": zero}
    (found,), (wanted,) = both("QLinearWhere", inputs, known=[name for name in inputs if "_" in name])
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, wanted)
    reals = {name: (inputs[name].astype(int) - inputs[f"{name}_zero"]) * SCALES[name] for name in "xy"}
    exact = np.where(inputs["condition"], reals["x"], reals["y"]) / SCALES["out"] + inputs["out_zero"]
    assert np.abs(found - np.clip(exact, np.iinfo(dtype).min, np.iinfo(dtype).max)).max() <= 0.5 + 1e-3


@pytest.mark.parametrize(("axes", "keepdims"), [((1,), 0), ((-1, 0), 1), ((), 0)])
def test_means(axes: tuple[int, ...], keepdims: int) -> None:
    """onnxruntime has the definition, and no kernel for CPUs."""
    x = bytes_of(8, 2, 3, 5)
    for zeros in (True, False):
        inputs = operands("x", x) | RESULT if zeros else {"x": x, "s": SCALES["x"], "z": None, "scale": SCALES["out"]}
        made = model_of("QLinearReduceMean", inputs, version=1, domain=DOMAIN, axes=[9], keepdims=keepdims)
        place = next(each for each in made.graph.node[0].attribute if each.name == "axes")
        place.ints[:] = axes
        given = [each for each in inputs.values() if each is not None]
        (found,) = stepwell.compile(stepwell.from_onnx(made), cache=False)(*given)
        wanted = (real(x, "x") if zeros else x * SCALES["x"]).mean(axis=axes or None, keepdims=bool(keepdims))
        check(found, wanted if zeros else wanted - SCALES["out"] * ZEROS["out"])


CONVOLUTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "plain": ((2, 7, 6, 3), (4, 3, 3, 3), {}),
    "all": ((1, 7, 6, 4), (6, 2, 3, 2), {"group": 2, "pads": [1, 0, 1, 1], "strides": [2, 1], "dilations": [1, 2]}),
    "same": ((1, 7, 6, 3), (4, 3, 3, 3), {"auto_pad": "SAME_UPPER"}),
    "one dimension": ((2, 9, 3), (4, 3, 3), {"strides": [2]}),
    "channels first": ((2, 3, 7, 6), (4, 3, 3, 3), {"channels_last": 0}),
}


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions_with_channels_last(case: str) -> None:
    shape, filters, attributes = CONVOLUTIONS[case]
    inputs = operands("x", bytes_of(14, *shape))
    scales = np.linspace(0.01, 0.05, filters[0], dtype=np.float32)
    inputs |= {"w": bytes_of(15, *filters).view(np.int8), "w_scale": scales}
    inputs |= {"w_zero": np.zeros(filters[0], np.int8), "scale": np.array(0.4, np.float32), "zero": ZEROS["out"]}
    inputs |= {"bias": np.arange(filters[0], dtype=np.int32) * 1000}
    (found,), (wanted,) = both("QLinearConv", inputs, known=list(inputs)[1:], **{"channels_last": 1} | attributes)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape and np.ptp(wanted) > 0
    apart = np.abs(found.astype(int) - wanted)
    assert apart.max() <= 1 and apart.mean() < 0.01  # ties


class Batches(CalibrationDataReader):
    """Data that the quantiser runs a model on."""

    def __init__(self, arrays: list[dict[str, Array]]):
        self._arrays = iter(arrays)

    def get_next(self) -> Any:
        return next(self._arrays, None)


def test_what_the_quantiser_makes_of_pools_and_choices(tmp_path: Path) -> None:
    random = np.random.default_rng(9)
    nodes = [
        helper.make_node("AveragePool", ["x"], ["a"], kernel_shape=[2, 2], name="average"),
        helper.make_node("MaxPool", ["x"], ["m"], kernel_shape=[2, 2], name="maximum"),
        helper.make_node("Where", ["c", "a", "m"], ["y"], name="choice"),
    ]
    ends = [helper.make_tensor_value_info(name, 1, [1, 3, size, size]) for name, size in (("x", 8), ("y", 7))]
    condition = numpy_helper.from_array(random.random((1, 3, 7, 7)) < 0.5, "c")
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [condition])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = random.standard_normal((1, 3, 8, 8)).astype(np.float32)
    options = {"ForceQuantizeNoInputCheck": True}
    path = str(tmp_path / "quantised.onnx")
    quantize_static(made, path, Batches([{"x": x}]), quant_format=QuantFormat.QOperator, extra_options=options)
    made = onnx.load(path)
    assert {"QLinearWhere", "QLinearAveragePool"} <= {node.op_type for node in made.graph.node}
    found, wanted = stepwell.compile_onnx(made, tuning=False)(x)[0], by_onnxruntime(made, {"x": x})[0]
    step = max(np.ptp(x) / 255, 1e-9)
    assert np.abs(found - wanted).max() <= 1.01 * step and (np.abs(found - wanted) > step / 2).mean() < 0.05


@pytest.mark.parametrize("level", ["ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"])
def test_quantised_images_that_onnxruntime_has_optimised(tmp_path: Path, level: str) -> None:
    """With all optimisations it puts the channels of QLinearConv last."""
    random = np.random.default_rng(16)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], name="first"),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("MaxPool", ["r"], ["m"], kernel_shape=[2, 2], strides=[2, 2], name="maximum"),
        helper.make_node("Conv", ["m", "v"], ["y"], name="second"),
    ]
    ends = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", [1, 3, 8, 8]), ("y", [1, 6, 2, 2]))]
    weights = [
        numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name)
        for name, shape in (("w", (16, 3, 3, 3)), ("v", (6, 16, 3, 3)))
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = random.standard_normal((1, 3, 8, 8)).astype(np.float32)
    path, optimised = str(tmp_path / "quantised.onnx"), str(tmp_path / "optimised.onnx")
    quantize_static(made, path, Batches([{"x": x}]), quant_format=QuantFormat.QOperator)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.optimized_model_filepath = optimised
    options.log_severity_level = 4
    wanted = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    saved = onnx.load(optimised)
    domains = {node.domain for node in saved.graph.node if node.op_type == "QLinearConv"}
    assert domains == ({DOMAIN} if level == "ORT_ENABLE_ALL" else {""})
    (found,) = stepwell.compile_onnx(saved, tuning=False)(x)
    step = np.ptp(wanted) / 255
    assert np.abs(found - wanted).max() <= 2.01 * step and (np.abs(found - wanted) > step / 2).mean() < 0.1


def test_softmax_of_old_operator_sets_takes_the_last_dimensions_as_one() -> None:
    x = bytes_of(4, 2, 3, 4)
    inputs = operands("x", x) | RESULT
    (found,) = run("QLinearSoftmax", inputs, version=1, domain=DOMAIN, axis=1, opset=11)
    check(found, softmax(real(x, "x").reshape(2, 12), 1).reshape(x.shape))


def test_concatenation() -> None:
    x, y = bytes_of(5, 2, 3), bytes_of(6, 2, 2)
    inputs = RESULT | operands("x", x) | operands("y", y)
    (found,) = run("QLinearConcat", inputs, version=1, domain=DOMAIN, axis=1)
    check(found, np.concatenate([real(x, "x"), real(y, "y")], axis=1))


@pytest.mark.parametrize("quantised", [False, True])
def test_gemm(quantised: bool) -> None:
    x, y = bytes_of(7, 6, 4), bytes_of(8, 5, 6)
    z = np.arange(5, dtype=np.int32) * 100
    inputs = operands("x", x) | operands("y", y) | {"z": z} | (RESULT if quantised else {})
    (found,) = run("QGemm", inputs, version=1, domain=DOMAIN, transA=1, transB=1, alpha=0.5)
    bias = z * np.float64(SCALES["x"]) * SCALES["y"]
    wanted = 0.5 * (real(x, "x").T @ real(y, "y").T + bias)
    if quantised:
        check(found, wanted)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_products_that_give_floats() -> None:
    x, y = bytes_of(9, 4, 6), bytes_of(10, 6, 5)
    bias = np.arange(5, dtype=np.float32)
    inputs = {
        "x": x,
        "y": y,
        "sx": SCALES["x"],
        "sy": SCALES["y"],
        "zx": ZEROS["x"],
        "zy": ZEROS["y"],
        "b": bias,
    }
    (found,) = run("MatMulIntegerToFloat", inputs, version=1, domain=DOMAIN)
    np.testing.assert_allclose(found, real(x, "x") @ real(y, "y") + bias, rtol=1e-5, atol=1e-5)
    floats = np.random.default_rng(11).standard_normal((4, 6)).astype(np.float32)
    inputs = {"x": floats, "y": y, "sy": SCALES["y"], "zy": ZEROS["y"]}
    (found,) = run("DynamicQuantizeMatMul", inputs, version=1, domain=DOMAIN)
    step = (max(floats.max(), 0) - min(floats.min(), 0)) / 255
    error = np.abs(real(y, "y")).sum(axis=0).max() * step
    assert np.abs(found - floats @ real(y, "y")).max() <= error


def test_what_is_refused() -> None:
    x = bytes_of(12, 2, 4, 4, 3)
    rows = operands("x", x[0, 0]) | RESULT
    attributes = {"channels_last": 1, "kernel_shape": [2]}
    with pytest.raises(OnnxError, match="the input is tensor<4x3xui8>, expected rank 3 or more"):
        stepwell.from_onnx(model_of("QLinearAveragePool", rows, version=1, domain=DOMAIN, **attributes))
    floats = {"x": x.astype(np.float32)}
    with pytest.raises(OnnxError, match="an operand is tensor<2x4x4x3xf32>, expected ui8 or i8"):
        stepwell.from_onnx(model_of("NhwcMaxPool", floats, version=1, domain=DOMAIN, kernel_shape=[2, 2]))
    with pytest.raises(OnnxError, match="reduced_scale is missing"):
        model = model_of("QLinearReduceMean", operands("x", x), version=1, domain=DOMAIN, axes=[0], keepdims=0)
        stepwell.from_onnx(model)
    inputs = RESULT | {"x": x, "x_scale": SCALES["x"]}
    with pytest.raises(OnnxError, match="the node has 2 inputs after the zero point, expected groups of 3"):
        stepwell.from_onnx(model_of("QLinearConcat", inputs, version=1, domain=DOMAIN, axis=1))
    inputs = operands("x", x[0, 0]) | operands("y", x[0, 0].T) | {"z": None, "scale": SCALES["out"]}
    with pytest.raises(OnnxError, match="y_zero_point is missing, expected it with y_scale"):
        stepwell.from_onnx(model_of("QGemm", inputs, version=1, domain=DOMAIN))
