"""MoE and QMoE of `com.microsoft` against onnxruntime and NumPy. What is refused is in test_onnx_experts_refused.py."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from counts import FULL
from onnx_experts import EXPERTS, HIDDEN, evaluated, inputs_of, packed_inputs_of
from onnx_one_node import by_onnxruntime, model_of

Array = Any
DOMAIN = "com.microsoft"
GIVEN = ("input", "router_probs", "router_weights")
SWIGLU = {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1}


def model(inputs: dict[str, Array], options: dict[str, Any], known: bool = True) -> Any:
    operator = "QMoE" if "fc1_scales" in inputs else "MoE"
    names = [name for name, array in inputs.items() if known and name not in GIVEN and array is not None]
    return model_of(operator, inputs, version=1, domain=DOMAIN, known=names, **options)


def ours(inputs: dict[str, Array], options: dict[str, Any], known: bool = True) -> Array:
    given = [each for name, each in inputs.items() if each is not None and (name in GIVEN or not known)]
    return stepwell.compile_onnx(model(inputs, options, known), tuning=False)(*given)[0]


def theirs(inputs: dict[str, Array], options: dict[str, Any]) -> Array:
    return by_onnxruntime(model(inputs, options), inputs, dtype=1 if inputs["input"].dtype == np.float32 else 10)[0]


def close(found: Array, wanted: Array, relative: float = 5e-6) -> None:
    wanted = wanted.astype(np.float64)
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=0, atol=relative * np.abs(wanted).max())


PACKINGS = [
    (bits, block, zeros)
    for bits in (4, 8, 2)
    for block in (32, 0, 16, 64)
    for zeros in (False, True)
    if FULL or (bits == 4 and (block, zeros) != (64, False)) or (zeros and block in (0, 32))
]


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("bits", "block", "zeros"), PACKINGS)
def test_packed_weights(bits: int, block: int, zeros: bool) -> None:
    """With blocks of 2 and 8 bits, onnxruntime rounds rows to 8 bits."""
    options = SWIGLU | {"expert_weight_bits": bits} | ({"block_size": block} if block else {})
    inputs = packed_inputs_of(options, zeros=zeros)
    found, wanted = ours(inputs, options), theirs(inputs, options)
    close(found, wanted, 5e-6 if bits == 4 or not block else 3e-2)
    close(found, evaluated(inputs, options))


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("normalised", [0, 1])
@pytest.mark.parametrize("name", ["relu", "gelu", "silu", "identity", "swiglu"])
def test_activations(name: str, normalised: int, packed: bool) -> None:
    options: dict[str, Any] = {"k": 2, "activation_type": name, "normalize_routing_weights": normalised}
    options |= {"swiglu_fusion": 1} if name == "swiglu" else {}
    options |= {"block_size": 32} if packed else {}
    inputs = (packed_inputs_of if packed else inputs_of)(options)
    close(ours(inputs, options), theirs(inputs, options))


OF_SWIGLU = {"activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 0.75}


@pytest.mark.parametrize("change", [OF_SWIGLU, {"swiglu_limit": 0.0}, {"k": 1}, {"k": EXPERTS}])
def test_attributes_of_swiglu(change: dict[str, Any]) -> None:
    options = SWIGLU | change
    inputs = inputs_of(options, bias=False)
    close(ours(inputs, options), theirs(inputs, options))


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 9, 40, 100])
def test_numbers_of_rows(rows: int, packed: bool) -> None:
    """Tiles of 1 to 32 rows. Most go to one expert, and some experts get none."""
    options = SWIGLU | ({"block_size": 32} if packed else {})
    inputs = (packed_inputs_of if packed else inputs_of)(options, rows)
    inputs["router_probs"][:, 1] += 3
    inputs["router_probs"][:, 2] -= 9
    close(ours(inputs, options), theirs(inputs, options))


def test_batches_and_no_rows() -> None:
    inputs = inputs_of(SWIGLU, 6)
    wanted = theirs(inputs, SWIGLU).reshape(2, 3, HIDDEN)
    inputs["input"] = inputs["input"].reshape(2, 3, HIDDEN)
    close(ours(inputs, SWIGLU), wanted)
    none = inputs | {"input": np.zeros((2, 0, HIDDEN), np.float32), "router_probs": np.zeros((0, EXPERTS), np.float32)}
    assert ours(none, SWIGLU).shape == (2, 0, HIDDEN)


WITHOUT_KERNEL: dict[str, tuple[bool, dict[str, Any]]] = {
    "halves": (False, {"activation_type": "swiglu", "swiglu_fusion": 2} | OF_SWIGLU),
    "two products": (True, {"activation_type": "swiglu"} | OF_SWIGLU),
    "a limit after the activation": (False, SWIGLU | OF_SWIGLU | {"swiglu_limit_after_activation": 1}),
    "geglu": (False, {"activation_type": "geglu", "swiglu_fusion": 1}),
    "geglu of halves": (False, {"activation_type": "geglu", "swiglu_fusion": 2}),
    "squares": (False, {"activation_type": "relu2"}),
    "a third product": (True, {"activation_type": "silu"}),
    "a third product and no activation": (True, {"activation_type": "identity"}),
    "the sparse mixer": (False, {"use_sparse_mixer": 1}),
}


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("case", WITHOUT_KERNEL)
def test_what_only_gpus_of_onnxruntime_have(case: str, packed: bool) -> None:
    third, options = WITHOUT_KERNEL[case]
    options = {"k": 2} | options | ({"block_size": 32} if packed else {})
    inputs = packed_inputs_of(options, third=third) if packed else inputs_of(options, third=third)
    close(ours(inputs, options), evaluated(inputs, options))


def test_products_of_different_bits() -> None:
    options = {"k": 2, "activation_type": "silu", "block_size": 16, "expert_weight_bits": 8}
    options |= {"fc1_expert_weight_bits": 4, "fc3_expert_weight_bits": 2}
    inputs = packed_inputs_of(options, zeros=True, third=True)
    close(ours(inputs, options), evaluated(inputs, options))


def test_the_sparse_mixer_counts_what_is_near() -> None:
    options = {"k": 2, "use_sparse_mixer": 1}
    inputs = inputs_of(options, 4)
    inputs["router_probs"] = np.array(
        [[5, 4.95, 4.93, 1], [-3, -3.02, -9, -9], [0.1, 2, 1.97, 1.99], [7, -7, 6.9, 6.99]], np.float32
    )
    close(ours(inputs, options), evaluated(inputs, options))


def test_small_floats() -> None:
    """QMoE is computed in f32 and rounded once, as in onnxruntime. MoE has no such kernel there."""
    options = SWIGLU | {"block_size": 32}
    inputs = packed_inputs_of(options, zeros=True, dtype=np.float16)
    found = ours(inputs, options)
    assert found.dtype == np.float16
    close(found, theirs(inputs, options), 1e-3)
    for dtype, error in ((np.float16, 1e-3), (ml_dtypes.bfloat16, 8e-3)):
        inputs = inputs_of(SWIGLU, dtype=dtype)
        found = ours(inputs, SWIGLU)
        assert found.dtype == dtype
        close(found, evaluated(inputs, SWIGLU), error)


@pytest.mark.parametrize("level", [1, 4])
def test_rows_of_8_bits(level: int) -> None:
    options = SWIGLU | {"block_size": 32, "accuracy_level": level}
    inputs = packed_inputs_of(options)
    found, wanted, exact = ours(inputs, options), theirs(inputs, options), evaluated(inputs, options)
    errors = [float(np.abs(each - exact).max() / np.abs(exact).max()) for each in (found, wanted)]
    assert errors[0] < 5e-6 if level == 1 else 1e-4 < errors[0] < 2 * errors[1] < 3e-2


# Which experts


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("normalised", [0, 1])
def test_weights_beside_the_scores(normalised: int) -> None:
    """Weights that are not positive leave the expert out."""
    options = SWIGLU | {"block_size": 32, "normalize_routing_weights": normalised}
    inputs = packed_inputs_of(options)
    given = np.random.default_rng(3).standard_normal((5, EXPERTS)).astype(np.float32)
    given[0], given[1] = 0, np.abs(given[1])
    inputs["router_weights"] = given
    close(ours(inputs, options), theirs(inputs, options))


@pytest.mark.parametrize("packed", [False, True])
def test_scores_at_the_edge(packed: bool) -> None:
    """Of equal scores the last ones win. Rows whose weights are no numbers give zeros."""
    options = SWIGLU | ({"block_size": 32} if packed else {})
    inputs = (packed_inputs_of if packed else inputs_of)(options, 6)
    scores, inf = inputs["router_probs"], np.inf
    scores[:5] = [[0, 0, 0, 0], [1, 2, 2, 2], [inf, 0, 1, 2], [-inf] * 4, [-inf, -inf, -inf, 3]]
    found = ours(inputs, options)
    close(found, theirs(inputs, options))
    assert not found[2:4].any() and found[4:].all()
    scores[0] = np.nan
    assert not ours(inputs, options)[0].any()


def test_experts_without_weight_poison_nothing() -> None:
    """An expert full of infinities is not chosen, or chosen with a weight of 0."""
    inputs = inputs_of(SWIGLU)
    inputs["fc1_experts_weights"][3] = np.inf
    inputs["router_probs"][:, 3] = -np.inf
    inputs["router_probs"][0] = [0, -np.inf, -np.inf, -np.inf]
    found = ours(inputs, SWIGLU)
    assert np.isfinite(found).all()
    close(found, theirs(inputs, SWIGLU))
    inputs["input"][1] = np.nan
    assert np.isnan(ours(inputs, SWIGLU)).all(axis=1).tolist() == [False, True, False, False, False]


# How


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("bits", [2, 4])
@pytest.mark.parametrize("rows", [1, 9])
def test_weights_that_are_given_at_run_time(bits: int, rows: int) -> None:
    options = SWIGLU | {"block_size": 32, "expert_weight_bits": bits}
    inputs = packed_inputs_of(options, rows, zeros=True)
    close(ours(inputs, options, known=False), evaluated(inputs, options))


def test_biases_that_are_given_at_run_time() -> None:
    inputs = inputs_of(SWIGLU)
    names = [name for name in inputs if name.endswith("weights")]
    made = model_of("MoE", inputs, version=1, domain=DOMAIN, known=names, **SWIGLU)
    given = [each for name, each in inputs.items() if name not in names]
    close(stepwell.compile_onnx(made, tuning=False)(*given)[0], evaluated(inputs, SWIGLU))


def test_weights_stay_packed_and_are_read_where_they_are_chosen() -> None:
    options = SWIGLU | {"block_size": 32}
    inputs = packed_inputs_of(options, 1)
    executable = stepwell.compile_onnx(model(inputs, options), tuning=False).specialised(*list(inputs.values())[:2])
    text = executable.ir("graph")
    assert "graph.matmul_packed" in text and text.count("scf.if") == EXPERTS - 1
    assert "tensor<256x64x" not in text
    # Weights and scales of each product are laid out in panels when the program is loaded.
    assert executable.ir("scf").count('stepwell.key = "@prepare_panels') == 4 * EXPERTS
