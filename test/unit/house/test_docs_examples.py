"""The examples of pages that have no test of their own: their commands work, and their Python lines run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from stepwell.testing.in_process import call_tool, call_tool_in_child
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main as opt_main
from stepwell.tools.run import main as run_main
from stepwell.tools.show import main as show_main

DOCS = Path(__file__).parents[3] / "docs"
TOOLS = {"stepwell-opt": opt_main, "stepwell-run": run_main, "stepwell-show": show_main}
FILE = re.compile(r"^```mlir file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ |    )?(stepwell-[^#\n]*)", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(?!# \w+\n)(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A block that begins with a comment of one word needs a package, and has a test elsewhere."""

COMMANDS = ("external", "graph", "llvm", "profiling", "safety")
PROGRAMS = ("external", "notebook", "numerics", "reference", "safety", "saving", "semantics", "shipping", "threads")

MODEL = """
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %product = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %y = graph.relu %product : (tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.mlir").write_text(MODEL)
    np.savez(tmp_path / "in.npz", x=np.ones((4, 8), np.float32), w=np.ones((8, 3), np.float32))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("page", COMMANDS)
def test_the_commands_of_the_page_work(folder: Path, page: str) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    for name, program in FILE.findall(text):
        (folder / name).write_text(program)
    commands = COMMAND.findall(text)
    assert commands
    for line in commands:
        words = shlex.split(line)
        finished = call_tool(TOOLS[words[0]], Command(words), b"")
        assert finished.exit_code == 0, f"{line}\n{finished.stderr.decode()}"


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("page", PROGRAMS)
def test_the_python_lines_of_the_page_run(folder: Path, page: str) -> None:
    """In a child of this process, since pages register ops and code generators."""
    blocks = PYTHON.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    assert blocks
    code = "\n".join(blocks)

    def main(arguments: Sequence[str]) -> None:
        exec(compile(code, page, "exec"), {"__name__": "__main__"})

    finished = call_tool_in_child(main, Command([page]), b"")
    assert finished.exit_code == 0, finished.stderr.decode()
