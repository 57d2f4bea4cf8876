"""
Rules compiled to Python closures: the table that says, for each class of patterns, how it is matched.

A pattern becomes a function `(thing, bound) -> bool` that ends by calling the function after it. A failure later in the
rule therefore goes back to the next alternative here, with full backtracking over `Or` and over orders of commutative
operands, except into parts that are closed (`closed_parts`). Only patterns recurse, never chains of ops. The files
`compile_…` fill in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from xdsl.ir import Operation, OpResult, SSAValue

from ...lazy_dataclass import dataclass
from ..language.constraints import Holds, Where
from ..language.patterns import Pattern, picks_result
from ..language.registry import RuleError
from .closed_parts import CLOSED, match_once
from .early_conditions import EARLY, after_binding, conditions_at_the_end, needs_whole_match
from .jumping_back import END, blame_everything
from .shared_parts import SHARED, match_shared
from .tracing import MATCH, TRACER, Bindings, Next, ValueMatcher

OpMatcher = Callable[[Operation, Bindings], bool]


def bind(key: str, thing: Any, bound: Bindings, following: Next, again: Next | None = None) -> bool:
    """
    Binds `key` for the rest of the match. A key that is bound already must stand for the same thing.

    For such a thing `again`, when given, is called instead of `following`, since its inside has been matched before.
    """
    known = bound.get(key)
    if known is not None:
        return known is thing and (following if again is None else again)(bound)
    bound[key] = thing
    if following(bound):
        return True
    del bound[key]
    return False


# The table


@dataclass(frozen=True)
class Meaning:
    """The functions that match the patterns of one class. A pattern cannot stand where its class has no function."""

    value: Callable[[Any, Next], ValueMatcher] | None = None
    """Compiles a pattern that stands where a value is used."""
    result: Callable[[Any, int | None, Next], ValueMatcher] | None = None
    """Compiles a pattern of an op by one of its results. Without an index, the op must have one result."""
    root: Callable[[Any, Next], OpMatcher] | None = None
    """Compiles a pattern at the root of a rule. Without this function, the value of the root is matched."""
    names: Callable[[Any], frozenset[str]] = lambda pattern: frozenset()
    """Returns the names of the ops that a pattern can match, or no names when it may be any op."""
    why_not: Callable[[Any, SSAValue, Bindings], str | None] = lambda pattern, value, bound: None
    """Returns why a pattern itself, without the patterns below it, does not fit a value."""


MEANINGS: Final[dict[type[Pattern], Meaning]] = {}


def _meaning_of(pattern: Pattern) -> Meaning:
    return next((MEANINGS[each] for each in type(pattern).__mro__ if each in MEANINGS), Meaning())


def compile_value(pattern: Pattern, following: Next) -> ValueMatcher:
    """Returns the matcher of a pattern that stands where a value is used."""
    meaning = _meaning_of(pattern)
    if meaning.value is None:
        raise RuleError(f"{type(pattern).__name__.lower()} cannot stand for a value")
    tracer = TRACER.get()
    closed = CLOSED.get()
    if tracer is None and closed is not None and id(pattern) in closed:
        with conditions_at_the_end():
            alone = closed[id(pattern)] or meaning.value(pattern, lambda bound: True)
        closed[id(pattern)] = alone
        return match_once(pattern, alone, after_binding(pattern.key, following))
    shared = SHARED.get()
    if tracer is None and shared is not None and id(pattern) in shared:
        return match_shared(shared[id(pattern)], EARLY.get() is None, partial(meaning.value, pattern), following)
    compiled = meaning.value(pattern, following)
    return compiled if tracer is None else tracer.value(compiled, partial(meaning.why_not, pattern))


def compile_result(pattern: Pattern, index: int | None, following: Next) -> ValueMatcher:
    """Returns the matcher of an op by its result `index`. Without an index, the op must have one result."""
    meaning = _meaning_of(pattern)
    if meaning.result is None:
        raise RuleError(f"{type(pattern).__name__.lower()} has no results to choose from")
    return meaning.result(pattern, index, following)


def compile_any_result(pattern: Pattern, following: Next) -> ValueMatcher:
    """Returns the matcher of any result of an op."""
    match_op = compile_root(pattern, following)
    return lambda value, bound: isinstance(value, OpResult) and match_op(value.op, bound)


def compile_root(pattern: Pattern, following: Next) -> OpMatcher:
    """Returns the matcher of what stands at the root: an op, or the only result of one."""
    meaning = _meaning_of(pattern)
    return compile_root_value(pattern, following) if meaning.root is None else meaning.root(pattern, following)


def compile_root_value(pattern: Pattern, following: Next) -> OpMatcher:
    """Returns the matcher of a root by its only result, or by the result that `pattern` picks."""
    match_value = compile_value(pattern, following)
    if picks_result(pattern):
        return lambda op, bound: any(match_value(result, bound) for result in op.results)
    return lambda op, bound: len(op.results) == 1 and match_value(op.results[0], bound)


def root_names(pattern: Pattern) -> frozenset[str]:
    """Returns the names of the ops that `pattern` can match, or no names when it may be any op."""
    return _meaning_of(pattern).names(pattern)


def by_result(match_op: OpMatcher, index: int | None) -> ValueMatcher:
    """Returns the matcher of a value by the op that defines it."""

    def match_result(value: SSAValue, bound: Bindings) -> bool:
        if not isinstance(value, OpResult):
            return False
        op = value.op
        if index is None:
            return len(op.results) == 1 and match_op(op, bound)
        return value.index == index and match_op(op, bound)

    return match_result


# Tests of several things


def with_late_tests(pattern: Pattern, following: Next) -> Next:
    """Returns `following` after the tests in `pattern` about several things, which are all bound by then."""
    late = list(_late_tests(pattern))
    if not late:
        return following
    tracer, jumps = TRACER.get(), END.get() is not None

    def check(bound: Bindings) -> bool:
        for key, test in late:
            if key not in bound:  # The key stands in an alternative that did not match.
                continue
            reason = test.why_not_with(bound[key], bound[MATCH], bound)
            if reason is not None:
                if jumps and needs_whole_match(partial(_ask_again, test, bound[key], bound), bound[MATCH]):
                    blame_everything(bound)
                if tracer is not None:
                    tracer.structure(bound, reason)
                return False
        return following(bound)

    return check


def _ask_again(test: Holds, value: SSAValue, bound: Bindings, match: Any) -> str | None:
    return test.why_not_with(value, match, bound)


def _late_tests(pattern: Pattern) -> Iterator[tuple[str, Holds]]:
    """Yields the tests of `pattern`, but not those inside `Not` or a path, whose names do not stay bound."""
    done: set[int] = set()
    stack = [pattern]
    while stack:
        current = stack.pop()
        if id(current) in done:
            continue
        done.add(id(current))
        if isinstance(current, Where) and isinstance(current.test, Holds) and current.test.others:
            yield current.key, current.test
        stack.extend(reversed(current.certain_parts()))
