"""Mixtures of experts: inputs of MoE and QMoE, and what they compute, row by row in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
Function = Callable[[Array, Array | None], Array]

EXPERTS, HIDDEN, INNER = 4, 64, 128


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


SIMPLE: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "relu2": lambda x: np.maximum(x, 0) ** 2,
    "gelu": gelu,
    "silu": lambda x: x * sigmoid(x),
    "identity": lambda x: x,
}


def activated(options: dict[str, Any], x: Array, third: Array | None) -> Array:
    """What stands between the products of an expert, for a row."""
    name, fusion = options.get("activation_type", "relu"), options.get("swiglu_fusion", 0)
    if name in SIMPLE:
        result = SIMPLE[name](x)
        return result if third is None else result * third
    gate, up = {0: lambda: (x, third), 1: lambda: (x[::2], x[1::2]), 2: lambda: np.split(x, 2)}[fusion]()
    if name == "geglu":
        return gelu(gate) * up
    limit, after = options.get("swiglu_limit", np.inf), options.get("swiglu_limit_after_activation", 0)
    gate, up = gate if after else np.minimum(gate, limit), np.clip(up, -limit, limit)
    gate = gate * sigmoid(options.get("activation_alpha", 1.0) * gate)
    return (np.minimum(gate, limit) if after else gate) * (up + options.get("activation_beta", 0.0))


def probabilities(scores: Array) -> Array:
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def mixed(scores: Array) -> list[tuple[int, float]]:
    """The two experts of the sparse mixer of Phi-3.5-MoE with their weights."""
    found, left = [], scores.copy()
    for _ in range(2):
        best = int(left.argmax())
        far = (left[best] - scores) / np.maximum(np.abs(scores), left[best]) > 0.02
        found.append((best, probabilities(np.where(far, -np.inf, left))[best]))
        left[best] = -np.inf
    return found


def routed(options: dict[str, Any], scores: Array, given: Array | None, packed: bool) -> list[tuple[int, float]]:
    """The experts of a row and their weights. Of equal scores the last ones win, as in onnxruntime."""
    if options.get("use_sparse_mixer"):
        return mixed(scores)
    best = sorted(range(len(scores)), key=lambda each: (-scores[each], -each))[: options.get("k", 1)]
    weights = given[best] if given is not None else probabilities(scores[best] if packed else scores[None])
    weights = weights[0][best] if weights.ndim == 2 else weights
    if options.get("normalize_routing_weights"):
        weights = weights / weights.sum() if weights.sum() else np.zeros_like(weights)
    return list(zip(best, weights, strict=True))


def evaluated(inputs: dict[str, Array], options: dict[str, Any]) -> Array:
    """The result of MoE, or of QMoE where there are scales."""
    packed = inputs.get("fc1_scales") is not None
    w = {number: real_weights(inputs, number, options) for number in (1, 2, 3)}
    x = inputs["input"].astype(np.float64)
    rows, given = x.reshape(-1, x.shape[-1]), inputs.get("router_weights")
    result = np.zeros_like(rows)

    def product(number: int, expert: int, row: Array) -> Array:
        matrix, bias = w[number], inputs.get(f"fc{number}_experts_bias")
        return None if matrix is None else matrix[expert] @ row + (0 if bias is None else bias[expert])

    for number, row in enumerate(rows):
        scores = inputs["router_probs"][number].astype(np.float64)
        own = None if given is None else given[number]
        for expert, weight in routed(options, scores, own, packed):
            if weight > 1e-8:
                hidden = activated(options, product(1, expert, row), product(3, expert, row))
                result[number] += weight * product(2, expert, hidden)
    return result.reshape(x.shape)


def numbers(packed: Array, bits: int) -> Array:
    parts = [packed >> shift & (2**bits - 1) for shift in range(0, 8, bits)]
    return np.stack(parts, axis=-1).reshape(*packed.shape[:-1], -1)


def real_weights(inputs: dict[str, Array], number: int, options: dict[str, Any]) -> Array | None:
    """The weights of a product as floats."""
    weights, scales = inputs.get(f"fc{number}_experts_weights"), inputs.get(f"fc{number}_scales")
    if weights is None or scales is None:
        return weights if weights is None else weights.astype(np.float64)
    bits = options.get(f"fc{number}_expert_weight_bits", options.get("expert_weight_bits", 4))
    zeros = inputs.get(f"fc{number}_zero_points")
    scales = scales.astype(np.float64)
    offset = np.full(scales.shape, 2 ** (bits - 1)) if zeros is None else numbers(zeros, bits)
    offset = offset[..., : scales.shape[-1]]
    block = options.get("block_size", 0)
    if block:
        scales, offset = np.repeat(scales, block, axis=-1), np.repeat(offset, block, axis=-1)
    else:
        scales, offset = (each.reshape(*weights.shape[:2], 1) for each in (scales, offset))
    return (numbers(weights, bits).astype(np.float64) - offset) * scales


# Inputs


def shapes_of(options: dict[str, Any], third: bool = False) -> dict[int, tuple[int, int, int]]:
    fused = options.get("activation_type") in ("swiglu", "geglu") and options.get("swiglu_fusion", 0)
    shapes = {1: (EXPERTS, INNER * (2 if fused else 1), HIDDEN), 2: (EXPERTS, HIDDEN, INNER)}
    return shapes | ({3: (EXPERTS, INNER, HIDDEN)} if third else {})


def inputs_of(
    options: dict[str, Any], rows: int = 5, *, third: bool = False, bias: bool = True, dtype: Any = np.float32
) -> dict[str, Array]:
    """The inputs of MoE."""
    random = np.random.default_rng(rows)
    inputs: dict[str, Array] = {
        "input": random.standard_normal((rows, HIDDEN)).astype(dtype),
        "router_probs": random.standard_normal((rows, EXPERTS)).astype(dtype),
    }
    for number, shape in shapes_of(options, third).items():
        inputs[f"fc{number}_experts_weights"] = (random.standard_normal(shape) / 8).astype(dtype)
        inputs[f"fc{number}_experts_bias"] = random.standard_normal(shape[:2]).astype(dtype) if bias else None
    return inputs


def packed_inputs_of(
    options: dict[str, Any], rows: int = 5, *, zeros: bool = False, third: bool = False, dtype: Any = np.float32
) -> dict[str, Array]:
    """The inputs of QMoE."""
    random = np.random.default_rng(rows)
    inputs = inputs_of(options, rows, dtype=dtype)
    result: dict[str, Array] = {name: inputs[name] for name in ("input", "router_probs")}
    block = options.get("block_size", 0)
    points: dict[str, Array] = {}
    for number in (1, 2, 3):
        name, shape = f"fc{number}", shapes_of(options, third).get(number)
        bits = options.get(f"{name}_expert_weight_bits", options.get("expert_weight_bits", 4))
        if shape is None:
            result |= dict.fromkeys((f"{name}_experts_weights", f"{name}_scales", f"{name}_experts_bias"))
            points[f"{name}_zero_points"] = None
            continue
        outputs = (*shape[:2], shape[2] // block) if block else shape[:2]
        bytes_ = (*outputs[:-1], -(-outputs[-1] * bits // 8))
        packed = random.integers(0, 256, (*shape[:2], shape[2] * bits // 8), np.uint8)
        result[f"{name}_experts_weights"] = packed
        result[f"{name}_scales"] = ((0.2 + random.random(outputs)) / 2**bits / 3).astype(dtype)
        result[f"{name}_experts_bias"] = random.standard_normal(shape[:2]).astype(dtype)
        points[f"{name}_zero_points"] = random.integers(0, 256, bytes_, np.uint8) if zeros else None
    return result | points
