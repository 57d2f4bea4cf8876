"""
Attention of the set `com.microsoft`, with its projection or without: Attention, QAttention, MultiHeadAttention.

What masks forbid gets `mask_filter_value` added to its score, and is not forbidden altogether. Source: the operator
documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects.graph.shapes import compatible
from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .attention import Form, attend, heads_of, packed_heads, parted
from .attention_masks import Window, bias_of, check_scores
from .quantized_fusions import DOMAIN
from .quantized_operands import Operand
from .quantized_products import real_product

FILTER: float = -10000.0
"""The default of `mask_filter_value`."""


@converter("MultiHeadAttention", domain=DOMAIN)
def multi_head_attention(
    b: GraphBuilder,
    query: Value,
    key: Value | None = None,
    value: Value | None = None,
    bias: Value | None = None,
    key_padding_mask: Value | None = None,
    attention_bias: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    past_sequence_length: Value | None = None,
    cache_indirection: Value | None = None,
    *,
    num_heads: int,
    unidirectional: int = 0,
    mask_filter_value: float = FILTER,
    scale: float = 0.0,
) -> Any:
    """
    Returns `softmax(q @ k^T * scale + mask + attention_bias) @ v`, the keys, the values, and the scores.

    The scores are those before the softmax, as in onnxruntime, whose documentation calls them normalised.
    """
    if past_sequence_length is not None or cache_indirection is not None:
        raise ConversionError("past_sequence_length or cache_indirection is given, expected caches without places")
    given = _unpacked(b, query, key, value)
    if bias is not None:
        given = with_bias(b, given, bias)
    q, k, v = (heads_of(b, each, num_heads, what) for each, what in zip(given, "QKV", strict=True))
    mask = _mask(b, key_padding_mask, mask_filter_value, q, k, past_key)
    return _attended(b, (q, k, v), (past_key, past_value), mask, attention_bias, bool(unidirectional), scale)


@converter("Attention", domain=DOMAIN)
def attention(
    b: GraphBuilder,
    x: Value,
    weights: Value,
    bias: Value | None = None,
    mask_index: Value | None = None,
    past: Value | None = None,
    attention_bias: Value | None = None,
    past_sequence_length: Value | None = None,
    *,
    num_heads: int,
    unidirectional: int = 0,
    qkv_hidden_sizes: tuple[int, ...] | None = None,
    do_rotary: int = 0,
    rotary_embedding_dim: int = 0,
    mask_filter_value: float = FILTER,
    scale: float = 0.0,
    past_present_share_buffer: int = 0,
) -> Any:
    """Returns the attention of `x @ weights + bias`, whose columns are queries, keys and values, and its caches."""
    _check_plain(do_rotary or rotary_embedding_dim, past_present_share_buffer or past_sequence_length is not None)
    projected = b.matmul(x, weights)
    if bias is not None:
        projected = b.add(projected, bias)
    parts = _columns(b, projected, qkv_hidden_sizes)
    return _self_attention(
        b, parts, num_heads, mask_index, mask_filter_value, past, attention_bias, bool(unidirectional), scale
    )


@converter("QAttention", domain=DOMAIN)
def quantised_attention(
    b: GraphBuilder,
    x: Value,
    weights: Value,
    bias: Value,
    x_scale: Value,
    weight_scale: Value,
    mask_index: Value | None = None,
    x_zero: Value | None = None,
    weight_zero: Value | None = None,
    past: Value | None = None,
    *,
    num_heads: int,
    unidirectional: int = 0,
    do_rotary: int = 0,
    mask_filter_value: float = FILTER,
    scale: float = 0.0,
    past_present_share_buffer: int = 0,
) -> Any:
    """Returns the same of a projection of bytes. Its queries, keys and values are floats."""
    _check_plain(do_rotary, past_present_share_buffer)
    left, right = Operand("input", x, x_scale, x_zero), Operand("weight", weights, weight_scale, weight_zero)
    projected = real_product(b, left, right, bias)
    return _self_attention(
        b,
        _columns(b, projected, None),
        num_heads,
        mask_index,
        mask_filter_value,
        past,
        None,
        bool(unidirectional),
        scale,
    )


def _check_plain(rotary: int, shared: int) -> None:
    if rotary:
        raise ConversionError("do_rotary or rotary_embedding_dim is set, expected positions that are no rotations")
    if shared:
        raise ConversionError("past and present share a buffer, expected caches of their own")


# Operands


def _unpacked(b: GraphBuilder, query: Value, key: Value | None, value: Value | None) -> Sequence[Value]:
    """Queries, keys and values, of which some may be packed: batch x sequence x heads x (3 or 2) x size."""
    if query.rank == 5 and key is None and value is None:
        return _parts(b, query, 3)
    if key is not None and key.rank == 5 and value is None:
        return (query, *_parts(b, key, 2))
    if key is None or value is None:
        given = ", ".join(str(each.shaped) for each in (query, key, value) if each is not None)
        raise ConversionError(f"the query, key and value are {given}, expected three tensors, or fewer of rank 5")
    return query, key, value


def _parts(b: GraphBuilder, x: Value, count: int) -> tuple[Value, ...]:
    """The `count` parts of batch x sequence x heads x count x size, as batch x sequence x columns."""
    if x.shape[3] != count:
        raise ConversionError(f"a packed operand is {x.shaped}, expected {count} in dimension 3")
    extents = extents_of(x)
    return tuple(
        reshaped(
            b,
            b.strided_slice(x, axes=(3,), begin=(at,), end=(at + 1,)),
            [extents[0], extents[1], b.extent(x, 2, "a packed operand") * b.extent(x, 4, "a packed operand")],
        )
        for at in range(count)
    )


def with_bias(b: GraphBuilder, given: Sequence[Value], bias: Value) -> list[Value]:
    """Adds the parts of one vector to queries, keys and values. Those of rank 4 come from caches that have theirs."""
    widths = [_width(b, each) for each in given]
    if bias.shape != (sum(widths),):
        raise ConversionError(f"the bias is {bias.shaped}, expected {sum(widths)} elements")
    parts = zip(given, parted(b, bias, widths, 0), strict=True)
    return [each if each.rank == 4 else b.add(each, part) for each, part in parts]


def _width(b: GraphBuilder, x: Value) -> int:
    """The columns of a sequence, or those of all heads of a cache."""
    return b.extent(x, 2, "an operand") if x.rank == 3 else b.extent(x, 1, "a cache") * b.extent(x, 3, "a cache")


def _columns(b: GraphBuilder, x: Value, sizes: tuple[int, ...] | None) -> tuple[Value, Value, Value]:
    """Queries, keys and values out of the columns of one matrix. Without `sizes` each has a third of them."""
    width = b.extent(x, 2, "the projection")
    if sizes is None and not width % 3:
        sizes = (width // 3,) * 3
    if sizes is None or len(sizes) != 3 or sum(sizes) != width or min(sizes) < 1:
        raise ConversionError(f"qkv_hidden_sizes is {sizes}, expected 3 numbers that sum to {width}")
    q, k, v = parted(b, x, sizes, 2)
    return q, k, v


# Products


def _self_attention(
    b: GraphBuilder,
    parts: tuple[Value, Value, Value],
    heads: int,
    mask_index: Value | None,
    mask_filter: float,
    past: Value | None,
    attention_bias: Value | None,
    causal: bool,
    scale: float,
) -> tuple[Value, ...]:
    """Returns the attention and, where they are asked for, its caches as one tensor."""
    q, k, v = (heads_of(b, each, heads, what) for each, what in zip(parts, "QKV", strict=True))
    caches: tuple[Value | None, Value | None] = (None, None)
    if past is not None:
        caches = tuple(  # pyright: ignore[reportAssignmentType]
            b.squeeze(b.strided_slice(past, axes=(0,), begin=(at,), end=(at + 1,)), axis=(0,)) for at in (0, 1)
        )
    mask = _mask(b, mask_index, mask_filter, q, k, caches[0])
    result, keys, values, _ = _attended(b, (q, k, v), caches, mask, attention_bias, causal, scale)
    if not any(b.wanted[1:]):
        return (result,)
    return result, b.concat(*(b.expand_dims(each, axis=(0,)) for each in (keys, values)), axis=0)


def _attended(
    b: GraphBuilder,
    parts: tuple[Value, Value, Value],
    caches: tuple[Value | None, Value | None],
    mask: Value | None,
    attention_bias: Value | None,
    causal: bool,
    scale: float,
) -> tuple[Value, Value, Value, Value]:
    q, k, v = parts
    past_key, past_value = caches
    if (past_key is None) != (past_value is None):
        raise ConversionError("past_key and past_value are given one without the other")
    if any(not compatible(each.shape[:1], q.shape[:1]) for each in (k, v)):
        raise ConversionError(
            f"the batches of Q, K and V are {q.shape[0]}, {k.shape[0]} and {v.shape[0]}, expected one"
        )
    if past_key is not None:
        k, v = b.concat(past_key, k, axis=2), b.concat(past_value, v, axis=2)
    for what, each in (("the mask, spread to rank 4,", mask), ("attention_bias", attention_bias)):
        if each is not None:
            check_scores(what, each, q, k)
    if attention_bias is not None:
        mask = attention_bias if mask is None else b.add(attention_bias, mask)
    bias = bias_of(b, mask, Window(q, k, causal, -1, -1, past_key, None), each_sees=True)
    result, scores = attend(b, q, k, v, bias, Form(scale or None, shown=2))
    return packed_heads(b, result), k, v, scores


def _mask(b: GraphBuilder, mask: Value | None, filtered: float, q: Value, k: Value, past: Value | None) -> Value | None:
    """
    Returns what is added to the scores: 0 for keys that may be seen, else `filtered`.

    A mask has a number for each key, or for each query and key. Or it is a vector that begins with the number of keys
    of each sample.
    """
    if mask is None:
        return None
    if mask.rank == 1:
        keys = b.extent(k, 2, "the key") + (0 if past is None else b.extent(past, 2, "the past"))
        seen = _by_lengths(b, mask, b.extent(q, 0, "the query"), keys)
    elif mask.rank in (2, 3):
        seen = b.expand_dims(b.greater(mask, 0), axis=(1, 2) if mask.rank == 2 else (1,))
    else:
        raise ConversionError(f"the mask is {mask.shaped}, expected rank 1 to 3")
    return b.where(seen, b.full((), 0.0, q.dtype), b.full((), filtered, q.dtype))


def _by_lengths(b: GraphBuilder, mask: Value, samples: int, keys: int) -> Value:
    """
    Which keys are in the range of their sample.

    After the ends there may be the first key of each sample, or where samples begin in packed sequences, which is not
    looked at.
    """
    sizes = (samples, 2 * samples, 3 * samples + 2)
    if mask.shape not in [(size,) for size in sizes]:
        expected = f"{sizes[0]}, {sizes[1]} or {sizes[2]} elements"
        raise ConversionError(f"the mask is {mask.shaped}, expected {expected}")

    def part(first: int) -> Value:
        found = b.strided_slice(mask, axes=(0,), begin=(first,), end=(first + samples,))
        return b.reshape(found, shape=(samples, 1, 1, 1))

    places = b.constant(np.arange(keys, dtype=np.int32))
    seen = b.less(places, part(0))
    if mask.shape != (2 * samples,):
        return seen
    return b.logical_and(seen, b.greater_equal(places, part(samples)))
