"""GatedDeltaNet of `com.microsoft`, against onnxruntime."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_one_node import by_onnxruntime, model_of, run
from stepwell.frontends import OnnxError

Array = Any
OPTIONS: dict[str, Any] = {"version": 1, "domain": "com.microsoft", "outputs": 2}
HEADS, VALUES, SIZE, V_SIZE = 2, 4, 4, 6
INPUTS = [
    "query",
    "key",
    "value",
    "cu_seqlens",
    "decay",
    "beta",
    "initial_state",
    "a_log",
    "dt_bias",
    "capture_count",
    "state_update_active",
]


def floats(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def inputs_of(rows: int, *, flat: bool = False, wide: bool = False, **more: Array) -> dict[str, Array]:
    outer = (2 * rows,) if flat else (2, rows)
    found: dict[str, Array] = dict.fromkeys(INPUTS)
    found |= {"query": 0.5 * floats(0, *outer, HEADS, SIZE), "key": 0.5 * floats(1, *outer, HEADS, SIZE)}
    found |= {"value": floats(2, *outer, VALUES, V_SIZE), "beta": abs(floats(4, *outer, VALUES)) / 2}
    found |= {"decay": -abs(floats(3, *outer, VALUES, *(SIZE,) * wide))}
    return found | {"initial_state": floats(5, 2, VALUES, V_SIZE, SIZE)} | more


GATES = {"a_log": floats(6, VALUES), "dt_bias": floats(7, VALUES)}


def check(inputs: dict[str, Array], **options: Any) -> None:
    wanted = by_onnxruntime(model_of("GatedDeltaNet", inputs, **OPTIONS, **options), inputs)
    for mine, theirs in zip(run("GatedDeltaNet", inputs, **OPTIONS, **options), wanted, strict=True):
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize(("rows", "flat", "wide"), [(1, False, True), (4, True, False)])
def test_rules(rule: str, rows: int, flat: bool, wide: bool) -> None:
    inputs = inputs_of(rows, flat=flat, wide=wide)
    unused = {name: None for name, word in (("decay", "gated"), ("beta", "delta")) if word not in rule}
    check(inputs | unused, update_rule=rule, qk_l2_norm=1)


@pytest.mark.parametrize("gate", ["softplus", "qwen", "sigmoid", "kda"])
def test_gates(gate: str) -> None:
    check(inputs_of(3, **GATES), gate_activation=gate, beta_activation="sigmoid", gate_lower_bound=-2.0)


def test_gates_of_rows() -> None:
    given = GATES | {"dt_bias": floats(8, VALUES, SIZE)}
    check(inputs_of(2, wide=True, **given), gate_activation="kda", scale=0.7)


def test_small_norms() -> None:
    check(
        inputs_of(1, query=1e-6 * floats(0, 2, 1, HEADS, SIZE), key=1e-6 * floats(1, 2, 1, HEADS, SIZE)), qk_l2_norm=1
    )


def test_a_first_call() -> None:
    inputs = inputs_of(2) | {"initial_state": None}
    zeros = inputs | {"initial_state": np.zeros((2, VALUES, V_SIZE, SIZE), np.float32)}
    found, wanted = (run("GatedDeltaNet", each, **OPTIONS) for each in (inputs, zeros))
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"cu_seqlens": np.array([0, 3, 6], np.int32)}, {}, "sequences are packed or updates captured, expected batch"),
        ({"capture_count": np.ones(2, np.int32)}, {}, "sequences are packed or updates captured, expected batch x"),
        ({}, {"state_update_capacity": 2}, "sequences are packed or updates captured, expected batch x sequence and"),
        ({}, {"gate_activation": "tanh"}, "gate_activation is 'tanh', expected none, softplus, qwen, sigmoid, kda"),
        ({}, {"beta_activation": "tanh"}, "beta_activation is 'tanh', expected none, sigmoid"),
        ({}, {"update_rule": "x"}, "update_rule is 'x', expected linear, gated, delta, gated_delta"),
        ({}, {"gate_activation": "kda"}, "a_log or dt_bias is missing, expected both with gate_activation 'kda'"),
        ({"key": None}, {}, "key or value is missing, expected query, key and value by heads"),
        ({"query": floats(0, 2, 8)}, {}, "query is tensor<2x8xf32> and value tensor<2x3x4x6xf32>, expected (batch x)"),
        ({"key": floats(0, 2, 3, 1, 4)}, {}, "key is tensor<2x3x1x4xf32>, expected 2x3x2x4 and elements of f32"),
        ({"value": floats(0, 2, 1, 4, 6)}, {}, "value is tensor<2x1x4x6xf32>, expected 2x3x4x6 and elements of f32"),
        ({"value": floats(0, 2, 3, 3, 6)}, {}, "value has 3 heads, expected a multiple of the 2 of query"),
        ({"initial_state": floats(0, 2, 4, 4, 6)}, {}, "initial_state is tensor<2x4x4x6xf32>, expected 2x4x6x4 and"),
        ({"decay": floats(0, 2, 3, 1)}, {}, "decay is tensor<2x3x1xf32>, expected 2x3x4 and elements of f32"),
        ({"decay": floats(0, 2, 3, 4, 1)}, {}, "decay is tensor<2x3x4x1xf32>, expected 2x3x4x4 and elements of f32"),
        ({"decay": None}, {}, "decay is missing, expected it with this update_rule"),
        ({}, {"update_rule": "delta"}, "decay is given, expected none with update_rule 'delta'"),
        ({}, {"update_rule": "gated"}, "beta is given, expected none with update_rule 'gated'"),
        ({"beta": None}, {}, "beta is missing, expected it with this update_rule"),
        ({"beta": floats(0, 2, 3, 1)}, {}, "beta is tensor<2x3x1xf32>, expected 2x3x4 and elements of f32"),
        (
            GATES | {"a_log": floats(0, 1)},
            {"gate_activation": "kda"},
            "a_log is tensor<1xf32>, expected 4 and elements of f32",
        ),
        (
            GATES | {"dt_bias": floats(0, 1)},
            {"gate_activation": "kda"},
            "dt_bias is tensor<1xf32>, expected 4 and elements of f32",
        ),
        (
            GATES | {"dt_bias": floats(0, 4, 4)},
            {"gate_activation": "kda"},
            "dt_bias is tensor<4x4xf32>, expected 4 elements as decay has one for each head",
        ),
    ],
)
def test_what_is_refused(change: dict[str, Array], options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnnxError, match=re.escape(message)):
        stepwell.from_onnx(model_of("GatedDeltaNet", inputs_of(3) | change, **OPTIONS, **options))


def test_tokens_without_a_batch_need_a_state() -> None:
    with pytest.raises(OnnxError, match="initial_state is missing, expected it as its batch says how long"):
        stepwell.from_onnx(model_of("GatedDeltaNet", inputs_of(3, flat=True) | {"initial_state": None}, **OPTIONS))
