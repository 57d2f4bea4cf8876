"""
Networks in f16 and bf16 beside the same networks in f32, all ours, on one thread.

`python bench/halves.py [--only REGEX] [--rounds 24]`

The three programs of a network are compiled in one process, and rounds visit them in turn, one call each. The ratio is
the time in f32 over that in the small type: at least 1 is wanted. It is the median over the rounds, with the quartiles
behind it; `least` is that of the least times. Times are those of the processor. The error is the greatest difference
from the result in f32, of its greatest element.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from kernels import last_cpu, machine
from models import greatest_error, inputs_of, sample
from suite.arguments import new_file, positive, usable_cpu
from suite.networks import HALVES, HALVES_OF, exported_in
from suite.report import markdown

Row = dict[str, Any]

HEADER = ["network", "f32 ms", *(f"{name} {what}" for name in HALVES for what in ("ratio", "least", "error"))]


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="networks whose names match: 'vit|minilm'")
    parser.add_argument("--rounds", type=positive, default=24)
    parser.add_argument("--cpu", type=usable_cpu, default=last_cpu(), help="run on this CPU; -1 for any")
    parser.add_argument("--json", type=new_file, help="write all figures here too")
    return parser.parse_args(arguments)


def program(name: str, element: str) -> tuple[Callable[[], Any], Any]:
    """Returns a call of a network in an element type, and its first result."""
    import stepwell

    path = exported_in(name, element)
    inputs = list(inputs_of(str(path), {}, {}).values())
    executable = stepwell.compile_onnx(path, threads=1, tuning=False).specialised(*inputs)
    return (lambda: executable(*inputs)), [sample(each) for each in executable(*inputs)]


def seconds(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def measured(name: str, rounds: int) -> Row:
    """Milliseconds in f32, and of each small type the ratios and the error."""
    programs = {element: program(name, element) for element in ("f32", *HALVES)}
    times: dict[str, list[float]] = {element: [] for element in programs}
    for _ in range(rounds):
        for element, (call, _) in programs.items():
            times[element].append(seconds(call))
    row: Row = {"network": name, "ms": 1e3 * float(np.median(times["f32"]))}
    for element in HALVES:
        ratios = np.array(times["f32"]) / np.array(times[element])
        row[element] = {
            "ratio": float(np.median(ratios)),
            "quartiles": [float(each) for each in np.quantile(ratios, (0.25, 0.75))],
            "least": min(times["f32"]) / min(times[element]),
            "error": greatest_error(programs[element][1], programs["f32"][1]),
        }
    return row


def cells(row: Row) -> list[str]:
    """One row of the table."""
    found = [row["network"], f"{row['ms']:.2f}"]
    for each in (row[element] for element in HALVES):
        low, high = each["quartiles"]
        found += [f"{each['ratio']:.3f} [{low:.3f} {high:.3f}]", f"{each['least']:.3f}", f"{each['error']:.0e}"]
    return found


def main(arguments: list[str] | None = None) -> None:
    options = parse_arguments(arguments)
    if options.cpu >= 0 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.cpu})
    names = [name for name in HALVES_OF if re.search(options.only, name)]
    if not names:
        sys.exit(f"no network matches '{options.only}'; there are {', '.join(HALVES_OF)}")
    print(markdown(HEADER, []))
    rows: list[Row] = []
    for name in names:
        rows.append(measured(name, options.rounds))
        print(f"| {' | '.join(cells(rows[-1]))} |", flush=True)
    if options.json:
        result = {"machine": machine(), "rounds": options.rounds, "networks": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
