"""
The products of an expert with its rows, which are formed for the experts that are chosen, and for no others.

The weights of an expert are a constant each, as the kernels have them in panels that are laid out when the program is
loaded. A loop goes over tiles of rows, and branches lead to the products of the expert of a tile. Weights that are not
known then are taken out of the tensor of all experts, which copies them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ....lazy_dataclass import dataclass
from ..emitting.graph_builder import GraphBuilder
from ..emitting.values import KnownValue
from ..value import Value
from .activations import swish
from .expert_routing import Tiles
from .packed_bits import as_four_bits, numbers_of
from .steps import branch, repeat

GATED: Final = ("swiglu", "geglu")
"""The activations of pairs of numbers."""

ACTIVATIONS: Final = ("relu", "gelu", "silu", "identity", "relu2", *GATED)


@dataclass(frozen=True)
class Activation:
    """What stands between the products. `fusion` says where pairs are: next to each other (1) or in two halves (2)."""

    name: str
    fusion: int = 0
    alpha: float = 1.0
    beta: float = 0.0
    limit: float = float("inf")
    limited_after: bool = False

    @property
    def is_fused(self) -> bool:
        """Returns whether one product gives both numbers of a pair."""
        return self.name in GATED and self.fusion > 0

    def of(self, b: GraphBuilder, x: Value, other: Value | None) -> Value:
        """Returns the activation of `x`, times `other` where there is one."""
        if self.is_fused:
            x, other = self._pairs(b, x)
        if self.name == "swiglu":
            assert other is not None
            return self._swiglu(b, x, other)
        result = self._of_one(b, x)
        return result if other is None else b.multiply(result, other)

    def _pairs(self, b: GraphBuilder, x: Value) -> tuple[Value, Value]:
        width = x.shape[1] or 0
        if self.fusion == 2:
            return b.split(x, sections=2, axis=1)
        first, second = (
            b.strided_slice(x, axes=(1,), begin=(number,), end=(width,), strides=(2,)) for number in range(2)
        )
        return first, second

    def _of_one(self, b: GraphBuilder, x: Value) -> Value:
        match self.name:
            case "relu":
                return b.relu(x)
            case "relu2":
                return b.square(b.relu(x))
            case "silu":
                return b.silu(x)
            case "gelu" | "geglu":
                return b.gelu(x, approximate="tanh")
            case _:
                return x

    def _swiglu(self, b: GraphBuilder, gate: Value, other: Value) -> Value:
        limit = self.limit
        if limit < float("inf"):
            other = b.clip(other, min=-limit, max=limit)
            gate = gate if self.limited_after else b.clip(gate, max=limit)
        gate = swish(b, gate, alpha=self.alpha)
        if self.limited_after and limit < float("inf"):
            gate = b.clip(gate, max=limit)
        return b.multiply(gate, b.add(other, self.beta) if self.beta else other)


@dataclass(frozen=True)
class Packing:
    """The form of packed weights: bits, the numbers that share a scale, and the bits that rows are rounded to, or 0."""

    bits: int
    block_size: int
    rounded_bits: int = 0


@dataclass(frozen=True)
class Layer:
    """A product with a matrix of each expert, `experts x outputs x inputs`, which may be packed."""

    weights: Value
    bias: Value | None
    packing: Packing | None = None
    scales: Value | None = None
    zero_points: Value | None = None

    def of(self, b: GraphBuilder, x: Value, expert: int | Value) -> Value:
        """Returns the product of rows with the matrix of an expert, plus its bias, in f32."""
        weights = part(b, self.weights, expert)
        if self.packing is None:
            result = b.matmul(x, b.permute_dims(_wide(b, weights), axes=(1, 0)))
        else:
            result = self._packed(b, x, weights, expert, self.packing)
        return result if self.bias is None else b.add(result, _wide(b, part(b, self.bias, expert)))

    def _packed(self, b: GraphBuilder, x: Value, weights: Value, expert: int | Value, packing: Packing) -> Value:
        assert self.scales is not None
        rows, bits = weights.shape[0] or 0, packing.bits
        blocks = (x.shape[1] or 0) // packing.block_size
        scale = b.reshape(_wide(b, part(b, self.scales, expert)), shape=(rows, blocks))
        zeros = b.full((), 2 ** (bits - 1), "ui8")
        if self.zero_points is not None:
            own = part(b, self.zero_points, expert)
            zeros = numbers_of(b, own, bits, blocks if own.rank == 2 else rows)
            zeros = _shaped(b, zeros, (rows, blocks))
        if bits == 2:
            weights, bits = as_four_bits(b, weights, (rows, (x.shape[1] or 0) // 2)), 4
        options = {"block_size": packing.block_size, "rounded_bits": packing.rounded_bits}
        return b.matmul_packed(x, weights, scale, zeros, bits=bits, **options)


@dataclass(frozen=True)
class Experts:
    """All experts. `third` is multiplied with the activation of `first`."""

    count: int
    first: Layer
    second: Layer
    third: Layer | None
    activation: Activation

    def of(self, b: GraphBuilder, x: Value, tiles: Tiles) -> Value:
        """Returns the results of the tiles, `places x outputs`, and zeros beyond the last one."""
        wide = _wide(b, x)
        width = self.second.weights.shape[1] or 0
        room = b.full((tiles.most, tiles.height, width), 0.0, "f32")

        def body(number: Value, carried: list[Value]) -> list[Value]:
            rows = b.take(wide, b.take(tiles.rows, number, axis=0), axis=0)
            result = self._chosen(b, rows, b.take(tiles.experts, number, axis=0))
            return [b.scatter_nd(carried[0], b.reshape(number, shape=(1,)), result)]

        found = repeat(b, tiles.count, [room], body)[0]
        return b.reshape(found, shape=(tiles.most * tiles.height, width))

    def _chosen(self, b: GraphBuilder, x: Value, expert: Value) -> Value:
        """Returns what one expert makes of rows, whose number the run says."""
        layers = [each for each in (self.first, self.second, self.third) if each is not None]
        if any(each.weights.known is None for each in layers):
            return self._one(b, x, expert)
        return self._among(b, x, expert, 0, self.count)

    def _among(self, b: GraphBuilder, x: Value, expert: Value, low: int, high: int) -> Value:
        """Returns the result of the expert, one of those from `low` to before `high`, by halves."""
        if high - low == 1:
            return self._one(b, x, low)
        middle = (low + high) // 2
        found = branch(
            b,
            b.less(expert, middle),
            lambda: [self._among(b, x, expert, low, middle)],
            lambda: [self._among(b, x, expert, middle, high)],
        )
        return found[0]

    def _one(self, b: GraphBuilder, x: Value, expert: int | Value) -> Value:
        hidden = self.first.of(b, x, expert)
        other = None if self.third is None else self.third.of(b, x, expert)
        return self.second.of(b, self.activation.of(b, hidden, other), expert)


# Parts of tensors


def part(b: GraphBuilder, value: Value, expert: int | Value) -> Value:
    """Returns what a tensor has for one expert. A part of known weights stays where the whole is."""
    known = value.known
    if isinstance(expert, Value):
        return b.take(value, expert, axis=0)
    if known is not None:
        return KnownValue(known[expert], f"{getattr(value, 'key', 'constant')}.{expert}")
    return b.take(value, b.constant(np.array(expert, np.int64)), axis=0)


def _wide(b: GraphBuilder, x: Value) -> Value:
    return x if x.dtype == "f32" else b.astype(x, dtype="f32")


def _shaped(b: GraphBuilder, x: Value, shape: tuple[int, ...]) -> Value:
    """Returns `x` in another shape, known where it is known."""
    return KnownValue(x.known.reshape(shape)) if x.known is not None else b.reshape(x, shape=shape)
