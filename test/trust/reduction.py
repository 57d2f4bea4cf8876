"""
Forty programs that fail, and how small they become: `python test/trust/reduction.py` prints the table of T2.

A program of each kind and size follows from a seed. `chain` counts the ops that must feed each other.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from stepwell.core.text.parsing import make_context
from stepwell.testing import random_program
from stepwell.trust.reduce.moves.all import moves_for
from stepwell.trust.reduce.predicates import Message, Predicate, Wrong
from stepwell.trust.reduce.session import reduce
from stepwell.trust.reduce.subject import Program, Subject
from stepwell.trust.reduce.workers import Workers
from xdsl.ir import Operation, OpResult

SIZES = (100, 150, 200, 300, 500, 1000, 2000, 3000)
KINDS = ("chain", "apart", "crash", "message", "wrong")
MOST_OPS = 8

RULE = """
pattern.rule "abs-is-nothing" {
  %x = pattern.any
  %root = pattern.op "graph.abs"(%x)
  pattern.replace %root with %x
}
"""


@dataclass(frozen=True)
class Case:
    """A failing program: its kind, the number of its ops, the seed."""

    kind: str
    size: int
    seed: int


CASES = [
    Case(kind, size, 100 * number + place) for number, kind in enumerate(KINDS) for place, size in enumerate(SIZES)
]


class Chain(Predicate):
    """Ops of these names feed each other. It dies there by a signal if `dies` is set."""

    def __init__(self, names: tuple[str, ...], dies: bool = False):
        self.names, self.dies = names, dies

    def kind(self, subject: Subject) -> str | None:
        if not any(_chain(op, len(self.names)) == self.names for op in subject.parsed().walk()):
            return None
        if self.dies:
            os.abort()
        return "chain"

    def __str__(self) -> str:
        return f"nothing is {' of '.join(self.names)}"


class Apart(Predicate):
    """Ops of all these names are there."""

    def __init__(self, names: tuple[str, ...]):
        self.names = names

    def kind(self, subject: Subject) -> str | None:
        return "apart" if {op.name for op in subject.parsed().walk()}.issuperset(self.names) else None

    def __str__(self) -> str:
        return f"one of {', '.join(self.names)} is missing"


def bounded_program(seed: int, size: int) -> str:
    """Returns a program on numbers of -1 to 1 with one `abs`, which is a result and feeds later ops."""
    choose, type_ = random.Random(seed), "tensor<4x8xf32>"
    place, used = choose.randrange(3, size), set[int]()
    lines = [f"  %v0 = graph.tanh %x : ({type_}) -> {type_}"]
    for number in range(1, size):
        first, second = (choose.randrange(max(0, number - 40), number) for _ in range(2))
        op = choose.choice(("sin", "negative", "tanh", "multiply", "maximum", "minimum"))
        if number == place:
            op, first = "abs", 0
        values = (first, second) if op in ("multiply", "maximum", "minimum") else (first,)
        used.update(values)
        given = ", ".join(f"%v{each}" for each in values)
        types = ", ".join([type_] * len(values))
        lines.append(f"  %v{number} = graph.{op} {given} : ({types}) -> {type_}")
    results = [number for number in range(size) if number not in used or number == place]
    types = ", ".join([type_] * len(results))
    lines.append(f"  func.return {', '.join(f'%v{each}' for each in results)} : {types}")
    body = "\n".join(lines)
    return f"func.func @main(%x: {type_}) -> ({types}) {{\n{body}\n}}\n"


def _chain(op: Operation, length: int) -> tuple[str, ...]:
    """Returns the names of an op, of what makes its first operand, and so on."""
    names = (op.name,)
    while len(names) < length and op.operands:
        first = op.operands[0]
        if not isinstance(first, OpResult):
            break
        op = first.op
        names += (op.name,)
    return names


def made(case: Case, folder: Path) -> tuple[Program, Predicate, int]:
    """Returns a program, its predicate, and the least number of ops known, with the function and its end."""
    context, choose = make_context(), random.Random(case.seed)
    text = bounded_program(case.seed, case.size) if case.kind == "wrong" else random_program(case.seed, case.size).text
    if case.kind == "message":
        at = text.rindex("  func.return")
        text = f"{text[:at]}  %y = graph.exp %none : (tensor<4xf32>) -> tensor<4xf32>\n{text[at:]}"
        return Program(context, text, "t.mlir"), Message("never defined", "", context), 1
    program = Program(context, text, "t.mlir")
    if case.kind == "wrong":
        (folder / "wrong.rules").write_text(RULE)
        return program, Wrong(f'apply-patterns{{file="{folder}/wrong.rules"}}', context), 3
    ops = [op for op in program.parsed().walk() if op.name.startswith("graph.")]
    if case.kind == "apart":
        return program, Apart(tuple(dict.fromkeys(op.name for op in choose.sample(ops, 3)))), 5
    length = 3 if case.kind == "crash" else 2
    chains = [found for op in ops if len(found := _chain(op, length)) == length]
    return program, Chain(choose.choice(chains), case.kind == "crash"), length + 2


def reduced(case: Case, folder: Path, jobs: int) -> tuple[int, int, int, float]:
    """Returns the ops after reduction, the least number known, the tries and the seconds."""
    program, predicate, least = made(case, folder)
    started = time.perf_counter()
    search = reduce(program, predicate, moves_for(program), workers=Workers(jobs))
    return program.ops(), least, search.workers.tried, time.perf_counter() - started


def main() -> int:
    """Prints a row per case and the score. Returns 0 if every program became small."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    jobs = parser.parse_args().jobs
    seconds: list[float] = []
    large = 0
    print("| kind | ops | reduced to | least known | tries | seconds |\n|---|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        for case in CASES:
            ops, least, tries, took = reduced(case, Path(folder), jobs)
            seconds.append(took)
            large += ops > max(MOST_OPS, 1.5 * least)
            print(f"| {case.kind} | {case.size} | {ops} | {least} | {tries} | {took:.1f} |", flush=True)
    print(
        f"\n{len(CASES) - large} of {len(CASES)} are small enough; median {statistics.median(seconds):.1f} s,", end=" "
    )
    print(f"most {max(seconds):.1f} s.")
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main())
