"""Recurrent layers: RNN, GRU, LSTM. Their cells are here, and `recurrent_layers.py` runs them along the steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .recurrent_activations import Activation, activations_of
from .recurrent_layers import Direction, Layer, Step, layer_of, run_layer


@converter("RNN", since=7)
def rnn(
    b: GraphBuilder,
    x: Value,
    w: Value,
    r: Value,
    bias: Value | None = None,
    sequence_lens: Value | None = None,
    initial_h: Value | None = None,
    *,
    activations: tuple[str, ...] | None = None,
    activation_alpha: tuple[float, ...] | None = None,
    activation_beta: tuple[float, ...] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
) -> Any:
    """`h' = f(x W^T + h R^T + bias)`."""
    layer = layer_of(b, x, r, sequence_lens, 1, hidden_size, clip, layout)
    return run_layer(
        layer,
        (w, r, bias, None),
        (initial_h,),
        direction,
        lambda count: activations_of(activations, ("Tanh",), count, activation_alpha, activation_beta),
        _rnn_cell,
    )


def _rnn_cell(layer: Layer, one: Direction) -> tuple[Value | None, Step]:
    def step(gates: Value, state: list[Value]) -> list[Value]:
        return [layer.act(one.functions[0], layer.b.add(gates, layer.product(state[0], one.r)))]

    return _sum_of_biases(layer, one), step


def _sum_of_biases(layer: Layer, one: Direction) -> Value | None:
    return None if one.biases is None else layer.b.add(*one.biases)


@converter("GRU", since=7)
def gru(
    b: GraphBuilder,
    x: Value,
    w: Value,
    r: Value,
    bias: Value | None = None,
    sequence_lens: Value | None = None,
    initial_h: Value | None = None,
    *,
    activations: tuple[str, ...] | None = None,
    activation_alpha: tuple[float, ...] | None = None,
    activation_beta: tuple[float, ...] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
    linear_before_reset: int = 0,
) -> Any:
    """
    Computes `h' = (1 - z) h~ + z h` with the gates z (update), r (reset) and h.

    There `h~ = g(x Wh^T + (r h) Rh^T + …)` or, linear before reset, `g(x Wh^T + r (h Rh^T + …))`.
    """
    layer = layer_of(b, x, r, sequence_lens, 3, hidden_size, clip, layout)
    cell = _gru_cell_reset_late if linear_before_reset else _gru_cell
    names = ("Sigmoid", "Tanh")
    return run_layer(
        layer,
        (w, r, bias, None),
        (initial_h,),
        direction,
        lambda count: activations_of(activations, names, count, activation_alpha, activation_beta),
        cell,
    )


def _gru_cell(layer: Layer, one: Direction) -> tuple[Value | None, Step]:
    b = layer.b
    outer = b.strided_slice(one.r, axes=(0,), begin=(0,), end=(2 * layer.hidden,))
    inner = b.strided_slice(one.r, axes=(0,), begin=(2 * layer.hidden,), end=(3 * layer.hidden,))

    def step(gates: Value, state: list[Value]) -> list[Value]:
        h = state[0]
        both = b.add(layer.part(gates, 0, 2), layer.product(h, outer))
        update = layer.act(one.functions[0], layer.part(both, 0))
        reset = layer.act(one.functions[0], layer.part(both, 1))
        new = b.add(layer.part(gates, 2), layer.product(b.multiply(reset, h), inner))
        return [_mixed(b, update, layer.act(one.functions[1], new), h)]

    return _sum_of_biases(layer, one), step


def _gru_cell_reset_late(layer: Layer, one: Direction) -> tuple[Value | None, Step]:
    """Computes a step in which the bias of the state in the third gate is multiplied by the reset gate, too."""
    b, biases = layer.b, one.biases

    def step(gates: Value, state: list[Value]) -> list[Value]:
        h = state[0]
        recurrent = layer.product(h, one.r)
        if biases is not None:
            recurrent = b.add(recurrent, biases[1])
        both = b.add(layer.part(gates, 0, 2), layer.part(recurrent, 0, 2))
        update = layer.act(one.functions[0], layer.part(both, 0))
        reset = layer.act(one.functions[0], layer.part(both, 1))
        new = b.add(layer.part(gates, 2), b.multiply(reset, layer.part(recurrent, 2)))
        return [_mixed(b, update, layer.act(one.functions[1], new), h)]

    return (None if biases is None else biases[0]), step


def _mixed(b: GraphBuilder, update: Value, new: Value, old: Value) -> Value:
    one = b.full((), 1.0, update.dtype)
    return b.add(b.multiply(b.subtract(one, update), new), b.multiply(update, old))


@converter("LSTM", since=7)
def lstm(
    b: GraphBuilder,
    x: Value,
    w: Value,
    r: Value,
    bias: Value | None = None,
    sequence_lens: Value | None = None,
    initial_h: Value | None = None,
    initial_c: Value | None = None,
    peepholes: Value | None = None,
    *,
    activations: tuple[str, ...] | None = None,
    activation_alpha: tuple[float, ...] | None = None,
    activation_beta: tuple[float, ...] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    layout: int = 0,
) -> Any:
    """
    Computes `c' = f c + i g(c~)` and `h' = o h(c')` with the gates i, o, f and c.

    Peepholes add the cell to i and f, and the new cell to o.

    With `input_forget` the forget gate is `1 - i`.
    """
    layer = layer_of(b, x, r, sequence_lens, 4, hidden_size, clip, layout)
    functions = lstm_functions(activations, activation_alpha, activation_beta)
    return run_lstm(layer, (w, r, bias, peepholes), (initial_h, initial_c), direction, functions, input_forget)


def lstm_functions(
    names: tuple[str, ...] | None, alphas: tuple[float, ...] | None, betas: tuple[float, ...] | None
) -> Callable[[int], list[tuple[Activation, ...]]]:
    """The activations of an LSTM, by the number of its directions."""
    return lambda count: activations_of(names, ("Sigmoid", "Tanh", "Tanh"), count, alphas, betas)


def run_lstm(
    layer: Layer,
    parameters: Sequence[Value | None],
    initial: Sequence[Value | None],
    direction: str,
    functions: Callable[[int], list[tuple[Activation, ...]]],
    input_forget: int,
) -> tuple[Value, ...]:
    return run_layer(
        layer, parameters, initial, direction, functions, _coupled_lstm_cell if input_forget else _lstm_cell
    )


def _coupled_lstm_cell(layer: Layer, one: Direction) -> tuple[Value | None, Step]:
    return _lstm_cell(layer, one, coupled=True)


def _lstm_cell(layer: Layer, one: Direction, coupled: bool = False) -> tuple[Value | None, Step]:
    b, (gate, cell_input, output) = layer.b, one.functions
    looks = None
    if one.peepholes is not None:
        if one.peepholes.shape != (3 * layer.hidden,):
            raise ConversionError(f"P is {one.peepholes.shaped}, expected {3 * layer.hidden} elements a direction")
        looks = [layer.part(one.peepholes, number) for number in range(3)]

    def seen(value: Value, number: int, cell: Value) -> Value:
        return value if looks is None else b.add(value, b.multiply(looks[number], cell))

    def step(gates: Value, state: list[Value]) -> list[Value]:
        h, c = state
        full = b.add(gates, layer.of_state(h, one))
        i = layer.act(gate, seen(layer.part(full, 0), 0, c))
        if coupled:
            f = b.subtract(b.full((), 1.0, i.dtype), i)
        else:
            f = layer.act(gate, seen(layer.part(full, 2), 2, c))
        new = b.add(b.multiply(f, c), b.multiply(i, layer.act(cell_input, layer.part(full, 3))))
        o = layer.act(gate, seen(layer.part(full, 1), 1, new))
        return [b.multiply(o, output(b, new)), new]

    return _sum_of_biases(layer, one), step
