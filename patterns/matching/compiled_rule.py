"""Compiled rules: the pattern, then the conditions, then the replacement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from xdsl.context import Context
from xdsl.ir import Operation, SSAValue

from ...core.messages.diagnostics import emit_warning
from ...lazy_dataclass import dataclass
from ..checking.rules import check_op_names, check_rule
from ..language import conditions as conditions  # registers the conditions
from ..language.chains import Chain, keys_of_many
from ..language.combinators import Associative
from ..language.constraints import Holds, Where
from ..language.loops import Loops
from ..language.match import Match, Session
from ..language.numbers import formula_keys
from ..language.patterns import Capture, Op, Or, Pattern, Rest, all_below, bottom_up, is_far_reaching
from ..language.registry import Condition, RuleError, known_condition, plain_parameters
from ..language.remarks import remark_of
from ..language.rules import Bound, Require, Rule
from ..language.structures import Function
from . import compile_chains as compile_chains  # fills in the table of `matcher`, as the next four do
from . import compile_combinators as compile_combinators
from . import compile_loops as compile_loops
from . import compile_structures as compile_structures
from . import compile_values as compile_values
from .closed_parts import CLOSED, TooManySteps, closed_parts
from .compile_ops import IN_FORMULAS, compile_op
from .deep_patterns import FEW_LEVELS, levels_of, room_for
from .early_conditions import EARLY, EarlyCondition, conditions_of_root, early_conditions, needs_whole_match
from .effects import compile_effects
from .injective import compile_injective
from .jumping_back import END, blame_everything, end_of
from .matcher import (
    OpMatcher,
    compile_root,
    compile_value,
    root_names,
    with_late_tests,
)
from .replacement import ReplacementMaker, compile_callback, compile_replacement, used_keys, values_bound
from .shared_parts import SHARED, shared_parts
from .tracing import MATCH, TRACER, Bindings, Next, ValueMatcher

# Conditions


def _compile_conditions(rule: Rule, final: Next) -> Next:
    step = final
    free = {op.key: op for op in rule.free}
    for required in reversed(rule.when):
        known = known_condition(required.name, len(required.keys), required.parameters)
        finder = free.pop(required.keys[0], None) if required.keys and known.candidates else None
        step = _compile_condition(known, required, step)
        if finder is not None:
            step = _compile_candidates(known, required, finder, step)
    if free:
        key, op = next(iter(free.items()))
        name = f"%{_shown(key)}" if _shown(key) else f"'{' | '.join(op.names) or 'any_op'}'"
        raise RuleError(f"op {name} is not connected to the root, and no condition finds it", at=op)
    return step


def _compile_condition(known: Condition, required: Require, following: Next) -> Next:
    keys, parameters, remark = required.keys, plain_parameters(known.function, required.parameters), remark_of(required)
    function = known.function
    tracer, jumps = TRACER.get(), END.get() is not None

    def check(bound: Bindings) -> bool:
        match: Match = bound[MATCH]
        things = [bound[key] for key in keys]
        if function(match, *things, **parameters):
            return following(bound)
        if jumps and needs_whole_match(lambda part: function(part, *things, **parameters), match):
            blame_everything(bound)
        if remark is not None:
            match.remarks.append((remark, tuple(things)))
        if tracer is not None:
            tracer.condition(required, bound)
        return False

    return check


def _compile_candidates(known: Condition, required: Require, pattern: Op, following: Next) -> Next:
    keys, candidates = required.keys[1:], known.candidates
    parameters = plain_parameters(known.function, required.parameters)
    assert candidates is not None
    match_op = compile_op(pattern, following)

    def find(bound: Bindings) -> bool:
        found = candidates(bound[MATCH], *[bound[key] for key in keys], **parameters)
        return any(match_op(op, bound) for op in found)

    return find


# Rules


@dataclass(frozen=True)
class CompiledRule:
    """A rule ready to run: `match` finds it at an op, `make` builds what replaces the results of that op."""

    rule: Rule
    names: frozenset[str]
    """The names of the ops that it may match. There are none when it may match any op."""
    far: bool
    """True when a match depends on more than the ops a few operands below its root."""
    _matcher: OpMatcher
    _value_matcher: ValueMatcher | None
    _makers: tuple[ReplacementMaker, ...]
    _levels: int
    _first: tuple[EarlyCondition, ...] = ()
    """The conditions on the root alone, which are asked before the matcher."""

    def match(self, op: Operation, session: Session) -> Match:
        """Returns the match at `op`. Its field `matched` says whether there is one."""
        match = Match(self.rule, op, {}, session)
        if self._first:
            bound = {MATCH: match, self.rule.lhs.key: op}
            if not all(each.may_hold(bound) for each in self._first):
                return match
        return self._find(match, partial(self._matcher, op))

    def match_value(self, value: SSAValue, session: Session) -> Match:
        """Returns the match at a value. The root of an argument is the op around its block."""
        owner = value.owner
        if self._value_matcher is None and isinstance(owner, Operation):
            return self.match(owner, session)
        root = owner if isinstance(owner, Operation) else owner.parent_op()
        assert root is not None
        match = Match(self.rule, root, {}, session)
        if self._value_matcher is None:
            return match
        return self._find(match, partial(self._value_matcher, value))

    def _find(self, match: Match, matcher: Next) -> Match:
        """Runs a matcher. Where it takes too long, the rule does not match, which a warning says once."""
        match.bound[MATCH] = match
        try:
            if self._levels > FEW_LEVELS:
                with room_for(self._levels):
                    match.matched = matcher(match.bound)
            else:
                match.matched = matcher(match.bound)
        except TooManySteps as steps:
            match.bound.clear()
            if self.rule.name not in match.session.gave_up:
                match.session.gave_up.add(self.rule.name)
                emit_warning(match.root, f"rule '{self.rule.name}' gave up here after {steps}")
        return match

    def make(self, match: Match) -> list[SSAValue] | None:
        """
        Returns the replacement of the results of the root. It is `None`, and nothing is made, when a builder declines.
        """
        values: list[SSAValue] = []
        for maker in self._makers:
            made = maker(match)
            if made is None:
                match.discard()
                return None
            values += made
        return values


def _certain_keys(pattern: Pattern) -> set[str]:
    """
    Returns the keys that every match of `pattern` binds. Of alternatives these are the keys that all of them bind.
    """
    of_alternatives: dict[int, set[str]] = {}
    for part in bottom_up([pattern]):
        if isinstance(part, Or):
            arms = [_keys_outside_alternatives(each, of_alternatives) for each in part.alternatives]
            of_alternatives[id(part)] = set.intersection(*arms)
    return _keys_outside_alternatives(pattern, of_alternatives)


def _keys_outside_alternatives(pattern: Pattern, of_alternatives: Mapping[int, set[str]]) -> set[str]:
    """Returns the keys that every match of `pattern` binds, where those of the alternatives below it are known."""
    keys: set[str] = set()
    done: set[int] = set()
    stack = [pattern]
    while stack:
        part = stack.pop()
        if id(part) in done:
            continue
        done.add(id(part))
        keys.add(part.key)
        keys.update(wanted.key for _, wanted in getattr(part, "attributes", ()) if isinstance(wanted, Capture))
        if isinstance(part, Or):
            keys |= of_alternatives[id(part)]
        else:
            stack.extend(part.certain_parts())
    return keys


def _check_keys(rule: Rule) -> None:
    certain = _certain_keys(rule.lhs) | {key for op in rule.free for key in _certain_keys(op)}
    many = keys_of_many((rule.lhs, *rule.free))
    needed: list[tuple[object, set[str]]] = [(item, used_keys(item) - many) for item in rule.rhs]
    needed += [(each, set(each.keys)) for each in rule.when]
    needed += [(each, each.needed_keys()) for each in rule.decisions]
    for part, used in needed:
        if unbound := sorted(used - certain):
            names = ", ".join(f"%{_shown(key)}" if key[0] not in "#." else "a part without a name" for key in unbound)
            raise RuleError(f"{names} is not bound by every match of the root", at=part)


def _check_class(rule: Rule, parts: Sequence[Pattern]) -> None:
    """Refuses re-associated forms in exact rules, since they change the bits of results."""
    replaces = bool(rule.rhs) or rule.callback is not None
    if replaces and rule.numerics == "exact":
        found = next((part for part in parts if isinstance(part, Associative)), None)
        if found is not None:
            raise RuleError("re-associated forms do not give the same bits, so the rule cannot be exact", at=found)


def _check_others(parts: Sequence[Pattern]) -> None:
    """Refuses conditions inside the pattern about things that are not in it."""
    conditions = [part for part in parts if isinstance(part, Where) and isinstance(part.test, Holds)]
    known = {part.key for part in parts} if conditions else set()
    for part in conditions:
        assert isinstance(part.test, Holds)
        for key in part.test.others:
            if key not in known:
                raise RuleError(
                    f"condition '{part.test.condition}' is about %{_shown(key)}, which is not matched", at=part
                )


def _check_many(rule: Rule, parts: Sequence[Pattern]) -> None:
    """Refuses a name that stands for many values in one place and for one in another, and a chain without a link."""
    inner = [each for part in parts if (each := _of_many(part)) is not None]
    if not inner:
        return
    outside = _keys_outside(rule, {id(each) for each in inner})
    for number, each in enumerate(inner):
        own = {part.key for part in all_below(each)}
        others = {part.key for other in inner[:number] if other is not each for part in all_below(other)}
        if shared := sorted(own & (outside | others)):
            raise RuleError(f"%{_shown(shared[0])} stands for many values here, and elsewhere too", at=each)
    for part in parts:
        if isinstance(part, Chain) and not any(each is part.link for each in all_below(part.step)):
            raise RuleError("the step of a chain does not go through its link", at=part)


def _of_many(part: Pattern) -> Pattern | None:
    """Returns what is directly below `part` and stands for many values."""
    return part.step if isinstance(part, Chain) else part.each if isinstance(part, Rest) else None


def _keys_outside(rule: Rule, inner: set[int]) -> set[str]:
    keys: set[str] = set()
    done: set[int] = set()
    stack: list[Pattern] = [rule.lhs, *rule.free]
    while stack:
        part = stack.pop()
        if id(part) not in done:
            done.add(id(part))
            keys.add(part.key)
            stack.extend(each for each in part.parts() if id(each) not in inner)
    return keys


def _shown(key: str) -> str:
    return key.partition(".")[0]


def _same_types(rule: Rule) -> Next:
    """Returns the last test: the replacements of the roots have their types, and several roots stand in one block."""
    kept = [item.key for item in rule.rhs if isinstance(item, Bound)] if len(rule.rhs) == 1 else []
    picks = rule.picks_results

    def check(bound: Bindings) -> bool:
        if same_types(bound):
            return True
        blame_everything(bound)
        return False

    def same_types(bound: Bindings) -> bool:
        match: Match = bound[MATCH]
        if rule.also and len({op.parent for op in match.roots}) != 1:
            return False
        values = [value for key in kept for value in values_bound(key, bound)]
        results = match.replaced if rule.also or picks else match.root.results
        if picks and all(result.first_use is None for result in results):  # Its op may stay, and would match for ever.
            return False
        return not kept or (
            len(values) == len(results)
            and all(
                value is not result and (value.type is result.type or value.type == result.type)
                for value, result in zip(values, results, strict=True)
            )
        )

    return check


def compile_rule(rule: Rule, ctx: Context | None = None) -> CompiledRule:
    """
    Returns the rule, ready to run.

    Raises `RuleError` for a rule that can never mean what it says. With a context, names of ops, their properties and
    numbers of operands are checked too.
    """
    try:
        return _compile_rule(rule, ctx)
    except RuleError as error:
        if rule.is_pattern:
            raise
        raise error.within(rule.name) from None


def compiled_once(rule: Rule, ctx: Context) -> CompiledRule:
    """Returns what `compile_rule` does. A rule given to `keep_compiled` is compiled once per process."""
    if id(rule) not in _KEPT or TRACER.get() is not None:
        return compile_rule(rule, ctx)
    found = _KEPT[id(rule)][1]
    if found is None:
        found = compile_rule(rule, ctx)
        _KEPT[id(rule)] = (rule, found)
        return found
    try:
        check_op_names(rule, ctx)
    except RuleError as error:
        raise error.within(rule.name) from None
    return found


def keep_compiled(rules: Iterable[Rule]) -> None:
    """
    Keeps `rules`, and what they are compiled to.

    To compile those of `simplify-expr` for every program was a tenth of the time to compile a small one.
    """
    for rule in rules:
        _KEPT.setdefault(id(rule), (rule, None))


_KEPT: Final[dict[int, tuple[Rule, CompiledRule | None]]] = {}
"""The rules that stay for as long as the process, by identity, and what they are compiled to once they are."""


def _compile_rule(rule: Rule, ctx: Context | None) -> CompiledRule:
    _check(rule, ctx)
    parts = bottom_up((rule.lhs, *rule.free))
    closed = closed_parts(rule, parts)
    levels = levels_of(parts)
    closed_token, early_token = CLOSED.set(closed), EARLY.set(early_conditions(rule, bool(closed)))
    formula_token = IN_FORMULAS.set(formula_keys(rule))
    end_token, shared_token = END.set(end_of(rule)), SHARED.set(shared_parts(parts))
    try:
        with room_for(levels):
            return _compile_checked(rule, levels)
    finally:
        CLOSED.reset(closed_token)
        EARLY.reset(early_token)
        IN_FORMULAS.reset(formula_token)
        END.reset(end_token)
        SHARED.reset(shared_token)


def _check(rule: Rule, ctx: Context | None) -> None:
    parts = [part for root in (rule.lhs, *rule.free) for part in all_below(root)]
    _check_keys(rule)
    _check_class(rule, parts)
    _check_others(parts)
    _check_many(rule, parts)
    check_rule(rule, ctx)


def _compile_checked(rule: Rule, levels: int) -> CompiledRule:
    makers = tuple(
        compile_replacement(item, types_of_root=slice(None) if len(rule.rhs) == 1 else slice(number, number + 1))
        for number, item in enumerate(rule.rhs)
    )
    if rule.callback is not None:
        makers = (compile_callback(rule.callback),)
    final = _compile_conditions(rule, compile_injective(rule, compile_effects(rule, _same_types(rule))))
    for pattern in (rule.lhs, *rule.free):
        final = with_late_tests(pattern, final)
    value_matcher = None if rule.rhs or isinstance(rule.lhs, Function | Loops) else compile_value(rule.lhs, final)
    far = is_far_reaching(rule.lhs)
    matcher, first = compile_root(rule.lhs, final), conditions_of_root(rule)
    return CompiledRule(rule, root_names(rule.lhs), far, matcher, value_matcher, makers, levels, first)
