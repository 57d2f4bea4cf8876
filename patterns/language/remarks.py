"""The remarks of conditions: what a rule says where everything else matches, and one condition does not hold."""

from __future__ import annotations

from typing import Final

from .numbers import COMPARE, NOT, shown_condition
from .registry import known_condition
from .rules import Require

WHY: Final = "{why}"
"""What stands in a remark for the sentence of its condition, so that one remark serves several conditions."""


def remark_of(required: Require) -> str | None:
    """
    Returns the remark of a condition, where the sentence about what does not hold stands for `{why}`.

    In the sentence of `@condition(…, otherwise="the {0} is not known")` a number stands for the name that the rule has
    for a thing, with spaces for underscores. A condition without a sentence is written as in the rule.
    """
    if required.remark is None or WHY not in required.remark:
        return required.remark
    return required.remark.replace(WHY, _why(required))


def _why(required: Require) -> str:
    if required.name in (COMPARE, NOT):
        shown = shown_condition(required)
        return f"{shown.removeprefix('not ')} {'holds' if required.name == NOT else 'does not hold'}"
    names = [key.partition(".")[0] if key[0] not in "#." else "" for key in required.keys]
    otherwise = known_condition(required.name, len(required.keys), required.parameters).otherwise
    if otherwise is not None:
        return otherwise.format(*[name.replace("_", " ") or "value" for name in names])
    return f"{required.name}({', '.join(f'%{name}' if name else '_' for name in names)}) does not hold"


__all__ = ["remark_of"]
