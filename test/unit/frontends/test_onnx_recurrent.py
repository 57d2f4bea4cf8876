"""
RNN, GRU and LSTM of ONNX, against the equations of the specification one element of a batch and one step at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx_one_node import run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def logistic(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def hard_sigmoid(alpha: float, beta: float) -> Callable[[Array], Array]:
    return lambda x: np.clip(alpha * x + beta, 0, 1)


def parameters(operator: str, directions: int, hidden: int = 5, size: int = 3) -> dict[str, Array]:
    rng = np.random.default_rng(7)
    rows = GATES[operator] * hidden
    shapes = {"w": (rows, size), "r": (rows, hidden), "b": (2 * rows,)}
    return {name: 0.4 * rng.standard_normal((directions, *shape)) for name, shape in shapes.items()}


def cell(
    operator: str, own: dict[str, Array], functions: Any, options: dict[str, Any]
) -> Callable[[Array, list[Array]], list[Array]]:
    """One step for one element of the batch; `own` are the parameters of a direction."""
    hidden = own["r"].shape[1]
    of_input, of_state = np.split(own["b"], 2)
    clip = options.get("clip", np.inf)

    def act(number: int, x: Array) -> Array:
        return functions[number](np.clip(x, -clip, clip))

    def rnn(x: Array, state: list[Array]) -> list[Array]:
        return [act(0, own["w"] @ x + own["r"] @ state[0] + of_input + of_state)]

    def gru(x: Array, state: list[Array]) -> list[Array]:
        (h,) = state
        z, r, new = (own["w"] @ x + of_input).reshape(3, hidden)
        rz, rr, rh = own["r"].reshape(3, hidden, hidden)
        bz, br, bh = of_state.reshape(3, hidden)
        z, r = act(0, z + rz @ h + bz), act(0, r + rr @ h + br)
        if options.get("linear_before_reset"):
            new = act(1, new + r * (rh @ h + bh))
        else:
            new = act(1, new + rh @ (r * h) + bh)
        return [(1 - z) * new + z * h]

    def lstm(x: Array, state: list[Array]) -> list[Array]:
        h, c = state
        i, o, f, new = (own["w"] @ x + own["r"] @ h + of_input + of_state).reshape(4, hidden)
        look = own.get("p", np.zeros(3 * hidden)).reshape(3, hidden)
        i = act(0, i + look[0] * c)
        f = 1 - i if options.get("input_forget") else act(0, f + look[2] * c)
        after = f * c + i * act(1, new)
        return [act(0, o + look[1] * after) * functions[2](after), after]

    return {"RNN": rnn, "GRU": gru, "LSTM": lstm}[operator]


def by_hand(
    operator: str,
    x: Array,
    own: dict[str, Array],
    state: list[Array],
    lengths: Any,
    functions: Any,
    options: dict[str, Any],
) -> list[Array]:
    """Y and the last states; `x` is (steps, batch, size), `state` (directions, batch, hidden) each."""
    steps, batch, _ = x.shape
    backwards = {"reverse": [True], "bidirectional": [False, True]}.get(options.get("direction", ""), [False])
    y = np.zeros((steps, len(backwards), batch, state[0].shape[2]))
    last = [each.copy() for each in state]
    for direction, back in enumerate(backwards):
        step = cell(operator, {name: each[direction] for name, each in own.items()}, functions, options)
        for row in range(batch):
            now = [each[direction, row] for each in state]
            order = range(lengths[row])
            for at in reversed(order) if back else order:
                now = step(x[at, row], now)
                y[at, direction, row] = now[0]
            for each, value in zip(last, now, strict=True):
                each[direction, row] = value
    return [y, *last]


DEFAULTS = {"RNN": (np.tanh,), "GRU": (logistic, np.tanh), "LSTM": (logistic, np.tanh, np.tanh)}

CASES: list[tuple[str, int, dict[str, Any]]] = [
    ("RNN", 4, {}),
    ("RNN", 3, {"direction": "bidirectional", "clip": 0.25}),
    ("GRU", 4, {"direction": "reverse"}),
    ("GRU", 3, {"linear_before_reset": 1, "direction": "bidirectional"}),
    ("GRU", 70, {}),
    ("LSTM", 4, {"direction": "bidirectional", "clip": 0.5}),
    ("LSTM", 3, {"input_forget": 1}),
    ("LSTM", 1, {}),
    ("LSTM", 66, {"direction": "reverse"}),
    ("RNN", 21, {"direction": "reverse"}),
    ("GRU", 23, {"direction": "bidirectional"}),
    ("LSTM", 41, {}),
]


def check(
    operator: str, steps: int, options: dict[str, Any], functions: Any, *, layout: int = 0, known: bool = True
) -> None:
    directions = 2 if options.get("direction") == "bidirectional" else 1
    own = parameters(operator, directions)
    rng = np.random.default_rng(steps)
    x = rng.standard_normal((steps, 3, 3))
    lengths = np.array([steps, max(steps - 2, 1), max(steps // 2, 1)], np.int32)
    state = [rng.standard_normal((directions, 3, 5)) for _ in range(2 if operator == "LSTM" else 1)]
    order = (1, 0, 2) if layout else (0, 1, 2)
    inputs: dict[str, Any] = {"x": x.transpose(order), **own, "n": lengths}
    inputs |= {f"s{number}": each.transpose(order) for number, each in enumerate(state)}
    if operator == "LSTM":
        own["p"] = inputs["p"] = 0.4 * rng.standard_normal((directions, 15))
    extra = {"layout": layout} if layout else {}
    found = run(
        operator,
        inputs,
        version=14,
        outputs=1 + len(state),
        known=["w", "r", "b"] if known else [],
        hidden_size=5,
        **options,
        **extra,
    )
    plain = {name: value for name, value in options.items() if not name.startswith("activation")}
    expected = by_hand(operator, x, own, state, lengths, functions, plain)
    if layout:
        expected = [expected[0].transpose(2, 0, 1, 3), *(each.transpose(1, 0, 2) for each in expected[1:])]
    for one, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("operator", "steps", "options"), CASES)
def test_layers(operator: str, steps: int, options: dict[str, Any]) -> None:
    check(operator, steps, options, DEFAULTS[operator])


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("operator", list(GATES))
def test_batch_first(operator: str) -> None:
    check(operator, 3, {"direction": "bidirectional"}, DEFAULTS[operator], layout=1, known=False)


def test_activations_use_up_their_parameters_in_order() -> None:
    options = {
        "activations": ["HardSigmoid", "Softsign", "Affine"],
        "activation_alpha": [0.25, 0.75],
        "activation_beta": [0.5, -0.25],
    }
    functions = (hard_sigmoid(0.25, 0.5), lambda x: x / (1 + np.abs(x)), lambda x: 0.75 * x - 0.25)
    check("LSTM", 3, options, functions)


def test_a_layer_without_optional_inputs() -> None:
    own = parameters("GRU", 1)
    x = np.random.default_rng(1).standard_normal((3, 2, 3))
    found = run("GRU", {"x": x, "w": own["w"], "r": own["r"]}, version=14, outputs=2, hidden_size=5)
    own["b"] = np.zeros_like(own["b"])
    expected = by_hand("GRU", x, own, [np.zeros((1, 2, 5))], [3, 3], DEFAULTS["GRU"], {})
    for one, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("steps", "turn", "left"), [(200, 20, 0), (50, 10, 0), (23, 11, 1), (21, 10, 1), (41, 20, 1), (39, 13, 0)]
)
def test_long_sequences_are_a_loop(steps: int, turn: int, left: int) -> None:
    own = parameters("RNN", 1)
    inputs = {"x": np.zeros((steps, 1, 3)), "w": own["w"], "r": own["r"]}
    text = text_of("RNN", inputs, version=14, known=["w", "r"], hidden_size=5)
    assert text.count("scf.for") == 1
    assert text.count("graph.matmul") == 1 + turn + left  # The product with the inputs is one for all steps.


@pytest.mark.parametrize("steps", [1, 20])
def test_short_sequences_are_no_loop(steps: int) -> None:
    own = parameters("RNN", 1)
    inputs = {"x": np.zeros((steps, 1, 3)), "w": own["w"], "r": own["r"]}
    text = text_of("RNN", inputs, version=14, known=["w", "r"], hidden_size=5)
    assert "scf.for" not in text and text.count("graph.matmul") == 1 + steps


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"activations": ["Tanh", "Sine", "Tanh"]},
            "activation 'Sine' is not known, expected one of affine, elu",
        ),
        ({"activations": ["Tanh"]}, "activations has 1 entries, expected 3 for each of 1 directions"),
        ({"direction": "both"}, "direction is 'both', expected forward, reverse or bidirectional"),
        ({"direction": "bidirectional"}, "a parameter is tensor<1x20x3xf64>, expected 2 directions"),
        ({"hidden_size": 4}, "hidden_size is 4, but the recurrence weights are tensor<1x20x5xf64>"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    own = parameters("LSTM", 1)
    inputs = {"x": np.zeros((2, 1, 3)), "w": own["w"], "r": own["r"]}
    with pytest.raises(OnnxError) as caught:
        text_of("LSTM", inputs, version=14, **({"hidden_size": 5} | options))
    assert message in str(caught.value)
