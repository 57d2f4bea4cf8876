"""
Whole ONNX models, ours beside onnxruntime and OpenVINO.

`python bench/models.py model.onnx… [--shape x=1x3x48x192] [--bind sr=16000] [--threads 2]`

One thread each unless `--threads` says more, every engine in a process of its own, rounds in turn. With one thread the
figures are processor time, with more the time of a clock. Inputs are random: floats normal, integers 0
or 1. The ratio is the median over rounds of the best peer's time over ours; the error is that against onnxruntime, of
the largest element. `make test-models` leaves the models it uses in build/models.

Memory is that of the process, as Linux counts it: at most until the first result, and at the end of the rounds. Python,
NumPy and onnx are part of it. So are pages of mapped files that the process has touched; `anonymous` is the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from suite.arguments import existing_file, new_file, positive, usable_cpu

ENGINES = ("stepwell", "onnxruntime", "openvino")
TARGET = "STEPWELL_BENCH_TARGET"
"""The variable of the environment that says for which target ours is compiled, else for this machine."""

HEADER = [
    *("model", *(f"{name} ms" for name in ENGINES), "ratio", "best peer"),
    *("error", "import and compile s", "peak MB (of each)", "steady MB"),
]
ROUND_SECONDS = 0.05
PAUSE_SECONDS = 0.1
"""Before each turn. Threads of the engine before look for work for a while, on a core that the next one needs."""
COMPARED = 4096
"""Elements of an output that are compared, at equal distances."""

Arrays = dict[str, Any]
Call = Callable[[], Any]


def inputs_of(path: str, shapes: dict[str, list[int]], bound: dict[str, int]) -> Arrays:
    """Returns an array for each input of a model, of the shape that is given or else declared. Open extents are 1."""
    from onnx import load
    from onnx.helper import tensor_dtype_to_np_dtype

    random, arrays = np.random.default_rng(0), {}
    graph = load(path, load_external_data=False).graph
    held = {each.name for each in graph.initializer}
    for info in graph.input:
        if info.name in held:
            continue
        type_ = info.type.tensor_type
        shape = shapes.get(info.name) or [max(dim.dim_value, 1) for dim in type_.shape.dim]
        dtype = tensor_dtype_to_np_dtype(type_.elem_type)
        if info.name in bound:
            arrays[info.name] = np.array(bound[info.name], dtype).reshape(shape)
        elif dtype.kind in "fV":  # the kind of bfloat16 is V
            arrays[info.name] = random.standard_normal(shape).astype(dtype)
        else:
            arrays[info.name] = random.integers(0, 2, shape).astype(dtype)
    return arrays


def stepwell_call(path: str, arrays: Arrays, bound: dict[str, int], threads: int) -> Call:
    import stepwell

    constants = {name: arrays[name] for name in bound}
    target = os.environ.get(TARGET)
    model = stepwell.compile_onnx(path, constants=constants, threads=threads, tuning=False, target=target)
    given = [array for name, array in arrays.items() if name not in bound]
    executable = model.specialised(*given)
    return lambda: executable(*given)


def onnxruntime_call(path: str, arrays: Arrays, bound: dict[str, int], threads: int) -> Call:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, arrays)


def openvino_call(path: str, arrays: Arrays, bound: dict[str, int], threads: int) -> Call:
    import openvino
    from suite.openvino_engine import CONFIG

    core = openvino.Core()
    model = core.read_model(path)
    model.reshape({port.get_any_name(): list(arrays[port.get_any_name()].shape) for port in model.inputs})
    request = core.compile_model(model, "CPU", CONFIG | {"INFERENCE_NUM_THREADS": threads}).create_infer_request()
    return lambda: request.infer(arrays, share_inputs=True, share_outputs=True).values()


CALLS: dict[str, Callable[[str, Arrays, dict[str, int], int], Call]] = {
    "stepwell": stepwell_call,
    "onnxruntime": onnxruntime_call,
    "openvino": openvino_call,
}


def sample(output: Any) -> list[float]:
    """Returns at most `COMPARED` elements of an output, at equal distances."""
    elements = np.asarray(output, np.float64).ravel()
    return elements[:: max(1, -(-elements.size // COMPARED))].tolist()


def greatest_error(ours: list[list[float]], theirs: list[list[float]]) -> float:
    """Returns the greatest difference of two lists of outputs, of the largest element of the output; inf for others."""
    if [len(each) for each in ours] != [len(each) for each in theirs]:
        return float("inf")
    errors = [0.0]
    for found, wanted in zip(ours, theirs, strict=True):
        scale = max(map(abs, wanted), default=0.0)
        errors.append(float(abs(np.subtract(found, wanted)).max(initial=0)) / max(scale, 1e-30))
    return float("inf") if np.isnan(errors).any() else max(errors)


def memory() -> dict[str, float]:
    """Returns what this process holds in memory, and has held at most, in MB. It is empty where nobody tells."""
    path = Path("/proc/self/status")
    if not path.exists():
        return {}
    names = {"VmHWM": "peak", "VmRSS": "now", "RssAnon": "anonymous"}
    fields = (line.split() for line in path.read_text().splitlines())
    return {names[name]: int(words[0]) / 1024 for key, *words in fields if (name := key.rstrip(":")) in names}


def serve(args: argparse.Namespace) -> None:
    """Answers on standard output: the first results, then seconds per call for each line that asks for some calls."""
    if args.cpu is not None and args.cpu >= 0 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {args.cpu})
    path, bound = str(args.models[0]), {name: numbers[0] for name, numbers in pairs(args.bind).items()}
    clock = time.process_time if args.threads == 1 else time.perf_counter
    answers = os.fdopen(os.dup(1), "w")  # what libraries print goes elsewhere
    os.dup2(2, 1)
    start = time.perf_counter()
    call = CALLS[args.serve](path, inputs_of(path, pairs(args.shape), bound), bound, args.threads)
    first = [sample(output) for output in call()]
    answer = {"ready": time.perf_counter() - start, "first": first, "memory": memory()}
    print(json.dumps(answer), file=answers, flush=True)
    for line in sys.stdin:
        if line.strip() == "memory":
            print(json.dumps(memory()), file=answers, flush=True)
            continue
        times = []
        for _ in range(int(line)):
            start = clock()
            call()
            times.append(clock() - start)
        print(json.dumps(float(np.median(times))), file=answers, flush=True)


class Engine:
    """The process of an engine."""

    def __init__(self, name: str, arguments: list[str]):
        command = [sys.executable, __file__, "--serve", name, *arguments]
        with tempfile.TemporaryFile("w+") as said:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True
            )
            assert self.process.stdout is not None
            answer = self.process.stdout.readline()
            self.first: Any = json.loads(answer) if answer else None
            if self.first is None:
                said.seek(0)
                lines = [line for line in said.read().splitlines() if line.strip()]
                print(f"{name} has no figure: {lines[-1] if lines else 'it ended'}", file=sys.stderr)

    def seconds(self, calls: int) -> float:
        return self._asked(str(calls))

    def memory(self) -> dict[str, float]:
        """Returns the most memory until the first result, and that of now: in all and anonymous."""
        return {**self._asked("memory"), "peak": self.first["memory"].get("peak", 0.0)}

    def _asked(self, line: str) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(line, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def measure(path: Path, arguments: list[str], rounds: int, which: Sequence[str] = ENGINES) -> dict[str, Any]:
    """Milliseconds of each engine, the ratio to the best peer, the error."""
    engines = {name: Engine(name, [str(path), *arguments]) for name in which}
    running = {name: engine for name, engine in engines.items() if engine.first is not None}
    calls = {name: max(1, int(ROUND_SECONDS / engine.seconds(1))) for name, engine in running.items()}
    times: dict[str, list[float]] = {name: [] for name in running}
    for _ in range(rounds):
        for name, engine in running.items():
            time.sleep(PAUSE_SECONDS)
            times[name].append(engine.seconds(calls[name]))
    held = {name: engine.memory() for name, engine in running.items()}
    for engine in engines.values():
        engine.stop()
    medians = {name: float(np.median(values)) for name, values in times.items()}
    row: dict[str, Any] = {"model": path.stem, "ms": {name: 1e3 * value for name, value in medians.items()}}
    row["memory"] = held
    peers = [name for name in medians if name != "stepwell"]
    if "stepwell" in medians:
        row["ready"] = running["stepwell"].first["ready"]
    if "stepwell" in medians and peers:
        best = min(peers, key=lambda name: medians[name])
        row |= {"best": best, "ratio": float(np.median(np.array(times[best]) / np.array(times["stepwell"])))}
    if {"stepwell", "onnxruntime"} <= running.keys():
        row["error"] = greatest_error(*(running[name].first["first"] for name in ("stepwell", "onnxruntime")))
    return row


def cells(row: dict[str, Any]) -> list[str]:
    """A line of the table."""
    found = [row["model"], *(f"{row['ms'][name]:.2f}" if name in row["ms"] else "-" for name in ENGINES)]
    found += [f"{row['ratio']:.2f}" if "ratio" in row else "-", row.get("best", "-")]
    found += [
        f"{row['error']:.0e}" if "error" in row else "-",
        f"{row['ready']:.1f}" if "ready" in row else "-",
    ]
    for which in ("peak", "now"):
        held = [row["memory"].get(name, {}).get(which) for name in ENGINES]
        found.append(" / ".join("-" if each is None else f"{each:.0f}" for each in held))
    return found


def pairs(texts: list[str]) -> dict[str, list[int]]:
    """The numbers of `NAME=NUMBERxNUMBER…`."""
    split = (text.rpartition("=") for text in texts)
    return {name: [int(number) for number in numbers.split("x")] for name, _, numbers in split}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("models", nargs="+", type=existing_file)
    parser.add_argument("--shape", action="append", default=[], help="the shape of an input: x=1x3x48x192")
    parser.add_argument("--bind", action="append", default=[], help="the value of an integer input")
    parser.add_argument("--rounds", type=positive, default=9)
    parser.add_argument("--cpu", type=usable_cpu)
    parser.add_argument("--threads", type=positive, default=1, help="of each engine")
    parser.add_argument("--json", type=new_file)
    parser.add_argument("--serve", choices=ENGINES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args)
        return
    options = [f"--shape={text}" for text in args.shape] + [f"--bind={text}" for text in args.bind]
    options += [] if args.cpu is None else [f"--cpu={args.cpu}"]
    options += [f"--threads={args.threads}"]
    print(f"| {' | '.join(HEADER)} |")
    print("| --- |" + " --- |" * (len(HEADER) - 1))
    rows = []
    for path in args.models:
        rows.append(measure(path, options, args.rounds))
        print(f"| {' | '.join(cells(rows[-1]))} |", flush=True)
    if args.json is not None:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
