"""
Planted faults, and what is blamed for them: `python test/trust/planted.py` prints the table of T1.

Each fault of `faults/faults.toml` is planted in this process while its programs are checked and searched.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "faults"))

from faulty_programs import program
from planting import FAULTS, Fault, planted
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import PassFailure, run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.trust.bisect import bisect
from stepwell.trust.check import CheckOptions, CheckSemantics

MOST_RUNS = 20


@dataclass(frozen=True)
class Verdict:
    """What is blamed for one fault in one program."""

    pass_: str = ""
    """The pass that `--check-semantics` blames, by a wrong result or by the verifier, or nothing."""
    application: str = ""
    """What `--bisect` blames, or nothing."""
    runs: int = 0
    seconds: float = 0.0

    def names_pass(self, fault: Fault) -> bool:
        return self.pass_ == fault.pass_

    def names_application(self, fault: Fault) -> bool:
        return self.application.startswith(fault.application)


def verdict(fault: Fault, name: str, *, searches: bool = True) -> Verdict:
    """Plants a fault, and returns what is blamed."""
    started = time.process_time()
    module, passes, ctx = program(name), parse_pipeline(fault.pipeline), make_context()
    with planted(fault):
        blamed = ""
        try:
            run_pipeline(ctx, module.clone(), passes, instruments=[CheckSemantics(CheckOptions())])
        except Exception as error:
            failure = getattr(error, "failed_pass", None)
            if isinstance(failure, PassFailure):
                blamed = failure.pass_.name
        found = bisect(ctx, module, passes, CheckOptions()) if searches and blamed else None
    application = "" if found is None or found.application is None or found.among > 1 else str(found.application)
    return Verdict(blamed, application, 0 if found is None else found.runs, time.process_time() - started)


def first_that_shows(fault: Fault) -> tuple[str, Verdict]:
    """Returns the first program of a fault in which something is blamed, with what that is."""
    found = Verdict()
    for name in fault.programs:
        found = verdict(fault, name)
        if found.pass_:
            return name, found
    return fault.programs[-1], found


def table(faults: Sequence[Fault]) -> tuple[int, int]:
    """Prints a row per fault. Returns how many passes and applications are right."""
    passes = applications = 0
    print("| fault | in | program | pass blamed | application blamed | runs | s |\n|---|---|---|---|---|---|---|")
    for fault in faults:
        name, found = first_that_shows(fault)
        passes += found.names_pass(fault)
        applications += found.names_application(fault)
        first = found.pass_ if found.names_pass(fault) else f"**{found.pass_ or 'nothing'}** not {fault.pass_}"
        second = found.application.partition(" at ")[0] or "as a whole"
        second = second if found.names_application(fault) else f"**{second}** not {fault.application}"
        row = f"| {fault.name} | {fault.file} | {name} | {first} | {second} | {found.runs} | {found.seconds:.1f} |"
        print(row, flush=True)
    print(f"\n{len(faults)} faults: {passes} passes right, {applications} applications right.")
    return passes, applications


def main() -> int:
    """Prints the table of the faults that are named, of all without names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    names = parser.parse_args().names
    faults = [FAULTS[name] for name in names] if names else list(FAULTS.values())
    passes, applications = table(faults)
    return 0 if passes >= len(faults) - 3 and applications >= len(faults) - 6 else 1


if __name__ == "__main__":
    sys.exit(main())
