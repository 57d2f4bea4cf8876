"""
The wait: seconds from the start of a process to its first result, ours beside onnxruntime, OpenVINO and torch.compile.

`python bench/first_results.py [model.onnx…]` takes a product of 1024x1024, an MLP, and these models, by default four
networks of `bench/zoo.py`. Ours starts with an empty compile cache, and once more with what that run has left in it.
Figures are the least of the repetitions. `imports` is what a process takes that only imports what ours needs: xDSL,
NumPy and llvmlite, and onnx for a model. torch.compile takes programs of PyTorch, so it has no figure for other models.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from models import CALLS, inputs_of
from suite.arguments import existing_file, new_file, positive
from suite.networks import built, example, exported

Row = dict[str, Any]

NETWORKS = ("minilm", "mobilenet_v2", "resnet50", "convnext_tiny")
"""Of `bench/zoo.py`, measured where no model is named."""

ENGINES = (*CALLS, "torch.compile")

HEADER = ["program", "imports", "ours, empty cache", "from cache", *(name for name in ENGINES if name != "stepwell")]

PRODUCT = (
    "func.func @main(%a: {0}, %b: {0}) -> {0} {{ %0 = graph.matmul %a, %b : ({0}, {0}) -> {0} func.return %0 : {0} }}"
)

MLP = """
func.func @main(
  %x: tensor<64x784xf32>, %a: tensor<784x128xf32>, %b: tensor<128xf32>, %c: tensor<128x10xf32>, %d: tensor<10xf32>
) -> tensor<64x10xf32> {
  %0 = graph.matmul %x, %a : (tensor<64x784xf32>, tensor<784x128xf32>) -> tensor<64x128xf32>
  %1 = graph.add %0, %b : (tensor<64x128xf32>, tensor<128xf32>) -> tensor<64x128xf32>
  %2 = graph.relu %1 : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %3 = graph.matmul %2, %c : (tensor<64x128xf32>, tensor<128x10xf32>) -> tensor<64x10xf32>
  %4 = graph.add %3, %d : (tensor<64x10xf32>, tensor<10xf32>) -> tensor<64x10xf32>
  %5 = graph.softmax %4, axis = -1 : (tensor<64x10xf32>) -> tensor<64x10xf32>
  func.return %5 : tensor<64x10xf32>
}"""

TEXTS = {
    "product": (PRODUCT.format("tensor<1024x1024xf32>"), ((1024, 1024), (1024, 1024))),
    "mlp": (MLP, ((64, 784), (784, 128), (128,), (128, 10), (10,))),
}
"""Programs of our own, with the shapes of their inputs."""


IMPORTS = ("llvmlite.binding", *(f"xdsl.dialects.{name}" for name in ("arith", "builtin", "func", "memref", "scf")))


def first_result(engine: str, program: str) -> None:
    """Computes the first result of a program, in this process."""
    if engine == "imports":
        for name in (*IMPORTS, *(() if program in TEXTS else ("onnx",))):
            import_module(name)
    elif program in TEXTS:
        text, shapes = TEXTS[program]
        arrays = [np.ones(shape, "f") for shape in shapes]
        if engine == "torch.compile":
            torch_result(program, arrays)
        else:
            import stepwell

            stepwell.compile(text, tuning=False)(*arrays)
    elif engine == "torch.compile":
        import torch

        name = Path(program).stem
        with torch.no_grad():
            torch.compile(built(name).eval())(*example(name))
    else:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        CALLS[engine](program, inputs_of(program, {}, {}), {}, threads)()


def torch_result(program: str, arrays: list[Any]) -> None:
    import torch

    def product(a: Any, b: Any) -> Any:
        return a @ b

    def mlp(x: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        return torch.softmax(torch.relu(x @ a + b) @ c + d, -1)

    with torch.no_grad():
        torch.compile(product if program == "product" else mlp)(*map(torch.from_numpy, arrays))


def seconds(engine: str, program: str, cache: str) -> float | None:
    """Returns the time from the start of a process to its first result, and `None` where the engine has none."""
    caches = {"STEPWELL_CACHE_DIR": cache, "TORCHINDUCTOR_CACHE_DIR": cache}
    start = time.time()
    run = subprocess.run(
        [sys.executable, __file__, "--serve", engine, program],
        env={**os.environ, **caches},
        capture_output=True,
        text=True,
    )
    if run.returncode != 0:
        lines = [line for line in run.stderr.splitlines() if line.strip()]
        print(f"{engine} has no figure for {program}: {lines[-1] if lines else 'it ended'}", file=sys.stderr)
        return None
    return float(run.stdout.splitlines()[-1]) - start


def measured(program: str, repetitions: int) -> Row:
    """Returns the least times of all engines for a program. Those that take no program of ours are left out."""
    row: Row = {"program": Path(program).stem}
    known = [engine for engine in ENGINES if engine in ("stepwell", "torch.compile") or program not in TEXTS]
    for _ in range(repetitions):
        for engine in ("imports", *known):
            if row.get(engine, 0.0) is None:
                continue
            with tempfile.TemporaryDirectory() as cache:
                _least(row, engine, seconds(engine, program, cache))
                if engine == "stepwell":
                    _least(row, "cached", seconds(engine, program, cache))
    return row


def _least(row: Row, name: str, found: float | None) -> None:
    row[name] = None if found is None else min(found, row.get(name, found))


def cells(row: Row) -> list[str]:
    """A line of the table."""
    names = ("imports", "stepwell", "cached", *ENGINES[1:])
    return [row["program"], *("-" if row.get(name) is None else f"{row[name]:.2f}" for name in names)]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("models", nargs="*", type=existing_file)
    parser.add_argument("--repetitions", type=positive, default=3)
    parser.add_argument("--json", type=new_file)
    parser.add_argument("--serve", nargs=2, metavar=("ENGINE", "PROGRAM"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        first_result(*options.serve)
        print(time.time(), flush=True)
        return
    from kernels import machine  # It loads all engines, which a process that is timed must not.
    from suite.report import markdown

    models = options.models or [exported(name) for name in NETWORKS]
    rows = []
    for program in (*TEXTS, *map(str, models)):
        rows.append(measured(program, options.repetitions))
        print(
            "  ".join(f"{word} {cell}" for word, cell in zip(HEADER[1:], cells(rows[-1])[1:], strict=True)),
            rows[-1]["program"],
            flush=True,
        )
    print(markdown(HEADER, [cells(row) for row in rows]))
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": machine(), "programs": rows}, indent=1))


if __name__ == "__main__":
    main()
