"""Checks the names of ops in rules. An unknown one is an error, never a rule that silently does not match."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context

from ...core.text.parsing import unknown_op
from .patterns import Op, all_below
from .registry import RuleError
from .rules import Create, Replacement, Rule


def check_op_names(rule: Rule, ctx: Context) -> None:
    """Raises `RuleError` for the first name of an op in `rule` that no dialect of `ctx` has."""
    if ctx.allow_unregistered:
        return
    for name in dict.fromkeys(_names(rule)):
        if ctx.get_optional_op(name) is None:
            message, hint = unknown_op(ctx, name)
            raise RuleError(message if hint is None else f"{message}, {hint}")


def _names(rule: Rule) -> Iterator[str]:
    for root in (rule.lhs, *rule.free):
        for part in all_below(root):
            if isinstance(part, Op):
                yield from part.names
    for item in rule.rhs:
        yield from _created(item)


def _created(item: Replacement) -> Iterator[str]:
    if isinstance(item, Create):
        yield item.name
        for operand in item.operands:
            yield from _created(operand)


__all__ = ["check_op_names"]
