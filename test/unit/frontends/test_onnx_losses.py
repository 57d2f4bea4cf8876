"""Losses, steps of optimisers and Fourier transforms of ONNX, against NumPy in 64 bits."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from onnx import TypeProto, helper, numpy_helper
from onnx_one_node import run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]

TRAINING = "ai.onnx.preview.training"


def refused(operator: str, inputs: dict[str, Any], **options: Any) -> str:
    with pytest.raises(OnnxError) as error:
        text_of(operator, inputs, **options)
    return str(error.value)


# Losses


def loss_of(x: Array, labels: Array, weights: Array | None, ignored: int | None, reduction: str) -> Array:
    loss, counted = np.zeros(labels.shape), np.zeros(labels.shape)
    for place in np.ndindex(labels.shape):
        label = labels[place]
        if label != ignored:
            counted[place] = 1 if weights is None else weights[label]
            loss[place] = -x[(place[0], label, *place[1:])] * counted[place]
    return {"none": loss, "sum": loss.sum(), "mean": loss.sum() / counted.sum()}[reduction]


LOSSES = list(product(("none", "sum", "mean"), (False, True), (None, 1, -5)))


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("reduction", "weighted", "ignored"), LOSSES if FULL else LOSSES[::3] + LOSSES[-2:])
def test_losses(reduction: str, weighted: bool, ignored: int | None) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 4, 2, 5)).astype(np.float32)
    labels = rng.integers(0, 4, (3, 2, 5))
    if ignored is not None:
        labels[0, 0] = ignored
    weights = rng.uniform(0.5, 2, 4).astype(np.float32) if weighted else None
    options: dict[str, Any] = {"reduction": reduction} | ({} if ignored is None else {"ignore_index": ignored})
    inputs = {"x": x, "labels": labels} | ({} if weights is None else {"weights": weights})
    logarithms = x - np.log(np.exp(x.astype(np.float64)).sum(axis=1, keepdims=True))
    found, log_prob = run("SoftmaxCrossEntropyLoss", inputs, version=13, outputs=2, **options)
    np.testing.assert_allclose(log_prob, logarithms, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found, loss_of(logarithms, labels, weights, ignored, reduction), rtol=1e-5)
    (found,) = run("NegativeLogLikelihoodLoss", inputs, version=13, **options)
    np.testing.assert_allclose(found, loss_of(x, labels, weights, ignored, reduction), rtol=1e-4, atol=1e-6)


def test_infinite_scores_of_other_classes_do_not_count() -> None:
    x = np.array([[-np.inf, -1.0]], np.float32)
    (found,) = run("NegativeLogLikelihoodLoss", {"x": x, "labels": np.array([1], np.int32)}, version=13)
    assert found == 1


def test_losses_that_are_refused() -> None:
    x, labels = np.zeros((2, 3), np.float32), np.zeros((2,), np.int64)
    message = refused("NegativeLogLikelihoodLoss", {"x": x, "l": labels}, version=13, reduction="max")
    assert "reduction is 'max', expected none, sum or mean" in message
    message = refused("SoftmaxCrossEntropyLoss", {"x": x, "l": x.astype(np.int64)}, version=13)
    assert "the labels are tensor<2x3xi64>, expected the shape of tensor<2x3xf32> without classes" in message


# Optimisers


def variables(count: int) -> dict[str, Array]:
    """Two variables, their gradients and states; the last states are not negative."""
    rng = np.random.default_rng(1)
    shapes = [(3,), (2, 2)]
    return {
        f"{kind}{n}": np.abs(rng.standard_normal(shape)).astype(np.float32)
        for kind in range(count)
        for n, shape in enumerate(shapes)
    }


def groups(arrays: dict[str, Array]) -> list[list[Array]]:
    values = [each.astype(np.float64) for each in arrays.values()]
    return [values[0::2], values[1::2]]


def check(found: list[Array], wanted: list[tuple[Array, ...]]) -> None:
    for ours, theirs in zip(found, [each for kind in zip(*wanted, strict=True) for each in kind], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("count", [0, 4])
@pytest.mark.parametrize("mode", ["standard", "nesterov"])
def test_momentum(count: int, mode: str) -> None:
    arrays = variables(3)
    given = {"rate": np.array(0.1, np.float32), "count": np.array(count)} | arrays
    options = {"alpha": 0.9, "beta": 0.7, "norm_coefficient": 0.01, "mode": mode}
    found = run("Momentum", given, version=1, domain=TRAINING, outputs=4, **options)
    wanted = []
    for x, gradient, velocity in groups(arrays):
        gradient = gradient + 0.01 * x
        velocity = 0.9 * velocity + (0.7 if count else 1) * gradient
        wanted.append((x - 0.1 * (gradient + 0.9 * velocity if mode == "nesterov" else velocity), velocity))
    check(found, wanted)


def test_adagrad() -> None:
    arrays = variables(3)
    given = {"rate": np.array([0.1], np.float32), "count": np.array([3])} | arrays
    options = {"decay_factor": 0.2, "epsilon": 1e-3, "norm_coefficient": 0.01}
    found = run("Adagrad", given, version=1, domain=TRAINING, outputs=4, **options)
    wanted = []
    for x, gradient, squares in groups(arrays):
        gradient = gradient + 0.01 * x
        squares = squares + gradient**2
        wanted.append((x - 0.1 / 1.6 * gradient / (np.sqrt(squares) + 1e-3), squares))
    check(found, wanted)


@pytest.mark.parametrize("count", [0, 2])
def test_adam(count: int) -> None:
    arrays = variables(4)
    given = {"rate": np.array(0.1, np.float32), "count": np.array(count)} | arrays
    options = {
        "alpha": 0.8,
        "beta": 0.6,
        "epsilon": 1e-3,
        "norm_coefficient": 0.01,
        "norm_coefficient_post": 0.1,
    }
    found = run("Adam", given, version=1, domain=TRAINING, outputs=6, **options)
    rate = 0.1 * np.sqrt(1 - 0.6**count) / (1 - 0.8**count) if count else 0.1
    wanted = []
    for x, gradient, mean, squares in groups(arrays):
        gradient = gradient + 0.01 * x
        mean, squares = 0.8 * mean + 0.2 * gradient, 0.6 * squares + 0.4 * gradient**2
        wanted.append((0.9 * (x - rate * mean / (np.sqrt(squares) + 1e-3)), mean, squares))
    check(found, wanted)


def test_optimisers_that_are_refused() -> None:
    given = {"rate": np.array(0.1, np.float32), "count": np.array(1), "x": np.zeros(2, np.float32)}
    message = refused("Adam", given, version=1, domain=TRAINING)
    assert "the node has 1 variables and states, expected groups of 4" in message
    options = {"alpha": 0.9, "beta": 0.7, "norm_coefficient": 0.01, "mode": "heavy"}
    message = refused("Momentum", given, version=1, domain=TRAINING, **options)
    assert "mode is 'heavy', expected standard or nesterov" in message


# Fourier transforms


def parts(z: Array) -> Array:
    return np.stack([z.real, z.imag], axis=-1)


TRANSFORMS = list(product((0, 1, -2), (None, 4, 9), (False, True), (False, True)))


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize(("axis", "length", "complex_", "inverse"), TRANSFORMS if FULL else TRANSFORMS[::5])
def test_transforms(axis: int, length: int | None, complex_: bool, inverse: bool) -> None:
    x = np.random.default_rng(2).standard_normal((5, 6, 7, 2 if complex_ else 1)).astype(np.float32)
    z = x[..., 0].astype(np.complex128)
    if complex_:
        z += 1j * x[..., 1]
    along = axis if axis >= 0 else axis + 1
    wanted = parts((np.fft.ifft if inverse else np.fft.fft)(z, n=length, axis=along))
    inputs = {"x": x, "length": None if length is None else np.array(length), "axis": np.array(axis)}
    known = ("axis",) if length is None else ("length", "axis")
    (found,) = run("DFT", inputs, version=20, known=known, inverse=int(inverse))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("length", [None, 7, 8])
def test_one_sided_transforms_and_their_inverses(length: int | None) -> None:
    x = np.random.default_rng(3).standard_normal((2, 8, 1)).astype(np.float32)
    known = () if length is None else ("length",)
    size = None if length is None else np.array(length)
    (found,) = run("DFT", {"x": x, "length": size}, version=17, known=known, onesided=1)
    wanted = np.fft.rfft(x[..., 0].astype(np.float64), n=length, axis=1)
    np.testing.assert_allclose(found, parts(wanted), rtol=1e-4, atol=1e-5)
    (back,) = run("DFT", {"x": found, "length": size}, version=17, known=known, onesided=1, inverse=1)
    np.testing.assert_allclose(back[..., 0], np.fft.irfft(wanted, n=length, axis=1), rtol=1e-4, atol=1e-5)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("known", [("step",), ("step", "window")])
@pytest.mark.parametrize("onesided", [0, 1])
def test_transforms_of_frames(known: tuple[str, ...], onesided: int) -> None:
    rng = np.random.default_rng(4)
    x, window = rng.standard_normal((2, 20, 1)).astype(np.float32), rng.uniform(0, 1, 6).astype(np.float32)
    inputs = {"x": x, "step": np.array(4), "window": window}
    (found,) = run("STFT", inputs, version=17, known=known, onesided=onesided)
    frames = np.stack([x[:, at : at + 6, 0] * window for at in range(0, 15, 4)], axis=1)
    wanted = (np.fft.rfft if onesided else np.fft.fft)(frames.astype(np.float64))
    np.testing.assert_allclose(found, parts(wanted), rtol=1e-4, atol=1e-5)


def test_frames_without_a_window() -> None:
    x = np.random.default_rng(5).standard_normal((1, 9, 2)).astype(np.float32)
    inputs = {"x": x, "step": np.array(2), "window": None, "length": np.array(4)}
    (found,) = run("STFT", inputs, version=17, known=("step", "length"), onesided=0)
    z = (x[..., 0] + 1j * x[..., 1]).astype(np.complex128)
    wanted = np.fft.fft(np.stack([z[:, at : at + 4] for at in range(0, 6, 2)], axis=1))
    np.testing.assert_allclose(found, parts(wanted), rtol=1e-4, atol=1e-5)


def test_batches_of_any_size() -> None:
    node = helper.make_node("STFT", ["x", "step", "", "length"], ["y"])
    known = [numpy_helper.from_array(np.array(each), name) for name, each in (("step", 2), ("length", 4))]
    infos = [helper.make_tensor_value_info("x", 1, ["N", 9, 1])]
    graph = helper.make_graph([node], "g", infos, [helper.make_value_info("y", TypeProto())], known)
    module = stepwell.from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    executable = stepwell.compile(module, cache=False)
    for batch in (1, 3):
        x = np.random.default_rng(batch).standard_normal((batch, 9, 1)).astype(np.float32)
        wanted = np.fft.rfft(np.stack([x[:, at : at + 4, 0] for at in range(0, 6, 2)], axis=1).astype(np.float64))
        np.testing.assert_allclose(executable(x)[0], parts(wanted), rtol=1e-4, atol=1e-5)


def test_transforms_that_are_refused() -> None:
    x = np.zeros((2, 8, 1), np.float32)
    message = refused("DFT", {"x": x}, version=17, axis=2)
    assert "axis is 2, expected a dimension of the signal tensor<2x8x1xf32>" in message
    message = refused("DFT", {"x": np.zeros((2, 8, 3), np.float32)}, version=17)
    assert "the signal is tensor<2x8x3xf32>, expected a known extent, and one or two parts" in message
    message = refused("DFT", {"x": x}, version=17, onesided=1, inverse=1)
    assert "onesided is set and the signal is tensor<2x8x1xf32>, expected a complex one" in message
    message = refused("DFT", {"x": x, "n": np.array(0)}, version=17, known=("n",))
    assert "dft_length is 0, expected at least 1" in message
    message = refused("DFT", {"x": x, "n": np.array(100_000)}, version=17, known=("n",))
    assert "the transform has the length 100000, which makes too large a matrix" in message
    message = refused("DFT", {"x": x, "n": np.array(8)}, version=17)
    assert "is computed at run time, expected it to be known at import" in message
    step, window = np.array(2), np.zeros(4, np.float32)
    message = refused("STFT", {"x": x[0], "s": step}, version=17, known=("s",))
    assert "the signal is tensor<8x1xf32>, expected batch x length x parts" in message
    given = {"x": x, "s": step, "w": window, "n": np.array(6)}
    message = refused("STFT", given, version=17, known=("s", "n"))
    assert "the window is tensor<4xf32>, expected 6 elements" in message
    message = refused("STFT", given | {"w": None, "n": np.array(9)}, version=17, known=("s", "n"))
    assert "frames of 9 every 2 do not fit into the signal tensor<2x8x1xf32>" in message
    message = refused("STFT", {"x": np.zeros((2, 8, 2), np.float32), "s": step}, version=17, known=("s",))
    assert "onesided is set and the signal is tensor<2x8x2xf32>, expected a real one" in message
    message = refused("STFT", {"x": np.zeros((2, 8, 3), np.float32), "s": step}, version=17, known=("s",))
    assert "the signal is tensor<2x8x3xf32>, expected a known length, and one or two parts" in message
