"""Rules that never come to apply, since an earlier rule takes every op that they would replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.context import Context

from ...patterns.language.match import Session
from ...patterns.matching.compiled_rule import CompiledRule, compiled_once
from .examples import Example, applies, examples_of
from .findings import Finding, PlacedRule, named, runs_with

LEAST: Final = 4
"""Fewer examples say nothing."""

LOOKS: Final = (12, 120)
"""The examples that are made of a rule that looks shadowed. Several rules may take a few examples by chance."""


class Shadowing:
    """
    Finds shadowed rules among `rules`, which run in this order. `examples` are those of each rule, by name.

    The driver tries rules in their order at each op. A rule is shadowed when at the root of each of its examples an
    earlier rule applies. Only earlier rules count that run whenever the rule itself does.
    """

    def __init__(self, ctx: Context, rules: Sequence[PlacedRule], examples: Mapping[str, Sequence[Example]]):
        self._ctx = ctx
        self._rules = rules
        self._compiled = {each.name: compiled_once(each.rule, ctx) for each in rules}
        self._examples = examples

    def findings(self) -> list[Finding]:
        """Returns one finding for each shadowed rule, in the order of the rules."""
        found = (self._finding(number, each) for number, each in enumerate(self._rules))
        return [finding for finding in found if finding is not None]

    def _finding(self, number: int, each: PlacedRule) -> Finding | None:
        earlier = [self._compiled[one.name] for one in self._rules[:number] if runs_with(one.rule, each.rule)]
        examples = self._examples[each.name]
        takers: list[str] | None = None
        for cases in (0, *LOOKS):
            examples = examples_of(self._ctx, each.rule, cases, seed=cases) if cases else examples
            takers = self._takers(earlier, examples)
            if takers is None or (cases and len(examples) < LEAST):
                return None
        assert takers is not None
        what = "rule" if len(takers) == 1 else "rules"
        verb = "applies" if len(takers) == 1 else "apply"
        message = (
            f"rule '{each.name}' is shadowed: in all {len(examples)} examples the earlier {what} {named(takers)} "
            f"{verb} at the same op"
        )
        return Finding("shadowed", (each,), message, (("example", examples[0].before),))

    def _takers(self, earlier: Sequence[CompiledRule], examples: Sequence[Example]) -> list[str] | None:
        """Returns the earlier rules that apply at the roots, one where it takes all. Returns `None` where none does."""
        if not earlier or not examples:
            return None
        taken: list[list[str]] = []
        for example in examples:
            root, session = example.root, Session(self._ctx, example.before)
            taken.append([one.rule.name for one in earlier if applies(one, root, session)])
            if not taken[-1]:
                return None
        everywhere = [name for name in taken[0] if all(name in names for names in taken)]
        return everywhere[:1] or list(dict.fromkeys(names[0] for names in taken))


__all__ = ["Shadowing"]
