"""MatMulBnb4 of `com.microsoft` against onnxruntime and NumPy, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from onnx import helper, numpy_helper
from onnx_one_node import by_onnxruntime, run
from onnx_quantised_node import DOMAIN, both, quantised_model
from onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer
from stepwell.frontends import OnnxError

Array = Any
KNOWN = ("B", "absmax")

FP4 = [0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4]
"""The numbers of FP4 without a sign, over the greatest."""


def table_of(quant_type: int) -> Array:
    """The 16 numbers. Those of NF4 are quantiles of a normal distribution, as bitsandbytes computes them."""
    if quant_type == 0:
        return np.array(FP4 + [-each for each in FP4])
    from statistics import NormalDist

    places = NormalDist().inv_cdf
    above = [places(each) for each in np.linspace(0.9677083, 0.5, 9)[:-1]]
    below = [-places(each) for each in np.linspace(0.9677083, 0.5, 8)[:-1]]
    numbers = np.array(sorted([*above, 0.0, *below]))
    return numbers / numbers.max()


def inputs_of(n: int, k: int, block: int, rows: tuple[int, ...], dtype: Any = np.float32) -> dict[str, Array]:
    random = np.random.default_rng(n * k)
    return {
        "A": random.standard_normal(rows).astype(dtype),
        "B": random.integers(0, 256, -(-n * k // 2), np.uint8),
        "absmax": random.random(-(-n * k // block)).astype(dtype),
    }


def weights_of(inputs: dict[str, Array], n: int, k: int, block: int, quant_type: int) -> Array:
    places = np.stack([inputs["B"] >> 4, inputs["B"] & 15], axis=-1).reshape(-1)[: n * k]
    factors = np.repeat(inputs["absmax"].astype(np.float64), block)[: n * k]
    return (table_of(quant_type)[places] * factors).reshape(n, k)


SHAPES = [(5, 32, 16, (3, 32)), (3, 7, 16, (2, 2, 7)), (4, 24, 64, (24,)), (9, 33, 32, (1, 33))]


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("quant_type", [0, 1])
@pytest.mark.parametrize(("n", "k", "block", "rows"), SHAPES)
def test_products(n: int, k: int, block: int, rows: tuple[int, ...], quant_type: int) -> None:
    inputs = inputs_of(n, k, block, rows)
    attributes = {"N": n, "K": k, "block_size": block, "quant_type": quant_type}
    (found,), (wanted,) = both("MatMulBnb4", inputs, known=KNOWN, **attributes)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    exact = inputs["A"] @ weights_of(inputs, n, k, block, quant_type).T
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


def test_weights_that_are_not_transposed() -> None:
    """onnxruntime transposes them all the same, and reads beyond their end."""
    inputs = inputs_of(5, 12, 16, (2, 5))
    attributes = {"N": 5, "K": 12, "block_size": 16, "quant_type": 1, "transB": 0, "training_mode": 1}
    (found,) = run("MatMulBnb4", inputs, version=1, domain=DOMAIN, known=KNOWN, **attributes)
    np.testing.assert_allclose(found, inputs["A"] @ weights_of(inputs, 5, 12, 16, 1), rtol=1e-5, atol=1e-5)


def test_half_floats_and_weights_that_are_given_at_run_time() -> None:
    inputs = inputs_of(5, 12, 16, (2, 12), np.float16)
    attributes = {"N": 5, "K": 12, "block_size": 16, "quant_type": 0}
    (found,) = run("MatMulBnb4", inputs, version=1, domain=DOMAIN, **attributes)
    assert found.dtype == np.float16
    exact = inputs["A"].astype(np.float64) @ weights_of(inputs, 5, 12, 16, 0).T
    np.testing.assert_allclose(found, exact, rtol=2e-3, atol=5e-3)


@pytest.mark.parametrize("quant_type", [0, 1])
def test_what_the_quantiser_makes(quant_type: int) -> None:
    """Weights become floats as they are loaded."""
    random = np.random.default_rng(10)
    w = random.standard_normal((96, 70)).astype(np.float32)
    ends = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", (3, 96)), ("y", (3, 70)))]
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="product")
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], [numpy_helper.from_array(w, "w")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    quantiser = MatMulBnb4Quantizer(made, quant_type, 32)
    quantiser.process()
    made, x = quantiser.model.model, random.standard_normal((3, 96)).astype(np.float32)
    assert [each.op_type for each in made.graph.node] == ["MatMulBnb4"]
    executable = stepwell.compile_onnx(made, tuning=False).specialised(x)
    np.testing.assert_allclose(executable(x)[0], by_onnxruntime(made, {"x": x})[0], rtol=1e-5, atol=1e-5)
    text = executable.ir("graph")
    main = text[: text.index("func.return")]
    assert "graph.matmul" in main and not any(each in main for each in ("fused", "graph.take", "graph.multiply"))


@pytest.mark.parametrize(
    ("change", "attributes", "message"),
    [
        ({}, {"quant_type": 2}, r"quant_type is 2, expected 0 \(FP4\) or 1 \(NF4\)"),
        ({}, {"block_size": 8}, "block_size is 8, expected a power of 2 of at least 16"),
        ({}, {"K": 6}, "the input is tensor<2x12xf32>, expected rows of K = 6"),
        ({}, {"transB": 0}, "the input is tensor<2x12xf32>, expected rows of N = 5"),
        ({"B": np.zeros(29, np.uint8)}, {}, "B is tensor<29xui8>, expected 30 elements of ui8"),
        ({"B": np.zeros(30, np.int8)}, {}, "B is tensor<30xi8>, expected 30 elements of ui8"),
        ({"absmax": np.zeros(4, np.float16)}, {}, "absmax is tensor<4xf16>, expected 4 elements of f32"),
        ({"absmax": np.zeros(3, np.float32)}, {}, "absmax is tensor<3xf32>, expected 4 elements of f32"),
    ],
)
def test_what_does_not_fit(change: dict[str, Array], attributes: dict[str, int], message: str) -> None:
    inputs = inputs_of(5, 12, 16, (2, 12)) | change
    given = {"N": 5, "K": 12, "block_size": 16, "quant_type": 1} | attributes
    with pytest.raises(OnnxError, match=message):
        stepwell.from_onnx(quantised_model("MatMulBnb4", inputs, known=KNOWN, **given))
