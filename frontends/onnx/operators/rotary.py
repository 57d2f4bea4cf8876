"""Positions by rotation, which attention takes between its projections and its products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.graph.shapes import compatible, text
from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .attention import heads_of, packed_heads, reshaped_heads


@converter("RotaryEmbedding", since=23)
def rotary_embedding(
    b: GraphBuilder,
    x: Value,
    cosines: Value,
    sines: Value,
    positions: Value | None = None,
    *,
    interleaved: int = 0,
    num_heads: int | None = None,
    rotary_embedding_dim: int = 0,
) -> Value:
    """
    Pairs of numbers turned by the angles of their position: `(x * cos - y * sin, x * sin + y * cos)`.

    A pair are neighbours (`interleaved`), or the numbers at one place of the two halves. Source: Su et al.,
    RoFormer, 2021.
    """
    heads = heads_of(b, x, num_heads, "X")
    if positions is not None:
        cosines, sines = b.take(cosines, positions, axis=0), b.take(sines, positions, axis=0)
    result = turned_heads(b, heads, cosines, sines, rotary_embedding_dim, bool(interleaved))
    return packed_heads(b, result) if x.rank == 3 else result


@converter("RotaryEmbedding", domain="com.microsoft")
def rotary_embedding_of_places(
    b: GraphBuilder,
    x: Value,
    positions: Value,
    cosines: Value,
    sines: Value,
    *,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    is_packed_batching: int = 0,
    scale: float = 1.0,
) -> Value:
    """
    The same with a row of `cosines` for each position. One position is that of the first token of each sample.

    `scale` changes nothing in onnxruntime. Source: its operator documentation, ContribOperators.
    """
    if is_packed_batching:
        raise ConversionError("is_packed_batching is set, expected samples of one length")
    if cosines.rank != 2 or cosines.shape[1] is None or cosines.shape != sines.shape:
        raise ConversionError(f"cos_cache is {cosines.shaped} and sin_cache {sines.shaped}, expected two like matrices")
    if x.rank == 3 and not rotary_embedding_dim:
        num_heads = b.extent(x, 2, "the input") // (2 * cosines.shape[1])
    heads = heads_of(b, x, num_heads, "the input")
    if not any(compatible(positions.shape, shape) for shape in ((1,), (heads.shape[0], heads.shape[2]))):
        wanted = text((heads.shape[0], heads.shape[2]))
        raise ConversionError(f"position_ids is {positions.shaped}, expected 1 or {wanted} elements")
    if positions.rank == 1:
        rows = b.constant(np.arange(b.extent(heads, 2, "the input"), dtype=np.int64).reshape(1, -1))
        positions = b.add(b.reshape(b.astype(positions, dtype="i64"), shape=(1, 1)), rows)
    cos, sin = b.take(cosines, positions, axis=0), b.take(sines, positions, axis=0)
    result = turned_heads(b, heads, cos, sin, rotary_embedding_dim, bool(interleaved))
    return packed_heads(b, result) if x.rank == 3 else result


@converter("MRotaryEmbedding", domain="com.microsoft")
def rotary_embedding_of_three_places(
    b: GraphBuilder,
    x: Value,
    positions: Value,
    cosines: Value,
    sines: Value,
    *,
    mrope_section: tuple[int, ...],
    mrope_layout: int = 0,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    is_packed_batching: int = 0,
    scale: float = 1.0,
) -> Value:
    """
    The same with three positions for each token, which are its time, row and column.

    `mrope_section` says how many pairs each of them turns: one after the other, or in turns (`mrope_layout`), where the
    time has what is left. `scale` is a factor of the numbers that are turned.
    """
    if is_packed_batching:
        raise ConversionError("is_packed_batching is set, expected samples of one length")
    if mrope_layout not in (0, 1):
        raise ConversionError(f"mrope_layout is {mrope_layout}, expected 0 or 1")
    if cosines.rank != 2 or cosines.shape[1] is None or cosines.shape != sines.shape:
        raise ConversionError(f"cos_cache is {cosines.shaped} and sin_cache {sines.shaped}, expected two like matrices")
    pairs = cosines.shape[1]
    if len(mrope_section) != 3 or min(mrope_section) < 0 or sum(mrope_section) != pairs:
        raise ConversionError(f"mrope_section is {list(mrope_section)}, expected three numbers whose sum is {pairs}")
    heads = heads_of(b, x, num_heads, "the input")
    if not compatible(positions.shape, (3, heads.shape[0], heads.shape[2])):
        wanted = text((3, heads.shape[0], heads.shape[2]))
        raise ConversionError(f"position_ids is {positions.shaped}, expected {wanted}")
    places = _places_of_pairs(mrope_section, bool(mrope_layout))
    cos, sin = (_by_place(b, b.take(each, positions, axis=0), places) for each in (cosines, sines))
    if scale != 1:
        cos, sin = b.multiply(cos, scale), b.multiply(sin, scale)
    result = turned_heads(b, heads, cos, sin, rotary_embedding_dim, bool(interleaved))
    return packed_heads(b, result) if x.rank == 3 else result


def _places_of_pairs(section: tuple[int, ...], in_turns: bool) -> np.ndarray[Any, Any]:
    """Returns which of the three positions turns each pair."""
    places = np.repeat(np.arange(3), section)
    if in_turns:
        places[:] = 0
        for place in (1, 2):
            places[place : 3 * section[place] : 3] = place
    return places


def _by_place(b: GraphBuilder, angles: Value, places: np.ndarray[Any, Any]) -> Value:
    """Takes each column of `3 x batch x sequence x pair` from one of the three parts."""
    parts = [b.squeeze(each, axis=(0,)) for each in b.split(angles, sections=3, axis=0)]
    found = parts[0]
    for place in (1, 2):
        if (places == place).any():
            found = b.where(b.constant(places == place), parts[place], found)
    return found


def turned_heads(
    b: GraphBuilder, heads: Value, cosines: Value, sines: Value, rotary_dim: int, interleaved: bool
) -> Value:
    """
    Turns the first `rotary_dim` numbers (all for 0) of `batch x heads x sequence x size` by angles that are given for
    `batch x sequence x pair`.
    """
    size = b.extent(heads, 3, "X")
    turned = rotary_dim or size
    if turned % 2 or turned > size:
        raise ConversionError(f"rotary_embedding_dim is {turned}, expected an even number up to {size}")
    if cosines.rank != 3 or cosines.shape[-1] not in (turned // 2, None):
        raise ConversionError(f"the cosines are {cosines.shaped}, expected batch x sequence x {turned // 2}")
    if not compatible(cosines.shape, sines.shape):
        raise ConversionError(f"the sines are {sines.shaped}, expected {cosines.shaped} as the cosines")
    cos, sin = b.expand_dims(cosines, axis=(1,)), b.expand_dims(sines, axis=(1,))
    part = heads if turned == size else _columns(b, heads, 0, turned)
    left, right = _pairs(b, part, turned, interleaved)
    first = b.subtract(b.multiply(left, cos), b.multiply(right, sin))
    second = b.add(b.multiply(left, sin), b.multiply(right, cos))
    if interleaved:
        wide = b.concat(b.expand_dims(first, axis=(4,)), b.expand_dims(second, axis=(4,)), axis=4)
        pieces = [reshaped_heads(b, wide, (None, None, None, turned))]
    else:
        pieces = [first, second]
    if turned < size:
        pieces.append(_columns(b, heads, turned, size))
    return pieces[0] if len(pieces) == 1 else b.concat(*pieces, axis=3)


def _columns(b: GraphBuilder, x: Value, begin: int, end: int, step: int = 1) -> Value:
    return b.strided_slice(x, axes=(3,), begin=(begin,), end=(end,), strides=(step,))


def _pairs(b: GraphBuilder, x: Value, size: int, interleaved: bool) -> tuple[Value, Value]:
    if interleaved:
        return _columns(b, x, 0, size, 2), _columns(b, x, 1, size, 2)
    return _columns(b, x, 0, size // 2), _columns(b, x, size // 2, size)
