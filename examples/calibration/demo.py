"""
Shows step by step what two functions made for an external code generator take and give.

Prints the program, where calibration puts the data of each function, the program that is run for it, and the data; then
statistics over several batches.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import stepwell
from stepwell.core import make_context, parse_pipeline, run_pipeline
from stepwell.rewrites import read_map
from stepwell.runtime import StatisticsOptions, load_statistics, save_statistics
from xdsl.dialects.builtin import ModuleOp

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "two_functions.mlir"


def batches(count: int) -> list[dict[str, Any]]:
    """Random arguments of the program, the same in every run."""
    generator = np.random.default_rng(7)
    return [{name: generator.random((8, 8), dtype=np.float32) for name in "xyz"} for _ in range(count)]


def show_module(module: ModuleOp) -> None:
    """The map of the functions' data, and the program that returns it."""
    rewritten = module.clone()
    run_pipeline(make_context(), rewritten, parse_pipeline("calibrate-map,calibrate-module"))
    print("\n--- where the data of each function stands: offset, inputs, outputs")
    for name, calls in read_map(rewritten.body.block.first_op).items():
        print(f"{name}: {[(call.offset, call.inputs, call.outputs) for call in calls]}")
    print("\n--- the program that is run")
    print(rewritten)


def show_data(data: dict[str, Any], batch: dict[str, Any]) -> None:
    """The data of one batch, and that it is what NumPy says."""
    print("\n--- the data of one batch")
    for name, call in data.items():
        for side in ("inputs", "outputs"):
            for number, array in enumerate(call[side]):
                print(f"{name} {side[:-1]} {number}: {array.dtype}{list(array.shape)} {array[0, :3]} …")
    x, y, z = (batch[name] for name in "xyz")
    expected = {
        "g0": {"inputs": [x, y], "outputs": [x + y, x - y]},
        "g1": {"inputs": [x + y, z], "outputs": [x + y - z]},
    }
    for name, call in expected.items():
        for side, arrays in call.items():
            for found, wanted in zip(data[name][side], arrays, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    print("as computed by NumPy")


def main() -> None:
    """Runs the whole example."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stats", type=Path, default=Path("calibration.json"), help="file for the statistics")
    parser.add_argument(
        "--batches", type=Path, metavar="FOLDER", help="folder for the arguments, as batch0.npz, batch1.npz …"
    )
    options = parser.parse_args()
    print(PROGRAM.read_text())
    module = stepwell.parse(PROGRAM)
    show_module(module)
    several = batches(5)
    for number, batch in enumerate(several if options.batches else ()):
        np.savez(options.batches / f"batch{number}.npz", **batch)
    show_data(stepwell.calibrate(module, several[0]), several[0])
    statistics = stepwell.calibrate(module, several, statistics=StatisticsOptions(bins=64, percentiles=(1, 99)))
    print(f"\n--- statistics over {len(several)} batches")
    for name, call in statistics.items():
        for side in ("inputs", "outputs"):
            for number, tensor in enumerate(call[side]):
                percentiles = ", ".join(f"{p:g} %: {value:.4g}" for p, value in tensor.percentiles.items())
                print(f"{name} {side[:-1]} {number}: {tensor}; {percentiles}")
    save_statistics(options.stats, statistics)
    assert load_statistics(options.stats) == statistics
    print(f"written to {options.stats}")


if __name__ == "__main__":
    main()
