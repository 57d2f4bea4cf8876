"""
Attention: products with a softmax between them, for which the schedules of both exist.

The heads of queries that share a head of keys are rows of one product, or a group of products, so that keys and values
are not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from math import sqrt
from typing import Any

from ....lazy_dataclass import dataclass
from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .attention_masks import Bias, Window, bias_of
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
    form = Form(scale, softcap, softmax_precision, qk_matmul_output_mode)
    result, shown = attend(b, q, k, v, bias_of(b, mask, window), form)
    return (packed_heads(b, result) if query.rank == 3 else result), k, v, shown


def _check_given(past_key: Value | None, past_value: Value | None, lengths: Value | None, least_window: int) -> None:
    if (past_key is None) != (past_value is None):
        raise ConversionError("past_key and past_value are given one without the other")
    if past_key is not None and lengths is not None:
        raise ConversionError("past_key and nonpad_kv_seqlen are given, expected one of them")
    if least_window < -1:
        raise ConversionError(f"a window size is {least_window}, expected -1 or more")


# Products


@dataclass(frozen=True)
class Form:
    """What is made of the scores before and after their softmax."""

    scale: float | None = None
    """The factor of the scores, `None` for 1 over the root of the size of a head."""
    softcap: float = 0.0
    precision: int | None = None
    """The number that ONNX has for the element type of the softmax, `None` for that of the scores."""
    shown: int = 0
    """What is returned beside the result: the scores, capped, with their bias, or as weights (3)."""
    sinks: Value | None = None
    """One more score for each head, which has no value: its power is in the sum of the softmax alone."""


def attend(b: GraphBuilder, q: Value, k: Value, v: Value, bias: Bias, form: Form) -> tuple[Value, Value]:
    """
    Returns `softmax(cap(q @ k^T * scale) + bias) @ v`, and what `form` shows of it.

    All are batch x heads x sequence x size. The heads of `k` and `v` may be for several ones of `q`.
    """
    apart = _groups(q, k, v)
    if apart is not None:
        bias, form = apart.split_bias(b, bias), apart.split_sinks(b, form)
        scores = _scores(b, apart.split(b, q), apart.alone(b, k), form.scale)
    else:
        scores = _scores(b, q, k, form.scale)
    weights, shown = _weights(b, scores, bias, form)
    result = _grouped(b, weights, v) if apart is None else b.matmul(weights, apart.alone(b, v))
    result = result if bias.empty is None else b.where(bias.empty, b.full((), 0.0, result.dtype), result)
    return (result, shown) if apart is None else (apart.join(b, result), apart.join(b, shown))


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


def parted(b: GraphBuilder, x: Value, widths: Sequence[int], axis: int) -> list[Value]:
    """`x` in parts that follow each other along an axis."""
    ends = accumulate(widths, initial=0)
    return [b.strided_slice(x, axes=(axis,), begin=(first,), end=(last,)) for first, last in pairwise(ends)]


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

    def split_bias(self, b: GraphBuilder, bias: Bias) -> Bias:
        """Splits the heads of a bias."""
        parts = (bias.allowed, bias.mask, bias.empty)
        return Bias(*(None if each is None else self.split(b, each) for each in parts))

    def split_sinks(self, b: GraphBuilder, form: Form) -> Form:
        """Splits the heads of the sinks."""
        return form if form.sinks is None else replace(form, sinks=self.split(b, form.sinks))

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


def _weights(b: GraphBuilder, scores: Value, bias: Bias, form: Form) -> tuple[Value, Value]:
    """The weights of the values, and what `form` shows."""
    shown = [scores]
    if form.softcap > 0:
        scores = b.multiply(b.tanh(b.divide(scores, form.softcap)), form.softcap)
    shown.append(scores)
    dtype = scores.dtype
    scores = bias.added_to(b, scores)
    shown.append(scores)
    at = dtype if form.precision is None else dtype_of_number(form.precision)
    weights = _softmax(b, scores if at == dtype else b.astype(scores, dtype=at), form.sinks)
    weights = weights if at == dtype else b.astype(weights, dtype=dtype)
    if form.shown == 3 and bias.empty is not None:
        weights = b.where(bias.empty, b.full((), 0.0, dtype), weights)
    shown.append(weights)
    if not 0 <= form.shown < len(shown):
        raise ConversionError(f"qk_matmul_output_mode is {form.shown}, expected 0 to 3")
    return weights, shown[form.shown]


def _softmax(b: GraphBuilder, scores: Value, sinks: Value | None) -> Value:
    """Returns `exp(scores) / (exp(sink) + sum of exp(scores))`, without the sink where there is none."""
    if sinks is None:
        return b.softmax(scores, axis=-1)
    sinks = sinks if sinks.dtype == scores.dtype else b.astype(sinks, dtype=scores.dtype)
    greatest = b.maximum(b.max(scores, axis=-1, keepdims=True), sinks)
    powers = b.exp(b.subtract(scores, greatest))
    total = b.add(b.sum(powers, axis=-1, keepdims=True), b.exp(b.subtract(sinks, greatest)))
    return b.divide(powers, total)
