"""Texts that several rooms print."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .diagnostics import Diagnostic, StepwellError, did_you_mean

IS_A_DIRECTORY: Final = "it is a directory, expected a file"
GIVE_SIZES: Final = 'give the sizes first: specialize-shapes{main="4x784"}'
NESTED_TOO_DEEPLY: Final = "the program is nested too deeply"

HAS_A_SIGN: Final = "has a sign; below tensor_loop integers are signless"


def takes_arguments(program: str, names: Iterable[str], found: int) -> str:
    """Returns the message that a program with arguments of these names is called with another number of them."""
    listed = [f"'{name}'" for name in names]
    return f"{program} takes {len(listed)} arguments ({', '.join(listed)}), found {found}"


def missing_function(name: str, known: Iterable[str]) -> str:
    """Returns the message that a module has no function `name`, with a hint at what there is."""
    names = list(known)
    hint = did_you_mean(name, names)
    listed = ", ".join(f"@{each}" for each in names) or "no function"
    return f"there is no function @{name}{', ' + hint if hint else ''}; the module has {listed}"


def unknown_target(name: str, known: Iterable[str]) -> StepwellError:
    """Returns the error that there is no target `name`, with a hint at what there is."""
    names = list(known)
    hint = did_you_mean(name, names) or f"the targets are {', '.join(names)}"
    return StepwellError(Diagnostic(f"unknown target '{name}'", hint=hint))
