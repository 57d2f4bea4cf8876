"""Products and convolutions of `com.microsoft`, and what it has twice, against onnxruntime and NumPy in f64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import stepwell
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper, parser
from onnx_fused_node import Array, agreed, close, fused_model, normal, ours
from onnx_one_node import by_onnxruntime
from stepwell.frontends import OnnxError


def text_of(operator: str, inputs: dict[str, Array], **options: Any) -> str:
    return str(stepwell.from_onnx(fused_model(operator, inputs, **options)))


# Matrix products


def matrices(x: Array, transposed: int, batch_inside: int) -> Array:
    """The operand of NumPy's product for one that is stored as the attributes say."""
    wide = x.astype(np.float64)
    if wide.ndim == 1:
        return wide
    wide = np.moveaxis(wide, 0, -2) if batch_inside else wide
    return wide.swapaxes(-1, -2) if transposed else wide


def stored(seed: int, batch: tuple[int, ...], rows: int, columns: int, transposed: int, batch_inside: int) -> Array:
    first, last = (columns, rows) if transposed else (rows, columns)
    return normal(seed, *((first, *batch) if batch_inside else (*batch, first)), last)


def check_product(x: Array, y: Array, operator: str = "FusedMatMul", **attributes: Any) -> None:
    (found,) = agreed(operator, {"x": x, "y": y}, **attributes)
    lhs = matrices(x, attributes.get("transA", 0), attributes.get("transBatchA", 0))
    rhs = matrices(y, attributes.get("transB", 0), attributes.get("transBatchB", 0))
    close(found, attributes.get("alpha", 1.0) * (lhs @ rhs))


FLAGS = st.integers(0, 1)


@given(
    batch=st.lists(st.integers(1, 3), min_size=1, max_size=2).map(tuple),
    sizes=st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5)),
    flags=st.tuples(FLAGS, FLAGS, FLAGS, FLAGS),
    alpha=st.sampled_from([1.0, 0.25, -3.0]),
)
def test_products(batch: tuple[int, ...], sizes: tuple[int, int, int], flags: tuple[int, ...], alpha: float) -> None:
    (m, k, n), (a, b, inside_a, inside_b) = sizes, flags
    x, y = stored(0, batch, m, k, a, inside_a), stored(1, batch, k, n, b, inside_b)
    check_product(x, y, transA=a, transB=b, transBatchA=inside_a, transBatchB=inside_b, alpha=alpha)


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize(
    ("x", "y", "attributes"),
    [
        ((4,), (4, 5), {"transA": 1}),
        ((4,), (5, 4), {"transB": 1}),
        ((2, 3, 4), (4,), {"transB": 1}),
        ((4,), (4,), {"transA": 1, "transB": 1}),
        ((4,), (2, 5, 4), {"transB": 1, "alpha": 0.5}),
        ((2, 1, 3, 4), (5, 4, 6), {"alpha": 2.0}),
        ((2, 4, 3), (4, 5), {"transA": 1}),
        ((3, 1, 4), (4, 2, 5), {"transBatchA": 1, "transBatchB": 1}),
    ],
)
def test_products_of_other_ranks(x: tuple[int, ...], y: tuple[int, ...], attributes: dict[str, Any]) -> None:
    check_product(normal(0, *x), normal(1, *y), **attributes)


@pytest.mark.parametrize("shape", [(4, 3), (2, 4, 3)])
def test_transposed_matrices_times_a_vector(shape: tuple[int, ...]) -> None:
    """onnxruntime 1.32 reads the elements of the matrix in their order, as if it were reshaped and not transposed."""
    x, y = normal(0, *shape), normal(1, 4)
    made = fused_model("FusedMatMul", {"x": x, "y": y}, transA=1)
    close(ours(made, x, y)[0], x.astype(np.float64).swapaxes(-1, -2) @ y)
    close(by_onnxruntime(made, {"x": x, "y": y})[0], x.reshape(*shape[:-2], 3, 4) @ y)


