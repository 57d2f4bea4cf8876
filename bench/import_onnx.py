"""
Measures time and memory of the import of ONNX models, and the time of `stepwell.compile` for them, without a cache and
from it.

Without arguments: two made models with 100 MB of weights, inside the file and in another. With `--models`: those of
test/models as well. Every model is measured in a process of its own; memory is what the process has at most, less what
it had with all packages loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from suite.report import aligned
from suite.worker import CLOCKS

HERE = Path(__file__)
MODELS = HERE.parents[1] / "test" / "models"

IMPORT_LIMIT, MEMORY_LIMIT = 5.0, 2.5
"""Seconds for a model of 100 MB, and its memory in sizes of the model."""

WIDTH = 1024
"""Of the matrices of a made model, 4 MB of f32 each."""

MEGABYTE = 1 << 20


@dataclass
class Figures:
    """One model, with sizes in MB and times in seconds."""

    name: str
    size: float
    import_seconds: float
    memory: float
    """At most during the import."""
    cold: float | None = None
    cached: float | None = None


# Models


def made(folder: Path, size: int, external: bool) -> Path:
    """A chain of products and relus."""
    import onnx
    from onnx import helper, numpy_helper

    random = np.random.default_rng(0)
    nodes, weights, name = [], [], "x"
    for layer in range(max(size // 4, 1)):
        matrix = random.standard_normal((WIDTH, WIDTH), np.float32) / WIDTH**0.5
        weights.append(numpy_helper.from_array(matrix, f"w{layer}"))
        nodes.append(helper.make_node("MatMul", [name, f"w{layer}"], [f"h{layer}"]))
        nodes.append(helper.make_node("Relu", [f"h{layer}"], [f"y{layer}"]))
        name = f"y{layer}"
    shape = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [1, WIDTH])
    ends = [helper.make_value_info(each, shape) for each in ("x", name)]
    graph = helper.make_graph(nodes, "made", ends[:1], ends[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    path = folder / ("external.onnx" if external else "inside.onnx")
    onnx.save_model(model, path, save_as_external_data=external, location="external.data")
    return path


def subjects(folder: Path, size: int, models: bool, names: list[str]) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """Name, file and options of the import of each model."""
    for place, external in (("inside", False), ("external", True)):
        if not names:
            yield f"{size} MB, {place}", made(folder, size, external), {}
    if models or names:
        sys.path.insert(0, str(MODELS))
        from cases import CASES  # pyright: ignore[reportMissingImports]

        for case in CASES:
            if not names or case.name in names:
                constants = {name: array.tolist() for name, array in case.constants.items()}
                yield case.name, case.path(), {"dims": case.dims, "constants": constants}


def size_of(path: Path) -> int:
    """Bytes of a model with its external data."""
    return sum(each.stat().st_size for each in path.parent.glob(f"{path.stem}*") if each.is_file())


# Measuring, in a process of its own


def measured(name: str, path: Path, given: dict[str, Any], options: argparse.Namespace) -> Figures:
    request = {"name": name, "path": str(path), "options": given}
    request |= {"compiles": not options.no_compile, "clock": options.clock}
    command = [sys.executable, str(HERE), "--measure", json.dumps(request)]
    finished = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Figures(**json.loads(finished.stdout.splitlines()[-1]))


def measure(request: dict[str, Any]) -> Figures:
    import stepwell

    path, options = Path(request["path"]), dict(request["options"])
    options["constants"] = {name: np.array(value) for name, value in options.get("constants", {}).items()}
    clock = CLOCKS[request["clock"]]
    import_something()
    before = peak()
    start = clock()
    module = stepwell.from_onnx(path, **options)
    seconds = clock() - start
    figures = Figures(request["name"], size_of(path) / MEGABYTE, seconds, (peak() - before) / MEGABYTE)
    if request["compiles"]:
        compile_times(module, figures, clock)
    return figures


def compile_times(module: Any, figures: Figures, clock: Callable[[], float]) -> None:
    import stepwell

    with tempfile.TemporaryDirectory() as directory:
        os.environ["STEPWELL_CACHE_DIR"] = directory
        times: list[float] = []
        for _ in range(2):
            copy = module.clone()
            start = clock()
            stepwell.compile(copy, threads=1)
            times.append(clock() - start)
    figures.cold, figures.cached = times


def import_something() -> None:
    """Loads what an import loads, so that it does not count."""
    import stepwell
    from onnx import TensorProto, helper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in "xy"]
    big = helper.make_tensor("w", TensorProto.FLOAT, [2, 2000], np.zeros(4000, np.float32).tobytes(), raw=True)
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("MatMul", ["x", "w"], ["z"])]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [big])
    stepwell.from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10))


def peak() -> int:
    """
    Most memory that the process has had, in bytes.

    `getrusage` would count what its parent had when it was forked, too; `VmHWM` begins anew with the program.
    """
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


# Reports

HEADER = ["model", "MB", "import s", "memory MB", "/ size", "cold s", "cached s", "verdict"]


def cells(figures: Figures) -> list[str]:
    ratio = figures.memory / figures.size
    limited = " MB, " in figures.name
    good = figures.import_seconds < IMPORT_LIMIT and ratio < MEMORY_LIMIT
    verdict = ("passes" if good else "too much") if limited else "-"
    times = ["-" if each is None else f"{each:.2f}" for each in (figures.cold, figures.cached)]
    return [
        figures.name,
        f"{figures.size:.1f}",
        f"{figures.import_seconds:.2f}",
        f"{figures.memory:.0f}",
        f"{ratio:.2f}",
        *times,
        verdict,
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="models of test/models, instead of the made ones")
    parser.add_argument("--models", action="store_true", help="the models of test/models too")
    parser.add_argument("--no-compile", action="store_true", help="only import")
    parser.add_argument("--size", type=int, default=100, metavar="MB", help="of the made models")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        print(json.dumps(asdict(measure(json.loads(options.measure)))))
        return
    found: list[Figures] = []
    with tempfile.TemporaryDirectory() as directory:
        for name, path, given in subjects(Path(directory), options.size, options.models, options.names):
            found.append(measured(name, path, given, options))
            print("  ".join(cells(found[-1])), flush=True)
    print("\n" + aligned(HEADER, list(map(cells, found))))
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n")


if __name__ == "__main__":
    main()
