"""
Attention with caches to some blocks of keys: SparseAttention of the set `com.microsoft`.

Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import Known, converter
from ..value import Value
from .attention import Form, attend, packed_heads
from .attention_masks import Bias
from .cached_attention import angles_of, heads_apart
from .caches import Cache, cache_of, check_caches, step_of
from .quantized_fusions import DOMAIN
from .rotary import turned_heads

Array = np.ndarray[Any, Any]


@converter("SparseAttention", domain=DOMAIN)
def sparse_attention(
    b: GraphBuilder,
    query: Value,
    key: Value | None = None,
    value: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    block_row_indices: Known | None = None,
    block_col_indices: Known | None = None,
    total_sequence_length: Known | None = None,
    key_total_sequence_lengths: Value | None = None,
    cos_cache: Value | None = None,
    sin_cache: Value | None = None,
    *,
    num_heads: int,
    kv_num_heads: int,
    sparse_block_size: int,
    scale: float = 0.0,
    do_rotary: int = 0,
    rotary_interleaved: int = 0,
) -> Any:
    """
    Returns `softmax(q @ k^T * scale) @ v` and the caches, as GroupQueryAttention does.

    Of the keys up to its own place a query sees the blocks that the row of its own block names. The layouts of heads
    follow each other in turns.
    """
    required = {
        "past_key": past_key,
        "past_value": past_value,
        "block_row_indices": block_row_indices,
        "block_col_indices": block_col_indices,
        "total_sequence_length": total_sequence_length,
        "key_total_sequence_lengths": key_total_sequence_lengths,
    }
    if sparse_block_size < 1:
        raise ConversionError(f"sparse_block_size is {sparse_block_size}, expected 1 or more")
    missing = [name for name, each in required.items() if each is None]
    if missing or past_key is None or past_value is None or key_total_sequence_lengths is None:
        raise ConversionError(f"{missing[0]} is missing, expected all inputs from past_key to the lengths")
    q, k, v = heads_apart(b, query, key, value, num_heads, kv_num_heads)
    check_caches(past_key, past_value, k.shaped, v.shaped)
    total = int(np.asarray(total_sequence_length).reshape(()))
    if total > b.extent(past_key, 2, "past_key"):
        raise ConversionError(f"total_sequence_length is {total}, expected at most the {past_key.shape[2]} of past_key")
    blocks = _blocks(
        np.asarray(block_row_indices), np.asarray(block_col_indices), num_heads, -(-total // sparse_block_size)
    )
    lengths = b.subtract(b.astype(key_total_sequence_lengths, dtype="i64"), 1)
    step = step_of(b, k, lengths, None, total, "key_total_sequence_lengths")
    cache = cache_of(b, past_key, step)
    if do_rotary:
        cos, sin, turned = angles_of(b, cos_cache, sin_cache, None, step.rows, cache.starts)
        q, k = (turned_heads(b, each, cos, sin, turned, bool(rotary_interleaved)) for each in (q, k))
    (keys, seen_keys), (values, seen_values) = cache.updated(b, past_key, k), cache.updated(b, past_value, v)
    bias = cache.bias(b, q, seen_keys, None, True, -1)
    if not blocks.all():
        bias = _among(b, bias, blocks, sparse_block_size, cache, num_heads, total)
    result, _ = attend(b, q, seen_keys, seen_values, bias, Form(scale or None))
    return packed_heads(b, result), keys, values


def _blocks(rows: Array, columns: Array, heads: int, used: int) -> Array:
    """
    Returns which blocks of keys a block of queries sees, as layouts x queries x keys, for the first `used` blocks.

    The layouts are compressed: row `n` names the columns from `rows[n]` to before `rows[n + 1]`. What is not up to the
    own block counts as seen, as the places are looked at anyway.
    """
    if rows.ndim != 2 or columns.ndim != 2 or rows.shape[0] != columns.shape[0] or heads % max(rows.shape[0], 1):
        found = f"{list(rows.shape)} and {list(columns.shape)}"
        raise ConversionError(
            f"block_row_indices and block_col_indices are {found}, expected layouts whose number divides {heads}"
        )
    count = rows.shape[1] - 1
    if used > count:
        raise ConversionError(f"block_row_indices has {count} blocks, expected at least {used} for all keys")
    if (rows[:, 0] != 0).any() or (np.diff(rows) < 1).any() or (rows[:, -1] > columns.shape[1]).any():
        raise ConversionError(
            "block_row_indices does not begin with 0 and rise from block to block up to block_col_indices"
        )
    seen = np.zeros((rows.shape[0], count, count), np.bool_)
    for layout, ends in enumerate(rows):
        for row in range(count):
            named = columns[layout, ends[row] : ends[row + 1]]
            if ((named < 0) | (named > row)).any() or row not in named:
                raise ConversionError(
                    f"block_col_indices has {named.tolist()} for block {row}, expected 0 to {row} and {row} itself"
                )
            seen[layout, row, named] = True
    return seen[:, :used, :used] | ~np.tri(used, dtype=np.bool_)


def _among(b: GraphBuilder, bias: Bias, blocks: Array, size: int, cache: Cache, heads: int, total: int) -> Bias:
    """Returns a bias that also forbids the keys in other blocks than those that are seen."""
    counted = b.constant(np.arange(cache.step.rows, dtype=np.int64).reshape(1, -1))
    places = counted if cache.starts is None else b.add(b.reshape(cache.starts, shape=(-1, 1)), counted)
    by_head = b.constant(np.ascontiguousarray(blocks[np.arange(heads) % len(blocks)]))
    rows = b.take(by_head, b.floor_divide(places, b.full((), size, "i64")), axis=1)
    seen = b.take(rows, b.constant(np.arange(total, dtype=np.int64) // size), axis=3)
    allowed = b.permute_dims(seen, axes=(1, 0, 2, 3))
    return replace(bias, allowed=allowed if bias.allowed is None else b.logical_and(bias.allowed, allowed))