@pytest.mark.parametrize("attributes", [{}, {"transA": 1}, {"transB": 1, "alpha": 0.5}])
def test_the_old_name(attributes: dict[str, Any]) -> None:
    x, y = normal(0, 2, 5, 5), normal(1, 5, 5)
    check_product(x, y, "TransposeMatMul", **attributes)


def test_scaled_sums_may_be_beyond_f16() -> None:
    """Sums of 90,000 and more are half that in the end."""
    x = np.full((3, 1000), 10, np.float16)
    (found,) = agreed("FusedMatMul", {"x": x, "y": x + normal(0, 3, 1000, dtype="float16")}, transB=1, alpha=0.5)
    assert found.dtype == np.float16 and np.isfinite(found).all() and found.min() > 4e4


@pytest.mark.parametrize(("x", "name"), [((4, 3), "transBatchA"), ((3, 2, 4), "transBatchB"), ((4,), "transBatchB")])
def test_batches_inside_of_other_ranks(x: tuple[int, ...], name: str) -> None:
    with pytest.raises(OnnxError, match=f"and tensor<4x5xf32>, expected one rank from 3 with {name}"):
        text_of("FusedMatMul", {"x": normal(0, *x), "y": normal(1, 4, 5)}, **{name: 1})
    with pytest.raises(
        OnnxError, match="attribute 'transBatchA' is not supported; TransposeMatMul takes alpha, transA"
    ):
        text_of("TransposeMatMul", {"x": normal(0, 4, 4), "y": normal(1, 4, 5)}, transBatchA=1)


# Activations


def softplus(x: Array) -> Array:
    return np.log1p(np.exp(x))


PARAMETERS = {"alpha": 0.7, "beta": 0.3, "gamma": 1.25}

FUNCTIONS: dict[str, tuple[str, Any]] = {
    "Celu": ("a", lambda x, a: np.where(x < 0, a * np.expm1(x / a), x)),
    "Clip": ("ab", lambda x, a, b: np.clip(x, a, b)),
    "Elu": ("a", lambda x, a: np.where(x < 0, a * np.expm1(x), x)),
    "HardSigmoid": ("ab", lambda x, a, b: np.clip(a * x + b, 0, 1)),
    "HardSwish": ("", lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "LeakyRelu": ("a", lambda x, a: np.where(x < 0, a * x, x)),
    "ParametricSoftplus": ("ab", lambda x, a, b: a * softplus(b * x)),
    "Relu": ("", lambda x: np.maximum(x, 0)),
    "ScaledTanh": ("ab", lambda x, a, b: a * np.tanh(b * x)),
    "Selu": ("ag", lambda x, a, g: g * np.where(x < 0, a * np.expm1(x), x)),
    "Sigmoid": ("", lambda x: 1 / (1 + np.exp(-x))),
    "Softplus": ("", softplus),
    "Softsign": ("", lambda x: x / (1 + np.abs(x))),
    "Tanh": ("", np.tanh),
    "ThresholdedRelu": ("a", lambda x, a: np.where(x > a, x, 0)),
}
"""The activations: which of alpha, beta and gamma they have, and what they compute."""

OF_CONVOLUTION = ("Clip", "HardSigmoid", "HardSwish", "LeakyRelu", "Relu", "Sigmoid", "Tanh")


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("Clip", "HardSwish")])
def test_products_with_activations(name: str) -> None:
    letters, function = FUNCTIONS[name]
    given = {key: value for key, value in PARAMETERS.items() if key[0] in letters}
    x, y, z = normal(0, 5, 3), normal(1, 5, 7), normal(2, 7)
    attributes = {f"activation_{key}": value for key, value in given.items()}
    attributes |= {"transA": 1, "alpha": 1.5, "beta": 0.5}
    (found,) = agreed("FusedGemm", {"x": x, "y": y, "z": z}, activation=name, tolerance=4e-6, **attributes)
    close(found, function(1.5 * x.T.astype(np.float64) @ y + 0.5 * z, *given.values()), 4e-6)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("shape", [None, (), (1,), (3, 1), (1, 7), (3, 7)])
