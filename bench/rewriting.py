"""
Measures what rewriting costs: a walk that matches nothing against xDSL's greedy driver and `apply-pdl`, one rule
against thirty, and the whole of `graph-optimize` on transformer-like graphs of growing size.

    python bench/rewriting.py [--length 20000] [--rounds 5]

All engines get the same program and the same rules: each rule is a few ops in an order that the program never has, so
that every engine has to look below the root. Rounds are interleaved; medians count.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

from stepwell.core import make_context, parse_pipeline, parse_text
from stepwell.patterns import Any_, Bound, Driver, Op, Rule
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.transforms.apply_pdl import ApplyPDLPass

F = "tensor<16x16xf32>"
CHAIN = ("exp", "tanh", "negative", "abs", "sigmoid", "relu")
"""The ops of the program, each on the one before; a rule wants another order."""

Wanted = tuple[str, ...]
"""The left side of a rule: an op, the op that makes its operand, and so on."""

SHALLOW: list[Wanted] = [
    (f"graph.{root}", f"graph.{below}")
    for number, root in enumerate(CHAIN)
    for below in (*CHAIN, "sqrt")
    if below not in (CHAIN[number - 1], root)
]
"""Rules that fail at the operand of the root."""

DEEP: list[Wanted] = [
    (f"graph.{root}", f"graph.{CHAIN[number - 1]}", f"graph.{below}")
    for number, root in enumerate(CHAIN)
    for below in (*CHAIN, "sqrt")
    if below not in (CHAIN[number - 2], root)
]
"""Rules that fail one op further down only."""


def chain(length: int) -> ModuleOp:
    """A function of `length` elementwise ops, each on the result of the one before."""
    lines = [f"%v{i + 1} = graph.{CHAIN[i % len(CHAIN)]} %v{i} : ({F}) -> {F}" for i in range(length)]
    body = "\n".join(lines)
    text = f"func.func @main(%v0: {F}) -> {F} {{\n{body}\nfunc.return %v{length} : {F}\n}}"
    return parse_text(make_context(), text, "chain.mlir")


# The same rules for the three engines


def our_driver(ctx: Context, rules: list[Wanted]) -> Driver:
    """Ours: the root of `a(b(x))` becomes `x`."""
    made: list[Rule] = []
    for names in rules:
        pattern = Any_("x")
        for name in reversed(names):
            pattern = Op((name,), (pattern,))
        made.append(Rule("-of-".join(names), pattern, (Bound("x"),)))
    return Driver(ctx, made)


class _Chain(RewritePattern):
    """xDSL's: the same as a Python pattern, the test of the root first."""

    def __init__(self, classes: list[type[Operation]]):
        self._root, *self._below = classes

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, self._root):
            return
        value = op.operands[0]
        for wanted in self._below:
            if not isinstance(below := value.owner, wanted):
                return
            value = below.operands[0]
        rewriter.replace(op, [], [value])


def greedy_walker(ctx: Context, rules: list[Wanted]) -> PatternRewriteWalker:
    """xDSL's greedy driver, as `canonicalize` uses it."""
    patterns: list[RewritePattern] = [_Chain([ctx.get_op(name) for name in names]) for names in rules]
    return PatternRewriteWalker(GreedyRewritePatternApplier(patterns, dce_enabled=False))


def pdl_text(rules: list[Wanted]) -> str:
    """The rules as PDL."""
    return "\n".join(_pdl_rule(number, names) for number, names in enumerate(rules))


def _pdl_rule(number: int, names: Wanted) -> str:
    lines, value = ["%type = pdl.type", "%x = pdl.operand"], "%x"
    for depth, name in enumerate(reversed(names)):
        lines.append(f'%op{depth} = pdl.operation "{name}" ({value} : !pdl.value) -> (%type : !pdl.type)')
        lines.append(f"%value{depth} = pdl.result 0 of %op{depth}")
        value = f"%value{depth}"
    root = f"%op{len(names) - 1}"
    lines.append(f"pdl.rewrite {root} {{ pdl.replace {root} with (%x : !pdl.value) }}")
    body = "\n".join(lines)
    return f"pdl.pattern @rule{number} : benefit(1) {{\n{body}\n}}"


def seconds(action: Callable[[], object]) -> float:
    """Processor time of one call."""
    start = time.process_time()
    action()
    return time.process_time() - start


