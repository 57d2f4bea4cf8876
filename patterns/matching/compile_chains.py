"""Chains compiled to closures: a walk over their steps, which does not recurse."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ..language.chains import Chain
from ..language.patterns import all_below
from .closed_parts import count_step
from .each import all_key, untraced
from .early_conditions import conditions_at_the_end
from .matcher import MEANINGS, Meaning, bind, compile_value, root_names, with_late_tests
from .tracing import TRACER, Bindings, Next, ValueMatcher, value_name

Found = list[tuple[SSAValue, Bindings]]


class _Steps:
    """The ways in which one step of a chain matches at a value."""

    def __init__(self, pattern: Chain):
        link = pattern.link.key
        found: Found = []

        def at_end(bound: Bindings) -> bool:
            found.append((bound[link], dict(bound)))
            return False  # So that all ways are found.

        with conditions_at_the_end():
            self._match = compile_value(pattern.step, with_late_tests(pattern.step, at_end))
        self._found = found

    def at(self, value: SSAValue, outside: Bindings) -> Found:
        """Returns the values before `value`, each with what the first step from there binds."""
        self._found.clear()
        self._match(value, dict(outside))
        before: dict[SSAValue, Bindings] = {}
        for link, bound in self._found:
            before.setdefault(link, bound)
        return list(before.items())


def _compile_chain(pattern: Chain, following: Next) -> ValueMatcher:
    key, least = pattern.key, pattern.least
    own = {part.key for part in all_below(pattern.step)}
    steps = untraced(lambda: _Steps(pattern))
    match_start = compile_value(pattern.start, following)
    tracer = TRACER.get()

    def walk(value: SSAValue, bound: Bindings) -> bool:
        outside = {name: thing for name, thing in bound.items() if name not in own}
        # What is bound outside is the same on every way: where the chain cannot begin on one, it cannot on another.
        done: set[tuple[SSAValue, int]] = {(value, 0)}
        on_way: list[Bindings] = []
        stack = [(value, iter(steps.at(value, outside)))]
        while stack:
            current, ways = stack[-1]
            before, names = next(ways, (None, outside))
            if before is None:
                stack.pop()
                if len(on_way) >= least and _with_names(own, on_way, bound, current, match_start):
                    return True
                if on_way:
                    on_way.pop()
                continue
            count_step(bound)
            place = (before, min(len(stack), least))
            if place not in done:
                done.add(place)
                on_way.append(names)
                stack.append((before, iter(steps.at(before, outside))))
        if tracer is not None:
            tracer.structure(bound, f"no chain of at least {least} steps leads here from what it begins with")
        return False

    return lambda value, bound: bind(key, value, bound, lambda deeper: walk(value, deeper), following)


def _with_names(
    own: set[str], ways: list[Bindings], bound: Bindings, value: SSAValue, match_value: ValueMatcher
) -> bool:
    """Returns whether a value matches where the names of all steps are bound, each to many values."""
    for name in own:
        bound[all_key(name)] = tuple(way[name] for way in ways if name in way)
    if match_value(value, bound):
        return True
    for name in own:
        del bound[all_key(name)]
    return False


def _names_of_chain(pattern: Chain) -> frozenset[str]:
    names = root_names(pattern.step)
    if pattern.least:
        return names
    start = root_names(pattern.start)
    return names | start if names and start else frozenset()


def _why_not_chain(pattern: Chain, value: SSAValue, bound: Bindings) -> str | None:
    known = bound.get(pattern.key)
    return None if known is None or known is value else f"expected {value_name(known)} again, found {value_name(value)}"


MEANINGS[Chain] = Meaning(_compile_chain, names=_names_of_chain, why_not=_why_not_chain)
