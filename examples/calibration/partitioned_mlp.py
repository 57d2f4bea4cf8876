"""
The ranges that the matrix products of a trained digit classifier meet, over 100 real images.

The products go to functions for the code generator `openblas` by its pattern table (the library is not needed here);
calibration then runs ten batches of ten images and keeps statistics only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import stepwell
from stepwell.core import make_context, parse_pipeline, run_pipeline
from stepwell.runtime import StatisticsOptions

MODEL = Path(__file__).resolve().parents[1] / "mnist_mlp"

PROGRAM = """\
func.func @main(%image: tensor<10x784xf32>) -> tensor<10xi64> {
  %w0 = graph.weight "w0" : tensor<784x128xf32>
  %b0 = graph.weight "b0" : tensor<128xf32>
  %w1 = graph.weight "w1" : tensor<128x10xf32>
  %b1 = graph.weight "b1" : tensor<10xf32>
  %product0 = graph.matmul %image, %w0 : (tensor<10x784xf32>, tensor<784x128xf32>)
  %sum0 = graph.add %product0, %b0 : (tensor<10x128xf32>, tensor<128xf32>)
  %hidden = graph.relu %sum0 : (tensor<10x128xf32>)
  %product1 = graph.matmul %hidden, %w1 : (tensor<10x128xf32>, tensor<128x10xf32>)
  %logits = graph.add %product1, %b1 : (tensor<10x10xf32>, tensor<10xf32>)
  %digit = graph.argmax %logits, axis = 1 : (tensor<10x10xf32>)
  func.return %digit : tensor<10xi64>
}
"""

PARTITION = "partition-by-pattern{table=openblas annotate-codegen}"


def load() -> tuple[dict[str, Any], Any]:
    """The weights by key, matrices as (inputs, outputs), and the images as rows of numbers from 0 to 1."""
    with np.load(MODEL / "mnist_mlp_784_128_10.npz") as file:
        weights = {key: np.ascontiguousarray(file[key].T) for key in ("w0", "b0", "w1", "b1")}
    with np.load(MODEL / "mnist_100_test.npz") as file:
        images = (file["images"].reshape(100, 784) / 255.0).astype(np.float32)
    return weights, images


def main() -> None:
    """Runs the whole example."""
    module = stepwell.parse(PROGRAM)
    run_pipeline(make_context(), module, parse_pipeline(PARTITION))
    print(module)
    weights, images = load()
    statistics = stepwell.calibrate(
        module,
        ({"image": images[start : start + 10]} for start in range(0, 100, 10)),
        statistics=StatisticsOptions(percentiles=(0.1, 99.9)),
        weights=weights,
    )
    for name, call in statistics.items():
        for side in ("inputs", "outputs"):
            for number, tensor in enumerate(call[side]):
                low, high = tensor.percentiles.values()
                print(f"{name} {side[:-1]} {number}: {tensor}; 99.8 % in {low:.4g} … {high:.4g}")


if __name__ == "__main__":
    main()
