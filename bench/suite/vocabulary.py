"""
One neutral description of a case: a short list of nodes, from which each engine makes its own program.

Images are described as NCHW and filters as OIHW; an engine may hold them in any layout. Weights of products are [K, N].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """A tensor of the program, which is constant when it is among the weights."""

    name: str
    shape: Shape
    dtype: str = "float32"

    @property
    def bytes(self) -> int:
        return prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Node:
    """`result = op(operands, **attributes)`."""

    op: str
    operands: tuple[Value, ...]
    result: Value
    attributes: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.attributes[name]


@dataclass
class Program:
    """Inputs and weights, then nodes in order. It is also the builder that makes them, with the shapes."""

    inputs: list[Value] = field(default_factory=list)
    weights: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)

    def input(self, *shape: int, dtype: str = "float32") -> Value:
        self.inputs.append(Value(f"x{len(self.inputs)}", shape, dtype))
        return self.inputs[-1]

    def weight(self, *shape: int, dtype: str = "float32") -> Value:
        self.weights.append(Value(f"w{len(self.weights)}", shape, dtype))
        return self.weights[-1]

    def node(self, op: str, shape: Shape, *operands: Value, dtype: str = "float32", **attributes: Any) -> Value:
        """Adds a node and returns its result."""
        result = Value(f"t{len(self.nodes)}", shape, dtype)
        self.nodes.append(Node(op, operands, result, attributes))
        return result

    def matmul(self, a: Value, b: Value, dtype: str = "float32") -> Value:
        return self.node("matmul", (*a.shape[:-1], b.shape[-1]), a, b, dtype=dtype)

    def linear(self, x: Value, features: int, activation: str | None = None, bias: bool = True) -> Value:
        """`activation(x @ W + b)` with constant W [K, N] and b [N]."""
        constants = [self.weight(x.shape[-1], features)] + ([self.weight(features)] if bias else [])
        return self.node("linear", (*x.shape[:-1], features), x, *constants, activation=activation)

    def conv(
        self,
        x: Value,
        channels: int,
        kernel: int,
        stride: int = 1,
        groups: int = 1,
        activation: str | None = "relu",
    ) -> Value:
        """`activation(conv(x, W) + b)`, padded by half the kernel on each side."""
        n, c, height, width = x.shape
        w, b = self.weight(channels, c // groups, kernel, kernel), self.weight(channels)
        pad = kernel // 2
        size = [(extent + 2 * pad - kernel) // stride + 1 for extent in (height, width)]
        shape = (n, channels, *size)
        return self.node("conv", shape, x, w, b, stride=stride, pad=pad, groups=groups, activation=activation)

    def unary(self, op: str, x: Value) -> Value:
        return self.node(op, x.shape, x)

    def binary(self, op: str, x: Value, y: Value) -> Value:
        return self.node(op, x.shape, x, y)

    def layer_norm(self, x: Value) -> Value:
        """Over the last axis, with constant scale and offset, epsilon 1e-5."""
        scale, offset = self.weight(x.shape[-1]), self.weight(x.shape[-1])
        return self.node("layer_norm", x.shape, x, scale, offset)

    def attention(self, q: Value, k: Value, v: Value, heads: int) -> Value:
        """Adds attention of [batch, sequence, hidden], scaled by the root of the size of a head, without a mask."""
        return self.node("attention", q.shape, q, k, v, heads=heads)

    @property
    def is_image(self) -> bool:
        """Returns whether its values of rank 4 are images."""
        return any(node.op == "conv" for node in self.nodes)

    @property
    def flops(self) -> int:
        """
        Counts multiplications and additions of products and convolutions. Those of elementwise ops are not counted.
        """
        return sum(map(node_flops, self.nodes))

    @property
    def bytes(self) -> int:
        """Counts the bytes that must move at the least: inputs, weights and outputs, once each."""
        return sum(value.bytes for value in (*self.inputs, *self.weights, *self.outputs))


def node_flops(node: Node) -> int:
    """Floating-point (or integer) operations of products in a node."""
    result = prod(node.result.shape)
    match node.op:
        case "matmul" | "linear":
            return 2 * result * node.operands[0].shape[-1]
        case "conv":
            return 2 * result * prod(node.operands[1].shape[1:])
        case "attention":
            return 4 * result * node.operands[1].shape[-2]
        case _:
            return 0
