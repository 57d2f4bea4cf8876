"""Random parts of rules that reach further: conditions on numbers."""

from __future__ import annotations

import random
from typing import Final

from stepwell.patterns.language.patterns import Capture, Op, Pattern
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
)


def random_comparison(choose: random.Random, pattern: Pattern, keys: list[str]) -> Require:
    """A condition on numbers, or its contrary: sizes of two values, or an attribute."""
    formula = choose.choice(FORMULAS)
    certain = [pattern] if isinstance(pattern, Op) else []
    captures = [each.key for part in certain for _, each in part.attributes if isinstance(each, Capture)]
    things = (choose.choice(keys), choose.choice(keys))
    if captures and choose.random() < 0.7:
        formula, things = choose.choice(("$0 <= 1", "$0 + 1 == 2", "$0 == $1")), (choose.choice(captures),) * 2
    made = Require("compare", things, (("formula", StringAttr(formula)),))
    return made if choose.random() < 0.7 else negated(made)
