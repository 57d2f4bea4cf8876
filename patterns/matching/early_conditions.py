"""
Conditions that are tried as soon as everything they are about is bound, and again at the end.

A rule that can match in many ways would else find out only behind the last choice that the first was wrong: with three
roots of which each has n candidates, after n cubed steps. A rule with few ways to match has its conditions at the end
alone, since what fails first there is the pattern, which costs less to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from ...lazy_dataclass import dataclass
from ..language.combinators import Together
from ..language.loops import Loops
from ..language.match import Match, Session
from ..language.patterns import all_below
from ..language.registry import known_condition, plain_parameters
from ..language.rules import Require, Rule
from .tracing import MATCH, TRACER, Bindings, Next


@dataclass(frozen=True)
class EarlyCondition:
    """A condition, the keys of what it is about, and its test."""

    keys: tuple[str, ...]
    holds: partial[bool]

    def may_hold(self, bound: Bindings) -> bool:
        """Returns whether the condition holds, or cannot be tried yet."""
        things = [bound.get(key) for key in self.keys]
        if any(thing is None for thing in things):
            return True
        match: Match = bound[MATCH]
        try:
            return self.holds(_PartOfMatch(match), *things)
        except _TooEarly:
            return True


def needs_whole_match(ask: Callable[[Any], object], match: Match) -> bool:
    """Returns whether `ask` looks at more of a match than its rule, its root and its session."""
    try:
        ask(_PartOfMatch(match))
    except _TooEarly:
        return True
    return False


class _TooEarly(Exception):
    """A condition asked for something that is known at the end of the match alone."""


class _PartOfMatch:
    """What a condition may ask of a match that is not complete."""

    def __init__(self, match: Match):
        self.rule, self.root, self.session = match.rule, match.root, match.session

    rule: Rule
    session: Session

    def __getattr__(self, name: str) -> Any:
        raise _TooEarly(name)


EARLY: ContextVar[dict[str, list[EarlyCondition]] | None] = ContextVar("EARLY", default=None)
"""The conditions of the rule that is being compiled, by each key that they are about."""


def early_conditions(rule: Rule, has_many_ways: bool) -> dict[str, list[EarlyCondition]]:
    """
    Returns the conditions of a rule that are tried early, by key.

    A condition with a remark is not among them: it speaks only where everything else matches.
    """
    early: dict[str, list[EarlyCondition]] = {}
    if TRACER.get() is not None or not (
        has_many_ways or any(isinstance(part, Together) for part in all_below(rule.lhs))
    ):
        return early
    for required in rule.when:
        if required.remark is not None:
            continue
        found = _early(required)
        for key in dict.fromkeys(required.keys):
            early.setdefault(key, []).append(found)
    return early


def conditions_of_root(rule: Rule) -> tuple[EarlyCondition, ...]:
    """
    Returns the conditions on nothing but the op that a rule looks at. They hold or not before anything is chosen.

    Rules about loops have them, which try their arguments in any order. A match that is explained has none.
    """
    if TRACER.get() is not None or not isinstance(rule.lhs, Loops):
        return ()
    own = [each for each in rule.when if each.remark is None and tuple(each.keys) == (rule.lhs.key,)]
    return tuple(_early(each) for each in own)


def _early(required: Require) -> EarlyCondition:
    function = known_condition(required.name, len(required.keys), required.parameters).function
    parameters = plain_parameters(function, required.parameters)
    return EarlyCondition(required.keys, partial(function, **parameters))


@contextmanager
def conditions_at_the_end() -> Iterator[None]:
    """
    Compiles a part whose conditions wait: its names do not stay bound, or what it binds is remembered for a value.
    """
    token = EARLY.set(None)
    try:
        yield
    finally:
        EARLY.reset(token)


def after_binding(key: str, following: Next) -> Next:
    """Returns `following` behind the conditions that `key`, which is bound by then, completes."""
    conditions = (EARLY.get() or {}).get(key)
    if not conditions:
        return following

    def check(bound: Bindings) -> bool:
        return all(condition.may_hold(bound) for condition in conditions) and following(bound)

    return check
