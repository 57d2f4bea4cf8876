"""
Checks a rule against the dialects, the conditions and the builders.

A name that nothing has, a number that no op has, tests that exclude each other: each is an error, never a rule that
silently does not match.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context

from ...core.messages.diagnostics import did_you_mean
from ...core.roles import DECIDED, NAMES, PREFIXES
from ...core.text.unknown import unknown_op
from ...dialects.pattern.equations.replacements import SAME_OP
from ..language.chains import keys_of_many
from ..language.constraints import And, HasAttr, Holds, Where
from ..language.loops import AXES_OF, OP_NAMES, Axis, Loops
from ..language.patterns import Op, Or, Pattern, Rest, Result, all_below
from ..language.rules import Bound, Build, Computed, Create, Decide, Replacement, Rule
from ..language.signatures import RuleError
from ..language.structures import Call, Dominates, If
from .definitions import MANY, Definition, can_infer_types, checked_property, definition_of
from .facts import check_facts
from .things import Things, made_by


def check_rule(rule: Rule, ctx: Context | None) -> None:
    """
    Raises `RuleError` for the first part of `rule` that can never mean what it says.

    Without a context, names of ops are not looked up. A rule is checked once with a context and once without.
    """
    if ctx is not None:
        check_op_names(rule, ctx)
    level = 1 if ctx is None else 2
    if rule.checked < level:
        _RuleCheck(rule, ctx).run()
        object.__setattr__(rule, "checked", level)  # The one field of a frozen rule that is no part of what it says.


def check_op_names(rule: Rule, ctx: Context) -> None:
    """Raises `RuleError` for the first name of an op in `rule` that no dialect of `ctx` has."""
    if ctx.allow_unregistered:
        return
    seen: set[str] = set()
    for name, at in _op_names(rule):
        if name not in seen and ctx.get_optional_op(name) is None:
            message, hint = unknown_op(ctx, name)
            raise RuleError(message, at=at, hint=hint)
        seen.add(name)


def _op_names(rule: Rule) -> Iterator[tuple[str, object]]:
    for root in (rule.lhs, *rule.free):
        for part in all_below(root):
            if isinstance(part, Op):
                for name in part.names:
                    yield name, part
    for item in made_by(rule.rhs):
        if isinstance(item, Create):
            yield item.name, item


class _RuleCheck:
    def __init__(self, rule: Rule, ctx: Context | None):
        self._rule = rule
        self._ctx = ctx
        self._things = Things(rule, ctx)
        self._many = keys_of_many((rule.lhs, *rule.free))
        self._definitions: dict[str, Definition | None] = {}
        if ctx is not None:
            for name, _ in _op_names(rule):
                if name not in self._definitions:
                    op_type = ctx.get_optional_op(name)
                    self._definitions[name] = None if op_type is None else definition_of(op_type)

    def run(self) -> None:
        for part in self._things.parts:
            self._check_part(part)
        for required in self._rule.when:
            self._things.check_condition(required)
        check_facts(self._rule, self._definitions)
        roots = self._roots()
        for decision in self._rule.decisions:
            self._check_decision(decision)
        for item in made_by(self._rule.rhs):
            if isinstance(item, Build):
                self._things.check_builder(item)
                self._check_again(item)
            else:
                self._check_create(item)
        self._check_ends(roots)

    def _roots(self) -> list[Pattern]:
        """Returns the patterns of the roots, without the tests around them."""
        lhs = self._rule.lhs
        return list(lhs.parts()) if self._rule.also else [lhs]

    # The left side

    def _check_part(self, part: Pattern) -> None:
        match part:
            case Op():
                self._check_op(part)
            case Result(op, index):
                self._check_index(part, op, index)
            case Loops():
                self._check_loops(part)
                self._check_values(part, part.arguments)
                return
            case Where(inner, Holds()):
                self._things.check_test(part)
                self._check_values(part, (inner,))
                return
            case Where(inner, HasAttr(attributes)):
                for definition in self._definitions_of(inner):
                    for name, wanted in attributes:
                        checked_property(definition, name, wanted, part, exact=True)
            case Dominates():
                keys = [each.key for each in (part.parent, part.path, part.child)]
                if len(set(keys)) < len(keys):
                    raise RuleError("the parent, the child and the path of a dominator are three patterns", at=part)
            case _:
                pass
        self._check_values(part, part.parts())

    def _check_loops(self, part: Loops) -> None:
        """Refuses properties that the op does not have, and parts that no body has."""
        for name in OP_NAMES[part.kind]:
            op_type = None if self._ctx is None else self._ctx.get_optional_op(name)
            definition = None if op_type is None else definition_of(op_type)
            for attribute, wanted in part.attributes if definition is not None else ():
                assert definition is not None
                if "." not in attribute and attribute not in definition.properties:
                    hint = did_you_mean(attribute, definition.properties) or "other attributes have a dot in their name"
                    raise RuleError(f"'{name}' has no property '{attribute}'", at=part, hint=hint)
                checked_property(definition, attribute, wanted, part, exact=True)
        for each in part.single_arguments:
            if isinstance(each, Axis) and each.kind is not None and each.kind not in AXES_OF.get(part.kind, ()):
                kinds = " or ".join(AXES_OF.get(part.kind, ())) or "no axes"
                raise RuleError(f"an argument of a {part.kind} is {kinds}, found {each.kind}", at=each)
        for each in part.inside:
            for definition in self._definitions_of(each) if isinstance(each, Op) else ():
                if definition.results[0]:
                    message = f"'{definition.name}' has a result, so it is no part of a {part.kind}"
                    raise RuleError(message, at=each, hint="what a store takes is written in its place")

    def _check_values(self, part: Pattern, below: tuple[Pattern, ...]) -> None:
        """Refuses ops of several results, and a rest of operands, where one value is needed."""
        if isinstance(part, Result) or (self._rule.also and part is self._rule.lhs):
            return
        for each in below:
            if isinstance(each, Loops):
                raise RuleError(f"a {each.kind} is no value", at=each, hint="a condition about it stands after 'where'")
            if isinstance(each, Rest) and not isinstance(part, Op | Call | Loops):
                raise RuleError("a rest of operands stands only as the last operand of an op", at=part)
            for definition in self._definitions_of(each) if isinstance(each, Op) else ():
                least, most = definition.results
                if not least <= 1 <= most:
                    hint = f"pattern.result picks one of its {least} results" if least > 1 else None
                    raise RuleError(f"'{definition.name}' has {least} results, and is no value", at=each, hint=hint)

    def _definitions_of(self, pattern: Pattern) -> Iterator[Definition]:
        """Yields the definitions of the ops of which one computes what `pattern` matches, where it says so."""
        match pattern:
            case Op(names):
                found = [self._definitions.get(name) for name in names]
                yield from (each for each in found if each is not None)
            case Where(inner):
                yield from self._definitions_of(inner)
            case And(patterns):
                for each in patterns:
                    yield from self._definitions_of(each)
            case Or(alternatives):
                for each in alternatives:
                    yield from self._definitions_of(each)
            case _:
                return

    def _check_op(self, pattern: Op) -> None:
        operands = pattern.operands
        for definition in self._definitions_of(pattern):
            for name, wanted in pattern.attributes:
                checked_property(definition, name, wanted, pattern, exact=True)
            if operands is None:
                continue
            rest = bool(operands) and isinstance(operands[-1], Rest)
            least, most = definition.operands
            count = len(operands) - rest
            if count > most or (count < least and not rest):
                found = f"at least {count}" if rest else count
                raise RuleError(f"'{definition.name}' takes {definition.operands_text}, found {found}", at=pattern)

    def _check_index(self, part: Result, op: Pattern, index: int | None) -> None:
        if index is None:
            return
        most = MANY
        if isinstance(op, Op):
            most = max((each.results[1] for each in self._definitions_of(op)), default=MANY)
        elif isinstance(op, If) and op.has_all_results:
            most = len(op.branches[0])
        if not 0 <= index < most:
            name = f"'{op.names[0]}'" if isinstance(op, Op) and op.names else "the op"
            known = "from 0 on" if most >= MANY else "0" if most == 1 else f"0 to {most - 1}"
            raise RuleError(f"{name} has no result {index}, its results are {known}", at=part)

    # The right side

    def _check_decision(self, decision: Decide) -> None:
        pattern = self._things.pattern(decision.key)
        if pattern is not None and not isinstance(pattern, Loops):
            raise RuleError("a decision is about a block, a nest or a kernel", at=decision)
        for name, wanted in decision.attributes:
            if "." not in name:
                raise RuleError(f"a decision '{name}' has no dialect, such as that of 'stepwell.{name}'", at=decision)
            if name.startswith(PREFIXES) and name not in DECIDED:
                # Others switch checks off, or are without effect.
                near = None if name in NAMES else did_you_mean(name, DECIDED)
                message = f"a rule cannot decide '{name}', expected a prefix of your own, or one of "
                message += ", ".join(sorted(DECIDED))
                raise RuleError(message if near is None else f"{message}; {near}", at=decision)
            if isinstance(wanted, Computed):
                self._things.check_computed(wanted, decision)

    def _check_create(self, item: Create) -> None:
        op_type = None if self._ctx is None else self._ctx.get_optional_op(item.name)
        definition = None if op_type is None else self._definitions.get(item.name)
        if op_type is None or definition is None:
            return
        for name, wanted in item.attributes:
            if isinstance(wanted, Computed):
                self._things.check_computed(wanted, item)
            checked_property(definition, name, None if isinstance(wanted, Computed) else wanted, item, exact=False)
        given = {name for name, _ in item.attributes}
        for name in definition.properties:
            if name in definition.needed and name not in given:
                raise RuleError(f"'{item.name}' needs the property '{name}'", at=item)
        least, most = self._count(item.operands)
        if least > definition.operands[1] or most < definition.operands[0]:
            raise RuleError(f"'{item.name}' takes {definition.operands_text}, found {least}", at=item)
        if not any(each is item for each in self._rule.rhs) and item.like is None and not can_infer_types(op_type):
            hint = "it may replace the root, whose types it then has; elsewhere a builder makes it"
            raise RuleError(f"the types of the results of '{item.name}' are not known here", at=item, hint=hint)

    def _check_again(self, item: Build) -> None:
        """Refuses a number of operands that the op that is made again does not take."""
        if item.name not in SAME_OP or not item.keys:
            return
        if any(isinstance(self._things.pattern(key), Rest) or key in self._many for key in item.keys[1:]):
            return
        op = self._things.pattern(item.keys[0])
        for definition in self._definitions_of(op) if isinstance(op, Op) else ():
            least, most = definition.operands
            if not least <= len(item.keys) - 1 <= most:
                found = len(item.keys) - 1
                raise RuleError(f"'{definition.name}' takes {definition.operands_text}, found {found}", at=item)
            op_type = None if self._ctx is None else self._ctx.get_optional_op(definition.name)
            if item.name == SAME_OP[1] and op_type is not None and not can_infer_types(op_type):
                raise RuleError(f"the types of the results of '{definition.name}' are not known here", at=item)

    def _check_ends(self, roots: list[Pattern]) -> None:
        """Refuses replacements of which there are never as many as results of the roots."""
        rule = self._rule
        if not rule.rhs:
            return
        for item in rule.rhs:
            if isinstance(item, Bound) and isinstance(self._things.pattern(item.key), Rest):
                raise RuleError("a rest of operands cannot replace a result", at=item)
        least, most = self._results(roots)
        fewest, greatest = self._count(rule.rhs)
        if len(rule.rhs) == 1 and isinstance(rule.rhs[0], Create):
            # It is given the types of all results.
            fewest, greatest = self._made(rule.rhs[0])
        if fewest > most or greatest < least:
            raise RuleError(f"{_numbers(fewest, greatest)} cannot replace {_numbers(least, most)}", at=rule.rhs[0])

    def _results(self, patterns: list[Pattern]) -> tuple[int, int]:
        counts = [self._values(each) for each in patterns]
        return sum(least for least, _ in counts), min(sum(most for _, most in counts), MANY)

    def _values(self, pattern: Pattern | None) -> tuple[int, int]:
        """Returns the least and the most values that a name stands for."""
        match pattern:
            case Op():
                found = [each.results for each in self._definitions_of(pattern)]
                if not found or len(found) < len(pattern.names):
                    return 0, MANY
                return min(least for least, _ in found), max(most for _, most in found)
            case Rest() | Call() | If() | None:
                return 0, MANY
            case _:
                return 1, 1

    def _count(self, items: tuple[Replacement, ...]) -> tuple[int, int]:
        least = most = 0
        for item in items:
            few, many = self._bound(item) if isinstance(item, Bound) else self._made(item)
            least, most = least + few, min(most + many, MANY)
        return least, most

    def _bound(self, item: Bound) -> tuple[int, int]:
        return (0, MANY) if item.key in self._many else self._values(self._things.pattern(item.key))

    def _made(self, item: Replacement) -> tuple[int, int]:
        definition = self._definitions.get(item.name) if isinstance(item, Create) else None
        return (0, MANY) if definition is None else definition.results


def _numbers(least: int, most: int) -> str:
    count = str(least) if least == most else f"at least {least}" if most >= MANY else f"{least} to {most}"
    return f"{count} value{'' if count == '1' else 's'}"


__all__ = ["check_op_names", "check_rule"]
