"""
Mixtures of experts: MoE and QMoE of the set `com.microsoft`.

Both are computed in f32 and rounded once. Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from typing import Final

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .expert_checks import Operands, Sizes, activation_of, check_packing, experts_of, sizes_of
from .expert_layers import Experts, Packing
from .expert_routing import (
    Routes,
    by_given_weights,
    by_softmax_of_all,
    by_softmax_of_chosen,
    by_sparse_mixer,
    height_of,
    tiles_of,
)
from .quantized_fusions import DOMAIN
from .signed_bytes import cast

ROUNDED: Final = 4
"""The `accuracy_level` that rounds rows to 8 bits."""

MIXED: Final = 2
"""The number of experts that the sparse mixer chooses for a row."""


@converter("MoE", domain=DOMAIN)
def moe(
    b: GraphBuilder,
    x: Value,
    router_probs: Value,
    fc1_experts_weights: Value,
    fc1_experts_bias: Value | None = None,
    fc2_experts_weights: Value | None = None,
    fc2_experts_bias: Value | None = None,
    fc3_experts_weights: Value | None = None,
    fc3_experts_bias: Value | None = None,
    *,
    activation_type: str = "relu",
    activation_alpha: float = 1.0,
    activation_beta: float = 0.0,
    k: int = 1,
    normalize_routing_weights: int = 0,
    swiglu_fusion: int = 0,
    swiglu_limit: float = float("inf"),
    swiglu_limit_after_activation: int = 0,
    use_sparse_mixer: int = 0,
) -> Value:
    """
    Returns the sum of what the `k` best experts make of each row, times their probabilities among all experts.

    An expert is `fc2(activation(fc1(x)) * fc3(x))`, without the last factor where there is no `fc3`.
    """
    limits = (swiglu_limit, swiglu_limit_after_activation)
    activation = activation_of(activation_type, swiglu_fusion, activation_alpha, activation_beta, *limits)
    sizes = sizes_of(b, x, router_probs, None, k)
    operands = [
        Operands(fc1_experts_weights, fc1_experts_bias),
        Operands(fc2_experts_weights, fc2_experts_bias),
        Operands(fc3_experts_weights, fc3_experts_bias),
    ]
    experts = experts_of(b, x, sizes, operands, activation)
    scores = cast(b, router_probs, "f32")
    if use_sparse_mixer:
        return _sum(b, x, sizes, _mixed(b, scores, k), experts)
    return _sum(b, x, sizes, by_softmax_of_all(b, scores, k, normalize_routing_weights == 1), experts)


@converter("QMoE", domain=DOMAIN)
def qmoe(
    b: GraphBuilder,
    x: Value,
    router_probs: Value,
    fc1_experts_weights: Value,
    fc1_scales: Value | None = None,
    fc1_experts_bias: Value | None = None,
    fc2_experts_weights: Value | None = None,
    fc2_scales: Value | None = None,
    fc2_experts_bias: Value | None = None,
    fc3_experts_weights: Value | None = None,
    fc3_scales: Value | None = None,
    fc3_experts_bias: Value | None = None,
    fc1_zero_points: Value | None = None,
    fc2_zero_points: Value | None = None,
    fc3_zero_points: Value | None = None,
    router_weights: Value | None = None,
    *others: Value | None,
    activation_type: str = "relu",
    activation_alpha: float = 1.0,
    activation_beta: float = 0.0,
    k: int = 1,
    normalize_routing_weights: int = 0,
    swiglu_fusion: int = 0,
    swiglu_limit: float = float("inf"),
    swiglu_limit_after_activation: int = 0,
    use_sparse_mixer: int = 0,
    expert_weight_bits: int = 4,
    fc1_expert_weight_bits: int | None = None,
    fc2_expert_weight_bits: int | None = None,
    fc3_expert_weight_bits: int | None = None,
    block_size: int = 0,
    accuracy_level: int = 0,
    quant_type: str = "int",
    weights_prepacked: int = -1,
) -> Value:
    """
    Returns the same sum with packed weights, times probabilities among the `k` best experts, or `router_weights`.

    Without `block_size` each output has one scale.
    """
    own_bits = (fc1_expert_weight_bits, fc2_expert_weight_bits, fc3_expert_weight_bits)
    bits = [expert_weight_bits if each is None else each for each in own_bits]
    check_packing(quant_type, weights_prepacked, bits, block_size, others)
    limits = (swiglu_limit, swiglu_limit_after_activation)
    activation = activation_of(activation_type, swiglu_fusion, activation_alpha, activation_beta, *limits)
    sizes = sizes_of(b, x, router_probs, router_weights, k)
    rounded = 8 if accuracy_level == ROUNDED and block_size else 0
    first, second, third = (Packing(each, block_size, rounded) for each in bits)
    operands = [
        Operands(fc1_experts_weights, fc1_experts_bias, first, fc1_scales, fc1_zero_points),
        Operands(fc2_experts_weights, fc2_experts_bias, second, fc2_scales, fc2_zero_points),
        Operands(fc3_experts_weights, fc3_experts_bias, third, fc3_scales, fc3_zero_points),
    ]
    experts = experts_of(b, x, sizes, operands, activation)
    scores = cast(b, router_probs, "f32")
    if router_weights is not None and use_sparse_mixer:
        raise ConversionError("router_weights is given with use_sparse_mixer, expected one of them")
    if use_sparse_mixer:
        return _sum(b, x, sizes, _mixed(b, scores, k), experts)
    if router_weights is None:
        return _sum(b, x, sizes, by_softmax_of_chosen(b, scores, k), experts)
    given = cast(b, router_weights, "f32")
    return _sum(b, x, sizes, by_given_weights(b, scores, k, given, normalize_routing_weights == 1), experts)


def _mixed(b: GraphBuilder, scores: Value, k: int) -> Routes:
    """Returns the routes of the sparse mixer. onnxruntime has it on GPUs, and ignores the attribute elsewhere."""
    if k != MIXED:
        raise ConversionError(f"k is {k}, expected {MIXED} with use_sparse_mixer")
    return by_sparse_mixer(b, scores)


def _sum(b: GraphBuilder, x: Value, sizes: Sizes, routes: Routes, experts: Experts) -> Value:
    """
    Returns the sum over the experts of each row.

    An expert whose weight is none adds nothing, though it may have given infinities.
    """
    shape = tuple(each or 0 for each in x.shape)
    pairs, k = routes.count, routes.experts.shape[1] or 0
    if not sizes.rows:
        return b.full(shape, 0.0, x.dtype)
    tiles = tiles_of(b, routes, sizes.experts, height_of(pairs, sizes.experts))
    found = experts.of(b, b.reshape(x, shape=(sizes.rows, sizes.hidden)), tiles)
    if tiles.places is not None:
        found = b.take(found, tiles.places, axis=0)
    parts = b.reshape(found, shape=(sizes.rows, k, sizes.hidden))
    weights = b.expand_dims(routes.weights, axis=(2,))
    counted = b.where(b.greater(weights, routes.least), b.multiply(parts, weights), b.full((), 0.0, "f32"))
    total = b.sum(counted, axis=(1,))
    return cast(b, b.reshape(total, shape=shape), x.dtype)
