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
from typing import Any, ClassVar, Literal

from xdsl.ir import Attribute

Numerics = Literal["exact", "rounding", "fast"]
"""exact: same bits; rounding: same real function; fast: may lose NaN, inf and the sign of zero."""

NUMERICS: tuple[Numerics, ...] = ("exact", "rounding", "fast")

_fresh = count()


def fresh_key() -> str:
    return f"#{next(_fresh)}"


@dataclass(frozen=True)
class Pattern:
    """
    Base of all patterns of a value.

    `p | q`, `p & q` and `~p` are alternatives, conjunction and negation; the methods `has_…` add a test of the value.
    """

    levels: ClassVar[int] = 0
    """Ops that a match goes down by this pattern alone."""

    far_reaching: ClassVar[bool] = False
    """Whether it looks at ops that are not operands of operands: users, regions, other functions, long paths."""

    def parts(self) -> tuple[Pattern, ...]:
        """The patterns directly below this one."""
        return ()

    def certain_parts(self) -> tuple[Pattern, ...]:
        """Those of `parts` whose bindings hold in every match."""
        return self.parts()

    def __or__(self, other: Pattern) -> Or:
        return Or((self, other))

    def __and__(self, other: Pattern) -> Pattern:
        from .constraints import And

        return And((self, other))

    def __invert__(self) -> Pattern:
        from .constraints import Not

        return Not(self)

    def has_dtype(self, dtype: Attribute | str) -> Pattern:
        """The element type, as an attribute or as text (`"f32"`)."""
        from .constraints import HasDtype, Where

        return Where(self, HasDtype(dtype))

    def has_shape(self, *sizes: int | None) -> Pattern:
        """The shape; `None` is any size, and the only one that `?` equals."""
        from .constraints import HasShape, Where

        return Where(self, HasShape(sizes))

    def has_type(self, type_: Attribute) -> Pattern:
        """The whole type."""
        from .constraints import HasType, Where

        return Where(self, HasType(type_))

    def has_attr(self, attributes: Mapping[str, Any]) -> Pattern:
        """Properties or attributes of the op that defines the value, as attributes or plain Python values."""
        from .constraints import HasAttr, Where

        return Where(self, HasAttr(tuple((name, frozen(value)) for name, value in attributes.items())))

    def has_kind(self, *kinds: str) -> Pattern:
        """The fusion kind of the op that defines the value is one of `kinds` (`"elementwise"`, `"broadcast"` …)."""
        from .constraints import HasKind, Where

        return Where(self, HasKind(kinds))

    def holds(self, condition: str, *others: Pattern, **parameters: Attribute) -> Pattern:
        """The named condition holds of the value, and of what `others`, which stand elsewhere, are bound to."""
        from .constraints import Holds, Where

        keys = tuple(_key(other) for other in others)
        return Where(self, Holds(condition, tuple(parameters.items()), keys))

    def same_shape(self, other: Pattern) -> Pattern:
        """The value has the shape of what `other` stands for, and no size of it is `?`."""
        return self.holds("same-shape", other)

    def same_type(self, other: Pattern) -> Pattern:
        """The value has the type of what `other` stands for, and no size of it is `?`."""
        return self.holds("same-type", other)

    def used_by(self, *users: Pattern) -> Pattern:
        """The value, where each of `users`, in which it occurs, matches another op; a fork when there are several."""
        from .combinators import Together

        return Together((self, *users))

    def only_used_by(self, *users: Pattern) -> Pattern:
        """As `used_by`, and it has no other users."""
        return self.used_by(*users).holds("only-used-by", *users)

    def assoc(self) -> Pattern:
        """A quotient of a product, or a product with a quotient, in any of its forms; not for exact rules."""
        from .combinators import associative

        return associative(self)

    def dup(self) -> Pattern:
        """The same pattern with other names: what it matches need not be the same values."""
        from .combinators import dup

        return dup(self)

    def single_use(self) -> Pattern:
        """The value has one use."""
        return self.holds("single-use")

    def optional(self, wrap: Callable[[Pattern], Pattern]) -> Or:
        """`wrap(self)` where it is there, else `self`."""
        return optional(self, wrap)


def frozen(value: Any) -> Any:
    """A plain Python value in a form that can be hashed: lists become tuples."""
    return tuple(frozen(item) for item in value) if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Any_(Pattern):
    """Any value."""

    key: str = field(default_factory=fresh_key)


@dataclass(frozen=True)
class Constant(Pattern):
    """A value that is known when the program is compiled: the result of a constant op."""

    levels: ClassVar[int] = 1

    key: str = field(default_factory=fresh_key)


@dataclass(frozen=True)
class Splat(Pattern):
    """
    A constant all of whose elements are `value`, of any shape and element type.

    0.0 and -0.0 differ for floats; an integer element is compared as a number.
    """

    levels: ClassVar[int] = 1

    value: float
    key: str = field(default_factory=fresh_key)


@dataclass(frozen=True)
class Capture:
    """In the place of an attribute: any attribute, bound to `key`; met twice, equal attributes."""

    key: str


@dataclass(frozen=True)
class Op(Pattern):
    """
    The result of an op of one of `names` (any op when empty).

    `operands`: one pattern per operand, or `None` for any operands; a last `Rest` takes those that are left.
    `attributes`: properties or attributes that must have these values (attributes, plain Python values, or a
    `Capture`); a property that is absent has its default.
    """

    levels: ClassVar[int] = 1

    names: tuple[str, ...]
    operands: tuple[Pattern, ...] | None = None
    attributes: tuple[tuple[str, Any], ...] = ()
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return self.operands or ()

    def result(self, index: int) -> Result:
        """Result `index` of an op that has several."""
        return Result(self, index)


