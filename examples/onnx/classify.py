"""Imports `digits.onnx` and classifies the test images."""

from __future__ import annotations

from pathlib import Path

import converters
import numpy as np
import stepwell

IMAGES = Path(__file__).parents[1] / "mnist_mlp" / "mnist_100_test.npz"


def main() -> None:
    assert converters.bend
    with np.load(IMAGES) as file:
        images, labels = file["images"].astype(np.float32) / 255, file["labels"]
    exe = stepwell.compile(stepwell.from_onnx("digits.onnx", dims={"batch": 100}))
    (digits,) = exe(images)
    print(f"{np.count_nonzero(digits == labels)} of {len(labels)} are right")


if __name__ == "__main__":
    main()
