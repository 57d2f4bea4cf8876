"""Random parts of rules that reach further: numbers, chains, any order, any result, all operands that are left."""

from __future__ import annotations

import random
from typing import Final

from stepwell.patterns.language.chains import Chain, chain
from stepwell.patterns.language.constraints import And
from stepwell.patterns.language.patterns import Any_, Capture, Constant, Op, Or, Pattern, Rest, Result
from stepwell.patterns.language.rules import Require, negated
from xdsl.dialects.builtin import StringAttr

FORMULAS: Final = (
    "size($0, 0) == size($1, -1)",
    "size($0, -1) * 2 >= elements($1)",
    "rank($0) <= rank($1)",
    "users($0) < uses($0) + rank($1) - 1",
    "mod(elements($0), 4) != 0",
    "size($0, 1) / size($1, 0) == 1",
    "elements($0) - 20 < -(size($1, 0) + 3)",
    "min(rank($0), users($1)) == max(uses($1), 1)",
)
OF_ATTRIBUTES: Final = ("$0 <= 1", "$0 + 1 == 2", "$0 == $1", "length($0) == 2", "$0[0] < $1[-1]", "$0 != [1, 0]")


def random_comparison(choose: random.Random, pattern: Pattern, keys: list[str]) -> Require:
    """A condition on numbers, or its contrary: sizes of two values, or an attribute."""
    formula = choose.choice(FORMULAS)
    certain = [pattern] if isinstance(pattern, Op) else []
    captures = [each.key for part in certain for _, each in part.attributes if isinstance(each, Capture)]
    things = (choose.choice(keys), choose.choice(keys))
    if captures and choose.random() < 0.7:
        formula, things = choose.choice(OF_ATTRIBUTES), (choose.choice(captures),) * 2
    made = Require("compare", things, (("formula", StringAttr(formula)),))
    return made if choose.random() < 0.7 else negated(made)


UNARY: Final = tuple(f"graph.{name}" for name in ("exp", "relu", "tanh", "negative", "abs"))
BINARY: Final = tuple(f"graph.{name}" for name in ("add", "subtract", "multiply", "maximum"))


def random_chain(choose: random.Random, start: Pattern) -> Pattern:
    """A chain of ops with one operand or two, or of steps of any form."""
    least = choose.randrange(3)
    pick = choose.random()
    if pick < 0.4:
        return chain(tuple(choose.sample(UNARY, choose.randrange(1, 4))), start, least=least)
    if pick < 0.7:
        other = choose.choice((Any_(), Constant(), Op(())))
        return chain(tuple(choose.sample(BINARY, choose.randrange(1, 3))), start, other, least=least)
    link = Any_()
    inner = Op(tuple(choose.sample(UNARY, 2)), (link,))
    step = choose.choice((Op((), (Rest(),)), Or((inner, Op(BINARY, (link, Any_())))), Op(BINARY, (inner, Any_()))))
    return Chain(And((step, Op((), (link, Rest())))), link, start, least)


def reaching_further(choose: random.Random, made: Pattern) -> Pattern:
    """`made` with a rarer form of it, where it has one."""
    pick = choose.random()
    if pick < 0.4:
        return random_chain(choose, made)
    if isinstance(made, Op):
        return made.unordered()
    if isinstance(made, Result):
        return made.op.result(None) if isinstance(made.op, Op) else made
    return made


def random_rest(choose: random.Random) -> Rest:
    """The operands that are left, mostly with something that holds for all of them."""
    each = choose.choice((None, Any_(), Op(UNARY), Op(()), Op((*UNARY, *BINARY)).has_dtype("f32")))
    return Rest() if each is None else Rest(each=each)


def random_test(choose: random.Random, inner: Pattern) -> Pattern:
    """A pattern with a test that may hold."""
    tests = (
        lambda: inner.single_use(),
        lambda: inner.has_shape(choose.choice((4, 5, None))),
        lambda: inner.has_shape(choose.choice((None, 3, 4)), 4),
        lambda: inner.has_dtype(choose.choice(("f32", "f16", "i32"))),
        lambda: inner.has_kind(choose.choice(("elementwise", "broadcast", "reduction", "opaque"))),
        lambda: inner.has_attr({"my.tag": choose.choice(("a", "b"))}),
        lambda: inner.has_attr({"axis": -1}),
        lambda: inner.holds(choose.choice(("float", "static", "block-argument", "integer"))),
    )
    return choose.choice(tests)()
