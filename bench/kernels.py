"""
The cases of cases.json in Stepwell and its peers: NumPy, PyTorch, onnxruntime and OpenVINO, as far as they are
installed.

Each engine runs in a process of its own, with one thread unless `--threads` says more; rounds visit the engines in
turn, and the median over the rounds of best peer / ours is what counts: above 1, ours is faster. A result is checked
before it is timed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from suite.arguments import new_file, picture, positive, usable_cpu
from suite.engine import ENGINES, OURS
from suite.figures import ClassFigures, Row, class_figures, make_row
from suite.measure import Harness
from suite.programs import Case, load_cases, load_classes
from suite.report import aligned, case_cells, case_header, class_cells, class_header, troubles

QUICK = ("gemm_128", "linear_1x128x784", "softmax_128x1024", "mlp_784_128_10_b1", "empty")
"""Cases of `--quick`: a look at whether all works, not a measurement."""

INT8_FLOOR = 3.0
"""How many times faster the product of 1024 must be in int8 than in f32."""

CALL_LIMIT = 2.0
"""Microseconds that a call of an empty program may take."""


def parse_arguments(arguments: list[str] | None, only: str = "") -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--class", dest="classes", nargs="*", help="names of classes or their beginnings")
    parser.add_argument("--case", dest="cases", nargs="*", help="names of cases")
    parser.add_argument(
        "--engines",
        nargs="*",
        default=list(ENGINES),
        help=f"of {', '.join(ENGINES)}, or modules with `variants`",
    )
    parser.add_argument("--rounds", type=positive, default=15)
    parser.add_argument("--milliseconds", type=float, default=20, help="of calls per engine and round")
    parser.add_argument("--cpu", type=usable_cpu, default=last_cpu(), help="run all engines on this CPU; -1 for any")
    parser.add_argument("--threads", type=positive, default=1, help="of each engine; more than one: on any CPU")
    parser.add_argument(
        "--clock",
        choices=["wall", "cpu"],
        default="wall",
        help="cpu: seconds of the process, on a busy machine",
    )
    parser.add_argument("--quick", action="store_true", help="few cases, one short round")
    parser.add_argument("--json", type=new_file, help="write all figures here too")
    parser.add_argument("--plot", type=picture, help="draw the ratios here (.svg or .png; needs matplotlib)")
    parser.add_argument("--list", action="store_true", help="print the names of the chosen cases only")
    options = parser.parse_args(arguments)
    options.classes = options.classes or ([only] if only else None)
    return options


def last_cpu() -> int:
    """Returns the last CPU that this process may use, -1 where that is not known."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else -1


def chosen_cases(options: argparse.Namespace) -> list[Case]:
    """The cases that the options name. Ends the program when they name one, or a class, that is not there."""
    cases = load_cases()
    unmet = [name for name in options.classes or () if not any(each.startswith(name) for each in load_classes())]
    if unmet:
        sys.exit(f"no class {', '.join(unmet)}; the classes are {', '.join(load_classes())}")
    if unknown := set(options.cases or ()) - {case["name"] for case in cases}:
        sys.exit(f"no case {', '.join(sorted(unknown))}; --list prints the names")
    if options.cases:
        cases = [case for case in cases if case["name"] in options.cases]
    if options.classes:
        cases = [case for case in cases if case["class"].startswith(tuple(options.classes))]
    if options.quick and not options.cases:
        cases = [case for case in cases if case["name"] in QUICK]
    return cases


def run(options: argparse.Namespace) -> tuple[list[Row], dict[str, str]]:
    """Measures and prints case by case. Returns the rows, and the engines that are not there."""
    rounds, seconds = (1, 0.002) if options.quick else (options.rounds, options.milliseconds / 1000)
    cpu = options.cpu if options.cpu >= 0 and options.threads == 1 else None
    rows: list[Row] = []
    cases = chosen_cases(options)
    with Harness(options.engines, cpu, rounds, seconds, options.clock, options.threads) as harness:
        for name, why in harness.missing.items():
            print(f"{name} is skipped: {why}")
        engines = [name for name in options.engines if name not in harness.missing]
        if not engines:
            sys.exit("no engine is left to measure")
        for case in cases:
            row = make_row(harness.measure(case))
            rows.append(row)
            times = ", ".join(f"{name} {row.microseconds[name]:.4g}" for name in engines if name in row.microseconds)
            ratio = "" if row.ratio is None else f"; {row.ratio:.2f} × {row.best_peer}"
            print(f"{row.name}: µs {times}{ratio}", flush=True)
        return rows, harness.missing


