"""Small faults put into a rule, one at a time: does testing the rule notice?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, Final

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from ...dialects.traits import Commutative
from ...rewrites.engine.compiled_rule import compile_rule
from ...rewrites.engine.constraints import HasDtype, HasType, Where
from ...rewrites.engine.match import CONDITIONS, Match
from ...rewrites.engine.patterns import (
    Any_,
    Bound,
    Build,
    Capture,
    Constant,
    Create,
    Op,
    Pattern,
    Replacement,
    Result,
    Rule,
    Splat,
    all_below,
    fresh_key,
)

_PAIRS: Final = (
    ("add", "subtract"),
    ("maximum", "minimum"),
    ("equal", "not_equal"),
    ("less", "less_equal"),
    ("greater", "greater_equal"),
    ("logical_and", "logical_or"),
    ("bitwise_and", "bitwise_or"),
    ("left_shift", "right_shift"),
    ("negative", "abs"),
    ("floor", "ceil"),
    ("sqrt", "rsqrt"),
    ("exp", "exp2"),
    ("log", "log2"),
    ("max_pool2d", "avg_pool2d"),
    ("sum", "mean"),
    ("max", "min"),
    ("argmax", "argmin"),
    ("any", "all"),
    ("sin", "cos"),
    ("tanh", "sigmoid"),
    ("softmax", "log_softmax"),
    ("isnan", "isinf"),
)

SIBLINGS: Final[dict[str, str]] = {
    **{f"graph.{a}": f"graph.{b}" for a, b in _PAIRS},
    **{f"graph.{b}": f"graph.{a}" for a, b in _PAIRS},
    "graph.multiply": "graph.add",
    "graph.divide": "graph.multiply",
    "graph.power": "graph.multiply",
    "graph.floor_divide": "graph.divide",
    "graph.mod": "graph.floor_divide",
    "graph.logical_xor": "graph.logical_or",
    "graph.bitwise_xor": "graph.bitwise_or",
    "graph.relu": "graph.abs",
    "graph.sign": "graph.relu",
    "graph.trunc": "graph.floor",
    "graph.round": "graph.floor",
    "graph.square": "graph.abs",
}
"""What an op is mistaken for: another one with the same operands and result."""

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
    {"same-type", "equal-types", "same-block", "same-op", "not-same", "same-size", "equal-attributes"}
)
"""Conditions whose arguments may be swapped."""


@dataclass(frozen=True)
class Mutant:
    """A rule with a fault, what the fault is, and why testing cannot notice it when that is known."""

    rule: Rule
    what: str
    protects: str = "value"
    """Of a dropped condition, what it was for; only faults in what protects the value can be noticed by values."""
    equivalent: str | None = None
    edits: list[int] | None = None
    """Of a fault in what a builder makes: one entry for each time there was something to change."""


def name_of(key: str) -> str:
    """`%x`, as the author of the rule wrote it."""
    return f"%{key.partition('.')[0]}"


def rebuilt(pattern: Any, change: Callable[[Pattern], Pattern | None], memo: dict[int, Any]) -> Any:
    """`pattern` with every part that `change` gives another one for replaced; parts that are shared stay shared."""
    if isinstance(pattern, tuple):
        return tuple(rebuilt(each, change, memo) for each in pattern)
    if not isinstance(pattern, Pattern):
        return pattern
    if id(pattern) not in memo:
        new = change(pattern)
        if new is None:
            parts = {each.name: getattr(pattern, each.name) for each in fields(pattern)}
            made = {name: rebuilt(value, change, memo) for name, value in parts.items()}
            new = (
                replace(pattern, **made) if any(made[name] is not parts[name] for name in parts) else pattern
            )
        memo[id(pattern)] = new
    return memo[id(pattern)]


def with_pattern(rule: Rule, old: Pattern, new: Pattern) -> Rule:
    """`rule` with one part of its pattern replaced."""
    memo: dict[int, Any] = {}

    def change(pattern: Pattern) -> Pattern | None:
        return new if pattern is old else None

    return replace(rule, lhs=rebuilt(rule.lhs, change, memo), free=rebuilt(rule.free, change, memo))


SAME_RULE: Final = "the same rule, but for names and the order of operands of commutative ops"


def canonical_forms(rule: Rule, commutes: Callable[[str], bool] | None = None) -> Iterator[str]:
    """
    The rule as text with names numbered in the order of the pattern, keys that nothing else mentions left out; with
    `commutes`, for every order of operands of commutative ops.
    """
    ops = [p for p in dict.fromkeys(all_below(rule.lhs)) if isinstance(p, Op) and len(p.operands or ()) == 2]
    swaps = [p for p in ops if commutes is not None and p.names and all(map(commutes, p.names))][:MOST_SWAPS]
    for choice in product((False, True), repeat=len(swaps)):
        swapped = {id(p) for p, chosen in zip(swaps, choice, strict=True) if chosen}
        text = repr((_Numbering(swapped).pattern(rule.lhs), rule.free and repr(rule.free), rule.numerics))
        numbering = _Numbering(swapped)
        numbering.pattern(rule.lhs)
        yield text + numbering.renamed(repr((rule.when, rule.rhs)))


MOST_SWAPS: Final = 6
"""Commutative ops of one pattern of which both orders are looked at."""


class _Numbering:
    def __init__(self, swapped: set[int]):
        self._swapped = swapped
        self._numbers: dict[str, int] = {}

    def pattern(self, pattern: Pattern) -> Any:
        key: str = getattr(pattern, "key", "")
        if key in self._numbers and key:
            return f"again {self._numbers[key]}"
        self._numbers[key] = len(self._numbers)
        parts: list[Any] = [type(pattern).__name__, self._numbers[key]]
        for each in fields(pattern):
            value = getattr(pattern, each.name)
            if each.name == "key":
                continue
            if each.name == "operands" and id(pattern) in self._swapped:
                value = value[::-1]
            is_patterns = isinstance(value, tuple) and any(isinstance(item, Pattern) for item in value)
            if isinstance(value, Pattern):
                parts.append(self.pattern(value))
            else:
                parts.append([self.pattern(item) for item in value] if is_patterns else repr(value))
        return parts

    def renamed(self, text: str) -> str:
        for key, number in self._numbers.items():
            text = text.replace(repr(key), f"#{number}")
        return re.sub(r"'made\.\d+'", "made", text)


class Mutator:
    """All mutants of one rule. `made`: names of the ops that applications of the rule made."""

    def __init__(self, ctx: Context, rule: Rule, made: Sequence[tuple[str, ...]] = ()):
        self._ctx = ctx
        self._rule = rule
        self._made = made

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
            about = f"'{required.name}'({', '.join(map(name_of, required.keys))})"
            rest = (*when[:place], *when[place + 1 :])
            known = CONDITIONS[required.name]
            dropped = self._mutant(f"drop condition {about}", when=rest)
            yield replace(
                dropped, protects=known.protects, equivalent=self._implied(required.name, required.keys)
            )
            if required.name in OTHER_CONDITION:
                other = replace(required, name=OTHER_CONDITION[required.name])
                yield self._mutant(
                    f"condition {about} becomes '{other.name}'",
                    when=(*when[:place], other, *when[place + 1 :]),
                )
            if len(required.keys) >= 2 and required.name not in SYMMETRIC and known.protects == "value":
                swapped = replace(required, keys=(required.keys[1], required.keys[0], *required.keys[2:]))
                yield self._mutant(
                    f"swap arguments of condition {about}", when=(*when[:place], swapped, *when[place + 1 :])
                )

    def _implied(self, name: str, keys: Sequence[str]) -> str | None:
        """Why a condition says nothing that the engine does not see to."""
        rhs = self._rule.rhs
        if name == "same-type" and len(rhs) == 1 and isinstance(rhs[0], Bound):
            if set(keys) == {rhs[0].key, getattr(self._rule.lhs, "key", "")}:
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
                    yield self._patterned(
                        f"splat {value} becomes any constant", pattern, Constant(pattern.key)
                    )
                case Where(inner, test):
                    yield self._patterned(
                        f"drop test {type(test).__name__} of {self._name(inner)}", pattern, inner
                    )
                    if isinstance(test, HasDtype | HasType):
                        other = Where(inner, HasDtype("f64"), pattern.key)
                        yield self._patterned(
                            f"element type of {self._name(inner)} becomes f64", pattern, other
                        )
                case Result(_, index):
                    other = replace(pattern, index=index + 1)
                    yield self._patterned(f"result {index} becomes {index + 1}", pattern, other)
                case _:
                    pass

    def _patterned(self, what: str, old: Pattern, new: Pattern) -> Mutant:
        return Mutant(with_pattern(self._rule, old, new), what)

    def _name(self, pattern: Pattern) -> str:
        return name_of(getattr(pattern, "key", ""))

    def _ops(self, pattern: Op) -> Iterator[Mutant]:
        where = name_of(pattern.key)
        for name in pattern.names:
            sibling = SIBLINGS.get(name)
            if sibling is not None and sibling not in pattern.names:
                names = tuple(sibling if each == name else each for each in pattern.names)
                yield self._patterned(
                    f"{where} matches {sibling} instead of {name}", pattern, replace(pattern, names=names)
                )
        operands = pattern.operands or ()
        for place in range(len(operands) - 1):
            first, second = operands[place : place + 2]
            if first is second or all(self._commutes(name) for name in pattern.names):
                continue
            swapped = (*operands[:place], second, first, *operands[place + 2 :])
            yield self._patterned(
                f"swap operands {place} and {place + 1} of {where}",
                pattern,
                replace(pattern, operands=swapped),
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
                f"{name_of(operand.key)} need not be the same everywhere",
                holder,
                replace(holder, operands=operands),
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
        if self._rule.callback is None and not any(
            isinstance(item, Build) for item in _all_items(self._rule.rhs)
        ):
            return
        rows = dict.fromkeys((number, name) for names in self._made for number, name in enumerate(names))
        for number, name in sorted(rows):
            where = f"op {number} that the builder makes"
            if name in SIBLINGS:
                yield self._edited(
                    f"{where} is {SIBLINGS[name]} instead of {name}", number, name, _made_sibling
                )
            op_type = self._ctx.get_optional_op(name)
            if op_type is None or not issubclass(op_type, IRDLOperation):
                continue
            if len(op_type.get_irdl_definition().operands) >= 2 and not self._commutes(name):
                yield self._edited(f"{where}, {name}, has its operands swapped", number, name, _made_swapped)
            if op_type.get_irdl_definition().properties:
                yield self._edited(f"{where}, {name}, has another property", number, name, _made_changed)

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


def _creates(
    item: Create, leaves: Sequence[str], commutes: Callable[[str], bool]
) -> Iterator[tuple[str, Replacement]]:
    operands, new = item.operands, f"the new {item.name}"
    if item.name in SIBLINGS:
        yield f"make {SIBLINGS[item.name]} instead of {item.name}", replace(item, name=SIBLINGS[item.name])
    for place in range(len(operands) - 1):
        if not commutes(item.name) and operands[place] != operands[place + 1]:
            swapped = (*operands[:place], operands[place + 1], operands[place], *operands[place + 2 :])
            yield f"swap operands {place} and {place + 1} of {new}", replace(item, operands=swapped)
    for name, value in item.attributes:
        changed = None if isinstance(value, Capture) else changed_attribute(value)
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


Edit = Callable[[Match, Operation], bool]
"""Changes an op that a builder made, in `new_ops` of the match; whether there was something to change."""


def _made_sibling(match: Match, op: Operation) -> bool:
    op_type: Any = match.session.op_type(SIBLINGS[op.name])
    wanted = op_type.get_irdl_definition().properties
    new = op_type.create(
        operands=op.operands,
        result_types=[result.type for result in op.results],
        properties={name: value for name, value in op.properties.items() if name in wanted},
    )
    match.new_ops[match.new_ops.index(op)] = new
    for old_result, new_result in zip(op.results, new.results, strict=True):
        old_result.replace_all_uses_with(new_result)
    op.drop_all_references()
    return True


def _made_swapped(match: Match, op: Operation) -> bool:
    op.operands = [op.operands[1], op.operands[0], *op.operands[2:]]
    return op.operands[0] is not op.operands[1]


SETS_OF_AXES: Final = frozenset({"expand_dims", "squeeze", "sum", "mean", "max", "min", "prod", "any", "all"})
"""Ops whose list of axes has no order."""


def _made_changed(match: Match, op: Operation) -> bool:
    """
    Changes the first property that can be changed without a change of the result types, else the first that can be
    changed at all.
    """
    ordered = op.name.partition(".")[2] not in SETS_OF_AXES
    changes = [
        (name, value, changed)
        for name, value in op.properties.items()
        for changed in changed_attributes(value)
        if ordered or not _same_set(value, changed)
    ]
    for name, value, changed in changes:
        op.properties[name] = changed
        try:
            op.verify(verify_nested_ops=False)
        except Exception:  # whatever a verifier raises: this change is none that could pass
            op.properties[name] = value
            continue
        return True
    if changes:
        op.properties[changes[0][0]] = changes[0][2]
    return bool(changes)


def _same_set(one: Attribute, other: Attribute) -> bool:
    return all(isinstance(each, ArrayAttr | DenseArrayBase) for each in (one, other)) and sorted(
        str(one).split(",")
    ) == sorted(str(other).split(","))


def changed_attribute(value: Attribute) -> Attribute | None:
    """Another attribute of the same kind, `None` when there is none."""
    return next(iter(changed_attributes(value)), None)


def changed_attributes(value: Attribute) -> list[Attribute]:
    """Other attributes of the same kind: a number one larger, a list rotated or with its first number changed."""
    match value:
        case IntegerAttr():
            number = value.value.data
            width = getattr(getattr(value.type, "width", None), "data", 64)
            return [IntegerAttr(number ^ 1 if width == 1 or number in (0, 1) else number + 1, value.type)]
        case FloatAttr():
            return [FloatAttr(value.value.data * 2 + 1, value.type)]
        case ArrayAttr() if value.data:
            items = list(value.data)
            rotated = [[*items[1:], items[0]]]
            first = [[other, *items[1:]] for other in changed_attributes(items[0])]
            return [ArrayAttr(each) for each in rotated + first if each != items]
        case DenseArrayBase() if len(value):
            numbers = list(value.get_values())
            lists = [[*numbers[1:], numbers[0]], [numbers[0] + 1, *numbers[1:]]]
            return [DenseArrayBase.from_list(value.elt_type, each) for each in lists if each != numbers]
        case _:
            return []


def mutants_of(ctx: Context, rule: Rule, made: Sequence[tuple[str, ...]] = ()) -> list[Mutant]:
    """All mutants of `rule`."""
    return list(Mutator(ctx, rule, made).all())


__all__ = ["Mutant", "changed_attribute", "mutants_of"]
