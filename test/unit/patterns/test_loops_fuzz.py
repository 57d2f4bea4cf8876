"""Random patterns of loops on random loop functions: the engine finds what `slow_loops.py` finds, and binds it so."""

from __future__ import annotations

import random
from itertools import islice

import pytest
from counts import FULL
from random_loops import random_loops, random_loops_pattern
from slow_loops import rule_assignments
from stepwell.dialects.tensor_loop import BlockOp, FuncOp, LoopOp
from stepwell.patterns.language.patterns import all_below
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.language.rules import Rule
from stepwell.patterns.matching.compiled_rule import compile_rule
from stepwell.patterns.running.explain import explain
from stepwell.patterns.running.matching import match_compiled
from xdsl.ir import Operation

PAIRS = 20_000 if FULL else 240
CHUNKS = 8
TAKEN = 2000


def same(one: object, other: object) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
    return one is other


def random_rule(choose: random.Random) -> tuple[Rule, list[Operation]]:
    """A rule, and the places where it may match. The pattern is mostly of the same module."""
    module = random_loops(choose)
    pattern, when = random_loops_pattern(choose, module if choose.random() < 0.75 else random_loops(choose))
    rule = Rule("t", pattern, (), when, injective=choose.random() < 0.15)
    return rule, [op for op in module.walk() if isinstance(op, BlockOp | LoopOp | FuncOp)]


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_against_the_slow_matcher(chunk: int) -> None:
    matching = 0
    for seed in range(chunk, PAIRS, CHUNKS):
        rule, places = random_rule(random.Random(seed))
        try:
            compiled = compile_rule(rule)
        except RuleError as error:  # An axis of a kind that the loops do not have.
            assert "is spatial or reduce" in error.message or "is serial or parallel" in error.message
            assert not any(any(rule_assignments(rule, op)) for op in places)
            continue
        keys = {part.key for part in all_below(rule.lhs)}
        matched = False
        for op in places:
            ways = list(islice(rule_assignments(rule, op), TAKEN))
            found = match_compiled(compiled, op)
            assert found.matched is bool(ways), f"seed {seed}: {rule!r}\n{op}"
            if found.matched:
                matched = True
                bound = {key: thing for key, thing in found.bound.items() if key in keys}
                wanted = [way for way in ways if all(same(way.get(key), thing) for key, thing in bound.items())]
                assert wanted, f"seed {seed}: {rule!r}\n{op}"
        matching += matched
    assert matching > PAIRS / CHUNKS / 4, "patterns match often"


def test_explaining_never_crashes_and_agrees() -> None:
    for seed in range(PAIRS // 4):
        rule, places = random_rule(random.Random(seed + 10_000_000))
        try:
            compiled = compile_rule(rule)
        except RuleError:
            continue
        for op in places:
            found = explain(rule, op)
            assert found.matched is match_compiled(compiled, op).matched
            assert found.matched or found.reason
