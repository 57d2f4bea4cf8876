"""
Where ten programs come from: `python test/trust/provenance.py` prints the tables of T3, `--cost` what provenance costs.

A row tells the ops of all levels of a program at O3: how many there are after each pass in sum, how many come from an
op inside a function of the source, how many from the function alone (what the compiler makes for it as a whole: the
entry, its arena, its return), and how many from nothing. Then the instructions of its exported object, all that the
linker takes from it: kernels, the entry, loading, the pool of threads. The second table lists the ops that the compiler
makes for a function as a whole. `--models FILE.onnx …` prints the instructions of these models.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import stepwell
from stepwell.analysis.lineage import Lineages
from stepwell.core.messages import locations, origins
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse, parse_text
from stepwell.runtime.stairs import expand_pipeline
from stepwell.testing.programs.program_generators import random_program
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test/support"))

from layered_nets import encoder, resnet  # noqa: E402
from line_tables import without_line  # noqa: E402

LEAST = 0.98
"""The part of the instructions of an object that must have a line."""


REASONS = {
    "builtin.module": "the program as a whole",
    "func.func": "the function itself",
    "func.return": "its end",
    "tensor_loop.func": "the function itself",
    "llvm.func": "the function itself, and its entry, which takes an array of pointers",
    "llvm.getelementptr": "where a pointer stands in the array that an entry is called with",
    "llvm.load": "a pointer from that array",
    "llvm.call": "the call of the function by its entry",
    "llvm.mlir.constant": "0, what an entry returns where nothing fails",
    "llvm.return": "the end of the function or of its entry",
}
"""The ops that are made for a function as a whole, and why."""


def programs() -> dict[str, Callable[[], ModuleOp]]:
    """Returns what makes the ten programs, by name."""
    context = make_context()
    written = ("attention", "conv_block", "mixed_dtypes", "reductions", "two_functions")
    found: dict[str, Callable[[], ModuleOp]] = {
        name: lambda name=name: parse(ROOT / f"test/programs/{name}.mlir", ctx=context) for name in written
    }
    for name in ("combine_parallel_conv2d", "normalise_and_fuse"):
        found[name] = lambda name=name: parse(ROOT / f"examples/passes/{name}.mlir", ctx=context)
    found["random"] = lambda: parse_text(context, random_program(7, 60).text, "random.mlir")
    found["ResNet-18"] = lambda: stepwell.from_onnx(resnet())
    found["MiniLM"] = lambda: stepwell.from_onnx(encoder())
    return found


def ops_of_levels(module: ModuleOp) -> tuple[int, Counter[str], int]:
    """Lowers a module at O3. Returns the ops after all passes in sum, those of a function alone, those of nothing."""
    context, lineages = make_context(), Lineages()
    outside = {origin for op in (module, *module.body.block.ops) for origin in lineages.of(op).origins}
    count = of_nothing = 0
    of_functions = Counter[str]()
    for each in expand_pipeline("O3"):
        run_pipeline(context, module, str(each))
        for op in module.walk():
            found = lineages.of(op).origins
            count += 1
            of_nothing += not found
            if found and outside.issuperset(found):
                of_functions[op.name] += 1
    return count, of_functions, of_nothing


def table() -> int:
    """Prints the table. Returns how many programs fall short."""
    short, made_for = 0, Counter[str]()
    print("| program | ops of all levels | of a function as a whole | of nothing | instructions | with a line |")
    print("|---|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        for name, made in programs().items():
            instructions, part = lines_of(made(), Path(folder))
            count, of_functions, of_nothing = ops_of_levels(made())
            made_for += of_functions
            short += part < LEAST or of_nothing > 0
            row = (name, count, of_functions.total(), of_nothing, instructions, f"{part:.2%}")
            print(f"| {' | '.join(map(str, row))} |", flush=True)
    print("\n| op | of a function as a whole | reason |\n|---|---|---|")
    for op, count in made_for.most_common():
        short += op not in REASONS
        print(f"| {op} | {count} | {REASONS.get(op, 'none')} |")
    return short


def lines_of(program: ModuleOp | str, folder: Path) -> tuple[int, float]:
    """Returns the number of instructions of an exported object, and the part of them that has a line."""
    path = folder / "program.o"
    stepwell.compile(program).export(path)
    lacking, instructions = without_line(path)
    return instructions, 1 - len(lacking) / instructions


def models(files: Sequence[str]) -> int:
    """Prints the instructions of models. Returns how many fall short."""
    short = 0
    print("| model | instructions | with a line |\n|---|---|---|")
    with TemporaryDirectory() as folder:
        for file in files:
            instructions, part = lines_of(file, Path(folder))
            short += part < LEAST
            print(f"| {Path(file).stem} | {instructions} | {part:.2%} |", flush=True)
    return short


@contextmanager
def without_provenance() -> Iterator[None]:
    """Has no op get or carry a location inside the block: what the compiler would do if nobody asked."""
    nothing: dict[str, object] = {
        "fuse": lambda *_, **__: UNKNOWN_LOC,
        "inherit": lambda *_: None,
        "copy_location": lambda *_: None,
    }
    owners = [module for key, module in sys.modules.items() if key.startswith("stepwell.")]
    kept = [(m, name, getattr(m, name)) for m in owners for name in nothing if hasattr(m, name)]
    kept += [(origins.Shared, name, getattr(origins.Shared, name)) for name in ("add", "settle")]
    kept.append((locations.LocationFactory, "at", locations.LocationFactory.at))
    for owner, name, _ in kept:
        setattr(owner, name, nothing.get(name, lambda *_: UNKNOWN_LOC))
    try:
        yield
    finally:
        for owner, name, before in kept:
            setattr(owner, name, before)


def cost(rounds: int) -> None:
    """Prints the least CPU time of the passes with and without provenance, run in turns."""
    context = make_context()
    for name in ("ResNet-18", "MiniLM"):
        module = programs()[name]()

        def lowered(module: ModuleOp = module) -> float:
            copy = module.clone()
            copy.location = module.location
            started = time.process_time()
            run_pipeline(context, copy, "O3", verify_each=False)
            return time.process_time() - started

        lowered()
        found: list[tuple[float, float]] = []
        for _ in range(rounds):
            with_ = lowered()
            with without_provenance():
                found.append((with_, lowered()))
        with_, without = (min(column) for column in zip(*found, strict=True))
        print(f"{name}: {with_:.2f} s with, {without:.2f} s without, ratio {with_ / without:.3f}", flush=True)


def main() -> int:
    """Returns 0 if every program is traced."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", nargs="*", metavar="FILE.onnx")
    options = parser.parse_args()
    if options.models:
        return 1 if models(options.models) else 0
    if options.cost:
        cost(options.rounds)
        return 0
    return 1 if table() else 0


if __name__ == "__main__":
    sys.exit(main())
