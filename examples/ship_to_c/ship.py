"""
Exports a trained digit classifier for C: `digits.o`, `digits.h` and `digits.safetensors`, and images to try it on.

    python examples/ship_to_c/ship.py build
    cd build && cc -I. ../examples/ship_to_c/classify.c digits.o -lpthread -o classify && ./classify < images.bin
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import stepwell

MODEL = Path(__file__).resolve().parents[1] / "mnist_mlp"

PROGRAM = """\
func.func @main(%image: tensor<784xf32>) -> tensor<10xf32> {
  %w0 = graph.weight "w0" : tensor<128x784xf32>
  %b0 = graph.weight "b0" : tensor<128xf32>
  %w1 = graph.weight "w1" : tensor<10x128xf32>
  %b1 = graph.weight "b1" : tensor<10xf32>
  %product0 = graph.matmul %w0, %image : (tensor<128x784xf32>, tensor<784xf32>)
  %sum0 = graph.add %product0, %b0 : (tensor<128xf32>, tensor<128xf32>)
  %hidden = graph.relu %sum0 : (tensor<128xf32>)
  %product1 = graph.matmul %w1, %hidden : (tensor<10x128xf32>, tensor<128xf32>)
  %logits = graph.add %product1, %b1 : (tensor<10xf32>, tensor<10xf32>)
  func.return %logits : tensor<10xf32>
}
"""


def ship(folder: Path, target: str = "host") -> stepwell.Executable:
    """Writes all that the C program needs into `folder`, and returns the program that it is to agree with."""
    folder.mkdir(parents=True, exist_ok=True)
    with np.load(MODEL / "mnist_mlp_784_128_10.npz") as weights:
        exe = stepwell.compile(PROGRAM, weights={key: weights[key] for key in ("w0", "b0", "w1", "b1")})
    exe.export(folder / "digits.o", target=target)
    images().tofile(folder / "images.bin")
    return exe


def images() -> np.ndarray:
    """100 test images of 784 pixels, f32."""
    with np.load(MODEL / "mnist_100_test.npz") as test:
        return test["images"].reshape(100, 784).astype(np.float32) / 255


if __name__ == "__main__":
    ship(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
