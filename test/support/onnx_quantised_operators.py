"""Quantised operators with inputs that are right, and models of them in which some are changed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx_one_node import by_onnxruntime, model_of, text_of
from onnx_quantised_node import DOMAIN, quantised_model
from stepwell.frontends import OnnxError

Array = Any
"""Arrays and scalars of NumPy."""

Inputs = dict[str, Array]

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 256, (2, 4), dtype=np.uint8)
W = RANDOM.integers(-128, 128, (4, 3)).astype(np.int8)
IMAGE = RANDOM.integers(0, 256, (1, 2, 5, 5), dtype=np.uint8)
FILTER = RANDOM.integers(-128, 128, (3, 2, 3, 3)).astype(np.int8)
STEP = np.array(0.02, np.float32)
STEPS = np.full(3, 0.02, np.float32)
LONG = np.full(5, 0.02, np.float32)
FLOATS = (X.astype(np.float32) - 128) / 40


def u8(*numbers: int) -> Array:
    return np.array(numbers if len(numbers) > 1 else numbers[0], np.uint8)


def i8(*numbers: int) -> Array:
    return np.array(numbers if len(numbers) > 1 else numbers[0], np.int8)


PRODUCT: Inputs = {"x": X, "w": W, "a_zero": u8(3), "b_zero": i8(1)}
QLINEAR: Inputs = {
    "x": X,
    "a_scale": STEP,
    "a_zero": u8(3),
    "w": W,
    "b_scale": STEP,
    "b_zero": i8(1),
    "y_scale": np.array(0.5, np.float32),
    "y_zero": u8(100),
}
CONVOLUTION: Inputs = QLINEAR | {"x": IMAGE, "w": FILTER, "b_zero": i8(0), "y_scale": np.array(20, np.float32)}
GEMM: Inputs = {name: QLINEAR[name] for name in list(QLINEAR)[:6]} | {
    "c": None,
    "y_scale": np.array(0.5, np.float32),
    "y_zero": u8(100),
}
TO_FLOAT: Inputs = {"x": X, "w": W, "a_scale": STEP, "b_scale": STEP, "a_zero": u8(3), "b_zero": i8(1)}
PAIR: Inputs = {
    "x": X,
    "a_scale": STEP,
    "a_zero": u8(3),
    "z": X[::-1].copy(),
    "b_scale": np.array(0.03, np.float32),
    "b_zero": u8(1),
    "y_scale": np.array(0.05, np.float32),
    "y_zero": u8(100),
}
UNARY: Inputs = {"x": X, "a_scale": STEP, "a_zero": u8(3), "y_scale": np.array(0.05, np.float32), "y_zero": u8(100)}
POOL: Inputs = UNARY | {"x": IMAGE}
JOINED: Inputs = {name: UNARY[name] for name in ("y_scale", "y_zero")} | {
    name: PAIR[name] for name in ("x", "a_scale", "a_zero", "z", "b_scale", "b_zero")
}
CHOICE: Inputs = {"condition": X > 100} | PAIR
ATTENTION: Inputs = {
    "x": RANDOM.integers(0, 256, (1, 2, 4), dtype=np.uint8),
    "w": RANDOM.integers(-128, 128, (4, 12)).astype(np.int8),
    "bias": np.zeros(12, np.float32),
    "a_scale": STEP,
    "b_scale": STEP,
    "mask": None,
    "a_zero": u8(3),
    "b_zero": i8(1),
}

OPERATORS: dict[str, tuple[Inputs, dict[str, Any], Any]] = {
    "QuantizeLinear": ({"x": FLOATS, "scale": STEP, "zero": u8(3)}, {}, np.uint8),
    "DequantizeLinear": ({"x": X, "scale": STEP, "zero": u8(3)}, {}, np.float32),
    "MatMulInteger": (PRODUCT, {}, np.int32),
    "QLinearMatMul": (QLINEAR, {}, np.uint8),
    "ConvInteger": (PRODUCT | {"x": IMAGE, "w": FILTER}, {}, np.int32),
    "QLinearConv": (CONVOLUTION, {}, np.uint8),
    "QGemm": (GEMM, {}, np.uint8),
    "MatMulIntegerToFloat": (TO_FLOAT, {}, np.float32),
    "DynamicQuantizeMatMul": ({"x": FLOATS, "w": W, "b_scale": STEP, "b_zero": i8(1)}, {}, np.float32),
    "QLinearAdd": (PAIR, {}, np.uint8),
    "QLinearMul": (PAIR, {}, np.uint8),
    "QLinearSigmoid": (UNARY, {}, np.uint8),
    "QLinearLeakyRelu": (UNARY, {}, np.uint8),
    "QLinearSoftmax": (UNARY, {"opset": 13}, np.uint8),
    "QLinearGlobalAveragePool": (POOL, {}, np.uint8),
    "QLinearAveragePool": (POOL, {"kernel_shape": [2, 2]}, np.uint8),
    "QLinearReduceMean": (UNARY, {"axes": [1], "keepdims": 1}, np.uint8),
    "QLinearConcat": (JOINED, {"axis": 1}, np.uint8),
    "QLinearWhere": (CHOICE, {}, np.uint8),
    "QAttention": (ATTENTION, {"num_heads": 2}, np.float32),
}
"""Inputs that are right, attributes, and the element type of the result."""

OF_ONNX = ("QuantizeLinear", "DequantizeLinear", "MatMulInteger", "QLinearMatMul", "ConvInteger", "QLinearConv")


def options_of(operator: str, inputs: Inputs) -> dict[str, Any]:
    known = [name for name, array in inputs.items() if name not in ("x", "z", "condition") and array is not None]
    domain = {"version": 21} if operator in OF_ONNX else {"version": 1, "domain": DOMAIN}
    return domain | OPERATORS[operator][1] | {"known": known}


def model(operator: str, inputs: Inputs) -> Any:
    options = options_of(operator, inputs)
    if operator in OF_ONNX:
        return model_of(operator, inputs, **options)
    return quantised_model(operator, inputs, known=options["known"], **OPERATORS[operator][1])


def refused(operator: str, **changes: Array) -> str:
    """The error for inputs of which some are changed. It comes without warnings of NumPy."""
    inputs = OPERATORS[operator][0] | changes
    with warnings.catch_warnings(), pytest.raises(OnnxError) as error:
        warnings.simplefilter("error")
        text_of(operator, inputs, **options_of(operator, inputs))
    return str(error.value)


def refused_by_onnxruntime(operator: str, **changes: Array) -> bool:
    inputs, _, dtype = OPERATORS[operator]
    try:
        by_onnxruntime(
            model(operator, inputs | changes), inputs | changes, dtype=helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        )
    except Exception:  # Errors of onnxruntime have no common class.
        return True
    return False
