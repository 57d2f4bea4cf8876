"""Sweeps: order, overlaps, rules that apply once, the cap; statistics of patterns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from stepwell.core.ir.verification import verify_module
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.language.match import Match
from stepwell.patterns.language.patterns import Any_, Rest, Splat, is_op, op
from stepwell.patterns.language.rules import Rule, create, rule
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.running.statistics import collecting_pattern_statistics, statistics_table
from stepwell.patterns.running.sweeps import callback, rewrite, rewrite_once
from xdsl.dialects.builtin import FloatAttr, ModuleOp, TensorType, f32, f64

CTX = make_context()
F = "tensor<4xf32>"
a, b = Any_("a"), Any_("b")
exp, relu, tanh, add, mul, sub, div = (
    is_op(f"graph.{name}") for name in ("exp", "relu", "tanh", "add", "multiply", "subtract", "divide")
)


def module_of(*lines: tuple[str, ...]) -> ModuleOp:
    """`main` on %x, %y; each line is a result, an op and its operands; the last result is returned."""
    body = "\n".join(
        f"%{name} = graph.full {rest[0]} : {F}" if kind == "full"
        else f"%{name} = graph.{kind} {', '.join(f'%{each}' for each in rest)} : ({', '.join(F for _ in rest)}) -> {F}"
        for name, kind, *rest in lines
    )  # fmt: skip
    text = f"func.func @main(%x: {F}, %y: {F}) -> {F} {{\n{body}\nfunc.return %{lines[-1][0]} : {F}\n}}"
    return parse_text(CTX, text, "t.mlir")


def names(module: ModuleOp) -> list[str]:
    verify_module(module)
    return [each.name.removeprefix("graph.") for each in module.walk() if each.name.startswith("graph.")]


def test_callback_makes_the_replacement() -> None:
    def to_subtract(match: Match) -> Any:
        return match.create("graph.subtract", [match[a], match[b]])

    module = module_of(("q", "relu", "x"), ("r", "add", "q", "y"))
    report = rewrite([callback("add-to-subtract", add(a, b), to_subtract)], module, ctx=CTX)
    assert names(module) == ["relu", "subtract"]
    assert report and report.hits == {"add-to-subtract": 1}


@pytest.mark.parametrize("made", [lambda match: None, lambda match: match.root, lambda match: match.root.results[0]])
def test_callback_may_change_nothing(made: Any) -> None:
    module = module_of(("r", "add", "x", "y"))
    assert not rewrite([callback("keep", add(a, b), made)], module, ctx=CTX)
    assert names(module) == ["add"]


def test_callback_of_another_type_is_an_error_that_names_it() -> None:
    def longer(match: Match) -> Any:
        return match.create("graph.full", [], [TensorType(f32, [5])], {"value": FloatAttr(0.0, f64)})

    module = module_of(("r", "add", "x", "y"))
    with pytest.raises(OperationError, match="rule 'grow' changes the type from tensor<4xf32> to tensor<5xf32>"):
        rewrite([callback("grow", add(a, b), longer)], module, ctx=CTX)


def test_one_rule_is_no_list_of_rules() -> None:
    with pytest.raises(TypeError, match="^rules is one rule, 'keep', expected a list of rules$"):
        rewrite(rule("keep", add(a, b), a), module_of(("r", "add", "x", "y")), ctx=CTX)  # pyright: ignore


ALGEBRA = [
    rule("divide-by-one", div(a, Splat(1.0)), a),
    rule("times-one", mul(a, Splat(1.0)), a),
    rule("times-zero", mul(a, zero := Splat(0.0)), zero),
    rule("minus-zero", sub(a, Splat(0.0)), a),
    rule("plus-zero", add(a, Splat(0.0)), a),
    rule("zero-over", div(zero_ := Splat(0.0), a), zero_),
]


def test_algebra_until_nothing_changes() -> None:
    """(x + 0 * y) / 1 + y * 1 - 0 / x = x + y."""
    module = module_of(
        ("z", "full", "0.0"), ("o", "full", "1.0"), ("p", "multiply", "z", "y"), ("q", "add", "x", "p"),
        ("d", "divide", "q", "o"), ("m", "multiply", "y", "o"), ("s", "add", "d", "m"), ("n", "divide", "z", "x"),
        ("r", "subtract", "s", "n"),
    )  # fmt: skip
    rewrite(ALGEBRA, module, ctx=CTX)
    assert names(module) == ["add"]


def drop_last(**settings: Any) -> Rule:
    """A sum without its last term."""
    return callback("drop", add(a, b), lambda match: match[a], **settings)


def test_once_and_again() -> None:
    lines = (("p", "add", "x", "y"), ("q", "add", "p", "y"), ("r", "add", "q", "y"))
    module = module_of(*lines)
    assert rewrite([drop_last()], module, ctx=CTX).sweeps == 1, "one sweep meets all of them"
    assert names(module) == []


def test_a_rule_that_makes_its_pattern_again_retires_after_one_sweep() -> None:
    wrap = callback(
        "wrap",
        relu(a),
        lambda match: match.create("graph.relu", match.create("graph.exp", [match[a]]).results),
    )
    peel = callback("peel", tanh(tanh(a)), lambda match: match.create("graph.tanh", [match[a]]))
    module = module_of(
        ("t", "tanh", "x"), ("u", "tanh", "t"), ("v", "tanh", "u"), ("q", "relu", "v"), ("s", "relu", "q")
    )
    report = rewrite_once([wrap], module, ctx=CTX)
    assert names(module) == ["tanh"] * 3 + ["exp", "relu", "exp", "relu"], "one sweep rewrites both"
    assert report.sweeps == 1 and report.hits == {"wrap": 2}
    report = rewrite([replace(wrap, once=True), peel], module, ctx=CTX)
    assert names(module) == ["tanh", "exp", "exp", "relu", "exp", "exp", "relu"], "the other rule goes on"
    assert report.hits["wrap"] == 2 and report.sweeps == 2


def test_outer_match_wins() -> None:
    seen: list[str] = []

    def note(match: Match) -> Any:
        seen.append(match.root.results[0].name_hint or "")
        return match.create("graph.tanh", [match[a]])

    module = module_of(("p", "exp", "x"), ("q", "exp", "p"), ("r", "exp", "q"))
    rewrite([callback("pair", exp(exp(a)), note)], module, ctx=CTX)
    assert seen == ["r"] and names(module) == ["exp", "tanh"]


def test_overlapping_matches_wait_for_the_next_sweep() -> None:
    """Both exps of the relu are roots; they share the relu."""
    module = module_of(("q", "relu", "x"), ("e", "exp", "q"), ("f", "exp", "q"), ("r", "add", "e", "f"))
    report = rewrite([rule("t", exp(relu(a)), create("graph.tanh", a))], module, ctx=CTX)
    assert report.sweeps == 2 and report.hits == {"t": 2}
    assert names(module) == ["tanh", "tanh", "add"]


def test_rules_that_alternate_are_named() -> None:
    swap = [
        rule("there", sub(a, b), create("graph.add", a, b)),
        rule("back", add(a, b), create("graph.subtract", a, b)),
    ]
    module = module_of(("r", "subtract", "x", "y"))
    with pytest.raises(OperationError, match="no fixed point after 7 sweeps; the last one was by '(there|back)'"):
        rewrite(swap, module, ctx=CTX, limit=7)


def test_any_arity_in_a_rule() -> None:
    rest = Rest()
    module = module_of(("q", "relu", "x"), ("r", "add", "q", "y"))
    rewrite([rule("t", op("graph.add", relu(a), rest), create("graph.multiply", a, rest))], module, ctx=CTX)
    assert names(module) == ["multiply"]


def test_pattern_statistics() -> None:
    relus = rule("relus", relu(relu(a)), create("graph.relu", a))
    module = module_of(("p", "relu", "x"), ("q", "relu", "p"), ("r", "exp", "q"), ("s", "relu", "r"))
    with collecting_pattern_statistics() as collected:
        Driver(CTX, [relus]).run(module)
    assert collected["relus"].hits == 1 and collected["relus"].tries == 1  # not where no relu is below
    assert collected["relus"].milliseconds > 0
    head, row = statistics_table(collected).splitlines()
    assert head.split() == ["tries", "hits", "ms", "rule"] and row.split()[:2] == ["1", "1"]
