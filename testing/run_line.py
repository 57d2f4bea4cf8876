"""
Reading and running the command of a `RUN:` line in this process.

The language is the part of the shell that tests use: words with quotes, `|`, `&&`, `2>&1`, `> file`, `2> file`,
`< file` and a leading `not`. A line that uses more is handed to the real shell as a whole.
"""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Final

from ..lazy_dataclass import dataclass

ExecuteCommand = Callable[["Command", bytes], "Finished"]

CHECKING_TOOLS: Final = frozenset({"filecheck", "FileCheck", "diff", "cmp", "test", "not"})
"""The commands whose exit code says whether a test passes. A RUN line has to end in one."""

MACROS: Final = {
    "%roundtrip": "stepwell-opt %s --print-op-generic | stepwell-opt | filecheck %s",
    "%generic": "stepwell-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC",
    "%invalid": "stepwell-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s",
}

_RUN: Final = re.compile(r"RUN:[ \t]*(.*)$", re.MULTILINE)

_NEEDS_A_SHELL: Final = ("$(", "`", "||", ";", ">>", "<(", ">(", "&>", "<<")


class NotARunLine(Exception):
    """The text is not a command: unbalanced quotes, an empty stage, a redirection to nothing."""


@dataclass
class Command:
    """One stage of a pipe."""

    words: list[str]
    inverted: bool = False
    """Under `not`: an orderly failure is a success; a crash (negative exit code) stays a failure."""
    merge_stderr: bool = False
    stdin_file: str | None = None
    stdout_file: str | None = None
    stderr_file: str | None = None

    @property
    def tool(self) -> str:
        return self.words[0]


Pipe = list[Command]


@dataclass
class Finished:
    """The end of a command. An exit code below zero is that of a crash."""

    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""


@dataclass
class LineResult:
    """The end of a RUN line. `log` has what a reader needs to see why."""

    passed: bool
    log: str = ""


def run_lines(path: str) -> list[str]:
    """Returns the commands of a test file. A line that ends in a backslash goes on in the next RUN line."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines: list[str] = []
    continued = False
    for match in _RUN.finditer(text):
        line = match[1].strip()
        if continued:
            lines[-1] += " " + line.removesuffix("\\").rstrip()
        else:
            lines.append(line.removesuffix("\\").rstrip())
        continued = line.endswith("\\")
    return lines


def expand_macros(line: str, substitutions: list[tuple[Any, str]]) -> str:
    """Replaces the substitutions of the configuration, then ours."""
    for key, value in substitutions:
        line = re.sub(key, lambda _, value=str(value): value, line)
    for key, value in MACROS.items():
        line = re.sub(rf"{key}\b", lambda _, value=value: value, line)
    return line


def needs_a_shell(text: str) -> bool:
    """Returns whether the line uses more of the shell than `parse_run_line` understands."""
    unquoted = "".join(part for index, part in enumerate(text.split("'")) if index % 2 == 0)
    return any(mark in unquoted for mark in _NEEDS_A_SHELL)


def parse_run_line(text: str, substitute: Callable[[str], str] = str) -> list[Pipe]:
    """
    The pipes of a line, to be run in turn while they succeed (`&&`).

    `substitute` is applied to every word after splitting, so that paths with spaces stay one word.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|<>&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError as error:
        raise NotARunLine(f"{error}: {text}") from None
    pipes: list[Pipe] = [[]]
    words: list[str] = []
    for token in [*tokens, "&&"]:
        if token not in ("|", "&&"):
            words.append(token)
            continue
        if not words:
            if token == "&&" and not pipes[-1]:
                continue
            raise NotARunLine(f"empty command in: {text}")
        pipes[-1].append(_command(words, substitute))
        words = []
        if token == "&&":
            pipes.append([])
    return [pipe for pipe in pipes if pipe]


def _command(tokens: list[str], substitute: Callable[[str], str]) -> Command:
    command = Command([])
    rest = deque(tokens)
    while rest:
        token = rest.popleft()
        if token in ("1", "2") and rest and rest[0].startswith(">"):
            sign, target = rest.popleft(), rest.popleft() if rest else None
            if sign == ">&":
                _merge(command, token, target or "")
            else:
                _redirect(command, token, substitute(_target(target)))
        elif token in (">", "<"):
            _redirect(command, token, substitute(_target(rest.popleft() if rest else None)))
        else:
            command.words.append(substitute(token))
    while command.words and command.words[0] == "not":
        command.words.pop(0)
        command.inverted = not command.inverted
    if not command.words:
        raise NotARunLine("a command without words")
    return command


def _target(word: str | None) -> str:
    if word is None:
        raise NotARunLine("a redirection without a file")
    return word


def _merge(command: Command, source: str, target: str) -> None:
    if (source, target) != ("2", "1"):
        raise NotARunLine(f"only 2>&1 is understood, not {source}>&{target}")
    command.merge_stderr = True


def _redirect(command: Command, kind: str, file: str) -> None:
    if kind == "2":
        command.stderr_file = file
    elif kind == "<":
        command.stdin_file = file
    else:
        command.stdout_file = file


def ends_in_check(pipes: Sequence[Pipe]) -> bool:
    """Returns whether the last command of the line can fail because of what the others printed or how they ended."""
    if not pipes:
        return False
    last = pipes[-1][-1]
    return last.inverted or last.tool in CHECKING_TOOLS


@dataclass
class Runner:
    """Runs pipes. `execute` runs one command with the given standard input."""

    execute: ExecuteCommand
    log: list[str] = field(default_factory=list)

    def run(self, pipes: Sequence[Pipe]) -> LineResult:
        for pipe in pipes:
            if not self._run_pipe(pipe):
                return LineResult(False, "\n".join(self.log))
        return LineResult(True)

    def _run_pipe(self, pipe: Pipe) -> bool:
        """Runs every stage, as a shell does, and succeeds when all do."""
        data = b""
        succeeded = True
        for position, command in enumerate(pipe):
            if command.stdin_file is not None:
                with open(command.stdin_file, "rb") as file:
                    data = file.read()
            finished = self.execute(command, data)
            data = _redirected(command, finished)
            is_last = position == len(pipe) - 1
            if not _succeeded(command, finished):
                succeeded = False
                self._tell(command, finished, data if is_last else b"")
        return succeeded

    def _tell(self, command: Command, finished: Finished, output: bytes) -> None:
        expectation = "a failure" if command.inverted else "0"
        self.log.append(f"$ {shlex.join(command.words)}\nexit code {finished.exit_code}, expected {expectation}")
        for title, content in (("stdout", output), ("stderr", finished.stderr)):
            if content.strip():
                self.log.append(f"--- {title}\n{content.decode('utf-8', 'replace').rstrip()}")


def _succeeded(command: Command, finished: Finished) -> bool:
    return finished.exit_code > 0 if command.inverted else finished.exit_code == 0


def _redirected(command: Command, finished: Finished) -> bytes:
    """What the next stage reads, after the outputs that go to files have gone there."""
    if command.stderr_file is not None:
        with open(command.stderr_file, "wb") as file:
            file.write(finished.stderr)
    if command.stdout_file is None:
        return finished.stdout
    with open(command.stdout_file, "wb") as file:
        file.write(finished.stdout)
    return b""
