"""Conversions whose scale has another type than the floats: `output_dtype`, and `precision`. Against the evaluator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_one_node import expected, run, text_of
from stepwell.frontends import OnnxError

Array = Any
"""Arrays and scalars of NumPy."""

F16, BF16 = np.float16, ml_dtypes.bfloat16
FLOAT: int = TensorProto.FLOAT
FLOAT16: int = TensorProto.FLOAT16
BFLOAT16: int = TensorProto.BFLOAT16


@pytest.mark.parametrize("known", [(), ("s", "z")], ids=["computed", "known"])
@pytest.mark.parametrize("shape", [(), (128,)], ids=["one", "vector"])
@pytest.mark.parametrize(
    ("scale_type", "output"),
    [(F16, FLOAT), (BF16, FLOAT), (np.float32, FLOAT16), (np.float32, BFLOAT16), (BF16, FLOAT16), (F16, BFLOAT16)],
)
def test_floats_of_another_type_than_the_scale(
    scale_type: Any, output: int, shape: tuple[int, ...], known: tuple[str, ...]
) -> None:
    """Products are rounded once, to the type of the result: a product of a byte by a scale of f16 is exact in f32."""
    rng = np.random.default_rng(0)
    q = np.arange(-128, 128, dtype=np.int8).reshape(2, 128)
    scale = np.asarray(rng.uniform(0.01, 0.02, shape), scale_type)
    zero = np.asarray(rng.integers(-9, 9, shape), np.int8)
    inputs, options = {"x": q, "s": scale, "z": zero}, {"version": 23, "known": known, "output_dtype": output}
    (found,) = run("DequantizeLinear", inputs, **options)
    (wanted,) = expected("DequantizeLinear", inputs, **options)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(np.float64))
    assert "graph.dequantize" in text_of("DequantizeLinear", inputs, **options)


def test_types_of_results_that_are_refused() -> None:
    inputs = {"x": np.ones(3, np.int8), "s": np.array(1, np.float32)}
    with pytest.raises(OnnxError, match="output_dtype is i8, expected one of f32, f16, bf16"):
        text_of("DequantizeLinear", inputs, version=23, output_dtype=TensorProto.INT8)


@pytest.mark.parametrize(
    ("x_type", "scale_type", "precision"),
    [(np.float32, F16, FLOAT), (F16, np.float32, FLOAT), (F16, F16, FLOAT), (np.float32, np.float32, FLOAT16)],
)
def test_the_precision_of_quotients(x_type: Any, scale_type: Any, precision: int) -> None:
    x = (np.random.default_rng(1).standard_normal((4, 250))).astype(x_type)
    inputs = {"x": x, "s": np.array(0.0123, scale_type), "z": np.array(3, np.int8)}
    options = {"version": 23, "known": ("s", "z"), "precision": precision}
    np.testing.assert_array_equal(
        run("QuantizeLinear", inputs, **options)[0], expected("QuantizeLinear", inputs, **options)[0]
    )
    assert "graph.quantize" in text_of("QuantizeLinear", inputs, **options)


# Products


def product_of(form: str) -> Any:
    """A product of floats by weights of bytes or of 4 bits, whose scales are f16."""
    rng = np.random.default_rng(2)
    arrays: dict[str, Array] = {"s": np.array(0.03, F16), "z": np.array(0, np.int8)}
    nodes: list[Any] = []
    left, options = "x", {"output_dtype": FLOAT}
    if form == "w8a8":
        nodes.append(helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], precision=FLOAT))
        nodes.append(helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], **options))
        left = "d"
    if form == "w4":
        arrays["w"] = rng.integers(-8, 8, (256, 64)).astype(ml_dtypes.int4)
        arrays["t"] = rng.uniform(0.001, 0.01, (4, 64)).astype(F16)
        options |= {"axis": 0, "block_size": 64}
    else:
        arrays["w"] = rng.integers(-127, 128, (256, 64)).astype(np.int8)
        arrays["t"] = rng.uniform(0.001, 0.01, 64).astype(F16)
        options |= {"axis": 1}
    nodes.append(helper.make_node("DequantizeLinear", ["w", "t"], ["real"], **options))
    nodes.append(helper.make_node("MatMul", [left, "real"], ["y"]))
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", FLOAT, [5, 256])],
        [helper.make_tensor_value_info("y", FLOAT, [5, 64])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items() if name in used],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)


@pytest.mark.parametrize(
    ("form", "op"), [("w8a8", r"xi8"), ("w8", "graph.matmul_packed"), ("w4", "graph.matmul_packed")]
)
def test_products_by_scales_of_16_bits_run_on_integers(form: str, op: str) -> None:
    made = product_of(form)
    x = np.random.default_rng(3).standard_normal((5, 256)).astype(np.float32)
    (wanted,) = ReferenceEvaluator(made).run(None, {"x": x})
    executable = stepwell.compile_onnx(made, tuning=False)
    (found,) = executable(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    products = [line for line in executable.ir("graph").splitlines() if "graph.matmul" in line]
    assert products and all(op in line for line in products), products
