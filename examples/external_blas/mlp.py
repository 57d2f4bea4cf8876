"""
A digit classifier whose matrix products are computed by OpenBLAS, where that is installed.

Run it as it is, then without the library (`pip uninstall scipy-openblas32`, or `--hide`): the same digits, and a remark
that says who compiles the products instead.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import stepwell
from stepwell.core import Diagnostic, listening

MODEL = Path(__file__).resolve().parents[1] / "mnist_mlp"

PROGRAM = """\
func.func @main(%image: tensor<{batch}x784xf32>) -> tensor<{batch}x10xf32> {{
  %w0 = graph.weight "w0" : tensor<784x128xf32>
  %b0 = graph.weight "b0" : tensor<128xf32>
  %w1 = graph.weight "w1" : tensor<128x10xf32>
  %b1 = graph.weight "b1" : tensor<10xf32>
  %product0 = graph.matmul %image, %w0 : (tensor<{batch}x784xf32>, tensor<784x128xf32>)
  %sum0 = graph.add %product0, %b0 : (tensor<{batch}x128xf32>, tensor<128xf32>)
  %hidden = graph.relu %sum0 : (tensor<{batch}x128xf32>)
  %product1 = graph.matmul %hidden, %w1 : (tensor<{batch}x128xf32>, tensor<128x10xf32>)
  %logits = graph.add %product1, %b1 : (tensor<{batch}x10xf32>, tensor<10xf32>)
  func.return %logits : tensor<{batch}x10xf32>
}}
"""

PARTITION = "partition-by-pattern{table=openblas annotate-codegen},O3"
"""Products, with their addends, become functions for `openblas`; then everything as usual."""


def load() -> tuple[dict[str, Any], Any, Any]:
    """
    Returns the weights by key, matrices as (inputs, outputs), the images as rows of numbers from 0 to 1, and their
    labels.
    """
    with np.load(MODEL / "mnist_mlp_784_128_10.npz") as file:
        weights = {key: np.ascontiguousarray(file[key].T) for key in ("w0", "b0", "w1", "b1")}
    with np.load(MODEL / "mnist_100_test.npz") as file:
        return weights, (file["images"].reshape(100, 784) / 255.0).astype(np.float32), file["labels"]


def compiled(batch: int, pipeline: str | None, weights: dict[str, Any]) -> tuple[Any, list[str]]:
    """The classifier for `batch` images, and what was remarked on who compiles what."""
    remarks: list[str] = []

    def hear(diagnostic: Diagnostic) -> None:
        if "compiled by stepwell itself" in diagnostic.message:
            remarks.append(diagnostic.message)

    with listening(hear):
        program = PROGRAM.format(batch=batch)
        return stepwell.compile(program, pipeline=pipeline, weights=weights, cache=False), remarks


def microseconds(call: Callable[[], Any], rounds: int = 50) -> float:
    """The median time of a call."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e6


def main() -> None:
    """Runs the whole example."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hide", action="store_true", help="do as if the library were not installed")
    parser.add_argument("--times", action="store_true", help="compare times")
    options = parser.parse_args()
    if options.hide:
        sys.modules["scipy_openblas32"] = None  # pyright: ignore[reportArgumentType]
    weights, images, labels = load()
    (own, _), (mixed, remarks) = compiled(100, None, weights), compiled(100, PARTITION, weights)
    for remark in remarks:
        print(f"remark: {remark}")
    print(f"calls out of the program: {mixed.ir('llvm').count('llvm.call @_stepwell_external_')}")
    ours, theirs = own(images)[0], mixed(images)[0]
    accuracy = (theirs.argmax(axis=1) == labels).mean()
    print(f"accuracy {accuracy:.0%}; largest difference of a logit from stepwell's own {abs(ours - theirs).max():.1e}")
    if options.times:
        for batch in (1, 100):
            (own, _), (mixed, _) = compiled(batch, None, weights), compiled(batch, PARTITION, weights)
            part = images[:batch]
            first, second = microseconds(lambda: own(part)), microseconds(lambda: mixed(part))  # noqa: B023
            print(f"batch {batch:3}: stepwell {first:8.1f} µs, with the code generator {second:8.1f} µs")


if __name__ == "__main__":
    main()
