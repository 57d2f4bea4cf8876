"""Roots that a failed condition is not about are jumped over, and the match that is found is the first one still."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations

import pytest
from stepwell.core import make_context, parse_text
from stepwell.patterns import Any_, Bound, Driver, Op, Require, Rule, create
from stepwell.patterns.language.match import Match
from stepwell.patterns.language.patterns import Pattern
from stepwell.patterns.language.registry import Thing, condition
from stepwell.patterns.language.rules import root_pattern
from stepwell.patterns.matching.compiled_rule import compile_rule
from stepwell.patterns.running.matching import match_compiled
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

F = "tensor<4x4xf32>"
CTX = make_context()
ASKED: list[tuple[str, ...]] = []
"""The names of what the conditions of this file were asked about, in order."""
HOLDS: set[tuple[str, ...]] = set()
"""The names for which they hold."""


def names_of(things: Sequence[Thing]) -> tuple[str, ...]:
    values = [each.results[0] if isinstance(each, Operation) else each for each in things]
    return tuple(str(each.name_hint) for each in values)


@condition("test-pair")
def pair(match: Match, one: Thing, other: Thing) -> bool:
    ASKED.append(names_of((one, other)))
    return names_of((one, other)) in HOLDS


@condition("test-all-roots")
def all_roots(match: Match, thing: Thing) -> bool:
    """Looks at roots that it is not about."""
    ASKED.append(names_of(match.roots))
    return names_of(match.roots) in HOLDS


def users_of_one_value(count: int) -> ModuleOp:
    lines = [f"%v{number} = graph.exp %x : ({F}) -> {F}" for number in range(count)]
    returned, types = ", ".join(f"%v{number}" for number in range(count)), ", ".join([F] * count)
    body = "\n".join(lines)
    return parse_text(CTX, f"func.func @main(%x: {F}) -> ({types}) {{\n{body}\nfunc.return {returned} : {types}\n}}")


def several(count: int, *conditions: Require, injective: bool = False) -> Rule:
    x = Any_("x")
    lhs, also = root_pattern(tuple(Op(("graph.exp",), (x,), key=f"root{number}") for number in range(count)))
    rhs = tuple(create("graph.tanh", Bound("x")) for _ in range(count))
    return Rule("several", lhs, rhs, also=also, when=conditions, injective=injective)


@pytest.mark.parametrize("remark", [None, "it never holds"])
@pytest.mark.parametrize(("roots", "last"), [(3, 2), (4, 3)])
def test_a_condition_is_asked_once_for_each_pair_it_is_about(roots: int, last: int, remark: str | None) -> None:
    """With one root between them, and a choice of 12 for it, it would be asked 12 * 11 * 10 times."""
    ASKED.clear()
    HOLDS.clear()
    rule = several(roots, Require("test-pair", ("root0", f"root{last}"), remark=remark))
    Driver(CTX, [rule]).run(users_of_one_value(12))
    assert len(set(ASKED)) == 12 * 11
    assert len(ASKED) <= 12 * 11 * (1 if remark is None else 2)


def test_a_condition_on_all_roots_is_asked_for_each_choice() -> None:
    ASKED.clear()
    HOLDS.clear()
    Driver(CTX, [several(3, Require("test-all-roots", ("root0",)))]).run(users_of_one_value(5))
    assert set(ASKED) == set(permutations([f"v{number}" for number in range(5)], 3))


def test_an_op_that_another_root_took_is_tried_when_that_root_moves_on() -> None:
    """The only third root is at first the second one."""
    HOLDS.clear()
    HOLDS.update({("v2", "v0"), ("v0", "v1")})
    for roots in (("root0", "root2"), ("root2", "root1")):
        module = users_of_one_value(4)
        assert Driver(CTX, [several(3, Require("test-pair", roots))]).run(module)
        assert sum(op.name == "graph.tanh" for op in module.walk()) == 3


def random_conditions(choose: random.Random, roots: int, names: list[str]) -> list[Require]:
    """Conditions on two roots, or on all, that hold for a third of all choices."""
    HOLDS.clear()
    for size in (2, roots):
        HOLDS.update(each for each in permutations(names, size) if choose.random() < 0.35)
    pairs = [choose.sample(range(roots), 2) for _ in range(choose.randrange(1, 4))]
    made = [Require("test-pair", (f"root{a}", f"root{b}"), remark=choose.choice([None, "no"])) for a, b in pairs]
    return [*made, *([Require("test-all-roots", ("root1",))] if choose.random() < 0.3 else [])]


def expected(conditions: list[Require], roots: int, first: str, names: list[str]) -> tuple[str, ...] | None:
    """The first choice of roots, in program order, for which all conditions hold."""
    for chosen in permutations(names, roots):
        asked = [
            chosen if each.name == "test-all-roots" else tuple(chosen[int(key[-1])] for key in each.keys)
            for each in conditions
        ]
        if chosen[0] == first and all(each in HOLDS for each in asked):
            return chosen
    return None


@pytest.mark.parametrize("seed", range(60))
def test_the_first_match_is_found(seed: int) -> None:
    choose = random.Random(seed)
    roots, count = choose.choice([(3, 5), (3, 6), (4, 5)])
    names = [f"v{number}" for number in range(count)]
    conditions = random_conditions(choose, roots, names)
    rule = several(roots, *conditions, injective=choose.random() < 0.3)
    main = users_of_one_value(count).body.block.first_op
    assert isinstance(main, Operation)
    compiled = compile_rule(Rule("same", rule.lhs, (), also=rule.also, when=rule.when, injective=rule.injective))
    for op in list(main.regions[0].block.ops)[:-1]:
        value: SSAValue = op.results[0]
        found = match_compiled(compiled, value)
        wanted = expected(conditions, roots, str(value.name_hint), names)
        assert (names_of(found.roots) if found.matched else None) == wanted


def test_a_test_between_values_in_the_pattern_may_fail_for_one_of_two_third_roots() -> None:
    """The third root has the shape of the first one, which its test says."""
    x = Any_("x")
    first: Pattern = Op(("graph.sum",), (x,), key="root0")
    third = Op(("graph.sum",), (x,), key="root2").same_type(first)
    lhs, also = root_pattern((first, Op(("graph.exp",), (x,), key="root1"), third))
    text = f"""func.func @main(%x: {F}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x1xf32>, {F}) {{
      %s = graph.sum %x, axis = [0] : ({F}) -> tensor<4xf32>
      %t = graph.sum %x, axis = [1], keepdims = true : ({F}) -> tensor<4x1xf32>
      %u = graph.sum %x, axis = [1] : ({F}) -> tensor<4xf32>
      %e = graph.exp %x : ({F}) -> {F}
      func.return %s, %u, %t, %e : tensor<4xf32>, tensor<4xf32>, tensor<4x1xf32>, {F}
    }}"""
    main = parse_text(CTX, text).body.block.first_op
    assert isinstance(main, Operation)
    values = {str(op.results[0].name_hint): op.results[0] for op in main.walk() if op.results}
    rule = compile_rule(Rule("same", lhs, (), also=also))
    found = match_compiled(rule, values["s"])
    assert found.matched and names_of(found.roots) == ("s", "e", "u")
    assert not match_compiled(rule, values["t"]).matched
