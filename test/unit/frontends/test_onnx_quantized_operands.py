"""Types and shapes of scales and zero points: which are refused, and what is said. onnxruntime refuses them too."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_one_node import text_of
from onnx_quantised_operators import (
    LONG,
    OPERATORS,
    STEPS,
    Inputs,
    X,
    i8,
    options_of,
    refused,
    refused_by_onnxruntime,
    u8,
)
from stepwell.frontends import OnnxError


@pytest.mark.parametrize("operator", OPERATORS)
def test_right_ones_are_taken(operator: str) -> None:
    inputs = OPERATORS[operator][0]
    text_of(operator, inputs, **options_of(operator, inputs))


AS_A = "a_zero_point is tensor<i8>, expected elements of ui8 as a has"
AS_B = "b_zero_point is tensor<ui8>, expected elements of i8 as b has"
AS_X = "X_zero_point is tensor<i8>, expected elements of ui8 as X has"
AS_Y = "Y_zero_point is tensor<i8>, expected elements of ui8 as X has"

TYPES: list[tuple[str, Inputs, str]] = [
    ("DequantizeLinear", {"zero": i8(3)}, "zero_point is tensor<i8>, expected elements of ui8 as the input has"),
    *((name, {"a_zero": i8(3)}, AS_A) for name in ("MatMulInteger", "QLinearMatMul", "QGemm", "MatMulIntegerToFloat")),
    *(
        (name, {"b_zero": u8(1)}, AS_B)
        for name in ("MatMulInteger", "QLinearMatMul", "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul")
    ),
    ("MatMulInteger", {"a_zero": np.array(3, np.int32)}, "a_zero_point is tensor<i32>, expected elements of ui8"),
    *(
        (name, {"a_zero": i8(3)}, "x_zero_point is tensor<i8>, expected elements of ui8 as x has")
        for name in ("ConvInteger", "QLinearConv", "QLinearGlobalAveragePool", "QLinearAveragePool")
    ),
    *(
        (name, {"b_zero": u8(0)}, "w_zero_point is tensor<ui8>, expected elements of i8 as w has")
        for name in ("ConvInteger", "QLinearConv")
    ),
    *(
        (name, {"y_zero": np.array(3, dtype)}, f"y_zero_point is tensor<{text}>, expected elements of ui8, i8, ")
        for name in ("QLinearMatMul", "QGemm")
        for dtype, text in ((np.float32, "f32"), (np.uint16, "ui16"), (np.int32, "i32"))
    ),
    ("QLinearConv", {"y_zero": np.array(3, np.uint16)}, "y_zero_point is tensor<ui16>, expected elements of ui8, i8, "),
    *(
        (name, {"y_zero": i8(3)}, "C_zero_point is tensor<i8>, expected elements of ui8 as A has")
        for name in ("QLinearAdd", "QLinearMul")
    ),
    *(
        (name, {"a_zero": i8(3)}, "A_zero_point is tensor<i8>, expected elements of ui8 as A has")
        for name in ("QLinearAdd", "QLinearMul")
    ),
    *(
        (name, {"z": X.view(np.int8), "b_zero": i8(1)}, "B is tensor<2x4xi8>, expected elements of ui8 as A has")
        for name in ("QLinearAdd", "QLinearMul")
    ),
    *(
        (name, {"a_zero": i8(3)}, AS_X)
        for name in ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "QLinearWhere")
    ),
    *((name, {"y_zero": i8(3)}, AS_Y) for name in ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax")),
    *(
        (name, {"y_zero": i8(3)}, "y_zero_point is tensor<i8>, expected elements of ui8 as x has")
        for name in ("QLinearGlobalAveragePool", "QLinearAveragePool")
    ),
    ("QLinearReduceMean", {"y_zero": i8(3)}, "reduced_zero_point is tensor<i8>, expected elements of ui8 as data has"),
    ("QLinearConcat", {"y_zero": i8(3)}, "Y_zero_point is tensor<i8>, expected elements of ui8 as X0 has"),
    ("QLinearConcat", {"b_zero": i8(3)}, "X1_zero_point is tensor<i8>, expected elements of ui8 as X1 has"),
    (
        "QLinearConcat",
        {"z": X.view(np.int8), "b_zero": i8(3)},
        "X1 is tensor<2x4xi8>, expected elements of ui8 as X0 has",
    ),
    ("QLinearWhere", {"y_zero": i8(3)}, "Z_zero_point is tensor<i8>, expected elements of ui8 as X has"),
    ("QLinearWhere", {"z": X.view(np.int8), "b_zero": i8(3)}, "Y is tensor<2x4xi8>, expected elements of ui8 as X has"),
    ("QAttention", {"a_zero": i8(3)}, "input_zero_point is tensor<i8>, expected elements of ui8 as input has"),
    ("QAttention", {"b_zero": u8(3)}, "weight_zero_point is tensor<ui8>, expected elements of i8 as weight has"),
]


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize(("operator", "changes", "message"), TYPES)
def test_types_of_zero_points(operator: str, changes: Inputs, message: str) -> None:
    assert message in refused(operator, **changes)
    assert refused_by_onnxruntime(operator, **changes)


SHAPES: list[tuple[str, Inputs, str]] = [
    *(
        (name, {"zero": np.full(4, number, np.uint8)}, "zero_point is tensor<4xui8>, expected one element as scale has")
        for name in ("QuantizeLinear", "DequantizeLinear")
        for number in (0, 7)
    ),
    *(
        (
            name,
            {"scale": LONG, "zero": np.zeros(5, np.uint8)},
            "scale is tensor<5xf32> and zero_point is tensor<5xui8>, expected 4 elements",
        )
        for name in ("QuantizeLinear", "DequantizeLinear")
    ),
    *(
        (name, {"b_zero": np.zeros(5, np.int8)}, "b_zero_point is tensor<5xi8>, expected one element or 3")
        for name in ("MatMulInteger", "QLinearMatMul", "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul")
    ),
    ("MatMulInteger", {"a_zero": np.zeros(5, np.uint8)}, "a_zero_point is tensor<5xui8>, expected one element or 2"),
    *(
        (name, {"a_zero": np.zeros(2, np.uint8)}, "a_zero_point is tensor<2xui8>, expected one element")
        for name in ("QGemm", "MatMulIntegerToFloat")
    ),
    *(
        (name, {"b_scale": LONG}, "b_scale is tensor<5xf32>, expected one element or 3")
        for name in ("QLinearMatMul", "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul")
    ),
    *(
        (
            name,
            {"b_scale": LONG, "b_zero": np.zeros(5, np.int8)},
            "b_scale is tensor<5xf32> and b_zero_point is tensor<5xi8>, expected one element or 3",
        )
        for name in ("QLinearMatMul", "QGemm")
    ),
    ("QLinearMatMul", {"a_scale": LONG}, "a_scale is tensor<5xf32>, expected one element or 2"),
    ("QGemm", {"a_scale": STEPS[:2]}, "a_scale is tensor<2xf32>, expected one element"),
    *(
        (name, {"y_zero": np.zeros(3, np.uint8)}, "y_zero_point is tensor<3xui8>, expected one element")
        for name in ("QLinearMatMul", "QLinearConv", "QGemm")
    ),
    *(
        (
            "QLinearMatMul",
            {"y_scale": STEPS[:2].reshape(shape), "y_zero": np.zeros(shape, np.uint8)},
            "and y_zero_point is",
        )
        for shape in ((2,), (2, 1))
    ),
    ("QLinearConv", {"a_scale": STEPS[:2]}, "x_scale is tensor<2xf32>, expected one element"),
    ("QLinearConv", {"b_scale": LONG}, "w_scale is tensor<5xf32>, expected one element or 3"),
    (
        "QLinearConv",
        {"b_scale": LONG, "b_zero": np.zeros(5, np.int8)},
        "w_scale is tensor<5xf32> and w_zero_point is tensor<5xi8>, expected one element or 3",
    ),
    ("QLinearConv", {"y_scale": STEPS}, "y_scale is tensor<3xf32>, expected one element"),
    *(
        (name, {"b_zero": np.zeros(5, np.int8)}, "w_zero_point is tensor<5xi8>, expected one element or 3")
        for name in ("ConvInteger", "QLinearConv")
    ),
    ("QLinearConv", {"bias": np.zeros(1, np.int32)}, "B is tensor<1xi32>, expected 3 elements of i32"),
    ("QLinearConv", {"bias": np.zeros(3, np.int64)}, "B is tensor<3xi64>, expected 3 elements of i32"),
    ("QGemm", {"c": np.zeros(5, np.int32)}, "C is tensor<5xi32>, expected elements of i32 that broadcast to 2x3"),
    ("QGemm", {"c": np.zeros(3, np.float32)}, "C is tensor<3xf32>, expected elements of i32 that broadcast to 2x3"),
    (
        "MatMulIntegerToFloat",
        {"bias": LONG},
        "bias is tensor<5xf32>, expected one element for each column of tensor<4x3xi8>",
    ),
    *(
        (name, {"a_scale": LONG[:4]}, "A_scale is tensor<4xf32>, expected one element")
        for name in ("QLinearAdd", "QLinearMul")
    ),
    *(
        (name, {"a_zero": np.zeros(4, np.uint8)}, "A_zero_point is tensor<4xui8>, expected one element")
        for name in ("QLinearAdd", "QLinearMul")
    ),
    *(
        (
            name,
            {"y_scale": LONG[:4], "y_zero": np.zeros(4, np.uint8)},
            "C_scale is tensor<4xf32> and C_zero_point is tensor<4xui8>, expected one element",
        )
        for name in ("QLinearAdd", "QLinearMul")
    ),
    *(
        (name, {"a_zero": np.zeros(4, np.uint8)}, "X_zero_point is tensor<4xui8>, expected one element")
        for name in ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearWhere")
    ),
    *(
        (name, {"y_zero": np.zeros(4, np.uint8)}, "Y_zero_point is tensor<4xui8>, expected one element")
        for name in ("QLinearSigmoid", "QLinearLeakyRelu")
    ),
    *(
        (name, {"a_zero": np.zeros(2, np.uint8)}, "x_zero_point is tensor<2xui8>, expected one element")
        for name in ("QLinearGlobalAveragePool", "QLinearAveragePool")
    ),
    ("QLinearConcat", {"a_zero": np.zeros(4, np.uint8)}, "X0_zero_point is tensor<4xui8>, expected one element"),
    ("QAttention", {"b_scale": LONG}, "weight_scale is tensor<5xf32>, expected one element or 12"),
]


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize(("operator", "changes", "message"), SHAPES)
def test_shapes_of_scales_and_zero_points(operator: str, changes: Inputs, message: str) -> None:
    assert message in refused(operator, **changes)
    assert refused_by_onnxruntime(operator, **changes)


@pytest.mark.parametrize("number", [0, 7])
def test_zero_points_of_blocks(number: int) -> None:
    x, scale = np.ones((2, 4), np.float32), np.ones((2, 2), np.float32)
    inputs = {"x": x, "s": scale, "z": np.full((2, 1), number, np.uint8)}
    with pytest.raises(OnnxError, match="zero_point is tensor<2x1xui8>, expected 2x2 elements: the blocks of 2 of"):
        text_of("QuantizeLinear", inputs, version=21, known=["s", "z"], block_size=2)
