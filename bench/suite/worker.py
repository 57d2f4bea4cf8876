"""
One engine in a process of its own: `python -m suite.worker ENGINE [CPU]`.

Requests come as lines of JSON on standard input, one answer goes out for each: `load` a case, run a `round`, `drop` it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from . import one_op
from .engine import Unsupported, Variant, load_engine
from .programs import describe
from .reference import TOLERANCE, relative_error

Answer = dict[str, Any]

WARM_UP = 0.003
"""Seconds of calls before those of a round count: other engines had the caches meanwhile."""

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
"""
`cpu` counts the seconds this process ran, all its threads: other processes on a busy machine do not disturb it as much.
"""

BATCH = 0.0005
"""Seconds of calls between two readings of the clock."""


class Worker:
    """The state of the process: the variant that is timed."""

    def __init__(self, engine: str):
        self.peak: Callable[[Callable[[], float]], float] | None = None
        if engine == "roof":
            from . import roof

            self.peak = roof.Peak()
            self.variants = roof.variants
        else:
            self.variants = load_engine(engine)
        self.variant: Variant | None = None

    def load(self, case: dict[str, Any], data: str, clock: str, most: int) -> Answer:
        """Builds at most so many variants, checks their results, and keeps the fastest of those that are right."""
        program = describe(case)
        with np.load(data) as file:
            found = {name: file[name] for name in file.files}
        expected = [found.pop(f"expected{index}") for index in range(len(program.outputs))]
        right: list[tuple[float, Variant]] = []
        trouble: dict[str, str] = {}
        for variant in islice(self.variants(program, found), most):
            if isinstance(variant, Exception):
                kind = "unsupported" if isinstance(variant, Unsupported) else "failed"
                trouble.setdefault(kind, f"{type(variant).__name__}: {variant}".splitlines()[0][:300])
                continue
            try:
                variant.call()
                wrong = what_is_wrong(case, variant.outputs(), expected) if self.peak is None else ""
            except Exception as raised:
                trouble["failed"] = f"{type(raised).__name__}: {raised}".splitlines()[0][:300]
                continue
            if wrong:
                trouble["wrong"] = f"{variant.name}: {wrong}"
            else:
                right.append((seconds_of(variant.call, 0.02, clock)[0], variant))
        if not right:
            return trouble or {"failed": "no variant"}
        seconds, self.variant = min(right, key=lambda pair: pair[0])
        return {"ok": True, "variant": self.variant.name, "seconds": seconds} | trouble

    def round(self, seconds: float, clock: str) -> Answer:
        """
        Times calls for so long. Returns the median and the least seconds of a call, and the FMA rate where that is
        asked for.
        """
        assert self.variant is not None
        median, least, calls = seconds_of(self.variant.call, seconds, clock)
        answer: Answer = {"median": median, "least": least, "calls": calls}
        if self.peak is not None:
            answer["gflops"] = float(np.median([self.peak(CLOCKS[clock]) for _ in range(25)]))
        return answer

    def answer(self, request: dict[str, Any]) -> Answer:
        """Does what the request says."""
        match request["do"]:
            case "load":
                self.variant = None
                return self.load(request["case"], request["data"], request["clock"], request["most"])
            case "round":
                return self.round(request["seconds"], request["clock"])
            case _:
                self.variant = None
                return {"ok": True}


def what_is_wrong(case: dict[str, Any], found: list[Any], expected: list[Any]) -> str:
    """Returns what is wrong with the results of a case, "" for nothing."""
    if case["kind"] == "onnx":
        return next(filter(None, map(one_op.what_is_wrong, found, expected)), "")
    error = max(map(relative_error, found, expected), default=0.0)
    right = error <= (0 if case["dtype"] == "i8" else TOLERANCE)
    return "" if right else f"greatest error {error:.2g} of the scale"


def seconds_of(call: Callable[[], Any], budget: float, clock_name: str) -> tuple[float, float, int]:
    """Median and least seconds per call over batches that take about `budget` in all, and the number of calls."""
    clock = CLOCKS[clock_name]
    start = clock()
    call()
    once = clock() - start
    if once < budget:
        until = clock() + WARM_UP
        while clock() < until:
            start = clock()
            call()
            once = min(once, clock() - start)
    size = max(1, int(BATCH / max(once, 1e-7)))
    figures: list[float] = []
    until = clock() + budget
    while not figures or clock() < until:
        start = clock()
        for _ in range(size):
            call()
        figures.append((clock() - start) / size)
    return float(np.median(figures)), min(figures), size * len(figures)


def main() -> None:
    if len(sys.argv) > 2 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(sys.argv[2])})  # before libraries count CPUs and start threads
    answers = os.fdopen(os.dup(1), "w")  # what libraries print goes elsewhere
    os.dup2(2, 1)
    try:
        worker = Worker(sys.argv[1])
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), file=answers, flush=True)
        return
    print(json.dumps({"ok": True}), file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
