"""Texts that several rooms print."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .diagnostics import Diagnostic, StepwellError, did_you_mean

NESTED_TOO_DEEPLY: Final = "the program is nested too deeply"


def takes_arguments(program: str, names: Iterable[str], found: int) -> str:
    """Returns the message that a program with arguments of these names is called with another number of them."""
    listed = [f"'{name}'" for name in names]
    return f"{program} takes {len(listed)} arguments ({', '.join(listed)}), found {found}"


def unknown_target(name: str, known: Iterable[str]) -> StepwellError:
    """Returns the error that there is no target `name`, with a hint at what there is."""
    names = list(known)
    hint = did_you_mean(name, names) or f"the targets are {', '.join(names)}"
    return StepwellError(Diagnostic(f"unknown target '{name}'", hint=hint))
