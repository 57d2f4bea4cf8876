"""Runs rules that decide: what they say about the blocks and loops of a program. Nothing is changed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.context import Context
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import PassFailedException

from ...core.messages.diagnostics import emit_remark
from ...core.passes.applications import allowed
from ...lazy_dataclass import dataclass
from ..language.match import Match, Session
from ..language.numbers import Unknown, attribute_of_number, read_formula, value_of
from ..language.patterns import Capture
from ..language.rules import Computed, Decide, Rule
from ..matching.compiled_rule import CompiledRule, compiled_once
from .driver import remark_text


@dataclass(frozen=True)
class Decided:
    """An attribute that a rule gives to an op, and why."""

    op: Operation
    name: str
    value: Attribute
    because: str
    rule: str


class Decider:
    """Rules that decide, ready to run. At one op they are tried in their order."""

    def __init__(self, ctx: Context, rules: Sequence[Rule]):
        self._rules: list[CompiledRule] = [compiled_once(rule, ctx) for rule in rules]

    def decisions_at(self, op: Operation, session: Session) -> Iterator[Decided]:
        """
        Yields what the rules decide where `op` is their root. They are tried in their order.

        What an op has already is never decided again. The caller gives the attribute before it asks for the next one.
        """
        for compiled in self._rules:
            if op.name not in compiled.names:
                continue
            match = compiled.match(op, session)
            if not match.matched:
                for remark, about in match.remarks:
                    emit_remark(op, remark_text(remark, about))
            elif allowed("rule", compiled.rule.name, op):
                for decision in compiled.rule.decisions:
                    yield from _made(decision, match)


def _made(decision: Decide, match: Match) -> Iterator[Decided]:
    op = match.ops(decision.key)
    for name, wanted in decision.attributes:
        if name in op.attributes:
            continue
        if isinstance(wanted, Capture):
            wanted = match.attribute(wanted)
        elif isinstance(wanted, Computed):
            try:
                things = [match.bound[key] for key in wanted.keys]
                wanted = attribute_of_number(value_of(read_formula(wanted.formula), things))
            except Unknown:
                continue
        yield Decided(op, name, wanted, decision.because, match.rule.name)


def check_decide(rules: Sequence[Rule], pass_name: str) -> None:
    """Raises `PassFailedException` at the first rule that decides nothing."""
    for rule in rules:
        if not rule.decisions:
            hint = "it is for the pass partition-pattern" if rule.group is not None else "it is for apply-patterns"
            raise PassFailedException(f"{pass_name}: rule '{rule.name}' decides nothing; {hint}")


def check_replaces(rules: Sequence[Rule], pass_name: str) -> None:
    """Raises `PassFailedException` at the first rule that decides, and replaces nothing."""
    for rule in rules:
        if rule.decisions:
            raise PassFailedException(
                f"{pass_name}: rule '{rule.name}' decides about loops; it is for the pass decide-schedules"
            )


__all__ = ["Decided", "Decider", "check_decide", "check_replaces"]
