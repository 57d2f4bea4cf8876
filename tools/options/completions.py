"""What each command takes, read off its argument parser, for the completion of shells."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final

from ...core.plugins import registry
from ...lazy_dataclass import dataclass
from ...machine.named import machine_names


@dataclass(frozen=True)
class Flag:
    """One flag, under all its names."""

    names: tuple[str, ...]
    help: str
    value: str | None
    """
    The kind of its value: a key of `KINDS`, `files`, words with spaces between, or empty where nothing is known. It is
    `None` for a flag without a value.
    """


@dataclass(frozen=True)
class Verb:
    """A verb of `stepwell`."""

    name: str
    help: str
    flags: tuple[Flag, ...]
    words: str
    """What stands beside the flags: `files`, or words with spaces between."""


def _passes() -> list[str]:
    return sorted(registry().passes)


def _pipelines() -> list[str]:
    return sorted({*registry().passes, *registry().pipelines})


KINDS: Final[Mapping[str, Callable[[], list[str]]]] = {
    "passes": _passes,
    "pipelines": _pipelines,
    "outputs": lambda: sorted(registry().targets),
    "machines": machine_names,
}
"""The names that come from the registry: those of plug-ins are among them."""

LISTS: Final = frozenset({"passes", "pipelines", "machines"})
"""The kinds of which several may stand with commas between them."""

_OF_FLAG: Final = {
    **dict.fromkeys(("--passes", "--show-pipeline"), "pipelines"),
    **dict.fromkeys(("--disable-pass", "--require-pass", "--print-ir-before", "--print-ir-after"), "passes"),
    **dict.fromkeys(("--target", "--cpu"), "machines"),
    "--ir": "graph tensor_loop scf llvm llvm-ir asm",
    "--output-file": "files",
}
"""The kinds that no declaration of an argument tells."""

_FILES: Final = re.compile(r"FILE|DIR|OUT|\.[a-z]")
_WORDS: Final = re.compile(r"[a-z]+(\|[a-z]+)+")


def flags_of(parser: argparse.ArgumentParser) -> tuple[Flag, ...]:
    """Returns the flags of a parser. A value that may be left out is not completed."""
    return tuple(
        Flag(tuple(action.option_strings), _summary(action), _kind(action))
        for action in parser._actions
        if action.option_strings
    )


def _summary(action: argparse.Action) -> str:
    return re.split(r"[;(]", action.help or "")[0].strip().removesuffix(".")


def _kind(action: argparse.Action) -> str | None:
    if action.nargs in (0, "?"):
        return None
    if action.choices is not None:
        return " ".join(map(str, action.choices))
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if _WORDS.fullmatch(metavar):
        return metavar.replace("|", " ")
    known = next((_OF_FLAG[name] for name in action.option_strings if name in _OF_FLAG), None)
    return known or ("files" if _FILES.search(metavar) else "")


def verb_of(name: str, help: str, module: str, package: str) -> Verb:
    """Returns what the verb in `module` takes."""
    parser: argparse.ArgumentParser = import_module(f".{module}", package).argument_parser()
    flags = flags_of(parser)
    if name == "opt":  # Its -t is a format, while --target of the other verbs is a machine.
        flags = tuple(Flag(f.names, f.help, "outputs" if "--target" in f.names else f.value) for f in flags)
    places = [action for action in parser._actions if not action.option_strings]
    choices = next((" ".join(map(str, action.choices)) for action in places if action.choices), "files")
    return Verb(name, help, flags, choices if places else "")
