"""Flags that take one value: it is an error to give one of them twice with different values."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from ...core.messages.diagnostics import Diagnostic, StepwellError

_GIVEN = "_given_once"
"""The attribute of a parser that holds the values of its flags so far, by name."""


class StoreOnce(argparse.Action):
    """Stores a value as argparse does. A second, other value of the same flag would make the first one vanish."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        given: dict[str, Any] = getattr(parser, _GIVEN)
        if option_string is not None:
            before = given.setdefault(self.dest, values)
            if before != values:
                hint = f"put commas between the passes: -p '{before},{values}'" if self.dest == "passes" else None
                message = f"{option_string} is given twice, as '{before}' and as '{values}', expected one value"
                raise StepwellError(Diagnostic(message, hint=hint))
        setattr(namespace, self.dest, values)


def watch_values(parser: argparse.ArgumentParser) -> None:
    """Makes every flag of `parser` that is added from now on, and takes one value, a `StoreOnce`."""
    parser.register("action", "store", StoreOnce)
    parser.register("action", None, StoreOnce)
    forget_values(parser)


def forget_values(parser: argparse.ArgumentParser) -> None:
    """Prepares `parser` for a command line."""
    setattr(parser, _GIVEN, {})


def unrepeated(flag: str, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Returns what a flag that may be repeated says of each name. Raises `StepwellError` where it says two things."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found and found[name] != value:
            message = f"{flag} gives '{name}' twice, as {found[name]} and as {value}, expected one value"
            raise StepwellError(Diagnostic(message))
        found[name] = value
    return found
