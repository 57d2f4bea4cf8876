"""Cases through all engines, in interleaved rounds: what each round measured, and why an engine did not take part."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .one_op import NoReference, OneOp
from .process import EngineLost, EngineMissing, EngineProcess
from .programs import Case, describe
from .reference import evaluate, make_arrays

LOAD_LIMIT = 120.0
"""Seconds to build, check and warm up one case in one engine."""

SETTLE = 0.05
"""Seconds before a round of several threads: those of the engine before spin for a while after its last call."""

ROUND_LIMIT = 60.0
"""Seconds for one round of one engine."""


@dataclass
class Measurement:
    """One case: seconds per call of each engine in each round, and a word on engines that have none."""

    case: Case
    seconds: dict[str, list[float]] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)
    variants: dict[str, str] = field(default_factory=dict)
    trouble: dict[str, str] = field(default_factory=dict)
    peak_gflops: list[float] = field(default_factory=list)

    def add(self, engine: str, answer: dict[str, Any]) -> None:
        self.seconds.setdefault(engine, []).append(answer["median"])
        self.least[engine] = min(answer["least"], self.least.get(engine, answer["least"]))
        if "gflops" in answer:
            self.peak_gflops.append(answer["gflops"])

    def lose(self, engine: str, why: str) -> None:
        """The engine takes no further part in this case."""
        self.trouble[engine] = why
        self.seconds.pop(engine, None)
        self.least.pop(engine, None)


class Harness:
    """The processes of all engines, and the machine's own figures (`roof`)."""

    def __init__(
        self,
        engines: list[str],
        cpu: int | None,
        rounds: int,
        seconds: float,
        clock: str = "wall",
        threads: int = 1,
    ):
        """With several threads there is no roof: that of one core says little about two that share a cache."""
        names = [*engines, "roof"] if threads == 1 else engines
        self.engines = {name: EngineProcess(name, cpu, threads) for name in names}
        self.missing: dict[str, str] = {}
        self.rounds = rounds
        self.seconds = seconds
        self.clock = clock
        self.pause = SETTLE if threads > 1 else 0.0

    def __enter__(self) -> Harness:
        for name in list(self.engines):
            try:
                self.engines[name].start()
            except (EngineMissing, EngineLost) as error:
                self.missing[name] = str(error)
                self.engines.pop(name).stop()
        return self

    def __exit__(self, *_: object) -> None:
        for engine in self.engines.values():
            engine.stop()

    def measure(self, case: Case) -> Measurement:
        """Runs all rounds of one case. An engine that is wrong or lost is left out of them."""
        measurement = Measurement(case)
        with tempfile.TemporaryDirectory() as directory:
            data = Path(directory) / "case.npz"
            try:
                write_data(case, data)
            except NoReference as error:
                measurement.lose("onnxruntime", str(error))
                return measurement
            ready = [name for name in self.engines if self._load(measurement, name, data)]
        for _ in range(self.rounds):
            for name in list(ready):
                if not self._round(measurement, name):
                    ready.remove(name)
        for name in ready:
            self._ask(measurement, name, {"do": "drop"}, ROUND_LIMIT)
        return measurement

    def _load(self, measurement: Measurement, name: str, data: Path) -> bool:
        """Returns whether the engine is ready. One that is lost gets a second chance, with its first variant only."""
        request = {"do": "load", "case": measurement.case, "data": str(data), "clock": self.clock}
        answer = self._ask(measurement, name, request | {"most": 9}, LOAD_LIMIT)
        answer = answer or self._ask(measurement, name, request | {"most": 1}, LOAD_LIMIT)
        if answer is None:
            return False
        measurement.trouble.pop(name, None)
        if "ok" not in answer:
            kind = next(kind for kind in ("wrong", "failed", "unsupported") if kind in answer)
            measurement.lose(name, f"{kind}: {answer[kind]}")
            return False
        measurement.variants[name] = answer["variant"]
        return True

    def _round(self, measurement: Measurement, name: str) -> bool:
        request = {"do": "round", "seconds": self.seconds, "clock": self.clock}
        time.sleep(self.pause)
        answer = self._ask(measurement, name, request, ROUND_LIMIT)
        if answer is None:
            return False
        if "failed" in answer:
            measurement.lose(name, f"failed: {answer['failed']}")
            return False
        measurement.add(name, answer)
        return True

    def _ask(self, measurement: Measurement, name: str, request: dict[str, Any], limit: float) -> dict[str, Any] | None:
        """Returns the answer, None when the engine was lost."""
        try:
            return self.engines[name].ask(request, limit)
        except (EngineLost, EngineMissing) as error:
            measurement.lose(name, f"lost: {error}")
            return None


def write_data(case: Case, path: Path) -> None:
    """Inputs, weights and expected outputs of a case, for all engines."""
    program = describe(case)
    if isinstance(program, OneOp):
        arrays, expected = program.arrays(), program.evaluate()
    else:
        arrays = make_arrays(program, case["name"])
        expected = evaluate(program, arrays)
    np.savez(path, **arrays, **{f"expected{index}": array for index, array in enumerate(expected)})
