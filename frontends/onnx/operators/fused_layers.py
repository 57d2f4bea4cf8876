"""
Normalisations, activations and embeddings of the set `com.microsoft`, into which onnxruntime fuses several operators.

Sums before a normalisation or activation are not rounded, so f16 and bf16 are computed in f32 and rounded once. Source:
the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from itertools import dropwhile

from ....dialects.graph.shapes import compatible
from ....te.dtypes import is_small_float
from ..emitting.forms import filled, sliced
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..registry import converter, direct
from ..types import type_text
from ..value import Value
from .activations import swish
from .normalisation import parameter, statistics, trailing_axes
from .quantized_fusions import DOMAIN
from .reduction import flattened
from .signed_bytes import cast
from .widening import rounded_once

_FLATTENED_SOFTMAX = flattened(lambda b, x, axis: b.softmax(x, axis=axis))


def _widened(b: GraphBuilder, x: Value) -> Value:
    return b.astype(x, dtype="f32") if is_small_float(x.dtype) else x


def _check_vector(value: Value | None, what: str, x: Value) -> None:
    """Raises `ConversionError` unless an operand is a vector along the last dimension of `x`."""
    if value is not None and not (x.rank and compatible(value.shape, x.shape[-1:])):
        raise ConversionError(f"{what} is {value.shaped}, expected a vector along the last dimension of {x.shaped}")


# Normalisations


@converter("SimplifiedLayerNormalization")
@converter("SimplifiedLayerNormalization", domain=DOMAIN)
def simplified_layer_normalization(
    b: GraphBuilder, x: Value, scale: Value, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> tuple[Value, ...]:
    """
    Normalises by the root of the mean square. The result has the element type of the scale, which may be another one.

    onnxruntime has this operator in the standard domain.
    """
    if stash_type != 1:
        raise ConversionError(f"stash_type is {type_text(stash_type)}, expected {type_text(1)}")
    axes = trailing_axes(x, axis)
    if scale.rank > len(axes) and set(scale.shape[: scale.rank - len(axes)]) != {1}:
        raise ConversionError(f"the scale is {scale.shaped}, expected at most the last {len(axes)} dimensions")
    wide = x if x.dtype in (scale.dtype, "f64") else b.astype(x, dtype="f32") if x.dtype != "f32" else x
    result = cast(b, b.rms_norm(wide, parameter(b, wide, scale, axes, 1.0), axes=axes, epsilon=epsilon), scale.dtype)
    if not any(b.wanted[1:]):
        return (result,)
    return result, cast(b, _inverse_root(b, _widened(b, x), axes, epsilon), "f32")


def _inverse_root(b: GraphBuilder, x: Value, axes: tuple[int, ...], epsilon: float) -> Value:
    """Returns 1 over the root of the mean square over `axes`, which stay."""
    return b.rsqrt(b.add(b.mean(b.square(x), axis=axes, keepdims=True), epsilon))


def _residual_sum(b: GraphBuilder, x: Value, skip: Value, bias: Value | None) -> Value:
    """Returns `x + skip + bias`, not rounded."""
    if x.rank not in (2, 3):
        raise ConversionError(f"the input is {x.shaped}, expected rank 2 or 3")
    shape = skip.shape[1:] if skip.rank == 3 and skip.shape[0] == 1 else skip.shape
    if len(shape) < 2 or skip.rank > x.rank or not compatible(shape, x.shape[-len(shape) :]):
        raise ConversionError(
            f"skip is {skip.shaped}, expected the shape of the input, {x.shaped}, or that with a batch of 1 or none"
        )
    _check_vector(bias, "the bias", x)
    total = b.add(_widened(b, x), _widened(b, skip))
    return total if bias is None else b.add(total, _widened(b, bias))


@converter("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(
    b: GraphBuilder,
    x: Value,
    skip: Value,
    gamma: Value,
    beta: Value | None = None,
    bias: Value | None = None,
    *,
    epsilon: float = 1e-12,
) -> tuple[Value, ...]:
    """Normalises `x + skip + bias`. The further results are the mean, 1 over the deviation, and that sum."""
    total, axes = _residual_sum(b, x, skip, bias), (x.rank - 1,)
    result = _layer_norm(b, total, gamma, beta, epsilon)
    saved = statistics(b, total, axes, epsilon, "f32") if any(b.wanted[1:3]) else (result, result)
    return (cast(b, result, x.dtype), *saved, cast(b, total, x.dtype) if any(b.wanted[3:]) else result)


@converter("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_simplified_layer_normalization(
    b: GraphBuilder, x: Value, skip: Value, gamma: Value, bias: Value | None = None, *, epsilon: float = 1e-12
) -> tuple[Value, ...]:
    """
    Normalises `x + skip + bias` by its root mean square. The further results are 0 for the mean, which is not
    subtracted, 1 over the root, and that sum.
    """
    total, axes = _residual_sum(b, x, skip, bias), (x.rank - 1,)
    _check_vector(gamma, "gamma", x)
    result = b.rms_norm(total, parameter(b, total, gamma, axes, 1.0), axes=axes, epsilon=epsilon)
    mean = filled(b, (*extents_of(x)[:-1], 1), 0.0, "f32") if any(b.wanted[1:2]) else result
    inverse = _inverse_root(b, total, axes, epsilon) if any(b.wanted[2:3]) else result
    return cast(b, result, x.dtype), mean, inverse, cast(b, total, x.dtype) if any(b.wanted[3:]) else result


def _layer_norm(b: GraphBuilder, x: Value, gamma: Value, beta: Value | None, epsilon: float) -> Value:
    """Normalises the last dimension of `x`."""
    _check_vector(gamma, "gamma", x)
    _check_vector(beta, "beta", x)
    axes = (x.rank - 1,)
    scale, shift = parameter(b, x, gamma, axes, 1.0), parameter(b, x, beta, axes, 0.0)
    return b.layer_norm(x, scale, shift, axes=axes, epsilon=epsilon)


# Embeddings


@converter("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_normalization(
    b: GraphBuilder,
    input_ids: Value,
    segment_ids: Value | None = None,
    word_embedding: Value | None = None,
    position_embedding: Value | None = None,
    segment_embedding: Value | None = None,
    gamma: Value | None = None,
    beta: Value | None = None,
    mask: Value | None = None,
    position_ids: Value | None = None,
    *,
    epsilon: float = 1e-12,
    mask_index_type: int = 0,
) -> tuple[Value, ...]:
    """
    Normalises the sum of embeddings of words, positions and segments.

    The further results are how often a row of the mask is 1, and that sum. `mask_index_type` is about shapes only:
    the count is there when it has a name.
    """
    if word_embedding is None or position_embedding is None or gamma is None or beta is None:
        raise ConversionError("an input is missing, expected word and position embeddings, gamma and beta")
    if mask_index_type not in (0, 1):
        raise ConversionError(f"mask_index_type is {mask_index_type}, expected 0 or 1")
    if segment_ids is not None and segment_embedding is None:
        raise ConversionError("segment_embedding is missing, expected it with segment_ids")
    _check_ids(input_ids, segment_ids, mask, position_ids)
    total = b.add(
        b.take(_widened(b, word_embedding), input_ids, axis=0),
        _positions(b, _widened(b, position_embedding), input_ids, position_ids),
    )
    if segment_embedding is not None:
        total = b.add(total, _segments(b, _widened(b, segment_embedding), segment_ids))
    result = _layer_norm(b, total, gamma, beta, epsilon)
    index = ones_of(b, mask, input_ids) if any(b.wanted[1:2]) else result
    dtype = word_embedding.dtype
    return cast(b, result, dtype), index, cast(b, total, dtype) if any(b.wanted[2:]) else result


def _check_ids(input_ids: Value, segment_ids: Value | None, mask: Value | None, position_ids: Value | None) -> None:
    """Raises `ConversionError` unless all are matrices of one shape, or one row of that for the positions."""
    if input_ids.rank != 2:
        raise ConversionError(f"input_ids is {input_ids.shaped}, expected a matrix")
    for ids, what in ((segment_ids, "segment_ids"), (mask, "mask"), (position_ids, "position_ids")):
        if ids is None or compatible(ids.shape, input_ids.shape):
            continue
        if ids is not position_ids:
            raise ConversionError(f"{what} is {ids.shaped}, expected the shape of input_ids, {input_ids.shaped}")
        if not compatible(ids.shape, (1, *input_ids.shape[1:])):
            raise ConversionError(
                f"{what} is {ids.shaped}, expected the shape of input_ids, {input_ids.shaped}, or a row"
            )


def _positions(b: GraphBuilder, table: Value, input_ids: Value, position_ids: Value | None) -> Value:
    """Returns the rows of the positions, which are 0, 1, … when they are not given."""
    if position_ids is not None:
        return b.take(table, position_ids, axis=0)
    length, rows = extents_of(input_ids)[1], table.shape[0]
    least = length if isinstance(length, int) else 2  # A single row would be repeated.
    if rows is not None and rows < least:
        raise ConversionError(f"position_embedding is {table.shaped}, expected at least {least} rows")
    return table if rows == length else sliced(b, table, [0], [0], [length], [1])


def _segments(b: GraphBuilder, table: Value, segment_ids: Value | None) -> Value:
    """Returns the rows of the segments. onnxruntime takes all to be in segment 0 when they are not given."""
    if segment_ids is None:
        return b.strided_slice(table, axes=(0,), begin=(0,), end=(1,))
    return b.take(table, segment_ids, axis=0)


def ones_of(b: GraphBuilder, mask: Value | None, input_ids: Value) -> Value:
    """Returns how often each row of the mask is 1. Without a mask onnxruntime says 0."""
    if mask is None:
        return filled(b, extents_of(input_ids)[:1], 0, "i32")
    return b.sum(b.astype(b.equal(mask, 1), dtype="i32"), axis=1)


# Activations

direct("Gelu", "gelu", domain=DOMAIN)


@converter("BiasGelu", domain=DOMAIN)
@rounded_once
def bias_gelu(b: GraphBuilder, x: Value, bias: Value) -> Value:
    _check_vector(bias, "the bias", x)
    return b.gelu(b.add(x, bias))


@converter("FastGelu", domain=DOMAIN)
@rounded_once
def fast_gelu(b: GraphBuilder, x: Value, bias: Value | None = None) -> Value:
    """Gelu in its form with tanh."""
    _check_vector(bias, "the bias", x)
    return b.gelu(x if bias is None else b.add(x, bias), approximate="tanh")


@converter("QuickGelu", domain=DOMAIN)
def quick_gelu(b: GraphBuilder, x: Value, *, alpha: float = 1.702) -> Value:
    """`x * sigmoid(alpha * x)`."""
    return swish(b, x, alpha=alpha)


@converter("ScaledSiLU", domain=DOMAIN)
def scaled_silu(b: GraphBuilder, x: Value, scale: Value | None = None, *, alpha: float = 1.0) -> Value:
    """
    `z * sigmoid(z)` with `z = scale * x`, or `alpha * x` without a scale.

    As documented `z` is rounded. The sigmoid is not, since a rule would make one op of both anyway.
    """
    if scale is not None and scale.rank:
        raise ConversionError(f"the scale is {scale.shaped}, expected a scalar")
    scaled = x
    if scale is not None or alpha != 1:
        wide = _widened(b, x)
        scaled = cast(b, b.multiply(wide, alpha if scale is None else cast(b, scale, wide.dtype)), x.dtype)
    return b.silu(scaled)


@converter("SwiGLU", domain=DOMAIN)
def swiglu(
    b: GraphBuilder,
    gate: Value,
    up: Value | None = None,
    *,
    activation_alpha: float = 1.0,
    activation_beta: float = 0.0,
    limit: float = 0.0,
    round_activation: int = 0,
) -> Value:
    """
    `swish(g) * (u + activation_beta)`, where a positive limit bounds `g` from above and `u` on both sides.

    Without `up` the first half of the last dimension is the gate, the second `up`. onnxruntime has it on GPUs only.
    """
    left, right = _halves(b, gate) if up is None else (gate, up)
    if not compatible(left.shape, right.shape):
        raise ConversionError(f"the inputs are {left.shaped} and {right.shaped}, expected the same shape")
    left, right = _widened(b, left), _widened(b, right)
    if limit > 0:
        left, right = b.clip(left, max=limit), b.clip(right, min=-limit, max=limit)
    activated = swish(b, left, alpha=activation_alpha)
    if round_activation:
        activated = cast(b, cast(b, activated, gate.dtype), left.dtype)
    if activation_beta:
        right = b.add(right, activation_beta)
    return cast(b, b.multiply(activated, right), gate.dtype)


def _halves(b: GraphBuilder, x: Value) -> tuple[Value, Value]:
    if not x.rank or (x.shape[-1] or 0) % 2:
        raise ConversionError(f"the input is {x.shaped}, expected two halves in the last dimension")
    return b.split(x, sections=2, axis=-1)


# What only GPUs of onnxruntime have


@converter("BiasAdd", domain=DOMAIN)
@rounded_once
def bias_add(b: GraphBuilder, x: Value, bias: Value, skip: Value) -> Value:
    """`x + bias + skip`."""
    _check_vector(bias, "the bias", x)
    if not compatible(x.shape, skip.shape):
        raise ConversionError(f"skip is {skip.shaped}, expected the shape of the input, {x.shaped}")
    return b.add(b.add(x, bias), skip)


@converter("BiasSoftmax", domain=DOMAIN)
@rounded_once
def bias_softmax(b: GraphBuilder, x: Value, bias: Value, *, axis: int = 1, is_inner_broadcast: int) -> Value:
    """
    The softmax of `x + bias` over the dimensions from `axis` on, which count as one.

    The bias is repeated along the dimensions before `axis`: the last ones of them with `is_inner_broadcast`, else the
    first ones. Its shape says how many.
    """
    first = trailing_axes(x, axis)[0]
    shape = (1,) * (x.rank - bias.rank) + tuple(bias.shape)
    pairs = list(zip(x.shape, shape, strict=False))[:first]
    repeated = dropwhile(lambda pair: pair[0] == pair[1], pairs if is_inner_broadcast else pairs[::-1])
    if not compatible(shape[first:], x.shape[first:]) or any(extent != 1 for _, extent in repeated):
        side = "last" if is_inner_broadcast else "first"
        raise ConversionError(
            f"the bias is {bias.shaped}, expected {x.shaped} with 1 for the {side} extents before {axis}"
        )
    return _FLATTENED_SOFTMAX(b, b.add(x, bias), axis=axis)
