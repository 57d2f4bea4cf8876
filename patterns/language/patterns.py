"""
The pattern language: immutable descriptions of what to look for.

Every pattern has a binding key. A key that is met twice in one rule stands for the same value (or op) both times, so
`Op("graph.add", (x, x))` matches `add(a, a)` only. These objects come from Python (the constructors in this room) or
from the `pattern` dialect (`text/loading.py`). `matching/` compiles both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from itertools import count
from typing import Any, ClassVar, Final, TypeVar

from xdsl.ir import Attribute

from ...lazy_dataclass import dataclass
from .shown import Words, cut
from .signatures import not_a_pattern

_fresh = count()


def fresh_key() -> str:
    """Returns a key that no other pattern has."""
    return f"#{next(_fresh)}"


FORMS: Final[dict[str, Callable[..., Any]]] = {}
"""The larger patterns that the methods of `Pattern` make, and their tests, by name. `form` adds one."""

MakerT = TypeVar("MakerT", bound=Callable[..., Any])


def form(maker: MakerT) -> MakerT:
    """Adds a class or function to `FORMS`. This file cannot import the files that build on it."""
    FORMS[maker.__name__] = maker
    return maker


class Pattern:
    """
    Base of all patterns of a value.

    `p | q`, `p & q` and `~p` are alternatives, conjunction and negation. The methods `has_…` add a test of the value.
    `p + q`, `p - q`, `p * q`, `p / q` and `-p` are the ops of the dialect `graph`, with patterns or numbers.
    """

    levels: ClassVar[int] = 0
    """The number of ops that a match goes down by this pattern alone."""

    far_reaching: ClassVar[bool] = False
    """True for a pattern that looks beyond operands of operands, at users, regions, other functions or long paths."""

    same_value: ClassVar[bool] = False
    """True for a pattern whose parts stand for the value that it stands for itself."""

    key: str
    """The name to which a match binds the value."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    """The fields. Every class of patterns is a frozen data class."""

    def __post_init__(self) -> None:
        for part in self.parts():
            if not isinstance(part, Pattern):  # pyright: ignore[reportUnnecessaryIsInstance]
                names = getattr(self, "names", ())
                raise not_a_pattern(part, f"'{names[0]}'" if names else type(self).__name__.rstrip("_"))

    def __repr__(self) -> str:
        return f"<stepwell.Pattern {cut(Words().of(self))}>"

    def parts(self) -> tuple[Pattern, ...]:
        """Returns the patterns directly below this one."""
        return ()

    def certain_parts(self) -> tuple[Pattern, ...]:
        """Returns the parts whose bindings hold in every match."""
        return self.parts()

    def __or__(self, other: Pattern) -> Or:
        return Or((self, other))

    def __ror__(self, other: object) -> Or:
        raise not_a_pattern(other, "Or")

    def __and__(self, other: Pattern) -> Pattern:
        return FORMS["And"]((self, other))

    def __rand__(self, other: object) -> Pattern:
        raise not_a_pattern(other, "And")

    def __invert__(self) -> Pattern:
        return FORMS["Not"](self)

    def __add__(self, other: Operand) -> Op:
        return Op(("graph.add",), as_operands(self, other))

    def __radd__(self, other: Operand) -> Op:
        return Op(("graph.add",), as_operands(other, self))

    def __sub__(self, other: Operand) -> Op:
        return Op(("graph.subtract",), as_operands(self, other))

    def __rsub__(self, other: Operand) -> Op:
        return Op(("graph.subtract",), as_operands(other, self))

    def __mul__(self, other: Operand) -> Op:
        return Op(("graph.multiply",), as_operands(self, other))

    def __rmul__(self, other: Operand) -> Op:
        return Op(("graph.multiply",), as_operands(other, self))

    def __truediv__(self, other: Operand) -> Op:
        return Op(("graph.divide",), as_operands(self, other))

    def __rtruediv__(self, other: Operand) -> Op:
        return Op(("graph.divide",), as_operands(other, self))

    def __neg__(self) -> Op:
        return Op(("graph.negative",), (self,))

    def _where(self, test: str, *arguments: Any) -> Pattern:
        return FORMS["Where"](self, FORMS[test](*arguments))

    def has_dtype(self, dtype: Attribute | str) -> Pattern:
        """Requires the element type, given as an attribute or as text (`"f32"`)."""
        return self._where("HasDtype", dtype)

    def has_shape(self, *sizes: int | None) -> Pattern:
        """Requires the shape. `None` accepts any size, and only `None` accepts `?`."""
        return self._where("HasShape", sizes)

    def has_type(self, type_: Attribute) -> Pattern:
        """Requires the whole type."""
        return self._where("HasType", type_)

    def has_attr(self, attributes: Mapping[str, Any]) -> Pattern:
        """Requires properties or attributes of the op that defines the value, as attributes or plain Python values."""
        return self._where("HasAttr", tuple((name, frozen(value)) for name, value in attributes.items()))

    def has_kind(self, *kinds: str) -> Pattern:
        """Requires one of the fusion `kinds` (`"elementwise"`, `"broadcast"` …) of the op that defines the value."""
        return self._where("HasKind", kinds)

    def holds(self, condition: str, *others: Pattern, **parameters: Attribute) -> Pattern:
        """Requires the named condition of the value, and of what `others`, which stand elsewhere, are bound to."""
        for other in others:
            if not isinstance(other, Pattern):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise not_a_pattern(other, f"condition '{condition}'")
        return self._where("Holds", condition, tuple(parameters.items()), tuple(other.key for other in others))

    def same_shape(self, other: Pattern) -> Pattern:
        """Requires the shape of what `other` stands for, in which no size is `?`."""
        return self.holds("same-shape", other)

    def same_type(self, other: Pattern) -> Pattern:
        """Requires the type of what `other` stands for, in which no size is `?`."""
        return self.holds("same-type", other)

    def used_by(self, *users: Pattern) -> Pattern:
        """
        Requires that each of `users`, in which the value occurs, matches an op of its own. Several users make a fork.
        """
        return FORMS["Together"]((self, *users))

    def only_used_by(self, *users: Pattern) -> Pattern:
        """Requires what `used_by` does, and that the value has no other users."""
        return self.used_by(*users).holds("only-used-by", *users)

    def assoc(self) -> Pattern:
        """Returns a product or quotient in any of its re-associated forms. Exact rules cannot use it."""
        return FORMS["associative"](self)

    def dup(self) -> Pattern:
        """Returns the same pattern with other names, so that it may match other values."""
        return FORMS["dup"](self)

    def single_use(self) -> Pattern:
        """Requires that the value has one use."""
        return self.holds("single-use")

    def single_user(self) -> Pattern:
        """Requires that one op uses the value, however often."""
        return self.holds("single-user")

    def optional(self, wrap: Callable[[Pattern], Pattern]) -> Or:
        """Returns `wrap(self)` with `self` as the other alternative."""
        return optional(self, wrap)


Operand = Pattern | float
"""What an op takes in a pattern. A number stands for a constant all of whose elements are the number."""


def as_operands(*operands: Operand) -> tuple[Pattern, ...]:
    """Returns `operands` with a `Splat` for each number. A boolean is no number."""
    return tuple(
        Splat(float(each)) if isinstance(each, int | float) and not isinstance(each, bool) else each  # pyright: ignore[reportReturnType]
        for each in operands
    )


def frozen(value: Any) -> Any:
    """Returns a plain Python value in a form that can be hashed. Lists become tuples."""
    return tuple(frozen(item) for item in value) if isinstance(value, list | tuple) else value


@dataclass(frozen=True, repr=False)
class Any_(Pattern):
    """Any value."""

    key: str = field(default_factory=fresh_key)


@dataclass(frozen=True, repr=False)
class Constant(Pattern):
    """A value that is known when the program is compiled: the result of a constant op."""

    levels: ClassVar[int] = 1

    key: str = field(default_factory=fresh_key)


@dataclass(frozen=True, repr=False)
class Splat(Pattern):
    """
    A constant all of whose elements are `value`, of any shape and element type.

    For floats 0.0 and -0.0 differ, and `value` is rounded to their type: 0.1 stands for the f32 nearest to it. An
    integer element is compared as a number.
    """

    levels: ClassVar[int] = 1

    value: float
    key: str = field(default_factory=fresh_key)


@dataclass(frozen=True)
class Capture:
    """Any attribute, bound to `key`. A key that is met twice stands for equal attributes."""

    key: str


@dataclass(frozen=True, repr=False)
class Op(Pattern):
    """
    The result of an op of one of `names`, or of any op when `names` is empty.

    `operands` has one pattern per operand, or is `None` for any operands. A last `Rest` takes the operands that are
    left. `attributes` are properties or attributes that must have these values, given as attributes, plain Python
    values or a `Capture`. A property that is absent has its default. `unordered` operands match in any order.
    """

    levels: ClassVar[int] = 1

    names: tuple[str, ...]
    operands: tuple[Pattern, ...] | None = None
    attributes: tuple[tuple[str, Any], ...] = ()
    key: str = field(default_factory=fresh_key)
    is_unordered: bool = False

    def parts(self) -> tuple[Pattern, ...]:
        return self.operands or ()

    def result(self, index: int | None) -> Result:
        """Returns the pattern of result `index` of an op that has several, `None` for any one of them."""
        return Result(self, index)

    def unordered(self) -> Op:
        """Returns the pattern of an op whose operands stand in any order, such as the parts of a concatenation."""
        return replace(self, is_unordered=True)


@dataclass(frozen=True, repr=False)
class Result(Pattern):
    """
    Result `index` of the op that `op`, an `Op`, `Call` or `If`, matches. Without an index it is any result.

    An `Op`, `Call` or `If` itself stands for the only result.
    """

    op: Pattern
    index: int | None
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return (self.op,)


@dataclass(frozen=True, repr=False)
class Or(Pattern):
    """The first alternative that leads to a match of the whole rule. Bindings of a failed one are forgotten."""

    same_value: ClassVar[bool] = True

    alternatives: tuple[Pattern, ...]
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return self.alternatives


@dataclass(frozen=True, repr=False)
class Rest(Pattern):
    """
    The remaining operands of an op, as one tuple of values. It must be the last operand.

    With `each`, every one of them matches this pattern, whose names stand for many values and nowhere else.
    """

    key: str = field(default_factory=fresh_key)
    each: Pattern | None = None

    def parts(self) -> tuple[Pattern, ...]:
        return () if self.each is None else (self.each,)

    def certain_parts(self) -> tuple[Pattern, ...]:
        return ()


def picks_result(pattern: Pattern) -> bool:
    """Returns whether a pattern stands for one result of an op that may have several."""
    return any(isinstance(each, Result) for each in at_the_value(pattern))


def at_the_value(pattern: Pattern) -> list[Pattern]:
    """Returns `pattern`, and the patterns below it that stand for the same value."""
    found: list[Pattern] = []
    stack = [pattern]
    while stack:
        part = stack.pop()
        found.append(part)
        stack.extend(reversed(part.parts() if part.same_value else ()))
    return found


def optional(inner: Pattern, wrap: Callable[[Pattern], Pattern]) -> Or:
    """Returns `wrap(inner)` with `inner` as the other alternative."""
    return Or((wrap(inner), inner))


def op(name: str | tuple[str, ...], *operands: Operand, **attributes: Any) -> Op:
    """
    Returns the pattern of an op, as in `op("graph.add", x, 1.0)`. Attributes may be plain values or captures.
    """
    names = (name,) if isinstance(name, str) else name
    return Op(names, as_operands(*operands), tuple((key, frozen(value)) for key, value in attributes.items()))


def is_op(name: str | tuple[str, ...]) -> Callable[..., Op]:
    """Returns a constructor, as in `is_op("graph.add")(x, y)`. Called without patterns, it stands for any operands."""
    names = (name,) if isinstance(name, str) else name
    return lambda *operands, **attributes: Op(
        names, as_operands(*operands) or None, tuple((key, frozen(value)) for key, value in attributes.items())
    )


def wildcard() -> Any_:
    """Returns a pattern of any value."""
    return Any_()


def subpatterns(pattern: Pattern) -> tuple[Pattern, ...]:
    """Returns the patterns directly below `pattern`."""
    return pattern.parts()


def all_below(pattern: Pattern) -> list[Pattern]:
    """Returns `pattern` and all patterns below it, each object once, from left to right and from top to bottom."""
    found: dict[int, Pattern] = {}
    stack = [pattern]
    while stack:
        current = stack.pop()
        if id(current) not in found:
            found[id(current)] = current
            if parts := current.parts():
                stack.extend(reversed(parts))
    return list(found.values())


def bottom_up(roots: Iterable[Pattern]) -> list[Pattern]:
    """Returns all parts, each object once, behind those below it."""
    found: dict[int, Pattern] = {}
    stack = [(root, False) for root in roots]
    while stack:
        part, is_below_done = stack.pop()
        if is_below_done:
            found.setdefault(id(part), part)
        elif id(part) not in found:
            stack.append((part, True))
            stack.extend((below, False) for below in part.parts())
    return list(found.values())


def depth(pattern: Pattern) -> int:
    """Returns the number of ops on the longest path down `pattern`."""
    known: dict[int, int] = {}
    for part in bottom_up([pattern]):
        known[id(part)] = part.levels + max((known[id(each)] for each in part.parts()), default=0)
    return known[id(pattern)]


def is_far_reaching(pattern: Pattern) -> bool:
    """Returns whether a match may depend on ops that are not within `depth(pattern)` operands below its root."""
    return any(part.far_reaching for part in all_below(pattern))
