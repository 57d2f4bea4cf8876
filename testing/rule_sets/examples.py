"""Example programs of a rule: random programs that it applies to, each with the op that it replaces there."""

from __future__ import annotations

from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...lazy_dataclass import dataclass
from ...patterns.language.match import Session
from ...patterns.language.rules import Rule
from ...patterns.matching.compiled_rule import CompiledRule
from ..rules.checking import RuleCheck, Settings
from ..rules.instances import Instance

EXAMPLES: Final = 12
"""The examples that are made of each rule."""


@dataclass(frozen=True)
class Example:
    """A program before and after one application of `rule`. `place` counts the ops before the root."""

    rule: Rule
    before: ModuleOp
    place: int
    after: ModuleOp

    @property
    def root(self) -> Operation:
        """The op in `before` that the rule replaces."""
        return op_at(self.before, self.place)


def op_at(module: ModuleOp, place: int) -> Operation:
    """Returns the op that `place` others come before."""
    return next(op for number, op in enumerate(module.walk()) if number == place)


def place_of(module: ModuleOp, wanted: Operation) -> int:
    """Returns how many ops come before `wanted`."""
    return next(number for number, op in enumerate(module.walk()) if op is wanted)


def applies(compiled: CompiledRule, op: Operation, session: Session) -> bool:
    """Returns whether a rule matches at `op` and its builders accept the match. The program stays as it is."""
    if compiled.names and op.name not in compiled.names:
        return False
    match = compiled.match(op, session)
    made = compiled.make(match) if match.matched else None
    if made is None:
        return False
    same = [value.type for value in made] == [result.type for result in match.replaced]
    match.discard()
    return same


class ExampleMaker(RuleCheck):
    """Makes examples of one rule. Where `RuleCheck` compares values, it keeps the programs."""

    def __init__(self, ctx: Context, rule: Rule, settings: Settings):
        super().__init__(ctx, rule, settings)
        self.examples: list[Example] = []
        self._place = -1

    def _apply(self, instance: Instance) -> bool:
        root = instance.root or self._first_match(instance.module)
        if root is None:
            return False
        self._place = place_of(instance.module, root)
        instance.root = root
        return super()._apply(instance)

    def _first_match(self, module: ModuleOp) -> Operation | None:
        session = Session(self._ctx, module)
        return next((op for op in module.walk() if applies(self._compiled, op, session)), None)

    def _compare(self, before: ModuleOp, instance: Instance, number: int) -> bool:
        self.examples.append(Example(self.report.rule, before, self._place, instance.module))
        return True


def examples_of(ctx: Context, rule: Rule, cases: int = EXAMPLES, seed: int = 0) -> list[Example]:
    """Returns at most `cases` examples of a rule with a replacement, fewer where they are hard to find."""
    maker = ExampleMaker(ctx, rule, Settings(seed, cases))
    maker.run()
    return maker.examples


__all__ = ["EXAMPLES", "Example", "applies", "examples_of", "op_at", "place_of"]
