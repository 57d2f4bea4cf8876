"""Writing files so that a reader sees the old content or the new, never a part, and saying why that is impossible."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .diagnostics import Diagnostic, StepwellError


def reason_of(error: OSError | ValueError) -> str:
    """Returns why something cannot be read or written, as part of a message."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def cannot(do: str, path: str | Path, error: OSError | ValueError) -> StepwellError:
    """Returns the error of a file that cannot be used: `cannot("read", "a.mlir", error)`."""
    return StepwellError(Diagnostic(f"cannot {do} '{path}': {reason_of(error)}"))


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Makes an `OSError` inside the block the error that `path` cannot be written."""
    try:
        yield
    except OSError as error:
        raise cannot("write", path, error) from error


def is_same_file(one: str | Path, other: str | Path) -> bool:
    """
    Returns whether two paths name one regular file, by whatever spelling or link, or the place where it would be made.

    A device or a pipe loses nothing when it is written to, so it is never the same as another path.
    """
    first, second = Path(one), Path(other)
    try:
        if first.exists() and second.exists():
            return first.is_file() and first.samefile(second)
    except (OSError, ValueError):  # what cannot be looked at is refused with its own message when it is opened
        return False
    return os.path.realpath(first) == os.path.realpath(second)


def write_file(path: str | Path, data: str | bytes) -> None:
    """Writes a file whole or not at all. Raises `StepwellError` when it cannot be written."""
    with writing(path):
        write_atomically(path, data)


def write_atomically(path: str | Path, data: str | bytes) -> None:
    """
    Writes `data` (text as UTF-8) to `path`, by way of a new file beside it that then takes its name.

    A symbolic link is followed. What is not a regular file (`/dev/null`, a pipe) is written directly. An `OSError`
    names `path`.
    """
    target = Path(os.path.realpath(path))
    content = data.encode("utf-8") if isinstance(data, str) else data
    mode = _mode(target)
    if mode is not None and not stat.S_ISREG(mode):
        target.write_bytes(content)
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
