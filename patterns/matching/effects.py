"""The guard of effects: rules of any kind leave ops with effects where they are, unless a rule says otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Operation
from xdsl.traits import SymbolOpInterface

from ...core.ir.walk import op_and_inside
from ...dialects.traits import may_fail
from ..language.equivalence import BlockOrder
from ..language.match import Match, Session
from ..language.rules import Rule
from .jumping_back import blame_everything
from .tracing import MATCH, Bindings, Next


def compile_effects(rule: Rule, following: Next) -> Next:
    """Returns `following` behind the test that no root has an effect, for rules that replace their roots."""
    if rule.effects or not (rule.rhs or rule.callback is not None):
        return following

    def no_effects(bound: Bindings) -> bool:
        match: Match = bound[MATCH]
        for op in match.roots:
            if not op.has_trait(SymbolOpInterface) and not match.session.purity.is_harmless(op):
                match.remarks.append((f"rule '{rule.name}' leaves '{op.name}', which has an effect", ()))
                blame_everything(bound)
                return False
        return following(bound)

    return no_effects


def effect_of_replacement(match: Match, place: Operation) -> str | None:
    """
    Returns what the replacement would do about effects, `None` where it does nothing.

    A new op has an effect, or one that may fail would be computed on the other side of an op with an effect.
    """
    if match.rule.effects or not match.new_ops:
        return None
    purity = match.session.purity
    for function in match.new_functions:
        purity.add_function(function)
    for op in match.new_ops:
        if not purity.is_harmless(op):
            return f"makes '{op.name}', which has an effect"
    if not any(may_fail(each) for op in match.new_ops for each in op_and_inside(op)):
        return None
    failing = [op for op in _matched_ops(match) if op.parent is place.parent and may_fail(op)]
    crossed = op_with_effect_between([*failing, place], match.session)
    return None if crossed is None else f"moves an op that may fail across '{crossed.name}', which has an effect"


def op_with_effect_between(
    ops: Iterable[Operation], session: Session, *, but: Iterable[Operation] = ()
) -> Operation | None:
    """Returns the first op with an effect between any two of `ops`, which are in one block. It is none of `but`."""
    found = list(dict.fromkeys(ops))
    if len(found) < 2:
        return None
    kept = {*found, *but}
    begin, *_, end = session.index(BlockOrder).ordered(found)
    op = begin.next_op
    while op is not None and op is not end:
        if op not in kept and not session.purity.is_harmless(op):
            return op
        op = op.next_op
    return None


def _matched_ops(match: Match) -> Iterator[Operation]:
    for key, bound in match.bound.items():
        if key != MATCH:
            several = bound if isinstance(bound, tuple) else (bound,)
            yield from (each for each in several if isinstance(each, Operation))


__all__ = ["compile_effects", "effect_of_replacement", "op_with_effect_between"]
