"""
The MNIST MLP of examples/mnist_mlp beside NumPy: microseconds per image and the time to compile, cold and from cache.

Rounds alternate between the two, each with one thread; the medians of the per-round ratios are what to read.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import stepwell
from stepwell.core import write_weights

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "mnist_mlp"
sys.path.insert(0, str(EXAMPLE))
from demo import PROGRAM, numpy_model  # noqa: E402


def interleaved(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int, calls: int) -> tuple[Any, Any]:
    """Seconds per call of both, one figure per round."""
    figures = np.empty((2, rounds))
    for round_ in range(rounds):
        for which, call in enumerate((ours, theirs)):
            start = time.perf_counter()
            for _ in range(calls):
                call()
            figures[which, round_] = (time.perf_counter() - start) / calls
    return figures[0], figures[1]


def compile_times(path: Path) -> dict[str, float]:
    """Seconds to an executable: without a cache, and with a warm one."""
    times: dict[str, float] = {}
    for name in ("cold", "cached"):
        start = time.perf_counter()
        stepwell.compile(path)
        times[name] = time.perf_counter() - start
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--batches", type=int, nargs="*", default=[1, 256])
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    with np.load(EXAMPLE / "mnist_mlp_784_128_10.npz") as file:
        weights = {key: file[key] for key in ("w0", "b0", "w1", "b1")}
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as directory:
        os.environ["STEPWELL_CACHE_DIR"] = str(Path(directory) / "cache")
        write_weights(Path(directory) / "mlp.safetensors", weights)
        print(
            f"{'batch':>5} {'ours us/image':>14} {'numpy us/image':>15} {'numpy/ours':>11} {'cold ms':>8} "
            f"{'cached ms':>10}"
        )
        for batch in options.batches:
            path = Path(directory) / f"mlp{batch}.mlir"
            path.write_text(PROGRAM.format(batch=batch))
            times = compile_times(path)
            executable = stepwell.compile(path)
            x = np.random.default_rng(0).random((batch, 784), np.float32)
            ours, theirs = interleaved(
                lambda run=executable, x=x: run(x),
                lambda x=x: numpy_model(x, weights),
                options.rounds,
                max(2000 // batch, 5),
            )
            row = {
                "batch": batch,
                "ours": float(np.median(ours)) / batch * 1e6,
                "numpy": float(np.median(theirs)) / batch * 1e6,
                "ratio": float(np.median(theirs / ours)),
                **times,
            }
            rows.append(row)
            print(
                f"{batch:5} {row['ours']:14.2f} {row['numpy']:15.2f} {row['ratio']:11.2f} "
                f"{times['cold'] * 1e3:8.0f} {times['cached'] * 1e3:10.1f}"
            )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
