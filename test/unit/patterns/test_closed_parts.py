"""Parts of patterns that are matched once per value: the steps of a match stay few, and what is found is the same."""

from __future__ import annotations

import random

import pytest
from random_patterns import random_rule
from random_programs import random_program
from stepwell.core.messages.diagnostics import listening
from stepwell.core.text.parsing import make_context, parse
from stepwell.patterns.language.match import Match, Session
from stepwell.patterns.language.patterns import Any_, Or, Pattern, op
from stepwell.patterns.language.rules import Bound, Require, Rule
from stepwell.patterns.matching import closed_parts
from stepwell.patterns.matching.compiled_rule import compile_rule
from xdsl.dialects.builtin import ModuleOp

F = "tensor<4xf32>"


def chain(length: int) -> ModuleOp:
    """`x + x`, the sum of that with itself, and so on."""
    lines = [f"%v{i + 1} = graph.add %v{i}, %v{i} : ({F}, {F}) -> {F}" for i in range(length)]
    return parse("\n".join([f"func.func @main(%v0: {F}) -> {F} {{", *lines, f"func.return %v{length} : {F}\n}}"]))


def sums(length: int, below: Pattern) -> Pattern:
    """`below`, or a sum of it on either side, and so on."""
    for _ in range(length):
        below = Or((op("graph.add", below, Any_()), op("graph.add", Any_(), below)))
    return below


def match_last(rule: Rule, module: ModuleOp) -> Match:
    (function,) = module.body.block.ops
    last = function.regions[0].block.last_op
    assert last is not None
    return compile_rule(rule).match(last.operands[0].owner, Session(make_context(), module))  # type: ignore[arg-type]


@pytest.mark.parametrize("length", [10, 40])
def test_alternatives_in_a_chain_take_steps_by_its_length(length: int) -> None:
    """Without what is remembered the steps double at each level."""
    match = match_last(Rule("none", sums(length, op("graph.sqrt", Any_())), ()), chain(length))
    assert not match.matched
    assert match.steps <= 4 * length


def test_orders_of_operands_take_few_steps() -> None:
    """A sum of sums whose parts are looked for at several values."""
    tree: Pattern = op("graph.sqrt", Any_())
    for _ in range(12):
        tree = op("graph.add", tree, op("graph.add", Any_(), Any_()))
    module = parse(
        f"func.func @main(%a: {F}, %b: {F}) -> {F} {{\n%v0 = graph.add %a, %b : ({F}, {F}) -> {F}\n"
        f"%w0 = graph.add %b, %a : ({F}, {F}) -> {F}\n"
        + "".join(
            f"%v{i + 1} = graph.add %v{i}, %w{i} : ({F}, {F}) -> {F}\n"
            f"%w{i + 1} = graph.add %w{i}, %v{i} : ({F}, {F}) -> {F}\n"
            for i in range(12)
        )
        + f"func.return %v12 : {F}\n}}"
    )
    match = match_last(Rule("none", tree, ()), module)
    assert not match.matched
    assert match.steps < 200


def test_names_that_are_used_elsewhere_are_tried_in_all_ways() -> None:
    """The condition holds for the second order alone."""
    x, y = Any_(), Any_()
    pattern = op("graph.tanh", op("graph.add", x, op("graph.add", y, Any_())))
    for _ in range(5):
        pattern = op("graph.add", pattern, op("graph.add", Any_(), Any_()))
    module = parse(f"""
    func.func @main(%a: {F}, %b: {F}) -> {F} {{
      %e = graph.exp %b : ({F}) -> {F}
      %s = graph.add %a, %e : ({F}, {F}) -> {F}
      %r = graph.add %a, %s : ({F}, {F}) -> {F}
      %t = graph.add %b, %s : ({F}, {F}) -> {F}
      %v0 = graph.tanh %t : ({F}) -> {F}
      {"".join(f"%v{i + 1} = graph.add %s, %v{i} : ({F}, {F}) -> {F}" + chr(10) for i in range(5))}
      func.return %v5 : {F}
    }}""")
    single = Require("single-use", (y.key,))
    match = match_last(Rule("found", pattern, (), when=(single,)), module)
    assert match.matched
    assert match[y].name_hint == "e"
    assert match[x].name_hint == "b"


def test_a_rule_that_takes_too_long_gives_up_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name at the bottom stands in the replacement, whose type is compared last: nothing is closed."""
    monkeypatch.setattr(closed_parts, "MOST_STEPS", 50)
    kept = Any_()
    rule = Rule("slow", sums(6, op("graph.sqrt", kept)), (Bound(kept.key),))
    found: list[str] = []
    with listening(lambda diagnostic: found.append(f"{diagnostic.severity}: {diagnostic.message}")):
        match = match_last(rule, chain(6))
    assert not match.matched
    assert found == ["warning: 'graph.add': rule 'slow' gave up here after 50 choices"]


def test_random_rules_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without what is remembered, at every op of random programs."""
    matches = 0
    for seed in range(60):
        choose = random.Random(seed)
        module = random_program(choose)
        rule = random_rule(choose, module, derived=seed % 2 == 0)
        ops = [each for each in module.walk() if each.results]
        found = []
        for few in (0, 10**9):
            monkeypatch.setattr(closed_parts, "FEW_WAYS", few)
            try:
                compiled = compile_rule(rule)
            except ValueError:
                break
            session = Session(make_context(), module)
            found.append([_named(compiled.match(each, session)) for each in ops])
        assert found[:1] == found[1:], rule
        matches += sum(each is not None for each in found[0]) if found else 0
    assert matches > 60


def _named(match: Match) -> dict[str, object] | None:
    return {key: thing for key, thing in match.bound.items() if "." not in key and key} if match.matched else None
