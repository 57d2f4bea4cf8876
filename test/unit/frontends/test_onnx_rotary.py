"""RotaryEmbedding of `com.microsoft`, against NumPy in 64 bits and onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_cached import floats, turned
from onnx_one_node import by_onnxruntime, model_of
from stepwell.frontends import OnnxError

Array = Any
DOMAIN = "com.microsoft"


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize(
    ("shape", "places", "pairs", "options"),
    [
        ((2, 3, 64), [[0, 1, 2], [4, 5, 3]], 8, {}),
        ((2, 3, 64), [4], 8, {}),
        ((2, 4, 3, 16), [[0, 1, 2], [4, 5, 3]], 8, {"interleaved": 1}),
        ((2, 3, 64), [[0, 1, 2], [4, 5, 3]], 4, {"num_heads": 4, "rotary_embedding_dim": 8}),
        ((2, 4, 3, 16), [2], 4, {"num_heads": 4, "rotary_embedding_dim": 8, "scale": 2.0}),
    ],
)
def test_positions_turn_pairs(shape: tuple[int, ...], places: Any, pairs: int, options: dict[str, Any]) -> None:
    inputs = {"x": floats(0, *shape), "at": np.array(places), "cos": floats(1, 32, pairs), "sin": floats(2, 32, pairs)}
    made = model_of("RotaryEmbedding", inputs, version=1, domain=DOMAIN, **options)
    (found,) = stepwell.compile_onnx(made, tuning=False)(*inputs.values())
    np.testing.assert_allclose(found, by_onnxruntime(made, inputs)[0], rtol=1e-5, atol=1e-6)
    heads = inputs["x"] if len(shape) == 4 else inputs["x"].reshape(*shape[:2], 4, 16).transpose(0, 2, 1, 3)
    for n in range(shape[0]):
        at = np.array(places)[n] if np.ndim(places) == 2 else places[0] + np.arange(3)
        x = heads[n].transpose(1, 0, 2).astype(np.float64)
        wanted = turned(x, inputs["cos"][at], inputs["sin"][at], bool(options.get("interleaved")))
        ours = found[n].transpose(1, 0, 2) if len(shape) == 4 else found[n].reshape(3, 4, 16)
        np.testing.assert_allclose(ours, wanted, rtol=1e-5, atol=1e-5)


def test_positions_that_are_refused() -> None:
    inputs = {"x": floats(0, 2, 3, 64), "at": np.array([4]), "cos": floats(1, 32, 8), "sin": floats(2, 32, 8)}

    def refusal(given: dict[str, Array], **options: Any) -> str:
        with pytest.raises(OnnxError) as error:
            stepwell.compile_onnx(model_of("RotaryEmbedding", given, version=1, domain=DOMAIN, **options))
        return str(error.value)

    expected = "is_packed_batching is set, expected samples of one length"
    assert expected in refusal(inputs, is_packed_batching=1)
    expected = "cos_cache is tensor<256xf32> and sin_cache tensor<32x8xf32>, expected two like matrices"
    assert expected in refusal(inputs | {"cos": floats(1, 256)})
    expected = "cos_cache is tensor<32x8xf32> and sin_cache tensor<32x1xf32>, expected two like matrices"
    assert expected in refusal(inputs | {"sin": floats(1, 32, 1)})
    expected = "position_ids is tensor<1x3xi64>, expected 1 or 2x3 elements"
    assert expected in refusal(inputs | {"at": np.zeros((1, 3), np.int64)})
