"""
The error of quantised ONNX models, ours and onnxruntime's, against their graph evaluated in float64.

`python test/models/quantised_error.py MODEL.onnx … [--inputs 64] [--quantise]`

With `--quantise` a model is in f32, and is first quantised by onnxruntime's static quantiser as `bench/quantised.json`
says. Inputs are drawn from a normal distribution; integers are zeros. An error is the root of the mean of squares over
all elements of all results. The mean is over all inputs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test" / "support"))
sys.path.insert(0, str(ROOT / "bench"))

import stepwell  # noqa: E402
from double_precision import DoubleProgram, mean_errors  # noqa: E402
from quantised import CASES, Batches, quantised  # noqa: E402


def errors_of(path: Path, count: int) -> tuple[float, float, float]:
    """Returns the mean errors of ours and of onnxruntime, and the mean size of the results."""
    import onnxruntime

    module = stepwell.from_onnx(path)
    exact, ours = DoubleProgram(module), stepwell.compile(module, threads=1)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
    batches = Batches(path, count)
    rows: list[tuple[float, float, float]] = []
    while (batch := batches.get_next()) is not None:
        arrays = list(batch.values())
        wanted = exact(*arrays)
        own, size = mean_errors([np.asarray(each) for each in ours(*arrays)], wanted)
        theirs, _ = mean_errors([np.asarray(each) for each in session.run(None, batch)], wanted)
        rows.append((own, theirs, size))
    found: Any = np.mean(rows, axis=0)
    return float(found[0]), float(found[1]), float(found[2])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--inputs", type=int, default=64)
    parser.add_argument("--quantise", action="store_true")
    options = parser.parse_args()
    for path in options.models:
        model = quantised(path, CASES["settings"]) if options.quantise else path
        own, theirs, size = errors_of(model, options.inputs)
        ratio = own / theirs if theirs else float(own != 0)
        print(f"{path.stem}: ours {own / size:.2e}, onnxruntime {theirs / size:.2e} of the results, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
