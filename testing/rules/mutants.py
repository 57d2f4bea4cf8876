"""Small faults put into a rule, one at a time: does testing the rule notice?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from xdsl.context import Context
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation

from ...dialects.traits import Commutative
from ...lazy_dataclass import dataclass
from ...patterns.language.constraints import HasDtype, HasType, Where
from ...patterns.language.match import Match
from ...patterns.language.patterns import Any_, Capture, Constant, Op, Or, Pattern, Result, Splat, all_below, fresh_key
from ...patterns.language.registry import CONDITIONS
from ...patterns.language.rules import Bound, Build, Computed, Create, Replacement, Rule
from ...patterns.matching.compiled_rule import compile_rule
from .deciding_mutants import condition_text, fewer_alternatives, other_decisions, other_loops, other_parameters
from .edits import SIBLINGS, Edit, as_sibling, changed_attribute, with_another_property, with_operands_swapped
from .hints import wished_dtype
from .sameness import SAME_RULE, canonical_forms

OTHER_CONDITION: Final = {
    "integer": "float",
    "float": "integer",
    "unsigned": "signed",
    "signed": "unsigned",
    "number": "boolean",
    "boolean": "number",
    "positive-literal": "nonzero-literal",
}
"""Conditions that ask for another element type, or for less."""

SYMMETRIC: Final = frozenset(
    {"same-type", "equal-types", "same-block", "same-op", "same-scale", "not-same", "same-size", "equal-attributes"}
)
"""Conditions whose arguments may be swapped."""


@dataclass(frozen=True)
class Mutant:
    """A rule with a fault, what the fault is, and why testing cannot notice it when that is known."""

    rule: Rule
    what: str
    protects: str = "value"
    """The purpose of a dropped condition. Values can notice only faults in what protects the value."""
    equivalent: str | None = None
    edits: list[int] | None = None
    """The changes of a fault in what a builder makes: one entry for each time there was something to change."""


def name_of(key: str) -> str:
    """Returns `%x`, as the author of the rule wrote it, or `%_` for what has no name."""
    name = key.partition(".")[0]
    return f"%{name}" if name and not name.startswith("#") else "%_"


def rebuilt(pattern: Any, change: Callable[[Pattern], Pattern | None], memo: dict[int, Any]) -> Any:
    """
    Returns `pattern` with every part replaced that `change` gives another one for. Parts that are shared stay shared.
    """
    if isinstance(pattern, tuple):
        return tuple(rebuilt(each, change, memo) for each in pattern)
    if not isinstance(pattern, Pattern):
        return pattern
    if id(pattern) not in memo:
        new = change(pattern)
        if new is None:
            parts = {each.name: getattr(pattern, each.name) for each in fields(pattern)}
            made = {name: rebuilt(value, change, memo) for name, value in parts.items()}
            new = replace(pattern, **made) if any(made[name] is not parts[name] for name in parts) else pattern
        memo[id(pattern)] = new
    return memo[id(pattern)]


def with_pattern(rule: Rule, old: Pattern, new: Pattern) -> Rule:
    """`rule` with one part of its pattern replaced."""
    memo: dict[int, Any] = {}

    def change(pattern: Pattern) -> Pattern | None:
        return new if pattern is old else None

    return replace(rule, lhs=rebuilt(rule.lhs, change, memo), free=rebuilt(rule.free, change, memo))


class Mutator:
    """All mutants of one rule. `made`: names of the ops that applications of the rule made."""

    def __init__(self, ctx: Context, rule: Rule, made: Sequence[tuple[str, ...]] = ()):
        self._ctx = ctx
        self._rule = rule
        self._made = made
        self._decides = rule.group is not None or bool(rule.decisions)

    def all(self) -> Iterator[Mutant]:
        """The mutants in a fixed order, each text of `what` once."""
        seen: Counter[str] = Counter()
        same = set(canonical_forms(self._rule, self._commutes))
        parts = (
            self._conditions,
            self._patterns,
            self._identities,
            self._replacements,
            self._made_ops,
            self._decisions,
            self._class,
        )
        for part in parts:
            for mutant in part():
                seen[mutant.what] += 1
                number = seen[mutant.what]
                if mutant.rule.callback is None and next(canonical_forms(mutant.rule)) in same:
                    mutant = replace(mutant, equivalent=SAME_RULE)
                yield mutant if number == 1 else replace(mutant, what=f"{mutant.what} ({number})")

    def _mutant(self, what: str, **changes: Any) -> Mutant:
        return Mutant(replace(self._rule, **changes), what)

    def _commutes(self, name: str) -> bool:
        op_type = self._ctx.get_optional_op(name)
        return op_type is not None and op_type.has_trait(Commutative)

    # Conditions

    def _conditions(self) -> Iterator[Mutant]:
        when = self._rule.when
        for place, required in enumerate(when):
            names = [name_of(key) for key in required.keys]
            about = condition_text(required, names)
            rest = (*when[:place], *when[place + 1 :])
            known = CONDITIONS[required.name]
            dropped = self._mutant(f"drop condition {about}", when=rest)
            yield replace(dropped, protects=known.protects, equivalent=self._implied(required.name, required.keys))
            if required.name in OTHER_CONDITION:
                other = replace(required, name=OTHER_CONDITION[required.name])
                yield self._mutant(
                    f"condition {about} becomes '{other.name}'", when=(*when[:place], other, *when[place + 1 :])
                )
            for becomes, other in other_parameters(required, names):
                changed = self._mutant(
                    f"condition {about} becomes {becomes}", when=(*when[:place], other, *when[place + 1 :])
                )
                yield replace(changed, protects=known.protects)
            if len(required.keys) >= 2 and required.name not in SYMMETRIC and known.protects == "value":
                swapped = replace(required, keys=(required.keys[1], required.keys[0], *required.keys[2:]))
                yield self._mutant(
                    f"swap arguments of condition {about}", when=(*when[:place], swapped, *when[place + 1 :])
                )

    def _implied(self, name: str, keys: Sequence[str]) -> str | None:
        """Why a condition says nothing that the engine does not see to."""
        rhs = self._rule.rhs
        if name in ("same-type", "equal-types") and len(rhs) == 1 and isinstance(rhs[0], Bound):
            if set(keys) == {rhs[0].key, self._rule.lhs.key}:
                return "a rule that replaces its root by a value applies only where both have one type"
        return None

    # What is matched

    def _patterns(self) -> Iterator[Mutant]:
        for pattern in dict.fromkeys([*all_below(self._rule.lhs), *self._rule.free]):
            match pattern:
                case Op():
                    yield from self._ops(pattern)
                case Splat(value):
                    for number in (value + 1.0, -value) if value == 0.0 else (value + 1.0,):
                        new = replace(pattern, value=number)
                        yield self._patterned(f"splat {value} becomes {number}", pattern, new)
                    yield self._patterned(f"splat {value} becomes any constant", pattern, Constant(pattern.key))
                case Where(inner, test):
                    yield self._patterned(f"drop test {type(test).__name__} of {self._name(inner)}", pattern, inner)
                    if isinstance(test, HasDtype | HasType):
                        dtype = "f32" if wished_dtype(test) == "f64" else "f64"
                        other = Where(inner, HasDtype(dtype), pattern.key)
                        yield self._patterned(f"element type of {self._name(inner)} becomes {dtype}", pattern, other)
                case Result(_, int(index)):
                    other = replace(pattern, index=index + 1)
                    yield self._patterned(f"result {index} becomes {index + 1}", pattern, other)
                case Or() if self._decides:
                    for what, new in fewer_alternatives(pattern, self._name(pattern)):
                        yield self._patterned(what, pattern, new)
                case _:
                    for what, new in other_loops(pattern, self._name(pattern)):
                        yield self._patterned(what, pattern, new)

    def _patterned(self, what: str, old: Pattern, new: Pattern) -> Mutant:
        return Mutant(with_pattern(self._rule, old, new), what)

    def _name(self, pattern: Pattern) -> str:
        while isinstance(pattern, Where):
            pattern = pattern.pattern
        return name_of(pattern.key)

    def _ops(self, pattern: Op) -> Iterator[Mutant]:
        where = name_of(pattern.key)
        if where == "%_" and pattern.names:
            where = f"'{' | '.join(pattern.names)}'"
        for name in pattern.names:
            sibling = SIBLINGS.get(name)
            if sibling is not None and sibling not in pattern.names:
                names = tuple(sibling if each == name else each for each in pattern.names)
                yield self._patterned(
                    f"{where} matches {sibling} instead of {name}", pattern, replace(pattern, names=names)
                )
        operands = pattern.operands or ()
        for place in range(len(operands) - 1):
            first, second = operands[place], operands[place + 1]
            if first is second or all(self._commutes(name) for name in pattern.names):
                continue
            swapped = (*operands[:place], second, first, *operands[place + 2 :])
            yield self._patterned(
                f"swap operands {place} and {place + 1} of {where}", pattern, replace(pattern, operands=swapped)
            )
        for place, (name, wanted) in enumerate(pattern.attributes):
            rest = (*pattern.attributes[:place], *pattern.attributes[place + 1 :])
            if not isinstance(wanted, Capture):
                yield self._patterned(f"drop {name} of {where}", pattern, replace(pattern, attributes=rest))

    def _identities(self) -> Iterator[Mutant]:
        """A name that stands at several places, another one at the last of them."""
        uses: dict[int, tuple[Pattern, list[tuple[Op, int]]]] = {}
        for pattern in dict.fromkeys(all_below(self._rule.lhs)):
            if isinstance(pattern, Op):
                for place, operand in enumerate(pattern.operands or ()):
                    uses.setdefault(id(operand), (operand, []))[1].append((pattern, place))
        for operand, places in uses.values():
            if len(places) < 2 or not isinstance(operand, Any_):
                continue
            holder, place = places[-1]
            assert holder.operands is not None
            operands = (*holder.operands[:place], Any_(fresh_key()), *holder.operands[place + 1 :])
            yield self._patterned(
                f"{name_of(operand.key)} need not be the same everywhere", holder, replace(holder, operands=operands)
            )

    # What replaces it

    def _replacements(self) -> Iterator[Mutant]:
        rhs = self._rule.rhs
        leaves = [p.key for p in dict.fromkeys(all_below(self._rule.lhs)) if isinstance(p, Any_ | Constant)]
        for place, item in enumerate(rhs):
            if isinstance(item, Bound):
                for what, new in _other_values(item, leaves):
                    yield self._mutant(what, rhs=(*rhs[:place], new, *rhs[place + 1 :]))
        for item in {each.key: each for each in _all_items(rhs)}.values():
            faults = _creates(item, leaves, self._commutes) if isinstance(item, Create) else _builds(item)
            for what, new in faults:
                yield self._mutant(what, rhs=tuple(_with_item(each, item.key, new) for each in rhs))
        if len(rhs) > 1:
            yield self._mutant("swap the first two replacements", rhs=(rhs[1], rhs[0], *rhs[2:]))

    def _made_ops(self) -> Iterator[Mutant]:
        """Faults in what a builder, a Python function, makes."""
        if self._rule.callback is None and not any(isinstance(item, Build) for item in _all_items(self._rule.rhs)):
            return
        rows = dict.fromkeys((number, name) for names in self._made for number, name in enumerate(names))
        for number, name in sorted(rows):
            where = f"op {number} that the builder makes"
            if name in SIBLINGS:
                yield self._edited(f"{where} is {SIBLINGS[name]} instead of {name}", number, name, as_sibling)
            op_type = self._ctx.get_optional_op(name)
            if op_type is None or not issubclass(op_type, IRDLOperation):
                continue
            if len(op_type.get_irdl_definition().operands) >= 2 and not self._commutes(name):
                yield self._edited(f"{where}, {name}, has its operands swapped", number, name, with_operands_swapped)
            if op_type.get_irdl_definition().properties:
                yield self._edited(f"{where}, {name}, has another property", number, name, with_another_property)

    def _edited(self, what: str, number: int, name: str, edit: Edit) -> Mutant:
        compiled, edits = compile_rule(self._rule), list[int]()

        def make(match: Match) -> list[SSAValue] | None:
            values = compiled.make(match)
            if values is None or number >= len(match.new_ops) or match.new_ops[number].name != name:
                return values
            old = match.new_ops[number]
            if edit(match, old):
                edits.append(number)
            new = match.new_ops[number]
            return [new.results[value.index] if value.owner is old else value for value in values]  # pyright: ignore

        return replace(self._mutant(what, rhs=(), callback=make), edits=edits)

    def _decisions(self) -> Iterator[Mutant]:
        for what, decisions in other_decisions(self._rule):
            yield self._mutant(what, decisions=decisions)

    def _class(self) -> Iterator[Mutant]:
        if self._rule.numerics == "fast":
            yield self._mutant("declare it exact", numerics="exact")


def _all_items(items: Sequence[Replacement]) -> Iterator[Create | Build]:
    """What a replacement makes."""
    for item in items:
        if not isinstance(item, Bound):
            yield item
        if isinstance(item, Create):
            yield from _all_items(item.operands)


def _with_item(item: Replacement, key: str, new: Replacement) -> Replacement:
    """`item` with everything of this key replaced: an op that stands at two places is made once."""
    if isinstance(item, Bound):
        return item
    if item.key == key:
        return new
    if isinstance(item, Create):
        return replace(item, operands=tuple(_with_item(each, key, new) for each in item.operands))
    return item


def _other_values(item: Bound, leaves: Sequence[str]) -> Iterator[tuple[str, Bound]]:
    for other in leaves:
        if other != item.key:
            yield f"{name_of(item.key)} becomes {name_of(other)}", Bound(other)


def _builds(item: Build) -> Iterator[tuple[str, Replacement]]:
    keys, name = item.keys, item.name
    for place in range(len(keys) - 1):
        if keys[place] != keys[place + 1]:
            swapped = (*keys[:place], keys[place + 1], keys[place], *keys[place + 2 :])
            yield f"swap arguments {place} and {place + 1} of '{name}'", replace(item, keys=swapped)
    for parameter, value in item.parameters:
        changed = changed_attribute(value)
        if changed is not None:
            given = tuple((p, changed if p == parameter else v) for p, v in item.parameters)
            yield f"{parameter} of '{name}' becomes {changed}", replace(item, parameters=given)


def _creates(item: Create, leaves: Sequence[str], commutes: Callable[[str], bool]) -> Iterator[tuple[str, Replacement]]:
    operands, new = item.operands, f"the new {item.name}"
    if item.name in SIBLINGS:
        yield f"make {SIBLINGS[item.name]} instead of {item.name}", replace(item, name=SIBLINGS[item.name])
    for place in range(len(operands) - 1):
        if not commutes(item.name) and operands[place] != operands[place + 1]:
            swapped = (*operands[:place], operands[place + 1], operands[place], *operands[place + 2 :])
            yield f"swap operands {place} and {place + 1} of {new}", replace(item, operands=swapped)
    for name, value in item.attributes:
        changed = None if isinstance(value, Capture | Computed) else changed_attribute(value)
        rest = tuple((n, v) for n, v in item.attributes if n != name)
        if changed is not None:
            given = (*rest, (name, changed))
            yield f"{name} of {new} becomes {changed}", replace(item, attributes=given)
        else:
            yield f"drop {name} of {new}", replace(item, attributes=rest)
    for place, operand in enumerate(operands):
        if isinstance(operand, Bound):
            for what, other in _other_values(operand, leaves):
                made = (*operands[:place], other, *operands[place + 1 :])
                yield f"operand {place} of {new}: {what}", replace(item, operands=made)


def mutants_of(ctx: Context, rule: Rule, made: Sequence[tuple[str, ...]] = ()) -> list[Mutant]:
    """All mutants of `rule`."""
    return list(Mutator(ctx, rule, made).all())


__all__ = ["Mutant", "mutants_of"]
