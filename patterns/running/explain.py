"""Explains why a pattern does not match: the deepest partial match and the first test that failed there."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation, SSAValue

from ...core.messages.diagnostics import did_you_mean
from ...lazy_dataclass import dataclass
from ..language.patterns import Op, Pattern
from ..language.rules import Rule
from ..matching.compile_ops import why_not_op
from ..matching.compiled_rule import compile_rule
from ..matching.matcher import root_names
from ..matching.tracing import SLOTS, TRACER, Tracer, value_name
from .matching import match_compiled, pattern_rule


@dataclass(frozen=True)
class Explanation:
    """The result of `explain`. It is a match, or the deepest partial match with the test that failed there."""

    matched: bool
    reason: str = ""
    op: Operation | None = None
    operand: int | None = None
    bound: tuple[tuple[str, Any], ...] = ()

    def __repr__(self) -> str:
        return f"<stepwell.Explanation {str(self).partition(chr(10))[0]}>"

    def __str__(self) -> str:
        if self.matched:
            return "matches"
        where = ""
        if self.op is not None and self.operand is not None:
            where = f"'{self.op.name}', operand {self.operand}: "
        elif self.op is not None:
            where = f"'{self.op.name}' ({value_name(self.op.results[0])}) " if self.op.results else f"'{self.op.name}' "
        names = [f"  %{key.partition('.')[0]} = {_shown(thing)}" for key, thing in self.bound]
        return "\n".join([f"no match: {where}{self.reason}", *(["bound so far:", *names] if names else [])])


def _shown(thing: Any) -> str:
    if isinstance(thing, Operation):
        return f"'{thing.name}'"
    if isinstance(thing, SSAValue):
        return value_name(thing)
    return ", ".join(_shown(each) for each in thing) if isinstance(thing, tuple) else str(thing)


def _named(bound: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Returns the things that the names written by the author of the pattern stand for."""
    return tuple(
        (key, thing)
        for key, thing in bound.items()
        if key and key[0] not in "#." and "|" not in key and not key.endswith(SLOTS)
    )


def explain(pattern: Pattern | tuple[Pattern, ...] | Rule, value: SSAValue | Operation, **settings: Any) -> Explanation:
    """Explains why `pattern` (or a rule) does not match at `value`, by the attempt that came farthest."""
    tracer = Tracer()
    token = TRACER.set(tracer)
    try:
        rule = pattern if isinstance(pattern, Rule) else pattern_rule(pattern)
        compiled = compile_rule(rule)
    finally:
        TRACER.reset(token)
    match = match_compiled(compiled, value, **settings)
    if match.matched:
        return Explanation(True)
    deepest = tracer.deepest
    if deepest is None or (deepest.depth <= 1 and isinstance(rule.lhs, Op)):
        root = match.root
        reason = why_not_op(rule.lhs, root) if isinstance(rule.lhs, Op) else None
        if reason is not None:
            return Explanation(False, reason)
    if deepest is None:
        return Explanation(False, "the types of the replacement differ from those of the root")
    return Explanation(False, deepest.reason, deepest.at, deepest.operand, _named(deepest.bound))


def explain_rule(rules: tuple[Rule, ...], name: str, value: SSAValue | Operation) -> str:
    """Returns the text of `explain` for the rule called `name`. Raises `ValueError` when there is none."""
    known = {rule.name: rule for rule in rules}
    if name not in known:
        hint = did_you_mean(name, known) or f"the rules are {', '.join(known)}"
        raise ValueError(f"no rule '{name}', {hint}")
    return f"{name}: {explain(known[name], value)}"


def explain_in(module: Operation, rules: tuple[Rule, ...], target: str) -> str:
    """
    Returns the text of `explain` for a rule at each place in a module, in program order.

    `target` is `RULE@%name` for the values of that name, or `RULE` for every op that may be the root of the rule.
    Raises `ValueError` for a rule or name that does not exist.
    """
    rule_name, at, value_name_ = target.partition("@")
    hint = value_name_.removeprefix("%")
    rule = next((rule for rule in rules if rule.name == rule_name), None)
    if rule is None:
        return explain_rule(rules, rule_name, module)
    names = root_names(rule.lhs)
    places = [
        op
        for op in module.walk()
        if op.results
        and (any(value.name_hint == hint for value in op.results) if at else not names or op.name in names)
    ]
    if at and not places:
        raise ValueError(f"no op has a result called %{hint}")
    return "\n".join(f"{rule.name} at {value_name(op.results[0])} ('{op.name}'): {explain(rule, op)}" for op in places)


__all__ = ["Explanation", "explain", "explain_in", "explain_rule"]
