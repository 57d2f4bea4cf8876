"""
The networks of torchvision, one of each family with random weights, beside onnxruntime and OpenVINO.

Each engine runs in a process of its own with one thread, and rounds visit the engines in turn. The ratio is the median
over the rounds of best peer / ours: above 1, ours is faster. Results are compared with those of onnxruntime first.
Behind each network stand the kernels in which our program spends most of its time: share of the time, share of the
FMA peak.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from kernels import last_cpu, machine
from models import ENGINES, inputs_of, measure
from suite.arguments import existing_file, new_file, positive, usable_cpu
from suite.engine import OURS
from suite.figures import geometric_mean
from suite.networks import SIZES, exported
from suite.report import markdown

Row = dict[str, Any]

FLOOR = 1.25
"""What the geometric mean of the ratios must reach."""

LEAST_RATIO = 0.95
"""No network may be below."""

TOLERANCE = 1e-3
"""Of the largest element of an output: results with a greater difference from those of onnxruntime are wrong."""

RUNS = 12
"""How often a program is profiled."""

HEADER = ["network", *(f"{name} ms" for name in ENGINES), "ratio", "best peer", "error", "compile s", "kernels"]


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="networks whose names match: 'net|vgg'")
    parser.add_argument("--rounds", type=positive, default=5)
    parser.add_argument("--kernels", type=positive, default=3, help="kernels to name for each network")
    parser.add_argument("--cpu", type=usable_cpu, default=last_cpu(), help="run all engines on this CPU; -1 for any")
    parser.add_argument("--json", type=new_file, help="write all figures here too")
    parser.add_argument("--list", action="store_true", help="print the names of the chosen networks only")
    parser.add_argument("--profile", type=existing_file, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        re.compile(options.only)
    except re.error as error:
        parser.error(f"--only takes a regular expression, found '{options.only}': {error}")
    return options


def chosen_networks(only: str) -> list[str]:
    """The networks whose names match. Ends the program where none does."""
    names = [name for name in SIZES if re.search(only, name)]
    return names or sys.exit(f"no network matches '{only}'; --list prints the names")


def profile(path: Path, cpu: int) -> Row:
    """Returns the seconds to import and compile a model, and its kernels, the one that takes longest first."""
    import stepwell
    from suite.roof import Peak

    if cpu >= 0 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cpu})
    inputs = list(inputs_of(str(path), {}, {}).values())
    start = time.process_time()
    executable = stepwell.compile_onnx(path, threads=1, tuning=False).specialised(*inputs)
    seconds = time.process_time() - start
    peak = Peak()
    rate = float(np.median([peak(time.process_time) for _ in range(25)]))
    return {
        "compile": seconds,
        "kernels": least_times([executable.profile(*inputs, rounds=1) for _ in range(RUNS)], rate),
    }


def least_times(profiles: list[Any], rate: float) -> list[Row]:
    """
    Returns the kernels by the least time that each call took in some runs, as other work of the machine disturbs all of
    them. `rate` are the GFLOP/s of the roof.
    """
    calls = [min(each, key=lambda call: call.microseconds) for each in zip(*(p.calls for p in profiles), strict=True)]
    total = sum(call.microseconds for call in calls)
    return [
        {
            "name": kernel.name,
            "calls": kernel.calls,
            "microseconds": kernel.microseconds,
            "share": kernel.share,
            "roof": kernel.gflops / rate,
        }
        for kernel in replace(profiles[0], calls=tuple(calls), microseconds=total).kernels
    ]


def profiled(path: Path, cpu: int) -> Row:
    """Returns what `profile` does in a process of its own, nothing where it fails."""
    command = [sys.executable, __file__, "--profile", str(path), "--cpu", str(cpu)]
    run = subprocess.run(command, capture_output=True, text=True)
    return json.loads(run.stdout.splitlines()[-1]) if run.returncode == 0 else {}


def measured(name: str, options: argparse.Namespace) -> Row:
    """Exports and measures a network. A ratio of results that are wrong does not count."""
    path = exported(name)
    with tempfile.TemporaryDirectory() as empty:
        os.environ["STEPWELL_CACHE_DIR"] = empty  # The first process compiles, the next one finds what it made.
        row = profiled(path, options.cpu)
        row |= measure(path, [f"--cpu={options.cpu}"] if options.cpu >= 0 else [], options.rounds)
    if row.get("error", 0.0) > TOLERANCE:
        row["wrong"] = row.pop("ratio", None)
    return row


def cells(row: Row, kernels: int) -> list[str]:
    """One row of the table. A dash stands where there is no figure."""
    ratio = "wrong" if "wrong" in row else f"{row['ratio']:.2f}" if "ratio" in row else "-"
    return [
        row["model"],
        *(f"{row['ms'][name]:.2f}" if name in row["ms"] else "-" for name in ENGINES),
        ratio,
        row.get("best", "-"),
        f"{row['error']:.0e}" if "error" in row else "-",
        f"{row['compile']:.1f}" if "compile" in row else "-",
        ", ".join(map(kernel_text, row.get("kernels", [])[:kernels])) or "-",
    ]


def kernel_text(kernel: Row) -> str:
    """The name of a kernel, how often it is called, its share of the time, and of the peak if it computes much."""
    times = f" ×{kernel['calls']}" if kernel["calls"] > 1 else ""
    roof = f" ({kernel['roof']:.0%})" if kernel["roof"] >= 0.01 else ""
    return f"{kernel['name']}{times} {kernel['share']:.0%}{roof}"


def summary(rows: list[Row]) -> list[str]:
    """The geometric mean and a verdict, the networks below the least ratio, and those without a right result."""
    ratios = {row["model"]: row["ratio"] for row in rows if "ratio" in row}
    lost = [row["model"] for row in rows if "wrong" in row or OURS not in row["ms"]]
    slow = sorted((name for name, ratio in ratios.items() if ratio < LEAST_RATIO), key=lambda name: ratios[name])
    mean = geometric_mean(list(ratios.values()))
    word = "passes" if mean is not None and mean >= FLOOR and not lost and not slow else "fails"
    return [
        f"{len(ratios)} of {len(rows)} networks, geometric mean {mean or 0:.3f} (floor {FLOOR:g}): {word}",
        f"{len(slow)} below {LEAST_RATIO:g}" + "".join(f"{', ' if n else ': '}{x}" for n, x in enumerate(slow)),
        f"{len(lost)} without a right result" + "".join(f"{', ' if n else ': '}{x}" for n, x in enumerate(lost)),
    ]


def run(options: argparse.Namespace) -> list[Row]:
    """Measures network by network, and prints a line for each."""
    rows: list[Row] = []
    for name in chosen_networks(options.only):
        try:
            rows.append(measured(name, options))
        except Exception as error:  # of the exporter: the run goes on
            print(f"{name}: {type(error).__name__}: {error}".splitlines()[0][:300], file=sys.stderr)
            continue
        print(f"| {' | '.join(cells(rows[-1], options.kernels))} |", flush=True)
    return rows


def main(arguments: list[str] | None = None) -> None:
    options = parse_arguments(arguments)
    if options.profile:
        print(json.dumps(profile(options.profile, options.cpu)))
        return
    if options.list:
        print("\n".join(chosen_networks(options.only)))
        return
    print(markdown(HEADER, []))
    rows = run(options)
    print("\n" + "\n".join(f"* {line}" for line in summary(rows)))
    if options.json:
        result = {"machine": machine(), "rounds": options.rounds, "networks": rows, "notes": summary(rows)}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
