"""Conditions on numbers, for `slow_matcher.py`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from slow_tests import condition_holds
from stepwell.patterns.language.rules import Require
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IntegerAttr, ShapedType, StringAttr
from xdsl.ir import Operation, SSAValue


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
        "users": lambda value: len({use.operation for use in value.uses}),
        "uses": lambda value: value.uses.get_length(),
        "mod": lambda one, other: one % other,
    }
    text = re.sub(r"\$(\d+)", r"t[\1]", formula).replace("/", "//")
    try:
        return bool(eval(text, known))
    except (ZeroDivisionError, IndexError, AssertionError, TypeError):
        return None


def plain_number(thing: object) -> object:
    """A number that an attribute holds, or what is no number as it is."""
    if isinstance(thing, IntegerAttr):
        return thing.value.data & 1 if str(thing.type) == "i1" else thing.value.data
    return thing.value.data if isinstance(thing, FloatAttr) else thing
