"""
Two threads beside one: a product of 1024 and a ResNet block.

Results must be identical bit by bit. Speed-up counts only in rounds in which two threads of a loop of FMAs reached 1.8
× one; where no round did, the machine has no second core to spare and the speed-up is "not measurable". Last, with a
spinning process of our own on the second CPU, two threads must not fall below 0.8 × one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import stepwell
from suite.arguments import new_file, positive
from suite.programs import describe, load_cases
from suite.reference import make_arrays
from suite.roof import Peak
from suite.stepwell_engine import own_layout, program_text

CASES = ("gemm_1024", "resnet_block_64_56x56")
TWO_CORES, SPEED_UP, WITH_SPINNER = 1.8, 1.6, 0.8
"""What the calibration must reach for a round to count, and what is asked of ours."""

CALIBRATION_CALLS = 400
"""Of the loop of FMAs, about 20 ms."""

SPINNER = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
while os.getppid() == int(sys.argv[2]):
    for _ in range(100_000):
        pass
"""
"""Ends with the process that started it, also where that is killed."""


@dataclass
class Speeds:
    """One case: one thread / two threads of each round, and the same of the calibration loop."""

    name: str
    identical: bool
    speed_ups: list[float]
    calibration: list[float]
    beside_spinner: list[float]

    @property
    def usable(self) -> list[float]:
        """Speed-ups of the rounds in which there were two cores."""
        pairs = zip(self.speed_ups, self.calibration, strict=True)
        return [speed_up for speed_up, cores in pairs if cores >= TWO_CORES]

    def lines(self) -> Iterator[str]:
        """Says in words what holds."""
        yield f"{self.name}: results of two threads are {'identical' if self.identical else 'DIFFERENT'}"
        cores = f"two cores gave {min(self.calibration):.2f} to {max(self.calibration):.2f} × one"
        if self.usable:
            best = max(self.usable)
            word = "passes" if best >= SPEED_UP else "too slow"
            yield f"{self.name}: two threads reach {best:.2f} × one (floor {SPEED_UP}): {word}; {cores}"
        else:
            yield f"{self.name}: speed-up not measurable; {cores} in {len(self.calibration)} rounds"
        if self.beside_spinner:
            worst = float(np.median(self.beside_spinner))
            word = "passes" if worst >= WITH_SPINNER else "too slow"
            yield f"{self.name}: beside a spinning process {worst:.2f} × one (floor {WITH_SPINNER}): {word}"


def runs(name: str) -> list[Callable[[], list[Any]]]:
    """The case with one thread and with two, as functions that return the outputs."""
    case = next(case for case in load_cases() if case["name"] == name)
    program = describe(case)
    arrays = make_arrays(program, name)
    weights = {value.name: own_layout(program, value, arrays[value.name]) for value in program.weights}
    inputs = [own_layout(program, value, arrays[value.name]) for value in program.inputs]
    text = program_text(program)
    executables = [stepwell.compile(text, weights=weights, threads=count) for count in (1, 2)]
    return [lambda run=run: list(run(*inputs)) for run in executables]


def seconds(call: Callable[[], Any], budget: float) -> float:
    """The median of calls within `budget` seconds."""
    call()
    figures: list[float] = []
    until = time.perf_counter() + budget
    while not figures or time.perf_counter() < until:
        start = time.perf_counter()
        call()
        figures.append(time.perf_counter() - start)
    return float(np.median(figures))


def cores(peak: Peak, pool: ThreadPoolExecutor) -> float:
    """Measures how much two threads do in the time of one, in loops of FMAs that run without Python's lock."""
    taken = [0.0, 0.0]
    for threads in (1, 2):
        start = time.perf_counter()
        for future in [pool.submit(_loops, peak) for _ in range(threads)]:
            future.result()
        taken[threads - 1] = time.perf_counter() - start
    return 2 * taken[0] / taken[1]


def _loops(peak: Peak) -> None:
    for _ in range(CALIBRATION_CALLS):
        peak(time.perf_counter)


@contextmanager
def spinner(cpu: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing but run on `cpu`."""
    process = subprocess.Popen([sys.executable, "-c", SPINNER, str(cpu), str(os.getpid())])
    try:
        time.sleep(0.2)
        yield process
    finally:
        process.kill()
        process.wait()


def measure(name: str, rounds: int, budget: float, cpus: list[int]) -> Speeds:
    """Runs all rounds of one case. Without a second CPU it only compares results."""
    one, two = runs(name)
    same = all(a.tobytes() == b.tobytes() for a, b in zip(one(), two(), strict=True))
    speeds = Speeds(name, same, [], [], [])
    peak = Peak()
    with ThreadPoolExecutor(2) as pool:
        for _ in range(rounds):
            speeds.calibration.append(cores(peak, pool))
            speeds.speed_ups.append(seconds(one, budget) / seconds(two, budget))
    if len(cpus) > 1:
        with spinner(cpus[1]):
            for _ in range(rounds):
                speeds.beside_spinner.append(seconds(one, budget) / seconds(two, budget))
    return speeds


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=positive, default=20)
    parser.add_argument("--milliseconds", type=float, default=50, help="of calls with each number of threads")
    parser.add_argument("--case", dest="cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--json", type=new_file, help="write the figures here too")
    options = parser.parse_args(arguments)
    cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    found = [measure(name, options.rounds, options.milliseconds / 1000, cpus) for name in options.cases]
    lines = [line for speeds in found for line in speeds.lines()]
    print("\n".join(lines))
    if options.json:
        result = {"cases": list(map(asdict, found)), "notes": lines}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
