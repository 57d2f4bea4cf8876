"""Files that a command would write over what it reads, or twice: they are refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.files import is_same_file

NO_FILES: Final = (None, "", "-")
"""What stands for no file, or for standard input and output."""

TEXT: Final = "-o"
"""The output, as messages name it, that is the text of a program. It alone may be standard output, by `-`."""

Files = Mapping[str, "str | None | Iterable[str]"]
"""Files by what they are, as a message says it: `the program`, `--output`. There may be none, or several."""


def refuse_overwriting(read: Files, written: Files) -> None:
    """
    Raises `StepwellError` for an output that is one of the files that are read, or that another output is too.

    Every spelling of a path counts, and links do. The message names an output as `written` does. An output that is no
    text of a program needs the name of a file.
    """
    for output, path in _each(written):
        if path == "" or (path == "-" and output != TEXT):
            hint = "a file of this name is ./-" if path else None
            raise StepwellError(Diagnostic(f"{output} is '{path}', expected the name of a file", hint=hint))
    outputs = [(output, path) for output, path in _each(written) if path not in NO_FILES]
    for number, (output, path) in enumerate(outputs):
        for what, other in _each(read):
            if other not in NO_FILES and is_same_file(path, other):
                raise StepwellError(Diagnostic(f"{output} '{path}' is {what} itself"))
        for earlier, other in outputs[:number]:
            if is_same_file(path, other):
                message = f"{earlier} and {output} both name '{path}', expected a file for each"
                raise StepwellError(Diagnostic(message))


def _each(files: Files) -> Iterator[tuple[str, str]]:
    for what, given in files.items():
        several = (given,) if isinstance(given, str) else given or ()
        yield from ((what, path) for path in several)
