"""Inputs of attention with caches, and what turns positions into angles, for the tests of its operators."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any

INPUTS = [
    "query",
    "key",
    "value",
    "past_key",
    "past_value",
    "seqlens_k",
    "total_sequence_length",
    "cos_cache",
    "sin_cache",
    "position_ids",
    "attention_bias",
    "head_sink",
    "k_scale",
    "v_scale",
    "q_norm_weight",
    "k_norm_weight",
    "query_seqlens",
]


def floats(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def turned(x: Array, cos: Array, sin: Array, interleaved: bool) -> Array:
    """`x` is sequence x heads x size, `cos` sequence x pair."""
    width = 2 * cos.shape[1]
    cos, sin, result = cos[:, None], sin[:, None], x.copy()
    first, second = (slice(0, width, 2), slice(1, width, 2)) if interleaved else (slice(width // 2), None)
    second = slice(width // 2, width) if second is None else second
    left, right = x[..., first], x[..., second]
    result[..., first], result[..., second] = left * cos - right * sin, left * sin + right * cos
    return result
