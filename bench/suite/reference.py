"""The data of a case, and its results in float64 by NumPy, against which every engine is checked before it is timed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np

from .vocabulary import Node, Program, Value

TOLERANCE = 1e-3
"""Greatest error allowed, relative to the greatest element of the result."""

EPSILON = 1e-5
"""Of layer normalisations."""

Arrays = dict[str, Any]


def make_arrays(program: Program, name: str) -> Arrays:
    """Inputs and weights by name, in float32 (or int8), the same for every engine and every day."""
    random = np.random.default_rng(crc32(name.encode()))
    arrays: Arrays = {}
    for value in program.inputs:
        arrays[value.name] = _draw(random, value, 1.0)
    for value in program.weights:
        fan_in = math.prod(value.shape[1:]) if len(value.shape) == 4 else value.shape[0]
        scale = fan_in**-0.5 if len(value.shape) > 1 else 0.5
        arrays[value.name] = _draw(random, value, scale)
    return arrays


def _draw(random: np.random.Generator, value: Value, scale: float) -> Any:
    if value.dtype == "int8":
        return random.integers(-128, 128, value.shape, np.int8)
    return np.multiply(random.standard_normal(value.shape, np.float32), np.float32(scale))


def evaluate(program: Program, arrays: Arrays) -> list[Any]:
    """The outputs in float64 (int64 for integers)."""
    known = {name: array.astype(np.int64 if array.dtype.kind == "i" else np.float64) for name, array in arrays.items()}
    for node in program.nodes:
        operands = [known[value.name] for value in node.operands]
        known[node.result.name] = OPS[node.op](node, *operands)
    return [known[value.name] for value in program.outputs]


def relative_error(found: Any, expected: Any) -> float:
    """Returns the greatest difference over the greatest element, infinite for another shape or a NaN."""
    if found.shape != expected.shape:
        return math.inf
    if not expected.size:
        return 0.0
    error = float(np.max(np.abs(found.astype(np.float64) - expected)))
    return error / max(float(np.max(np.abs(expected))), 1e-30) if error == error else math.inf


def erf(x: Any) -> Any:
    """`math.erf` of each element."""
    return np.frompyfunc(math.erf, 1, 1)(x).astype(np.float64)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


ACTIVATIONS: dict[str | None, Callable[[Any], Any]] = {
    None: lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "gelu": lambda x: x / 2 * (1 + erf(x / math.sqrt(2))),
}


def _matmul(node: Node, a: Any, b: Any) -> Any:
    if a.dtype.kind == "i":  # exact in float64, which has a fast product
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)
    return a @ b


def _linear(node: Node, x: Any, w: Any, *bias: Any) -> Any:
    return ACTIVATIONS[node["activation"]](x @ w + (bias[0] if bias else 0))


def _conv(node: Node, x: Any, w: Any, b: Any) -> Any:
    pad, stride = node["pad"], node["stride"]
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    if node["groups"] == w.shape[0] == x.shape[1]:
        y = np.einsum("nchwrs,crs->nchw", windows, w[:, 0])
    else:
        groups = zip(*(np.split(part, node["groups"], axis) for part, axis in ((windows, 1), (w, 0))), strict=True)
        sums = [np.tensordot(image, kernel, ([1, 4, 5], [1, 2, 3])) for image, kernel in groups]
        y = np.moveaxis(np.concatenate(sums, 3), 3, 1)
    return ACTIVATIONS[node["activation"]](y + b[:, None, None])


def _layer_norm(node: Node, x: Any, scale: Any, offset: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON) * scale + offset


def _attention(node: Node, q: Any, k: Any, v: Any) -> Any:
    batch, length, hidden = q.shape
    size = hidden // node["heads"]
    q, k, v = (x.reshape(batch, length, -1, size).transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = softmax(q @ k.transpose(0, 1, 3, 2) / math.sqrt(size))
    return (scores @ v).transpose(0, 2, 1, 3).reshape(batch, length, hidden)


OPS: dict[str, Callable[..., Any]] = {
    "matmul": _matmul,
    "linear": _linear,
    "conv": _conv,
    "layer_norm": _layer_norm,
    "attention": _attention,
    "identity": lambda node, x: x,
    "add": lambda node, x, y: x + y,
    "subtract": lambda node, x, y: x - y,
    "multiply": lambda node, x, y: x * y,
    "relu": lambda node, x: np.maximum(x, 0),
    "exp": lambda node, x: np.exp(x),
    "tanh": lambda node, x: np.tanh(x),
    "erf": lambda node, x: erf(x),
    "gelu": lambda node, x: ACTIVATIONS["gelu"](x),
    "gelu_tanh": lambda node, x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "sigmoid": lambda node, x: sigmoid(x),
    "silu": lambda node, x: x * sigmoid(x),
    "softmax": lambda node, x: softmax(x),
    "transpose": lambda node, x: x.T,
    "sum": lambda node, x: x.sum(node["axis"]),
}
