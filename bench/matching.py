"""
Measures how the cost of matching grows: programs and rules of two sizes, a factor of ten apart.

    python bench/matching.py

A case is linear where the larger one takes about ten times as long. Sizes are users of one value, roots, functions,
levels of a pattern, or rules.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from stepwell.core import make_context, parse_text
from stepwell.patterns import Any_, Bound, Driver, Op, Or, Pattern, Require, Rule, create
from stepwell.patterns.language.rules import root_pattern
from stepwell.patterns.running.partition import Partitioner
from stepwell.patterns.text.loading import rules_of_file
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

F = "tensor<4x4xf32>"
FACTOR = 10


def function(name: str, lines: list[str], result: str) -> str:
    """The text of a function of one tensor."""
    body = "\n".join(lines)
    return f"func.func @{name}(%x: {F}) -> {F} {{\n{body}\nfunc.return %{result} : {F}\n}}"


def many_users(count: int) -> ModuleOp:
    """`count` times exp of one value, and their sum."""
    lines = [f"%v{number} = graph.exp %x : ({F}) -> {F}" for number in range(count)]
    lines += [f"%s{n} = graph.add %{f's{n - 1}' if n else 'x'}, %v{n} : ({F}, {F}) -> {F}" for n in range(count)]
    return parse_text(make_context(), function("main", lines, f"s{count - 1}"))


def seconds_to_run(rule: Rule, module: ModuleOp) -> float:
    """Seconds that a rule takes on a module."""
    driver = Driver(make_context(), [rule])
    started = time.perf_counter()
    driver.run(module)
    return time.perf_counter() - started


def roots(number: int, about: tuple[str, ...], count: int) -> float:
    """Several roots with a shared operand. Where `about` is given, a condition that never holds is about it."""
    x = Any_("x")
    lhs, also = root_pattern(tuple(Op(("graph.exp",), (x,), key=f"root{n}") for n in range(number)))
    when = (Require("single-use", about),) if about else ()
    rhs = tuple(create("graph.tanh", Bound("x")) for _ in range(number))
    return seconds_to_run(Rule("roots", lhs, rhs, also=also, when=when), many_users(count))


def alternatives(levels: int) -> float:
    """A tree of so many levels of alternatives that does not match, at 100 places."""
    below: Pattern = Op(("graph.sqrt",), (Any_(),))
    for _ in range(levels):
        below = Or((Op(("graph.add",), (below, Any_())), Op(("graph.add",), (Any_(), below))))
    lines = [f"%v{n + 1} = graph.add %{f'v{n}' if n else 'x'}, %x : ({F}, {F}) -> {F}" for n in range(100)]
    return seconds_to_run(
        Rule("none", below, (Bound(below.key),)), parse_text(make_context(), function("main", lines, "v100"))
    )


def deep(levels: int) -> float:
    """A pattern of so many ops in a row, which matches once."""
    x = Any_("x")
    below: Pattern = x
    for _ in range(levels):
        below = Op(("graph.exp",), (below,))
    lines = [f"%v{n + 1} = graph.exp %{f'v{n}' if n else 'x'} : ({F}) -> {F}" for n in range(levels)]
    lines.append(f"%last = graph.tanh %v{levels} : ({F}) -> {F}")
    module = parse_text(make_context(), function("main", lines, "last"))
    seconds = seconds_to_run(Rule("deep", Op(("graph.tanh",), (below,)), (Bound("x"),)), module)
    assert not any(op.name == "graph.tanh" for op in module.walk())
    return seconds


def partition(count: int) -> float:
    """One match in each of many functions."""
    texts = [
        function(f"f{number}", [f"%a = graph.exp %x : ({F}) -> {F}", f"%b = graph.relu %a : ({F}) -> {F}"], "b")
        for number in range(count)
    ]
    module = parse_text(make_context(), "\n".join(texts))
    functions = [op for op in module.body.ops if isinstance(op, func.FuncOp)]
    started = time.perf_counter()
    partitioner = Partitioner(Rule("relu", Op(("graph.relu",), (Op(("graph.exp",), (Any_(),)),)), ()), module)
    for each in functions:
        partitioner.run(each)
    return time.perf_counter() - started


def load(count: int) -> float:
    """Rules of a file, read, checked and made ready."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.mlir"
        path.write_text(
            "\n".join(f'pattern.rule "r{n}" rounding : exp(%x) * {n}.5 => exp(%x)' for n in range(count)), "utf-8"
        )
        ctx = make_context()
        started = time.perf_counter()
        Driver(ctx, rules_of_file(path, ctx))
        return time.perf_counter() - started


CASES: dict[str, tuple[Callable[[int], float], int]] = {
    "a pair that shares an operand": (partial(roots, 2, ()), 200),
    "three roots": (partial(roots, 3, ()), 200),
    "three roots, a condition on the operand fails": (partial(roots, 3, ("x",)), 200),
    "alternatives that do not match": (alternatives, 10),
    "a pattern of many levels": (deep, 1000),
    "one match in each function": (partition, 250),
    "rules read": (load, 1000),
}


def main() -> None:
    """Prints seconds and growth of each case."""
    print(f"{'case':<48}{'size':>7}{'seconds':>10}{'x 10':>10}{'growth':>8}")
    for name, (run, size) in CASES.items():
        run(2)
        small, large = min(run(size) for _ in range(3)), run(size * FACTOR)
        print(f"{name:<48}{size:>7}{small:>10.4f}{large:>10.4f}{large / small:>8.1f}")


if __name__ == "__main__":
    main()
