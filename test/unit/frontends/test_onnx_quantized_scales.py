"""The numbers that scales may be: those that divide, those that multiply, and zeros for weights that are all 0."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx import TensorProto, helper, numpy_helper
from onnx_one_node import by_onnxruntime, run
from onnx_quantised_node import both
from onnx_quantised_operators import IMAGE, OF_ONNX, OPERATORS, QLINEAR, STEP, Array, model, options_of, refused
from stepwell.frontends import OnnxError

RESULTS = {
    "QuantizeLinear": "scale",
    "QLinearMatMul": "y_scale",
    "QLinearConv": "y_scale",
    "QGemm": "y_scale",
    "QLinearAdd": "C_scale",
    "QLinearMul": "C_scale",
    "QLinearSigmoid": "Y_scale",
    "QLinearLeakyRelu": "Y_scale",
    "QLinearSoftmax": "Y_scale",
    "QLinearGlobalAveragePool": "y_scale",
    "QLinearAveragePool": "y_scale",
    "QLinearReduceMean": "reduced_scale",
    "QLinearConcat": "Y_scale",
    "QLinearWhere": "Z_scale",
}
"""The operators whose result has a scale, and its name."""


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("number", [0.0, np.inf, np.nan])
@pytest.mark.parametrize("operator", RESULTS)
def test_scales_that_divide_are_numbers_other_than_0(operator: str, number: float) -> None:
    key = "scale" if operator == "QuantizeLinear" else "y_scale"
    message = refused(operator, **{key: np.array(number, np.float32)})
    assert f"{RESULTS[operator]} has {number}, expected finite numbers other than 0" in message


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("operator", [name for name in RESULTS if name != "QLinearReduceMean"])
def test_negative_scales_of_results(operator: str) -> None:
    """They turn the order around. onnxruntime refuses them for QLinearGlobalAveragePool alone."""
    inputs, attributes, dtype = OPERATORS[operator]
    key = "scale" if operator == "QuantizeLinear" else "y_scale"
    inputs = inputs | {key: -inputs[key]}
    options = options_of(operator, inputs)
    if operator == "QLinearGlobalAveragePool":
        (found,) = run(operator, inputs, **options)
        real = ((IMAGE.astype(np.float64) - 3) * STEP).mean(axis=(2, 3), keepdims=True)
        wanted = np.clip(np.rint(real / inputs[key]) + 100, 0, 255)
    elif operator in OF_ONNX:
        (found,) = run(operator, inputs, **options)
        (wanted,) = by_onnxruntime(model(operator, inputs), inputs, dtype=TensorProto.UINT8)
    else:
        (found,), (wanted,) = both(operator, inputs, known=options["known"], **attributes)
    assert found.dtype == dtype and np.ptp(wanted.astype(int)) > 0
    apart = np.abs(found.astype(int) - wanted)
    assert apart.max() <= 1 and apart.mean() < 0.1  # ties


@pytest.mark.parametrize("operator", ["QLinearMatMul", "QGemm", "MatMulIntegerToFloat", "QLinearConv", "QLinearMul"])
def test_scales_that_multiply_are_finite(operator: str) -> None:
    assert "_scale has nan, expected finite numbers" in refused(operator, a_scale=np.array(np.nan, np.float32))
    assert "_scale is tensor<i32>, expected floats" in refused(operator, a_scale=np.array(1, np.int32)) or (
        operator in OF_ONNX
    )


def test_no_warnings_of_large_scales() -> None:
    """Factors that overflow in f32 do so at import as they would in the program."""
    inputs = QLINEAR | {"a_scale": np.array(1e30, np.float32), "b_scale": np.array(1e30, np.float32)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = run("QLinearMatMul", inputs, **options_of("QLinearMatMul", inputs))
    (wanted,) = by_onnxruntime(model("QLinearMatMul", inputs), inputs, dtype=TensorProto.UINT8)
    np.testing.assert_array_equal(found, wanted)


# Channels of zeros


def quantised_weights(weights: Array, scale: Array, zero: Array, **options: Any) -> Any:
    """A product of `x` and weights that are quantised and become floats again."""
    nodes = [
        helper.make_node("QuantizeLinear", ["w", "s", "z"], ["q"], name="quantize", **options),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], **options),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [5, size])
        for name, size in zip("xy", weights.shape, strict=True)
    ]
    arrays = [numpy_helper.from_array(array, name) for name, array in zip("wsz", (weights, scale, zero), strict=True)]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize(
    ("shape", "options"),
    [((1, 600), {"axis": 1}), ((2, 600), {"axis": 0, "block_size": 4})],
    ids=["channels", "blocks"],
)
@pytest.mark.parametrize("zero", [0, 5])
def test_weights_that_are_all_0_may_have_a_scale_of_0(shape: Any, options: dict[str, int], zero: int) -> None:
    rng = np.random.default_rng(3)
    weights = rng.standard_normal((7, 600)).astype(np.float32)
    scale = np.full(shape, 0.02, np.float32)
    scale[0, 2] = scale[-1, 4] = 0
    rows = 7 if shape[0] == 1 else 4
    weights[:rows, 2] = weights[0 if shape[0] == 1 else 4 :, 4] = 0
    steps = scale if "block_size" in options else scale[0]
    made = quantised_weights(weights, steps, np.full(steps.shape, zero, np.int8), **options)
    x = rng.standard_normal((5, 7)).astype(np.float32)
    (found,), (wanted,) = stepwell.compile_onnx(made, tuning=False)(x), by_onnxruntime(made, {"x": x})
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("columns", [6, 600], ids=["few", "many"])
def test_scales_of_0_for_what_is_not_0(columns: int) -> None:
    scale = np.ones(columns, np.float32)
    scale[2] = 0
    made = quantised_weights(np.ones((7, columns), np.float32), scale, np.zeros(columns, np.int8))
    with pytest.raises(OnnxError) as error:
        stepwell.from_onnx(made)
    message = "scale has 0.0 at (2,), expected other numbers where the weights are not 0"
    assert message in str(error.value)
    assert "a scale of 0 may stand for channels or blocks of zeros only" in str(error.value)
