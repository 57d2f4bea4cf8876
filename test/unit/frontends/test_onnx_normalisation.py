"""Normalisations, reductions and running sums, against NumPy in f64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import stepwell
from hypothesis import given
from hypothesis import strategies as st
from onnx_one_node import by_onnxruntime, model_of, run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]

RTOL = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-13}
"""Of one rounding at the end, and of a few before."""


def normal(seed: int, *shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def standard(x: Array, axes: tuple[int, ...], epsilon: float) -> tuple[Array, Array, Array]:
    wide = x.astype(np.float64)
    mean = wide.mean(axes, keepdims=True)
    deviation = 1 / np.sqrt(((wide - mean) ** 2).mean(axes, keepdims=True) + epsilon)
    return (wide - mean) * deviation, mean, deviation


# Normalisations


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize("axis", [-1, 1, 0])
def test_layer_normalization_with_its_statistics(axis: int, dtype: str) -> None:
    x = normal(0, 3, 4, 5, dtype=dtype)
    weight, bias = normal(1, *x.shape[axis:], dtype=dtype), normal(2, *x.shape[axis:], dtype=dtype)
    inputs = {"x": x, "w": weight, "b": bias}
    result, mean, deviation = run("LayerNormalization", inputs, version=17, outputs=3, axis=axis, epsilon=2**-10)
    wanted, m, d = standard(x, tuple(range(axis % 3, 3)), 2**-10)
    wide = wanted * weight.astype(np.float64) + bias.astype(np.float64)
    np.testing.assert_allclose(result, wide, rtol=RTOL[dtype], atol=RTOL[dtype])
    assert result.dtype == x.dtype and mean.dtype == deviation.dtype == np.float32
    np.testing.assert_allclose(mean, m, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(deviation, d, rtol=1e-5)


@pytest.mark.parametrize("version", [7, 8, 9, 14])
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 5), (1, 3, 4, 2)])
def test_batch_normalization_for_inference(shape: tuple[int, ...], version: int) -> None:
    inputs = {"x": normal(0, *shape), "w": normal(1, 3), "b": normal(2, 3), "m": normal(3, 3), "v": normal(4, 3) ** 2}
    attributes = {"epsilon": 2**-10, "momentum": 0.5, **({"spatial": 1} if version < 9 else {})}
    (found,) = run("BatchNormalization", inputs, version=version, **attributes)
    (wanted,) = by_onnxruntime(model_of("BatchNormalization", inputs, version=version, **attributes), inputs)
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)


def test_statistics_are_computed_only_when_wanted() -> None:
    inputs = {"x": normal(0, 3, 4), "w": normal(1, 4)}
    text = text_of("LayerNormalization", inputs, version=17)
    assert "graph.layer_norm" in text and "graph.mean" not in text


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("operator", ["LayerNormalization", "RMSNormalization"])
@pytest.mark.parametrize("shape", [(1,), (5,), (1, 5), (4, 1), (4, 5), (1, 4, 5), (1, 1, 1, 5)])
def test_scales_broadcast_to_the_normalised_axes(operator: str, shape: tuple[int, ...]) -> None:
    x, weight = normal(0, 3, 4, 5), normal(1, *shape)
    (found,) = run(operator, {"x": x, "w": weight}, version=23, axis=1, epsilon=1e-5)
    if operator == "LayerNormalization":
        wide = standard(x, (1, 2), 1e-5)[0]
    else:
        wide = x / np.sqrt((x.astype(np.float64) ** 2).mean((1, 2), keepdims=True) + 1e-5)
    np.testing.assert_allclose(found, (wide * weight).reshape(x.shape), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(4,), (3, 1, 1), (2, 4, 5)])
def test_scales_that_do_not_broadcast(shape: tuple[int, ...]) -> None:
    inputs = {"x": normal(0, 3, 4, 5), "w": normal(1, *shape)}
    with pytest.raises(OnnxError, match=r"'graph.broadcast_to'"):
        text_of("RMSNormalization", inputs, version=23, axis=1)


def test_axes_are_those_of_the_input() -> None:
    with pytest.raises(OnnxError, match=r"axis is 3, expected one of tensor<3x4xf32>"):
        text_of("RMSNormalization", {"x": normal(0, 3, 4), "w": normal(1, 4)}, version=23, axis=3)


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("version", [18, 21])
@pytest.mark.parametrize("shape", [(2, 6, 5), (2, 6, 3, 4)])
def test_group_normalization(version: int, shape: tuple[int, ...]) -> None:
    """Before version 21 scale and bias are those of the groups."""
    x, count = normal(0, *shape), 3 if version < 21 else 6
    weight, bias = normal(1, count), normal(2, count)
    found = run("GroupNormalization", {"x": x, "w": weight, "b": bias}, version=version, num_groups=3)[0]
    groups = standard(x.reshape(2, 3, -1), (2,), 1e-5)[0].reshape(2, 6, -1)
    wide = groups * np.repeat(weight, 6 // count)[:, None] + np.repeat(bias, 6 // count)[:, None]
    np.testing.assert_allclose(found, wide.reshape(shape), rtol=1e-5, atol=2e-6)
    with pytest.raises(OnnxError, match=r"expected channels in 4 groups"):
        text_of("GroupNormalization", {"x": x, "w": weight, "b": bias}, version=version, num_groups=4)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 5), (2, 3, 4, 5)])
def test_batch_normalization_of_training(shape: tuple[int, ...]) -> None:
    """With the statistics of the batch; the given ones move towards them."""
    x = normal(0, *shape)
    weight, bias, mean = (normal(seed, shape[1]) for seed in (1, 2, 3))
    variance = np.abs(normal(4, shape[1]))
    inputs = {"x": x, "w": weight, "b": bias, "m": mean, "v": variance}
    attributes: dict[str, Any] = {"training_mode": 1, "momentum": 0.75, "epsilon": 2**-10}
    result, moved_mean, moved_variance = run("BatchNormalization", inputs, version=15, outputs=3, **attributes)
    axes = tuple(axis for axis in range(len(shape)) if axis != 1)
    spread = (slice(None), *(None,) * (len(shape) - 2))
    wide = standard(x, axes, 2**-10)[0] * weight[spread] + bias[spread]
    np.testing.assert_allclose(result, wide, rtol=1e-5, atol=1e-5)
    batch = x.astype(np.float64)
    np.testing.assert_allclose(moved_mean, 0.75 * mean + 0.25 * batch.mean(axes), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(moved_variance, 0.75 * variance + 0.25 * batch.var(axes), rtol=1e-5)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("axes", [None, (0, 1), (2, 3)])
def test_mean_variance_normalization(axes: tuple[int, ...] | None) -> None:
    x = normal(0, 3, 2, 4, 4) + 100
    attributes = {} if axes is None else {"axes": list(axes)}
    (found,) = run("MeanVarianceNormalization", {"x": x}, version=13, **attributes)
    np.testing.assert_allclose(found, standard(x, axes or (0, 2, 3), 0.0)[0], rtol=1e-3, atol=1e-4)


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("axis", [0, -1])
def test_norms(axis: int, p: int, dtype: str) -> None:
    """A vector of zeros stays what it is."""
    x = normal(0, 4, 4, dtype=dtype)
    x[1], x[:, 2] = 0, 0
    (found,) = run("LpNormalization", {"x": x}, version=22, axis=axis, p=p)
    wide = x.astype(np.float64)
    norm = (np.abs(wide) ** p).sum(axis, keepdims=True) ** (1 / p)
    np.testing.assert_allclose(found, wide / np.where(norm == 0, 1, norm), rtol=RTOL[dtype])


def test_norms_are_of_one_or_two() -> None:
    with pytest.raises(OnnxError, match=r"p is 3, expected 1 or 2"):
        text_of("LpNormalization", {"x": normal(0, 4)}, version=22, p=3)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("shape", [(2, 5, 3, 4), (1, 7, 6)])
def test_response_normalization(shape: tuple[int, ...], size: int) -> None:
    x = normal(0, *shape)
    (found,) = run("LRN", {"x": x}, version=13, size=size, alpha=0.5, beta=0.6, bias=1.5)
    wide = x.astype(np.float64)
    sums = np.zeros_like(wide)
    for channel in range(shape[1]):
        around = range(channel - (size - 1) // 2, channel + size // 2 + 1)
        sums[:, channel] = sum(wide[:, near] ** 2 for near in around if 0 <= near < shape[1])
    np.testing.assert_allclose(found, wide / (1.5 + 0.5 / size * sums) ** 0.6, rtol=3e-6)


# Reductions


def log_sum_exp(x: Array, axis: Any, keepdims: bool) -> Array:
    return np.log(np.exp(x).sum(axis, keepdims=keepdims))


REDUCTIONS: dict[str, Callable[[Array, Any, bool], Array]] = {
    "ReduceSum": lambda x, axis, keepdims: x.sum(axis, keepdims=keepdims),
    "ReduceMean": lambda x, axis, keepdims: x.mean(axis, keepdims=keepdims),
    "ReduceMax": lambda x, axis, keepdims: x.max(axis, keepdims=keepdims),
    "ReduceMin": lambda x, axis, keepdims: x.min(axis, keepdims=keepdims),
    "ReduceProd": lambda x, axis, keepdims: x.prod(axis, keepdims=keepdims),
    "ReduceL1": lambda x, axis, keepdims: np.abs(x).sum(axis, keepdims=keepdims),
    "ReduceL2": lambda x, axis, keepdims: np.sqrt((x**2).sum(axis, keepdims=keepdims)),
    "ReduceLogSum": lambda x, axis, keepdims: np.log(x.sum(axis, keepdims=keepdims)),
    "ReduceLogSumExp": log_sum_exp,
    "ReduceSumSquare": lambda x, axis, keepdims: (x**2).sum(axis, keepdims=keepdims),
}
BY_INPUT = {"ReduceSum": 13}
"""The version from which on axes are an input; 18 for the others."""


@given(
    operator=st.sampled_from(sorted(REDUCTIONS)),
    axes=st.one_of(st.none(), st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True)),
    from_end=st.booleans(),
    keepdims=st.booleans(),
    by_input=st.booleans(),
    dtype=st.sampled_from(["float16", "float32", "float64", "int32"]),
)
def test_reductions(
    operator: str, axes: list[int] | None, from_end: bool, keepdims: bool, by_input: bool, dtype: str
) -> None:
    x = np.random.default_rng(0).integers(1, 4, (2, 3, 4)).astype(dtype)
    given_axes = None if axes is None else [axis - 3 if from_end else axis for axis in axes]
    if by_input:
        inputs = {"x": x, "axes": None if given_axes is None else np.array(given_axes, np.int64)}
        known = [] if given_axes is None else ["axes"]
        found = run(operator, inputs, version=18, known=known, keepdims=int(keepdims))[0]
    else:
        attributes = {} if given_axes is None else {"axes": given_axes}
        found = run(operator, {"x": x}, version=11, keepdims=int(keepdims), **attributes)[0]
    wide = REDUCTIONS[operator](x.astype(np.float64), None if axes is None else tuple(axes), keepdims)
    assert found.dtype == x.dtype and found.shape == np.shape(wide)
    if dtype == "int32":
        np.testing.assert_array_equal(found, np.trunc(wide + 1e-9).astype(np.int64).astype(np.int32))
    else:
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(found, wide.astype(dtype), rtol=RTOL[dtype])


def test_halves_are_wide_in_between() -> None:
    """The squares do not fit, their root does."""
    x = np.array([3000, 4000], np.float16)
    assert run("ReduceL2", {"x": x}, version=18)[0] == 5000
    assert run("ReduceLogSum", {"x": np.full(4, 60000, np.float16)}, version=18)[0] == np.float16(math.log(240000))


def test_logarithms_of_large_and_small_exponentials() -> None:
    x = np.array([[1000, 999], [-1000, -1001], [-np.inf, -np.inf], [np.inf, 0], [np.nan, 0]], np.float32)
    (found,) = run("ReduceLogSumExp", {"x": x, "axes": np.array([1])}, version=18, known=["axes"], keepdims=0)
    shift = math.log1p(math.exp(-1))
    np.testing.assert_allclose(found, [1000 + shift, -1000 + shift, -np.inf, np.inf, np.nan], rtol=1e-6)


@pytest.mark.parametrize("operator", REDUCTIONS)
def test_no_axes_may_mean_none(operator: str) -> None:
    """With `noop_with_empty_axes` each element is reduced by itself."""
    x = np.array([[-1.5, 2.0], [0.5, -3.0]], np.float32)
    (found,) = run(operator, {"x": x}, version=18, noop_with_empty_axes=1)
    with np.errstate(invalid="ignore"):
        wide = REDUCTIONS[operator](x[None].astype(np.float64), 0, False)
    np.testing.assert_allclose(found, wide, rtol=1e-6)


@pytest.mark.ci_cases(7)
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint16", "int64", "bool"])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_extrema_of_nothing(dtype: str, keepdims: int) -> None:
    x = np.zeros((2, 0, 3), dtype)
    for operator, greatest in (("ReduceMax", False), ("ReduceMin", True)):
        inputs = {"x": x, "axes": np.array([1])}
        (found,) = run(operator, inputs, version=20, known=["axes"], keepdims=keepdims)
        if dtype == "bool":
            neutral: Any = greatest
        elif dtype == "float32":
            neutral = np.inf if greatest else -np.inf
        else:
            neutral = np.iinfo(dtype).max if greatest else np.iinfo(dtype).min
        np.testing.assert_array_equal(found, np.full((2, 1, 3) if keepdims else (2, 3), neutral, dtype))


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        ("ReduceSum", 0),
        ("ReduceProd", 1),
        ("ReduceL2", 0),
        ("ReduceLogSum", -np.inf),
        ("ReduceLogSumExp", -np.inf),
    ],
)
def test_other_reductions_of_nothing(operator: str, value: float) -> None:
    inputs = {"x": np.zeros((2, 0, 3), np.float32), "axes": np.array([1])}
    (found,) = run(operator, inputs, version=18, known=["axes"])
    np.testing.assert_array_equal(found, np.full((2, 1, 3), value, np.float32))


@pytest.mark.parametrize(("operator", "function"), [("ReduceMax", np.any), ("ReduceMin", np.all)])
def test_extrema_of_booleans(operator: str, function: Any) -> None:
    x = np.array([[True, False], [True, True], [False, False]])
    (found,) = run(operator, {"x": x, "axes": np.array([1])}, version=20, known=["axes"], keepdims=0)
    np.testing.assert_array_equal(found, function(x, 1))


def test_axes_are_known_at_import() -> None:
    for operator in REDUCTIONS:
        with pytest.raises(OnnxError, match=r"'axes', is computed at run time, expected it to be known at import"):
            text_of(operator, {"x": normal(0, 2), "axes": np.array([0])}, version=18)


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("version", [11, 13])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
def test_softmax_of_one_and_of_many_dimensions(operator: str, axis: int, version: int) -> None:
    x = normal(0, 3, 4, 5)
    (found,) = run(operator, {"x": x}, version=version, axis=axis)
    over = (axis,) if version >= 13 else tuple(range(axis % 3, 3))
    wide = x - np.log(np.exp(x.astype(np.float64)).sum(over, keepdims=True))
    np.testing.assert_allclose(found, np.exp(wide) if operator == "Softmax" else wide, rtol=2e-6, atol=1e-6)


# Running sums and products


@given(
    shape=st.lists(st.integers(0, 5), min_size=1, max_size=3),
    axis=st.integers(-3, 2),
    exclusive=st.integers(0, 1),
    reverse=st.integers(0, 1),
    operator=st.sampled_from(["CumSum", "CumProd"]),
    dtype=st.sampled_from(["float32", "float64", "int32", "uint64", "float16"]),
)
def test_running_sums_and_products(
    shape: list[int], axis: int, exclusive: int, reverse: int, operator: str, dtype: str
) -> None:
    axis = axis % len(shape) - (len(shape) if axis < 0 else 0)
    x = np.random.default_rng(0).integers(1, 4, shape).astype(dtype)
    attributes = {"exclusive": exclusive, "reverse": reverse}
    inputs = {"x": x, "axis": np.array(axis)}
    (found,) = run(operator, inputs, version=26, known=["axis"], **attributes)
    combine, first = (math.fsum, 0.0) if operator == "CumSum" else (math.prod, 1.0)
    wanted = np.empty(shape)
    rows, results = np.moveaxis(x, axis, -1), np.moveaxis(wanted, axis, -1)
    for place in np.ndindex(*rows.shape):
        row, end = rows[place[:-1]].astype(float), place[-1]
        terms = row[end + exclusive :] if reverse else row[: end + 1 - exclusive]
        results[place] = combine([first, *terms])
    np.testing.assert_array_equal(found, wanted.astype(dtype))
    assert found.dtype == x.dtype


def test_running_sums_have_an_axis() -> None:
    with pytest.raises(OnnxError, match=r"axis 1 is out of range"):
        text_of("CumSum", {"x": normal(0, 2), "axis": np.array(1)}, version=14, known=["axis"])
    with pytest.raises(OnnxError, match=r"'axis', is computed at run time, expected it to be known at import"):
        text_of("CumSum", {"x": normal(0, 2), "axis": np.array(0)}, version=14)


# Extents that are not known


OPEN: dict[str, tuple[dict[str, Array], int, dict[str, Any]]] = {
    "Softmax": ({}, 11, {"axis": 1}),
    "Hardmax": ({}, 11, {"axis": 1}),
    "LogSoftmax": ({}, 13, {"axis": 0}),
    "EyeLike": ({}, 22, {"k": 1}),
    "Trilu": ({}, 14, {"upper": 0}),
    "LRN": ({}, 13, {"size": 3}),
    "LayerNormalization": ({"w": normal(1, 4)}, 17, {}),
    "RMSNormalization": ({"w": normal(1, 4)}, 23, {}),
    "LpNormalization": ({}, 22, {"axis": 0}),
    "MeanVarianceNormalization": ({}, 13, {"axes": [0, -1]}),
    "ReduceL2": ({"axes": np.array([0])}, 18, {}),
    "ReduceLogSumExp": ({}, 18, {"keepdims": 0}),
    "CumSum": ({"axis": np.array(0)}, 14, {"reverse": 1}),
    "Softplus": ({}, 22, {}),
    "Dropout": ({}, 22, {}),
}


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("operator", OPEN)
def test_extents_are_known_at_run_time(operator: str) -> None:
    """One program for all sizes of all dimensions but the last."""
    others, version, attributes = OPEN[operator]
    rank = {"EyeLike": 2, "LRN": 4, "MeanVarianceNormalization": 4}.get(operator, 3)
    options: dict[str, Any] = {"version": version, "known": list(others), **attributes}
    outputs = 2 if operator == "Dropout" else 1
    shape = (2, 3, 5, 4)[4 - rank :]
    model = model_of(operator, {"x": normal(0, *shape), **others}, outputs=outputs, **options)
    for number, dim in enumerate(model.graph.input[0].type.tensor_type.shape.dim[:-1]):
        dim.dim_param = f"n{number}"
    executable = stepwell.compile(stepwell.from_onnx(model), cache=False)
    for seed, sizes in enumerate([shape, tuple(extent + 2 for extent in shape[:-1]) + (4,)]):
        x = normal(seed, *sizes)
        wanted = run(operator, {"x": x, **others}, outputs=outputs, **options)
        for one, two in zip(executable(x), wanted, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-7)
