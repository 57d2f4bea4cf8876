"""Patterns of two rules unified: what programs look like in which one rule matches inside of what the other matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from xdsl.context import Context

from ...dialects.traits import Commutative
from ...lazy_dataclass import dataclass
from ...patterns.language.constraints import Holds, Literal, Test, Where
from ...patterns.language.patterns import Any_, Capture, Constant, Op, Or, Pattern, Splat
from ...patterns.language.rules import NUMERICS, Require, Rule
from ...patterns.language.shown import in_full

FLIPS: Final = 4
"""The combinations of orders of commutative operands that are tried for one pair of ops."""


class NotUnifiable(Exception):
    """Says that no value matches both patterns, or that a pattern is of a kind that is not looked at."""


@dataclass(frozen=True)
class _Node:
    """An op of a pattern, its operands by key."""

    names: tuple[str, ...]
    operands: tuple[str, ...] | None
    attributes: tuple[tuple[str, Any], ...]


class Unifier:
    """
    Classes of pattern keys that stand for one value. `flips` says bit by bit which pairs of commutative ops have their
    operands swapped, in the order in which they meet.
    """

    def __init__(self, ctx: Context, flips: int = 0):
        self._ctx = ctx
        self._parent: dict[str, str] = {}
        self._shapes: dict[str, _Node | Constant | Splat | Literal] = {}
        self._tests: dict[str, list[Test]] = {}
        self._flips = flips
        self.met = 0
        """The pairs of commutative ops that have met."""

    def find(self, key: str) -> str:
        """Returns the key that stands for the class of `key`."""
        while key in self._parent:
            key = self._parent[key]
        return key

    def add(self, pattern: Pattern, prefix: str, alternative: int = 0) -> str:
        """Adds a pattern with keys that begin with `prefix`, and returns its key. Of `or` it takes one alternative."""
        key = prefix + str(pattern.key)
        match pattern:
            case Any_():
                return key
            case Constant() | Splat() | Literal():
                self._shapes.setdefault(self.find(key), pattern)
            case Op():
                if self.find(key) not in self._shapes:
                    self._shapes[key] = self._node(pattern, prefix, alternative)
            case Where(inner, test):
                self._join(self.add(inner, prefix, alternative), key)
                self._tests.setdefault(self.find(key), []).append(_renamed_test(test, prefix))
            case Or(alternatives):
                chosen = alternatives[alternative % len(alternatives)]
                self._join(self.add(chosen, prefix, alternative), key)
            case _:
                raise NotUnifiable
        return key

    def _node(self, pattern: Op, prefix: str, alternative: int) -> _Node:
        operands = pattern.operands
        keys = None if operands is None else tuple(self.add(each, prefix, alternative) for each in operands)
        attributes = tuple((name, _renamed(value, prefix)) for name, value in pattern.attributes)
        return _Node(pattern.names, keys, attributes)

    def ops(self) -> list[str]:
        """Returns the keys of the ops that have been added."""
        return [key for key, shape in self._shapes.items() if isinstance(shape, _Node)]

    def names(self, key: str) -> tuple[str, ...]:
        """Returns the names that an op may have, and none for what is no op."""
        shape = self._shapes.get(self.find(key))
        return shape.names if isinstance(shape, _Node) else ()

    def _join(self, one: str, other: str) -> None:
        if self.find(one) != self.find(other):
            self.unify(one, other)

    def unify(self, one: str, other: str) -> None:
        """Makes the two keys stand for one value. Raises `NotUnifiable` where nothing is both."""
        one, other = self.find(one), self.find(other)
        if one == other:
            return
        first, second = self._shapes.get(one), self._shapes.pop(other, None)
        self._parent[other] = one
        self._tests.setdefault(one, []).extend(self._tests.pop(other, []))
        if first is None and second is not None:
            self._shapes[one] = second
        elif isinstance(first, _Node) and isinstance(second, _Node):
            self._unify_ops(one, first, second)
        elif first is not None and second is not None:
            self._shapes[one] = _same_constant(first, second)

    def _unify_ops(self, key: str, first: _Node, second: _Node) -> None:
        names = tuple(each for each in first.names if each in second.names) if second.names else first.names
        if not names and (first.names or second.names):
            names = second.names if not first.names else names
        if not names:
            raise NotUnifiable
        given = dict(second.attributes)
        for name, value in first.attributes:
            if name in given and not isinstance(value, Capture):
                if not isinstance(given[name], Capture) and given[name] != value:
                    raise NotUnifiable
                given[name] = value
            given.setdefault(name, value)
        operands = first.operands if second.operands is None else second.operands
        self._shapes[key] = _Node(names, operands, tuple(given.items()))
        if first.operands is None or second.operands is None:
            return
        if len(first.operands) != len(second.operands):
            raise NotUnifiable
        for one, other in zip(first.operands, self._ordered(names, second.operands), strict=True):
            self.unify(one, other)

    def _ordered(self, names: Sequence[str], operands: tuple[str, ...]) -> tuple[str, ...]:
        if len(operands) != 2 or not all(map(self._commutes, names)):
            return operands
        flipped = self._flips >> self.met & 1
        self.met += 1
        return operands[::-1] if flipped else operands

    def _commutes(self, name: str) -> bool:
        kind = self._ctx.get_optional_op(name)
        return kind is not None and any(isinstance(trait, Commutative) for trait in getattr(kind, "traits", ()))

    def pattern(self, key: str, around: tuple[str, ...] = ()) -> Pattern:
        """Returns the pattern of the class of `key`. Raises `NotUnifiable` for a value that would be below itself."""
        key = self.find(key)
        if key in around:
            raise NotUnifiable
        shape = self._shapes.get(key)
        if isinstance(shape, _Node):
            below = (*around, key)
            operands = None if shape.operands is None else tuple(self.pattern(each, below) for each in shape.operands)
            made: Pattern = Op(shape.names, operands, shape.attributes, key)
        else:
            made = Any_(key) if shape is None else replace(shape, key=key)
        for number, test in enumerate(self._tests.get(key, ())):
            made = Where(made, test, f"{key}.test{number}")
        return made


def _same_constant(first: Any, second: Any) -> Constant | Splat | Literal:
    """Returns the narrower one of two patterns of a constant."""
    if isinstance(first, _Node) or isinstance(second, _Node):
        raise NotUnifiable
    if isinstance(first, Constant):
        return second
    if isinstance(second, Constant):
        return first
    # As text, since 0.0 and -0.0 are equal.
    if type(first) is type(second) and str(first.value) != str(second.value):
        raise NotUnifiable
    return first if isinstance(first, Literal) else second


def _renamed(value: Any, prefix: str) -> Any:
    return Capture(prefix + value.key) if isinstance(value, Capture) else value


def _renamed_test(test: Test, prefix: str) -> Test:
    if isinstance(test, Holds):
        return replace(test, others=tuple(prefix + key for key in test.others))
    return test


class Overlaps:
    """What pairs of rules match together. The ops of each rule are looked up once."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self._places: dict[str, tuple[Rule, list[_Place]]] = {}

    def of(self, rule: Rule, other: Rule) -> Iterator[Rule]:
        """
        Yields what `rule` matches where `other` matches one of its ops, as rules without a replacement to draw programs
        of.

        A pair of rules overlaps at the root of both or at an inner op of `rule`. Rules with patterns other than ops,
        constants, alternatives and tests of one value are not looked at.
        """
        if rule.free or other.free or rule.also or other.also:
            return
        places, roots = self._places_of(rule), self._places_of(other)
        if not places or not roots:
            return
        seen: set[str] = set()
        for place in places:
            # At the root of both, one order says what the other says.
            is_new = place is not places[0] or rule.name < other.name
            if is_new and place.may_be(roots[0]):
                yield from self._at(place.key, rule, other, seen)

    def _at(self, place: str, rule: Rule, other: Rule, seen: set[str]) -> Iterator[Rule]:
        for flips in range(FLIPS):
            unifier = Unifier(self._ctx, flips)
            try:
                joint = _joint(unifier, rule, other, place)
            except NotUnifiable:
                joint = None
            if joint is not None and (text := in_full(joint.lhs)) not in seen:
                seen.add(text)
                yield joint
            if flips + 1 >= 1 << unifier.met:
                break

    def _places_of(self, rule: Rule) -> list[_Place]:
        """Returns the ops of a rule, the root first, and nothing for a rule that is not looked at."""
        known = self._places.get(rule.name)
        if known is None or known[0] is not rule:
            known = self._places[rule.name] = rule, _places(self._ctx, rule)
        return known[1]


