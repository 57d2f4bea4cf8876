"""The files that a quantised program is written to: names that are checked first, contents that come all at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.files import is_special, writing

FOREIGN: Final = (".safetensors", ".onnx", ".npz", ".npy")
"""What names of weights, models and arrays end in, lest a program replaces one of these."""

REPORTS: Final = (".html", ".svg", ".json", ".txt", "")
"""What names of reports end in."""


def weights_beside(path: str | Path) -> Path:
    """
    Returns the file for the weights of a program at `path`: `m.safetensors` for `m.mlir`, and another for each name.
    """
    path = Path(path)
    return path.with_suffix(".safetensors") if path.suffix == ".mlir" else Path(f"{path}.safetensors")


def check_program_name(path: str | Path, inputs: Iterable[str | Path] = ()) -> None:
    """Raises StepwellError unless a program and its weights can be written, neither of them over one of `inputs`."""
    if str(path) == "-":
        raise _refused("a program has a file of weights beside it, expected a file for both", "give -o m8.mlir")
    if Path(path).suffix.lower() in FOREIGN:
        hint = f"give a name such as {Path(path).with_suffix('.mlir').name}"
        raise _refused(f"the output '{path}' ends as weights, models or arrays do, expected a name.mlir", hint)
    for written in (Path(path), weights_beside(path)):
        _check_file(written)
        if written.exists() and not written.is_file():
            raise _refused(f"the output '{written}' is no file, expected a name.mlir")
        _check_not_read(written, inputs)


def check_report_name(path: str | Path, inputs: Iterable[str | Path] = ()) -> None:
    """Raises StepwellError unless a report can be written to `path`, which is none of `inputs`."""
    if str(path) == "-":
        raise _refused("the report is printed in any case, expected a file to write it to")
    if Path(path).suffix.lower() not in REPORTS:
        known = ", ".join(REPORTS[:-1])
        raise _refused(f"the report '{path}' ends in '{Path(path).suffix}', expected one of {known}")
    _check_file(path)
    _check_not_read(path, inputs)


def check_names(program: str | None, reports: Sequence[str], inputs: Sequence[str | Path]) -> None:
    """Raises StepwellError for a file that cannot be written, that is read as well, or that is written twice."""
    written: list[str | Path] = []
    if program is not None:
        check_program_name(program, inputs)
        written += [program, weights_beside(program)]
    for path in reports:
        check_report_name(path, inputs)
        if any(_is_same(path, other) for other in written):
            raise _refused(f"'{path}' would be written twice, expected a file for each output")
        written.append(path)


def _check_file(path: str | Path) -> None:
    """Raises the error that a file cannot be written, as far as that is known before."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise _refused(f"cannot write '{path}': it is a directory")
    if not target.parent.is_dir():
        raise _refused(f"cannot write '{path}': there is no directory '{Path(path).parent}'")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise _refused(f"cannot write '{path}': permission denied")


def _check_not_read(path: str | Path, inputs: Iterable[str | Path]) -> None:
    for each in inputs:
        if _is_same(path, each):
            hint = "the weights of a program are written beside it" if Path(path).suffix == ".safetensors" else None
            raise _refused(f"'{path}' would be replaced, which is read as well, expected another name", hint)


def _is_same(one: str | Path, other: str | Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _refused(message: str, hint: str | None = None) -> StepwellError:
    return StepwellError(Diagnostic(message, hint=hint))


Beside = Callable[[str | Path], Path]
"""Returns where to write what is to be the content of a file."""


@contextmanager
def replacing() -> Iterator[Beside]:
    """Gives names of new files. Those that are written take the places of the old ones at the end, unless one fails."""
    targets: dict[Path, Path] = {}

    def beside(path: str | Path) -> Path:
        if is_special(path):  # A pipe or a device has no place to take.
            return Path(path)
        target = Path(os.path.realpath(path))
        temporary = target.with_name(f".{target.name}.{os.getpid()}.new")
        targets[temporary] = target
        return temporary

    try:
        yield beside
        for temporary, target in targets.items():
            if temporary.exists():
                with writing(target):
                    if target.exists():
                        shutil.copymode(target, temporary)
                    os.replace(temporary, target)
    finally:
        for temporary in targets:
            temporary.unlink(missing_ok=True)
