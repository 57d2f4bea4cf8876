"""Positions by rotation, which attention takes between its projections and its products."""

from __future__ import annotations

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
    size = b.extent(heads, 3, "X")
    turned = rotary_embedding_dim or size
    if turned % 2 or turned > size:
        raise ConversionError(f"rotary_embedding_dim is {turned}, expected an even number up to {size}")
    if positions is not None:
        cosines, sines = b.take(cosines, positions, axis=0), b.take(sines, positions, axis=0)
    if cosines.rank != 3 or cosines.shape[-1] not in (turned // 2, None):
        raise ConversionError(f"the cosines are {cosines.shaped}, expected batch x sequence x {turned // 2}")
    cos, sin = b.expand_dims(cosines, axis=(1,)), b.expand_dims(sines, axis=(1,))
    part = heads if turned == size else _columns(b, heads, 0, turned)
    left, right = _pairs(b, part, turned, bool(interleaved))
    first = b.subtract(b.multiply(left, cos), b.multiply(right, sin))
    second = b.add(b.multiply(left, sin), b.multiply(right, cos))
    if interleaved:
        wide = b.concat(b.expand_dims(first, axis=(4,)), b.expand_dims(second, axis=(4,)), axis=4)
        pieces = [reshaped_heads(b, wide, (None, None, None, turned))]
    else:
        pieces = [first, second]
    if turned < size:
        pieces.append(_columns(b, heads, turned, size))
    result = pieces[0] if len(pieces) == 1 else b.concat(*pieces, axis=3)
    return packed_heads(b, result) if x.rank == 3 else result


def _columns(b: GraphBuilder, x: Value, begin: int, end: int, step: int = 1) -> Value:
    return b.strided_slice(x, axes=(3,), begin=(begin,), end=(end,), strides=(step,))


def _pairs(b: GraphBuilder, x: Value, size: int, interleaved: bool) -> tuple[Value, Value]:
    if interleaved:
        return _columns(b, x, 0, size, 2), _columns(b, x, 1, size, 2)
    return _columns(b, x, 0, size // 2), _columns(b, x, size // 2, size)
