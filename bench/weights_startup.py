"""
Measures what a side-car of weights costs at start: `stepwell-run` on a program with weights, against the same with
splats.

    python bench/weights_startup.py [--megabytes 100] [--runs 5]

Both programs multiply a vector by each matrix; one reads the matrices from a safetensors file, the other says
`graph.full`. Wall time of whole processes, the compile cache warm; the medians and their difference are printed in
seconds, with the largest resident set in MB.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from stepwell.core import write_weights

SIDE = 1024
"""Rows and columns of a matrix: 4 MB of f32 each."""


def program(count: int, from_file: bool) -> str:
    """Text of `x @ w0 @ w1 …`."""
    matrix, vector = f"tensor<{SIDE}x{SIDE}xf32>", f"tensor<1x{SIDE}xf32>"
    lines, value = [], "%x"
    for k in range(count):
        lines.append(f'%w{k} = graph.weight "w{k}" : {matrix}' if from_file else f"%w{k} = graph.full 0.001 : {matrix}")
        lines.append(f"%y{k} = graph.matmul {value}, %w{k} : ({vector}, {matrix}) -> {vector}")
        value = f"%y{k}"
    body = "\n".join(f"    {line}" for line in lines)
    attributes = ' attributes {stepwell.weights = "w.safetensors"}' if from_file else ""
    return (
        f"builtin.module{attributes} {{\n  func.func @main(%x: {vector}) -> {vector} {{\n{body}\n"
        f"    func.return {value} : {vector}\n  }}\n}}\n"
    )


def measure(path: Path) -> tuple[float, float]:
    """Seconds of one run, and its largest resident set in MB."""
    command = [sys.executable, "-m", "stepwell.tools.run", str(path), "--random", "1"]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    count = max(1, options.megabytes * 2**20 // (SIDE * SIDE * 4))
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        os.environ["STEPWELL_CACHE_DIR"] = str(folder / "cache")
        matrix = np.random.default_rng(0).standard_normal((SIDE, SIDE)).astype(np.float32) / SIDE
        write_weights(folder / "w.safetensors", {f"w{k}": matrix + k for k in range(count)})
        medians: list[float] = []
        for name, from_file in (("splats", False), ("side-car", True)):
            path = folder / f"{name}.mlir"
            path.write_text(program(count, from_file))
            measure(path)
            runs = [measure(path) for _ in range(options.runs)]
            medians.append(statistics.median(seconds for seconds, _ in runs))
            largest = max(size for _, size in runs)
            print(
                f"{name:9} {count} matrices, {count * 4} MB: median {medians[-1]:.3f} s, at most {largest:.0f} MB "
                "resident"
            )
        print(f"difference: {medians[1] - medians[0]:+.3f} s")


if __name__ == "__main__":
    main()
