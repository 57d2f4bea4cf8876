"""What the names of a rule stand for, and whether conditions and builders take that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ..language.constraints import And, Holds, Where
from ..language.loops import OP_NAMES, Loops
from ..language.numbers import COMPARE, NOT, check_formula
from ..language.patterns import Capture, Op, Or, Pattern, Rest, all_below
from ..language.registry import BUILDERS, CONDITIONS, known_builder, known_condition
from ..language.rules import Build, Computed, Create, Replacement, Require, Rule
from ..language.signatures import RuleError, classes_of, plain_parameters, taken_by
from ..language.structures import Call, Function, If


class Things:
    """The names of a rule, and what each is bound to."""

    def __init__(self, rule: Rule, ctx: Context | None):
        self._ctx = ctx
        self.parts = [part for root in (rule.lhs, *rule.free) for part in all_below(root)]
        self._of_key: dict[str, Pattern | Capture] = {}
        for part in self.parts:
            self._of_key[part.key] = part
            for _, wanted in getattr(part, "attributes", ()):
                if isinstance(wanted, Capture):
                    self._of_key[wanted.key] = wanted

    def pattern(self, key: str) -> Pattern | None:
        """Returns the pattern that a name stands for. It is `None` for an attribute, and where there is none."""
        found = self._of_key.get(key)
        return found if isinstance(found, Pattern) else None

    def check_condition(self, required: Require) -> None:
        """Raises `RuleError` unless a condition takes what its names stand for."""
        if required.name == NOT:
            self._check_negated(required)
            return
        try:
            found = known_condition(required.name, len(required.keys), required.parameters)
            if required.name == COMPARE:
                formula = dict(required.parameters)["formula"].data  # pyright: ignore
                check_formula(formula, required.keys, self._kinds(required.keys), comparison=True)
        except RuleError as error:
            raise RuleError(error.message, at=required, hint=error.hint) from None
        things = [self._of_key.get(key) for key in required.keys]
        self._check(f"condition '{required.name}'", found.function, things, required.parameters, required)

    def _check_negated(self, required: Require) -> None:
        given = dict(required.parameters)
        name = given.pop("condition", None)
        if not isinstance(name, StringAttr):
            raise RuleError("condition 'not' needs the parameter 'condition'", at=required)
        inner = Require(name.data, required.keys, tuple(given.items()))
        try:
            self.check_condition(inner)
        except RuleError as error:
            raise RuleError(error.message, at=required, hint=error.hint) from None

    def check_computed(self, wanted: Computed, at: object) -> None:
        """Raises `RuleError` unless the formula of an attribute takes what its names stand for."""
        try:
            check_formula(wanted.formula, wanted.keys, self._kinds(wanted.keys), comparison=False)
        except RuleError as error:
            raise RuleError(error.message, at=at, hint=error.hint) from None

    def _kinds(self, keys: Sequence[str]) -> list[bool | None]:
        """Returns of each thing whether it is an attribute. Of what is not known it is `None`."""
        return [None if key not in self._of_key else isinstance(self._of_key[key], Capture) for key in keys]

    def check_test(self, part: Where) -> None:
        """Raises `RuleError` unless the condition of `pattern.holds` takes what it is about."""
        assert isinstance(part.test, Holds)
        others = [self._of_key.get(key) for key in part.test.others]
        name = part.test.condition
        for subject in _subjects(part.pattern):
            things = [subject, *others]
            self._check(f"condition '{name}'", CONDITIONS[name].function, things, part.test.parameters, part)

    def check_builder(self, item: Build) -> None:
        """Raises `RuleError` unless a builder takes what its names stand for."""
        try:
            known_builder(item.name, len(item.keys), item.parameters)
        except RuleError as error:
            raise RuleError(error.message, at=item, hint=error.hint) from None
        things = [self._of_key.get(key) for key in item.keys]
        self._check(f"builder '{item.name}'", BUILDERS[item.name], things, item.parameters, item)

    def _check(
        self,
        what: str,
        function: Any,
        things: Sequence[Pattern | Capture | None],
        parameters: Sequence[tuple[str, Attribute]],
        at: object,
    ) -> None:
        taken = taken_by(function)
        annotations = list(taken.of(list(plain_parameters(function, parameters))).values())
        more = Any if taken.more is None else taken.more[1]
        for number, thing in enumerate(things):
            annotation = annotations[number] if number < len(annotations) else more
            reason = None if thing is None else self._why_not(thing, classes_of(annotation))
            if reason is not None:
                raise RuleError(f"{what} {reason}{_named(thing)}", at=at)

    def _why_not(self, thing: Pattern | Capture, classes: Sequence[type]) -> str | None:
        """Returns what is wanted and found, or `None` where a parameter of these classes takes `thing`."""
        found = self._unfit(thing, classes) if classes else None
        return None if found is None else f"takes {_words(classes)}, found {found}"

    def _unfit(self, thing: Pattern | Capture, classes: Sequence[type]) -> str | None:
        if isinstance(thing, Capture):
            return None if any(issubclass(each, Attribute) for each in classes) else "an attribute"
        if isinstance(thing, Rest):
            return None if tuple in classes else "a rest of operands"
        if not isinstance(thing, Op | Call | If | Function | Loops):
            return None if any(issubclass(each, SSAValue) for each in classes) else "a value"
        ops = [each for each in classes if issubclass(each, Operation)]
        if Operation in ops or (ops and self._ctx is None):
            return None
        names: Sequence[str] = thing.names if isinstance(thing, Op) else ()
        names = sorted(OP_NAMES[thing.kind]) if isinstance(thing, Loops) else names
        wrong = [f"'{name}'" for name in names if not self._is_one_of(name, ops)]
        return None if names and not wrong else wrong[0] if wrong else "any op"

    def _is_one_of(self, name: str, ops: Sequence[type[Operation]]) -> bool:
        op_type = None if self._ctx is None else self._ctx.get_optional_op(name)
        return op_type is not None and issubclass(op_type, tuple(ops))


def _words(classes: Sequence[type]) -> str:
    if {Operation, SSAValue} <= set(classes):
        return "a value or an op"
    return " or ".join(_word(each) for each in classes)


def _word(kind: type) -> str:
    if issubclass(kind, Attribute):
        return "an attribute"
    names = {Operation: "an op", SSAValue: "a value", tuple: "a rest of operands"}
    return names.get(kind) or f"'{getattr(kind, 'name', kind.__name__)}'"


def _named(thing: Pattern | Capture | None) -> str:
    name = "" if thing is None else thing.key.partition(".")[0]
    return f" (%{name})" if name and not name.startswith("#") else ""


def _subjects(pattern: Pattern) -> Iterator[Pattern]:
    """Yields what a test of `pattern` may be given: the op that computes the value, where the pattern says which."""
    match pattern:
        case Where(inner):
            yield from _subjects(inner)
        case Or(alternatives):
            for each in alternatives:
                yield from _subjects(each)
        case And(patterns):
            yield next((each for part in patterns for each in _subjects(part) if isinstance(each, Op)), pattern)
        case _:
            yield pattern


def made_by(items: Sequence[Replacement]) -> list[Create | Build]:
    """Returns the new ops and builders of a replacement, each once."""
    found: dict[int, Create | Build] = {}
    stack = list(items)
    while stack:
        item = stack.pop()
        if isinstance(item, Create | Build) and id(item) not in found:
            found[id(item)] = item
            stack.extend(item.operands if isinstance(item, Create) else item.made)
    return list(found.values())


__all__ = ["Things", "made_by"]
