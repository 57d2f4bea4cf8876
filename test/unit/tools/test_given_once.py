"""Flags that take one value and get two."""

from pathlib import Path

import pytest
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.main import main

PROGRAM = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  func.return %x : tensor<4xf32>\n}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.mlir").write_text(PROGRAM)


def stepwell(*words: str) -> tuple[int, str]:
    finished = call_tool(main, Command(["stepwell", *words]), b"")
    return finished.exit_code, finished.stderr.decode()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["opt", "p.mlir", "-p", "cse", "-p", "dce"],
            "-p is given twice, as 'cse' and as 'dce', expected one value\n"
            "hint: put commas between the passes: -p 'cse,dce'\n",
        ),
        (
            ["opt", "p.mlir", "-o", "a.mlir", "--output-file=b.mlir"],
            "--output-file is given twice, as 'a.mlir' and as 'b.mlir', expected one value\n",
        ),
        (
            ["run", "p.mlir", "--random", "1", "--random", "2"],
            "--random is given twice, as '1' and as '2', expected one value\n",
        ),
        (
            ["opt", "p.mlir", "--config", "fold-constant.max-elements=1", "--config=fold-constant.max-elements=2"],
            "--config gives 'fold-constant.max-elements' twice, as 1 and as 2, expected one value\n",
        ),
        (["import-onnx", "m.onnx", "--dim", "n=1", "--dim", "n=2"], "--dim gives 'n' twice, as 1 and as 2, "),
    ],
)
def test_a_second_value_is_an_error(words: list[str], said: str):
    code, errors = stepwell(*words)
    assert code == 1 and errors.startswith(f"error: {said}"), errors


def test_the_same_value_may_be_repeated():
    same = ["--config", "fold-constant.max-elements=1"]
    assert stepwell("opt", "p.mlir", "-p", "cse", "-p", "cse", *same, *same) == (0, "")
    assert stepwell("opt", "p.mlir", "--print-ir-after=cse", "--print-ir-after=dce", "-p", "O1")[0] == 0
