"""
Programs under memcheck of valgrind: `python test/memcheck.py [--seed N] [--random N] [--nodes N] [--log FILE]`.

Random programs, cases of the ONNX node suite and one program per class of kernel are compiled for x86-64-v3, exported,
and run by a C driver with one and two threads. Each temporary has a block of the heap of its own. It writes
docs/acceptance/<date>-memcheck.log. Exit code 1 when anything is wrong, 2 when valgrind or the C compiler is missing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "support"), str(ROOT / "test")]

from full import LOGS, head  # noqa: E402
from memcheck_cases import TARGET, Case, kernel_cases, node_cases, random_cases  # noqa: E402
from memcheck_driver import THREADS, Missing, Report, check_tools, memcheck  # noqa: E402
from stepwell.machine.host import processor_name  # noqa: E402

BATCH = 20
"""The programs of one driver. Valgrind takes about a second to start."""

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yields `items` in lists of at most `size`."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


def run_group(report: Report, cases: Iterable[Case]) -> None:
    """Runs all programs of a group and shows what is wrong as it is found."""
    start = time.monotonic()
    for batch in batches(cases, BATCH):
        with tempfile.TemporaryDirectory() as folder:
            for outcome in memcheck(batch, Path(folder), report):
                if outcome.message:
                    report.failures.append(outcome)
                    print(outcome, flush=True)
        report.seconds = time.monotonic() - start
        print(report.summary, flush=True)


def first_lines(seed: int) -> str:
    """What ran, where and with what."""
    version = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    lines = head(seed, 1).replace("test/full.py", "test/memcheck.py").splitlines()
    counts = " and ".join(map(str, THREADS))
    return "\n".join([*lines, processor_name(), f"{version}, programs for {TARGET}, on {counts} threads"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 2**20, help="seed of the programs")
    parser.add_argument("--random", type=int, default=300, help="how many random programs (default: 300)")
    parser.add_argument("--nodes", type=int, default=200, help="how many cases of the ONNX node suite (default: 200)")
    parser.add_argument("--log", type=Path, default=None, help="where to write the log instead")
    options = parser.parse_args()
    try:
        check_tools()
    except Missing as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    reports = [Report("kernels"), Report("random programs"), Report("ONNX node cases")]
    groups = [kernel_cases(), random_cases(options.seed, options.random), node_cases(options.seed, options.nodes)]
    beginning = first_lines(options.seed)
    print(beginning, flush=True)
    for report, cases in zip(reports, groups, strict=True):
        run_group(report, cases)
    text = "\n\n".join([beginning, *(report.text() for report in reports)]) + "\n"
    log = options.log or LOGS / f"{datetime.now(UTC):%Y-%m-%d}-memcheck.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text)
    print(f"\n{text}")
    return int(any(report.failures for report in reports))


if __name__ == "__main__":
    sys.exit(main())
