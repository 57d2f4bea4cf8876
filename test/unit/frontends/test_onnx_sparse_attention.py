"""SparseAttention of `com.microsoft`, against onnxruntime."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import onnxruntime
import pytest
import stepwell
from onnx_one_node import model_of
from stepwell.frontends import OnnxError

Array = Any
HEADS, SHARED, SIZE, BLOCK, ROOM = 4, 2, 16, 16, 64
KNOWN = ("block_row_indices", "block_col_indices", "total_sequence_length")
ROWS = np.array([[0, 1, 3, 5, 8], [0, 1, 3, 6, 9]], np.int32)
COLUMNS = np.array([[0, 0, 1, 1, 2, 1, 2, 3, -1], [0, 0, 1, 0, 1, 2, 0, 2, 3]], np.int32)
INPUTS = [
    "query",
    "key",
    "value",
    "past_key",
    "past_value",
    "block_row_indices",
    "block_col_indices",
    "total_sequence_length",
    "key_total_sequence_lengths",
    "cos_cache",
    "sin_cache",
]


def floats(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def inputs_of(rows: int, before: int, samples: int = 1, *, packed: bool = False, **more: Array) -> dict[str, Array]:
    widths = [HEADS * SIZE, SHARED * SIZE, SHARED * SIZE]
    given = [floats(at, samples, rows, width) for at, width in enumerate(widths)]
    q, k, v = (np.concatenate(given, axis=2), None, None) if packed else given
    found: dict[str, Array] = dict.fromkeys(INPUTS) | {"query": q, "key": k, "value": v}
    found |= {name: floats(at, samples, SHARED, ROOM, SIZE) for at, name in ((3, "past_key"), (4, "past_value"))}
    found |= {"block_row_indices": ROWS, "block_col_indices": COLUMNS}
    found |= {"total_sequence_length": np.array([before + rows], np.int32)}
    return found | {"key_total_sequence_lengths": np.full(samples, before + rows, np.int32)} | more


def options_of(**more: Any) -> dict[str, Any]:
    found = {"version": 1, "domain": "com.microsoft", "outputs": 3, "num_heads": HEADS, "kv_num_heads": SHARED}
    return found | {"sparse_block_size": BLOCK} | more


def in_place(model: Any, inputs: dict[str, Array]) -> list[Array]:
    """What onnxruntime gives, whose caches must be the arrays that it is given."""
    copy = type(model)()
    copy.CopyFrom(model)
    copy.ir_version = 10
    copy.opset_import.add(domain="", version=21)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
    arrays = {each.name: inputs[each.name].copy() for each in session.get_inputs()}
    binding, held = session.io_binding(), {}
    for each in session.get_inputs():
        held[each.name] = onnxruntime.OrtValue.ortvalue_from_numpy(arrays[each.name])
        binding.bind_ortvalue_input(each.name, held[each.name])
    binding.bind_output("y0")
    binding.bind_ortvalue_output("y1", held["past_key"])
    binding.bind_ortvalue_output("y2", held["past_value"])
    session.run_with_iobinding(binding)
    return [binding.get_outputs()[0].numpy().copy(), arrays["past_key"], arrays["past_value"]]


def check(inputs: dict[str, Array], **options: Any) -> None:
    model = model_of("SparseAttention", inputs, **options_of(**options))
    wanted = in_place(model, inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step = stepwell.compile_onnx(model, donate="past*", values=KNOWN)
        found = step(**{name: each.copy() for name, each in inputs.items() if each is not None})
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("rows", "before", "samples"), [(1, 40, 1), (1, 63, 2), (50, 0, 1), (10, 0, 2), (3, 46, 1)])
def test_blocks(rows: int, before: int, samples: int) -> None:
    check(inputs_of(rows, before, samples))


def test_rotations_of_packed_queries() -> None:
    angles = {"cos_cache": floats(5, ROOM, 8), "sin_cache": floats(6, ROOM, 8)}
    check(inputs_of(1, 50, packed=True, **angles), do_rotary=1, scale=0.2)


def test_samples_of_different_lengths() -> None:
    """Each gets what onnxruntime gives it alone. Of two it gives the shorter one something else."""
    lengths = np.array([51, 20], np.int32)
    inputs = inputs_of(1, 50, 2, key_total_sequence_lengths=lengths)
    step = stepwell.compile_onnx(model_of("SparseAttention", inputs, **options_of()), values=KNOWN)
    found = step(**{name: each for name, each in inputs.items() if each is not None})
    for sample, length in enumerate(lengths):
        own = {name: each[sample : sample + 1] for name, each in inputs.items() if each is not None and len(each) == 2}
        own |= {"block_row_indices": ROWS, "block_col_indices": COLUMNS}
        alone = inputs | own | {"total_sequence_length": np.array([length], np.int32)}
        wanted = in_place(model_of("SparseAttention", alone, **options_of()), alone)
        for mine, theirs in zip(found, wanted, strict=True):
            np.testing.assert_allclose(mine[sample], theirs[0], rtol=1e-4, atol=1e-5)


def test_one_layout_for_all_heads() -> None:
    check(inputs_of(1, 40, block_row_indices=ROWS[1:], block_col_indices=COLUMNS[1:]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"block_row_indices": ROWS[0]},
            "block_row_indices and block_col_indices are [5] and [2, 9], expected layouts",
        ),
        ({"block_col_indices": COLUMNS[:1]}, "are [2, 5] and [1, 9], expected layouts whose number divides 4"),
        ({"block_row_indices": ROWS[:, :3]}, "block_row_indices has 2 blocks, expected at least 3 for all keys"),
        ({"block_row_indices": ROWS + 1}, "block_row_indices does not begin with 0 and rise from block to block"),
        ({"block_col_indices": COLUMNS[:, :8]}, "block_row_indices does not begin with 0 and rise from block to block"),
        ({"block_col_indices": COLUMNS * 0}, "block_col_indices has [0, 0] for block 1, expected 0 to 1 and 1 itself"),
        ({"past_key": floats(0, 1, 2, 32, 16)}, "past_value is tensor<1x2x64x16xf32>, expected 1x2x32x16 and elements"),
        (
            {"total_sequence_length": np.array([65], np.int32)},
            "total_sequence_length is 65, expected at most the 64 of",
        ),
        (
            {"key_total_sequence_lengths": np.zeros(2, np.int32)},
            "key_total_sequence_lengths is tensor<2xi64>, expected a number for each of 1 samples",
        ),
        ({"past_value": None}, "past_value is missing, expected all inputs from past_key to the lengths"),
        ({"value": None}, "key and value are given one without the other"),
    ],
)
def test_what_is_refused(change: dict[str, Array], message: str) -> None:
    with pytest.raises(OnnxError, match=re.escape(message)):
        stepwell.from_onnx(model_of("SparseAttention", inputs_of(1, 40) | change, known=KNOWN, **options_of()))


def test_a_block_has_a_size() -> None:
    model = model_of("SparseAttention", inputs_of(1, 40), known=KNOWN, **options_of(sparse_block_size=0))
    with pytest.raises(OnnxError, match="sparse_block_size is 0, expected 1 or more"):
        stepwell.from_onnx(model)
