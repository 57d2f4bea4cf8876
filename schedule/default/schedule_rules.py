"""Rules that decide about blocks: those of `schedules.mlir`, those of a file, and what their decisions write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

from xdsl.context import Context
from xdsl.ir import Operation

from ...core.messages.diagnostics import OperationError
from ...core.roles import TILING
from ...dialects.tensor_loop import BlockOp
from ...machine.machine import Machine
from ...patterns.language.match import Session
from ...patterns.language.rules import Rule
from ...patterns.matching.compiled_rule import keep_compiled
from ...patterns.running.decisions import Decided, Decider, check_decide
from ...patterns.running.selection import selected
from ...patterns.text.loading import rules_of_file, rules_of_valid_text
from .decide import write
from .loop_conditions import ONCE, TARGET

SHIPPED_FILE = "schedules.mlir"


@cache
def shipped_schedule_rules() -> tuple[Rule, ...]:
    """Returns the rules of `schedules.mlir`, which the tests verify."""
    rules = rules_of_valid_text((Path(__file__).parent / SHIPPED_FILE).read_text(encoding="utf-8"), SHIPPED_FILE)
    keep_compiled(rules)
    return rules


def schedule_rules(file: str, names: Sequence[str], ctx: Context, pass_name: str) -> list[Rule]:
    """
    Returns the rules of a file, or the shipped ones where there is no file, and of these the ones called `names`.

    Raises `PassFailedException` for an unknown name and for a rule that decides nothing, and `StepwellError` for a file
    that is not valid.
    """
    if not file and not names:
        return list(shipped_schedule_rules())
    is_shipped = not file or (file == SHIPPED_FILE and not Path(file).exists())
    rules = shipped_schedule_rules() if is_shipped else rules_of_file(file, ctx)
    chosen = selected(rules, names, "fast", pass_name, file or SHIPPED_FILE)
    check_decide(chosen, pass_name)
    return chosen


class ScheduleRules:
    """
    Rules in one run over `module`. `once` are the loop functions that only prepare weights, `target` is the machine to
    schedule for, that of the pass context when left out. Without `rules` they are the shipped ones, which are read when
    they are first asked, since that takes 10 ms.
    """

    def __init__(
        self,
        ctx: Context,
        rules: Sequence[Rule] | None,
        module: Operation,
        once: Iterable[str],
        target: Machine | None = None,
    ):
        self._ctx, self._rules = ctx, rules
        self._session = Session(ctx, module, options={ONCE: frozenset(once), TARGET: target})

    @cached_property
    def _decider(self) -> Decider:
        return Decider(self._ctx, shipped_schedule_rules() if self._rules is None else self._rules)

    def decide(self, op: Operation) -> list[Decided]:
        """Writes what the rules decide where `op` is their root, and returns it."""
        found: list[Decided] = []
        for each in self._decider.decisions_at(op, self._session):
            if isinstance(each.op, BlockOp):
                write(each.op, each.name, each.value, each.because)
            else:
                each.op.attributes[each.name] = each.value
            found.append(each)
        return found


def blame(error: OperationError, decided: Sequence[Decided], file: str) -> None:
    """Adds to the error about a decision that a kernel refuses the rule that made it."""
    for each in decided:
        if each.name == TILING:
            hint = f"rule '{each.rule}' of {file or SHIPPED_FILE} decides so: it needs another condition"
            error.diagnostic = replace(error.diagnostic, hint=hint)
