"""
A run of a command in one file of text: the words, the versions, how it ended, and every file that it read.

The program stands in the file as it is, and all else is comments, so the file is a program too.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import Any, Final

from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.messages.files import write_file, writing
from ..lazy_dataclass import dataclass

FIRST: Final = "// stepwell repro 1"
PART: Final = "// ==== "
MOST_BYTES: Final = 64 * 1024 * 1024
"""A larger file is named with its size and its hash, and is not part of the text."""

_PART: Final = re.compile(r"// ==== (program|text|base64|left out) (\d+) ([0-9a-f]{64}) (.+)")
_WIDTH: Final = 112


@dataclass(frozen=True)
class Ending:
    """The end of a command: an exit code or a signal, and what it wrote to standard error."""

    code: int
    signal: int = 0
    said: str = ""

    def __str__(self) -> str:
        return f"signal {self.signal}" if self.signal else f"exit code {self.code}"

    @property
    def error(self) -> str:
        """Returns the line of the error, without the place in a file and without numbers of objects in memory."""
        line = next((each for each in self.said.splitlines() if re.search(r"\berror: ", each)), "")
        return re.sub(r"0x[0-9a-f]+", "0x", line[line.find("error: ") :]) if line else ""

    def is_like(self, other: Ending) -> bool:
        """Returns whether a command ended in the same way: by the same signal, or in the same error."""
        return (self.code, self.signal, self.error) == (other.code, other.signal, other.error)


@dataclass(frozen=True)
class LeftOut:
    """A file that was too large: its size and its hash."""

    size: int
    hash: str


@dataclass(frozen=True)
class Repro:
    """
    A run of a command. Its words name files of `files`, which lie in the folder in which it runs.

    `program` is the name of the file that stands in the text as it is, and `stdin` that of standard input.
    """

    words: tuple[str, ...]
    ending: Ending
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, bytes | LeftOut] = field(default_factory=dict)
    program: str = ""
    stdin: str = ""

    def text(self) -> str:
        """Returns the text of the file."""
        head = {
            "words": list(self.words),
            "ended": {"code": self.ending.code, "signal": self.ending.signal},
            "versions": dict(self.versions),
            "variables": dict(self.variables),
            "stdin": self.stdin,
        }
        lines = [f"{FIRST}: 'stepwell repro THIS_FILE' runs it again, --unpack FOLDER takes it apart"]
        lines += [f"// {name}: {json.dumps(value)}" for name, value in head.items()]
        lines += [f"// said: {line}" for line in self.ending.said.splitlines()]
        for name, data in sorted(self.files.items(), key=lambda each: each[0] == self.program):
            lines += _part(name, data, name == self.program)
        return "\n".join(lines) + "\n"

    def unpack(self, folder: Path) -> None:
        """Writes the files into a folder. Raises `StepwellError` where one was left out and is not there."""
        for name, data in self.files.items():
            path = folder / name
            if isinstance(data, LeftOut):
                _check_left_out(path, name, data)
                continue
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, data)


def _check_left_out(path: Path, name: str, wanted: LeftOut) -> None:
    if path.is_file() and path.stat().st_size == wanted.size:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == wanted.hash:
                return
    message = f"'{name}' was too large for the repro: {wanted.size} bytes, SHA-256 {wanted.hash}"
    raise StepwellError(Diagnostic(message, hint=f"--unpack a folder that has it: it is looked for at '{path}'"))


def _part(name: str, data: bytes | LeftOut, is_program: bool) -> Iterator[str]:
    if isinstance(data, LeftOut):
        yield f"{PART}left out {data.size} {data.hash} {name}"
        return
    kind, lines = _coded(data, is_program)
    yield f"{PART}{kind} {len(data)} {hashlib.sha256(data).hexdigest()} {name}"
    yield from lines


def _coded(data: bytes, is_program: bool) -> tuple[str, Sequence[str]]:
    """Returns how a file is written, and its lines."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text.endswith("\n") and text.splitlines() == text[:-1].split("\n"):
        lines = text[:-1].split("\n")
        if is_program and not any(line.startswith(PART) for line in lines):
            return "program", lines
        return "text", [f"//|{line}" for line in lines]
    code = base64.b64encode(data).decode("ascii")
    return "base64", [f"//|{code[at : at + _WIDTH]}" for at in range(0, len(code), _WIDTH)]


def parse_repro(text: str, file: str) -> Repro:
    """Returns what is in a file. Raises `StepwellError` where it is none of these, or is damaged."""
    lines = text.split("\n")
    if not lines[0].startswith(FIRST):
        raise no_repro(file, f"it does not begin with '{FIRST}'")
    starts = [number for number, line in enumerate(lines) if line.startswith(PART)]
    head, said = _head(lines[1 : starts[0] if starts else len(lines)], file)
    files: dict[str, bytes | LeftOut] = {}
    program = ""
    for start, end in zip(starts, [*starts[1:], len(lines) - 1], strict=True):
        name, data, is_program = _file(lines[start], lines[start + 1 : end], file)
        files[name] = data
        program = name if is_program else program
    try:
        ending = Ending(head["ended"]["code"], head["ended"]["signal"], "\n".join(said))
        words = tuple(map(str, head["words"]))
        return Repro(words, ending, head["versions"], head["variables"], files, program, head["stdin"])
    except (KeyError, TypeError) as error:
        raise _damaged(file, f"its head has no {error}") from error


def no_repro(file: str, reason: str) -> StepwellError:
    """Returns the error of a file that `--save-repro` has not written."""
    return StepwellError(Diagnostic(f"'{file}' is no repro: {reason}", hint="--save-repro of any command writes one"))


def _head(lines: Sequence[str], file: str) -> tuple[dict[str, Any], list[str]]:
    head: dict[str, Any] = {}
    said: list[str] = []
    for line in lines:
        name, _, value = line.removeprefix("// ").partition(": ")
        if name == "said":
            said.append(value)
        elif line:
            try:
                head[name] = json.loads(value)
            except ValueError as error:
                raise _damaged(file, f"'{name}' is no JSON") from error
    return head, said


def _file(start: str, lines: Sequence[str], file: str) -> tuple[str, bytes | LeftOut, bool]:
    found = _PART.fullmatch(start)
    if found is None:
        raise _damaged(file, f"'{start[:60]}' names no file")
    kind, size, hash, name = found[1], int(found[2]), found[3], found[4]
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise _damaged(file, f"its file '{name}' lies outside of the folder in which it is unpacked")
    if kind == "left out":
        return name, LeftOut(size, hash), False
    if kind == "base64":
        data = base64.b64decode("".join(line.removeprefix("//|") for line in lines))
    else:
        data = "".join(f"{line.removeprefix('//|') if kind == 'text' else line}\n" for line in lines).encode()
    if kind != "program" and (len(data), hashlib.sha256(data).hexdigest()) != (size, hash):
        raise _damaged(file, f"its file '{name}' has changed")
    return name, data, kind == "program"


def _damaged(file: str, reason: str) -> StepwellError:
    return StepwellError(Diagnostic(f"repro '{file}' is damaged: {reason}"))
