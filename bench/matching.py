"""
Measures how the cost of matching grows: programs and rules of two sizes, a factor of ten apart.

    python bench/matching.py

A case is linear where the larger one takes about ten times as long. Sizes are users of one value, roots, functions,
levels of a pattern, or rules. A condition about two roots is asked once for each pair of ops, so that its case grows
with the square of the number of roots.
"""

from __future__ import annotations

import gc
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
from xdsl.dialects.builtin import ModuleOp, StringAttr

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


def seconds(run: Callable[[], object]) -> float:
    """Seconds of the processor that `run` takes. The collector waits, since its work depends on what ran before."""
    gc.collect()
    gc.disable()
    try:
        started = time.process_time()
        run()
        return time.process_time() - started
    finally:
        gc.enable()


def seconds_to_run(rule: Rule, module: ModuleOp) -> float:
    """Seconds that a rule takes on a module."""
    driver = Driver(make_context(), [rule])
    return seconds(lambda: driver.run(module))


NEVER_ONE = Require("single-use", ("x",))
NEVER_TWO = Require("compare", ("root0", "root2"), (("formula", StringAttr("size($0, 0) < size($1, 0)")),))
"""Conditions that never hold here: of the shared operand, and of the first and the third root."""


def roots(number: int, when: tuple[Require, ...], count: int) -> float:
    """Several roots with a shared operand, with conditions."""
    x = Any_("x")
    lhs, also = root_pattern(tuple(Op(("graph.exp",), (x,), key=f"root{n}") for n in range(number)))
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
    taken = seconds_to_run(Rule("deep", Op(("graph.tanh",), (below,)), (Bound("x"),)), module)
    assert not any(op.name == "graph.tanh" for op in module.walk())
    return taken


def partition(count: int) -> float:
    """One match in each of many functions."""
    texts = [
        function(f"f{number}", [f"%a = graph.exp %x : ({F}) -> {F}", f"%b = graph.relu %a : ({F}) -> {F}"], "b")
        for number in range(count)
    ]
    module = parse_text(make_context(), "\n".join(texts))
    functions = [op for op in module.body.ops if isinstance(op, func.FuncOp)]
    partitioner = Partitioner(Rule("relu", Op(("graph.relu",), (Op(("graph.exp",), (Any_(),)),)), ()), module)
    return seconds(lambda: [partitioner.run(each) for each in functions])


def load(count: int) -> float:
    """Rules of a file, read, checked and made ready."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.mlir"
        path.write_text(
            "\n".join(f'pattern.rule "r{n}" rounding : exp(%x) * {n}.5 => exp(%x)' for n in range(count)), "utf-8"
        )
        ctx = make_context()
        return seconds(lambda: Driver(ctx, rules_of_file(path, ctx)))


CASES: dict[str, tuple[Callable[[int], float], int]] = {
    "a pair that shares an operand": (partial(roots, 2, ()), 200),
    "three roots": (partial(roots, 3, ()), 200),
    "three roots, a condition on the operand fails": (partial(roots, 3, (NEVER_ONE,)), 200),
    "three roots, a condition on the first and third fails": (partial(roots, 3, (NEVER_TWO,)), 12),
    "alternatives that do not match": (alternatives, 10),
    "a pattern of many levels": (deep, 1000),
    "one match in each function": (partition, 250),
    "rules read": (load, 1000),
}


def main() -> None:
    """Prints seconds and growth of each case."""
    print(f"{'case':<56}{'size':>7}{'seconds':>10}{'x 10':>10}{'growth':>8}")
    for name, (run, size) in CASES.items():
        run(2)
        small = min(run(size) for _ in range(3))
        large = min(run(size * FACTOR) for _ in range(2 if small > 0.5 else 3))
        print(f"{name:<56}{size:>7}{small:>10.4f}{large:>10.4f}{large / small:>8.1f}")


if __name__ == "__main__":
    main()
