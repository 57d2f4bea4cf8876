"""
Attention: products with a softmax between them, for which the schedules of both exist.

The heads of queries that share a head of keys are rows of one product, or a group of products, so that keys and values
are not repeated.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np

from ....lazy_dataclass import dataclass
from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .elementwise import dtype_of_number


@converter("Attention", since=23)
def attention(
    b: GraphBuilder,
    query: Value,
    key: Value,
    value: Value,
    mask: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    lengths: Value | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    q_num_heads: int | None = None,
    left_window_size: int = -1,
    right_window_size: int = -1,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
) -> Any:
    """
    Returns `softmax(cap(query @ key^T * scale) + bias) @ value`, the caches, and the scores.

    A row of which all is masked gives 0.
    """
    _check_given(past_key, past_value, lengths, min(left_window_size, right_window_size))
    q = heads_of(b, query, q_num_heads, "Q")
    k, v = heads_of(b, key, kv_num_heads, "K"), heads_of(b, value, kv_num_heads, "V")
    if past_key is not None:
        k, v = b.concat(past_key, k, axis=2), b.concat(past_value, v, axis=2)
    window = Window(q, k, bool(is_causal), left_window_size, right_window_size, past_key, lengths)
    bias, apart = bias_of(b, mask, window), _groups(q, k, v)
    scores = _scores(b, q, k, scale) if apart is None else _scores(b, apart.split(b, q), apart.alone(b, k), scale)
    bias = bias if apart is None else bias.split(b, apart)
    weights, shown = _weights(b, scores, bias, softcap, softmax_precision, qk_matmul_output_mode)
    result = _grouped(b, weights, v) if apart is None else b.matmul(weights, apart.alone(b, v))
    result = result if bias.empty is None else b.where(bias.empty, b.full((), 0.0, result.dtype), result)
    if apart is not None:
        result, shown = apart.join(b, result), apart.join(b, shown)
    return (packed_heads(b, result) if query.rank == 3 else result), k, v, shown


def _check_given(past_key: Value | None, past_value: Value | None, lengths: Value | None, least_window: int) -> None:
    if (past_key is None) != (past_value is None):
        raise ConversionError("past_key and past_value are given one without the other")
    if past_key is not None and lengths is not None:
        raise ConversionError("past_key and nonpad_kv_seqlen are given, expected one of them")
    if least_window < -1:
        raise ConversionError(f"a window size is {least_window}, expected -1 or more")


# Products


def heads_of(b: GraphBuilder, x: Value, heads: int | None, what: str) -> Value:
    """batch x sequence x (heads * size) as batch x heads x sequence x size."""
    if x.rank == 4:
        return x
    if x.rank != 3:
        raise ConversionError(f"{what} is {x.shaped}, expected rank 3 or 4")
    if not heads:
        raise ConversionError(f"{what} is {x.shaped}, expected the number of heads as an attribute")
    width = b.extent(x, 2, what)
    if width % heads:
        raise ConversionError(f"{what} is {x.shaped}, which does not divide into {heads} heads")
    return b.permute_dims(reshaped_heads(b, x, (None, None, heads, width // heads)), axes=(0, 2, 1, 3))


def reshaped_heads(b: GraphBuilder, x: Value, extents: tuple[int | None, ...]) -> Value:
    """`x` in a shape in which `None` stands for the same extent of `x`, and at most one is -1."""
    source = extents_of(x)
    return reshaped(b, x, [source[axis] if extent is None else extent for axis, extent in enumerate(extents)])


def packed_heads(b: GraphBuilder, x: Value) -> Value:
    """The opposite of `heads_of`."""
    x = b.permute_dims(x, axes=(0, 2, 1, 3))
    return reshaped_heads(b, x, (None, None, b.extent(x, 2, "Y") * b.extent(x, 3, "Y")))


def _scores(b: GraphBuilder, q: Value, k: Value, scale: float | None) -> Value:
    """Returns `q @ k^T * scale`. For f16, whose range is small, half of the factor is on each side."""
    factor = 1 / sqrt(b.extent(q, q.rank - 1, "Q")) if scale is None else scale
    if q.dtype == "f16" and factor > 0:
        q, k, factor = b.multiply(q, sqrt(factor)), b.multiply(k, sqrt(factor)), 1.0
    scaled = q if factor == 1 else b.multiply(q, factor)
    if k.rank == 5:
        return b.matmul(scaled, b.permute_dims(k, axes=(0, 1, 2, 4, 3)))
    return _grouped(b, scaled, b.permute_dims(k, axes=(0, 1, 3, 2)))


@dataclass(frozen=True)
class Groups:
    """Heads of queries in an axis of their own beside the heads of keys that they share."""

    shared: int
    each: int
    """The heads of queries per head of keys."""

    def split(self, b: GraphBuilder, x: Value) -> Value:
        """Splits the heads of `… x heads x sequence x size`. One head, or none, stands for all."""
        if x.rank < 3:
            return x
        *outer, heads, rows, size = extents_of(x)
        split = (1, 1) if heads == 1 else (self.shared, self.each)
        return reshaped(b, x, [*outer, *split, rows, size])

    def alone(self, b: GraphBuilder, x: Value) -> Value:
        """Keys or values, each head of which is for a group."""
        return b.expand_dims(x, axis=(2,))

    def join(self, b: GraphBuilder, x: Value) -> Value:
        """The opposite of `split`."""
        *outer, _, _, rows, size = extents_of(x)
        return reshaped(b, x, [*outer, self.shared * self.each, rows, size])


def _groups(q: Value, k: Value, v: Value) -> Groups | None:
    """Returns groups where sizes are known and there are several queries, through which strips of rows go then."""
    heads, shared, rows = q.shape[1], k.shape[1], q.shape[2]
    if (
        None in (*q.shape, *k.shape, *v.shape)
        or not heads
        or not shared
        or heads == shared
        or heads % shared
        or rows == 1
    ):
        return None
    return Groups(shared, heads // shared)


def _grouped(b: GraphBuilder, x: Value, y: Value) -> Value:
    """`x @ y` where each head of `y` is for as many heads of `x` as there are for it."""
    heads, shared = b.extent(x, 1, "Q"), b.extent(y, 1, "K")
    if heads == shared:
        return b.matmul(x, y)
    if heads % shared:
        raise ConversionError(f"{heads} heads of Q do not divide into the {shared} heads of K and V")
    rows = x.shape[2]
    folded = reshaped_heads(b, x, (None, shared, -1 if rows is None else heads // shared * rows, None))
    result = b.matmul(folded, y)
    return reshaped_heads(b, result, (None, heads, -1 if rows is None else rows, None))


def _weights(
    b: GraphBuilder, scores: Value, bias: Bias, softcap: float, precision: int | None, mode: int
) -> tuple[Value, Value]:
    """The weights of the values, and what `qk_matmul_output_mode` asks for."""
    shown = [scores]
    if softcap > 0:
        scores = b.multiply(b.tanh(b.divide(scores, softcap)), softcap)
    shown.append(scores)
    dtype = scores.dtype
    scores = bias.added_to(b, scores)
    shown.append(scores)
    at = dtype if precision is None else dtype_of_number(precision)
    weights = b.softmax(scores if at == dtype else b.astype(scores, dtype=at), axis=-1)
    weights = weights if at == dtype else b.astype(weights, dtype=dtype)
    if mode == 3 and bias.empty is not None:
        weights = b.where(bias.empty, b.full((), 0.0, dtype), weights)
    shown.append(weights)
    if not 0 <= mode < len(shown):
        raise ConversionError(f"qk_matmul_output_mode is {mode}, expected 0 to 3")
    return weights, shown[mode]


# Masks


@dataclass
class Window:
    """The keys that a query may see by their places. A query `i` is at the place `i + offset`."""

    q: Value
    k: Value
    causal: bool
    left: int
    right: int
    past: Value | None
    """Keys before the first of the queries, where no lengths are given."""
    lengths: Value | None
    """Number of keys in each sample."""

    @property
    def limits(self) -> bool:
        return self.causal or self.left >= 0 or self.right >= 0

    @property
    def most(self) -> int | None:
        """The distance that a query sees after its own place."""
        if self.causal:
            return 0
        return self.right if self.right >= 0 else None


@dataclass
class Bias:
    """What is added to the scores: `mask` where `allowed`, else -inf."""

    allowed: Value | None
    mask: Value | None
    empty: Value | None
    """The rows that see nothing, `None` where there are none."""

    def split(self, b: GraphBuilder, groups: Groups) -> Bias:
        """Returns the same for scores of groups of heads."""
        return Bias(
            *(None if each is None else groups.split(b, each) for each in (self.allowed, self.mask, self.empty))
        )

    def added_to(self, b: GraphBuilder, scores: Value) -> Value:
        if self.mask is not None:
            scores = b.add(scores, self.mask)
        if self.allowed is None:
            return scores
        return b.where(self.allowed, scores, b.full((), -inf, scores.dtype))


def bias_of(b: GraphBuilder, mask: Value | None, window: Window) -> Bias:
    """The bias of a mask and a window."""
    allowed = _seen(b, window)
    added: Value | None = None
    if mask is not None:
        mask = _as_wide(b, mask, window.k)
        if mask.dtype == "i1":
            allowed.append(mask)
        else:
            added = mask if mask.dtype == window.q.dtype else b.astype(mask, dtype=window.q.dtype)
    together = allowed[0] if allowed else None
    for each in allowed[1:]:
        together = b.logical_and(together, each)
    if mask is None and (together is None or _always_sees(window)):
        return Bias(together, None, None)
    return Bias(together, added, _empty_rows(b, together, added))


def _as_wide(b: GraphBuilder, mask: Value, k: Value) -> Value:
    """
    Widens a mask to all keys. One for fewer keys forbids the last ones, and before version 24 one key stands for all.
    """
    if not mask.rank:
        raise ConversionError(f"attn_mask is {mask.shaped}, expected at least rank 1")
    last = mask.shape[-1]
    if last is None or last == k.shape[2] or (last == 1 and b.version < 24):
        return mask
    missing = b.extent(k, 2, "K") - last
    if missing < 0:
        raise ConversionError(f"attn_mask is {mask.shaped}, expected at most {k.shape[2]} keys")
    widths = (*(0, 0) * (mask.rank - 1), 0, missing)
    return b.pad(mask, pad_width=widths, value=0 if mask.dtype == "i1" else -inf)


def _seen(b: GraphBuilder, window: Window) -> list[Value]:
    """Conditions on the places of queries and keys."""
    if not window.limits and window.lengths is None:
        return []
    keys = _counted(b, window.k)
    found: list[Value] = []
    if window.limits:
        places = _places(b, window)
        if window.most is not None:
            found.append(b.less_equal(keys, _moved(b, places, window.most)))
        if window.left >= 0:
            found.append(b.greater_equal(keys, _moved(b, places, -window.left)))
    if window.lengths is not None:
        found.append(b.less(keys, _lengths(b, window.lengths)))
    return found


def _counted(b: GraphBuilder, x: Value) -> Value:
    """0, 1, … for the elements of a sequence of batch x heads x sequence x size."""
    extent = x.shape[2]
    if extent is not None:
        return b.constant(np.arange(extent, dtype=np.int32))
    zero, one = (b.full((), number, "i64") for number in (0, 1))
    return b.astype(b.arange(zero, _length(b, x, "i64"), one), dtype="i32")


def _length(b: GraphBuilder, x: Value, dtype: str) -> Value:
    """The extent of a sequence that is not known, as a scalar."""
    extent = b.squeeze(b.strided_slice(b.shape_of(x), axes=(0,), begin=(2,), end=(3,)), axis=(0,))
    return extent if dtype == extent.dtype else b.astype(extent, dtype=dtype)


def _places(b: GraphBuilder, window: Window) -> Value:
    """The places of the queries, as a column."""
    column = _counted(b, window.q)
    known = column.known
    column = b.expand_dims(column, axis=(1,)) if known is None else b.constant(known[:, None])
    if window.lengths is not None:
        rows = window.q.shape[2]
        before = _length(b, window.q, "i32") if rows is None else rows
        return b.subtract(b.add(_lengths(b, window.lengths), column), before)
    if window.past is None:
        return column
    extent = window.past.shape[2]
    return b.add(column, _length(b, window.past, "i32")) if extent is None else _moved(b, column, extent)


def _lengths(b: GraphBuilder, lengths: Value) -> Value:
    return b.astype(b.reshape(lengths, shape=(-1, 1, 1, 1)), dtype="i32")


def _moved(b: GraphBuilder, places: Value, by: int) -> Value:
    """Places some further."""
    by = max(min(by, 1 << 30), -(1 << 30))
    if not by:
        return places
    known = places.known
    return b.add(places, by) if known is None else b.constant(known + np.int32(by))


def _empty_rows(b: GraphBuilder, allowed: Value | None, added: Value | None) -> Value | None:
    """Returns as a column which rows of the bias are -inf throughout, `None` where that is never so."""
    if added is not None:
        if allowed is not None:
            added = b.where(allowed, added, b.full((), -inf, added.dtype))
        return b.equal(b.max(added, axis=-1, keepdims=True), -inf)
    return None if allowed is None else b.logical_not(b.any(allowed, axis=-1, keepdims=True))


def _always_sees(window: Window) -> bool:
    """Returns whether each query is known to see a key by its place."""
    if window.lengths is not None:
        return False
    if window.left < 0:
        return True
    past = 0 if window.past is None else window.past.shape[2]
    rows, keys = window.q.shape[2], window.k.shape[2]
    return None not in (past, rows, keys) and (past or 0) + (rows or 0) - window.left <= (keys or 0)
