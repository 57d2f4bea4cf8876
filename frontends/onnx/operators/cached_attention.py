"""
Attention with caches of keys and values: GroupQueryAttention of the set `com.microsoft`.

Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....dialects.graph.shapes import compatible, text
from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import Known, converter
from ..value import Value
from .attention import Form, attend, heads_of, packed_heads, parted
from .caches import cache_of, check_caches, step_of, window_cache_of
from .quantised_caches import kept_of
from .quantized_fusions import DOMAIN
from .rotary import turned_heads

SHOWN: Final = {0: 0, 1: 2, 2: 3}
"""The scores that `qk_output` asks for, by what `Form` calls them."""


@converter("GroupQueryAttention", domain=DOMAIN)
def group_query_attention(
    b: GraphBuilder,
    query: Value,
    key: Value | None = None,
    value: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    seqlens_k: Value | None = None,
    total_sequence_length: Known | None = None,
    cos_cache: Value | None = None,
    sin_cache: Value | None = None,
    position_ids: Value | None = None,
    attention_bias: Value | None = None,
    head_sink: Value | None = None,
    k_scale: Value | None = None,
    v_scale: Value | None = None,
    q_norm_weight: Value | None = None,
    k_norm_weight: Value | None = None,
    query_seqlens: Value | None = None,
    *,
    num_heads: int,
    kv_num_heads: int,
    causal: int = 1,
    do_rotary: int = 0,
    rotary_interleaved: int = 0,
    local_window_size: int = -1,
    scale: float = 0.0,
    softcap: float = 0.0,
    smooth_softmax: int = 0,
    qk_output: int = 0,
    qk_norm_epsilon: float = 1e-6,
    q_norm_epsilon: float | None = None,
    k_norm_epsilon: float | None = None,
    k_quant_type: str = "NONE",
    v_quant_type: str = "NONE",
    kv_cache_bit_width: int = 0,
    sliding_window_cache: int = 0,
) -> Any:
    """
    Returns `softmax(cap(q @ k^T * scale) + bias) @ v` and the caches.

    Each query sees the keys up to its own place, and of these the last `local_window_size` where that is given. The
    place of the first query of a sample is `seqlens_k + 1` less their number, or 0 where `total_sequence_length` is
    their number. Places of the caches behind the last key keep what is there. Caches of integers have a scale, and also
    new keys and values are read from them.
    """
    if qk_output not in SHOWN:
        raise ConversionError(f"qk_output is {qk_output}, expected 0 to 2")
    q, k, v = heads_apart(b, query, key, value, num_heads, kv_num_heads)
    if (q_norm_weight is None) != (k_norm_weight is None):
        raise ConversionError("q_norm_weight and k_norm_weight are given one without the other")
    q = _normalised(b, q, q_norm_weight, qk_norm_epsilon if q_norm_epsilon is None else q_norm_epsilon)
    k = _normalised(b, k, k_norm_weight, qk_norm_epsilon if k_norm_epsilon is None else k_norm_epsilon)
    if seqlens_k is None or total_sequence_length is None:
        raise ConversionError("expected the inputs seqlens_k and total_sequence_length")
    kept_k = kept_of(b, k, k_scale, k_quant_type, kv_cache_bit_width, "k")
    kept_v = kept_of(b, v, v_scale, v_quant_type, kv_cache_bit_width, "v")
    check_caches(past_key, past_value, kept_k.shaped(k), kept_v.shaped(v))
    if past_key is None and (kept_k.scale is not None or kept_v.scale is not None):
        raise ConversionError("past_key is missing, expected it with k_quant_type or v_quant_type")
    _check_window(local_window_size, causal)
    step = step_of(b, k, seqlens_k, query_seqlens, int(np.asarray(total_sequence_length).reshape(())))
    is_window = bool(sliding_window_cache)
    cache = window_cache_of(b, past_key, step, local_window_size) if is_window else cache_of(b, past_key, step)
    if do_rotary:
        cos, sin, turned = angles_of(b, cos_cache, sin_cache, position_ids, step.rows, cache.starts)
        q, k = (turned_heads(b, each, cos, sin, turned, bool(rotary_interleaved)) for each in (q, k))
    keys, seen_keys = cache.updated(b, past_key, kept_k.closed(b, k))
    values, seen_values = cache.updated(b, past_value, kept_v.closed(b, v))
    seen_keys, seen_values = kept_k.opened(b, seen_keys, q.dtype), kept_v.opened(b, seen_values, q.dtype)
    bias = cache.bias(b, q, seen_keys, attention_bias, bool(causal), local_window_size)
    sinks = _sinks(b, head_sink, bool(smooth_softmax), num_heads, q)
    form = Form(scale or None, softcap, None, SHOWN[qk_output], sinks)
    result, shown = attend(b, kept_k.ordered(b, q), seen_keys, seen_values, bias, form)
    if qk_output == 1 and bias.allowed is not None:
        shown = b.where(bias.allowed, shown, b.full((), 0.0, shown.dtype))
    return packed_heads(b, kept_v.restored(b, result)), keys, values, shown


def _check_window(window: int, causal: int) -> None:
    if window < -1 or window == 0:
        raise ConversionError(f"local_window_size is {window}, expected -1, or 1 or more")
    if window > 0 and not causal:
        raise ConversionError(f"local_window_size is {window} and causal 0, expected -1 there")


# Queries, keys and values


def heads_apart(
    b: GraphBuilder, query: Value, key: Value | None, value: Value | None, heads: int, shared: int
) -> tuple[Value, Value, Value]:
    """Queries, keys and values by heads. Without `key` and `value` all are columns of `query`."""
    if heads < 1 or shared < 1 or heads % shared:
        raise ConversionError(f"{heads} heads of queries do not divide into {shared} of keys")
    if query.rank != 3:
        raise ConversionError(f"the query is {query.shaped}, expected batch x sequence x columns")
    if (key is None) != (value is None):
        raise ConversionError("key and value are given one without the other")
    if key is None or value is None:
        width, all_heads = b.extent(query, 2, "the query"), heads + 2 * shared
        if width % all_heads:
            raise ConversionError(f"the query is {query.shaped}, which does not divide into {all_heads} heads")
        size = width // all_heads
        query, key, value = parted(b, query, (heads * size, shared * size, shared * size), 2)
    assert key is not None and value is not None
    for what, each in (("key", key), ("value", value)):
        if each.rank != 3 or not compatible(each.shape[:2], query.shape[:2]):
            batch = text(query.shape[:2])
            raise ConversionError(f"the {what} is {each.shaped}, expected rank 3 and {batch} first as the query has")
    return heads_of(b, query, heads, "Q"), heads_of(b, key, shared, "K"), heads_of(b, value, shared, "V")


def _normalised(b: GraphBuilder, x: Value, weight: Value | None, epsilon: float) -> Value:
    return x if weight is None else b.rms_norm(x, weight, axes=(3,), epsilon=epsilon)


def _sinks(b: GraphBuilder, given: Value | None, smooth: bool, heads: int, q: Value) -> Value | None:
    """Returns one more score for each head as `heads x 1 x 1`, `None` for none."""
    if given is None:
        return b.full((1, 1, 1), 0.0, q.dtype) if smooth else None
    if given.shape not in ((heads,), (None,)):
        raise ConversionError(f"head_sink is {given.shaped}, expected {heads} elements")
    return b.reshape(given, shape=(heads, 1, 1))


# Positions


def angles_of(
    b: GraphBuilder,
    cosines: Value | None,
    sines: Value | None,
    positions: Value | None,
    rows: int,
    starts: Value | None,
) -> tuple[Value, Value, int]:
    """
    Returns the cosines and sines of the places of the new keys, as `batch x sequence x pair`, and how many numbers of
    each head they turn.
    """
    if cosines is None or sines is None:
        raise ConversionError("do_rotary is set, expected cos_cache and sin_cache")
    if cosines.rank != 2 or cosines.shape[1] is None or cosines.shape != sines.shape:
        raise ConversionError(f"cos_cache is {cosines.shaped} and sin_cache {sines.shaped}, expected two like matrices")
    turned = 2 * cosines.shape[1]
    if positions is not None and (positions.rank != 2 or positions.shape[1] not in (rows, None)):
        raise ConversionError(f"position_ids is {positions.shaped}, expected a row of {rows} positions for each sample")
    counted = b.constant(np.arange(rows, dtype=np.int64).reshape(1, -1))
    if positions is not None and starts is None:  # as onnxruntime does
        first = b.strided_slice(b.reshape(positions, shape=(-1,)), axes=(0,), begin=(0,), end=(1,))
        positions = b.add(b.expand_dims(b.astype(first, dtype="i64"), axis=(1,)), counted)
    elif positions is None and starts is not None:
        positions = b.add(b.reshape(starts, shape=(-1, 1)), counted)
    if positions is not None:
        return b.take(cosines, positions, axis=0), b.take(sines, positions, axis=0), turned
    if (cosines.shape[0] or rows) < rows:
        raise ConversionError(f"cos_cache is {cosines.shaped}, expected at least {rows} positions")
    first_rows = (b.strided_slice(each, axes=(0,), begin=(0,), end=(rows,)) for each in (cosines, sines))
    cos, sin = (b.expand_dims(each, axis=(0,)) for each in first_rows)
    return cos, sin, turned
