"""Tests of one value that exclude each other: such a pattern matches nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, ShapedType
from xdsl.ir import Attribute

from ...core.ir.element_types import ATTRIBUTES
from ...core.messages.diagnostics import did_you_mean
from ...dialects.graph.element_types import class_members, class_text
from ..language.constants import element_type
from ..language.constraints import (
    And,
    HasAttr,
    HasDtype,
    HasKind,
    HasShape,
    HasType,
    Test,
    Where,
    described,
    same_attribute,
)
from ..language.patterns import Capture, Op, Or, Pattern
from ..language.rules import Require, Rule
from ..language.signatures import RuleError
from .definitions import Definition

Size = int | None
ELEMENTS = frozenset(ATTRIBUTES)


class Facts:
    """
    What the tests of a rule say about its values. The facts of an alternative are its own and those that always hold.
    """

    def __init__(self, above: Facts | None = None):
        self._same: dict[str, str] = {} if above is None else dict(above._same)
        self._known: dict[str, dict[str, Any]] = {}
        """What is known of each value, by its key and by what it is about."""
        for key, known in () if above is None else above._known.items():
            self._known[key] = dict(known)

    def key(self, key: str) -> str:
        """Returns the key that stands for all keys of the same value."""
        while key in self._same:
            key = self._same[key]
        return key

    def join(self, one: str, other: str, at: object) -> None:
        """Takes note that two keys are bound to one value."""
        one, other = self.key(one), self.key(other)
        if one == other:
            return
        self._same[other] = one
        for what, value in self._known.pop(other, {}).items():
            self._add(one, what, value, at)

    def test(self, key: str, test: Test, at: object) -> None:
        """Takes note of a test of a value. Raises `RuleError` when no value passes it and those before."""
        for what, value in _said(test, at):
            self._add(key, what, value, at)

    def require(self, required: Require) -> None:
        """Takes note of a condition on the type of a value."""
        test = _test_of(required)
        if test is not None:
            self.test(required.keys[0], test, required)

    def element_types(self, key: str, names: frozenset[str], text: str, at: object) -> None:
        """Takes note that an op takes tensors of some element types only."""
        self._add(key, "dtype", (names, text), at)

    def element_types_of(self, key: str) -> tuple[frozenset[str], str] | None:
        """Returns the element types that a value may have, and their text."""
        return self._known.get(self.key(key), {}).get("dtype")

    def _add(self, key: str, what: str, value: Any, at: object) -> None:
        said = self._known.setdefault(self.key(key), {})
        known = said.get(what)
        if known is None:
            said[what] = value
            return
        both = _combined(what, known, value)
        if both is None:
            name = key.partition(".")[0]
            shown = f"%{name}" if name and not name.startswith("#") else "the value"
            found, wanted = _text(what, value), _text(what, known)
            raise RuleError(f"nothing matches: {shown} is to have {found} and {wanted}", at=at)
        said[what] = both


def _said(test: Test, at: object) -> Iterator[tuple[str, Any]]:
    """Yields what a test says: the element types, the shape, the attributes and the kinds that pass it."""
    match test:
        case HasDtype(dtype):
            yield "dtype", (frozenset({_element_name(dtype, at)}), str(dtype))
        case HasShape(sizes):
            yield "shape", sizes
        case HasType(type_):
            yield "dtype", (frozenset({str(element_type(type_))}), str(type_))
            yield "shape", tuple(None if size == DYNAMIC_INDEX else size for size in _shape(type_))
        case HasAttr(attributes):
            for name, wanted in attributes:
                yield f"attribute {name}", (wanted,)
        case HasKind(kinds):
            yield "kind", frozenset(kinds)
        case _:
            return


def _shape(type_: Attribute) -> Sequence[int]:
    return type_.get_shape() if isinstance(type_, ShapedType) else ()


def _element_name(dtype: Attribute | str, at: object) -> str:
    """Returns the text of an element type. Raises `RuleError` for what is none."""
    if isinstance(dtype, ShapedType):
        raise RuleError(f"an element type is expected, found {dtype}", at=at, hint="pattern.has_type tests whole types")
    name = str(dtype)
    plain = name.lstrip("su").removeprefix("i")
    if isinstance(dtype, str) and name.isalnum() and name not in ELEMENTS and name != "index" and not plain.isdecimal():
        hint = did_you_mean(name, ELEMENTS) or f"the element types are {', '.join(ATTRIBUTES)}"
        raise RuleError(f"there is no element type '{name}'", at=at, hint=hint)
    return name


def _combined(what: str, one: Any, other: Any) -> Any:
    """Returns what both say together, or `None` when they exclude each other."""
    if what == "dtype":
        both = one[0] & other[0]
        return (both, other[1] if len(other[0]) <= len(one[0]) else one[1]) if both else None
    if what == "kind":
        return one & other or None
    if what == "shape":
        fits = len(one) == len(other) and all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))
        return tuple(a if b is None else b for a, b in zip(one, other, strict=True)) if fits else None
    if "-" in described(one[0]) + described(other[0]):  # Axis -1 may be axis 1.
        return one
    return one if same_attribute(*_as_attribute(one[0], other[0])) else None


def _as_attribute(one: Any, other: Any) -> tuple[Any, Any]:
    """Returns two wanted attributes, the one that is an attribute first."""
    return (one, other) if isinstance(one, Attribute) else (other, one)


def _text(what: str, value: Any) -> str:
    match what:
        case "dtype":
            return f"element type {value[1]}"
        case "kind":
            return f"kind {' or '.join(sorted(value))}"
        case "shape":
            return f"shape [{', '.join('?' if size is None else str(size) for size in value)}]"
        case _:
            return f"{what.removeprefix('attribute ')} = {described(value[0])}"


def _test_of(required: Require) -> Test | None:
    given = dict(required.parameters).get("is")
    if given is None or len(required.keys) != 1:
        return None
    match required.name:
        case "dtype":
            return HasDtype(given)
        case "type":
            return HasType(given)
        case "shape" if isinstance(given, DenseArrayBase):
            return HasShape(tuple(None if size < 0 else size for size in given.get_values()))
        case _:
            return None


# Collecting


def check_facts(rule: Rule, definitions: dict[str, Definition | None]) -> None:
    """Raises `RuleError` where tests of one value, or a test and the op that takes it, exclude each other."""
    certain = Facts()
    for root in (rule.lhs, *rule.free):
        _collect(root, certain, definitions)
    for required in rule.when:
        certain.require(required)
    done: set[int] = set()
    stack: list[Pattern] = [rule.lhs, *rule.free]
    while stack:
        part = stack.pop()
        if id(part) in done:
            continue
        done.add(id(part))
        stack.extend(part.parts())
        if isinstance(part, Or):
            for arm in part.alternatives:
                _collect(arm, Facts(certain), definitions)


def _collect(pattern: Pattern, facts: Facts, definitions: dict[str, Definition | None]) -> None:
    """Adds what every match of `pattern` says. Alternatives, paths and what is negated say nothing for sure."""
    done: set[int] = set()
    ops: list[Op] = []
    stack = [pattern]
    while stack:
        part = stack.pop()
        if id(part) in done:
            continue
        done.add(id(part))
        match part:
            case Or():
                continue
            case Where(inner, test):
                facts.join(inner.key, part.key, part)
                facts.test(part.key, test, part)
            case And(patterns):
                for each in patterns:
                    facts.join(each.key, part.key, part)
            case Op():
                ops.append(part)
                _collect_op(part, facts, definitions)
            case _:
                pass
        stack.extend(reversed(part.certain_parts()))
    for each in ops:
        _check_groups(each, facts, definitions)


def _check_groups(pattern: Op, facts: Facts, definitions: dict[str, Definition | None]) -> None:
    """Raises `RuleError` where operands of one element type have different ones."""
    known = _only_definition(pattern, definitions)
    leaders: dict[str, tuple[frozenset[str], str]] = {}
    if known is None:
        return
    for operand, (_, constraint, _) in zip(pattern.operands or (), known.classes, strict=True):
        types = facts.element_types_of(operand.key)
        if types is None:
            continue
        leader = leaders.setdefault(constraint.group, types)
        if not any(constraint.goes_with(one, other) for one in types[0] for other in leader[0]):
            message = f"'{known.name}' takes operands of one element type, found {leader[1]} and {types[1]}"
            raise RuleError(message, at=pattern)


def _only_definition(pattern: Op, definitions: dict[str, Definition | None]) -> Definition | None:
    """Returns the definition of the one op that `pattern` may be, where each operand has its place and a name."""
    if pattern.is_unordered:
        return None
    known = definitions.get(pattern.names[0]) if len(pattern.names) == 1 else None
    return known if known is not None and len(known.classes) == len(pattern.operands or ()) else None


def _collect_op(pattern: Op, facts: Facts, definitions: dict[str, Definition | None]) -> None:
    for name, wanted in pattern.attributes:
        if not isinstance(wanted, Capture):
            facts.test(pattern.key, HasAttr(((name, wanted),)), pattern)
    known = _only_definition(pattern, definitions)
    if known is None:
        return
    for operand, (_, constraint, variadic) in zip(pattern.operands or (), known.classes, strict=True):
        members = frozenset(class_members(constraint.classes))
        if not variadic and members < ELEMENTS:
            text = f"{class_text(constraint.classes)}, as '{known.name}' takes it"
            facts.element_types(operand.key, members, text, operand if isinstance(operand, Where) else pattern)


__all__ = ["check_facts"]
