"""
Right programs, none of which may be blamed: `python test/trust/alarms.py` checks random ones at each level, and with
`--models` those of `make test-models` at O3, on random inputs. A model that cannot be made or downloaded is left out,
with the reason.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import stepwell
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.testing import random_program
from stepwell.trust.cases import CheckOptions
from stepwell.trust.check import CheckSemantics
from xdsl.dialects.builtin import ModuleOp

LEVELS = ("O0", "O1", "O2", "O3")
SIZES = (4, 8, 16)
MODELS = Path(__file__).parents[1] / "models"
SECONDS = 20.0
"""The time of a check of a model: where a run takes longer, some passes are checked together."""
LARGE = ("resnet50", "vit_b_16", "bert_base", "gpt2")


@dataclass(frozen=True)
class Alarm:
    """A right program that a check has blamed."""

    program: str
    level: str
    message: str


def alarms_of(
    name: str, module: ModuleOp, level: str, seconds: float | None = None
) -> tuple[Alarm | None, CheckSemantics]:
    """Checks a program at a level. Returns what was said against it, and the check."""
    check = CheckSemantics(CheckOptions(seconds=seconds))
    try:
        run_pipeline(make_context(), module, level, instruments=[check])
    except stepwell.StepwellError as error:
        return Alarm(name, level, str(error)), check
    return None, check


def random_module(seed: int) -> ModuleOp:
    """Returns the random program of a seed. The seeds take turns with the sizes."""
    return stepwell.parse(random_program(seed, SIZES[seed % len(SIZES)]).text)


def models() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yields the models of `make test-models`, with the sizes and inputs that are fixed at import, small ones first."""
    sys.path.insert(0, str(MODELS))
    from cases import CASES  # pyright: ignore[reportMissingImports]

    for case in sorted(CASES, key=lambda case: case.name in LARGE):
        yield case.name, lambda case=case: stepwell.from_onnx(case.path(), dims=case.dims, constants=case.constants)


@dataclass
class Tally:
    """What has been checked."""

    checks: int = 0
    passes: int = 0
    native: int = 0
    left: int = 0
    alarms: int = 0

    def add(self, alarm: Alarm | None, check: CheckSemantics) -> None:
        """Counts one check, and prints its alarm."""
        self.checks, self.passes = self.checks + 1, self.passes + check.counts.changed
        self.native, self.left = self.native + check.counts.native, self.left + check.counts.unsettled
        if alarm is not None:
            self.alarms += 1
            print(f"{alarm.program} at {alarm.level}: {alarm.message}", flush=True)

    def __str__(self) -> str:
        return (
            f"{self.passes} passes changed a program, {self.native} runs were native, {self.left} left open, "
            f"{self.alarms} alarms"
        )


def check_programs(first: int, count: int) -> int:
    """Checks random programs at all levels. Returns the number of alarms."""
    tally, started = Tally(), time.process_time()
    for seed in range(first, first + count):
        for level in LEVELS:
            tally.add(*alarms_of(f"random program {seed}", random_module(seed), level))
        if (seed + 1) % 25 == 0:
            print(f"{tally.checks} of {count * len(LEVELS)} checks, {tally.alarms} alarms", file=sys.stderr, flush=True)
    seconds = time.process_time() - started
    print(f"{tally.checks} checks of {count} random programs at {', '.join(LEVELS)}: {tally}, {seconds:.0f} s.")
    return tally.alarms


def check_models(names: Sequence[str]) -> int:
    """Checks the models that are named, all without names, at O3. Returns the number of alarms."""
    tally, skipped = Tally(), list[str]()
    for name, make in models():
        if names and name not in names:
            continue
        try:
            module = make()
        except Exception as error:
            skipped.append(name)
            print(f"{name} is left out: {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
            continue
        started = time.monotonic()
        alarm, check = alarms_of(name, module, "O3", SECONDS)
        tally.add(alarm, check)
        print(f"{name}: {check.report()}; {time.monotonic() - started:.0f} s", flush=True)
        del module, check
        gc.collect()
    left = f" {len(skipped)} left out: {', '.join(skipped)}." if skipped else ""
    print(f"{tally.checks} models at O3: {tally}.{left}", flush=True)
    return tally.alarms


def main() -> int:
    """Prints the alarms and a summary. Returns 0 if there is no alarm."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument(
        "--models", nargs="*", metavar="NAME", help="the models in place of programs, all without names"
    )
    options = parser.parse_args()
    if options.models is not None:
        return min(1, check_models(options.models))
    return min(1, check_programs(options.first, options.programs))


if __name__ == "__main__":
    sys.exit(main())