@dataclass(frozen=True)
class Result(Pattern):
    """
    Result `index` of the op that `op`, an `Op`, `Call` or `If`, matches; these themselves stand for the only result.
    """

    op: Pattern
    index: int
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return (self.op,)


@dataclass(frozen=True)
class Or(Pattern):
    """The first alternative that leads to a match of the whole rule; bindings of a failed one are forgotten."""

    alternatives: tuple[Pattern, ...]
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return self.alternatives


@dataclass(frozen=True)
class Rest(Pattern):
    """The remaining operands of an op, as one tuple of values; only as its last operand."""

    key: str = field(default_factory=fresh_key)


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
    key: str = field(default_factory=fresh_key)


@dataclass(frozen=True)
class Build:
    """In a replacement: what the named builder makes of `keys`; for what `Create` cannot say."""

    name: str
    keys: tuple[str, ...]
    parameters: tuple[tuple[str, Attribute], ...] = ()
    key: str = field(default_factory=fresh_key)


Replacement = Bound | Create | Build


@dataclass(frozen=True)
class Rule:
    """
    `lhs` becomes `rhs` where all of `when` hold.

    A rule never changes a type: where the replacement would have another one than the root, the rule does not apply.
    """

    name: str
    lhs: Pattern
    rhs: tuple[Replacement, ...]
    when: tuple[Require, ...] = ()
    free: tuple[Op, ...] = ()
    """Ops that are not reached from the root by operands; a condition finds them (`equivalent`, say)."""
    numerics: Numerics = "exact"
    doc: str = ""
    group: tuple[tuple[str, Attribute], ...] | None = None
    """Of a rule without a replacement: the attributes of the functions that partitioning makes."""
    callback: Callable[..., Any] | None = None
    """In place of `rhs`: what makes the replacement from the match; see `sweeps.callback`."""
    once: bool = False
    """In sweeps: the rule retires after the first sweep in which it applied."""
    also: tuple[str, ...] = ()
    """Keys of further roots (`lhs` is a `Together`), whose results are replaced after those of the first."""

    def __post_init__(self) -> None:
        if self.numerics not in NUMERICS:
            raise ValueError(
                f"rule '{self.name}' has numerics '{self.numerics}', expected one of {', '.join(NUMERICS)}"
            )


def op(name: str | tuple[str, ...], *operands: Pattern, **attributes: Any) -> Op:
    """`op("graph.add", x, y)`; attributes by name, as attributes, plain Python values or captures."""
    names = (name,) if isinstance(name, str) else name
    return Op(names, operands, tuple((key, frozen(value)) for key, value in attributes.items()))


def is_op(name: str | tuple[str, ...]) -> Callable[..., Op]:
    """`is_op("graph.add")(x, y)`: the op of that name; called without patterns, any operands."""
    names = (name,) if isinstance(name, str) else name
    return lambda *operands, **attributes: Op(
        names, operands or None, tuple((key, frozen(value)) for key, value in attributes.items())
    )


def wildcard() -> Any_:
    """Any value."""
    return Any_()


def create(name: str, *operands: Replacement | Pattern, **attributes: Attribute | Capture) -> Create:
    """`create("graph.ewise_fma", a, b, c)`; a pattern stands for what it is bound to."""
    return Create(name, tuple(_as_replacement(operand) for operand in operands), tuple(attributes.items()))


def rule(
    name: str,
    lhs: Pattern | tuple[Pattern, ...],
    rhs: Pattern | Replacement | tuple[Pattern | Replacement, ...],
    *when: Require,
    numerics: Numerics = "exact",
    doc: str = "",
) -> Rule:
    """A rule of one root or several with one replacement value, or several for the results of the roots in order."""
    from .combinators import root_pattern

    root, also = root_pattern(lhs)
    made = rhs if isinstance(rhs, tuple) else (rhs,)
    return Rule(name, root, tuple(_as_replacement(item) for item in made), when, numerics=numerics, doc=doc, also=also)


def require(name: str, *patterns: Pattern, remark: str | None = None, **parameters: Attribute) -> Require:
    """The condition `name` on what the patterns are bound to."""
    return Require(name, tuple(_key(pattern) for pattern in patterns), tuple(parameters.items()), remark)


def _key(pattern: Any) -> str:
    return pattern.key


def _as_replacement(item: Pattern | Replacement) -> Replacement:
    return Bound(_key(item)) if isinstance(item, Pattern) else item


def subpatterns(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly below `pattern`."""
    return pattern.parts()


def all_below(pattern: Pattern) -> list[Pattern]:
    """`pattern` and all patterns below it, each object once, from left to right and top to bottom."""
    found: dict[int, Pattern] = {}
    stack = [pattern]
    while stack:
        current = stack.pop()
        if id(current) not in found:
            found[id(current)] = current
            stack.extend(reversed(current.parts()))
    return list(found.values())


def depth(pattern: Pattern) -> int:
    """Number of ops on the longest path down `pattern`."""
    return _depth(pattern, {})


def _depth(pattern: Pattern, known: dict[int, int]) -> int:
    if id(pattern) not in known:
        below = max((_depth(part, known) for part in pattern.parts()), default=0)
        known[id(pattern)] = below + pattern.levels
    return known[id(pattern)]


def is_far_reaching(pattern: Pattern) -> bool:
    """Whether a match may depend on ops that are not within `depth(pattern)` operands below its root."""
    return any(part.far_reaching for part in all_below(pattern))
