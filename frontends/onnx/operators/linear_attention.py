"""
Attention whose state does not grow: LinearAttention and what stands around it in the set `com.microsoft`.

Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from math import sqrt
from typing import Final

from ..emitting.forms import broadcast, filled, reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .causal_convolution import FLOATS, check_choice, check_like, check_state_window, last_of_window, stacked_window
from .linear_states import Rule, Tokens, outputs_and_states
from .quantized_fusions import DOMAIN
from .signed_bytes import cast
from .widening import rounded_once

RULES: Final = ("linear", "gated", "delta", "gated_delta")


@converter("LinearAttention", domain=DOMAIN)
def linear_attention(
    b: GraphBuilder,
    query: Value,
    key: Value,
    value: Value,
    past_state: Value | None = None,
    decay: Value | None = None,
    beta: Value | None = None,
    *,
    q_num_heads: int,
    kv_num_heads: int,
    update_rule: str = "gated_delta",
    scale: float = 0.0,
    chunk_size: int = 64,
    state_window: int = 0,
) -> tuple[Value, Value]:
    """
    Returns `scale * q^T S` for each token and the state `S` after the last one.

    A token makes `S` of it: `exp(decay) * S + k (x) (beta * (v - k^T (exp(decay) * S)))`, by the rule without the
    decay, or with `v` in the place of the difference. `chunk_size` says how to compute that.
    """
    check_state_window(state_window)
    rule = rule_of(update_rule)
    _check_heads(q_num_heads, kv_num_heads)
    size = _size_of_head(b, query, q_num_heads, "query")
    k_size = _key_heads(b, key, query, size, kv_num_heads)
    v_size = _size_of_head(b, value, kv_num_heads, "value")
    check_like("value", value, (*query.shape[:2], kv_num_heads * v_size), query.dtype)
    gates = _decay(b, decay, query, rule, kv_num_heads, size)
    rates = _beta(b, beta, query, rule, kv_num_heads)
    shape = (query.shape[0], kv_num_heads, size, v_size)
    dtype = query.dtype if past_state is None or past_state.dtype not in FLOATS else past_state.dtype
    past = last_of_window(b, past_state, "past_state", shape, dtype, state_window)
    tokens = Tokens(
        _by_head(b, query, q_num_heads, size),
        _by_head(b, key, k_size, size),
        _by_head(b, value, kv_num_heads, v_size),
        gates,
        rates,
    ).widened(b)
    start = filled(b, (extents_of(query)[0], *shape[1:]), 0.0, "f32") if past is None else cast(b, past, "f32")
    factor = scale or 1 / sqrt(size)
    result, states = outputs_and_states(b, tokens, start, rule, factor, state_window)
    found = [cast(b, each, dtype) for each in states]
    width = max(q_num_heads, kv_num_heads) * v_size
    packed = reshaped(b, result, (*extents_of(query)[:2], width))
    return cast(b, packed, query.dtype), stacked_window(b, found, state_window)


def rule_of(name: str) -> Rule:
    """Returns what a rule of `LinearAttention` does by its name."""
    check_choice("update_rule", name, RULES)
    return Rule("gated" in name, "delta" in name)


def _check_heads(queries: int, shared: int) -> None:
    if queries < 1 or shared < 1 or max(queries, shared) % min(queries, shared):
        raise ConversionError(
            f"there are {queries} heads of queries and {shared} of values, expected one number to divide the other"
        )


def _size_of_head(b: GraphBuilder, x: Value, heads: int, what: str) -> int:
    if x.rank != 3 or x.dtype not in FLOATS:
        raise ConversionError(
            f"{what} is {x.shaped}, expected batch x sequence x columns and elements of {', '.join(FLOATS)}"
        )
    width = b.extent(x, 2, what)
    if not width or width % heads:
        raise ConversionError(f"{what} is {x.shaped}, expected columns that divide into {heads} heads")
    return width // heads


def _key_heads(b: GraphBuilder, key: Value, query: Value, size: int, shared: int) -> int:
    """Returns the number of heads of keys, each of which may be for several ones of values."""
    width = b.extent(key, 2, "key") if key.rank == 3 else 0
    heads = width // size
    if not heads or width % size or shared % heads:
        raise ConversionError(
            f"key is {key.shaped}, expected columns that are heads of {size}, whose number divides {shared}"
        )
    check_like("key", key, (*query.shape[:2], width), query.dtype)
    return heads


def _by_head(b: GraphBuilder, x: Value, heads: int, size: int) -> Value:
    return reshaped(b, x, (*extents_of(x)[:2], heads, size))


def _decay(b: GraphBuilder, decay: Value | None, query: Value, rule: Rule, heads: int, size: int) -> Value | None:
    """Returns a logarithm for each head, or for each row of its state. Other rules do not look at it."""
    if decay is None:
        if rule.gated:
            raise ConversionError("decay is missing, expected it with this update_rule")
        return None
    wide = decay.rank == 3 and decay.shape[2] == heads * size
    check_like("decay", decay, (*query.shape[:2], heads * size if wide else heads), query.dtype)
    return _by_head(b, decay, heads, size if wide else 1) if rule.gated else None


def _beta(b: GraphBuilder, beta: Value | None, query: Value, rule: Rule, heads: int) -> Value | None:
    """Returns a factor for each head, or for all."""
    if beta is None:
        if rule.delta:
            raise ConversionError("beta is missing, expected it with this update_rule")
        return None
    alone = beta.rank == 3 and beta.shape[2] == 1
    check_like("beta", beta, (*query.shape[:2], 1 if alone else heads), query.dtype)
    if not rule.delta:
        return None
    found = _by_head(b, beta, 1 if alone else heads, 1)
    return found if not alone or heads == 1 else broadcast(b, found, (*extents_of(beta)[:2], heads, 1))


# What stands around it


@converter("LinearAttentionGate", domain=DOMAIN)
def linear_attention_gate(
    b: GraphBuilder, a: Value, dt_bias: Value, decay_scale: Value, beta: Value | None = None
) -> tuple[Value, ...]:
    """Returns `decay_scale * softplus(a + dt_bias)` and the sigmoid of `beta`, with numbers for each head."""
    if not a.rank or a.dtype not in FLOATS:
        raise ConversionError(f"a is {a.shaped}, expected heads in the last dimension and elements of f32, f16, bf16")
    for what, each in (("dt_bias", dt_bias), ("decay_scale", decay_scale)):
        check_like(what, each, a.shape[-1:], "f32")
    check_like("b", beta, a.shape, a.dtype)
    moved = b.add(cast(b, a, "f32"), dt_bias)
    softplus = b.add(b.relu(moved), b.log1p(b.exp(b.negative(b.abs(moved)))))
    decay = cast(b, b.multiply(softplus, decay_scale), a.dtype)
    if not any(b.wanted[1:]):
        return (decay,)
    if beta is None:
        raise ConversionError("b is missing, expected it where the second output is used")
    return decay, rounded_once(lambda b, x: b.sigmoid(x))(b, beta)


@converter("GatedRMSNorm", domain=DOMAIN)
def gated_rms_norm(
    b: GraphBuilder, x: Value, scale: Value, gate: Value, *, epsilon: float = 1e-5, activation: str = "silu"
) -> Value:
    """
    Normalises each head by the root of its mean square, and multiplies it by an activation of the gate.

    A head has as many numbers as `scale`, and the last dimension is a row of heads.
    """
    check_choice("activation", activation, ("silu", "swish", "sigmoid"))
    size = scale.shape[0] if scale.rank == 1 else None
    if not size or scale.dtype != x.dtype:
        raise ConversionError(f"scale is {scale.shaped}, expected a vector for each head and elements of {x.dtype}")
    if not x.rank or x.dtype not in FLOATS or b.extent(x, x.rank - 1, "X") % size:
        raise ConversionError(
            f"X is {x.shaped}, expected columns that are heads of {size} and elements of f32, f16, bf16"
        )
    check_like("gate", gate, x.shape, x.dtype)

    @rounded_once
    def normalised(b: GraphBuilder, x: Value, scale: Value, gate: Value) -> Value:
        extents = extents_of(x)
        heads = x if x.shape[-1] == size else reshaped(b, x, (*extents[:-1], (x.shape[-1] or 0) // size, size))
        result = reshaped(b, b.rms_norm(heads, scale, axes=(heads.rank - 1,), epsilon=epsilon), extents)
        return b.multiply(result, b.sigmoid(gate) if activation == "sigmoid" else b.silu(gate))

    return normalised(b, x, scale, gate)


@converter("GatedAdd", domain=DOMAIN)
def gated_add(b: GraphBuilder, x: Value, scaled: Value, gate: Value, gate_weight: Value | None = None) -> Value:
    """Returns `x + scaled * gate`, with one number of the gate for each row."""
    if gate_weight is not None:
        raise ConversionError("gate_weight is given, which onnxruntime has on GPUs only; expected the gate itself")
    if not x.rank or x.dtype not in FLOATS:
        raise ConversionError(f"X is {x.shaped}, expected rows and elements of {', '.join(FLOATS)}")
    check_like("Y", scaled, x.shape, x.dtype)
    check_like("gate", gate, (*x.shape[:-1], 1), x.dtype)
    return b.add(x, b.multiply(scaled, gate))
