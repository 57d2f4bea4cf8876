"""
Measures `stepwell.compile` without a cache and from it: kernels, an encoder layer, a CNN of 50 layers, 20 identical
layers beside one.

Imports are done before the clock starts. A figure is the least of the repetitions: other work on the machine only adds
to it.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import stepwell
from suite.arguments import new_file, positive
from suite.programs import describe, encoder_layer, load_cases
from suite.report import aligned
from suite.stepwell_engine import own_shape, program_text
from suite.vocabulary import Program, Value
from suite.worker import CLOCKS

KERNELS = (
    "gemm_1024",
    "gemm_100x768x1000",
    "linear_64x3072x768",
    "conv3x3_64to64_56x56_b1",
    "conv1x1_64to256_56x56_b1",
    "depthwise3x3_128_56x56_b1",
    "gelu_1m",
    "softmax_512x1024",
    "layer_norm_512x1024",
    "chain8_1m",
    "transpose_2048",
    "column_sums_2048",
    "int8_gemm_1024",
)
"""One case of each kind; each is compiled by itself."""

KERNEL_LIMIT, ENCODER_LIMIT, CNN_LIMIT, CACHED_LIMIT, LAYERS_LIMIT = 0.5, 3.0, 20.0, 0.5, 1.3
"""Seconds, and for 20 layers the factor to one."""

QUICK = ("gemm_1024",)


@dataclass
class Timing:
    """One program. `limit` is in seconds without a cache."""

    name: str
    cold: float
    cached: float
    limit: float | None
    verdict: str


def encoder(layers: int) -> Program:
    """Layers of hidden size 384 on a sequence of 128, each with weights of its own."""
    program = Program()
    x = program.input(1, 128, 384)
    for _ in range(layers):
        x = encoder_layer(program, x)
    program.outputs = [x]
    return program


def cnn() -> Program:
    """
    50 layers, the bottlenecks of ResNet-50 (He et al., *Deep residual learning*, 2016) at 224×224.

    The batch normalisations are folded in, and a second convolution with stride 2 stands for its pooling.
    """
    program = Program()
    x = program.conv(program.conv(program.input(1, 3, 224, 224), 64, 7, 2), 64, 3, 2)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            x = _bottleneck(program, x, 64 << stage, 2 if stage and not block else 1)
    program.outputs = [program.linear(program.node("mean_pool", x.shape[:2], x), 1000)]
    return program


def _bottleneck(program: Program, x: Value, width: int, stride: int) -> Value:
    y = program.conv(program.conv(x, width, 1), width, 3, stride)
    y = program.conv(y, 4 * width, 1, activation=None)
    if x.shape != y.shape:
        x = program.conv(x, 4 * width, 1, stride, activation=None)
    return program.unary("relu", program.binary("add", y, x))


def subjects(quick: bool) -> Iterator[tuple[str, Program, float | None]]:
    """Name, program and limit of each."""
    cases = {case["name"]: case for case in load_cases()}
    for name in QUICK if quick else KERNELS:
        yield name, describe(cases[name]), KERNEL_LIMIT
    if quick:
        return
    for name in ("encoder_layer_384", "encoder_layer_768"):
        yield name, describe(cases[name]), ENCODER_LIMIT
    yield "encoder, 20 layers", encoder(20), None
    yield "CNN, 50 layers", cnn(), CNN_LIMIT


def seconds_to_compile(text: str, weights: dict[str, Any], clock: Callable[[], float]) -> float:
    start = clock()
    stepwell.compile(text, weights=weights, threads=1)
    return clock() - start


def measure(name: str, program: Program, limit: float | None, repetitions: int, clock: Callable[[], float]) -> Timing:
    """The least of some compilations into an empty cache, and of as many from it."""
    text = program_text(program)
    weights = {value.name: np.zeros(own_shape(program, value), value.dtype) for value in program.weights}
    cold: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        for repetition in range(repetitions):
            os.environ["STEPWELL_CACHE_DIR"] = str(Path(directory) / str(repetition))
            cold.append(seconds_to_compile(text, weights, clock))
            if cold[-1] > 5:
                break
        cached = min(seconds_to_compile(text, weights, clock) for _ in range(repetitions))
    in_time = limit is None or min(cold) < limit
    verdict = "-" if limit is None else "passes" if in_time and cached < CACHED_LIMIT else "too slow"
    return Timing(name, min(cold), cached, limit, verdict)


def cells(timing: Timing) -> list[str]:
    limit = "-" if timing.limit is None else f"{timing.limit:g}"
    return [timing.name, f"{timing.cold:.3f}", f"{timing.cached:.3f}", limit, timing.verdict]


HEADER = ["program", "cold s", "cached s", "limit s", "verdict"]


def layers_line(timings: list[Timing]) -> list[str]:
    """20 identical layers beside one, when both were measured."""
    found = {timing.name: timing.cold for timing in timings}
    if not {"encoder, 20 layers", "encoder_layer_384"} <= set(found):
        return []
    factor = found["encoder, 20 layers"] / found["encoder_layer_384"]
    word = "passes" if factor <= LAYERS_LIMIT else "too slow"
    return [f"20 identical layers take {factor:.2f} × one (limit {LAYERS_LIMIT:g}): {word}"]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=positive, default=3)
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    parser.add_argument("--quick", action="store_true", help="one kernel, once")
    parser.add_argument("--json", type=new_file, help="write the figures here too")
    options = parser.parse_args(arguments)
    clock = CLOCKS[options.clock]
    with tempfile.TemporaryDirectory() as directory:
        os.environ["STEPWELL_CACHE_DIR"] = directory
        warm_up = Program()
        warm_up.outputs = [warm_up.unary("relu", warm_up.input(4))]
        seconds_to_compile(program_text(warm_up), {}, clock)
    timings: list[Timing] = []
    for name, program, limit in subjects(options.quick):
        repetitions = 1 if options.quick else options.repetitions
        timings.append(measure(name, program, limit, repetitions, clock))
        print(f"{name}: {timings[-1].cold:.3f} s, from cache {timings[-1].cached:.3f} s", flush=True)
    print("\n" + aligned(HEADER, list(map(cells, timings))))
    lines = layers_line(timings)
    print("\n".join(lines))
    if options.json:
        result = {"clock": options.clock, "programs": [asdict(timing) for timing in timings], "notes": lines}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
