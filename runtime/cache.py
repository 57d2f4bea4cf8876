"""
The compile cache on disk: one file per program, written atomically, checksummed, bounded in bytes.

A file is `MAGIC`, the SHA-256 of the rest, the length of the JSON description (8 bytes), the description, the object
code. A file that does not fit its checksum is deleted and reported as absent, and so is one whose description is no
JSON. Who asks for an entry removes it where it holds no program. What writers that were killed have left is deleted
after an hour. Environment: `STEPWELL_CACHE_DIR`
(default `$XDG_CACHE_HOME/stepwell` or `~/.cache/stepwell`), `STEPWELL_CACHE_BYTES` (default 256 MiB).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..core.installed import PLUGIN_GROUP, UNIVERSE_GROUP, plugged_in, root_module, version_of
from ..core.messages.diagnostics import Diagnostic, warn
from ..core.messages.files import reason_of
from .errors import CompileError

ROOMS = ("analysis", "core", "dialects", "lowering", "machine", "patterns", "rewrites", "runtime", "schedule", "te")
"""The rooms of this package that have a say in what code a program becomes."""

MAGIC = b"STEPWELL1\n"
PROGRAMS, CALLS, PIECES = ".bin", ".call", ".piece"
"""
The kinds of entries, as ends of file names: compiled programs, the code that calls them from Python, and the kernels of
programs, which other programs may have too.
"""
DEFAULT_LIMIT = 256 * 1024 * 1024
LOOK_AGAIN = 32
"""The programs that a process keeps before it looks at the whole folder again, since others keep some there too."""
LARGE_FILE = 1 << 20
"""The most bytes of a plug-in's file that are read to know whether it has changed. To read as many takes about 1 ms."""
TEMPORARY = ".tmp"
ABANDONED = 3600
"""Seconds after which a temporary file is taken to be left by a writer that was killed. Writing takes less than one."""


