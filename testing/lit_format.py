"""
`StepwellTest`: a test format for stock `lit` that runs RUN lines without starting a process for each tool.

In a `lit.cfg.py`:

    import stepwell.testing.lit_format
    config.name = "my-dialect"
    config.suffixes = [".mlir"]
    config.test_format = stepwell.testing.lit_format.StepwellTest()

A RUN line is a pipe of tools. Known ones run in this process (their imports are paid once per worker of lit), any
other command is a real subprocess. Every line has to end in a check: `filecheck`, `diff`, `cmp`, `test`, or a command
under `not`; else the test is UNRESOLVED, since it could not fail. All stages of a pipe must succeed.

A comment `CHECK-NXT:` makes a test fail, since FileCheck passes over it: a prefix of a RUN line, and then none of
NEXT, SAME, NOT, DAG, LABEL, EMPTY and COUNT-<n>.

Substitutions: `%s` the test file, `%S` its folder, `%t` a file name for output, `%T` the folder of that, `%%` a percent
sign; those of `config.substitutions`; and the whole commands `%roundtrip`, `%generic` and `%invalid`.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import lit.formats
import lit.Test
import lit.TestRunner

from ..core.messages.diagnostics import render
from .directives import prefixes_of, unknown_directives
from .in_process import (
    CHILD_TOOLS,
    IN_PROCESS_TOOLS,
    MainFunction,
    call_tool,
    call_tool_in_child,
    load_tool,
    run_subprocess,
)
from .run_line import (
    Command,
    Finished,
    LineResult,
    NotARunLine,
    Runner,
    ends_in_check,
    expand_macros,
    needs_a_shell,
    parse_run_line,
    run_lines,
)

PATH: Final = re.compile(r"%[sStTp%]")


class StepwellTest(lit.formats.FileBasedTest):
    """
    The test format. `tools` adds in-process tools, name to `module:function`. The function takes the arguments, returns
    a code.
    """

    def __init__(self, tools: Mapping[str, str] | None = None):
        self.tools = {**IN_PROCESS_TOOLS, **(tools or {})}
        self._loaded: dict[str, MainFunction] = {}

    def __repr__(self) -> str:
        return f"<stepwell.StepwellTest with {', '.join(self.tools)}>"

    def __getstate__(self) -> dict[str, Any]:
        # lit sends the format to its workers; loaded functions stay behind.
        return {"tools": self.tools, "_loaded": {}}

    def execute(self, test: Any, litConfig: Any) -> Any:
        """Runs a test file, and returns the verdict with its log."""
        if test.config.unsupported:
            return lit.Test.UNSUPPORTED, "the folder is marked as unsupported"
        # For REQUIRES, UNSUPPORTED and XFAIL; the lines themselves are read below.
        verdict = lit.TestRunner.parseIntegratedTestScript(test)
        if isinstance(verdict, lit.Test.Result):
            return verdict
        try:
            lines = run_lines(test.getSourcePath())
        except UnicodeDecodeError as error:
            return lit.Test.UNRESOLVED, f"not UTF-8: {error}"
        if wrong := self._unknown_directives(test, lines):
            return lit.Test.FAIL, wrong
        limit = float(litConfig.maxIndividualTestTime or 0)
        for line in lines:
            command_line = expand_macros(line, test.config.substitutions)
            try:
                with _working_directory(os.path.dirname(test.getSourcePath())), _time_limit(limit):
                    result = self._run_line(command_line, test, limit)
            except NotARunLine as error:
                return lit.Test.UNRESOLVED, f"RUN: {line}\n{error}"
            except TimeoutError:
                return lit.Test.TIMEOUT, f"RUN: {line}\nno end within {limit} s"
            if not result.passed:
                return lit.Test.FAIL, f"RUN: {line}\n{result.log}\n"
        return lit.Test.PASS, ""

    def _unknown_directives(self, test: Any, lines: list[str]) -> str:
        """Returns what is wrong with comments that FileCheck would pass over, or nothing."""
        path = test.getSourcePath()
        with open(path, encoding="utf-8") as file:
            text = file.read()
        expanded = [expand_macros(line, test.config.substitutions) for line in lines]
        return "\n".join(render(each) for each in unknown_directives(path, text, prefixes_of(expanded)))

    def _run_line(self, line: str, test: Any, limit: float) -> LineResult:
        paths = path_substitutions(test)

        def substitute(word: str) -> str:
            return PATH.sub(lambda match: paths[match[0]], word)

        if needs_a_shell(line):
            quoted = PATH.sub(lambda match: shlex.quote(paths[match[0]]), line)
            return self._run_in_shell(quoted, limit)
        pipes = parse_run_line(line, substitute)
        if not ends_in_check(pipes):
            raise NotARunLine("the line does not end in a check (filecheck, diff, cmp, test or a command under not)")

        def execute(command: Command, data: bytes) -> Finished:
            if command.tool in CHILD_TOOLS:
                return call_tool_in_child(self._tool(command.tool, CHILD_TOOLS), command, data)
            if command.tool in self.tools:
                return call_tool(self._tool(command.tool, self.tools), command, data)
            return run_subprocess(command, data, limit or None)

        return Runner(execute).run(pipes)

    def _run_in_shell(self, line: str, limit: float) -> LineResult:
        last = re.split(r"[|;&]", line)[-1].split()
        if not last or not ends_in_check([[Command(last)]]):
            raise NotARunLine("the line does not end in a check (filecheck, diff, cmp or test)")
        finished = run_subprocess(Command(["bash", "-o", "pipefail", "-c", line]), b"", limit or None)
        log = (finished.stdout + finished.stderr).decode("utf-8", "replace")
        return LineResult(finished.exit_code == 0, f"$ {line}\nexit code {finished.exit_code}\n{log}")

    def _tool(self, name: str, locations: Mapping[str, str]) -> MainFunction:
        main = self._loaded.get(name)
        if main is None:
            main = self._loaded[name] = load_tool(locations[name])
        return main


def path_substitutions(test: Any) -> dict[str, str]:
    """Returns the values of `%s` and the like, and makes the folder of `%t`."""
    source = test.getSourcePath()
    execution = test.getExecPath()
    folder = os.path.join(os.path.dirname(execution), "Output")
    os.makedirs(folder, exist_ok=True)
    temporary = os.path.join(folder, f"{os.path.basename(execution)}.tmp")
    here = os.path.dirname(source)
    return {"%s": source, "%S": here, "%p": here, "%t": temporary, "%T": folder, "%%": "%"}


@contextmanager
def _working_directory(path: str) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raises `TimeoutError` in the block after `seconds` (0: never); needs the main thread, as lit's workers have."""
    if not seconds or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
