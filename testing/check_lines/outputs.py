"""What the RUN lines of a test print before filecheck reads it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...lazy_dataclass import dataclass
from ..in_process import (
    CHILD_TOOLS,
    IN_PROCESS_TOOLS,
    call_tool,
    call_tool_in_child,
    filecheck_main,
    load_tool,
    run_subprocess,
)
from ..run_line import (
    Command,
    Finished,
    NotARunLine,
    Pipe,
    Runner,
    expand_macros,
    needs_a_shell,
    parse_run_line,
    run_lines,
)

FILECHECK = ("filecheck", "FileCheck")


@dataclass(frozen=True)
class Output:
    """What a RUN line gives to filecheck. `number` counts the RUN lines of the file from 1."""

    number: int
    prefix: str
    text: str


def outputs_of(path: Path) -> list[Output]:
    """
    Runs the RUN lines of a test that end in filecheck.

    Raises `StepwellError` where there are none, where one fails, or where it uses what only a shell understands.
    """
    lines = run_lines(str(path))
    found = [_output(path, number, line) for number, line in enumerate(lines, 1)]
    outputs = [each for each in found if each is not None]
    if not outputs:
        hint = f"a line such as // RUN: stepwell-opt %s -p cse {'|'} filecheck %s"
        raise StepwellError(Diagnostic(f"'{path}' has no RUN line that ends in filecheck", hint=hint))
    return outputs


def _output(path: Path, number: int, line: str) -> Output | None:
    where = f"RUN line {number} of '{path}'"
    line = expand_macros(line, [])
    if needs_a_shell(line):
        raise StepwellError(Diagnostic(f"{where} needs a shell, and what a shell does is not known before it runs"))
    with tempfile.TemporaryDirectory(prefix="stepwell-checks-") as folder, _in_folder(path.parent):
        try:
            pipes = parse_run_line(line, lambda word: _substituted(word, path.resolve(), folder))
        except NotARunLine as error:
            raise StepwellError(Diagnostic(f"{where}: {error}")) from None
        if not pipes or pipes[-1][-1].tool not in FILECHECK:
            return None
        text = _run(pipes, where)
    return Output(number, _prefix(pipes[-1][-1].words[1:], where), text)


def _run(pipes: Sequence[Pipe], where: str) -> str:
    given: list[bytes] = []

    def execute(command: Command, data: bytes) -> Finished:
        if command.tool in FILECHECK:
            given.append(data)
            return Finished(0)
        return execute_command(command, data)

    result = Runner(execute).run(pipes)
    if not result.passed:
        raise StepwellError(Diagnostic(f"{where} fails:\n{result.log}"))
    return given[-1].decode("utf-8", "replace")


def execute_command(command: Command, data: bytes) -> Finished:
    """Runs a command of a RUN line: in this process or a child of it where that is known to work."""
    if command.tool in CHILD_TOOLS:
        return call_tool_in_child(load_tool(CHILD_TOOLS[command.tool]), command, data)
    if command.tool in IN_PROCESS_TOOLS:
        return call_tool(load_tool(IN_PROCESS_TOOLS[command.tool]), command, data)
    return run_subprocess(command, data, None)


def disagreement(output: Output, text: str) -> str | None:
    """Returns what filecheck says of a test with this text, or `None` where it passes."""
    with tempfile.TemporaryDirectory(prefix="stepwell-checks-") as folder:
        path = Path(folder) / "test.mlir"
        path.write_text(text, encoding="utf-8")
        command = Command(["filecheck", str(path), f"--check-prefix={output.prefix}"])
        done = call_tool(filecheck_main, command, output.text.encode())
    said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    return None if done.exit_code == 0 else said


def _prefix(words: Sequence[str], where: str) -> str:
    """Returns the prefix of the CHECK lines that a filecheck command reads."""
    found: list[str] = []
    for index, word in enumerate(words):
        name, equals, value = word.lstrip("-").partition("=")
        if name in ("check-prefix", "check-prefixes"):
            found += (value if equals else "".join(words[index + 1 : index + 2])).split(",")
        elif name == "input-file":
            raise StepwellError(Diagnostic(f"{where} gives filecheck an --input-file, expected a pipe"))
    if len(found) > 1:
        message = f"{where} has the prefixes {', '.join(found)}, and nothing says which to write; expected one"
        raise StepwellError(Diagnostic(message))
    return found[0] if found else "CHECK"


def _substituted(word: str, path: Path, folder: str) -> str:
    known = {"%s": path, "%S": path.parent, "%p": path.parent, "%t": f"{folder}/{path.name}.tmp", "%T": folder}
    for mark, value in known.items():
        word = word.replace(mark, str(value))
    return word.replace("%%", "%")


@contextmanager
def _in_folder(path: Path) -> Iterator[None]:
    """Works in a folder, as lit does."""
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)