def cache_directory() -> Path:
    """Returns the folder where compiled programs are kept. It may not exist yet."""
    if chosen := os.environ.get("STEPWELL_CACHE_DIR"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "stepwell"


def tuning_path() -> Path | None:
    """
    Returns the tuning database to use where none is named: the file of `STEPWELL_TUNING_DB`, or `tuning.jsonl` beside
    the compiled programs. There is none when `STEPWELL_TUNING_DB` is empty. The file may not exist yet.
    """
    chosen = os.environ.get("STEPWELL_TUNING_DB")
    if chosen is None:
        return cache_directory() / "tuning.jsonl"
    return Path(chosen) if chosen else None


def tuning_database(tuning: bool | str | Path | None = None) -> Path | None:
    """
    Returns the file of tuned schedules that `compile(tuning=…)` means, or None for none.

    Raises CompileError where a file that is named does not exist, StepwellError where it is not a tuning database. The
    file of `STEPWELL_TUNING_DB` may not exist yet, since `stepwell-tune` makes it.
    """
    if tuning is False:
        return None
    named = Path(tuning) if isinstance(tuning, str | Path) else None
    if named is not None and not named.is_file():
        raise CompileError(f"there is no tuning database '{tuning}'")
    path = tuning_path() if named is None else named
    if path is None or not path.exists():
        return None
    if named is not None or os.environ.get("STEPWELL_TUNING_DB"):
        from ..schedule.tuned.records import check_database

        check_database(path)
    return path if path.is_file() else None


def program_key(*parts: str) -> str:
    """Returns the name under which a program is kept: a hash of everything that decides its machine code."""
    return code_key(*parts, source_fingerprint(), plugin_fingerprint())


def code_key(*parts: str) -> str:
    """Returns the name of code that does not depend on the compiler above LLVM: a hash of `parts`."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@cache
def source_fingerprint() -> str:
    """
    Returns a hash of the compiler as this process found it, so that a changed compiler never meets old code.

    It covers the Python and rule files of this package, all files of installed plug-ins, and the version of xDSL.
    """
    root = str(Path(__file__).resolve().parent.parent)
    digest = hashlib.sha256(version_of("xdsl").encode())
    for room in ROOMS:
        for path in sorted(_sources(os.path.join(root, room))):
            with open(path, "rb") as file:
                digest.update(os.path.basename(path).encode() + b"\0" + file.read())
    digest.update(plugin_fingerprint().encode())
    return digest.hexdigest()


def plugin_fingerprint() -> str:
    """
    Returns a hash of all files of installed plug-ins as they are now.

    A pass may read a file of its package each time it runs. So a file that is changed in the middle of a session counts
    too. A file that is as long and as old as before is not read again.
    """
    files = [each for place in _plugin_places() for path in _files(str(place)) if (each := _status(path, str(place)))]
    return _hash_of_files(tuple(sorted(files))) if files else ""


def _sources(folder: str) -> Iterator[str]:
    """Yields the Python and rule files of a folder."""
    return (path for path in _files(folder) if path.endswith((".py", ".mlir")))


def _files(place: str) -> Iterator[str]:
    """Yields the files of a folder without its hidden folders and what Python made, or the one file that `place` is."""
    if os.path.isfile(place):
        yield place
    for folder, inner, names in os.walk(place):
        inner[:] = [name for name in inner if name != "__pycache__" and not name.startswith(".")]
        yield from (f"{folder}{os.sep}{name}" for name in names if not name.endswith(".pyc"))


def _status(path: str, place: str) -> tuple[str, str, int, int] | None:
    """
    Returns the name in its package, the path, the size and the time of change of a regular file, and None for others.
    """
    with contextlib.suppress(OSError):
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            name = os.path.basename(place) + path.removeprefix(place)
            return name, path, status.st_size, status.st_mtime_ns
    return None


@lru_cache(maxsize=8)
def _hash_of_files(files: tuple[tuple[str, str, int, int], ...]) -> str:
    """Returns a hash of files. Size and time of change stand for the content of a large or an unreadable one."""
    digest = hashlib.sha256()
    for name, path, size, changed in files:
        content = f"{size} {changed}".encode()
        if size <= LARGE_FILE:
            with contextlib.suppress(OSError):
                content = Path(path).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


@cache
def _plugin_places() -> list[Path]:
    return plugin_folders()


def plugin_folders() -> list[Path]:
    """Returns the folders (or single files) of the packages that other distributions plug in, sorted."""
    from importlib.util import find_spec

    found: set[Path] = set()
    for name in {root_module(entry.value) for entry in plugged_in(UNIVERSE_GROUP, PLUGIN_GROUP)}:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            found.update(Path(folder) for folder in spec.submodule_search_locations)
        elif spec is not None and spec.origin is not None:
            found.add(Path(spec.origin))
    return sorted(found)


def load(key: str, kind: str = PROGRAMS) -> tuple[dict[str, Any], bytes] | None:
    """
    Returns the description and object code kept under `key`, or None when there is none or it is damaged.

    Raises CompileError where `STEPWELL_CACHE_BYTES` is not a number, so that a mistake in it does not show only where
    a program is new.
    """
    limit()
    path = cache_directory() / f"{key}{kind}"
    try:
        data = path.read_bytes()
    except OSError:
        return None
    entry = _decode(data)
    if entry is None:
        remove(key, kind)
    else:
        with contextlib.suppress(OSError):
            os.utime(path)
    return entry


def remove(key: str, kind: str = PROGRAMS) -> None:
    """Deletes the entry under `key`, which holds no program. It stays where the directory cannot be written."""
    with contextlib.suppress(OSError):
        (cache_directory() / f"{key}{kind}").unlink()


def _decode(data: bytes) -> tuple[dict[str, Any], bytes] | None:
    start = len(MAGIC) + 32
    if not data.startswith(MAGIC) or hashlib.sha256(data[start:]).digest() != data[len(MAGIC) : start]:
        return None
    length = int.from_bytes(data[start : start + 8], "little")
    try:
        description = json.loads(data[start + 8 : start + 8 + length])
    except (ValueError, RecursionError):
        return None
    return description, data[start + 8 + length :]


def store(key: str, description: dict[str, Any], object_code: bytes, kind: str = PROGRAMS) -> None:
    """
    Keeps a program. It is not kept where the directory cannot be written, which a process remarks once.

    Raises CompileError where `STEPWELL_CACHE_BYTES` is not a number.
    """
    import tempfile

    allowed = limit()
    text = json.dumps(description).encode()
    body = len(text).to_bytes(8, "little") + text + object_code
    data = MAGIC + hashlib.sha256(body).digest() + body
    directory = cache_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=directory, suffix=TEMPORARY)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, directory / f"{key}{kind}")
        except BaseException:
            os.unlink(temporary)
            raise
        _make_room(directory, len(data), allowed, kind)
    except OSError as error:
        _remark_once(directory, error)


_remarked: dict[Path, object] = {}
"""The folders of which a remark has said that they cannot be written."""


def _remark_once(directory: Path, error: OSError) -> None:
    mine = object()
    if _remarked.setdefault(directory, mine) is mine:  # Threads keep pieces of a program at the same time.
        message = f"nothing is kept in the compile cache '{directory}': {reason_of(error)}"
        warn(Diagnostic(message, "remark", hint="STEPWELL_CACHE_DIR names another folder"))


def limit() -> int:
    """Returns how many bytes the cache may have. Raises CompileError where that is not a number."""
    given = os.environ.get("STEPWELL_CACHE_BYTES", str(DEFAULT_LIMIT))
    if not given.isdecimal():
        raise CompileError(f"STEPWELL_CACHE_BYTES is {given!r}, expected a number of bytes")
    return int(given)


def _make_room(directory: Path, stored: int, allowed: int, kind: str) -> None:
    """
    Deletes what is too much, after `stored` more bytes.

    The folder is looked at when a process first keeps something, when what it knows of is too much, and now and then.
    To look at 10 000 entries takes as long as to compile a small program.
    """
    total, programs = _known.get(directory, (0, LOOK_AGAIN))
    total, programs = total + stored, programs + (kind != PIECES)
    if kind != PIECES and (programs > LOOK_AGAIN or total > allowed):  # A program follows its pieces.
        _delete_abandoned(directory)
        total, programs = _evict(directory, allowed), 0
    _known[directory] = total, programs


_known: dict[Path, tuple[int, int]] = {}
"""The bytes in each folder when it was last looked at, with those kept since, and the number of programs since."""


def _delete_abandoned(directory: Path) -> None:
    for path in left_by_writers(directory):
        with contextlib.suppress(OSError):
            path.unlink()


def left_by_writers(directory: Path | None = None) -> list[Path]:
    """Returns the temporary files that no writer can be at work on any more."""
    found: list[Path] = []
    for path in (directory or cache_directory()).glob(f"*{TEMPORARY}"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED:
                found.append(path)
    return found


def entries() -> list[tuple[Path, int]]:
    """Returns the files that the cache holds now, and how many bytes each has."""
    return [(path, size) for _, size, path in _statuses(cache_directory())]


def _statuses(directory: Path) -> list[tuple[float, int, Path]]:
    """Returns of each entry when it was used last, its bytes and its file."""
    found: list[tuple[float, int, Path]] = []
    for path in directory.glob("*"):
        if path.suffix not in (PROGRAMS, CALLS, PIECES):
            continue
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    return found


def _evict(directory: Path, allowed: int) -> int:
    """Deletes the entries unused for longest until at most `allowed` bytes remain, and returns how many remain."""
    found = _statuses(directory)
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= allowed:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
    return total


def files_named_in(pipeline: str) -> str:
    """Returns the hashes of the files (of rules, of pattern tables) that the options of a pipeline name."""
    names = dict.fromkeys(re.findall(r'"([^"]*)"|([^\s{}=,"]+)', pipeline))
    paths = [Path(one or other) for one, other in names]
    files = [path for path in paths if "." in path.name and len(path.name) < 256 and path.is_file()]
    return "\n".join(f"{path}={hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files)
