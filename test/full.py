"""
All tests with the counts of the acceptance lists: `python test/full.py [--seed N] [--workers N] [-- PYTEST_ARGUMENT…]`.

Runs lit and pytest with `STEPWELL_FULL=1`, shows their output, and writes docs/acceptance/<date>.log: seed, counts of
tests, hypothesis examples per test, durations, failures. Exit code 1 when anything failed.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "docs" / "acceptance"

STATISTICS_OF = re.compile(r"^(?:\[\w+\] )?(test/unit/\S+::\S+):$")
EXAMPLES = re.compile(r"- (\d+) passing(?: examples)?, (\d+) failing(?: examples)?,")
SUMMARY = re.compile(r"\b\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed)\b.* in [\d.]+s")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)")
LIT_COUNT = re.compile(r"^\s*(Passed|Failed|Unresolved|Timed Out|Skipped|Unsupported)\s*:\s*(\d+)")
LIT_FAILED = re.compile(r"^(?:FAIL|UNRESOLVED|TIMEOUT): (.*) \(\d+ of \d+\)")


@dataclass
class Report:
    """What one tool printed, boiled down."""

    title: str
    exit_code: int = 0
    seconds: float = 0.0
    counts: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    examples: dict[str, list[int]] = field(default_factory=dict)
    last_lines: list[str] = field(default_factory=list)
    """The end of the output of a tool that failed."""

    def text(self) -> str:
        lines = [f"## {self.title}: exit code {self.exit_code}, {self.seconds:.0f} s", *self.counts]
        lines += [f"failed: {name}" for name in self.failures]
        if not self.failures:
            lines += [f"| {line}" for line in self.last_lines]
        if self.examples:
            total = sum(passing for passing, _ in self.examples.values())
            lines.append(f"hypothesis: {total} passing examples")
            for name, (passing, failing) in sorted(self.examples.items()):
                lines.append(f"  {passing:5} passing, {failing} failing  {name}")
        return "\n".join(lines)


def run(report: Report, command: list[str], environment: dict[str, str]) -> list[str]:
    """Runs a command in the root of the tree, shows its output as it comes, and returns its lines."""
    start = time.monotonic()
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        sys.stdout.write(line)
        lines.append(line.rstrip("\n"))
    report.exit_code = process.wait()
    if report.exit_code != 0:
        report.last_lines = [line for line in lines if line.strip()][-3:]
    report.seconds = time.monotonic() - start
    return lines


def run_lit(workers: int, environment: dict[str, str]) -> Report:
    report = Report("lit")
    tool = Path(sys.executable).with_name("lit")
    for line in run(report, [str(tool), f"-j{workers}", "test/filecheck"], environment):
        if match := LIT_COUNT.match(line):
            report.counts.append(f"{match[1].lower()}: {match[2]}")
        if match := LIT_FAILED.match(line):
            report.failures.append(match[1])
    return report


def run_pytest(workers: int, seed: int, extra: list[str], environment: dict[str, str]) -> Report:
    report = Report("pytest")
    command = [sys.executable, "-m", "pytest", "-n", str(workers), "--tb=short", "--durations=10"]
    command += [f"--hypothesis-seed={seed}", "--hypothesis-show-statistics", *(extra or ["test/unit"])]
    test = ""
    for line in run(report, command, environment):
        if match := STATISTICS_OF.match(line):
            test = match[1]
        elif match := EXAMPLES.search(line):
            passing, failing = report.examples.get(test, [0, 0])
            report.examples[test] = [passing + int(match[1]), failing + int(match[2])]
        elif SUMMARY.search(line):
            report.counts.append(line.strip("= "))
        elif match := FAILED.match(line):
            report.failures.append(match[1])
    return report


def head(seed: int, workers: int) -> str:
    """What ran, where and with what: the first lines of the log."""
    tools = ", ".join(f"{name} {version(name)}" for name in ("xdsl", "llvmlite", "numpy", "ml_dtypes", "hypothesis"))
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    return "\n".join(
        [
            f"# test/full.py, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            f"seed {seed}, {workers} workers, tree {commit or 'unknown'}",
            f"Python {platform.python_version()}, {tools}",
            f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 2**31, help="seed of the hypothesis tests")
    parser.add_argument("--workers", type=int, default=int(os.environ.get("WORKERS", "2")))
    parser.add_argument("--log", type=Path, default=None, help="where to write the log instead")
    parser.add_argument("pytest_arguments", nargs="*", help="given to pytest in place of test/unit")
    options = parser.parse_args()
    environment = {**os.environ, "STEPWELL_FULL": "1"}
    first_lines = head(options.seed, options.workers)
    print(first_lines, flush=True)
    reports = [
        run_lit(options.workers, environment),
        run_pytest(options.workers, options.seed, options.pytest_arguments, environment),
    ]
    text = "\n\n".join([first_lines, *(report.text() for report in reports)]) + "\n"
    log = options.log or LOGS / f"{datetime.now(UTC):%Y-%m-%d}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text)
    print(f"\n{text}")
    return int(any(report.exit_code != 0 for report in reports))


if __name__ == "__main__":
    sys.exit(main())
