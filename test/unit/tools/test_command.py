"""What all tools do alike with the shell: streams that are closed, full or cut off, ctrl-C, `--debug`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from interrupts import take_interrupts
from stepwell.core.messages.diagnostics import Diagnostic, StepwellError
from stepwell.core.messages.files import write_file
from stepwell.testing.in_process import call_tool, load_tool
from stepwell.testing.run_line import Command
from stepwell.tools.main import main
from stepwell.tools.options.command import ArgumentParser, Sources, run_tool, with_debug

TOOLS = ("opt", "run", "calibrate", "show", "tune", "import_onnx")

PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""

ENDLESS = """func.func @main(%x: memref<1xi1> {stepwell.role = "input"}, %y: memref<1xi1> {stepwell.role = "output"}) {
  %i = arith.constant 0 : index
  scf.while () : () -> () {
    %go = memref.load %x[%i] : memref<1xi1>
    memref.store %go, %y[%i] : memref<1xi1>
    scf.condition(%go)
  } do {
    %go = memref.load %x[%i] : memref<1xi1>
    memref.store %go, %y[%i] : memref<1xi1>
    scf.yield
  }
  func.return
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.mlir").write_text(PROGRAM)


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """What a line of a shell does, in which `opt`, `run` … are the tools."""
    functions = "\n".join(f'{tool}() {{ "{sys.executable}" -m stepwell.tools.{tool} "$@"; }}' for tool in TOOLS)
    return subprocess.run(["bash", "-c", f"{functions}\n{line}"], capture_output=True, text=True)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("tool", TOOLS)
def test_a_wrong_flag_is_one_message(tool: str) -> None:
    finished = shell(f"{tool} p.mlir --helpp")
    assert finished.returncode == 1 and finished.stdout == ""
    assert finished.stderr.startswith("error: ") and len(finished.stderr.splitlines()) == 2
    assert "\nhint: " in finished.stderr


def test_a_full_disk_is_an_error() -> None:
    finished = shell("opt p.mlir > /dev/full")
    assert (finished.returncode, finished.stderr) == (
        1,
        "error: cannot write to standard output: no space left on device\n",
    )


def test_an_error_of_the_system_is_not_one_of_standard_output() -> None:
    """Files larger than a limit stand for a full disk, where linking a library fails."""
    small = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  func.return %x : tensor<4xf32>\n}\n"
    Path("small.mlir").write_text(small)
    finished = shell("ulimit -f 1; run small.mlir --random 0 --no-cache --export a.so")
    last = finished.stderr.splitlines()[-1]
    assert finished.returncode == 1 and re.fullmatch(r"error: cannot write '.*code.o': file too large", last)
    assert not Path("a.so").exists()
    file = Path("small.mlir").absolute()
    finished = shell(f"mkdir gone; cd gone; rmdir ../gone; run {file} --random 0 --no-cache")
    assert (finished.returncode, finished.stderr) == (
        1,
        "error: the working directory does not exist: it has been deleted or renamed\n"
        "hint: change to a directory that exists\n",
    )


@pytest.mark.parametrize(
    "environment",
    ["PYTHONIOENCODING=latin1", "PYTHONIOENCODING=ascii", "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"],
)
@pytest.mark.parametrize("command", ["main --help", "docs api", "run p.mlir --help"])
def test_what_an_encoding_lacks_is_written_as_an_escape(environment: str, command: str) -> None:
    finished = subprocess.run(
        ["bash", "-c", f'{environment} "{sys.executable}" -m stepwell.tools.{command}'], capture_output=True
    )
    assert finished.returncode == 0 and finished.stderr == b""
    assert b"\\u2026" in finished.stdout or b"\xe2" not in finished.stdout


def test_closed_streams() -> None:
    finished = shell("opt p.mlir >&-")
    assert (finished.returncode, finished.stderr) == (
        1,
        "error: cannot write to standard output: it is closed\n",
    )
    assert shell("opt p.mlir -o out.mlir >&- && cmp p.mlir p.mlir").returncode == 0
    assert "graph.relu" in Path("out.mlir").read_text()
    finished = shell("opt - <&-")
    assert (finished.returncode, finished.stderr) == (1, "error: cannot read '-': standard input is closed\n")


def test_a_reader_that_goes_is_no_error() -> None:
    finished = shell(
        "for i in $(seq 3000); do echo '// padding of a long program'; done > long.mlir;"
        "cat p.mlir >> long.mlir; opt --list-passes | true; echo ${PIPESTATUS[0]}"
    )
    assert finished.stderr == "" and finished.stdout in ("0\n", "1\n")


def test_control_c_ends_a_program_without_end() -> None:
    Path("endless.mlir").write_text(ENDLESS)
    np.save("x.npy", np.ones(1, np.bool_))
    command = [sys.executable, "-m", "stepwell.tools.run", "endless.mlir", "--input", "x.npy", "--no-cache"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=take_interrupts)
    deadline = time.monotonic() + 120
    # Python catches the signal, then leaves it to the system while the program runs.
    for caught in (True, False):
        while _catches_interrupts(child.pid) is not caught:
            if time.monotonic() > deadline:
                child.kill()
            assert child.poll() is None, child.communicate()
            time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60) == (b"", b"")
    assert child.returncode == -signal.SIGINT


