"""`--load-plugin FILE.py`: what a file adds to the commands, and what is said of one that cannot be loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PACKAGE = Path(__file__).resolve().parents[3] / "examples" / "mixin_dialect" / "stepwell_quaternion"

MINE = '''
from dataclasses import dataclass

from beside import SUFFIX
from stepwell import te
from stepwell.core import StepwellPlugin
from stepwell.dialects import graph
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import Func
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition
from xdsl.passes import ModulePass


@irdl_op_definition
class TwiceOp(graph.PureGraphOp):
    """Twice x."""

    name = "mine.twice"
    x = graph.tensor_operand("F")
    result = graph.tensor_result()

    @classmethod
    def infer(cls, x):
        return (x,)

    def te(self, x):
        return (te.compute(x.shape, lambda *i: x[i] + x[i], name="twice"),)


Mine = Dialect("mine", [TwiceOp], [])


@dataclass(frozen=True)
class RenamePass(ModulePass):
    """Renames the functions."""

    name = "mine-rename"

    def apply(self, ctx, op):
        for each in op.ops:
            each.properties["sym_name"] = StringAttr("main" + SUFFIX)


PLUGIN = StepwellPlugin(pipelines={"mine-all": "mine-rename,canonicalize"}, joins={"at-start": "mine-rename"})
'''

PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mine.twice %x : (tensor<4xf32>)
  func.return %0 : tensor<4xf32>
}
"""

DRIVER = """
import json, sys
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.main import main
finished = [call_tool(main, Command(["stepwell", *words]), b"") for words in json.loads(sys.argv[1])]
print(json.dumps([(each.exit_code, each.stdout.decode(), each.stderr.decode()) for each in finished]))
"""
"""Runs commands one after the other in a process of their own: what is loaded stays there."""


def tools(*commands: list[str]) -> list[tuple[int, str, str]]:
    done = subprocess.run([sys.executable, "-c", DRIVER, json.dumps(commands)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    Path("p.mlir").write_text(PROGRAM)
    Path("mine.py").write_text(MINE)
    Path("beside.py").write_text('SUFFIX = "2"\n')
    np.save("x.npy", np.arange(4, dtype=np.float32))


def test_what_a_file_adds() -> None:
    Path("t.jsonl").touch()
    unknown, renamed, joined, explained, listed, ran, shown, tuned = tools(
        ["opt", "p.mlir"],
        ["opt", "p.mlir", "--load-plugin", "mine.py", "-p", "mine-all"],
        ["opt", "--load-plugin=mine.py", "--show-pipeline", "O3"],
        ["opt", "--load-plugin", "mine.py", "--explain-op", "mine.twice"],
        ["opt", "--load-plugin", "mine.py", "--load-plugin", str(PACKAGE), "--list-plugins"],
        ["run", "p.mlir", "--load-plugin", "mine.py", "--input", "x.npy", "-p", "canonicalize"],
        ["show", "p.mlir", "--load-plugin", "mine.py", "-o", "p.svg"],
        ["tune", "p.mlir", "--load-plugin", "mine.py", "-p", "canonicalize", "--replay", "--db", "t.jsonl"],
    )
    assert unknown[0] == 1 and "there is no dialect 'mine'" in unknown[2]
    assert renamed[0] == 0 and "func.func @main2(" in renamed[1] and "mine.twice" in renamed[1]
    assert joined[1].startswith("mine-rename,\n")
    assert "Twice x." in explained[1]
    assert (
        listed[1] == f"mine (mine.py, --load-plugin): loaded\nstepwell_quaternion ({PACKAGE}, --load-plugin): loaded\n"
    )
    assert ran[0] == 0 and "[0.0 2.0 4.0 6.0]" in ran[1]
    assert shown[0] == 0
    assert tuned[0] == 0 and "database: t.jsonl" in tuned[1], tuned
    # The key of the cache is made of installed packages: a file that changes would meet its old code.
    assert not Path("cache").exists()


def test_files_that_cannot_be_loaded() -> None:
    Path("syntax.py").write_text("import numpy\nx = (1 +\n")
    Path("fails.py").write_text("def f(a):\n    return a.nope\n\n\nf(3)\n")
    Path("taken.py").write_text(
        "from xdsl.passes import ModulePass\n\nclass Cse(ModulePass):\n"
        '    name = "cse"\n    def apply(self, ctx, op): ...\n'
    )
    finished = tools(
        *(["opt", "p.mlir", "--load-plugin", f"{name}.py"] for name in ("syntax", "fails", "taken", "missing", "min")),
        ["run", "p.mlir", "--load-plugin", "p.mlir"],
        ["opt", "p.mlir", "--load-plugin"],
    )
    assert [each[:2] for each in finished] == [[1, ""]] * 7
    assert [each[2] for each in finished] == [
        "syntax.py:2:5: error: plug-in 'syntax.py' cannot be loaded: SyntaxError: '(' was never closed\n"
        "  x = (1 +\n      ^\n",
        "fails.py:2:12: error: plug-in 'fails.py' cannot be loaded: AttributeError: "
        "'int' object has no attribute 'nope'\n"
        "      return a.nope\n             ^\n",
        "error: plug-in 'taken.py': pass 'cse' is already defined by xdsl\n",
        "error: cannot read plug-in 'missing.py': no such file or directory\n"
        "hint: --load-plugin takes a Python file, or a folder with an __init__.py\n",
        "error: cannot read plug-in 'min.py': no such file or directory\nhint: did you mean 'mine.py'?\n",
        "error: plug-in 'p.mlir' is no Python file\nhint: rules are files of -p apply-patterns\n",
        "error: argument --load-plugin: expected one argument\nhint: stepwell-opt --help lists the flags\n",
    ]


def test_ops_without_a_dialect_are_named(tmp_path: Path):
    (tmp_path / "beside.py").write_text('SUFFIX = ""\n')
    file, program = tmp_path / "mine.py", tmp_path / "p.mlir"
    file.write_text(MINE.replace('Mine = Dialect("mine", [TwiceOp], [])\n', ""))
    program.write_text(PROGRAM)
    ((code, _, err),) = tools(["opt", str(program), "--load-plugin", str(file)])
    assert code == 1 and err.startswith(
        f"warning: plug-in '{file}' has ops in no dialect, which no program can use: 'mine.twice'\n"
        "hint: Dialect('mine', [TwiceOp], []) in the file adds a dialect\n"
    )
