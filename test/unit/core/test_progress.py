"""The progress bar: on a terminal after a moment, gone at the end, and not a byte of it anywhere else."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from stepwell.core.passes import progress as progress_module
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.passes.progress import PassProgress, Progress
from stepwell.core.text.parsing import make_context, parse_text
from xdsl.dialects.builtin import ModuleOp

PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""

RUN = (
    "import sys, stepwell.core.passes.progress as progress; progress.DELAY, progress.TICK = 0.0, 0.01\n"
    "from stepwell.tools import opt, run\n"
    "sys.exit({'opt': opt.main, 'run': run.main}[sys.argv[1]](sys.argv[2:]))"
)
"""A tool with a bar at once: what it does here takes less than a second."""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """In place of standard error; bars appear at once."""
    stream = Terminal()
    # not sys.stderr itself: pytest puts its own there when the test begins
    monkeypatch.setattr(progress_module, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(progress_module, "DELAY", 0.0)
    monkeypatch.setattr(progress_module, "TICK", 0.01)
    return stream


def wait_for(stream: Terminal, text: str) -> None:
    deadline = time.monotonic() + 30
    while text not in stream.getvalue():
        assert time.monotonic() < deadline, stream.getvalue()[-100:]
        time.sleep(0.01)


def on_a_terminal(*arguments: str, columns: int = 80) -> tuple[int, str]:
    """Exit code and all that a tool writes to a terminal of that width."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", RUN, *arguments])
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
    shown = b""
    while True:
        try:
            data = os.read(descriptor, 1 << 16)
        except OSError:  # Linux: the other end is closed
            break
        if not data:
            break
        shown += data
    os.close(descriptor)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


class TestProgress:
    def test_it_shows_how_far_and_what_and_is_gone_at_the_end(self, terminal: Terminal) -> None:
        with Progress("import") as progress:
            progress.at(1, "first", total=4)
            wait_for(terminal, "import:  25%|")
            wait_for(terminal, ", first")
            progress.at(3, "third")
            wait_for(terminal, "import:  75%|")
        assert terminal.getvalue().rsplit("\r", 2)[1].isspace() and terminal.getvalue().endswith("\r")

    def test_what_is_quick_shows_none(self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(progress_module, "DELAY", 60.0)
        with Progress("import") as progress:
            progress.at(1, "first", total=4)
        assert terminal.getvalue() == ""

    def test_an_error_clears_it_and_passes(self, terminal: Terminal) -> None:
        with pytest.raises(ZeroDivisionError), Progress("import") as progress:
            progress.at(1, total=2)
            wait_for(terminal, "50%")
            raise ZeroDivisionError
        assert terminal.getvalue().endswith("\r")

    @pytest.mark.parametrize("shown", [False, None])
    def test_without_a_terminal_there_is_no_thread(self, shown: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stderr", Terminal() if shown is False else io.StringIO())
        with Progress("import", shown=shown) as progress:
            assert progress._thread is None
        monkeypatch.setattr(sys, "stderr", None)
        with Progress("import", shown=shown) as progress:
            assert progress._thread is None

    def test_without_tqdm_there_is_no_bar(self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "tqdm", None)
        with Progress("import") as progress:
            assert progress._thread is not None
            progress._thread.join()
        assert terminal.getvalue() == ""

    def test_a_terminal_that_has_gone_is_no_error(self, terminal: Terminal) -> None:
        def fail(text: str) -> int:
            raise OSError("gone")

        terminal.write = fail
        with Progress("import") as progress:
            assert progress._thread is not None
            progress._thread.join()

    @pytest.mark.parametrize("good", range(4))
    def test_a_terminal_that_has_gone_holds_no_other_bar(
        self, good: int, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It goes after so many writes."""
        gone = Terminal()
        left = good

        def fail(text: str) -> int:
            nonlocal left
            left -= 1
            if left < 0:
                raise OSError("gone")
            return len(text)

        gone.write = fail
        monkeypatch.setattr(sys, "stderr", gone)
        with Progress("first") as progress:
            assert progress._thread is not None
            progress._thread.join(1.0)
        monkeypatch.setattr(sys, "stderr", terminal)
        with Progress("second") as progress:
            progress.at(1, total=2)
            wait_for(terminal, "50%")


def test_passes_tell_their_names_and_what_follows(terminal: Terminal) -> None:
    class Slow(PassProgress):
        def after_pass(self, *_: object) -> None:
            wait_for(terminal, f", {self._progress._name}")

    module = parse_text(make_context(), PROGRAM, "p.mlir")
    with Slow("compile", more=1.0) as watch:
        run_pipeline(make_context(), module, "canonicalize,cse", instruments=[watch])
        watch.then("machine code")
        wait_for(terminal, "compile:  50%|##########          | 00:00, machine code")
    assert "compile:  25%|#####               | 00:00, cse" in terminal.getvalue()
    assert "compile:   0%|                    | 00:00, canonicalize" in terminal.getvalue()


def test_a_bar_never_goes_back(terminal: Terminal) -> None:
    with PassProgress("compile") as watch:
        watch.before_pipeline(parse_pipeline("canonicalize,cse,canonicalize,cse"), ModuleOp([]))
        watch.comes(2.0, "bufferize")
        wait_for(terminal, "compile:  50%|##########          | 00:00, bufferize")
        watch.comes(1, "prepack-weights")
        wait_for(terminal, "compile:  50%|##########          | 00:00, prepack-weights")


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("arguments", [("run", "p.mlir", "--random", "0", "--no-cache"), ("opt", "p.mlir", "-p", "O3")])
def test_tools_show_it_on_a_terminal_and_nowhere_else(arguments: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "p.mlir"
    path.write_text(PROGRAM)
    command = [str(path) if word == "p.mlir" else word for word in (*arguments, "--color=never")]
    piped = subprocess.run([sys.executable, "-c", RUN, *command], capture_output=True, text=True)
    assert piped.returncode == 0 and piped.stderr == ""
    code, shown = on_a_terminal(*command)
    assert code == 0
    assert "%|" in shown
    bars, _, rest = shown.replace("\r\n", "\n").rpartition("\r")
    assert rest == piped.stdout, "the bar stands before the output, and is gone"
    assert bars.rpartition("\r")[2].isspace()


def test_a_terminal_that_does_not_know_its_width(tmp_path: Path) -> None:
    path = tmp_path / "p.mlir"
    path.write_text(PROGRAM)
    code, shown = on_a_terminal("opt", str(path), "-p", "O3", columns=0)
    assert code == 0 and "%|" in shown
