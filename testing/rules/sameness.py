"""The comparison of two rules but for names and the order of operands of commutative ops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import product
from typing import Any, Final

from ...patterns.language.patterns import Op, Pattern, all_below
from ...patterns.language.rules import Rule
from ...patterns.language.shown import in_full

SAME_RULE: Final = "the same rule, but for names and the order of operands of commutative ops"


def canonical_forms(rule: Rule, commutes: Callable[[str], bool] | None = None) -> Iterator[str]:
    """
    Returns the rule as text with names numbered in the order of the pattern, without keys that nothing else mentions.
    With `commutes`, it returns a text for every order of operands of commutative ops.
    """
    ops = [p for p in dict.fromkeys(all_below(rule.lhs)) if isinstance(p, Op) and len(p.operands or ()) == 2]
    swaps = [p for p in ops if commutes is not None and p.names and all(map(commutes, p.names))][:MOST_SWAPS]
    for choice in product((False, True), repeat=len(swaps)):
        swapped = {id(p) for p, chosen in zip(swaps, choice, strict=True) if chosen}
        text = repr((_Numbering(swapped).pattern(rule.lhs), rule.free and in_full(rule.free), rule.numerics))
        numbering = _Numbering(swapped)
        numbering.pattern(rule.lhs)
        yield text + numbering.renamed(repr((rule.when, rule.rhs, rule.decisions)))


MOST_SWAPS: Final = 6
"""Commutative ops of one pattern of which both orders are looked at."""


class _Numbering:
    def __init__(self, swapped: set[int]):
        self._swapped = swapped
        self._numbers: dict[str, int] = {}

    def pattern(self, pattern: Pattern) -> Any:
        key: str = pattern.key
        if key in self._numbers and key:
            return f"again {self._numbers[key]}"
        self._numbers[key] = len(self._numbers)
        parts: list[Any] = [type(pattern).__name__, self._numbers[key]]
        for each in fields(pattern):
            value = getattr(pattern, each.name)
            if each.name == "key":
                continue
            if each.name == "operands" and id(pattern) in self._swapped:
                value = value[::-1]
            is_patterns = isinstance(value, tuple) and any(isinstance(item, Pattern) for item in value)
            if isinstance(value, Pattern):
                parts.append(self.pattern(value))
            else:
                parts.append([self.pattern(item) for item in value] if is_patterns else in_full(value))
        return parts

    def renamed(self, text: str) -> str:
        for key, number in self._numbers.items():
            text = text.replace(repr(key), f"#{number}")
        return re.sub(r"'made\.\d+'", "made", text)
