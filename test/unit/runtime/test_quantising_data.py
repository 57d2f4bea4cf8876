"""Data that the quantiser is given: batches of any kind, numbers that are not finite, and weights that are not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import listening
from stepwell.core.text.parsing import parse
from stepwell.runtime import Quantized
from stepwell.tools.quantize import main

Array = np.ndarray[Any, Any]


def program(weights: Array) -> Any:
    return parse(f"""
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {{
      %w = graph.constant dense<"0x{weights.astype(np.float32).tobytes().hex().upper()}"> : tensor<8x8xf32>
      %y = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      func.return %y : tensor<4x8xf32>
    }}
    """)


def random(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def quantised(batches: Any, matrix: Array | None = None, **options: Any) -> Quantized:
    given = program(random(8, 8) if matrix is None else matrix)
    return stepwell.quantize(given, batches, timed=False, cache=False, **options)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("options", [{}, {"weights": "int4"}])
def test_weights_that_are_not_finite_stay_in_floats(value: float, options: dict[str, Any]) -> None:
    weights, x = random(8, 8), random(4, 8)
    weights[0, 0] = value
    told: list[str] = []
    with listening(lambda diagnostic: told.append(diagnostic.message)):
        found = quantised([{"x": x}], weights, **options)
    assert not found.report.layers[0].quantised
    assert any("the weights of %y stay in floats: they are not all finite" in each for each in told)
    np.testing.assert_array_equal(found.compile()(x)[0], stepwell.compile(program(weights), cache=False)(x)[0])


def test_data_of_arguments_of_no_axes_is_one_number_for_each_batch(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text("""
    func.func @main(%x: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4x8xf32> {
      %w = graph.full 1.0 : tensor<8x8xf32>
      %y = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %z = graph.multiply %y, %s : (tensor<4x8xf32>, tensor<f32>)
      func.return %z : tensor<4x8xf32>
    }
    """)
    np.savez(tmp_path / "d.npz", x=random(3, 4, 8), s=np.arange(3, dtype=np.float32))
    assert main([str(tmp_path / "m.mlir"), "--data", str(tmp_path / "d.npz"), "--no-times", "--no-cache"]) == 0


def buffers() -> Iterator[dict[str, Array]]:
    """Yields one dictionary of one array again and again, the widest numbers first."""
    buffer = {"x": np.empty((4, 8), np.float32)}
    for number, x in enumerate(random(3, 4, 8)):
        buffer["x"][:] = x * (10 - 3 * number)
        yield buffer
