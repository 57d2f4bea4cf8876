"""
The pattern language: immutable descriptions of what to look for and what to put in its place.

Every pattern has a binding key. A key that is met twice in one rule stands for the same value (or op) both times, so
`Op("graph.add", (x, x))` matches `add(a, a)` only. Two surfaces make these objects: Python (this file's
constructors) and the `pattern` dialect (`loading.py`); both are compiled by `matcher.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from xdsl.ir import Attribute

Numerics = Literal["exact", "rounding", "fast"]
"""exact: same bits; rounding: same real function; fast: may lose NaN, inf and the sign of zero."""

NUMERICS: tuple[Numerics, ...] = ("exact", "rounding", "fast")

_fresh = count()


def _fresh_key() -> str:
    return f"#{next(_fresh)}"


@dataclass(frozen=True)
class Pattern:
    """Base of all patterns of a value."""


@dataclass(frozen=True)
class Any_(Pattern):
    """Any value."""

    key: str = field(default_factory=_fresh_key)


@dataclass(frozen=True)
class Constant(Pattern):
    """A value that is known when the program is compiled: the result of a constant op."""

    key: str = field(default_factory=_fresh_key)


@dataclass(frozen=True)
class Splat(Pattern):
    """
    A constant all of whose elements are `value`, of any shape and element type.

    0.0 and -0.0 differ for floats; an integer element is compared as a number.
    """

    value: float
    key: str = field(default_factory=_fresh_key)


@dataclass(frozen=True)
class Capture:
    """In the place of an attribute: any attribute, bound to `key`; met twice, equal attributes."""

    key: str


@dataclass(frozen=True)
class Op(Pattern):
    """
    The result of an op of one of `names` (any op when empty).

    `operands`: one pattern per operand, or `None` for any operands; a last `Rest` takes those that are left.
    `attributes`: properties or attributes that must have these values; a property that is absent has its default.
    """

    names: tuple[str, ...]
    operands: tuple[Pattern, ...] | None = None
    attributes: tuple[tuple[str, Attribute | Capture], ...] = ()
    key: str = field(default_factory=_fresh_key)


@dataclass(frozen=True)
class Result(Pattern):
    """Result `index` of the op that `op` matches; an `Op` itself stands for result 0 of a one-result op."""

    op: Op
    index: int
    key: str = field(default_factory=_fresh_key)


@dataclass(frozen=True)
class Or(Pattern):
    """The first alternative that leads to a match of the whole rule; bindings of a failed one are forgotten."""

    alternatives: tuple[Pattern, ...]
    key: str = field(default_factory=_fresh_key)


@dataclass(frozen=True)
class Rest(Pattern):
    """The remaining operands of an op, as one tuple of values; only as its last operand."""

    key: str = field(default_factory=_fresh_key)


def optional(inner: Pattern, wrap: Callable[[Pattern], Pattern]) -> Or:
    """`wrap(inner)` where it is there, else `inner`."""
    return Or((wrap(inner), inner))


@dataclass(frozen=True)
class Require:
    """
    A named condition on what is bound to `keys`. `parameters` are plain attributes of the condition.

    `remark`, when given, is emitted at the root op when the pattern matches and this condition alone does not hold.
    """

    name: str
    keys: tuple[str, ...]
    parameters: tuple[tuple[str, Attribute], ...] = ()
    remark: str | None = None


@dataclass(frozen=True)
class Bound:
    """In a replacement: what `key` is bound to; an op stands for all its results."""

    key: str


@dataclass(frozen=True)
class Create:
    """
    In a replacement: a new op; it stands for all its results.

    The types of its results are those of the root when it is what the root is replaced by, that of `like` when
    given, else inferred.
    """

    name: str
    operands: tuple[Replacement, ...] = ()
    attributes: tuple[tuple[str, Attribute | Capture], ...] = ()
    like: str | None = None
    key: str = field(default_factory=_fresh_key)


@dataclass(frozen=True)
class Build:
    """In a replacement: what the named builder makes of `keys`; for what `Create` cannot say."""

    name: str
    keys: tuple[str, ...]
    parameters: tuple[tuple[str, Attribute], ...] = ()
    key: str = field(default_factory=_fresh_key)


Replacement = Bound | Create | Build


@dataclass(frozen=True)
class Rule:
    """
    `lhs` becomes `rhs` where all of `when` hold.

    A rule never changes a type: where the replacement would have another one than the root, the rule does not apply.
    """

    name: str
    lhs: Op
    rhs: tuple[Replacement, ...]
    when: tuple[Require, ...] = ()
    free: tuple[Op, ...] = ()
    """Ops that are not reached from the root by operands; a condition finds them (`equivalent`, say)."""
    numerics: Numerics = "exact"
    doc: str = ""

    def __post_init__(self) -> None:
        if self.numerics not in NUMERICS:
            raise ValueError(
                f"rule '{self.name}' has numerics '{self.numerics}', expected one of {', '.join(NUMERICS)}"
            )


def op(name: str | tuple[str, ...], *operands: Pattern, **attributes: Attribute | Capture) -> Op:
    """`op("graph.add", x, y)`; attributes by name."""
    names = (name,) if isinstance(name, str) else name
    return Op(names, operands, tuple(attributes.items()))


def create(name: str, *operands: Replacement | Pattern, **attributes: Attribute | Capture) -> Create:
    """`create("graph.ewise_fma", a, b, c)`; a pattern stands for what it is bound to."""
    return Create(name, tuple(_as_replacement(operand) for operand in operands), tuple(attributes.items()))


def rule(
    name: str,
    lhs: Op,
    rhs: Pattern | Replacement,
    *when: Require,
    numerics: Numerics = "exact",
    doc: str = "",
) -> Rule:
    """A rule with one replacement value."""
    return Rule(name, lhs, (_as_replacement(rhs),), when, numerics=numerics, doc=doc)


def require(name: str, *patterns: Pattern, remark: str | None = None, **parameters: Attribute) -> Require:
    """The condition `name` on what the patterns are bound to."""
    return Require(name, tuple(_key(pattern) for pattern in patterns), tuple(parameters.items()), remark)


def _key(pattern: Any) -> str:
    return pattern.key


def _as_replacement(item: Pattern | Replacement) -> Replacement:
    return Bound(_key(item)) if isinstance(item, Pattern) else item


def subpatterns(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly below `pattern`."""
    match pattern:
        case Op():
            return pattern.operands or ()
        case Result():
            return (pattern.op,)
        case Or():
            return pattern.alternatives
        case _:
            return ()


def depth(pattern: Pattern) -> int:
    """Number of ops on the longest path down `pattern`."""
    below = max((depth(part) for part in subpatterns(pattern)), default=0)
    return below + isinstance(pattern, Op | Constant | Splat)


Bindings = Mapping[str, Any]
