"""What a match of many ways costs: conditions are tried early, and users of a value are kept in order."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import cache
from typing import Final

import pytest
from stepwell.core import make_context, parse_text
from stepwell.core.messages.locations import LineCounter
from stepwell.patterns import Any_, Bound, Driver, Op, Or, Require, Rule, create
from stepwell.patterns.language.constraints import And
from stepwell.patterns.language.equivalence import BlockOrder
from stepwell.patterns.language.match import Match, Session, users_of
from stepwell.patterns.language.patterns import Pattern
from stepwell.patterns.language.registry import Thing, condition
from stepwell.patterns.language.rules import root_pattern
from stepwell.patterns.language.users import Users
from stepwell.patterns.matching.compile_structures import Symbols
from stepwell.patterns.matching.compiled_rule import compile_rule
from stepwell.patterns.matching.deep_patterns import CALLS_PER_LEVEL, FEW_LEVELS, room_for
from stepwell.patterns.running.matching import match, match_compiled
from stepwell.patterns.running.partition import Partitioner
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue

F = "tensor<4x4xf32>"

ASKED: list[str] = []
"""What the conditions of this file were asked, in order."""


@condition("test-never")
def never(match: Match, thing: Thing) -> bool:
    ASKED.append("never")
    return False


@condition("test-never-with-remark")
def never_with_remark(match: Match, thing: SSAValue) -> bool:
    ASKED.append("remark")
    return False


@condition("test-is-q")
def is_q(match: Match, thing: SSAValue) -> bool:
    return thing.name_hint == "q"


@condition("test-sees-all")
def sees_all(match: Match, thing: SSAValue) -> bool:
    """Looks at what the condition is not about, which a match that is not complete cannot answer."""
    ASKED.append("all")
    return len(match.roots) == 3


@condition("test-users-in-order")
def users_in_order(match: Match, thing: SSAValue) -> bool:
    listed = match.session.index(Users).of(thing, ())
    order = match.session.index(BlockOrder)
    wanted = order.ordered(users_of((thing,)))
    ASKED.append("same" if listed is not None and list(listed) == wanted else "other")
    return True


def many_users(count: int) -> ModuleOp:
    """`count` times exp of one value, all summed up."""
    lines = [f"%v{number} = graph.exp %x : ({F}) -> {F}" for number in range(count)]
    lines += [f"%s{n} = graph.add %{f's{n - 1}' if n else 'x'}, %v{n} : ({F}, {F}) -> {F}" for n in range(count)]
    body = "\n".join(lines)
    return parse_text(
        make_context(), f"func.func @main(%x: {F}) -> {F} {{\n{body}\nfunc.return %s{count - 1} : {F}\n}}"
    )


def several(count: int, *conditions: Require) -> Rule:
    """Several ops exp of one value become as many tanh."""
    x = Any_("x")
    lhs, also = root_pattern(tuple(Op(("graph.exp",), (x,), key=f"root{number}") for number in range(count)))
    rhs = tuple(create("graph.tanh", Bound("x")) for _ in range(count))
    return Rule("several", lhs, rhs, also=also, when=conditions)


def test_a_condition_on_what_the_first_root_binds_is_asked_once_a_root() -> None:
    ASKED.clear()
    module = many_users(20)
    Driver(make_context(), [several(3, Require("test-never", ("x",)))]).run(module)
    assert ASKED == ["never"] * 20  # Behind the last choice it would be 20 * 19 * 18 times.


def test_a_condition_on_the_second_root_is_asked_once_a_pair() -> None:
    ASKED.clear()
    Driver(make_context(), [several(3, Require("test-never", ("root1",)))]).run(many_users(8))
    assert ASKED == ["never"] * (8 * 7)


def test_a_condition_with_a_remark_waits_for_the_whole_match() -> None:
    ASKED.clear()
    rule = several(2, Require("test-never-with-remark", ("x",), remark="it never holds"))
    Driver(make_context(), [rule]).run(many_users(4))
    assert ASKED == ["remark"] * (4 * 3)


def test_a_condition_that_looks_at_the_whole_match_waits_for_it() -> None:
    ASKED.clear()
    module = many_users(3)
    assert Driver(make_context(), [several(3, Require("test-sees-all", ("x",)))]).run(module)
    assert sum(op.name == "graph.tanh" for op in module.walk()) == 3


def test_a_rule_of_few_ways_asks_at_the_end_alone() -> None:
    ASKED.clear()
    second = Op(("graph.exp",), (Any_("y"),)).has_shape(7)
    rule = Rule("few", Op(("graph.add",), (Any_("x"), second)), (Bound("x"),), when=(Require("test-never", ("x",)),))
    Driver(make_context(), [rule]).run(many_users(5))
    assert ASKED == []


def test_a_negation_asks_nothing_of_the_value_that_it_meets_inside() -> None:
    """The sum has a tanh, whatever holds of the value below that tanh."""
    x, y = Any_("x"), Any_("y")
    first: Pattern = Op(("graph.add",), (~Op(("graph.tanh",), (y,)) & Any_("a"), y), key="root0")
    lhs, also = root_pattern((first, Op(("graph.multiply",), (y, x), key="root1")))
    rule = Rule("no_tanh", lhs, (Bound("y"), Bound("y")), also=also, when=(Require("test-is-q", ("y",)),))
    text = f"""func.func @main(%p: {F}, %q: {F}) -> ({F}, {F}) {{
      %t = graph.tanh %p : ({F}) -> {F}
      %s = graph.add %t, %q : ({F}, {F}) -> {F}
      %m = graph.multiply %q, %q : ({F}, {F}) -> {F}
      func.return %s, %m : {F}, {F}
    }}"""
    assert not Driver(make_context(), [rule]).run(parse_text(make_context(), text))
    assert Driver(make_context(), [rule]).run(parse_text(make_context(), text.replace("graph.tanh", "graph.exp")))


@pytest.mark.parametrize("seed", range(3))
def test_users_stay_in_order_while_the_program_changes(seed: int) -> None:
    ASKED.clear()
    module = random_program(seed, size=60)
    x = Any_("x")
    rules = [
        several(2, Require("test-users-in-order", ("x",))),
        Rule("tanh", Op(("graph.tanh",), (x,)), (create("graph.abs", create("graph.relu", Bound("x"))),)),
        Rule("relu", Op(("graph.relu",), (Op(("graph.abs",), (x,)),)), (Bound("x"),)),
        Rule("same", Op(("graph.subtract",), (x, x)), (create("graph.exp", Bound("x")),)),
    ]
    Driver(make_context(), rules).run(module)
    assert set(ASKED) == {"same"}
    assert len(ASKED) > 20


def random_program(seed: int, size: int) -> ModuleOp:
    choose = random.Random(seed)
    lines: list[str] = []
    values = ["%x"]
    for number in range(size):
        recent = values[-6:] + values[:2]
        name = choose.choice(["exp", "exp", "exp", "abs", "subtract", "add"])
        taken = [choose.choice(recent) for _ in range(2 if name in ("subtract", "add") else 1)]
        types = ", ".join([F] * len(taken))
        lines.append(f"%v{number} = graph.{name} {', '.join(taken)} : ({types}) -> {F}")
        values.append(f"%v{number}")
    returned, types = ", ".join(values[1:]), ", ".join([F] * size)
    body = "\n".join(lines)
    return parse_text(
        make_context(), f"func.func @main(%x: {F}) -> ({types}) {{\n{body}\nfunc.return {returned} : {types}\n}}"
    )


def test_one_partitioner_takes_all_functions_of_a_module() -> None:
    bodies = "\n".join(
        f"func.func @f{n}(%x: {F}) -> {F} {{\n%0 = graph.exp %x : ({F}) -> {F}\nfunc.return %0 : {F}\n}}"
        for n in range(3)
    )
    module = parse_text(make_context(), bodies)
    rule = Rule("exp", Op(("graph.exp",), (Any_("x"),)), ())
    partitioner = Partitioner(rule, module)
    functions = [op for op in module.body.ops if isinstance(op, func.FuncOp)]
    made = [each.sym_name.data for function in functions for each in partitioner.run(function)]
    assert made == ["partitioned0", "partitioned1", "partitioned2"]
    module.verify()


def test_a_pattern_of_ten_thousand_levels_matches() -> None:
    levels, limit = 10_000, sys.getrecursionlimit()
    below: Pattern = Any_("x")
    for _ in range(levels):
        below = Op(("graph.exp",), (below,))
    lines = [f"%v{n + 1} = graph.exp %{f'v{n}' if n else 'x'} : ({F}) -> {F}" for n in range(levels)]
    text = [*lines, f"%last = graph.tanh %v{levels} : ({F}) -> {F}", f"func.return %last : {F}"]
    module = parse_text(make_context(), f"func.func @main(%x: {F}) -> {F} {{\n" + "\n".join(text) + "\n}")
    assert Driver(make_context(), [Rule("deep", Op(("graph.tanh",), (below,)), (Bound("x"),))]).run(module)
    assert [op.name for op in module.walk()] == ["func.return", "func.func", "builtin.module"][::-1]
    assert sys.getrecursionlimit() == limit


LAYERS: Final[tuple[Callable[[Op], Pattern], ...]] = (
    lambda below: below.has_dtype("f32"),
    lambda below: below.single_use(),
    lambda below: And((below, Any_())),
    lambda below: below.result(None),
)


@pytest.mark.ci_cases(0)
def test_a_pattern_of_many_levels_of_several_forms_matches() -> None:
    """The matchers call each other in Python alone: the stack of the process has no room for so many calls."""
    levels = 8000
    below: Pattern = Any_("x")
    for number in range(levels):
        below = LAYERS[number % len(LAYERS)](Op(("graph.exp",), (below,)))
    compiled = compile_rule(Rule("deep", Op(("graph.tanh",), (below,)), (Bound("x"),)))
    assert match_compiled(compiled, row(levels)).matched
    assert not match_compiled(compiled, row(60)).matched


@cache
def row(levels: int) -> SSAValue:
    """The tanh of so many exp in a row."""
    lines = [f"%v{n + 1} = graph.exp %{f'v{n}' if n else 'x'} : ({F}) -> {F}" for n in range(levels)]
    text = [*lines, f"%last = graph.tanh %v{levels} : ({F}) -> {F}", f"func.return %last : {F}"]
    module = parse_text(make_context(), f"func.func @main(%x: {F}) -> {F} {{\n" + "\n".join(text) + "\n}")
    (found,) = (op.results[0] for op in module.walk() if op.name == "graph.tanh")
    KEPT.append(module)
    return found


KEPT: list[ModuleOp] = []
"""The programs of `row`, which live as long as their values."""


@pytest.mark.parametrize("levels", [10, 60])
def test_a_part_in_several_places_is_compiled_once_where_the_places_are_many(levels: int) -> None:
    """
    What the rule keeps stands in every alternative, so that none is matched on its own. There are two ways down at each
    level, and at 60 of them there is no time to compile each.
    """
    x = Any_("x")
    below: Pattern = x
    for number in range(levels):
        both = Op(("graph.add",), (Any_(f"l{number}"), Any_(f"r{number}")))
        below = Or(
            (Op(("graph.sin",), (below,)), Op(("graph.exp",), (below,)), And((Op(("graph.add",), (below, x)), both)))
        )
    rule = Rule("deep", Op(("graph.tanh",), (below,)), (Bound("x"),))
    compiled = compile_rule(rule)
    assert match_compiled(compiled, row(levels)).matched
    assert match_compiled(compiled, row(levels)).value("x").name_hint == "x"
    assert not match_compiled(compiled, row(levels - 1)).matched
    assert match(~Op(("graph.tanh",), (below,)) & Any_(), row(levels)) is None
    assert match(~Op(("graph.tanh",), (below,)) & Any_(), row(levels - 1)) is not None


def test_an_index_of_rules_looks_at_a_shared_part_once() -> None:
    """A tree of 60 levels of alternatives with shared parts has 2 to the power of 60 ways down."""
    below: Pattern = Op(("graph.sqrt",), (Any_(),))
    for _ in range(60):
        below = Or((Op(("graph.add",), (below, Any_())), Op(("graph.add",), (Any_(), below))))
    assert not Driver(make_context(), [Rule("none", below, (Bound(below.key),))]).run(many_users(5))


def test_room_for_deep_patterns_adds_up_and_is_given_back() -> None:
    limit = sys.getrecursionlimit()
    with room_for(1000):
        with room_for(2000):
            assert sys.getrecursionlimit() == limit + 3000 * CALLS_PER_LEVEL
        assert sys.getrecursionlimit() == limit + 1000 * CALLS_PER_LEVEL
    with room_for(FEW_LEVELS):
        assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("offsets", [[0, 7, 3, 9, 0, 12], [12, 11, 0, 4]])
def test_lines_are_counted_forwards_and_back(offsets: list[int]) -> None:
    text, counter = "a\nbc\n\nd\nefg\nh", LineCounter("a\nbc\n\nd\nefg\nh", 4)
    for offset in offsets:
        before = text[:offset]
        assert counter.line_and_column(offset) == (5 + before.count("\n"), offset - before.rfind("\n"))


def test_functions_are_found_by_name_while_they_come_and_go() -> None:
    names = ("f", "g", "h")
    texts = [f"func.func @{name}(%x: {F}) -> {F} {{\nfunc.return %x : {F}\n}}" for name in names]
    module = parse_text(make_context(), "\n".join(texts))
    symbols = Symbols(Session(make_context(), module))
    first, second, _ = module.body.ops
    assert isinstance(first, func.FuncOp)
    assert symbols.find(module, "f") is first and symbols.find(module, "g") is second
    first.properties["sym_name"] = StringAttr("k")
    assert symbols.find(module, "f") is None and symbols.find(module, "k") is first
    second.detach()
    assert symbols.find(module, "g") is None
    module.body.block.add_op(second)
    assert symbols.find(module, "g") is second
