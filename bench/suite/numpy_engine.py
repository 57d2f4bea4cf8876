"""NumPy: one call per op, into arrays made beforehand. Images are NHWC, and convolutions one product per tap."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .engine import Unsupported, Variant, attempt, straight_line
from .reference import EPSILON, Arrays
from .vocabulary import Node, Program, Value


def variants(program: Program, arrays: Arrays) -> Iterator[Variant | Exception]:
    yield attempt(_variant, program, arrays)


def _variant(program: Program, arrays: Arrays) -> Variant:
    names = {name: _own_layout(program, value, array) for name, value, array in _constants(program, arrays)}
    names |= {"np": np, "conv": conv, "attention": attention}
    lines: list[str] = []
    for node in program.nodes:
        if node.op not in LINES:
            raise Unsupported(f"numpy has no {node.op}")
        shape = node.result.shape
        if program.is_image and len(shape) == 4:
            shape = tuple(shape[i] for i in (0, 2, 3, 1))
        names[node.result.name] = np.empty(shape, node.result.dtype)
        lines += LINES[node.op](node, *(value.name for value in node.operands))
    run = straight_line(lines, names, [value.name for value in program.outputs])

    def outputs() -> list[Any]:
        results = [names[value.name] for value in program.outputs]
        return [np.moveaxis(r, 3, 1) if program.is_image and r.ndim == 4 else r for r in results]

    return Variant("out=", run, outputs)


def _constants(program: Program, arrays: Arrays) -> Iterator[tuple[str, Value, Any]]:
    for value in (*program.inputs, *program.weights):
        yield value.name, value, arrays[value.name]


def _own_layout(program: Program, value: Value, array: Any) -> Any:
    """Images as NHWC, filters as HWIO, bytes that are multiplied as floats (exact: sums stay below 2^24)."""
    if value in program.weights and value.dtype == "int8":
        return array.astype(np.float32)
    if program.is_image and array.ndim == 4:
        axes = (2, 3, 1, 0) if value in program.weights else (0, 2, 3, 1)
        return np.ascontiguousarray(array.transpose(axes))
    return array


def conv(x: Any, w: Any, b: Any, out: Any, stride: int, pad: int, groups: int) -> None:
    """
    A convolution of NHWC with HWIO, as one product per tap and group, or one multiplication per tap where each channel
    is a group.
    """
    if pad:
        x = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    height, width = out.shape[1:3]
    depthwise = groups == x.shape[-1] == out.shape[-1]
    ins, outs = x.shape[-1] // groups, out.shape[-1] // groups
    out[...] = b
    for r in range(w.shape[0]):
        for s in range(w.shape[1]):
            part = x[:, r : r + stride * height : stride, s : s + stride * width : stride][:, :height, :width]
            if depthwise:
                out += part * w[r, s, 0]
                continue
            for group in range(groups):
                to = slice(group * outs, (group + 1) * outs)
                out[..., to] += part[..., group * ins : (group + 1) * ins] @ w[r, s, :, to]


def attention(q: Any, k: Any, v: Any, out: Any, heads: int) -> None:
    """Computes products and a softmax per head. `out` is [batch, sequence, hidden]."""
    batch, length, hidden = q.shape
    size = hidden // heads
    q, k, v = (x.reshape(batch, length, heads, size).transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2)
    scores *= np.float32(1 / math.sqrt(size))
    np.exp(scores - scores.max(-1, keepdims=True), out=scores)
    scores /= scores.sum(-1, keepdims=True)
    out.reshape(batch, length, heads, size)[...] = (scores @ v).transpose(0, 2, 1, 3)


def _activation(name: str | None, t: str) -> list[str]:
    match name:
        case None:
            return []
        case "relu":
            return [f"np.maximum({t}, 0, out={t})"]
        case "relu6":
            return [f"np.clip({t}, 0, 6, out={t})"]
        case _:
            raise Unsupported(f"numpy has no {name}")


def _linear(node: Node, x: str, w: str, *bias: str) -> list[str]:
    t = node.result.name
    lines = [f"np.matmul({x}, {w}, out={t})", *(f"np.add({t}, {b}, out={t})" for b in bias)]
    return lines + _activation(node["activation"], t)


def _matmul(node: Node, a: str, b: str) -> list[str]:
    t = node.result.name
    if node.result.dtype == "int32":
        return [f"{t}[...] = {a}.astype(np.float32) @ {b}"]
    return [f"np.matmul({a}, {b}, out={t})"]


def _conv(node: Node, x: str, w: str, b: str) -> list[str]:
    t = node.result.name
    call = f"conv({x}, {w}, {b}, {t}, {node['stride']}, {node['pad']}, {node['groups']})"
    return [call, *_activation(node["activation"], t)]


def _sigmoid(node: Node, x: str) -> list[str]:
    t = node.result.name
    steps = [f"np.negative({x}, out={t})", f"np.exp({t}, out={t})", f"np.add({t}, 1, out={t})"]
    return [*steps, f"np.divide({'1' if node.op == 'sigmoid' else x}, {t}, out={t})"]


def _gelu_tanh(node: Node, x: str) -> list[str]:
    t = node.result.name
    return [
        f"np.multiply({x}, {x}, out={t})",
        f"np.multiply({t}, {0.044715 * math.sqrt(2 / math.pi)}, out={t})",
        f"np.add({t}, {math.sqrt(2 / math.pi)}, out={t})",
        f"np.multiply({t}, {x}, out={t})",
        f"np.tanh({t}, out={t})",
        f"np.add({t}, 1, out={t})",
        f"np.multiply({t}, {x}, out={t})",
        f"np.multiply({t}, 0.5, out={t})",
    ]


def _softmax(node: Node, x: str) -> list[str]:
    t = node.result.name
    return [
        f"np.subtract({x}, {x}.max(-1, keepdims=True), out={t})",
        f"np.exp({t}, out={t})",
        f"np.divide({t}, {t}.sum(-1, keepdims=True), out={t})",
    ]


def _layer_norm(node: Node, x: str, scale: str, offset: str) -> list[str]:
    t = node.result.name
    return [
        f"np.subtract({x}, {x}.mean(-1, keepdims=True), out={t})",
        f"factor = 1 / np.sqrt((np.vecdot({t}, {t}) / {node.result.shape[-1]} + {EPSILON}))[..., None]",
        f"np.multiply({t}, factor, out={t})",
        f"np.multiply({t}, {scale}, out={t})",
        f"np.add({t}, {offset}, out={t})",
    ]


def _ufunc(name: str) -> Callable[..., list[str]]:
    return lambda node, *xs: [f"np.{name}({', '.join(xs)}, out={node.result.name})"]


LINES: dict[str, Callable[..., list[str]]] = {
    "matmul": _matmul,
    "linear": _linear,
    "conv": _conv,
    "attention": lambda node, *xs: [f"attention({', '.join(xs)}, {node.result.name}, {node['heads']})"],
    "layer_norm": _layer_norm,
    "softmax": _softmax,
    "sigmoid": _sigmoid,
    "silu": _sigmoid,
    "gelu_tanh": _gelu_tanh,
    "relu": lambda node, x: [f"np.maximum({x}, 0, out={node.result.name})"],
    "identity": lambda node, x: [f"np.copyto({node.result.name}, {x})"],
    "transpose": lambda node, x: [f"np.copyto({node.result.name}, {x}.T)"],
    "sum": lambda node, x: [f"np.sum({x}, axis={node['axis']}, out={node.result.name})"],
    **{name: _ufunc(name) for name in ("exp", "tanh", "add", "subtract", "multiply")},
}