def print_tables(rows: list[Row], engines: list[str]) -> list[ClassFigures]:
    """Prints cases, classes and troubles, and returns the figures of the classes."""
    print("\n" + aligned(case_header(engines), [case_cells(row, engines) for row in rows]) + "\n")
    figures = [
        class_figures(name, asked, [row for row in rows if row.class_ == name])
        for name, asked in load_classes().items()
        if any(row.class_ == name for row in rows)
    ]
    print(aligned(class_header(), [class_cells(class_) for class_ in figures]) + "\n")
    print("\n".join(notes(rows)))
    return figures


def notes(rows: list[Row]) -> list[str]:
    """
    Returns what is asked beside ratios: int8 against our f32, the time of an empty call, and which engine had
    trouble with what.
    """
    ours = {row.name: row.microseconds[OURS] for row in rows if OURS in row.microseconds}
    lines: list[str] = []
    if "int8_gemm_1024" in ours and "gemm_1024" in ours:
        factor = ours["gemm_1024"] / ours["int8_gemm_1024"]
        word = "passes" if factor >= INT8_FLOOR else "too slow"
        lines.append(f"int8 GEMM 1024 is {factor:.2f} × as fast as our f32 (floor {INT8_FLOOR:g}): {word}")
    if "empty" in ours:
        word = "passes" if ours["empty"] < CALL_LIMIT else "too slow"
        lines.append(f"a call of an empty program takes {ours['empty']:.2f} µs (limit {CALL_LIMIT:g}): {word}")
    return lines + troubles(rows)


def command(options: argparse.Namespace) -> str:
    """The command that measures the same again, without the files it writes."""
    words = ["python", "bench/kernels.py", "--rounds", str(options.rounds), "--clock", options.clock]
    words += ["--threads", str(options.threads)] if options.threads > 1 else []
    for name in ("classes", "cases"):
        if chosen := getattr(options, name):
            words += ["--class" if name == "classes" else "--case", *chosen]
    return shlex.join([*words, *(["--quick"] if options.quick else [])])


def machine() -> dict[str, Any]:
    """Returns what the figures depend on, without names of machines."""
    from importlib.metadata import PackageNotFoundError, version

    packages: dict[str, str] = {}
    for package in ("numpy", "torch", "onnxruntime", "openvino", "llvmlite"):
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            continue
    model, features = cpu_description()
    return {
        "cpu": model,
        "features": features,
        "kind": kind_of_cpu(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "packages": packages,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def kind_of_cpu() -> str:
    """The kind of processor that Stepwell takes this one for, such as `Zen 5`. It is empty where it knows no name."""
    from stepwell.machine.families import base_of_host
    from stepwell.machine.host import cpu_flags, cpu_model

    name = base_of_host(platform.machine().lower(), cpu_flags(), cpu_model()).name
    return "" if "64" in name else re.sub(r"(?<=[a-z])(?=\d)", " ", name.replace("-", " ")).title()


def cpu_description() -> tuple[str, str]:
    """The model of the CPU and its vector extensions, as far as the system tells."""
    if not Path("/proc/cpuinfo").exists():
        return platform.machine(), "-"
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    found = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    names = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8", "asimd")
    flags = (found.get("flags") or found.get("Features") or "").split()
    return found.get("model name", platform.machine()), " ".join(name for name in names if name in flags)


def main(arguments: list[str] | None = None, only: str = "") -> None:
    options = parse_arguments(arguments, only)
    if options.list:
        print("\n".join(case["name"] for case in chosen_cases(options)))
        return
    rows, missing = run(options)
    figures = print_tables(rows, [name for name in options.engines if name not in missing])
    result = {
        "command": command(options),
        "machine": machine(),
        "rounds": 1 if options.quick else options.rounds,
        "clock": options.clock,
        "threads": options.threads,
        "missing": missing,
        "cases": [row.to_json() for row in rows],
        "notes": notes(rows),
        "classes": [vars(class_) for class_ in figures],
    }
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if options.plot:
        from plot import draw

        draw(result, options.plot)


if __name__ == "__main__":
    main()
