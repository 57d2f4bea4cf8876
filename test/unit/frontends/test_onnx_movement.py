"""Operators of ONNX that move elements: empty tensors, pads of all versions, and what the specification excludes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_broken_models import info, model, node
from onnx_one_node import by_onnxruntime, model_of, run

X = np.arange(6, dtype=np.float32).reshape(2, 3)
SHORT = np.arange(5, dtype=np.float32)


def agreed(operator: str, inputs: dict[str, Any], **options: Any) -> None:
    """The results are those of onnxruntime."""
    found = run(operator, inputs, **options)
    wanted = by_onnxruntime(model_of(operator, inputs, **options), inputs)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-6)


# Flatten


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((0, 3, 2), 1), ((2, 7, 0, 1), -1), ((0, 0), 1), ((3, 0), 0), ((2, 0), 2), ((2, 3, 4), 2), ((2, 3), -2), ((), 0)],
)
@pytest.mark.parametrize("known", [(), ("x",)])
def test_flatten(shape: tuple[int, ...], axis: int, known: tuple[str, ...]) -> None:
    agreed("Flatten", {"x": np.ones(shape, np.float32)}, version=13, known=known, axis=axis)


def test_flatten_of_a_batch_of_nothing() -> None:
    nodes, ends = [node("Flatten", "x", "y")], [info("x", ("n", 3, 2))]
    exe = stepwell.compile(stepwell.from_onnx(model(nodes, inputs=ends, outputs=[info("y", ("n", 6))])))
    for rows in (0, 4):
        x = np.ones((rows, 3, 2), np.float32)
        np.testing.assert_array_equal(exe(x)[0], x.reshape(rows, 6))
