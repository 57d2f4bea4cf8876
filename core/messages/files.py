"""Writing files so that a reader sees the old content or the new, never a part, and saying why that is impossible."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

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
    """Writes `data` (text as UTF-8) to `path`, as `new_content` does."""
    with new_content(path) as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)


@contextmanager
def new_content(path: str | Path) -> Iterator[IO[bytes]]:
    """
    Gives a file to write all of `path` to. It lies beside `path`, and takes its name when the block ends well.

    A symbolic link is followed. What is not a regular file (`/dev/null`, a pipe) cannot be replaced, or what reads from
    it would wait for ever: it is written directly. An `OSError` names `path`.
    """
    temporary: Path | None = None
    try:
        if is_special(path):
            with open(path, "wb") as file:
                yield file
            return
        target = Path(os.path.realpath(path))
        temporary = target.with_name(f".{target.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
        with open(temporary, "xb") as file:
            yield file
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException as error:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise


def is_special(path: str | Path) -> bool:
    """
    Returns whether a path names what is there and is no regular file: a pipe, a device, a folder.

    The path is asked as it stands: `/dev/fd/63` of a shell names a pipe, whose real path does not exist. What cannot be
    asked is refused when it is opened.
    """
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False
