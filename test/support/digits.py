"""Networks trained here, in NumPy, on the handwritten digits that scikit-learn ships: 1797 pictures of 8 x 8."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import stepwell
from sklearn.datasets import load_digits
from stepwell.dialects import graph

Array = np.ndarray[Any, Any]
Parameters = dict[str, Array]

TESTED = 397
"""The number of pictures that are left for tests, the last ones."""


@cache
def pictures() -> tuple[Array, Array, Array, Array]:
    """Returns pictures from -1 to 1 with their numbers: those to train with, and those to test with."""
    data = load_digits()
    x = (data.data / 8 - 1).astype(np.float32)
    y = data.target.astype(np.int64)
    order = np.random.default_rng(0).permutation(len(x))
    x, y = x[order], y[order]
    return x[:-TESTED], y[:-TESTED], x[-TESTED:], y[-TESTED:]


# Training: stochastic gradient descent with momentum, by hand


def _steps(parameters: Parameters, gradients: Any, epochs: int, rate: float) -> Parameters:
    """Returns parameters after `epochs` times through the data in portions of 64."""
    x, y, _, _ = pictures()
    random = np.random.default_rng(1)
    speed = {name: np.zeros_like(each) for name, each in parameters.items()}
    for epoch in range(epochs):
        order = random.permutation(len(x))
        for start in range(0, len(x), 64):
            batch = order[start : start + 64]
            for name, gradient in gradients(parameters, x[batch], y[batch]).items():
                speed[name] = 0.9 * speed[name] - rate * 0.5 ** (epoch // 6) * gradient
                parameters[name] = (parameters[name] + speed[name]).astype(np.float32)
    return parameters


def _error(logits: Array, y: Array) -> Array:
    """Returns the gradient of the mean cross entropy."""
    chances = np.exp(logits - logits.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    chances[np.arange(len(y)), y] -= 1
    return chances / len(y)


def _drawn(random: np.random.Generator, *shape: int) -> Array:
    """Returns weights of a layer whose inputs are all axes but one of `shape`."""
    inputs = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
    return (random.standard_normal(shape) * np.sqrt(2 / inputs)).astype(np.float32)


@cache
def mlp() -> Parameters:
    """Returns the weights of 64 -> 128 -> 64 -> 10."""
    random = np.random.default_rng(2)
    sizes = (64, 128, 64, 10)
    parameters: Parameters = {}
    for number, (one, other) in enumerate(zip(sizes, sizes[1:], strict=False), 1):
        parameters[f"w{number}"] = _drawn(random, one, other)
        parameters[f"b{number}"] = np.zeros(other, np.float32)
    return _steps(parameters, _mlp_gradients, 5, 0.02)


def _mlp_gradients(p: Parameters, x: Array, y: Array) -> Parameters:
    h1 = np.maximum(x @ p["w1"] + p["b1"], 0)
    h2 = np.maximum(h1 @ p["w2"] + p["b2"], 0)
    e3 = _error(h2 @ p["w3"] + p["b3"], y)
    e2 = (e3 @ p["w3"].T) * (h2 > 0)
    e1 = (e2 @ p["w2"].T) * (h1 > 0)
    rows = {"1": (x, e1), "2": (h1, e2), "3": (h2, e3)}
    return {f"w{n}": a.T @ e for n, (a, e) in rows.items()} | {f"b{n}": e.sum(0) for n, (_, e) in rows.items()}


@cache
def cnn() -> Parameters:
    """Returns the weights of two convolutions of 3 x 3, with 16 and 32 channels, and of a product."""
    random = np.random.default_rng(3)
    parameters = {
        "w1": _drawn(random, 16, 1, 3, 3),
        "b1": np.zeros(16, np.float32),
        "w2": _drawn(random, 32, 16, 3, 3),
        "b2": np.zeros(32, np.float32),
        "w3": _drawn(random, 32 * 16, 10),
        "b3": np.zeros(10, np.float32),
    }
    return _steps(parameters, _cnn_gradients, 2, 0.03)


def _windows(x: Array) -> Array:
    """Returns the windows of 3 x 3 of a padded picture as rows: `N*H*W x C*9`."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    found = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return found.transpose(0, 2, 3, 1, 4, 5).reshape(-1, x.shape[1] * 9)


def _convolved(windows: Array, w: Array, shape: tuple[int, ...]) -> Array:
    n, _, height, wide = shape
    return (windows @ w.reshape(len(w), -1).T).reshape(n, height, wide, len(w)).transpose(0, 3, 1, 2)


