"""Matches a pattern at a value, or at all ops inside another, outside any pass."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from xdsl.context import Context
from xdsl.ir import Operation, SSAValue

from ..checking.rules import check_rule
from ..language.match import Match, Session
from ..language.patterns import Pattern
from ..language.rules import Rule, root_pattern
from ..matching.compiled_rule import CompiledRule, compile_rule
from .driver import program_order


def pattern_rule(pattern: Pattern | tuple[Pattern, ...]) -> Rule:
    """Returns a rule that only matches. A tuple of patterns is a rule of several roots."""
    root, also = root_pattern(pattern)
    return Rule("match", root, (), also=also)


MOST_KNOWN: Final = 256
"""The number of compiled patterns that are kept."""

_known: OrderedDict[tuple[int, ...], tuple[object, CompiledRule]] = OrderedDict()


def compiled_pattern(pattern: Pattern | tuple[Pattern, ...]) -> CompiledRule:
    """Returns `pattern`, ready to run. The same object is compiled once."""
    key = tuple(map(id, pattern)) if isinstance(pattern, tuple) else (id(pattern),)
    found = _known.get(key)
    if found is None:
        found = _known[key] = pattern, compile_rule(pattern_rule(pattern))  # What is kept keeps its identity.
        while len(_known) > MOST_KNOWN:
            _known.popitem(last=False)
    return found[1]


def match(
    pattern: Pattern | tuple[Pattern, ...],
    value: SSAValue | Operation,
    *,
    ctx: Context | None = None,
    **settings: Any,
) -> Match | None:
    """
    Returns the match of `pattern` at a value or op, or `None`. It never raises for a valid program.

    A tuple of patterns is a pattern of several roots. The first is at the value and the others in the same block. With
    a context a name that no op has is a `RuleError`. `m[p]` is the value of the sub-pattern `p`, `m.op(p)` its op,
    `m.all(p)` all values of a pattern inside a path, `m.arm(p)` the number of the alternative that matched.
    """
    compiled = compiled_pattern(pattern)
    if ctx is not None:
        check_rule(compiled.rule, ctx)
    found = match_compiled(compiled, value, **settings)
    return found if found.matched else None


def find_all(pattern: Pattern | tuple[Pattern, ...], scope: Operation, *, ctx: Context | None = None) -> list[Match]:
    """Returns the matches of `pattern` at the ops inside `scope`, producers first. They may overlap."""
    compiled = compiled_pattern(pattern)
    if ctx is not None:
        check_rule(compiled.rule, ctx)
    session = Session(ctx or Context(), outermost(scope))
    ops = (op for op in program_order(scope) if not compiled.names or op.name in compiled.names)
    return [found for op in ops if (found := compiled.match(op, session)).matched]


def match_compiled(compiled: CompiledRule, value: SSAValue | Operation, *, session: Session | None = None) -> Match:
    """Returns the match at a value or at an op. At an op its only result is matched, unless the pattern is of an op."""
    if session is None:
        session = Session(Context(), outermost(value))
    if isinstance(value, Operation):
        return compiled.match(value, session)
    return compiled.match_value(value, session)


def outermost(value: SSAValue | Operation) -> Operation:
    """Returns the op around everything."""
    op = value if isinstance(value, Operation) else value.owner
    if not isinstance(op, Operation):
        op = op.parent_op()
    assert op is not None, "a value of a detached block"
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


__all__ = ["compiled_pattern", "find_all", "match", "match_compiled", "outermost", "pattern_rule"]
