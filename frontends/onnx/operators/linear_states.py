"""
The state of linear attention: a matrix for each head, which a token after the other changes.

A token reads the state twice and writes it once. Source: Yang, Kautz, Hatamizadeh, Gated Delta Networks, 2024.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ....lazy_dataclass import dataclass
from ..emitting.forms import broadcast, filled, reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Extent, Size, combined, extents_of, scalar
from ..value import Value
from .signed_bytes import cast
from .steps import repeat

TOKENS: Final = 8
"""Tokens in a turn of the loop. Each turn copies the state; each token in it takes a tenth of a second to compile."""

LEAST: Final = 32
"""The least tokens for which there are several in a turn."""


@dataclass(frozen=True)
class Rule:
    """The change of the state by a token."""

    gated: bool
    """True if the state decays before."""
    delta: bool
    """True if it gets the difference to what the key finds in it, and not the value."""


@dataclass(frozen=True)
class Tokens:
    """What tokens bring, as batch x sequence x heads x size. The heads of values are those of the state."""

    query: Value
    key: Value
    value: Value
    decay: Value | None
    """The logarithm of what is left of the state, with one number for a head or for each row."""
    beta: Value | None

    @property
    def heads(self) -> int:
        """The heads of the state."""
        return self.value.shape[2] or 0

    @property
    def parts(self) -> list[Value]:
        found = (self.query, self.key, self.value, self.decay, self.beta)
        return [each for each in found if each is not None]

    def of(self, parts: list[Value]) -> Tokens:
        """Returns tokens of other parts in the place of those that are there."""
        names = [name for name in ("query", "key", "value", "decay", "beta") if getattr(self, name) is not None]
        return replace(self, **dict(zip(names, parts, strict=True)))

    def widened(self, b: GraphBuilder) -> Tokens:
        """Returns the tokens in f32."""
        return self.of([cast(b, each, "f32") for each in self.parts])


def outputs_and_states(
    b: GraphBuilder, tokens: Tokens, start: Value, rule: Rule, scale: float, window: int
) -> tuple[Value, list[Value]]:
    """
    Returns the results as batch x sequence x heads x size, and the states after the last tokens.

    There are `window` states, but at least one. Before the first token of the call they are 0. The state is batch x
    heads x size of keys x size of values.
    """
    moved = _time_first(b, tokens, scale)
    rows = moved.query.shape[0] if window <= 1 else b.extent(moved.query, 0, "the query")
    count: Extent = extents_of(moved.query)[0] if rows is None else rows
    alone = max(min(window, rows or 0) - 1, 0)
    results: list[Value] = []
    head = count if isinstance(count, Size) else count - alone
    stored, state = _looped(b, moved, start, rule, head)
    results.append(stored)
    states = [state]
    for number in range(rows - alone if rows else 0, rows or 0):
        output, state = _stepped(b, _token(b, moved, number), state, rule)
        results.append(b.expand_dims(output, axis=(0,)))
        states.append(state)
    missing = window - len(states)
    states = [filled(b, extents_of(start), 0.0, "f32")] * missing + states
    joined = results[0] if len(results) == 1 else b.concat(*results, axis=0)
    # steps x batch x heads x queries of each x size
    return b.permute_dims(joined, axes=(1, 0, 2, 3, 4)), states


def _time_first(b: GraphBuilder, tokens: Tokens, scale: float) -> Tokens:
    """
    Returns the tokens with the sequence first, a key for each head of the state, and the queries of each head as rows.
    """
    heads = tokens.heads
    query = b.multiply(tokens.query, scale) if scale != 1 else tokens.query
    if (query.shape[2] or 0) < heads:
        query = _for_heads(b, query, heads)
    extents = extents_of(query)
    grouped = reshaped(b, query, (*extents[:2], heads, (query.shape[2] or 0) // heads, extents[3]))
    parts = [_for_heads(b, tokens.key, heads), tokens.value, *tokens.parts[3:]]
    flat = [b.permute_dims(each, axes=(1, 0, 2, 3)) for each in parts]
    return tokens.of([b.permute_dims(grouped, axes=(1, 0, 2, 3, 4)), *flat])


def _for_heads(b: GraphBuilder, x: Value, heads: int) -> Value:
    """Repeats each head of batch x sequence x heads x size for the heads of the state that share it."""
    first, second, found, size = extents_of(x)
    if found == heads:
        return x
    assert isinstance(found, int)
    spread = broadcast(b, b.expand_dims(x, axis=(3,)), (first, second, found, heads // found, size))
    return reshaped(b, spread, (first, second, heads, size))


def _token(b: GraphBuilder, tokens: Tokens, number: int) -> Tokens:
    if tokens.query.shape[0] == 1:
        return tokens.of([b.squeeze(each, axis=(0,)) for each in tokens.parts])
    rows = (b.strided_slice(each, axes=(0,), begin=(number,), end=(number + 1,)) for each in tokens.parts)
    return tokens.of([b.squeeze(each, axis=(0,)) for each in rows])


def _looped(b: GraphBuilder, tokens: Tokens, start: Value, rule: Rule, count: Extent) -> tuple[Value, Value]:
    """Returns the results of the first `count` tokens, and the state after them."""
    if count == 1:
        output, state = _stepped(b, _token(b, tokens, 0), start, rule)
        return b.expand_dims(output, axis=(0,)), state
    if isinstance(count, Size):
        return _turns(b, tokens, start, rule, count, 1)
    results: list[Value] = []
    state, whole = start, count // TOKENS * TOKENS if count >= LEAST else 0
    # What is left has a token in each turn: to write its steps one after the other takes long to compile.
    for begin, end, size in ((0, whole, TOKENS), (whole, count, 1)):
        if begin < end:
            part = tokens.of([_rows(b, each, begin, end) for each in tokens.parts])
            found, state = _turns(b, part, state, rule, (end - begin) // size, size)
            results.append(found)
    return results[0] if len(results) == 1 else b.concat(*results, axis=0), state


def _rows(b: GraphBuilder, x: Value, begin: int, end: int) -> Value:
    return x if x.shape[0] == end - begin else b.strided_slice(x, axes=(0,), begin=(begin,), end=(end,))


def _turns(b: GraphBuilder, tokens: Tokens, start: Value, rule: Rule, turns: Extent, size: int) -> tuple[Value, Value]:
    """Returns the same as a loop with `size` tokens in each turn."""
    _, batch, heads, queries, _ = extents_of(tokens.query)
    row = (batch, heads, queries, extents_of(tokens.value)[3])
    parts = [reshaped(b, each, (turns, size, *extents_of(each)[1:])) for each in tokens.parts]
    keeps = b.wanted[0]

    def body(turn: Value, carried: list[Value]) -> list[Value]:
        own = tokens.of([b.take(each, turn, axis=0) for each in parts])
        outputs: list[Value] = []
        state = carried[-1]
        for number in range(size):
            output, state = _stepped(b, _token(b, own, number), state, rule)
            outputs.append(b.expand_dims(output, axis=(0,)))
        if not keeps:
            return [state]
        joined = outputs[0] if size == 1 else b.concat(*outputs, axis=0)
        return [b.scatter_nd(carried[0], b.reshape(turn, shape=(1,)), joined), state]

    room = filled(b, (turns, size, *row), 0.0, "f32")
    count = scalar(b, turns) if isinstance(turns, Size) else turns
    found = repeat(b, count, [room, start] if keeps else [start], body)
    stored = found[0] if keeps else room
    return reshaped(b, stored, (combined("multiply", turns, size), *row)), found[-1]


def _stepped(b: GraphBuilder, token: Tokens, state: Value, rule: Rule) -> tuple[Value, Value]:
    """
    Returns what the queries of a token find, and the state after it.

    The key that reads the state decays in its place. So the state is written once.
    """
    key = b.expand_dims(token.key, axis=(3,))
    left = None if token.decay is None else b.expand_dims(b.exp(token.decay), axis=(3,))
    kept = state if left is None else b.multiply(state, left)
    brought = b.expand_dims(token.value, axis=(2,))
    if rule.delta:
        assert token.beta is not None
        reader = token.key if token.decay is None else b.multiply(token.key, b.exp(token.decay))
        found = b.matmul(b.expand_dims(reader, axis=(2,)), state)
        brought = b.multiply(b.subtract(brought, found), b.expand_dims(token.beta, axis=(3,)))
    after = b.add(kept, b.multiply(key, brought))
    return b.matmul(token.query, after), after
