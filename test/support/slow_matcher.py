"""
The pattern language by brute force: every way in which a pattern stands for a value, written from docs/rewrites.md.

Nothing here is shared with the engine but the descriptions of patterns. It is slow and has no order of evaluation
but that of the page: alternatives and operands from left to right, operands of commutative ops in every order, further
roots among all values. Conditions between values (`Holds` with others) are looked at when everything is bound.
An *assignment* maps the key of a pattern to what it stands for: a value, an op (`Op`, `Function`), the tuple of the
remaining operands (`Rest`), or, under `path(key)`, the set of values that a path covers; `arm(key)` is the number of
the alternative. Two occurrences of a key stand for the same thing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from operator import itemgetter
from typing import Any, Final

from slow_axes import axis_fits
from slow_reach import are_different, chosen, formula_holds, same
from slow_tests import (
    CALLEES,
    CONSTANTS,
    argument_name,
    attribute_of,
    condition_holds,
    elements_match,
    has,
    holds,
    is_literal,
    is_splat,
    op_name,
    values_between,
)
from stepwell.core.ir.normal_form import normal_properties, normal_property
from stepwell.dialects.traits import is_commutative
from stepwell.patterns.language import constraints as c
from stepwell.patterns.language import structures as s
from stepwell.patterns.language.chains import Chain
from stepwell.patterns.language.combinators import Expression, Together
from stepwell.patterns.language.loops import Axis
from stepwell.patterns.language.patterns import Any_, Capture, Constant, Op, Or, Pattern, Rest, Result, Splat, all_below
from stepwell.patterns.language.rules import Require, Rule
from xdsl.dialects.builtin import (
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Operation, OpResult, SSAValue

Assignment = dict[str, object]

first = itemgetter(0)


def arm(key: str) -> str:
    """Where an assignment keeps the number of the alternative."""
    return f"arm of {key}"


def path(key: str) -> str:
    """Where an assignment keeps the values that a path covers."""
    return f"path of {key}"


def key_of(pattern: Any) -> str:
    return pattern.key


def rule_assignments(rule: Rule, value: SSAValue) -> Iterator[Assignment]:
    """
    The ways in which the left side stands for `value` and all conditions of the rule hold. A rule that replaces it
    leaves an op with an effect alone, and one that replaces a single result of an op does so where it is used.
    """
    if rule.rhs and not rule.effects and isinstance(value, OpResult) and has_effect(value.op):
        return
    if rule.rhs and is_one_result(rule.lhs) and value.first_use is None:
        return
    in_formulas = {key for each in rule.when if "formula" in dict(each.parameters) for key in each.keys}
    for way in assignments(rule.lhs, value, {IN_FORMULAS: in_formulas}):
        if rule.injective and not are_different(rule, way):
            continue
        if all(required(each, way) for each in (*rule.when, *deferred(way))):
            yield way


IN_FORMULAS: Final = "keys in formulas"


def is_one_result(pattern: Pattern) -> bool:
    """Whether a pattern stands for one result of an op that may have several."""
    match pattern:
        case Result():
            return True
        case c.Where(inner, _):
            return is_one_result(inner)
        case c.And(parts) | Or(parts):
            return any(is_one_result(part) for part in parts)
        case _:
            return False


def has_effect(op: Operation) -> bool:
    """
    Whether an op, or one in it or in a function that it calls, calls a function of which nothing is known, or reads or
    writes a buffer.
    """
    for each in op.walk():
        if each.name in ("memref.load", "memref.store"):
            return True
        callee = each.properties.get("callee") if each.name == "func.call" else None
        if isinstance(callee, SymbolRefAttr):
            function = _function_named(callee.root_reference.data, each)
            if function is None or not function.regions[0].blocks or has_effect(function):
                return True
    return False


DEFERRED: Final = "deferred"


def deferred(way: Assignment) -> tuple[Require, ...]:
    """The conditions between values that took part, as conditions of the rule."""
    return way.get(DEFERRED, ())  # type: ignore[return-value]


def assignments(pattern: Pattern, value: SSAValue, bound: Assignment) -> Iterator[Assignment]:
    """The ways in which `pattern` stands for `value`, given what is bound already."""
    mine: object = value.owner if isinstance(pattern, Op) else value
    for way in _by_kind(pattern, value, bound):
        yield from bind(way, key_of(pattern), mine)


def bind(way: Assignment, key: str, thing: object) -> Iterator[Assignment]:
    """`way` with `key` standing for `thing`, unless it stands for something else already."""
    if key not in way:
        yield {**way, key: thing}
    elif same(way[key], thing):
        yield way


def _by_kind(pattern: Pattern, value: SSAValue, bound: Assignment) -> Iterator[Assignment]:
    match pattern:
        case Any_():
            yield bound
        case Constant():
            yield from _when(op_name(value) in CONSTANTS, bound)
        case Splat(number):
            yield from _when(is_splat(value, number), bound)
        case c.Literal(wanted):
            yield from _when(is_literal(value, wanted), bound)
        case c.Argument(index, name):
            fits = not isinstance(value, OpResult) and index in (None, value.index)  # type: ignore[attr-defined]
            yield from _when(fits and name in (None, argument_name(value)), bound)
        case Axis():
            yield from _when(axis_fits(pattern, value), bound)
        case Or(alternatives):
            for number, each in enumerate(alternatives):
                for way in assignments(each, value, bound):
                    yield {**way, arm(key_of(pattern)): number}
        case c.And(parts):
            yield from _all_of([(part, value) for part in parts], bound)
        case c.Not(inner):
            yield from _when(next(assignments(inner, value, bound), None) is None, bound)
        case c.Where(inner, c.Holds(condition, _, others)) if others:
            for way in assignments(inner, value, bound):
                require = Require(condition, (pattern.key, *others))
                yield {**way, DEFERRED: (*deferred(way), require)}
        case c.Where(inner, test):
            for way in assignments(inner, value, bound):
                yield from _when(holds(test, value), way)
        case Op():
            if isinstance(value, OpResult) and len(value.op.results) == 1:
                yield from op_assignments(pattern, value.op, bound)
        case Result(inner, index):
            if isinstance(value, OpResult) and index in (None, value.index):
                for way in _of_op(inner, value, bound):
                    yield from bind(way, key_of(inner), value.op)
        case s.Call() | s.If():
            several = isinstance(pattern, s.If) and not isinstance(pattern.then, tuple)
            if isinstance(value, OpResult) and (several or len(value.op.results) == 1):
                yield from _of_op(pattern, value, bound)
        case Together(patterns):
            for way in assignments(patterns[0], value, bound):
                yield from _others(patterns[1:], value, [value.owner], way)
        case Expression():
            for way in _expression(pattern, pattern.value, value, {}, bound):
                yield way
        case s.Dominates():
            yield from _dominated(pattern, value, bound)
        case Chain():
            yield from _chained(pattern, value, 0, (), bound)
        case _:
            raise AssertionError(pattern)


def _of_op(pattern: Pattern, value: OpResult, bound: Assignment) -> Iterator[Assignment]:
    """The ways in which a pattern of an op stands for the one that defines `value`, however many results that has."""
    if isinstance(pattern, Op):
        yield from op_assignments(pattern, value.op, bound)
    elif isinstance(pattern, s.Call):
        yield from _call(pattern, value, bound)
    elif isinstance(pattern, s.If):
        yield from _branches(pattern, value, bound)


def _when(holds: bool, bound: Assignment) -> Iterator[Assignment]:
    if holds:
        yield bound


def _all_of(pairs: list[tuple[Pattern, SSAValue]], bound: Assignment) -> Iterator[Assignment]:
    """The ways in which each pattern stands for its value."""
    if not pairs:
        yield bound
        return
    (pattern, value), rest = pairs[0], pairs[1:]
    for way in assignments(pattern, value, bound):
        yield from _all_of(rest, way)


# Ops


def op_assignments(pattern: Op, op: Operation, bound: Assignment) -> Iterator[Assignment]:
    """The ways in which `pattern` stands for an op."""
    if (pattern.names and op.name not in pattern.names) or not op.results:
        return
    for way in _attributes(pattern.attributes, op, bound):
        yield from _operands(pattern.operands, op, way, pattern.is_unordered)


def _operands(
    wanted: tuple[Pattern, ...] | None, op: Operation, bound: Assignment, unordered: bool = False
) -> Iterator[Assignment]:
    if wanted is None:
        yield bound
        return
    rest = wanted[-1] if wanted and isinstance(wanted[-1], Rest) else None
    single = wanted[:-1] if rest is not None else wanted
    given = tuple(op.operands)
    if len(given) < len(single) or (rest is None and len(given) != len(single)):
        return
    orders = [*chosen(given, len(single))] if unordered else permutations(given) if is_commutative(op) else [given]
    for order in orders:
        for way in _all_of(list(zip(single, order, strict=False)), bound):
            if rest is None:
                yield way
            elif rest.each is None or all(_fits(rest.each, each, way) for each in order[len(single) :]):
                yield from bind(way, rest.key, order[len(single) :])


def _attributes(wanted: tuple[tuple[str, Any], ...], op: Operation, bound: Assignment) -> Iterator[Assignment]:
    ways = [bound]
    for name, value in wanted:
        found = attribute_of(op, name)
        if isinstance(value, Capture):
            known = bound.get(value.key)
            if value.key in bound.get(IN_FORMULAS, ()) and found is not None:  # type: ignore[operator]
                found = normal_property(op, name, found)
            again = known is not None and normal_property(op, name, known) == normal_property(op, name, found)
            found = known if again else found
            ways = [] if found is None else [new for way in ways for new in bind(way, value.key, found)]
        elif not has(op, name, value):
            return
    yield from ways


def required(require: Require, way: Assignment) -> bool:
    """Whether a condition of a rule holds; one that names what took no part does not."""
    things = [way.get(key) for key in require.keys]
    if require.name in ("compare", "not"):
        return None not in things and formula_holds(require, things)
    values = [each.results[0] if isinstance(each, Operation) else each for each in things]
    return all(isinstance(each, SSAValue) for each in values) and condition_holds(require.name, values)  # type: ignore[arg-type]


# Calls, functions, branches


def _call(pattern: s.Call, value: SSAValue, bound: Assignment) -> Iterator[Assignment]:
    if not isinstance(value, OpResult) or value.op.name not in CALLEES:
        return
    symbol: Any = value.op.properties["callee"]
    assert isinstance(symbol, SymbolRefAttr)
    if isinstance(pattern.callee, str) and pattern.callee != symbol.root_reference.data:
        return
    ways: Iterator[Assignment] = iter([bound])
    if isinstance(pattern.callee, s.Function):
        callee = _function_named(symbol.root_reference.data, value.op)
        ways = iter([]) if callee is None else function_assignments(pattern.callee, callee, bound)
    for way in ways:
        yield from _operands(pattern.operands, value.op, way)


def _function_named(name: str, user: Operation) -> Operation | None:
    """The function of the module around `user` that is called `name`."""
    module = user
    while module.name != "builtin.module":
        above = module.parent_op()
        assert above is not None
        module = above
    named = [op for op in module.regions[0].block.ops if op.properties.get("sym_name") == StringAttr(name)]
    return named[0] if named and named[0].name == "func.func" else None


def function_assignments(pattern: s.Function, function: Operation, bound: Assignment) -> Iterator[Assignment]:
    """The ways in which `pattern` stands for a function of one block that returns as many values as its body."""
    if function.name != "func.func" or len(function.regions[0].blocks) != 1:
        return
    block = function.regions[0].block
    last, body = block.last_op, _several(pattern.body)
    if last is None or last.name != "func.return" or len(last.operands) != len(body):
        return
    if pattern.parameters is not None and len(pattern.parameters) != len(block.args):
        return
    for way in _attributes(pattern.attributes, function, bound):
        pairs = [
            *zip(pattern.parameters or (), block.args, strict=False),
            *zip(body, last.operands, strict=True),
        ]
        for inner in _all_of(pairs, way):
            yield from bind(inner, pattern.key, function)


def _several(patterns: Pattern | tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    return patterns if isinstance(patterns, tuple) else (patterns,)


def _branches(pattern: s.If, value: OpResult, bound: Assignment) -> Iterator[Assignment]:
    op = value.op
    if op.name != "scf.if" or not op.results:
        return
    ends = [tuple(region.block.last_op.operands) for region in op.regions]  # type: ignore[union-attr]
    if not isinstance(pattern.then, tuple):
        ends = [(each[value.index],) for each in ends]
    wanted = (_several(pattern.then), _several(pattern.otherwise))
    if len(wanted[0]) != len(ends[0]):
        return
    pairs = [pair for parts, found in zip(wanted, ends, strict=True) for pair in zip(parts, found, strict=True)]
    yield from _all_of([(pattern.condition, op.operands[0]), *pairs], bound)


# Several roots, whole expressions


def _others(
    patterns: tuple[Pattern, ...], value: SSAValue, taken: list[Any], bound: Assignment
) -> Iterator[Assignment]:
    """The ways in which each pattern stands for a result of another op, of any in the module."""
    if not patterns:
        yield bound
        return
    module: Any = value.owner
    while (above := module.parent) is not None:
        module = above
    for op in module.walk():
        for result in op.results[:1] if op not in taken else ():
            for way in _root(patterns[0], result, bound):
                yield from _others(patterns[1:], value, [*taken, op], way)


def _root(pattern: Pattern, value: OpResult, bound: Assignment) -> Iterator[Assignment]:
    """As a root, an op may have several results."""
    if isinstance(pattern, Op):
        for way in op_assignments(pattern, value.op, bound):
            yield from bind(way, pattern.key, value.op)
    else:
        yield from assignments(pattern, value, bound)


def _expression(
    pattern: Expression, wanted: SSAValue, value: SSAValue, known: dict[SSAValue, SSAValue], bound: Assignment
) -> Iterator[Assignment]:
    """
    The ways in which `value` is computed as `wanted` is; `known` are the values met so far. Holes come in their order.
    """
    pairs = list[tuple[int, SSAValue]]()
    if _computed_as(pattern, wanted, value, dict(known), pairs):
        yield from _all_of([(pattern.holes[number][1], found) for number, found in sorted(pairs, key=first)], bound)


def _computed_as(
    pattern: Expression,
    wanted: SSAValue,
    value: SSAValue,
    known: dict[SSAValue, SSAValue],
    pairs: list[tuple[int, SSAValue]],
) -> bool:
    if wanted in known:
        return known[wanted] is value
    known[wanted] = value
    for number, (hole, _) in enumerate(pattern.holes):
        if hole is wanted:
            pairs.append((number, value))
            return True
    if not isinstance(wanted, OpResult) or not isinstance(value, OpResult):
        return wanted is value
    if value.type != wanted.type or value.index != wanted.index:
        return False
    if wanted.op.name in CONSTANTS and value.op.name in CONSTANTS and "graph" in wanted.op.name:
        return elements_match(wanted, value)
    one, other = wanted.op, value.op
    same = one.name == other.name and len(one.operands) == len(other.operands) and not one.regions
    same = same and normal_properties(one) == normal_properties(other)
    same = same and all(other.attributes.get(name) == each for name, each in one.attributes.items())
    operands = zip(one.operands, other.operands, strict=True) if same else ()
    return same and all(_computed_as(pattern, a, b, known, pairs) for a, b in operands)


# Dominators


def _dominated(pattern: s.Dominates, value: SSAValue, bound: Assignment) -> Iterator[Assignment]:
    """For each value above the child, the nearest first: whether everything leads to it, and to it alone."""
    if not isinstance(value, OpResult) or value.op.parent is None:
        return
    for way in assignments(pattern.child, value, bound):
        for op in reversed(list(value.op.parent.ops)):
            for parent in op.results:
                between = values_between(value.op, parent)
                if between is None or not all(_fits(pattern.path, each, way) for each in between):
                    continue
                for found in assignments(pattern.parent, parent, way):
                    yield {**found, path(pattern.key): frozenset(between)}


def _chained(
    pattern: Chain, value: SSAValue, steps: int, on_way: tuple[SSAValue, ...], bound: Assignment
) -> Iterator[Assignment]:
    """The ways in which steps lead to `value`, the longest first. Names of a step are its own."""
    own = {each.key for each in all_below(pattern.step)}
    for way in assignments(pattern.step, value, bound):
        before = way[pattern.link.key]
        assert isinstance(before, SSAValue)
        outside = {key: thing for key, thing in way.items() if key not in own}
        yield from _chained(pattern, before, steps + 1, (*on_way, value), outside)
    if steps >= pattern.least:
        for way in assignments(pattern.start, value, bound):
            yield {**way, path(pattern.key): on_way}


def _fits(pattern: Pattern, value: SSAValue, bound: Assignment) -> bool:
    """Whether the path covers a value; its names stand for something else at each."""
    return next(assignments(pattern, value, bound), None) is not None


__all__ = ["assignments", "function_assignments", "rule_assignments"]
