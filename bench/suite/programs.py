"""Makes the description of a case of cases.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from .one_op import OneOp
from .vocabulary import Program, Value

Case = dict[str, Any]

CASES = Path(__file__).resolve().parent.parent / "cases.json"

HEAD_COUNT = 12
"""Attention heads of hidden size 384 and 768."""


def load_cases() -> list[Case]:
    """All cases, in the order of the file."""
    return json.loads(CASES.read_text(encoding="utf-8"))["cases"]


def load_classes() -> dict[str, dict[str, Any]]:
    """Name of a class → its title, floor and goal."""
    return json.loads(CASES.read_text(encoding="utf-8"))["classes"]


def describe(case: Case) -> Program:
    """The program of a case. Raises KeyError for a kind there is no builder of. Kind `onnx` is `OneOp` (one_op.py)."""
    if case["kind"] == "onnx":
        return cast(Program, OneOp(case))
    program = Program()
    program.outputs = [BUILDERS[case["kind"]](program, case["sizes"], case)]
    return program


def _gemm(program: Program, sizes: list[int], case: Case) -> Value:
    m, n, k = sizes
    return program.matmul(program.input(m, k), program.input(k, n))


def _linear(program: Program, sizes: list[int], case: Case) -> Value:
    m, n, k = sizes
    return program.linear(program.input(m, k), n, bias=False)


def _int8_gemm(program: Program, sizes: list[int], case: Case) -> Value:
    m, n, k = sizes
    a, b = program.input(m, k, dtype="int8"), program.weight(k, n, dtype="int8")
    return program.matmul(a, b, dtype="int32")


def _conv(program: Program, sizes: list[int], case: Case) -> Value:
    """
    A convolution of the given batch, channels in, channels out, height and width, kernel and stride. Depthwise has one
    group per channel, a grouped one says how many groups.
    """
    batch, channels_in, channels_out, extent, kernel, stride = sizes
    groups = channels_in if case["kind"] == "depthwise" else case.get("groups", 1)
    x = program.input(batch, channels_in, extent, extent)
    return program.conv(x, channels_out, kernel, stride, groups)


def _unary(program: Program, sizes: list[int], case: Case) -> Value:
    return program.unary(case["op"], program.input(*sizes))


def _layer_norm(program: Program, sizes: list[int], case: Case) -> Value:
    return program.layer_norm(program.input(*sizes))


def _chain(program: Program, sizes: list[int], case: Case) -> Value:
    """Eight elementwise ops on three inputs."""
    x, y, z = (program.input(*sizes) for _ in range(3))
    t = program.binary("add", program.binary("multiply", x, y), z)
    t = program.binary("subtract", program.binary("multiply", program.unary("relu", t), x), y)
    t = program.binary("multiply", program.unary("sigmoid", t), z)
    return program.binary("add", t, x)


def _transpose(program: Program, sizes: list[int], case: Case) -> Value:
    x = program.input(*sizes)
    return program.node("transpose", (sizes[1], sizes[0]), x)


def _sum(program: Program, sizes: list[int], case: Case) -> Value:
    x = program.input(*sizes)
    return program.node("sum", (sizes[1 - case["axis"]],), x, axis=case["axis"])


def _mlp(program: Program, sizes: list[int], case: Case) -> Value:
    batch, features, hidden, classes = sizes
    return program.linear(program.linear(program.input(batch, features), hidden, "relu"), classes)


def _resnet_block(program: Program, sizes: list[int], case: Case) -> Value:
    """Two 3×3 convolutions, their batch normalisations folded in, and the residual."""
    batch, channels, extent = sizes
    x = program.input(batch, channels, extent, extent)
    y = program.conv(program.conv(x, channels, 3), channels, 3, activation=None)
    return program.unary("relu", program.binary("add", y, x))


def _mobilenet_block(program: Program, sizes: list[int], case: Case) -> Value:
    """Expansion, depthwise 3×3, projection, and the residual (Sandler et al., *MobileNetV2*, 2018)."""
    batch, channels, extent, expansion = sizes
    x = program.input(batch, channels, extent, extent)
    wide = channels * expansion
    y = program.conv(x, wide, 1, activation="relu6")
    y = program.conv(y, wide, 3, groups=wide, activation="relu6")
    return program.binary("add", program.conv(y, channels, 1, activation=None), x)


def encoder_layer(program: Program, x: Value) -> Value:
    """Attention and a feed-forward network four times as wide, normalised after each residual (BERT)."""
    hidden = x.shape[-1]
    q, k, v = (program.linear(x, hidden) for _ in range(3))
    mixed = program.linear(program.attention(q, k, v, HEAD_COUNT), hidden)
    y = program.layer_norm(program.binary("add", mixed, x))
    wide = program.linear(y, 4 * hidden, "gelu")
    return program.layer_norm(program.binary("add", program.linear(wide, hidden), y))


def _attention(program: Program, sizes: list[int], case: Case) -> Value:
    """Attention of `HEAD_COUNT` heads on queries, keys and values [batch, sequence, hidden] as they are given."""
    q, k, v = (program.input(*sizes) for _ in range(3))
    return program.attention(q, k, v, HEAD_COUNT)


def _encoder(program: Program, sizes: list[int], case: Case) -> Value:
    return encoder_layer(program, program.input(*sizes))


BUILDERS = {
    "gemm": _gemm,
    "linear": _linear,
    "int8_gemm": _int8_gemm,
    "conv": _conv,
    "depthwise": _conv,
    "grouped": _conv,
    "unary": _unary,
    "layer_norm": _layer_norm,
    "chain": _chain,
    "transpose": _transpose,
    "sum": _sum,
    "mlp": _mlp,
    "resnet_block": _resnet_block,
    "mobilenet_block": _mobilenet_block,
    "encoder_layer": _encoder,
    "attention": _attention,
}
