"""Rules as data: a pattern, the conditions on what it matches, and the replacement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, Literal

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, f64, i64
from xdsl.ir import Attribute, Operation

from ...core.messages.diagnostics import OperationError
from ...core.roles import NUMERICS_CLASS
from ...lazy_dataclass import dataclass
from .combinators import Together
from .patterns import Capture, Op, Pattern, Splat, all_below, fresh_key, picks_result
from .shown import Words, cut
from .signatures import RuleError, not_a_pattern

Numerics = Literal["exact", "rounding", "quantised", "fast"]
"""`exact` gives the same bits, `rounding` the same real function. `quantised` counts
the same steps of a scale up to one. `fast` may lose NaN, inf and the sign of zero."""

NUMERICS: tuple[Numerics, ...] = ("exact", "rounding", "quantised", "fast")


@dataclass(frozen=True)
class Require:
    """
    A named condition on what is bound to `keys`. `parameters` are plain attributes of the condition.

    `remark`, when given, is emitted at the root op when the pattern matches and only this condition does not hold.
    """

    name: str
    keys: tuple[str, ...]
    parameters: tuple[tuple[str, Attribute], ...] = ()
    remark: str | None = None


@dataclass(frozen=True)
class Computed:
    """An attribute of a new op that `formula` computes from sizes and attributes: `[size($0, 0), $1 * 2]`."""

    formula: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Bound:
    """The values that `key` is bound to, in a replacement. An op stands for all its results."""

    key: str


@dataclass(frozen=True)
class Create:
    """
    A new op in a replacement. It stands for all its results.

    An op that replaces the root has the result types of the root. Any other new op has the type of `like` when that is
    given, else inferred types.
    """

    name: str
    operands: tuple[Replacement, ...] = ()
    attributes: tuple[tuple[str, Attribute | Capture | Computed], ...] = ()
    like: str | None = None
    key: str = field(default_factory=fresh_key)


@dataclass(frozen=True)
class Build:
    """
    The values that the named builder makes of `keys`, in a replacement that `Create` cannot describe.

    `made` are the new values among them, which are made first.
    """

    name: str
    keys: tuple[str, ...]
    parameters: tuple[tuple[str, Attribute], ...] = ()
    key: str = field(default_factory=fresh_key)
    made: tuple[Create | Build, ...] = ()


Replacement = Bound | Create | Build


@dataclass(frozen=True)
class Decide:
    """
    A decision about the op that `key` is bound to: attributes that it gets where it does not have them, and the reason.
    """

    key: str
    attributes: tuple[tuple[str, Attribute | Capture | Computed], ...]
    because: str

    def needed_keys(self) -> set[str]:
        """Returns the keys that the decision needs."""
        found = {self.key}
        for _, wanted in self.attributes:
            found |= set(wanted.keys) if isinstance(wanted, Computed) else set()
            found |= {wanted.key} if isinstance(wanted, Capture) else set()
        return found


@dataclass(frozen=True, repr=False)
class Rule:
    """
    `lhs` becomes `rhs` where all of `when` hold.

    A rule never changes a type. It does not apply where the replacement would have another type than the root.
    """

    name: str
    lhs: Pattern
    rhs: tuple[Replacement, ...]
    when: tuple[Require, ...] = ()
    free: tuple[Op, ...] = ()
    """The ops that cannot be reached from the root by operands. A condition such as `equivalent` finds them."""
    numerics: Numerics = "exact"
    doc: str = ""
    group: tuple[tuple[str, Attribute], ...] | None = None
    """The attributes of the functions that partitioning makes, for a rule without a replacement."""
    callback: Callable[..., Any] | None = None
    """The function that makes the replacement from the match instead of `rhs` (see `patterns.callback`)."""
    once: bool = False
    """True for a rule that retires after the first sweep in which it applied."""
    also: tuple[str, ...] = ()
    """The keys of further roots (`lhs` is a `Together`), whose results are replaced after those of the first."""
    injective: bool = False
    """True for a rule whose different names stand for different values."""
    effects: bool = False
    """True for a rule that may erase, move or make ops with effects. The others apply to no such op."""
    decisions: tuple[Decide, ...] = ()
    """The decisions of a rule that changes nothing else. Such a rule has no replacement."""

    checked: int = field(default=0, init=False, repr=False, compare=False)
    """What has been checked: 1 for what needs no dialects, 2 for everything."""

    picks_results: bool = field(default=False, init=False, repr=False, compare=False)
    """True for a rule that replaces one result of a root that may have several, and not all of them."""

    def __post_init__(self) -> None:
        if self.rhs or self.callback is not None:
            object.__setattr__(self, "picks_results", any(map(picks_result, self.root_patterns)))
        if self.numerics not in NUMERICS:
            raise RuleError(f"rule '{self.name}' has numerics '{self.numerics}', expected one of {', '.join(NUMERICS)}")

    def __repr__(self) -> str:
        words = Words({part.key: part for part in all_below(self.lhs)})
        made = "partition" if self.callback is None else getattr(self.callback, "__name__", "a function")
        made = "decide" if self.decisions else made
        left = words.of(self.lhs)  # It comes first, since it numbers the values.
        right = ", ".join(words.of(each) for each in self.rhs) or ("" if self.is_pattern else made)
        return f"<stepwell.Rule {self.name}: {cut(f'{left} => {right}' if right else left)}>"

    @property
    def root_patterns(self) -> tuple[Pattern, ...]:
        """The patterns of the roots, in their order. A further root stands beside the first, or below it in PDL."""
        if not self.also or isinstance(self.lhs, Together):
            return self.lhs.parts() if self.also else (self.lhs,)
        below = {part.key: part for part in all_below(self.lhs)}
        return self.lhs, *(below[key] for key in self.also)

    @property
    def is_pattern(self) -> bool:
        """Returns whether the rule only matches, and was made of a pattern that has no name."""
        return not self.rhs and self.callback is None and self.group is None and not self.decisions


def numerics_of(op: Operation) -> Numerics | None:
    """Returns the class that an attribute of `op` names, None where it has none. Raises `OperationError`."""
    given = op.attributes.get(NUMERICS_CLASS)
    for known in NUMERICS:
        if given == StringAttr(known):
            return known
    if given is not None:
        raise OperationError(op, f"{NUMERICS_CLASS} is {given}, expected one of {', '.join(NUMERICS)}")
    return None


def root_pattern(pattern: Pattern | tuple[Pattern, ...]) -> tuple[Pattern, tuple[str, ...]]:
    """Returns the pattern of one root or of several, and the keys of the roots after the first."""
    if isinstance(pattern, Pattern):
        return pattern, ()
    if not isinstance(pattern, tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise not_a_pattern(pattern, "a rule")
    if not pattern:
        raise RuleError("a rule has at least one root")
    first, *others = pattern
    return (first if not others else Together(pattern)), tuple(each.key for each in others)


def compute(formula: str, *things: Pattern | Capture) -> Computed:
    """Returns an attribute of a new op, as in `compute("[size($0, 0), $1 * 2]", x, axis)`."""
    return Computed(formula, tuple(thing.key for thing in things))


def create(name: str, *operands: Replacement | Pattern | float, **attributes: Attribute | Capture | Computed) -> Create:
    """
    Returns a new op, as in `create("graph.ewise_fma", a, b, c)`. A pattern stands for what it is bound to. A number is
    a scalar of the element type of the root.
    """
    return Create(name, tuple(_as_replacement(operand) for operand in operands), tuple(attributes.items()))


def rule(
    name: str,
    lhs: Pattern | tuple[Pattern, ...],
    rhs: Pattern | Replacement | float | tuple[Pattern | Replacement | float, ...],
    *when: Require,
    numerics: Numerics = "exact",
    doc: str = "",
    injective: bool = False,
    effects: bool = False,
) -> Rule:
    """
    Returns a rule of one root or several, with a replacement value for each result of the roots in order.

    In `rule("fused", x + -y, x - y)` the right side is a new op, since no part of the left side is this `Op`. A number
    is a constant of that number with the type of the root. Different names of an `injective` rule stand for different
    values. A rule with `effects` may erase, move and make ops with effects.
    """
    root, also = root_pattern(lhs)
    bound = {part.key for part in all_below(root)}
    bound.update(key for required in when for key in required.keys)
    made = tuple(_made(item, bound, "full") for item in (rhs if isinstance(rhs, tuple) else (rhs,)))
    return Rule(name, root, made, when, numerics=numerics, doc=doc, also=also, injective=injective, effects=effects)


def decide(target: Pattern, because: str, **attributes: Attribute | Capture | Computed) -> Decide:
    """
    Returns a decision, as in `decide(b, "it is short", **{"stepwell.share": IntegerAttr(0, 64)})`.
    """
    return Decide(target.key, tuple(attributes.items()), because)


def decision_rule(name: str, lhs: Pattern, *parts: Decide | Require, doc: str = "", injective: bool = False) -> Rule:
    """Returns a rule that makes decisions where `lhs` matches and the conditions among `parts` hold."""
    when = tuple(part for part in parts if isinstance(part, Require))
    decisions = tuple(part for part in parts if isinstance(part, Decide))
    if not decisions:
        raise RuleError(f"rule '{name}' decides nothing")
    return Rule(name, lhs, (), when, doc=doc, injective=injective, decisions=decisions)


def _made(item: Pattern | Replacement | float, bound: set[str], builder: str) -> Replacement:
    """Returns a replacement, where an `Op` that is not `bound` is a new op, and a number is what `builder` makes."""
    if isinstance(item, Splat) and item.key not in bound:
        item = item.value
    if isinstance(item, Op) and item.key not in bound:
        if len(item.names) != 1:
            raise RuleError(f"a new op has one name, found {' or '.join(item.names) or 'none'}")
        operands = tuple(_made(each, bound, "scalar") for each in item.operands or ())
        return Create(item.names[0], operands, item.attributes, key=item.key)
    return _as_replacement(item, builder)


def require(name: str, *patterns: Pattern, remark: str | None = None, **parameters: Attribute) -> Require:
    """Returns the condition `name` on what the patterns are bound to."""
    for pattern in patterns:
        if not isinstance(pattern, Pattern | Capture):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise not_a_pattern(pattern, f"require({name!r})")
    return Require(name, tuple(pattern.key for pattern in patterns), tuple(parameters.items()), remark)


def compare(formula: str, *things: Pattern | Capture, remark: str | None = None) -> Require:
    """Returns the condition that two numbers compare so, as in `compare("size($0, 0) <= $1 * 2", x, axis)`."""
    keys = tuple(thing.key for thing in things)
    return Require("compare", keys, (("formula", StringAttr(formula)),), remark)


def negated(required: Require) -> Require:
    """Returns the contrary of a condition. That of a contrary is the condition itself."""
    if required.name == "not":
        (_, inner), *parameters = required.parameters
        assert isinstance(inner, StringAttr)
        return Require(inner.data, required.keys, tuple(parameters), required.remark)
    parameters = (("condition", StringAttr(required.name)), *required.parameters)
    return Require("not", required.keys, parameters, required.remark)


def _as_replacement(item: Pattern | Replacement | float, builder: str = "scalar") -> Replacement:
    if isinstance(item, int | float) and not isinstance(item, bool):
        number = IntegerAttr(item, i64) if isinstance(item, int) else FloatAttr(item, f64)
        return Build(builder, (), (("value", number),))
    if not isinstance(item, Pattern | Bound | Create | Build):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a replacement is a pattern, Create, Build or a number, found {item!r}")
    return Bound(item.key) if isinstance(item, Pattern) else item
