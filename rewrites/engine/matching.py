"""`match`: one pattern at one value, outside any pass."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from xdsl.context import Context
from xdsl.ir import Operation, SSAValue

from .compiled_rule import CompiledRule, compile_rule
from .match import Match, Session
from .patterns import Pattern, Rule


def pattern_rule(pattern: Pattern) -> Rule:
    """A rule that only matches."""
    return Rule("match", pattern, ())


@lru_cache(maxsize=256)
def compiled_pattern(pattern: Pattern) -> CompiledRule:
    """`pattern`, ready to run; compiled once."""
    return compile_rule(pattern_rule(pattern))


def match(pattern: Pattern, value: SSAValue | Operation, **settings: Any) -> Match | None:
    """
    The match of `pattern` at a value or op, or `None`. Never raises for a valid program.

    `m[p]` is the value of the sub-pattern `p`, `m.op(p)` its op, `m.all(p)` all values of a pattern inside a path,
    `m.arm(p)` the number of the alternative that matched.
    """
    found = match_compiled(compiled_pattern(pattern), value, **settings)
    return found if found.matched else None


def match_compiled(
    compiled: CompiledRule, value: SSAValue | Operation, *, session: Session | None = None
) -> Match:
    """The match at a value or at an op (at its only result, unless the pattern is of an op)."""
    if session is None:
        session = Session(Context(), outermost(value))
    if isinstance(value, Operation):
        return compiled.match(value, session)
    return compiled.match_value(value, session)


def outermost(value: SSAValue | Operation) -> Operation:
    """The op around everything."""
    op = value if isinstance(value, Operation) else value.owner
    if not isinstance(op, Operation):
        op = op.parent_op()
    assert op is not None, "a value of a detached block"
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


__all__ = ["compiled_pattern", "match", "match_compiled", "outermost", "pattern_rule"]
