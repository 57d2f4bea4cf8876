"""MRotaryEmbedding of `com.microsoft`, against onnxruntime."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_one_node import by_onnxruntime, model_of, run
from stepwell.frontends import OnnxError

Array = Any
OPTIONS: dict[str, Any] = {"version": 1, "domain": "com.microsoft"}


def floats(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def inputs_of(rank: int = 3, pairs: int = 8) -> dict[str, Array]:
    return {
        "x": floats(0, 2, 3, 32) if rank == 3 else floats(0, 2, 2, 3, 16),
        "position_ids": np.random.default_rng(1).integers(0, 20, (3, 2, 3)),
        "cos_cache": floats(2, 20, pairs),
        "sin_cache": floats(3, 20, pairs),
    }


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize(
    ("rank", "section", "options"),
    [
        (3, [3, 3, 2], {"num_heads": 2}),
        (4, [8, 0, 0], {}),
        (4, [2, 3, 1], {"num_heads": 2, "rotary_embedding_dim": 12, "scale": 2.0}),
    ],
)
def test_three_places(layout: int, interleaved: int, rank: int, section: list[int], options: dict[str, Any]) -> None:
    options = options | {"mrope_section": section, "mrope_layout": layout, "interleaved": interleaved}
    inputs = inputs_of(rank, sum(section))
    (wanted,) = by_onnxruntime(model_of("MRotaryEmbedding", inputs, **OPTIONS, **options), inputs)
    (found,) = run("MRotaryEmbedding", inputs, **OPTIONS, **options)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"is_packed_batching": 1}, "is_packed_batching is set, expected samples of one length"),
        ({}, {"mrope_layout": 2}, "mrope_layout is 2, expected 0 or 1"),
        ({}, {"mrope_section": [4, 4]}, "mrope_section is [4, 4], expected three numbers whose sum is 8"),
        ({}, {"mrope_section": [9, -1, 0]}, "mrope_section is [9, -1, 0], expected three numbers whose sum is 8"),
        ({}, {"mrope_section": [3, 3, 3]}, "mrope_section is [3, 3, 3], expected three numbers whose sum is 8"),
        ({}, {"num_heads": 0}, "the input is tensor<2x3x32xf32>, expected the number of heads as an attribute"),
        ({}, {"num_heads": 4}, "expected batch x sequence x 4"),
        ({"sin_cache": floats(0, 20, 1)}, {}, "cos_cache is tensor<20x8xf32> and sin_cache tensor<20x1xf32>, expected"),
        ({"position_ids": np.zeros((1, 2, 3), np.int64)}, {}, "position_ids is tensor<1x2x3xi64>, expected 3x2x3"),
        ({"position_ids": np.zeros((3, 1, 3), np.int64)}, {}, "position_ids is tensor<3x1x3xi64>, expected 3x2x3"),
    ],
)
def test_what_is_refused(change: dict[str, Array], options: dict[str, Any], message: str) -> None:
    given = {"num_heads": 2, "mrope_section": [3, 3, 2]} | options
    with pytest.raises(OnnxError, match=re.escape(message)):
        stepwell.from_onnx(model_of("MRotaryEmbedding", inputs_of() | change, **OPTIONS, **given))