def _catches_interrupts(pid: int) -> bool:
    (caught,) = re.findall(r"SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())
    return bool(int(caught, 16) >> (signal.SIGINT - 1) & 1)


class TestRunTool:
    def test_the_exit_code_is_that_of_the_tool(self) -> None:
        assert run_tool("stepwell-run", [], lambda words, sources: 3) == 3

    def test_interrupts_have_the_code_of_shells(self) -> None:
        def interrupted(words: list[str], sources: Sources) -> int:
            raise KeyboardInterrupt

        assert run_tool("stepwell-run", [], interrupted) == 130

    def test_errors_quote_the_texts_that_were_read(self, capsys: pytest.CaptureFixture[str]) -> None:
        def failing(words: list[str], sources: Sources) -> int:
            from stepwell.runtime.errors import ExecutionError

            sources["a:b.mlir"] = "first\n  second"
            raise ExecutionError("index out of range", "a:b.mlir:2:3")

        assert run_tool("stepwell-run", [], failing) == 1
        assert capsys.readouterr().err == "a:b.mlir:2:3: error: index out of range\n    second\n    ^\n"

    def test_debug_raises(self) -> None:
        def failing(words: list[str], sources: Sources) -> int:
            raise StepwellError(Diagnostic("no"))

        with pytest.raises(StepwellError):
            run_tool("stepwell-run", ["--debug"], failing)

    def test_a_wrong_word_names_the_nearest_flag(self, capsys: pytest.CaptureFixture[str]) -> None:
        parser = ArgumentParser(prog="tool")
        parser.add_argument("--entry")

        assert run_tool("stepwell-run", ["--enty"], lambda words, sources: bool(parser.parse_args(words))) == 1
        assert capsys.readouterr().err == ("error: unrecognized arguments: --enty\nhint: did you mean '--entry'?\n")


def test_a_file_that_cannot_be_written_stays(tmp_path: Path) -> None:
    with pytest.raises(StepwellError, match="cannot write 'no/out': no such file or directory"):
        write_file("no/out", "text")
    with pytest.raises(StepwellError, match="cannot write '.*': is a directory"):
        write_file(tmp_path, b"data")
    assert os.listdir() == ["p.mlir"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("opt p.mlir -o no/p.mlir", "error: cannot write 'no/p.mlir': no such file or directory\n"),
        ("opt p.mlir -o .", "error: cannot write '.': is a directory\n"),
        (
            "opt p.mlir -p canonicalize --save-pipeline no/p.json",
            "error: cannot use 'no/p.json': no such file or directory\n",
        ),
        ("opt p.mlir -t foo", "error: unknown target 'foo'\nhint: the targets are arm-asm, "),
        (
            "run p.mlir",
            "error: 'main' takes 1 argument ('x'), found 0\nhint: give --input, or --inputs, or --random SEED\n",
        ),
        (
            "run p.mlir --random 0 --repeat 0",
            "error: argument --repeat: it is '0', expected a number of at least 1\n",
        ),
        (
            "run p.mlir --random 0 --tuning p.mlir",
            "error: 'p.mlir' is not a tuning database\nhint: it has a JSON object per line",
        ),
        ("tune p.mlir --db p.mlir --trials 1", "error: 'p.mlir' is not a tuning database\nhint: "),
    ],
)
def test_mistakes_are_said_and_leave_no_trace(line: str, message: str, tmp_path: Path) -> None:
    tool, *_ = words = line.split()
    finished = call_tool(load_tool(f"stepwell.tools.{tool}:main"), Command(words), b"")
    assert finished.exit_code == 1 and finished.stdout == b""
    assert finished.stderr.decode().startswith(message)
    assert os.listdir() == ["p.mlir"] and Path("p.mlir").read_text() == PROGRAM


def test_flags_have_their_whole_names(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", "m.mlir", "--pass", "cse"]) == 1
    said = "error: unrecognized arguments: --pass cse\nhint: did you mean '--passes'?\n"
    assert capfd.readouterr().err == said


@pytest.mark.parametrize(("words", "place"), [(["."], "."), ([".."], ".."), (["--", "/"], "/")])
def test_a_folder_is_no_program(words: list[str], place: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", *words]) == 1
    assert capfd.readouterr().err == f"error: cannot read '{place}': it is a directory, expected a file\n"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["a b"], "stepwell compile 'a b' --debug"),
        (["--small", "--", "-a"], "stepwell compile --small --debug -- -a"),
        (["--", "--debug"], "stepwell compile --debug -- --debug"),
    ],
)
def test_the_command_that_shows_a_traceback_can_be_pasted(words: list[str], shown: str) -> None:
    assert with_debug("stepwell compile", words) == shown


def test_a_repro_needs_a_name(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "--save-repro"]) == 1
    assert capfd.readouterr().err == (
        "error: argument --save-repro: expected one argument\nhint: stepwell cache --help lists the flags\n"
    )
    assert main(["opt", "nope.mlir", "--save-repro="]) == 1
    assert capfd.readouterr().err == "error: --save-repro is '', expected the name of a file\n"
