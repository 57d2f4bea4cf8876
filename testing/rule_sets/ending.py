"""Looks whether rules come to an end: a measure that all of them lower, or the rules that undo each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.utils.exceptions import VerifyException

from ...core.messages.diagnostics import OperationError, listening
from ...patterns.language.rules import NUMERICS
from .examples import Example
from .findings import Finding, PlacedRule
from .measure import find_measure
from .normal_forms import Normaliser


def endings(
    ctx: Context, rules: Sequence[PlacedRule], examples: Mapping[str, Sequence[Example]]
) -> tuple[list[Finding], str]:
    """
    Returns the rules from whose examples there is no end, and a note about the measure.

    All rules run on each example that the choice of numerics selects with its rule. A measure is looked for only where
    every example comes to an end.
    """
    found: list[Finding] = []
    for numerics in NUMERICS:
        chosen = [each for each in rules if each.rule.numerics == numerics]
        if chosen:
            allowed = NUMERICS[: NUMERICS.index(numerics) + 1]
            everything = Normaliser(ctx, [each.rule for each in rules if each.rule.numerics in allowed])
            for each in chosen:
                found += _endless(everything, each, examples[each.name])
    if not rules:
        return [], "there is no rule that a measure could fall with"
    if found:
        return found, "no measure falls with every rule, for some undo each other"
    search = find_measure([example for each in rules for example in examples[each.name]])
    if search.measure is not None:
        return [], f"every rule lowers this measure on its examples: {search.measure}"
    why = f"'{search.in_the_way}' was in the way"
    return [], f"every example comes to an end, but no measure was found that every rule lowers: {why}"


def _endless(everything: Normaliser, each: PlacedRule, examples: Sequence[Example]) -> list[Finding]:
    for example in examples:
        module = example.after.clone()
        try:
            with listening(lambda diagnostic: None):
                everything.run(module)
        except OperationError as error:
            message = f"after rule '{each.name}' there is no end: {error.diagnostic.message}"
            return [Finding("cycle", (each,), message, (("example", example.before),))]
        except VerifyException:
            continue
    return []


__all__ = ["endings"]
