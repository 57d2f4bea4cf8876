"""Texts that several rooms print."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Final

from .diagnostics import Diagnostic, StepwellError, did_you_mean

IS_A_DIRECTORY: Final = "it is a directory, expected a file"
GIVE_SIZES: Final = 'give the sizes first: specialize-shapes{main="4x784"}'
NESTED_TOO_DEEPLY: Final = "the program is nested too deeply"

HAS_A_SIGN: Final = "has a sign; below tensor_loop integers are signless"


def takes_arguments(program: str, names: Iterable[str], found: int) -> str:
    """Returns the message that a program with arguments of these names is called with another number of them."""
    listed = [f"'{name}'" for name in names]
    word = "argument" if len(listed) == 1 else "arguments"
    return f"{program} takes {len(listed)} {word} ({', '.join(listed)}), found {found}"


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


KNOWN_FORMATS: Final = {
    ".onnx": (
        "an ONNX model",
        "stepwell-import-onnx makes IR of it; in Python, stepwell.compile takes it",
    ),
    ".stepwell": ("a saved program", "stepwell run takes it; in Python, stepwell.load"),
    ".safetensors": ("a file of weights", "give it by --weights, in Python by weights="),
}
"""What files are that are sometimes taken for programs, by their suffix, and who reads them."""


def other_format(name: str) -> StepwellError | None:
    """Returns the error of a file that is no program by its name, None for any other name."""
    known = KNOWN_FORMATS.get(PurePath(name).suffix.lower())
    if known is None:
        return None
    return StepwellError(Diagnostic(f"'{name}' is {known[0]}, expected textual IR", hint=known[1]))


_FIRST_BYTES: Final = {
    b"\x7fELF": ("machine code", "stepwell-run --export writes such files for C (docs/shipping.md)"),
    b"\x93NUMPY": ("an array of NumPy", "stepwell-run FILE --input A.npy takes it beside a program"),
    b"PK\x03\x04": (
        "a zip file",
        "stepwell-run FILE.stepwell runs a saved program",
    ),
}
"""What files are that are known by how they begin, and who reads them."""


def other_content(name: str, data: bytes) -> StepwellError | None:
    """Returns the error of `data` that is no program by its first bytes, None for any other data."""
    for first, (what, hint) in _FIRST_BYTES.items():
        if data.startswith(first):
            return StepwellError(Diagnostic(f"'{name}' is {what}, expected textual IR", hint=hint))
    return None


def no_text(name: str) -> StepwellError:
    """Returns the error of a file whose bytes are neither text nor of a format that is known."""
    return StepwellError(Diagnostic(f"'{name}' is no text, expected textual IR"))
