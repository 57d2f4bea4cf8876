"""
How small forty failing programs become: `python test/trust/reduction.py` prints the table of T2.

The programs are those of failing.py. Seconds are those of the clock; the time of the cores is told beside it, since it
depends less on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))

from failing import CASES, SIZES, Case, made
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.trust.reduce.moves.all import moves_for
from stepwell.trust.reduce.session import reduce
from stepwell.trust.reduce.workers import Workers

MOST_OPS = 8


def cpu_seconds() -> float:
    """Returns the time that this process and its children have had of all cores."""
    return sum(os.times()[:4])


def reduced(case: Case, folder: Path, jobs: int) -> tuple[int, int, int, float, float]:
    """Returns the ops after reduction, the least number known, the tries, the seconds, and those of the cores."""
    with made(case, folder) as (program, predicate, least):
        started, used = time.perf_counter(), cpu_seconds()
        search = reduce(program, predicate, moves_for(program), workers=Workers(jobs, 120.0))
        took = time.perf_counter() - started
        if os.environ.get("SHOW_REDUCED"):
            print(program.text, file=sys.stderr)
        return program.ops(), least, search.workers.tried, took, cpu_seconds() - used


def main() -> int:
    """Prints a row per case and the score. Returns 0 if every program became small."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kinds", nargs="*", default=list(SIZES))
    parser.add_argument("--least", type=int, default=0, help="leave out programs of less ops than this")
    parser.add_argument("--most", type=int, default=3000, help="leave out programs of more ops than this")
    options = parser.parse_args()
    seconds: list[float] = []
    cores: list[float] = []
    large = 0
    print("| kind | what | ops | reduced to | least known | tries | seconds | seconds of cores |")
    print("|---|---|---|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        for case in CASES:
            if case.kind not in options.kinds or not options.least <= case.size <= options.most:
                continue
            try:
                ops, least, tries, took, used = reduced(case, Path(folder), options.jobs)
            except StepwellError as error:
                print(f"{case}: {error}", file=sys.stderr, flush=True)
                ops, least, tries, took, used = case.size, 0, 0, 0.0, 0.0
            seconds.append(took)
            cores.append(used)
            large += ops > max(MOST_OPS, 1.5 * least)
            row = (case.kind, case.detail, case.size, ops, least, tries, f"{took:.1f}", f"{used:.1f}")
            print(f"| {' | '.join(map(str, row))} |", flush=True)
    print(f"\n{len(seconds) - large} of {len(seconds)} are small enough;", end=" ")
    print(f"median {statistics.median(seconds):.1f} s, most {max(seconds):.1f} s;", end=" ")
    print(f"of the cores {statistics.median(cores):.1f} s and {max(cores):.1f} s.")
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main())
