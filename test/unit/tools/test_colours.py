"""Colours of programs and of errors: on terminals only, and never a character more than escapes."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.main import main
from stepwell.tools.options.colours import ESCAPES, TOKEN, colour_mode, painted, wants_colours

FILECHECK = Path(__file__).resolve().parents[2] / "filecheck"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")

PROGRAM = """// adds
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {x.doc = "@no %value"} {
  %0 = graph.add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    Path("p.mlir").write_text(PROGRAM)


def tool(*words: str) -> tuple[int, str, str]:
    finished = call_tool(main, Command(["stepwell", *words]), b"")
    return finished.exit_code, finished.stdout.decode(), finished.stderr.decode()


def test_who_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, file = Terminal(), io.StringIO()
    assert wants_colours(terminal) and not wants_colours(file)
    for words, expected in ((["--color", "always"], True), (["--color=never"], False), (["--color=auto"], None)):
        with colour_mode(words):
            assert wants_colours(terminal) is (expected is not False)
            assert wants_colours(file) is (expected is True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colours(terminal)
    with colour_mode(["--color=always"]):
        assert wants_colours(terminal)
    monkeypatch.setenv("NO_COLOR", "")
    for name in ("dumb", ""):
        monkeypatch.setenv("TERM", name)
        assert not wants_colours(terminal)


def test_programs() -> None:
    code, plain, _ = tool("opt", "p.mlir")
    assert code == 0 and "\x1b" not in plain
    code, coloured, _ = tool("opt", "p.mlir", "--color", "always")
    assert code == 0 and ESCAPE.sub("", coloured) == plain
    for kind, token in (
        ("op", "graph.add"),
        ("symbol", "@main"),
        ("type", "tensor<2x3xf32>"),
        ("string", '"@no %value"'),
    ):
        assert painted(kind, token) in coloured
    assert tool("opt", "p.mlir", "--color=always", "-o", "out.mlir")[:2] == (0, "")
    assert Path("out.mlir").read_text() == plain
    low = tool("opt", "p.mlir", "--color=always", "-p", "O1", "-t", "llvm-ir")[1]
    assert "define" in low and "\x1b" not in low
    printed = tool("opt", "p.mlir", "--color=always", "-p", "canonicalize", "--print-ir-after-all")[2]
    assert painted("op", "graph.add") in printed


def test_errors() -> None:
    Path("p.mlir").write_text(PROGRAM.replace("graph.add", "graph.ad"))
    code, _, plain = tool("opt", "p.mlir")
    assert code == 1 and "\x1b" not in plain
    coloured = tool("opt", "p.mlir", "--color=always")[2]
    assert ESCAPE.sub("", coloured) == plain
    line = next(line for line in plain.splitlines() if "^" in line)
    for kind, part in (("error", "error:"), ("caret", line), ("hint", "hint:"), ("place", "p.mlir:3:8:")):
        assert painted(kind, part) in coloured
    assert painted("error", "error:") in tool("opt", "--color=always", "--none")[2]
    assert "choose from" in tool("opt", "p.mlir", "--color", "alwys")[2]


def test_tokens() -> None:
    """The tests of the graph dialect have tokens of every kind, and tokens leave no text out."""
    kinds: set[str] = set()
    for path in sorted((FILECHECK / "dialects").rglob("*.mlir")):
        for found in TOKEN.finditer(path.read_text(encoding="utf-8")):
            assert found.lastgroup is not None and found[0] and "\n" not in found[0]
            kinds.add(found.lastgroup)
    assert kinds == set(ESCAPES) - {"error", "warning", "remark", "note", "hint", "place", "caret"}