def _cnn_gradients(p: Parameters, x: Array, y: Array) -> Parameters:
    picture = x.reshape(-1, 1, 8, 8)
    in1 = _windows(picture)
    h1 = np.maximum(_convolved(in1, p["w1"], picture.shape) + p["b1"][:, None, None], 0)
    blocks = h1.reshape(*h1.shape[:2], 4, 2, 4, 2)
    pooled = blocks.max((3, 5))
    in2 = _windows(pooled)
    h2 = np.maximum(_convolved(in2, p["w2"], pooled.shape) + p["b2"][:, None, None], 0)
    flat = h2.reshape(len(x), -1)
    e3 = _error(flat @ p["w3"] + p["b3"], y)
    e2 = ((e3 @ p["w3"].T).reshape(h2.shape) * (h2 > 0)).transpose(0, 2, 3, 1).reshape(-1, 32)
    back = _folded(e2 @ p["w2"].reshape(32, -1), pooled.shape)
    largest = blocks == pooled[:, :, :, None, :, None]
    e1 = (largest * back[:, :, :, None, :, None]).reshape(h1.shape) * (h1 > 0)
    e1 = e1.transpose(0, 2, 3, 1).reshape(-1, 16)
    weights = {"w1": (e1.T @ in1).reshape(p["w1"].shape), "w2": (e2.T @ in2).reshape(p["w2"].shape)}
    return weights | {"w3": flat.T @ e3, "b1": e1.sum(0), "b2": e2.sum(0), "b3": e3.sum(0)}


def _folded(windows: Array, shape: tuple[int, ...]) -> Array:
    """Returns the sums of what windows say of each element: the transpose of `_windows`."""
    n, channels, height, wide = shape
    parts = windows.reshape(n, height, wide, channels, 3, 3).transpose(0, 3, 4, 5, 1, 2)
    padded = np.zeros((n, channels, height + 2, wide + 2), np.float32)
    for row in range(3):
        for column in range(3):
            padded[:, :, row : row + height, column : column + wide] += parts[:, :, row, column]
    return padded[:, :, 1:-1, 1:-1]


# Programs


def mlp_program(rows: int) -> Any:
    """Returns the MLP for `rows` pictures as a module."""
    p, builder = mlp(), stepwell.GraphBuilder()
    with builder.function("main", x=f"tensor<{rows}x64xf32>") as (x,):
        for number in (1, 2, 3):
            product = builder.emit(graph.MatmulOp(x, _constant(builder, p, f"w{number}")))
            x = builder.emit(graph.AddOp(product, _constant(builder, p, f"b{number}")))
            x = builder.emit(graph.ReluOp(x)) if number < 3 else x
        builder.emit_func_output(x)
    return builder.get()


def cnn_program(rows: int) -> Any:
    """Returns the CNN for `rows` pictures as a module."""
    p, builder = cnn(), stepwell.GraphBuilder()
    with builder.function("main", x=f"tensor<{rows}x1x8x8xf32>") as (x,):
        for number in (1, 2):
            kernel, bias = _constant(builder, p, f"w{number}"), _constant(builder, p, f"b{number}", (-1, 1, 1))
            x = builder.emit(graph.Conv2dOp(x, kernel, padding=[1, 1, 1, 1]))
            x = builder.emit(graph.ReluOp(builder.emit(graph.AddOp(x, bias))))
            x = builder.emit(graph.MaxPool2dOp(x, pool_size=[2, 2], strides=[2, 2])) if number == 1 else x
        flat = builder.emit(graph.ReshapeOp(x, shape=[rows, 512]))
        y = builder.emit(graph.MatmulOp(flat, _constant(builder, p, "w3")))
        builder.emit_func_output(builder.emit(graph.AddOp(y, _constant(builder, p, "b3"))))
    return builder.get()


def _constant(builder: Any, parameters: Parameters, name: str, shape: tuple[int, ...] | None = None) -> Any:
    array = parameters[name] if shape is None else parameters[name].reshape(shape)
    value = builder.emit(graph.ConstantOp.from_array(array))
    value.name_hint = name
    return value


def batches(rows: int, *, picture: bool = False, tested: bool = False) -> tuple[list[dict[str, Array]], list[Array]]:
    """Returns batches of `rows` pictures, and their numbers: of those to train with, or to test with."""
    own = pictures()
    x, y = own[2:] if tested else own[:2]
    count = len(x) // rows
    shape = (rows, 1, 8, 8) if picture else (rows, 64)
    found = [{"x": x[i * rows : (i + 1) * rows].reshape(shape)} for i in range(count)]
    return found, [y[i * rows : (i + 1) * rows] for i in range(count)]
