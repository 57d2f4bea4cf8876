"""Conditions on numbers, and rules whose names stand for different values, for `slow_matcher.py`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import permutations

from slow_axes import extent
from slow_tests import condition_holds
from stepwell.patterns.language.chains import Chain
from stepwell.patterns.language.combinators import Together
from stepwell.patterns.language.constraints import And, Not, Where
from stepwell.patterns.language.patterns import Or, Pattern, Rest, Result
from stepwell.patterns.language.rules import Require, Rule
from stepwell.patterns.language.structures import Dominates
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    ShapedType,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue


def formula_holds(require: Require, things: list[object]) -> bool:
    """Whether a formula, or the contrary of a condition, holds. Nothing holds of what is unknown."""
    given = dict(require.parameters)
    inner = given.get("condition")
    values = [each.results[0] if isinstance(each, Operation) else each for each in things]
    if isinstance(inner, StringAttr) and inner.data != "compare":
        plain = [each for each in values if isinstance(each, SSAValue)]
        return len(plain) == len(values) and not condition_holds(inner.data, plain)
    formula = given["formula"]
    assert isinstance(formula, StringAttr)
    found = compared(formula.data, values)
    return found is not None and found is (inner is None)


def compared(formula: str, things: Sequence[object]) -> bool | None:
    """What a comparison of numbers gives, as Python computes it; `None` where a number is not known."""

    def size(value: SSAValue, dimension: int) -> int:
        assert isinstance(value.type, ShapedType)
        found = value.type.get_shape()[dimension]
        return found if found != DYNAMIC_INDEX else 1 // 0

    def rank(value: SSAValue) -> int:
        assert isinstance(value.type, ShapedType)
        return len(value.type.get_shape())

    def elements(value: SSAValue) -> int:
        return math.prod(size(value, number) for number in range(rank(value)))

    known = {
        "t": [plain_number(each) for each in things],
        "size": size,
        "rank": rank,
        "elements": elements,
        "extent": extent,
        "users": lambda value: len({use.operation for use in value.uses}),
        "uses": lambda value: value.uses.get_length(),
        "mod": lambda one, other: one % other,
        "length": len,
    }
    text = re.sub(r"\$(\d+)", r"t[\1]", formula).replace("/", "//")
    try:
        return bool(eval(text, known))
    except (ZeroDivisionError, IndexError, AssertionError, TypeError):
        return None


def plain_number(thing: object) -> object:
    """A number or a list of numbers that an attribute holds, or what is neither as it is."""
    if isinstance(thing, DenseArrayBase):
        return [*thing.get_values()]
    if isinstance(thing, ArrayAttr):
        return [plain_number(each) for each in thing.data]
    if isinstance(thing, IntegerAttr):
        return thing.value.data & 1 if str(thing.type) == "i1" else thing.value.data
    return thing.value.data if isinstance(thing, FloatAttr) else thing


def are_different(rule: Rule, way: dict[str, object]) -> bool:
    """
    Whether names stand for different values. Names that a test, `and`, `or` or a dominator ties to one value count as
    one, and so do those of an op and its result, of several ops and the first of them, of a chain and its beginning.
    """
    pairs = list[tuple[str, str]]()
    of_ops = list[set[str]]()
    single = list[Pattern]()

    def visit(pattern: Pattern) -> None:
        if isinstance(pattern, Rest):
            return
        single.append(pattern)
        below = pattern.parts()
        if isinstance(pattern, Not):
            below = ()
        elif isinstance(pattern, Dominates):
            below = (pattern.parent, pattern.child)
        elif isinstance(pattern, Chain):
            below = (pattern.start,)
        if isinstance(pattern, Where | And | Or):
            pairs.extend((pattern.key, each.key) for each in below)
        elif isinstance(pattern, Dominates):
            pairs.append((pattern.key, pattern.child.key))
        elif isinstance(pattern, Together):
            pairs.append((pattern.key, pattern.patterns[0].key))
        elif isinstance(pattern, Result):
            of_ops.append({pattern.key, pattern.op.key})
        elif isinstance(pattern, Chain):
            pairs.append((pattern.key, pattern.start.key))
        for each in below:
            visit(each)

    visit(rule.lhs)
    keys = sorted({each.key for each in single if each.key in way})

    def tied(one: str) -> set[str]:
        found = {one}
        while more := {b for pair in pairs for a, b in (pair, pair[::-1]) if a in found} - found:
            found |= more
        return found

    def thing(key: str) -> object:
        found = way[key]
        return found.results[0] if isinstance(found, Operation) and len(found.results) == 1 else found

    def is_result_of_op(one: str, other: str) -> bool:
        return any({a, b} in of_ops for a in tied(one) for b in tied(other))

    return all(
        thing(one) is not thing(other)
        for one in keys
        for other in keys
        if one != other and other not in tied(one) and not is_result_of_op(one, other)
    )


def chosen(given: tuple[SSAValue, ...], count: int) -> Iterator[tuple[SSAValue, ...]]:
    """Every order of `count` of the operands, before those that are left."""
    for numbers in permutations(range(len(given)), count):
        yield tuple(given[each] for each in (*numbers, *(each for each in range(len(given)) if each not in numbers)))


def same(one: object, other: object) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
    if isinstance(one, Attribute) and isinstance(other, Attribute):
        return one == other
    return one is other
