"""
Forty programs of 100 to 3 000 ops that fail, for the tests of `stepwell reduce`.

Twenty fail by a predicate or a rule that is easy to state, so that the least program is known. The others are nets of
attention and dense layers as ONNX models, run through `O3` with a fault of `test/trust/faults` in the compiler, or with
an error in them. A program of each kind and size follows from a seed.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import stepwell
from stepwell.core.passes.context import PassContext
from stepwell.core.text.parsing import make_context
from stepwell.testing import random_program
from stepwell.trust.evaluate import warm_up
from stepwell.trust.reduce.predicates import Crash, Message, Predicate, Wrong
from stepwell.trust.reduce.subject import Program, Subject
from xdsl.ir import Operation, OpResult

sys.path.insert(0, str(Path(__file__).parent / "faults"))

from planting import FAULTS, Fault, planted
from small_models import Net

SIZES: Final = {
    "chain": (100, 200, 500, 2000),
    "apart": (150, 300, 1000, 3000),
    "crash": (100, 300, 1000, 3000),
    "message": (150, 500, 2000),
    "wrong": (100, 200, 500, 1000, 3000),
    "planted": (100, 150, 200, 300, 500, 1000, 2000, 3000),
    "raised": (100, 200, 300, 500, 1000, 2000),
    "diagnostic": (100, 200, 300, 500, 1000, 3000),
}
"""The sizes of the programs of each kind."""

PLANTED: Final = (
    ("gelu-of-half-is-silu", 10),
    ("sample-variance", 3),
    ("cube-is-a-square", 4),
    ("fma-adds-a-factor", 4),
    ("exponentials-scaled-twice", 8),
    ("panels-from-the-next-row", 4),
    ("sums-start-at-one", 3),
    ("neighbours-forgotten", 3),
)
"""Faults of the list that give wrong results, and the least number of ops of a program known to show each."""

RAISED: Final = (
    ("row-of-fifteen", "(whole, aligned), (aligned, body.extents)) if end > start]", 3),
    ("sample-variance", "1 / ops.sqrt(value / count + epsilon.none)", 3),
    ("in-place-always", "self._legal[key] = may_overwrite(kernel, inputs[9], output)", 5),
    ("maximum-starts-at-zero", "[IDENTITY[each]]", 3),
    ("stride-of-the-last-dimension", "constant += known * strides", 3),
    ("operands-of-a-merged-kernel", "(*call.operands, *call.result)", 4),
)
"""Places of the list where the compiler raises an exception instead, what stands there, and the least number of ops."""

RULE: Final = """
pattern.rule "abs-is-nothing" {
  %x = pattern.any
  %root = pattern.op "graph.abs"(%x)
  pattern.replace %root with %x
}
"""

ROW: Final = "tensor<1x6x32xf32>"
"""The type of what the layers of a net hand on."""

CALLS_ITSELF: Final = f"""func.func private @again(%x: {ROW}) -> {ROW} {{
  %y = func.call @again(%x) : ({ROW}) -> {ROW}
  func.return %y : {ROW}
}}
"""

DIAGNOSTICS: Final[tuple[tuple[str, str, str, int], ...]] = (
    (f"%s = arith.addf %v, %v : {ROW}", "", "no tensor expression: 'arith.addf'", 3),
    (f"%s = graph.matmul %v, %v : ({ROW}, {ROW}) -> {ROW}", "", "columns but rhs has K", 3),
    (f"%s = func.call @again(%v) : ({ROW}) -> {ROW}", CALLS_ITSELF, "calls itself", 3),
)
"""A line that takes a value `%v` of a net, a function to go with it, the error, and the least number of ops."""


@dataclass(frozen=True)
class Case:
    """A failing program: its kind, the number of its ops, the seed, and its place among those of its kind."""

    kind: str
    size: int
    seed: int
    place: int = 0

    @property
    def detail(self) -> str:
        """What is wrong with the compiler or the program, where that is one of several things."""
        if self.kind == "planted":
            return PLANTED[self.place % len(PLANTED)][0]
        if self.kind == "raised":
            return RAISED[self.place % len(RAISED)][0]
        return DIAGNOSTICS[self.place % len(DIAGNOSTICS)][2] if self.kind == "diagnostic" else ""


CASES: Final = [
    Case(kind, size, 100 * number + place, place)
    for number, (kind, sizes) in enumerate(SIZES.items())
    for place, size in enumerate(sizes)
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


# Nets


def _attention(net: Net, x: str) -> str:
    return net.op("Add", x, net.attention(net.layer_norm(x, 32), 6, 2, 16))


def _gelu(net: Net, x: str) -> str:
    """A dense layer with gelu spelt out by erf."""
    y = net.linear(net.layer_norm(x, 32), 32, 48)
    half = net.op("Mul", y, net.number(0.5))
    y = net.op("Mul", half, net.op("Add", net.op("Erf", net.op("Div", y, net.number(2**0.5))), net.number(1.0)))
    return net.op("Add", x, net.linear(y, 48, 32))


def _cubic_gelu(net: Net, x: str) -> str:
    """A dense layer with gelu spelt out by tanh."""
    y = net.linear(net.layer_norm(x, 32), 32, 40)
    inner = net.op("Add", y, net.op("Mul", net.op("Pow", y, net.number(3.0)), net.number(0.044715)))
    inner = net.op("Tanh", net.op("Mul", inner, net.number(0.7978846)))
    y = net.op("Mul", net.op("Mul", y, net.number(0.5)), net.op("Add", inner, net.number(1.0)))
    return net.op("Add", x, net.linear(y, 40, 32))


def _gated(net: Net, x: str) -> str:
    """A root mean square and a gated dense layer."""
    mean = net.op("ReduceMean", net.op("Mul", x, x), net.ints(-1), keepdims=1)
    scale = net.op("Div", net.number(1.0), net.op("Sqrt", net.op("Add", mean, net.number(1e-5))))
    y = net.op("Mul", net.op("Mul", x, scale), net.weight(32, scale=1.0))
    gate = net.op("MatMul", y, net.weight(32, 40))
    gate = net.op("Mul", gate, net.op("Sigmoid", gate))
    return net.op(
        "Add", x, net.op("MatMul", net.op("Mul", gate, net.op("MatMul", y, net.weight(32, 40))), net.weight(40, 32))
    )


LAYERS: Final[tuple[Callable[[Net, str], str], ...]] = (_attention, _gelu, _cubic_gelu, _gated)


def deep_net(seed: int, size: int) -> str:
    """Returns a net of at least `size` ops, as text. Its weights are drawn where the program is run."""
    choose, net = random.Random(seed), Net(seed)
    x = net.input(1, 6, 32)
    order = [*LAYERS]
    choose.shuffle(order)
    for number in range(size):
        if len(net.nodes) + len(net.constants) - 2 >= size:
            break
        x = order[number % len(order)](net, x)
    module = stepwell.from_onnx(net.model(net.layer_norm(x, 32)))
    return str(module) + "\n"


def _with_error(seed: int, size: int, line: str, function: str) -> str:
    """Returns a net with a line more, in the middle, whose result stands for the value that it takes."""
    lines = deep_net(seed, size).splitlines()
    places = [number for number, each in enumerate(lines) if each.endswith(f"-> {ROW}") and " = graph.add " in each]
    place = places[len(places) // 2]
    value = lines[place].split(" = ")[0].strip()
    after = [each.replace(f"{value} ", "%s ").replace(f"{value},", "%s,") for each in lines[place + 1 :]]
    text = "\n".join([*lines[: place + 1], f"    {line.replace('%v', value)}", *after])
    head, start, rest = text.partition("  func.func")
    return f"{head}{function}{start}{rest}\n"


# Cases


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


def _by_ops(case: Case) -> tuple[Program, Predicate, int]:
    """Returns a program whose failure is that some ops are in it."""
    context, choose = make_context(), random.Random(case.seed)
    program = Program(context, random_program(case.seed, case.size).text, "t.mlir")
    ops = [op for op in program.parsed().walk() if op.name.startswith("graph.")]
    if case.kind == "apart":
        return program, Apart(tuple(dict.fromkeys(op.name for op in choose.sample(ops, 3)))), 5
    length = 3 if case.kind == "crash" else 2
    chains = [found for op in ops if len(found := _chain(op, length)) == length]
    return program, Chain(choose.choice(chains), case.kind == "crash"), length + 2


def _undefined(case: Case) -> tuple[Program, Predicate, int]:
    """Returns a program that takes a value which is not there."""
    context, text = make_context(), random_program(case.seed, case.size).text
    at = text.rindex("  func.return")
    text = f"{text[:at]}  %y = graph.exp %none : (tensor<4xf32>) -> tensor<4xf32>\n{text[at:]}"
    return Program(context, text, "t.mlir"), Message("never defined", "", context), 1


def _in_a_net(case: Case) -> tuple[Program, Predicate, int]:
    """Returns a net, and what is wrong with it or with the compiler."""
    context = make_context()
    if case.kind == "diagnostic":
        line, function, message, least = DIAGNOSTICS[case.place % len(DIAGNOSTICS)]
        text = _with_error(case.seed, case.size, line, function)
        return Program(context, text, "net.mlir"), Message(message, "O3", context), least
    program = Program(context, deep_net(case.seed, case.size), "net.mlir")
    if case.kind == "raised":
        return program, Crash("O3", context), RAISED[case.place][2]
    return program, Wrong("O3", context), PLANTED[case.place][1]


def _fault(case: Case) -> Fault | None:
    if case.kind == "planted":
        return FAULTS[case.detail]
    return replace(FAULTS[case.detail], new=RAISED[case.place][1]) if case.kind == "raised" else None


@contextmanager
def made(case: Case, folder: Path) -> Iterator[tuple[Program, Predicate, int]]:
    """
    Yields a program, its predicate, and the least number of ops known, with the function and its end.

    The compiler has the fault of the case inside the block.
    """
    fault = _fault(case)
    warm_up()
    # Two of the places are reached with wide registers alone, and nothing runs there.
    wide = PassContext(config={"target": "x86-64-v4"}) if case.kind == "raised" else nullcontext()
    with nullcontext() if fault is None else planted(fault), wide, np.errstate(all="ignore"):
        if case.kind == "wrong":
            (folder / "wrong.rules").write_text(RULE)
            context = make_context()
            program = Program(context, bounded_program(case.seed, case.size), "t.mlir")
            yield program, Wrong(f'apply-patterns{{file="{folder}/wrong.rules"}}', context), 3
        elif case.kind == "message":
            yield _undefined(case)
        else:
            yield _by_ops(case) if case.kind in ("chain", "apart", "crash") else _in_a_net(case)