def no_match(title: str, rules: list[Wanted], length: int, rounds: int) -> None:
    """Prints the walk that matches nothing, per engine and number of rules."""
    assert len(rules) == 30
    ctx = make_context()
    module = chain(length)
    before = str(module)
    with_pdl = parse_text(ctx, f"{before}\n{pdl_text(rules)}", "chain.mlir")
    engines: dict[str, Callable[[], object]] = {
        "stepwell, 30 rules": lambda: our_driver(ctx, rules).run(module),
        "stepwell, 1 rule": lambda: our_driver(ctx, rules[:1]).run(module),
        "xDSL greedy driver, 30 rules": lambda: greedy_walker(ctx, rules).rewrite_module(module),
        "xDSL apply-pdl, 30 rules": lambda: ApplyPDLPass().apply(ctx, with_pdl),
    }
    figures: dict[str, list[float]] = {name: [] for name in engines}
    for _ in range(rounds):
        for name, action in engines.items():
            figures[name].append(seconds(action))
    if str(module) != before:
        raise SystemExit("a rule matched, and was not to")
    ours = figures["stepwell, 30 rules"]
    print(f"a walk over {length} ops that matches nothing, {title} ({rounds} rounds):")
    for name, times in figures.items():
        ratio = statistics.median(other / mine for other, mine in zip(times, ours, strict=True))
        each = statistics.median(times) / length * 1e6
        print(f"  {name:30} {each:8.2f} us/op   {ratio:7.2f} of ours with 30 rules")


# graph-optimize


def transformer(blocks: int, width: int = 64, tokens: int = 32) -> str:
    """A stack of attention and feed-forward blocks in elementary ops, about 36 ops each."""
    row, square = f"tensor<{tokens}x{width}xf32>", f"tensor<{tokens}x{tokens}xf32>"
    one, weight, bias = f"tensor<{tokens}x1xf32>", f"tensor<{width}x{width}xf32>", f"tensor<{width}xf32>"
    lines: list[str] = []

    def put(text: str) -> str:
        lines.append(f"%{len(lines)} = {text}")
        return f"%{len(lines) - 1}"

    def binary(op: str, a: str, b: str, a_type: str, b_type: str, result: str) -> str:
        return put(f"graph.{op} {a}, {b} : ({a_type}, {b_type}) -> {result}")

    def norm(x: str) -> str:
        mean = put(f"graph.mean {x}, axis = [1], keepdims = true : ({row}) -> {one}")
        centred = binary("subtract", x, mean, row, one, row)
        squared = binary("multiply", centred, centred, row, row, row)
        variance = put(f"graph.mean {squared}, axis = [1], keepdims = true : ({row}) -> {one}")
        epsilon = put(f"graph.full 1.0e-05 : {one}")
        root = put(f"graph.sqrt {binary('add', variance, epsilon, one, one, one)} : ({one}) -> {one}")
        scaled = binary("divide", centred, root, row, one, row)
        return binary("add", binary("multiply", scaled, "%gamma", row, bias, row), "%beta", row, bias, row)

    def linear(x: str, number: int) -> str:
        product = binary("matmul", x, f"%w{number}", row, weight, row)
        return binary("add", product, "%b", row, bias, row)

    x = "%x"
    for _ in range(blocks):
        y = norm(x)
        q, k, v = (linear(y, number) for number in range(3))
        flipped_type = f"tensor<{width}x{tokens}xf32>"
        flipped = put(f"graph.permute_dims {k}, axes = [1, 0] : ({row}) -> {flipped_type}")
        scores = binary("matmul", q, flipped, row, flipped_type, square)
        scale = put(f"graph.full 0.125 : {square}")
        scores = binary("multiply", scores, scale, square, square, square)
        probabilities = put(f"graph.softmax {scores}, axis = 1 : ({square}) -> {square}")
        mixed = linear(binary("matmul", probabilities, v, square, row, row), 3)
        x = binary("add", x, mixed, row, row, row)
        hidden = put(f"graph.gelu {linear(norm(x), 4)} : ({row}) -> {row}")
        x = binary("add", x, linear(hidden, 5), row, row, row)
    arguments = [
        f"%x: {row}",
        *(f"%w{n}: {weight}" for n in range(6)),
        *(f"%{n}: {bias}" for n in ("b", "gamma", "beta")),
    ]
    body = "\n".join(lines)
    return f"func.func @main({', '.join(arguments)}) -> {row} {{\n{body}\nfunc.return {x} : {row}\n}}"


def graph_optimize(sizes: list[int]) -> None:
    """Prints the time of `graph-optimize`, whole and per pass."""
    for size in sizes:
        ctx = make_context()
        per_block = len(transformer(1).splitlines()) - 3
        module = parse_text(ctx, transformer(max(1, round(size / per_block))), "transformer.mlir")
        ops = sum(1 for _ in module.walk())
        print(f"graph-optimize on a transformer of {ops} ops:")
        total = 0.0
        for each in parse_pipeline("graph-optimize"):
            spent = seconds(partial(each.apply, ctx, module))
            total += spent
            print(f"  {each.name:28} {spent:7.3f} s {spent / ops * 1e6:8.1f} us/op")
        print(f"  {'all':28} {total:7.3f} s {total / ops * 1e6:8.1f} us/op")


def main() -> None:
    """Both measurements."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--length", type=int, default=20_000)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--sizes", type=int, nargs="*", default=[2000, 20_000])
    chosen = arguments.parse_args()
    no_match("rules that fail at the operand", SHALLOW, chosen.length, chosen.rounds)
    no_match("rules that fail one op further down", DEEP, chosen.length, chosen.rounds)
    graph_optimize(chosen.sizes)


if __name__ == "__main__":
    main()
