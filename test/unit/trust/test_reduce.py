"""Programs that shrink: the moves, each predicate, crashes and hangs of candidates, searches that go on."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
import stepwell
from counts import FULL
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.parsing import make_context
from stepwell.testing import random_program
from stepwell.tools.main import main
from stepwell.trust.reduce.moves.all import moves_for
from stepwell.trust.reduce.predicates import Command, Message, Predicate
from stepwell.trust.reduce.session import reduce
from stepwell.trust.reduce.subject import Program, Subject
from stepwell.trust.reduce.workers import VALID, Workers

RULE = """
pattern.rule "abs-is-nothing" {
  %x = pattern.any
  %root = pattern.op "graph.abs"(%x)
  pattern.replace %root with %x
}
"""
PLUGIN = """
import os
from stepwell.core import StepwellPass
from stepwell.core.plugins import define_pass
class Fails(StepwellPass):
    \"\"\"Fails at an op.\"\"\"
    name = "fails-at-abs"
    def apply(self, ctx, op):
        if any(each.name == "graph.abs" for each in op.walk()):
            {act}
define_pass(Fails)
"""
SIZE = (
    "func.func @main(%x: tensor<12x4xf64>) -> tensor<48xf64> {\n"
    "  %0 = graph.reshape %x, shape = [48] : (tensor<12x4xf64>) -> tensor<48xf64>\n"
    "  func.return %0 : tensor<48xf64>\n}\n"
)


class Has(Predicate):
    """Ops of all these names are in the program. At ops of `deadly` names the process dies or hangs."""

    def __init__(self, *names: str, dies: str = "", hangs: str = ""):
        self.names, self.dies, self.hangs = names, dies, hangs

    def kind(self, subject: Subject) -> str | None:
        found = {op.name for op in subject.parsed().walk()}
        if self.dies and self.dies not in found:
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.hangs and self.hangs not in found:
            time.sleep(100)
        return "has" if found.issuperset(self.names) else None

    def __str__(self) -> str:
        return "an op is missing"


def shrunk(text: str, predicate: Predicate, *, jobs: int = 1) -> Program:
    program = Program(make_context(), text, "t.mlir")
    reduce(program, predicate, moves_for(program), workers=Workers(jobs))
    if program.is_valid:
        stepwell.parse(program.text)
    return program


def names(program: Program) -> list[str]:
    return sorted(op.name for op in program.parsed().walk() if op.name.startswith("graph."))


@pytest.mark.ci_cases(0)
def test_ops_that_stand_apart_are_all_that_is_left():
    text = random_program(3, 150 if FULL else 60, smooth=True).text
    wanted = ("graph.abs", "graph.softmax")
    assert all(f"{name} " in text for name in wanted)
    found = shrunk(text, Has(*wanted), jobs=2)
    assert names(found) == list(wanted)
    assert found.text == shrunk(text, Has(*wanted), jobs=1).text


def test_candidates_that_crash_or_hang_are_left_out():
    text = random_program(3, 20, smooth=True).text
    first = names(Program(make_context(), text, "t.mlir"))[0]
    assert first in names(shrunk(text, Has(first, dies=first)))
    small = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = graph.abs %x : (tensor<4xf32>)\n"
    small += "  func.return %0 : tensor<4xf32>\n}\n"
    program = Program(make_context(), small, "t.mlir")
    reduce(program, Has("graph.abs", hangs="graph.abs"), moves_for(program)[1:4], workers=Workers(8, 1.0))
    assert names(program) == ["graph.abs"]


@pytest.mark.ci_cases(0)
def test_sizes_and_element_types_change_in_the_whole_program():
    text = shrunk(SIZE, Has("graph.reshape")).text
    assert "tensor<1x1xf32>" in text and "48" not in text and "f64" not in text


LEVELS = ["lower-graph-to-loops,bufferize,lower-loops-to-scf", "lower-graph-to-loops"]


@pytest.mark.parametrize("passes", LEVELS if FULL else LEVELS[:1])
def test_lower_levels_shrink_by_the_same_moves(passes: str):
    module = stepwell.parse(
        SIZE.replace("graph.reshape %x, shape = [48]", "graph.exp %x").replace("tensor<48x", "tensor<12x4x")
    )
    stepwell.core.run_pipeline(make_context(), module, passes)
    found = shrunk(str(module), Has("math.exp"))
    assert found.ops() == 3, found.text


@pytest.mark.ci_cases(0)
def test_a_program_that_can_be_read_but_is_not_valid_loses_ops():
    lines = "".join(f"  %{n + 1} = graph.tanh %{n} : (tensor<4x8xf32>) -> tensor<4x8xf32>\n" for n in range(30))
    product = "  %y = graph.matmul %20, %9 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    text = f"func.func @main(%0: tensor<4x8xf32>) -> tensor<4x8xf32> {{\n{lines}{product}"
    found = shrunk(
        text + "  func.return %y : tensor<4x8xf32>\n}\n", Message("columns but rhs has K", "", make_context())
    )
    assert found.ops() == 3 and "graph.matmul" in found.text, found.text


def test_a_program_that_is_not_valid_loses_lines():
    text = random_program(3, 20, smooth=True).text.replace(
        "func.return", "  %y = graph.exp %none : (tensor<4xf32>) -> tensor<4xf32>\n  func.return"
    )
    assert "never defined" not in text
    found = shrunk(text, Message("never defined", "", make_context()))
    assert found.ops() <= 2, found.text


@pytest.mark.parametrize(
    "act, said", [("raise KeyError(len(list(op.walk())))", "KeyError in one.py:apply"), ("os.abort()", "signal 6")]
)
def test_a_crash_shrinks_and_becomes_a_test(act: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "m.mlir").write_text(random_program(3, 60 if FULL else 30, smooth=True).text)
    plugin, name = tmp_path / ("one.py" if "Key" in act else "two.py"), f"fails-at-abs-{len(act)}"
    plugin.write_text(PLUGIN.replace("{act}", act).replace("fails-at-abs", name))
    words = ["reduce", str(tmp_path / "m.mlir"), "--crash", "-p", name, "--jobs", "2"]
    assert main([*words, "--load-plugin", str(plugin), "--test", str(tmp_path / "t.mlir")]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("graph.") == 1 and "graph.abs" in shown.out, shown.err
    assert f"/// It was: {said}." in (tmp_path / "t.mlir").read_text()


@pytest.mark.ci_cases(0)
def test_a_search_goes_on_where_it_has_ended(tmp_path: Path):
    output, state = tmp_path / "out.mlir", tmp_path / "out.mlir.state"
    text = random_program(3, 40 if FULL else 20, smooth=True).text
    small = shrunk(text, Has("graph.abs"))

    def tries(key: str) -> int:
        program = Program(make_context(), text, "t.mlir")
        output.write_text(small.text)
        state.write_text(json.dumps({"key": key, "round": 1, "move": 3}))
        search = reduce(program, Has("graph.abs"), moves_for(program), output=output)
        assert output.read_text() == program.text and not state.exists()
        assert program.ops() == small.ops()
        return search.workers.tried

    import hashlib

    program = Program(make_context(), text, "t.mlir")
    known = hashlib.sha256(f"{Has()}".encode() + program.data()).hexdigest()
    assert tries(known) < tries("of another search")


def test_a_pipe_gets_the_result_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("stepwell.trust.reduce.session.SAVE_SECONDS", -1)
    pipe = tmp_path / "out.mlir"
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()), daemon=True)
    reader.start()
    program = Program(make_context(), random_program(3, 20, smooth=True).text, "t.mlir")
    reduce(program, Has("graph.abs"), moves_for(program), output=pipe)
    reader.join(timeout=60)
    assert received == [program.text] and list(tmp_path.iterdir()) == [pipe]


def test_the_first_yes_does_not_depend_on_the_number_of_processes():
    def trial(index: int):
        def run(tell) -> bool:
            tell(VALID)
            time.sleep(0.2 if index == 2 else 0)
            return index in (2, 3)

        return run

    assert Workers(4).first([trial(index) for index in range(6)]) == 2
    assert Workers(4).first([trial(index) for index in range(6)], 3) == 3
    assert Workers(4).first([trial(index) for index in range(2)]) is None


@pytest.mark.parametrize(
    "words, said",
    [
        (
            ["--command", "false"],
            "error: 'm.mlir' is not interesting: the command 'false' does not succeed\nhint: reduce",
        ),
        (
            ["--message", "no such", "-p", "cse"],
            "error: 'm.mlir' is not interesting: no error has the text 'no such'\n",
        ),
        (["--crash", "-p", "cse"], "error: 'm.mlir' is not interesting: the passes 'cse' do not crash\n"),
        (["--wrong"], "error: --wrong needs the passes that change a result\nhint: -p PIPELINE names them\n"),
        (["--command", "true", "-p", "cse"], "error: --command runs no passes, so it goes without -p\n"),
        (["--command", "true", "--timeout", "0"], "error: --timeout is 0, expected a number above 0\n"),
        (["--command", "true", "-o", "m.mlir"], "error: the output 'm.mlir' is the program itself\n"),
        ([], "error: one of the arguments --command --wrong --message --crash --against is required\n"),
    ],
)
def test_errors(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("m.mlir").write_text(SIZE)
    assert main(["reduce", "m.mlir", *words]) == 1
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.ci_cases(0)
def test_files_of_candidates_are_deleted():
    command = Command("grep -q graph.reshape {}")
    shrunk(SIZE, command)
    assert not Path(command.folder).exists()


def test_a_program_that_does_not_fail_is_an_error():
    with pytest.raises(StepwellError, match="an op is missing"):
        shrunk(SIZE, Has("graph.abs"))
