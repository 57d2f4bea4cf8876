"""The choice of the rules that a pass runs, by name and by numerics class."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.utils.exceptions import PassFailedException

from ...core.messages.diagnostics import did_you_mean
from ..language.rules import Rule

CLASSES_OF: dict[str, frozenset[str]] = {
    "strict": frozenset({"exact"}),
    "default": frozenset({"exact", "rounding"}),
    "fast": frozenset({"exact", "rounding", "fast"}),
}
"""The option `numerics` of a pass and the classes of rules that it lets through."""


def selected(rules: Sequence[Rule], names: Sequence[str], numerics: str, pass_name: str) -> list[Rule]:
    """
    Returns the rules called `names` (all when empty) whose class `numerics` allows, in their order.

    Raises `PassFailedException` for an unknown name or setting, and for a rule that is named but not allowed.
    """
    if numerics not in CLASSES_OF:
        raise PassFailedException(f"{pass_name}: numerics is '{numerics}', expected one of {', '.join(CLASSES_OF)}")
    known = {rule.name: rule for rule in rules}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"its rules are {', '.join(known)}"
            raise PassFailedException(f"{pass_name} has no rule '{name}', {hint}")
    allowed = CLASSES_OF[numerics]
    for name in names:
        if known[name].numerics not in allowed:
            raise PassFailedException(
                f"{pass_name}: rule '{name}' is of class {known[name].numerics}, which numerics=\"{numerics}\" forbids"
            )
    return [rule for rule in rules if (not names or rule.name in names) and rule.numerics in allowed]