@dataclass(frozen=True)
class _Place:
    """An op of a pattern: its key, and the names that it may have. Without names it may be any."""

    key: str
    names: tuple[str, ...]

    def may_be(self, other: _Place) -> bool:
        """Returns whether the names of both allow that one op matches both."""
        return not self.names or not other.names or not set(self.names).isdisjoint(other.names)


def _places(ctx: Context, rule: Rule) -> list[_Place]:
    unifier = Unifier(ctx)
    try:
        root = unifier.find(unifier.add(rule.lhs, "a."))
    except NotUnifiable:
        return []
    return [_Place(key, unifier.names(key)) for key in (root, *(key for key in unifier.ops() if key != root))]


def _joint(unifier: Unifier, rule: Rule, other: Rule, place: str) -> Rule:
    root, inner = unifier.add(rule.lhs, "a."), unifier.add(other.lhs, "b.")
    unifier.unify(place, inner)
    lhs = unifier.pattern(root)
    when = [(each, "a.") for each in rule.when] + [(each, "b.") for each in other.when]
    conditions = tuple(
        Require(each.name, tuple(unifier.find(prefix + key) for key in each.keys), each.parameters)
        for each, prefix in when
    )
    numerics = NUMERICS[max(NUMERICS.index(each.numerics) for each in (rule, other))]
    return Rule(f"{rule.name} with {other.name} at {place}", lhs, (), conditions, numerics=numerics)


__all__ = ["NotUnifiable", "Overlaps", "Unifier"]