def test_third_operands(shape: tuple[int, ...] | None) -> None:
    z = None if shape is None else normal(2, *shape)
    inputs = {"x": normal(0, 3, 5), "y": normal(1, 7, 5)} | ({} if z is None else {"z": z})
    (found,) = agreed("FusedGemm", inputs, activation="Relu", transB=1)
    close(found, np.maximum(inputs["x"].astype(np.float64) @ inputs["y"].T + (0 if z is None else z), 0))


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "attribute 'activation' is missing"),
        ({"activation": "relu"}, "activation is 'relu', expected one of Celu, Elu, HardSigmoid, LeakyRelu, Param"),
        ({"activation": "Clip"}, "activation is 'Clip', expected one of Celu"),
        ({"activation": "LeakyRelu"}, "activation_alpha is missing, expected alpha for LeakyRelu"),
        (
            {"activation": "HardSigmoid", "activation_alpha": 1.0},
            "activation_beta is missing, expected alpha and beta for HardSigmoid",
        ),
        (
            {"activation": "Relu", "activation_gamma": 0.5},
            "activation_gamma is 0.5, expected no parameter for Relu",
        ),
    ],
)
def test_activations_of_products_that_are_refused(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(OnnxError, match=message):
        text_of("FusedGemm", {"x": normal(0, 3, 5), "y": normal(1, 5, 7)}, **attributes)


# Convolutions


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("name", OF_CONVOLUTION)
def test_convolutions_with_activations(name: str, residual: bool) -> None:
    letters, function = FUNCTIONS[name]
    parameters = [PARAMETERS["beta" if name == "Clip" else "alpha"], 0.9][: len(letters)]
    inputs = {"x": normal(0, 2, 3, 6, 5), "w": normal(1, 4, 3, 3, 2), "b": normal(2, 4)}
    options = {"pads": [1, 0, 1, 1], "strides": [2, 1]}
    (plain,) = by_onnxruntime(fused_model("Conv", inputs, domain="", **options), inputs)
    if residual:
        inputs["z"] = normal(3, *plain.shape)
    given = {"activation_params": parameters} if parameters else {}
    (found,) = agreed("FusedConv", inputs, activation=name, **options, **given)
    wanted = plain.astype(np.float64) + inputs.get("z", 0)
    close(found, function(wanted, *parameters), 4e-6)
    last = {key: each if key in "wb" else np.moveaxis(each, 1, -1).copy() for key, each in inputs.items()}
    (images,) = ours(fused_model("NhwcFusedConv", last, activation=name, **options, **given), *last.values())
    close(images, np.moveaxis(found, 1, -1))


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize(
    ("x", "w", "options"),
    [
        ((2, 3, 7), (4, 3, 3), {"auto_pad": "SAME_UPPER"}),
        ((1, 2, 4, 5, 6), (3, 2, 3, 2, 2), {"dilations": [1, 2, 1]}),
        ((2, 4, 5, 6), (8, 1, 3, 2), {"group": 4, "kernel_shape": [3, 2]}),
    ],
)
def test_convolutions_of_other_shapes(x: tuple[int, ...], w: tuple[int, ...], options: dict[str, Any]) -> None:
    inputs = {"x": normal(0, *x), "w": normal(1, *w)}
    (found,) = agreed("FusedConv", inputs, activation="Relu", **options)
    (again,) = agreed("FusedConv", inputs | {"b": None, "z": -found}, **options)
    close(again, np.minimum(again, 0))
    last = {"x": np.moveaxis(inputs["x"], 1, -1).copy(), "w": inputs["w"]}
    (images,) = ours(fused_model("NhwcFusedConv", last, activation="Relu", **options), *last.values())
    close(images, np.moveaxis(found, 1, -1))


def test_silu_that_later_versions_of_onnxruntime_have() -> None:
    x, w = normal(0, 1, 3, 5, 5), normal(1, 4, 3, 1, 1)
    plain = np.einsum("nchw,oc->nohw", x.astype(np.float64), w[:, :, 0, 0])
    (found,) = ours(fused_model("FusedConv", {"x": x, "w": w}, activation="Silu"), x, w)
    close(found, plain / (1 + np.exp(-plain)))


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"activation": "Elu"}, "activation is 'Elu', expected one of Clip, HardSigmoid, HardSwish, LeakyRelu, Relu"),
        ({"activation": "Clip"}, "activation_params has 0 entries, expected 2 for Clip"),
        (
            {"activation": "LeakyRelu", "activation_params": [0.5, 1.0]},
            "activation_params has 2 entries, expected 1 for LeakyRelu",
        ),
        ({"activation_params": [0.5]}, "activation_params has 1 entries, expected an activation with them"),
    ],
)
@pytest.mark.parametrize("operator", ["FusedConv", "NhwcFusedConv"])
def test_activations_of_convolutions_that_are_refused(operator: str, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(OnnxError, match=message):
        text_of(operator, {"x": normal(0, 1, 3, 3, 3), "w": normal(1, 4, 3, 1, 1)}, **attributes)


def test_images_that_do_not_fit() -> None:
    inputs = {"x": normal(0, 1, 3, 5, 5), "w": normal(1, 4, 3, 1, 1), "b": None, "z": normal(2, 1, 4, 1, 1)}
    with pytest.raises(
        OnnxError, match="Z is tensor<1x4x1x1xf32>, expected the shape of the result, tensor<1x4x5x5xf32>"
    ):
        text_of("FusedConv", inputs)
    with pytest.raises(OnnxError, match="the input is tensor<3x5xf32>, expected rank 3 or more"):
        text_of("NhwcFusedConv", {"x": normal(0, 3, 5), "w": normal(1, 4, 5, 1)})


# What ONNX has too


def test_slices_at_indices() -> None:
    x = normal(0, 2, 3, 4)
    (found,) = agreed("GatherND", {"x": x, "indices": np.array([[0, -1], [1, 0]], np.int64)})
    np.testing.assert_array_equal(found, x[[0, 1], [2, 0]])
    agreed("GatherND", {"x": x, "indices": np.array([[1]], np.int32)})


@pytest.mark.parametrize("axis", [0, 2, 3, -1, -4])
def test_new_dimensions(axis: int) -> None:
    x, place = normal(0, 2, 3, 4), np.array(axis, np.int32)
    (found,) = agreed("ExpandDims", {"x": x, "axis": place}, known=("axis",))
    np.testing.assert_array_equal(found, np.expand_dims(x, axis))


def test_axes_of_new_dimensions_that_are_refused() -> None:
    inputs = {"x": normal(0, 2, 3), "axis": np.array([0, 1], np.int32)}
    with pytest.raises(OnnxError, match="axis has 2 elements, expected 1"):
        text_of("ExpandDims", inputs, known=("axis",))


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [None, -1, 2])
def test_triangles(k: int | None, upper: int) -> None:
    x = normal(0, 2, 3, 5)
    inputs = {"x": x} | ({} if k is None else {"k": np.array(k, np.int64)})
    (found,) = agreed("Trilu", inputs, known=tuple(inputs)[1:], upper=upper)
    np.testing.assert_array_equal(found, (np.triu if upper else np.tril)(x, k or 0))


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("known", [("pads", "value"), ("pads",)])
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
def test_paddings(mode: str, known: tuple[str, ...]) -> None:
    x, pads = normal(0, 2, 3, 4), np.array([[0, 1, -1, 1, 2, 1]], np.int64)
    inputs = {"x": x, "pads": pads, "value": np.array([2.5], np.float32)}
    (found,) = agreed("Pad", inputs, known=known, mode=mode)
    assert found.shape == (3, 6, 4)


