"""Random rules that have one construct for certain, for the slow matcher."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from random_patterns import Generaliser, sure_keys
from random_programs import values_of
from random_reach import BINARY, UNARY, random_chain, random_comparison, random_rest
from stepwell.patterns.language.chains import Chain
from stepwell.patterns.language.patterns import Op, Pattern, Rest, Result, all_below
from stepwell.patterns.language.rules import Require, Rule, negated
from stepwell.patterns.language.structures import Call, If
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

Make = Callable[[random.Random, Generaliser, OpResult], Pattern | None]


def _any_result(choose: random.Random, made: Generaliser, value: OpResult) -> Pattern | None:
    several = len(value.op.results) > 1 or choose.random() < 0.05
    return Result(made.op(value.op, 2), None) if several and not value.op.regions else None


def _unordered(choose: random.Random, made: Generaliser, value: OpResult) -> Pattern | None:
    if not 1 < len(value.op.operands) < 5 or len(value.op.results) > 1:
        return None
    operands = [made.of(each, 1) for each in value.op.operands]
    choose.shuffle(operands)
    if choose.random() < 0.3:
        operands[-1] = random_rest(choose)
    return Op((value.op.name,), tuple(operands)).unordered()


def _chain(choose: random.Random, made: Generaliser, value: OpResult) -> Pattern | None:
    start = value
    for _ in range(choose.randrange(4)):
        above = start.op.operands[0] if start.op.operands else None
        if start.op.name not in (*UNARY, *BINARY) or not isinstance(above, OpResult):
            break
        start = above
    return random_chain(choose, made.of(start, 1))


def _each(choose: random.Random, made: Generaliser, value: OpResult) -> Pattern | None:
    rest = random_rest(choose)
    count = choose.randrange(len(value.op.operands) + 1)
    operands = (*(made.of(each, 1) for each in value.op.operands[:count]), rest)
    return Op((value.op.name,), operands) if rest.each is not None and len(value.op.results) == 1 else None


PATTERNS: Final[dict[str, Make]] = {
    "any result": _any_result,
    "unordered": _unordered,
    "chain": _chain,
    "for all of rest": _each,
}
HAS: Final[dict[str, Callable[[Pattern], bool]]] = {
    "any result": lambda part: isinstance(part, Result) and part.index is None,
    "unordered": lambda part: isinstance(part, Op) and part.is_unordered,
    "chain": lambda part: isinstance(part, Chain),
    "for all of rest": lambda part: isinstance(part, Rest) and part.each is not None,
}
CONSTRUCTS: Final = (*PATTERNS, "comparison", "negation", "users", "injective")


def rule_with(construct: str, choose: random.Random, module: ModuleOp, random_rule: Callable[..., Rule]) -> Rule | None:
    """A rule that has the construct, `None` where this attempt has none."""
    if construct == "injective":
        return replace(random_rule(choose, module, derived=choose.random() < 0.7), injective=True)
    if construct not in PATTERNS:
        return _with_condition(construct, choose, random_rule(choose, module, derived=choose.random() < 0.7))
    made = Generaliser(choose, mistakes=choose.choice((0.0, 0.02)))
    results = [each for each in values_of(module) if isinstance(each, OpResult)]
    several = [each for each in results if len(each.op.results) > 1] if construct == "any result" else []
    value = choose.choice(several or results)
    part = PATTERNS[construct](choose, made, value)
    if part is None:
        return None
    made.patterns[value] = part
    users = [use.operation.results[0] for use in value.uses if len(use.operation.results) == 1]
    root = choose.choice(users) if users and choose.random() < 0.5 else value
    pattern = part if root is value else made.of(root, choose.randrange(1, 4))
    has = any(map(HAS[construct], all_below(pattern)))
    return Rule("random", pattern, (), injective=choose.random() < 0.1) if has else None


def _with_condition(construct: str, choose: random.Random, rule: Rule) -> Rule | None:
    whole = {part.key for part in all_below(rule.lhs) if isinstance(part, If | Call)}  # ops, not values
    keys = sorted(set(sure_keys(rule.lhs)) - whole)
    if not keys:
        return None
    if construct == "comparison":
        added = random_comparison(choose, rule.lhs, keys)
    else:
        added = Require("single-user" if construct == "users" else "single-use", (choose.choice(keys),))
    if construct == "negation" or (construct == "users" and choose.random() < 0.3):
        added = negated(added)
    return replace(rule, when=(*rule.when, added))
