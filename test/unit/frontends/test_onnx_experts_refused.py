"""Attributes and operands of MoE and QMoE that are refused, and what is said then."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_experts import inputs_of, packed_inputs_of
from onnx_one_node import model_of
from stepwell.frontends import OnnxError

Array = Any
DOMAIN = "com.microsoft"
SWIGLU = {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1}


def refused(inputs: dict[str, Array], options: dict[str, Any], message: str) -> None:
    operator = "QMoE" if "fc1_scales" in inputs else "MoE"
    known = [name for name, array in inputs.items() if array is not None and name not in ("input", "router_probs")]
    with pytest.raises(OnnxError, match=re.escape(message)):
        stepwell.from_onnx(model_of(operator, inputs, version=1, domain=DOMAIN, known=known, **options))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"activation_type": "tanh"}, "activation_type is 'tanh', expected relu, gelu, silu, identity, relu2, swiglu"),
        ({"swiglu_fusion": 3}, "swiglu_fusion is 3, expected 0 to 2"),
        ({"activation_type": "geglu", "swiglu_fusion": 0}, "swiglu_fusion is 0, expected 1 or 2 with geglu"),
        ({"swiglu_limit": -1.0}, "swiglu_limit is -1.0, expected 0 or more"),
        (
            {"activation_type": "silu", "swiglu_limit_after_activation": 1},
            "swiglu_limit_after_activation is set with silu, expected it with swiglu",
        ),
        ({"k": 0}, "k is 0, expected 1 to 4, the number of experts"),
        ({"k": 5}, "k is 5, expected 1 to 4, the number of experts"),
        ({"k": 1, "use_sparse_mixer": 1}, "k is 1, expected 2 with use_sparse_mixer"),
        ({"swiglu_fusion": 0}, "fc3_experts_weights is missing, expected it with swiglu_fusion 0"),
    ],
)
def test_attributes(change: dict[str, Any], message: str) -> None:
    refused(inputs_of(SWIGLU), SWIGLU | change, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quant_type": "fp4"}, "quant_type is 'fp4', expected 'int': weights that are integers"),
        ({"weights_prepacked": 1}, "weights_prepacked is 1, expected 0: the layout is that of another machine"),
        ({"expert_weight_bits": 3}, "weights have 3 bits, expected 2, 4 or 8"),
        ({"fc2_expert_weight_bits": 16}, "weights have 16 bits, expected 2, 4 or 8"),
        ({"block_size": 8}, "block_size is 8, expected a power of 2 of at least 16, or 0"),
        ({"block_size": 24}, "block_size is 24, expected a power of 2 of at least 16, or 0"),
        ({"block_size": 128}, "rows of fc1_experts_weights have 64 numbers, expected whole blocks of 128"),
        ({"block_size": 16}, "fc1_scales is tensor<4x256x2xf32>, expected tensor<4x256x4xf32>"),
        ({"block_size": 0}, "fc1_scales is tensor<4x256x2xf32>, expected tensor<4x256x1xf32>"),
        ({"fc1_expert_weight_bits": 8}, "fc1_experts_weights is tensor<4x256x32xui8>, expected tensor<4x256x64xui8>"),
    ],
)
def test_packings(change: dict[str, Any], message: str) -> None:
    options = SWIGLU | {"block_size": 32}
    refused(packed_inputs_of(options), options | change, message)


def zeros(*shape: int, dtype: Any = np.float32) -> Array:
    return np.zeros(shape, dtype)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("input", zeros(64), "the input is tensor<64xf32>, expected rank 2 or 3 and elements of f32, f16, bf16"),
        (
            "input",
            zeros(5, 64, dtype=np.float64),
            "the input is tensor<5x64xf64>, expected rank 2 or 3 and elements of",
        ),
        ("input", zeros(6, 64), "router_probs is tensor<5x4xf32>, expected tensor<6x4xf32>"),
        ("input", zeros(5, 32), "fc1_experts_weights is tensor<4x256x64xf32>, expected tensor<4x256x32xf32>"),
        ("router_probs", zeros(5), "router_probs is tensor<5xf32>, expected a row of scores for each row of x"),
        ("router_probs", zeros(1, 4), "router_probs is tensor<1x4xf32>, expected tensor<5x4xf32>"),
        ("router_probs", zeros(5, 4, dtype=np.float16), "router_probs is tensor<5x4xf16>, expected tensor<5x4xf32>"),
        ("router_probs", zeros(5, 3), "fc1_experts_bias is tensor<4x256xf32>, expected tensor<3x256xf32>"),
        (
            "fc1_experts_weights",
            zeros(4, 64, 256),
            "fc1_experts_weights is tensor<4x64x256xf32>, expected tensor<4x256x64xf32>",
        ),
        (
            "fc1_experts_weights",
            zeros(4, 256, 64, dtype=np.float16),
            "fc1_experts_weights is tensor<4x256x64xf16>, expected tensor<4x256x64xf32>",
        ),
        ("fc1_experts_bias", zeros(1, 256), "fc1_experts_bias is tensor<1x256xf32>, expected tensor<4x256xf32>"),
        ("fc1_experts_bias", zeros(256), "fc1_experts_bias is tensor<256xf32>, expected tensor<4x256xf32>"),
        ("fc2_experts_weights", None, "fc2_experts_weights is missing"),
        (
            "fc2_experts_weights",
            zeros(64, 128),
            "fc2_experts_weights is tensor<64x128xf32>, expected a matrix for each",
        ),
        (
            "fc2_experts_weights",
            zeros(4, 128, 128),
            "fc2_experts_weights is tensor<4x128x128xf32>, expected tensor<4x64x128xf32>",
        ),
        ("fc2_experts_bias", zeros(4, 1), "fc2_experts_bias is tensor<4x1xf32>, expected tensor<4x64xf32>"),
        ("fc3_experts_weights", zeros(4, 128, 64), "fc3 is given with swiglu_fusion 1, expected it in fc1 then"),
    ],
)
def test_operands(name: str, array: Array, message: str) -> None:
    refused(inputs_of(SWIGLU) | {name: array}, SWIGLU, message)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("fc3_experts_bias", zeros(4, 128), "fc3_experts_weights is missing"),
        (
            "fc3_experts_weights",
            zeros(4, 64, 128),
            "fc3_experts_weights is tensor<4x64x128xf32>, expected tensor<4x128x64xf32>",
        ),
    ],
)
def test_third_products(name: str, array: Array, message: str) -> None:
    options = {"k": 2, "activation_type": "silu"}
    refused(
        inputs_of(options) | {"fc3_experts_weights": None, "fc3_experts_bias": None} | {name: array}, options, message
    )


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        (
            "fc1_experts_weights",
            zeros(4, 256, 32, dtype=np.int8),
            "fc1_experts_weights is tensor<4x256x32xi8>, expected tensor<4x256x32xui8>",
        ),
        ("fc1_scales", None, "fc1_scales is missing"),
        (
            "fc2_scales",
            zeros(4, 64, 4, dtype=np.float16),
            "fc2_scales is tensor<4x64x4xf16>, expected tensor<4x64x4xf32>",
        ),
        ("fc2_scales", np.full((4, 64, 4), np.inf, np.float32), "fc2_scales has inf at (0, 0, 0), expected finite"),
        (
            "fc1_zero_points",
            zeros(4, 256, 2, dtype=np.uint8),
            "fc1_zero_points is tensor<4x256x2xui8>, expected tensor<4x256x1xui8>",
        ),
        ("fc2_zero_points", zeros(4, 64, 2), "fc2_zero_points is tensor<4x64x2xf32>, expected tensor<4x64x2xui8>"),
        ("router_weights", zeros(1, 4), "router_weights is tensor<1x4xf32>, expected tensor<5x4xf32>"),
        ("fc1_global_scale", zeros(4), "fc1_global_scale is given, expected none with weights that are integers"),
        ("fc2_act_block_scale", zeros(4), "fc2_act_block_scale is given, expected none with weights that are"),
        ("another", zeros(4), "the node has 22 inputs, expected at most 21"),
    ],
)
def test_packed_operands(name: str, array: Array, message: str) -> None:
    options = SWIGLU | {"block_size": 32}
    inputs = packed_inputs_of(options)
    last = ["router_weights", "fc1_global_scale", "fc2_global_scale", "fc1_act_scale", "fc2_act_scale"]
    last += ["fc1_act_block_scale", "fc2_act_block_scale", "another"]
    if name in last:
        inputs |= dict.fromkeys(last[: last.index(name) + 1])
    refused(inputs | {name: array}, options, message)


def test_rows_that_are_no_whole_bytes() -> None:
    options = {"k": 2, "activation_type": "silu"}
    inputs = packed_inputs_of(options) | {"input": zeros(5, 63)}
    refused(inputs, options, "rows of fc1_experts_weights have 63 numbers, expected whole bytes of 4 bits")


def test_weights_beside_the_sparse_mixer() -> None:
    options = SWIGLU | {"block_size": 32, "use_sparse_mixer": 1}
    inputs = packed_inputs_of(options) | {"router_weights": zeros(5, 4)}
    refused(inputs, options, "router_weights is given with use_sparse_mixer, expected one of them")
