"""Why a pattern does not match: the deepest partial match and the first test that failed there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, OpResult, SSAValue

from .combinators import Expression
from .constants import constant_attribute
from .constraints import Argument, Holds, Literal, Not, Where, attribute_of, described, same_attribute
from .match import Match
from .patterns import Any_, Capture, Constant, Op, Pattern, Rest, Result, Rule, Splat
from .structures import CALLS, Call, Dominates, If
from .tracing import SLOTS


def value_name(value: SSAValue) -> str:
    """`%name`, or what defines it."""
    if value.name_hint is not None:
        return f"%{value.name_hint}"
    return f"the result of '{value.op.name}'" if isinstance(value, OpResult) else f"argument {value.index}"  # pyright: ignore


def _callee(op: Operation) -> str | None:
    from .compile_structures import called_name

    return called_name(op)


def _wanted(pattern: Op) -> str:
    return " or ".join(f"'{name}'" for name in pattern.names) or "an op"


def why_not(pattern: Pattern, value: SSAValue, bound: dict[str, Any]) -> str | None:
    """What `pattern` itself, without the patterns below it, has against `value`."""
    match pattern:
        case Op():
            return _why_not_op(pattern, value, None, bound)
        case Result(Op() as op, index):
            return _why_not_op(op, value, index, bound)
        case Result(_, index) if isinstance(value, OpResult) and value.index != index:
            return f"expected result {index}, found result {value.index} of '{value.op.name}'"
        case Where(_, Holds() as test) if test.others:
            known = all(key in bound for key in test.others)
            reason = test.why_not_with(value, bound[""], bound) if known else None
            return None if reason is None else f"{value_name(value)}: {reason}"
        case Where(_, test):
            reason = test.why_not(value, bound[""])
            return None if reason is None else f"{value_name(value)}: {reason}"
        case Constant():
            return None if constant_attribute(value) is not None else f"expected a constant, found {value_name(value)}"
        case Splat() | Literal() | Argument():
            from .matcher import why_not_leaf

            reason = why_not_leaf(pattern, value)
            if reason is not None:
                return f"{reason} ({value_name(value)})"
        case Call(callee) if not isinstance(value, OpResult) or value.op.name not in CALLS:
            return (
                f"expected a call{'' if not isinstance(callee, str) else f' of @{callee}'}, found {value_name(value)}"
            )
        case Call(str() as callee) if isinstance(value, OpResult) and _callee(value.op) != callee:
            return f"expected a call of @{callee}, found one of @{_callee(value.op)}"
        case If() if not isinstance(value, OpResult) or value.op.name != "scf.if":
            return f"expected 'scf.if', found {value_name(value)}"
        case If() if pattern.has_all_results and len(value.owner.results) != len(pattern.branches[0]):  # pyright: ignore
            return f"expected 'scf.if' of {len(pattern.branches[0])} results, found another number"
        case Expression():
            from .compile_combinators import why_not_expression

            return why_not_expression(pattern, value)
        case Not():
            return f"{value_name(value)} is what it must not be"
        case Dominates() if not isinstance(value, OpResult):
            return f"expected an op, found {value_name(value)}"
        case _:
            pass
    known = bound.get(getattr(pattern, "key", ""))
    if isinstance(pattern, Any_) and known is not None and known is not value:
        return f"expected {value_name(known)} again, found {value_name(value)}"
    return None


def _why_not_op(pattern: Op, value: SSAValue, index: int | None, bound: dict[str, Any]) -> str | None:
    wanted = _wanted(pattern)
    if not isinstance(value, OpResult):
        return f"expected {wanted}, found the block argument {value_name(value)}"
    op = value.op
    if pattern.names and op.name not in pattern.names:
        return f"expected {wanted}, found '{op.name}'"
    if index is None and len(op.results) != 1:
        return f"expected {wanted} with one result, found {len(op.results)}"
    if index is not None and value.index != index:
        return f"expected result {index} of {wanted}, found result {value.index}"
    known = bound.get(pattern.key)
    if known is not None and known is not op:
        return f"expected the same {wanted} again, found another one"
    return why_not_op(pattern, op)


def why_not_op(pattern: Op, op: Operation) -> str | None:
    """What the name, the attributes and the number of operands have against `op`."""
    if pattern.names and op.name not in pattern.names:
        return f"expected {_wanted(pattern)}, found '{op.name}'"
    for name, wanted in pattern.attributes:
        found = attribute_of(op, name)
        if not (found is not None if isinstance(wanted, Capture) else same_attribute(found, wanted)):
            expected = "a value" if isinstance(wanted, Capture) else described(wanted)
            return f"'{op.name}': expected {name} = {expected}, found {described(found)}"
    if pattern.operands is None:
        return None
    arity, rest = len(pattern.operands), bool(pattern.operands) and isinstance(pattern.operands[-1], Rest)
    found_arity = len(op.operands)
    if found_arity < arity - 1 if rest else found_arity != arity:
        expected = f"at least {arity - 1}" if rest else str(arity)
        return f"'{op.name}': expected {expected} operands, found {found_arity}"
    return None


@dataclass(frozen=True)
class Explanation:
    """`matched`, or the deepest partial match: what was bound then, and the test that failed."""

    matched: bool
    reason: str = ""
    op: Operation | None = None
    operand: int | None = None
    bound: tuple[tuple[str, Any], ...] = ()

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
    """What names of the program's author stand for."""
    return tuple(
        (key, thing)
        for key, thing in bound.items()
        if key and key[0] not in "#." and "|" not in key and not key.endswith(SLOTS)
    )


def explain(pattern: Pattern | tuple[Pattern, ...] | Rule, value: SSAValue | Operation, **settings: Any) -> Explanation:
    """Why `pattern` (or a rule) does not match at `value`: of all tries, the one that came farthest."""
    from .compiled_rule import compile_rule
    from .matching import match_compiled, pattern_rule
    from .tracing import TRACER, Tracer

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
    """The text of `explain` for the rule called `name`. Raises `ValueError` when there is none."""
    from ...core.diagnostics import did_you_mean

    known = {rule.name: rule for rule in rules}
    if name not in known:
        hint = did_you_mean(name, known) or f"the rules are {', '.join(known)}"
        raise ValueError(f"no rule '{name}', {hint}")
    return f"{name}: {explain(known[name], value)}"


def explain_in(module: Operation, rules: tuple[Rule, ...], target: str) -> str:
    """
    For `target` = `RULE@%name`, why the rule does not match at the values of that name; for `RULE`, at every op that may be
    its root. One line or more per place, in program order. Raises `ValueError` for a rule or name that does not exist.
    """
    rule_name, at, value_name_ = target.partition("@")
    hint = value_name_.removeprefix("%")
    rule = next((rule for rule in rules if rule.name == rule_name), None)
    if rule is None:
        return explain_rule(rules, rule_name, module)
    from .matcher import root_names

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


__all__ = [
    "Explanation",
    "Match",
    "explain",
    "explain_in",
    "explain_rule",
    "value_name",
    "why_not",
    "why_not_op",
]
