"""
The habits of issue 19 in their long form (T4): `python test/trust/habits.py [--faults N] [--seconds S]`.

Each of ten planted faults is looked for by `fuzz` on one core, for ten minutes of it at most. Then the package of
`new-dialect` is made in an empty folder, and everything that its server runs is run. Exit code 1 where one is missed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "faults"), str(HERE.parent / "support")]

from entry_points import installed  # noqa: E402
from planting import FAULTS, planted  # noqa: E402
from stepwell.core.text.parsing import make_context  # noqa: E402
from stepwell.tools.new_dialect import package  # noqa: E402
from stepwell.trust.fuzz.hunt import Found, Hunt, Hunters  # noqa: E402
from stepwell.trust.fuzz.sources import Families, Layers, Motifs, Ops, Rules, all_shipped_rules  # noqa: E402

CHOSEN = (
    "subtract-of-negative-keeps-the-sign",
    "equal-but-for-its-properties",
    "operands-of-a-merged-kernel",
    "folded-constant-is-rounded",
    "sample-variance",
    "pooling-padded-by-zero",
    "second-sum-forgets",
    "lifetimes-end-early",
    "erf-without-sign",
    "last-iteration",
)
"""Ten faults of different kinds: rules, fusion, constants, meanings of ops, padding, loops, the arena, math, tails."""

OTHERS = (
    "odd-function-keeps-the-sign",
    "second-part-of-a-pad",
    "fma-adds-a-factor",
    "mean-of-padding",
    "convolution-padded-at-the-end",
    "gather-nearest-inside",
    "sums-start-at-one",
    "rest-of-the-sum-is-lost",
    "remainder-of-floats",
    "sign-lost-in-extension",
)
"""Ten more of the list, taken before any of them was hunted."""


def core_seconds() -> float:
    """Returns the time that this process and its children have had of a core. One of them runs at a time."""
    return sum(os.times()[:4])


def hunted(name: str, seconds: float, folder: Path) -> tuple[Found | None, float, float, int]:
    """
    Returns what is found with a fault in the compiler, the seconds that took of a core and of the clock, and the number
    of programs.

    What fails for another reason than the fault does not count.
    """
    started, used = time.monotonic(), core_seconds()
    context = make_context()
    with planted(FAULTS[name]):
        sources = [Families(), Ops(), Motifs(), Layers(), Rules(all_shipped_rules())]
        hunt = Hunt(context, sources, ["O3"], folder, Hunters(1, 120.0), clock=core_seconds)
        blamed = f"pass '{FAULTS[name].pass_}'"
        found = next((each for each in hunt.run(0, seconds) if blamed in each.culprit), None)
        hunt.workers.stop()
    return found, core_seconds() - used, time.monotonic() - started, hunt.counts.programs


def main() -> int:
    """Prints a row for each fault, and the tests of the new package. Returns 1 where something is missing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600.0, help="the time of a core for each fault")
    parser.add_argument("--faults", nargs="*", default=CHOSEN)
    parser.add_argument("--others", action="store_true", help="hunt ten faults that nothing was tuned on")
    options = parser.parse_args()
    missed = 0
    print("| fault | found | to blame | seed | programs | ops | seconds of a core | of the clock |")
    print("|---|---|---|---|---|---|---|---|")
    for name in OTHERS if options.others else options.faults:
        with TemporaryDirectory() as folder:
            found, used, took, programs = hunted(name, options.seconds, Path(folder))
        missed += found is None
        row = ["not found", "", "", programs, ""] if found is None else _row(found, programs)
        print(f"| {name} | {' | '.join(map(str, row))} | {used:.0f} | {took:.0f} |", flush=True)
    with TemporaryDirectory() as folder:
        missed += not new_package_passes(Path(folder))
    return 1 if missed else 0


def _row(found: Found, programs: int) -> list[object]:
    return [found.kind, found.culprit, found.seed, programs, f"{found.ops}, now {found.small}"]


def new_package_passes(folder: Path) -> bool:
    """Makes a package in an empty folder, and runs all that its server runs but the installation."""
    made = folder / "package"
    for name, text in package("spin_ice").items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text, encoding="utf-8")
    installed((made / "pyproject.toml").read_text(), folder)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "PYTHONPATH": f"{folder}{os.pathsep}{made}", "STEPWELL_CACHE_DIR": str(folder / "cache")}
    commands = re.findall(r"- run: (.*)", (made / ".github/workflows/test.yml").read_text())[1:]
    commands.append("stepwell fuzz --source dialects --seconds 20")
    passed = True
    for command in commands:
        done = subprocess.run(
            command, shell=True, cwd=made, env={**os.environ, **own}, capture_output=True, text=True, check=False
        )
        print(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {command}", flush=True)
        if done.returncode:
            passed = False
            print(done.stdout + done.stderr)
    return passed


if __name__ == "__main__":
    sys.exit(main())
