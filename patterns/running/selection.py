"""The choice of the rules that a pass runs, by name and by numerics class."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from xdsl.utils.exceptions import PassFailedException

from ...core.messages.diagnostics import Diagnostic, did_you_mean, emit
from ...core.messages.points import SourcePoint
from ..language.rules import Rule

CLASSES_OF: dict[str, frozenset[str]] = {
    "strict": frozenset({"exact"}),
    "default": frozenset({"exact", "rounding", "quantised"}),
    "fast": frozenset({"exact", "rounding", "quantised", "fast"}),
}
"""The option `numerics` of a pass and the classes of rules that it lets through."""


def check_known(names: Iterable[str], known: Collection[str], pass_name: str) -> None:
    """Raises `PassFailedException` for the first name that is none of the rules of a pass."""
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"its rules are {', '.join(known)}"
            raise PassFailedException(f"{pass_name} has no rule '{name}', {hint}")


def check_limit(limit: int, pass_name: str) -> None:
    """Raises `PassFailedException` unless a limit of rewrites is positive."""
    if limit < 1:
        raise PassFailedException(f"{pass_name}: limit is {limit}, expected a positive number")


def selected(
    rules: Sequence[Rule], names: Sequence[str], numerics: str, pass_name: str, file: str | None = None
) -> list[Rule]:
    """
    Returns the rules called `names` (all when empty) whose class `numerics` allows, in their order.

    Where there are none of `file`, a warning says why.

    Raises `PassFailedException` for an unknown name or setting, and for a rule that is named but not allowed.
    """
    if numerics not in CLASSES_OF:
        raise PassFailedException(f"{pass_name}: numerics is '{numerics}', expected one of {', '.join(CLASSES_OF)}")
    known = {rule.name: rule for rule in rules}
    check_known(names, known, pass_name)
    allowed = CLASSES_OF[numerics]
    for name in names:
        if known[name].numerics not in allowed:
            raise PassFailedException(
                f"{pass_name}: rule '{name}' is of class {known[name].numerics}, which numerics=\"{numerics}\" forbids"
            )
    found = [rule for rule in rules if (not names or rule.name in names) and rule.numerics in allowed]
    if file is not None and not found:
        if rules:
            classes = " and ".join(sorted({rule.numerics for rule in rules}))
            text = f'no rule is selected: all are of class {classes}, which numerics="{numerics}" leaves out'
        else:
            text = "the file has no rules"
        emit(Diagnostic(text, "warning", SourcePoint(file, 1, 1)))
    return found