def test_paddings_by_numbers_of_the_call() -> None:
    x, pads = normal(0, 2, 3), np.array([0, 1, 1, 2], np.int64)
    made = fused_model("Pad", {"x": x, "pads": pads})
    (found,) = stepwell.compile_onnx(made, tuning=False)(x, pads)
    np.testing.assert_array_equal(found, np.pad(x, ((0, 1), (1, 2))))


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("numbers", [(1, 6), (6, 1, -2)])
def test_ranges(numbers: tuple[int, ...], dtype: str) -> None:
    inputs = {name: np.array([each], dtype) for name, each in zip(("start", "limit", "delta"), numbers, strict=False)}
    (found,) = agreed("Range", inputs, known=tuple(inputs))
    np.testing.assert_array_equal(found, np.arange(*numbers, dtype=dtype))


def test_ranges_by_numbers_of_the_call() -> None:
    numbers = np.array(2, np.int64), np.array(7, np.int64)
    made = fused_model("Range", dict(zip(("start", "limit"), numbers, strict=True)))
    (found,) = stepwell.compile_onnx(made, tuning=False)(*numbers)
    np.testing.assert_array_equal(found, np.arange(2, 7))


FROM_SIZES = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
net (float[rows, 3] x) => (int64[n] r, float[p, q] y) {
    start = Constant<value_int=1>()
    rows = Shape<start=0, end=1>(x)
    r = com.microsoft.Range(start, rows)
    zeros = Constant<value_ints=[0, 0, 1]>()
    pads = Concat<axis=0>(zeros, rows)
    two = Constant<value_float=2.0>()
    y = com.microsoft.Pad(x, pads, two)
}"""


@pytest.mark.parametrize("rows", [1, 4])
def test_ranges_and_paddings_by_sizes_that_are_open(rows: int) -> None:
    model, x = parser.parse_model(FROM_SIZES), normal(0, rows, 3)
    numbers, padded = ours(model, x)
    np.testing.assert_array_equal(numbers, np.arange(1, rows))
    np.testing.assert_array_equal(padded, np.pad(x, ((0, 1), (0, rows)), constant_values=2))
    for mine, other in zip((numbers, padded), by_onnxruntime(model, {"x": x}), strict=True):
        np.testing.assert_array_equal(mine, other)


# What onnxruntime saves

SAVED = """<ir_version: 8, opset_import: ["" : 17]>
net (float[2,3,8,8] image, float[2,6,16] x, float[2,6,16] r) => (float[2,4,6,6] a, float[2,6,16] d) {
    c = Conv(image, w, lb)
    a = HardSigmoid<alpha=0.3, beta=0.4>(c)
    root = Constant<value_float=1.4142135381698608>()
    one = Constant<value_float=1.0>()
    half = Constant<value_float=0.5>()
    q = Div(x, root)
    e = Erf(q)
    p = Add(e, one)
    s = Mul(x, p)
    y = Mul(s, half)
    t = Add(y, r)
    n = LayerNormalization<axis=-1, epsilon=0.001>(t, g, be)
    k = Transpose<perm=[0, 2, 1]>(n)
    z = MatMul(k, n)
    eighth = Constant<value_float=0.125>()
    zz = Mul(z, eighth)
    d = MatMul(n, zz)
}"""


def test_a_model_that_onnxruntime_saves(tmp_path: Path) -> None:
    model = parser.parse_model(SAVED)
    shapes = {"w": (4, 3, 3, 3), "lb": (4,), "g": (16,), "be": (16,)}
    model.graph.initializer.extend(numpy_helper.from_array(normal(0, *shape), name) for name, shape in shapes.items())
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "saved.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found = {node.op_type for node in onnx.load(tmp_path / "saved.onnx").graph.node if node.domain}
    assert found == {"FusedConv", "Gelu", "SkipLayerNormalization", "FusedMatMul"}
    inputs = {"image": normal(1, 2, 3, 8, 8), "x": normal(2, 2, 6, 16), "r": normal(3, 2, 6, 16)}
    executable = stepwell.compile(stepwell.from_onnx(tmp_path / "saved.onnx"), cache=False)
    for mine, other in zip(executable(**inputs), session.run(None, inputs), strict=True):
        close(mine, other, 4e-6)
