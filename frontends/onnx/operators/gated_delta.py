"""
Linear attention with its gates: GatedDeltaNet of the set `com.microsoft`.

Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from math import sqrt
from typing import Final

from ....dialects.graph.shapes import Shape
from ..emitting.forms import filled, reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .causal_convolution import FLOATS, check_choice, check_like
from .linear_attention import rule_of
from .linear_states import Tokens, outputs_and_states
from .quantized_fusions import DOMAIN
from .signed_bytes import cast

GATES: Final = ("none", "softplus", "qwen", "sigmoid", "kda")
NORM_EPSILON: Final = 1e-12
"""What onnxruntime adds to the sum of squares of a head."""


@converter("GatedDeltaNet", domain=DOMAIN)
def gated_delta_net(
    b: GraphBuilder,
    query: Value,
    key: Value | None = None,
    value: Value | None = None,
    cu_seqlens: Value | None = None,
    decay: Value | None = None,
    beta: Value | None = None,
    initial_state: Value | None = None,
    a_log: Value | None = None,
    dt_bias: Value | None = None,
    capture_count: Value | None = None,
    state_update_active: Value | None = None,
    *,
    update_rule: str = "gated_delta",
    scale: float = 0.0,
    qk_l2_norm: int = 0,
    gate_activation: str = "none",
    beta_activation: str = "none",
    gate_lower_bound: float = -5.0,
    chunk_size: int = 64,
    state_update_capacity: int = 0,
) -> tuple[Value, Value]:
    """
    Returns what `LinearAttention` does, of tokens by head, and with a state that is transposed and always f32.

    It also computes the decay and the rate of the delta, and normalises queries and keys. `chunk_size` says how.
    """
    if cu_seqlens is not None or state_update_capacity or capture_count is not None or state_update_active is not None:
        raise ConversionError("sequences are packed or updates captured, expected batch x sequence and neither")
    check_choice("gate_activation", gate_activation, GATES)
    check_choice("beta_activation", beta_activation, ("none", "sigmoid"))
    rule = rule_of(update_rule)
    if key is None or value is None:
        raise ConversionError("key or value is missing, expected query, key and value by heads")
    outer, heads, size, v_size = _check_heads(b, query, key, value)
    shape = (initial_state.shape[0] if query.rank == 3 and initial_state else query.shape[0], heads, v_size, size)
    check_like("initial_state", initial_state, shape, "f32")
    if query.rank == 3 and initial_state is None:
        raise ConversionError("initial_state is missing, expected it as its batch says how long the sequences are")
    batch = extents_of(query)[0] if initial_state is None else extents_of(initial_state)[0]

    def by_token(x: Value) -> Value:
        """Returns batch x sequence x what there is for a token, in f32."""
        extents = extents_of(x)
        return cast(b, x if query.rank == 4 else reshaped(b, x, (batch, -1, *extents[1:])), "f32")

    for what, each, wanted in (("decay", decay, rule.gated), ("beta", beta, rule.delta)):
        if each is not None and not wanted:
            raise ConversionError(f"{what} is given, expected none with update_rule '{update_rule}'")
    q, k = by_token(query), by_token(key)
    if qk_l2_norm:
        q, k = _normalised(b, q), _normalised(b, k)
    gates = rates = None
    if rule.gated:
        gates = _decay(b, decay, a_log, dt_bias, (*outer, heads), size, gate_activation, gate_lower_bound)
        gates = by_token(gates)
    if rule.delta:
        rates = by_token(_rate(b, beta, (*outer, heads), beta_activation))
    tokens = Tokens(q, k, by_token(value), gates, rates)
    start = filled(b, (batch, heads, size, v_size), 0.0, "f32") if initial_state is None else _turned(b, initial_state)
    result, states = outputs_and_states(b, tokens, start, rule, scale or 1 / sqrt(size), 0)
    packed = reshaped(b, result, (*extents_of(query)[:-2], heads, v_size))
    return cast(b, packed, query.dtype), _turned(b, states[-1])


def _check_heads(b: GraphBuilder, query: Value, key: Value, value: Value) -> tuple[Shape, int, int, int]:
    """Returns the extents before the heads, and the heads of the state and their sizes."""
    if query.rank not in (3, 4) or query.dtype not in FLOATS or value.rank != query.rank:
        raise ConversionError(
            f"query is {query.shaped} and value {value.shaped}, expected (batch x) tokens x heads x size of floats"
        )
    outer, shared = query.shape[:-2], b.extent(query, query.rank - 2, "query")
    check_like("key", key, query.shape, query.dtype)
    heads, v_size = (b.extent(value, value.rank - each, "value") for each in (2, 1))
    check_like("value", value, (*outer, heads, v_size), query.dtype)
    if not shared or heads % shared:
        raise ConversionError(f"value has {heads} heads, expected a multiple of the {shared} of query")
    return outer, heads, b.extent(query, query.rank - 1, "query"), v_size


def _turned(b: GraphBuilder, state: Value) -> Value:
    return b.permute_dims(state, axes=(0, 1, 3, 2))


def _normalised(b: GraphBuilder, x: Value) -> Value:
    return b.multiply(x, b.rsqrt(b.add(b.sum(b.square(x), axis=-1, keepdims=True), NORM_EPSILON)))


def _decay(
    b: GraphBuilder,
    decay: Value | None,
    a_log: Value | None,
    dt_bias: Value | None,
    shape: Shape,
    size: int,
    activation: str,
    bound: float,
) -> Value:
    """Returns the logarithm of what is left of the state, for each head or for each of its rows."""
    if decay is None:
        raise ConversionError("decay is missing, expected it with this update_rule")
    wide = decay.rank == len(shape) + 1
    check_like("decay", decay, (*shape, size) if wide else shape, decay.dtype if decay.dtype in FLOATS else "f32")
    found = cast(b, decay if wide else b.expand_dims(decay, axis=(decay.rank,)), "f32")
    if activation == "none":
        return found
    heads = shape[-1]
    if a_log is None or dt_bias is None:
        raise ConversionError(f"a_log or dt_bias is missing, expected both with gate_activation '{activation}'")
    check_like("a_log", a_log, (heads,), "f32")
    apart = next(
        (each for each in ((heads,), (heads, size), ((heads or 0) * size,)) if dt_bias.shape == each), (heads,)
    )
    check_like("dt_bias", dt_bias, apart, "f32")
    if apart != (heads,) and not wide:
        raise ConversionError(f"dt_bias is {dt_bias.shaped}, expected {heads} elements as decay has one for each head")
    moved = b.add(found, b.reshape(dt_bias, shape=(heads, 1) if apart == (heads,) else (heads, size)))
    factor = b.exp(b.reshape(a_log, shape=(heads, 1)))
    if activation in ("sigmoid", "kda"):
        return b.multiply(b.sigmoid(b.multiply(factor, moved)), bound)
    softplus = b.add(b.relu(moved), b.log1p(b.exp(b.negative(b.abs(moved)))))
    return b.multiply(softplus, b.negative(factor))


def _rate(b: GraphBuilder, beta: Value | None, shape: Shape, activation: str) -> Value:
    """Returns the factor of the delta for each head."""
    if beta is None:
        raise ConversionError("beta is missing, expected it with this update_rule")
    check_like("beta", beta, shape, beta.dtype if beta.dtype in FLOATS else "f32")
    wide = cast(b, b.expand_dims(beta, axis=(beta.rank,)), "f32")
    return b.sigmoid(wide) if activation == "sigmoid" else wide
