"""
Every op that the ONNX importer takes, as a program of its own, beside onnxruntime: the cases of ops.txt.

Each engine runs in a process of its own with one thread, and rounds visit the engines in turn. The ratio is the median
over the rounds of onnxruntime / ours: above 1, ours is faster. A result is compared before it is timed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from typing import Any

from kernels import last_cpu, machine
from suite.arguments import new_file, positive, usable_cpu
from suite.engine import OURS
from suite.figures import LEAST_CASE, Row, geometric_mean, make_row
from suite.measure import Harness
from suite.one_op import load_cases, load_reasons

PEER = "onnxruntime"

BEST_SHARE = 0.8
"""A case whose share of the roof is above this has nothing left to gain."""


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match: 'Pool.*NHWC'")
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--milliseconds", type=float, default=10, help="of calls per engine and round")
    parser.add_argument("--cpu", type=usable_cpu, default=last_cpu(), help="run all engines on this CPU; -1 for any")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall", help="cpu: seconds of the process")
    parser.add_argument("--json", type=new_file, help="write all figures here too")
    parser.add_argument("--list", action="store_true", help="print the names of the chosen cases only")
    options = parser.parse_args(arguments)
    try:
        re.compile(options.only)
    except re.error as error:
        parser.error(f"--only takes a regular expression, found '{options.only}': {error}")
    return options


def chosen_cases(only: str) -> list[dict[str, Any]]:
    """The cases whose names match. Ends the program where none does."""
    cases = [case for case in load_cases() if re.search(only, case["name"])]
    return cases or sys.exit(f"no case matches '{only}'; --list prints the names")


def run(options: argparse.Namespace) -> list[Row]:
    """Measures case by case, and prints a line for each."""
    rows: list[Row] = []
    cpu = options.cpu if options.cpu >= 0 else None
    with Harness([OURS, PEER], cpu, options.rounds, options.milliseconds / 1000, options.clock) as harness:
        if missing := [name for name in (OURS, PEER) if name in harness.missing]:
            sys.exit(f"{missing[0]} is not there: {harness.missing[missing[0]]}")
        for case in chosen_cases(options.only):
            rows.append(make_row(harness.measure(case)))
            print(line_of(rows[-1]), flush=True)
    return rows


def line_of(row: Row) -> str:
    """The ratio, the times in microseconds, the share of the roof, and what went wrong."""
    ratio = "   -" if row.ratio is None else f"{row.ratio:4.2f}"
    times = [f"{row.microseconds[name]:9.1f}" if name in row.microseconds else "        -" for name in (OURS, PEER)]
    share = "   -" if row.roof_share is None else f"{row.roof_share:4.0%}"
    trouble = [f"; {name} {row.trouble[name]}" for name in (OURS, PEER) if name in row.trouble]
    return f"{ratio} {' '.join(times)} {share}  {row.name}{''.join(trouble)}"


def summary(rows: list[Row]) -> list[str]:
    """
    The geometric means, whole and by theme, the cases below the least ratio, those of them that ops.txt gives a reason
    for, and where we have no result.
    """
    by_theme: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.ratio is not None:
            by_theme[row.class_].append(row.ratio)
    ratios = [ratio for theme in by_theme.values() for ratio in theme]
    mean = geometric_mean(ratios)
    lines = [f"{len(ratios)} cases beside {PEER}" + (f", geometric mean {mean:.2f}" if mean else "")]
    lines += [f"  {theme}: {geometric_mean(each):.2f} over {len(each)}" for theme, each in by_theme.items()]
    below = sorted((row for row in rows if row.ratio is not None and row.ratio < LEAST_CASE), key=_ratio)
    reasons = load_reasons()
    known = {row.name: why for row in below for pattern, why in reasons if re.search(pattern, row.name)}
    slow = [row for row in below if row.name not in known]
    lines.append(f"{len(slow)} cases below {LEAST_CASE}" + (":" if slow else ""))
    lines += [f"  {line_of(row)}" + (" (at the roof)" if _at_roof(row) else "") for row in slow]
    lines.append(f"{len(known)} cases below {LEAST_CASE} for a known reason" + (":" if known else ""))
    lines += [f"  {line_of(row)}: {known[row.name]}" for row in below if row.name in known]
    lost = [row for row in rows if OURS in row.trouble]
    lines.append(f"{len(lost)} cases without a right result of ours" + (":" if lost else ""))
    lines += [f"  {row.name}: {row.trouble[OURS]}" for row in lost]
    return lines


def _ratio(row: Row) -> float:
    return row.ratio or 0.0


def _at_roof(row: Row) -> bool:
    return (row.roof_share or 0) > BEST_SHARE


def main(arguments: list[str] | None = None) -> None:
    options = parse_arguments(arguments)
    if options.list:
        print("\n".join(case["name"] for case in chosen_cases(options.only)))
        return
    described = machine()
    print(f"{described['cpu']} ({described['features']}), {options.rounds} rounds, ratio, µs {OURS}, {PEER}, roof")
    rows = run(options)
    notes = summary(rows)
    print("\n" + "\n".join(notes))
    if options.json:
        cases = [row.to_json() for row in rows]
        result = {"machine": described, "rounds": options.rounds, "cases": cases, "notes": notes}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
