"""Mixtures of experts: attributes and operands that are checked, and the experts that they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects.graph.shapes import Shaped
from ....lazy_dataclass import dataclass
from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..value import Value
from .expert_layers import ACTIVATIONS, GATED, Activation, Experts, Layer, Packing
from .packed_weights import LEAST_BLOCK, check_numbers

FLOATS: Final = ("f32", "f16", "bf16")

BITS: Final = (2, 4, 8)
"""The bits of packed weights. Those of 3 bits, which onnxruntime has, are cut by the ends of bytes."""

BEYOND: Final = tuple(
    f"fc{number}_{what}" for what in ("global_scale", "act_scale", "act_block_scale") for number in (1, 2)
)
"""The last inputs of QMoE, which belong to weights that are no integers."""


def activation_of(name: str, fusion: int, alpha: float, beta: float, limit: float, after: int) -> Activation:
    """Returns what stands between the products. Raises `ConversionError` for attributes that do not fit."""
    if name not in ACTIVATIONS:
        raise ConversionError(f"activation_type is '{name}', expected {', '.join(ACTIVATIONS)}")
    if fusion not in (0, 1, 2):
        raise ConversionError(f"swiglu_fusion is {fusion}, expected 0 to 2")
    if name == "geglu" and not fusion:
        raise ConversionError("swiglu_fusion is 0, expected 1 or 2 with geglu")
    if not limit >= 0:
        raise ConversionError(f"swiglu_limit is {limit}, expected 0 or more")
    if after and name != "swiglu":
        raise ConversionError(f"swiglu_limit_after_activation is set with {name}, expected it with swiglu")
    return Activation(name, fusion, alpha, beta, limit, bool(after))


@dataclass(frozen=True)
class Sizes:
    """The extents of the input and of its scores: rows, numbers of each, and experts."""

    rows: int
    hidden: int
    experts: int


def sizes_of(b: GraphBuilder, x: Value, router_probs: Value, router_weights: Value | None, k: int) -> Sizes:
    """Returns the sizes of the input. Raises `ConversionError` unless there are scores of each row."""
    if x.rank not in (2, 3) or x.dtype not in FLOATS:
        raise ConversionError(f"the input is {x.shaped}, expected rank 2 or 3 and elements of {', '.join(FLOATS)}")
    if router_probs.rank != 2:
        raise ConversionError(f"router_probs is {router_probs.shaped}, expected a row of scores for each row of x")
    extents = [b.extent(x, axis, "the input") for axis in range(x.rank)]
    rows = extents[0] * (extents[1] if x.rank == 3 else 1)
    experts = b.extent(router_probs, 1, "router_probs")
    for what, value in (("router_probs", router_probs), ("router_weights", router_weights)):
        if value is not None:
            _expect(value, what, x.dtype, (rows, experts))
    if not 1 <= k <= experts:
        raise ConversionError(f"k is {k}, expected 1 to {experts}, the number of experts")
    return Sizes(rows, extents[-1], experts)


def check_packing(
    quant_type: str, prepacked: int, bits: Sequence[int], block_size: int, others: Sequence[Value | None]
) -> None:
    """Raises `ConversionError` for weights that are packed in another way."""
    if quant_type != "int":
        raise ConversionError(f"quant_type is '{quant_type}', expected 'int': weights that are integers")
    if prepacked not in (-1, 0):
        raise ConversionError(f"weights_prepacked is {prepacked}, expected 0: the layout is that of another machine")
    if wrong := [each for each in bits if each not in BITS]:
        expected = ", ".join(map(str, BITS[:-1]))
        raise ConversionError(f"weights have {wrong[0]} bits, expected {expected} or {BITS[-1]}")
    if block_size and (block_size < LEAST_BLOCK or block_size & (block_size - 1)):
        raise ConversionError(f"block_size is {block_size}, expected a power of 2 of at least {LEAST_BLOCK}, or 0")
    for number, value in enumerate(others):
        if number >= len(BEYOND):
            raise ConversionError(f"the node has {15 + len(others)} inputs, expected at most {15 + len(BEYOND)}")
        if value is not None:
            raise ConversionError(f"{BEYOND[number]} is given, expected none with weights that are integers")


@dataclass(frozen=True)
class Operands:
    """What a product of all experts takes. Only packed weights have scales."""

    weights: Value | None
    bias: Value | None
    packing: Packing | None = None
    scales: Value | None = None
    zero_points: Value | None = None

    def layer(self, number: int, dtype: str, experts: int, outputs: int, inputs: int) -> Layer:
        """Returns the product `number`. Raises `ConversionError` unless all is there and has its shape."""
        name = f"fc{number}"
        if self.weights is None:
            raise ConversionError(f"{name}_experts_weights is missing")
        if self.bias is not None:
            _expect(self.bias, f"{name}_experts_bias", dtype, (experts, outputs))
        packing = self.packing
        if packing is None:
            _expect(self.weights, f"{name}_experts_weights", dtype, (experts, outputs, inputs))
            return Layer(self.weights, self.bias)
        if inputs % (packing.block_size or 8 // packing.bits):
            blocks = f"blocks of {packing.block_size}" if packing.block_size else f"bytes of {packing.bits} bits"
            raise ConversionError(f"rows of {name}_experts_weights have {inputs} numbers, expected whole {blocks}")
        columns = inputs * packing.bits // 8
        _expect(self.weights, f"{name}_experts_weights", "ui8", (experts, outputs, columns))
        blocks = inputs // packing.block_size if packing.block_size else 0
        self._check_scales(name, dtype, (experts, outputs), blocks)
        whole = Packing(packing.bits, packing.block_size or inputs, packing.rounded_bits)
        return Layer(self.weights, self.bias, whole, self.scales, self.zero_points)

    def _check_scales(self, name: str, dtype: str, outputs: tuple[int, int], blocks: int) -> None:
        """Raises `ConversionError` for scales and zero points that do not fit. `blocks` is 0 for one for all inputs."""
        assert self.packing is not None
        if self.scales is None:
            raise ConversionError(f"{name}_scales is missing")
        one = not blocks and self.scales.rank == 3
        _expect(self.scales, f"{name}_scales", dtype, (*outputs, blocks or 1) if blocks or one else outputs)
        check_numbers(f"{name}_scales", self.scales)
        if self.zero_points is not None:
            bits = self.packing.bits
            packed = (*outputs, -(-blocks * bits // 8)) if blocks else (outputs[0], -(-outputs[1] * bits // 8))
            _expect(self.zero_points, f"{name}_zero_points", "ui8", packed)


def experts_of(
    b: GraphBuilder, x: Value, sizes: Sizes, operands: Sequence[Operands], activation: Activation
) -> Experts:
    """Returns the experts. The inputs of the second product say how many numbers they have inside."""
    first, second, third = operands
    inner = _inner_size(b, second)
    needs_third = activation.name in GATED and not activation.is_fused
    given = [each for each in (third.weights, third.bias, third.scales, third.zero_points) if each is not None]
    if needs_third and third.weights is None:
        raise ConversionError("fc3_experts_weights is missing, expected it with swiglu_fusion 0")
    if activation.is_fused and given:
        raise ConversionError(f"fc3 is given with swiglu_fusion {activation.fusion}, expected it in fc1 then")
    outputs = 2 * inner if activation.is_fused else inner
    return Experts(
        sizes.experts,
        first.layer(1, x.dtype, sizes.experts, outputs, sizes.hidden),
        second.layer(2, x.dtype, sizes.experts, sizes.hidden, inner),
        third.layer(3, x.dtype, sizes.experts, inner, sizes.hidden) if given else None,
        activation,
    )


def _inner_size(b: GraphBuilder, second: Operands) -> int:
    if second.weights is None:
        raise ConversionError("fc2_experts_weights is missing")
    if second.weights.rank != 3:
        raise ConversionError(f"fc2_experts_weights is {second.weights.shaped}, expected a matrix for each expert")
    columns = b.extent(second.weights, 2, "fc2_experts_weights")
    return columns if second.packing is None else columns * 8 // second.packing.bits


def _expect(value: Value, what: str, dtype: str, shape: tuple[int, ...]) -> None:
    if value.dtype != dtype or value.shape != shape:
        raise ConversionError(f"{what} is {value.shaped}, expected {Shaped(shape, dtype)}")
