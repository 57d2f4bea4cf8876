"""
Measures what the tools cost: start-up of stepwell-opt against stock xdsl-opt, and microseconds per op of parse, verify,
print and passes.

Start-up is measured in pairs on an empty module, processor time of whole processes; the median of the ratios counts.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from stepwell.core import make_context, parse, parse_pipeline, verify_module

PASSES = (
    "eliminate-common-subexpr",
    "simplify-expr",
    "fold-constant",
    "fuse-ewise-fma",
    "fuse-matmul-add",
    "eliminate-dead-code",
    "remove-unused-functions",
    "lower-graph-to-loops",
    "bufferize",
)


def processor_seconds(command: list[str]) -> float:
    """User and system time of a finished command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start_up(pairs: int) -> None:
    """Prints the ratio of start-up times on an empty module."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "empty.mlir"
        path.write_text("builtin.module {}\n")
        stock = [sys.executable, "-c", "from xdsl.tools.xdsl_opt import main; main()", str(path)]
        ours = [sys.executable, "-c", "from stepwell.tools.opt import main; main()", str(path)]
        figures = [(processor_seconds(ours), processor_seconds(stock)) for _ in range(pairs)]
    ratio = statistics.median(mine / theirs for mine, theirs in figures)
    mine, theirs = (statistics.median(column) for column in zip(*figures, strict=True))
    print(
        f"start-up on an empty module: stepwell-opt {mine:.3f} s, xdsl-opt {theirs:.3f} s, median ratio {ratio:.3f} "
        f"({pairs} pairs)"
    )


def chain(length: int) -> str:
    """A program of `length` elementwise ops, each on the result of the one before."""
    type_ = "tensor<16x16xf32>"
    names = ("exp", "tanh", "negative", "abs", "sigmoid", "relu")
    lines = [f"  %v{i + 1} = graph.{names[i % len(names)]} %v{i} : ({type_}) -> {type_}" for i in range(length)]
    return "\n".join(
        [f"func.func @main(%v0: {type_}) -> {type_} {{", *lines, f"  func.return %v{length} : {type_}", "}"]
    )


def per_op(length: int) -> None:
    """Prints microseconds per op on a chain."""

    def timed(what: str, action: Callable[[], object]) -> object:
        start = time.process_time()
        result = action()
        print(f"  {what:28} {(time.process_time() - start) / length * 1e6:8.1f} us/op")
        return result

    print(f"a chain of {length} graph ops:")
    text = chain(length)
    context = make_context()
    timed("parse and verify", lambda: parse(text, ctx=context))
    module = parse(text, ctx=context)
    timed("verify", lambda: verify_module(module))
    timed("print", lambda: str(module))
    for name in PASSES:
        (each,) = parse_pipeline(name)
        timed(name, lambda each=each: each.apply(context, module))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--length", type=int, default=20_000)
    options = parser.parse_args()
    start_up(options.pairs)
    per_op(options.length)


if __name__ == "__main__":
    main()
