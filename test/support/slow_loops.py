"""
Patterns of loops by brute force, for `slow_matcher.py`: written from docs/rewrites.md, and from how programs print.

Nothing is shared with the engine but the descriptions of patterns. Extents and kinds are read from the properties of
ops, arguments are tried in every order, and gaps of every length.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import slow_matcher
from slow_axes import axis_fits as axis_fits
from slow_reach import are_different
from stepwell.patterns.language.loops import Loops
from stepwell.patterns.language.patterns import Op, Pattern, Rest
from stepwell.patterns.language.rules import Rule
from xdsl.ir import Operation, SSAValue

Assignment = dict[str, object]
LOOPS = ("tensor_loop.grid", "tensor_loop.for")


def rule_assignments(rule: Rule, op: Operation) -> Iterator[Assignment]:
    """The ways in which the left side stands for `op` and all conditions of the rule hold."""
    for way in loops_assignments(rule.lhs, op, {}):
        if rule.injective and not are_different(rule, way):
            continue
        if all(slow_matcher.required(each, way) for each in rule.when):
            yield way


def loops_assignments(pattern: Pattern, op: Operation, bound: Assignment) -> Iterator[Assignment]:
    """The ways in which a pattern of a block, of loops, of a loop function or of a store stands for `op`."""
    if isinstance(pattern, Op):
        if not pattern.names or op.name in pattern.names:
            for way in slow_matcher._attributes(pattern.attributes, op, bound):
                for found in slow_matcher._operands(pattern.operands, op, way, pattern.is_unordered):
                    yield from slow_matcher.bind(found, pattern.key, op)
        return
    assert isinstance(pattern, Loops)
    for arguments, body in _shapes(pattern, op):
        for way in slow_matcher._attributes(pattern.attributes, op, bound):
            for inner in _arguments(pattern, arguments, way):
                for found in _inside(pattern.inside, _parts(body), inner):
                    yield from slow_matcher.bind(found, pattern.key, op)


def _shapes(pattern: Loops, op: Operation) -> Iterator[tuple[tuple[SSAValue, ...], Operation]]:
    """
    The arguments of an op and the op whose body counts. Loops without a rest are as many as there are patterns; with a
    rest, they go on inwards as far as one loop holds nothing but the next.
    """
    names = {"block": ("tensor_loop.block",), "nest": LOOPS, "kernel": ("tensor_loop.func",)}[pattern.kind]
    if op.name not in names:
        return
    count = sum(not isinstance(each, Rest) for each in pattern.arguments)
    exact = count == len(pattern.arguments)
    arguments = tuple(op.regions[0].block.args)
    while pattern.kind == "nest" and (not exact or len(arguments) < count):
        inside = [each for each in op.regions[0].block.ops if each.name != "tensor_loop.yield"]
        if len(inside) != 1 or inside[0].name not in LOOPS:
            break
        op = inside[0]
        arguments = (*arguments, *op.regions[0].block.args)
    if len(arguments) == count or (not exact and len(arguments) > count):
        yield arguments, op


def _arguments(pattern: Loops, given: tuple[SSAValue, ...], bound: Assignment) -> Iterator[Assignment]:
    single = [each for each in pattern.arguments if not isinstance(each, Rest)]
    rest = next((each for each in pattern.arguments if isinstance(each, Rest)), None)
    numbers = range(len(given))
    orders = permutations(numbers, len(single)) if pattern.is_unordered else [tuple(numbers[: len(single)])]
    for order in orders:
        left = tuple(given[each] for each in numbers if each not in order)
        for way in slow_matcher._all_of([(part, given[at]) for part, at in zip(single, order, strict=True)], bound):
            if rest is None:
                yield way
            elif rest.each is None or all(slow_matcher._fits(rest.each, each, way) for each in left):
                yield from slow_matcher.bind(way, rest.key, left)


def _parts(op: Operation) -> tuple[Operation, ...]:
    """What a body does: stores, choices, loops and blocks, but no init."""
    none = ("tensor_loop.yield", "tensor_loop.init")
    return tuple(
        each for each in op.regions[0].block.ops if each.name not in none and (each.regions or not each.results)
    )


def _inside(patterns: tuple[Pattern, ...], parts: tuple[Operation, ...], bound: Assignment) -> Iterator[Assignment]:
    if not patterns:
        if not parts:
            yield bound
        return
    first, others = patterns[0], patterns[1:]
    if isinstance(first, Rest):
        for end in range(len(parts) + 1):
            for way in slow_matcher.bind(bound, first.key, parts[:end]):
                yield from _inside(others, parts[end:], way)
    elif parts:
        for way in loops_assignments(first, parts[0], bound):
            yield from _inside(others, parts[1:], way)
