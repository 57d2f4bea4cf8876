"""The five minutes of the README: its program, its commands and its Python lines do what they say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from followed_page import blocks as list_of_blocks
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main as opt_main
from stepwell.tools.run import main as run_main

README = (Path(__file__).parents[3] / "README.md").read_text()
TOOLS = {"stepwell-opt": opt_main, "stepwell-run": run_main}
COMMANDS = [
    line.partition("#")[0].strip()
    for line in README.splitlines()
    if line.startswith(("stepwell-opt ", "stepwell-run "))
]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (program,) = blocks("mlir")
    (tmp_path / "mlp.mlir").write_text(program)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("line", COMMANDS)
def test_the_command_works(folder: Path, line: str) -> None:
    words = shlex.split(line)
    finished = call_tool(TOOLS[words[0]], Command(words), b"")
    assert finished.exit_code == 0, finished.stderr.decode()
    assert finished.stdout


def test_the_output_of_every_stair_runs(folder: Path) -> None:
    for line in COMMANDS:
        words = shlex.split(line)
        if words[0] == "stepwell-opt" and "-p" in words:
            text = call_tool(opt_main, Command(words), b"").stdout
            finished = call_tool(run_main, Command(["stepwell-run", "-", "--random", "0"]), text)
            assert finished.exit_code == 0, finished.stderr.decode()


def test_the_python_lines_work(folder: Path) -> None:
    (code,) = blocks("python")
    scope: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), scope)
    assert scope["y"].tolist() == [[4, 4]]  # pyright: ignore[reportAttributeAccessIssue]


def test_the_chinese_pages_say_the_same() -> None:
    root = Path(__file__).parents[3]
    english, chinese = (root / "docs" / name for name in ("get-started.md", "get-started.zh.md"))
    assert list_of_blocks(english.read_text()) == list_of_blocks(chinese.read_text())
    (code,) = re.findall(r"^```python\n(.*?)^```", (root / "README.zh.md").read_text(), re.MULTILINE | re.DOTALL)
    scope: dict[str, object] = {}
    exec(compile(code, "README.zh.md", "exec"), scope)
    assert scope["y"].tolist() == [[4, 4]]  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_the_links_lead_somewhere(link: str) -> None:
    assert (Path(__file__).parents[3] / link).exists()
