"""Patterns of loop functions, loops and blocks compiled to closures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from xdsl.ir import Operation, SSAValue

from ..language.loops import OP_NAMES, Axis, Loops, arguments_of, parts_of
from ..language.patterns import Pattern, Rest
from .closed_parts import count_step
from .compile_ops import compile_attributes
from .each import compile_each
from .early_conditions import after_binding
from .matcher import MEANINGS, Meaning, OpMatcher, bind, compile_root, compile_value
from .tracing import TRACER, Bindings, Next, ValueMatcher, value_name

# Axes


def _compile_axis(pattern: Axis, following: Next) -> ValueMatcher:
    key, checked = pattern.key, after_binding(pattern.key, following)
    return lambda value, bound: pattern.why_not(value) is None and bind(key, value, bound, checked, following)


def _why_not_axis(pattern: Axis, value: SSAValue, bound: Bindings) -> str | None:
    reason = pattern.why_not(value)
    return None if reason is None else f"{value_name(value)}: {reason}"


# Blocks, loops and loop functions


def compile_loops(pattern: Loops, following: Next) -> OpMatcher:
    """Returns the matcher of an op with a body: attributes, then arguments in each order, then what it does."""
    key, slot = pattern.key, f"{pattern.key}.arguments"
    body = f"{slot}.body"
    inside = _compile_inside(pattern, following)
    inside = after_binding(key, compile_attributes(key, pattern.attributes, _compile_arguments(pattern, slot, inside)))
    count, more = len(pattern.single_arguments), pattern.rest is not None
    tracer = TRACER.get()

    def match_loops(op: Operation, bound: Bindings) -> bool:
        found = arguments_of(op, pattern.kind, count, more)
        if found is None:
            if tracer is not None:
                tracer.structure(bound, why_not_loops(pattern, op))
            return False
        if key in bound:
            return bound[key] is op and following(bound)
        bound[slot], bound[body] = found
        if bind(key, op, bound, inside):
            return True
        del bound[slot], bound[body]
        return False

    return match_loops


def why_not_loops(pattern: Loops, op: Operation) -> str:
    """Returns why the name or the number of arguments do not fit `op`."""
    names = OP_NAMES[pattern.kind]
    if op.name not in names:
        expected = " or ".join(f"'{name}'" for name in sorted(names))
        return f"expected {expected}, found '{op.name}'"
    arguments = {"block": "axes", "nest": "loops", "kernel": "buffers"}[pattern.kind]
    least = "at least " if pattern.rest is not None else ""
    found = arguments_of(op, pattern.kind, 0, True)
    number = 0 if found is None else len(found[0])
    return f"'{op.name}': expected {least}{len(pattern.single_arguments)} {arguments}, found {number}"


def _compile_arguments(pattern: Loops, slot: str, following: Next) -> Next:
    parts, rest = pattern.single_arguments, pattern.rest
    step = following if rest is None else _compile_rest(rest, slot, len(parts), following)
    for number, part in reversed(list(enumerate(parts))):
        step = _compile_argument(part, slot, number, step)
    count = len(parts)

    def match_in_any_order(bound: Bindings) -> bool:
        given = bound[slot]
        for order in _orders(given, count):
            count_step(bound)
            bound[slot] = order
            if step(bound):
                return True
        bound[slot] = given
        return False

    return match_in_any_order if pattern.is_unordered else step


def _orders(given: Sequence[SSAValue], count: int) -> Iterator[tuple[SSAValue, ...]]:
    """Yields the arguments in each order of the first `count`. Those that are left stay as they are written."""
    numbers = range(len(given))
    for chosen in permutations(numbers, count):
        order = chosen if count == len(given) else (*chosen, *[each for each in numbers if each not in chosen])
        yield tuple([given[each] for each in order])


def _compile_argument(pattern: Pattern, slot: str, number: int, following: Next) -> Next:
    match_value = compile_value(pattern, following)
    return lambda bound: match_value(bound[slot][number], bound)


def _compile_rest(pattern: Rest, slot: str, start: int, following: Next) -> Next:
    if pattern.each is not None:
        following = compile_each(pattern.key, pattern.each, following)
    return lambda bound: bind(pattern.key, bound[slot][start:], bound, following)


def _compile_inside(pattern: Loops, following: Next) -> Next:
    """Returns the matcher of what an op with a body does. A rest takes as few parts as will do."""
    body, at = f"{pattern.key}.arguments.body", f"{pattern.key}.arguments.at"
    step = _compile_end(body, at, following)
    for part in reversed(pattern.inside):
        step = _compile_gap(part, body, at, step) if isinstance(part, Rest) else _compile_part(part, body, at, step)

    def match_inside(bound: Bindings) -> bool:
        bound[at] = 0
        if step(bound):
            return True
        del bound[at]
        return False

    return match_inside


def _compile_end(body: str, at: str, following: Next) -> Next:
    tracer = TRACER.get()

    def match_end(bound: Bindings) -> bool:
        parts = parts_of(bound[body])
        if bound[at] == len(parts):
            return following(bound)
        if tracer is not None:
            tracer.structure(bound, f"expected nothing more, found '{parts[bound[at]].name}'")
        return False

    return match_end


def _compile_part(pattern: Pattern, body: str, at: str, following: Next) -> Next:
    match_op = compile_root(pattern, following)
    tracer = TRACER.get()

    def match_part(bound: Bindings) -> bool:
        parts, number = parts_of(bound[body]), bound[at]
        if number == len(parts):
            if tracer is not None:
                tracer.structure(bound, f"expected more than {number} parts in '{bound[body].name}'")
            return False
        bound[at] = number + 1
        if match_op(parts[number], bound):
            return True
        if tracer is not None:
            tracer.structure(bound, f"'{parts[number].name}' in '{bound[body].name}' does not match")
        bound[at] = number
        return False

    return match_part


def _compile_gap(pattern: Rest, body: str, at: str, following: Next) -> Next:
    def match_gap(bound: Bindings) -> bool:
        parts, start = parts_of(bound[body]), bound[at]
        for end in range(start, len(parts) + 1):
            count_step(bound)
            bound[at] = end
            if bind(pattern.key, parts[start:end], bound, following):
                return True
        bound[at] = start
        return False

    return match_gap


MEANINGS.update(
    {
        Axis: Meaning(_compile_axis, why_not=_why_not_axis),
        Loops: Meaning(root=compile_loops, names=lambda pattern: OP_NAMES[pattern.kind]),
    }
)

__all__ = ["compile_loops", "why_not_loops"]
