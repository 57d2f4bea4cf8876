"""
Attention of one token: DecoderMaskedMultiHeadAttention of the set `com.microsoft`.

Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from typing import Any

from ....dialects.graph.shapes import compatible
from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import Known, converter
from ..value import Value
from .attention import Form, attend, heads_of, packed_heads
from .attention_fusions import FILTER, with_bias
from .attention_masks import Window, bias_of, check_scores
from .caches import Cache, Step, check_caches, checked
from .causal_convolution import check_like
from .quantized_fusions import DOMAIN


@converter("DecoderMaskedMultiHeadAttention", domain=DOMAIN)
def decoder_masked_attention(
    b: GraphBuilder,
    query: Value,
    key: Value | None = None,
    value: Value | None = None,
    mask_index: Value | None = None,
    attention_bias: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    past_sequence_length: Value | None = None,
    beam_width: Known | None = None,
    cache_indirection: Value | None = None,
    bias: Value | None = None,
    *,
    num_heads: int,
    mask_filter_value: float = FILTER,
    scale: float = 0.0,
    past_present_share_buffer: int = 0,
    output_qk: int = 0,
) -> Any:
    """
    Returns `softmax(q @ k^T * scale + mask + attention_bias) @ v`, the caches, and the scores.

    The caches have room for more keys than there are, and `past_sequence_length` says where that of the token belongs.
    Without caches `key` and `value` are those of another sequence. The scores are those before the softmax, as in
    onnxruntime, whose documentation calls them normalised. `output_qk` asks for them.
    """
    _check_beams(beam_width, cache_indirection)
    given = _parts(b, query, key, value, num_heads)
    q, k, v = given if bias is None else with_bias(b, given, bias)
    q = heads_of(b, q, num_heads, "query")
    k, v = heads_of(b, k, num_heads, "key"), heads_of(b, v, num_heads, "value")
    _check_heads(q, k, v, key is not None and key.rank == 4)
    lengths = None
    if key is not None and key.rank == 4:
        if past_key is not None or past_value is not None or any(b.wanted[1:3]):
            raise ConversionError("key has rank 4 and there are caches, expected one of them")
        keys, values, seen_keys, seen_values = k, v, k, v
    else:
        if not past_present_share_buffer:
            raise ConversionError("past_present_share_buffer is 0, expected 1 for caches")
        total = _places(b, past_key, past_sequence_length, mask_index, attention_bias)
        cache = _cache(b, past_key, past_value, past_sequence_length, k, v, total)
        (keys, seen_keys), (values, seen_values) = cache.updated(b, past_key, k), cache.updated(b, past_value, v)
        lengths = cache.step.ends
    added = _added(b, mask_index, mask_filter_value, attention_bias, q, seen_keys)
    shown = bias_of(b, added, Window(q, seen_keys, False, -1, -1, None, lengths), each_sees=True)
    result, scores = attend(b, q, seen_keys, seen_values, shown, Form(scale or None, shown=2))
    return packed_heads(b, result), keys, values, scores


def _check_beams(beam_width: Any, cache_indirection: Value | None) -> None:
    if cache_indirection is not None:
        raise ConversionError("cache_indirection is given, expected one continuation of each sample")
    if beam_width is not None and (beam_width.size != 1 or int(beam_width.reshape(())) != 1):
        raise ConversionError(f"beam_width is {beam_width.tolist()}, expected 1 as there is no cache_indirection")


def _parts(b: GraphBuilder, query: Value, key: Value | None, value: Value | None, heads: int) -> list[Value]:
    """Returns queries, keys and values. Without `key` and `value` all are columns of `query`."""
    if query.rank != 3 or query.shape[1] not in (1, None) or heads < 1:
        raise ConversionError(f"query is {query.shaped} and num_heads {heads}, expected batch x 1 x columns of heads")
    if (key is None) != (value is None):
        raise ConversionError("key and value are given one without the other")
    if key is not None and value is not None:
        return [query, key, value]
    width = b.extent(query, 2, "query")
    if width % (3 * heads):
        raise ConversionError(f"query is {query.shaped}, expected columns that divide into 3 times {heads} heads")
    return list(b.split(query, sections=3, axis=2))


def _check_heads(q: Value, k: Value, v: Value, apart: bool) -> None:
    rows = None if apart else 1
    for what, each in (("key", k), ("value", v)):
        length = k.shape[2] if apart else rows
        check_like(f"{what}, by heads,", each, (*q.shape[:2], length, q.shape[3]), q.dtype)


def _places(
    b: GraphBuilder, past: Value | None, before: Value | None, mask: Value | None, attention_bias: Value | None
) -> int:
    """Returns how many places of the caches are looked at: those that a mask is for, those that there are, or all."""
    if past is None or before is None:
        raise ConversionError("expected past_key, past_value and past_sequence_length, or a key of rank 4")
    if before.shape not in ((), (1,), (None,)):
        raise ConversionError(f"past_sequence_length is {before.shaped}, expected one number")
    for each in (mask, attention_bias):
        if each is not None and each.rank:
            return b.extent(each, each.rank - 1, "the mask")
    if before.known is not None:
        return int(before.known.reshape(())) + 1
    if any(b.wanted[3:]):
        raise ConversionError("the scores are as many as past_sequence_length says", needs=(before,))
    return b.extent(past, 2, "past_key")


def _cache(
    b: GraphBuilder,
    past_key: Value | None,
    past_value: Value | None,
    before: Value | None,
    k: Value,
    v: Value,
    total: int,
) -> Cache:
    check_caches(past_key, past_value, k.shaped, v.shaped)
    assert past_key is not None and before is not None
    room = b.extent(past_key, 2, "past_key")
    if not 0 < total <= room:
        raise ConversionError(f"there are {total} keys after the step, expected 1 to the {room} places of past_key")
    first = b.reshape(b.astype(before, dtype="i64"), shape=(1,))
    starts = checked(b, b.broadcast_to(first, shape=(b.extent(k, 0, "key"),)), total - 1)
    return Cache(Step(1, starts, b.add(starts, 1), None, total), starts, room)


def _added(
    b: GraphBuilder, mask: Value | None, filtered: float, attention_bias: Value | None, q: Value, k: Value
) -> Value | None:
    """Returns what is added to the scores, `None` for nothing."""
    added: Value | None = None
    if mask is not None:
        if mask.rank != 2 or not compatible(mask.shape, (q.shape[0], k.shape[2])):
            raise ConversionError(f"mask_index is {mask.shaped}, expected a number for each of {k.shape[2]} keys")
        seen = b.expand_dims(b.greater(mask, 0), axis=(1, 2))
        added = b.where(seen, b.full((), 0.0, q.dtype), b.full((), filtered, q.dtype))
    if attention_bias is None:
        return added
    check_scores("attention_bias", attention_bias, q, k)
    return attention_bias if added is None else b.add(attention_bias, added)
