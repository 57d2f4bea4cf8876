"""The example of docs/debugging.md: each command is run, and its output is what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main as opt_main
from stepwell.tools.reduce import main as reduce_main

PAGE = Path(__file__).parents[3] / "docs" / "debugging.md"
FILE = re.compile(r"^```mlir file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def output_of(line: str) -> str:
    """Returns what a command of the page prints. The progress of `reduce` is left out, since it tells the time."""
    words = shlex.split(line)
    if words[0] == "cat":
        return Path(words[1]).read_text()
    if words[:2] == ["stepwell", "reduce"]:
        finished = call_tool(reduce_main, Command(["stepwell-reduce", *words[2:], "--jobs", "1"]), b"")
        assert finished.exit_code == 0, finished.stderr.decode()
        return finished.stdout.decode()
    finished = call_tool(opt_main, Command(words), b"")
    return finished.stdout.decode() + finished.stderr.decode()


def test_the_page_shows_what_its_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, text in FILE.findall(page):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    blocks = CONSOLE.findall(page)
    assert len(blocks) == 3
    for block in blocks:
        parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
        for line, shown in zip(parts[::2], parts[1::2], strict=True):
            assert output_of(line).rstrip() == shown.rstrip(), line
    assert "// RUN: stepwell-opt %s -p 'apply-patterns" in (tmp_path / "small_test.mlir").read_text()
