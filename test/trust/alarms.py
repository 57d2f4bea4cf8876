"""
Right programs, none of which may be blamed: `python test/trust/alarms.py` checks random ones at each level, and with
`--models` those of `make test-models` at O3.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
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


@dataclass(frozen=True)
class Alarm:
    """A right program that a check has blamed."""

    program: str
    level: str
    message: str


def alarms_of(name: str, module: ModuleOp, level: str) -> tuple[Alarm | None, CheckSemantics]:
    """Checks a program at a level. Returns what was said against it, and the check."""
    check = CheckSemantics(CheckOptions())
    try:
        run_pipeline(make_context(), module, level, instruments=[check])
    except stepwell.StepwellError as error:
        return Alarm(name, level, str(error)), check
    return None, check


def random_module(seed: int) -> ModuleOp:
    """Returns the random program of a seed. The seeds take turns with the sizes."""
    return stepwell.parse(random_program(seed, SIZES[seed % len(SIZES)]).text)


def models() -> Iterator[tuple[str, Any]]:
    """Yields the models of `make test-models`, with the sizes and inputs that are fixed at import."""
    sys.path.insert(0, str(MODELS))
    from cases import CASES  # pyright: ignore[reportMissingImports]

    for case in CASES:
        yield case.name, lambda case=case: stepwell.from_onnx(case.path(), dims=case.dims, constants=case.constants)


def main() -> int:
    """Prints the alarms and a summary. Returns 0 if there is no alarm."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--models", action="store_true")
    options = parser.parse_args()
    started, found, checks, passes, native, left = time.process_time(), list[Alarm](), 0, 0, 0, 0
    jobs = [
        (f"random program {seed}", lambda seed=seed: random_module(seed), level)
        for seed in range(options.first, options.first + options.programs)
        for level in LEVELS
    ]
    if options.models:
        jobs += [(name, make, "O3") for name, make in models()]
    for name, make, level in jobs:
        alarm, check = alarms_of(name, make(), level)
        if alarm is not None:
            found.append(alarm)
            print(f"{alarm.program} at {alarm.level}: {alarm.message}", flush=True)
        checks, passes, native = checks + 1, passes + check.counts.changed, native + check.counts.native
        left += check.counts.unsettled
        if checks % 100 == 0:
            print(f"{checks} of {len(jobs)} checks, {len(found)} alarms", file=sys.stderr, flush=True)
    print(
        f"{checks} checks of {options.programs} random programs at {', '.join(LEVELS)}"
        f"{' and of the models at O3' if options.models else ''}: {passes} passes changed a program, {native} runs "
        f"were native, {left} left open, {len(found)} alarms, {time.process_time() - started:.0f} s of CPU time."
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
