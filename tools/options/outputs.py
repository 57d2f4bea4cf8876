"""Files that a command would write over what it reads, or twice: they are refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.files import is_same_file

NO_FILES: Final = (None, "", "-")
"""What stands for no file, or for standard input and output."""

Files = Mapping[str, "str | None | Iterable[str]"]
"""Files by what they are, as a message says it: `the program`, `--output`. There may be none, or several."""


def refuse_overwriting(read: Files, written: Files) -> None:
    """
    Raises `StepwellError` for an output that is one of the files that are read, or that another output is too.

    Every spelling of a path counts, and links do. The message names an output as `written` does.
    """
    outputs = list(_each(written))
    for number, (output, path) in enumerate(outputs):
        for what, other in _each(read):
            if is_same_file(path, other):
                raise StepwellError(Diagnostic(f"{output} '{path}' is {what} itself"))
        for earlier, other in outputs[:number]:
            if is_same_file(path, other):
                message = f"{earlier} and {output} both name '{path}', expected a file for each"
                raise StepwellError(Diagnostic(message))


def _each(files: Files) -> Iterable[tuple[str, str]]:
    for what, given in files.items():
        several = (given,) if isinstance(given, str) or given is None else given
        yield from ((what, path) for path in several if path not in NO_FILES)
