"""The search for the application that is to blame: of a wrong result, a crash, an error, or a command that fails."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import stepwell
from counts import FULL
from stepwell.core.messages.diagnostics import Diagnostic, StepwellError
from stepwell.core.passes.applications import counting
from stepwell.core.passes.base import StepwellPass
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main as opt_main
from stepwell.trust.bisect import bisect
from stepwell.trust.cases import CheckOptions
from stepwell.trust.commanded import bisect_command
from stepwell.trust.culprit import Culprit, difference
from stepwell.trust.halving import first_bad
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

RULES = """
pattern.rule "twice" {
  %x = pattern.any
  %a = pattern.op "graph.relu"(%x)
  %root = pattern.op "graph.relu"(%a)
  pattern.replace %root with %a
}
pattern.rule "abs-is-nothing" {
  %x = pattern.any
  %root = pattern.op "graph.abs"(%x)
  pattern.replace %root with %x
}
"""
T = "tensor<4xf32>"


def chain(ops: list[str]) -> str:
    """Returns a program that applies ops one after the other."""
    body = "\n".join(f"  %{n + 1} = graph.{op} %{n} : ({T}) -> {T}" for n, op in enumerate(ops))
    return f"func.func @main(%0: {T}) -> {T} {{\n{body}\n  func.return %{len(ops)} : {T}\n}}"


TEXT = chain([*["relu"] * 9, "negative", "abs", "exp", *["relu"] * 6])


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    """The pipeline of the rules, with passes before and after it."""
    (tmp_path / "wrong.rules").write_text(RULES)
    return f'cse,apply-patterns{{file="{tmp_path / "wrong.rules"}"}},canonicalize-ops'


def found(text: str, passes: Any) -> Culprit:
    """Returns what a search finds."""
    known = parse_pipeline(passes) if isinstance(passes, str) else list(passes)
    culprit = bisect(make_context(), stepwell.parse(text), known, CheckOptions())
    assert culprit is not None
    return culprit


# The search


def test_the_first_bad_number_takes_few_runs():
    asked: list[int] = []
    assert first_bad(lambda n: asked.append(n) or n >= 1234, 2000) == (1233, 1234)
    assert len(asked) <= 11


def test_what_cannot_be_told_is_left_out():
    assert first_bad(lambda n: None if 3 <= n <= 6 else n >= 5, 10) == (2, 7)
    assert first_bad(lambda n: None, 4) == (0, 4)


# Wrong results


def test_the_application_is_found(wrong: str):
    culprit = found(TEXT, wrong)
    assert culprit.application is not None and culprit.among == 1
    assert (culprit.number, culprit.application.name, culprit.application.kind) == (2, "abs-is-nothing", "rule")
    assert culprit.application.bindings
    assert "graph.abs" in culprit.diff and f"found in {culprit.runs} runs" in str(culprit)
    assert culprit.runs <= 20
    right = stepwell.parse(TEXT)
    with counting(culprit.count - 1):
        run_pipeline(make_context(), right, parse_pipeline(wrong))
    assert "graph.abs" in str(right)


def test_a_right_pipeline_has_no_culprit():
    assert bisect(make_context(), stepwell.parse(TEXT), parse_pipeline("simplify-expr"), CheckOptions()) is None


MANY = 2001 if FULL else 401


def test_many_rewrites_take_twenty_runs(wrong: str):
    """Applications of one pass, of which one in the second half is wrong."""
    before = MANY * 3 // 4
    text = chain([*["relu"] * (before + 1), "negative", "abs", "exp", *["relu"] * (MANY - before)])
    with counting() as total:
        run_pipeline(make_context(), stepwell.parse(text), parse_pipeline(wrong))
    assert total.count == MANY
    culprit = found(text, wrong)
    assert culprit.application is not None and culprit.application.name == "abs-is-nothing"
    assert culprit.runs <= 20


# Passes that fail


@dataclass(frozen=True)
class Tripping(StepwellPass):
    """Fails where an exponential follows a negation, as it may after the wrong rule."""

    name = "tripping"
    how: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in op.walk():
            owners = [getattr(operand.owner, "name", "") for operand in each.operands]
            if each.name == "graph.exp" and owners == ["graph.negative"]:
                TRIPS[self.how]()


def refuse() -> None:
    raise StepwellError(Diagnostic("the exponential 17 is of a negation"))


def divide() -> None:
    raise ZeroDivisionError("division by zero")


TRIPS: dict[str, Callable[[], None]] = {
    "refuse": refuse,
    "divide": divide,
    "abort": os.abort,
    "exit": lambda: os._exit(3),
}


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(
    "how, reason",
    [
        ("refuse", "the exponential 17 is of a negation"),
        ("divide", "division by zero"),
        ("abort", "the process ends with SIGABRT"),
        ("exit", "the process ends with exit code 3"),
    ],
)
def test_what_makes_a_later_pass_fail_is_found(wrong: str, how: str, reason: str):
    culprit = found(TEXT, [*parse_pipeline(wrong), Tripping(how)])
    assert culprit.application is not None and culprit.application.name == "abs-is-nothing"
    assert (culprit.number, culprit.pass_.name) == (2, "apply-patterns")
    assert culprit.reason.startswith("makes pass 'tripping") and reason in culprit.reason
    assert "graph.abs" in culprit.diff and culprit.runs <= 20


def test_a_pass_that_fails_anyway_is_blamed_as_a_whole():
    text = chain(["negative", "exp"])
    culprit = found(text, [*parse_pipeline("cse"), Tripping("refuse")])
    assert culprit.application is None
    assert str(culprit).splitlines() == [
        f"pass '{culprit.pass_}' (number 2 of the pipeline) fails: the exponential 17 is of a negation",
        "as a whole: it fails whatever it applies",
        f"found in {culprit.runs} runs",
    ]


def test_a_lowering_that_crashes_is_found(monkeypatch: pytest.MonkeyPatch):
    """A fault in the lowering of one op is found though later passes need all of them."""
    op_type: Any = make_context().get_op("graph.exp")
    right = op_type.te

    def crash(op: Any, *operands: Any) -> Any:
        if op.name == "graph.exp":
            os.abort()
        return right(op, *operands)

    monkeypatch.setattr(op_type, "te", crash)
    culprit = found(chain(["abs", "negative", "exp", "relu"]), "O1")
    assert str(culprit.application).startswith("lowering 'graph.exp'")
    assert culprit.pass_.name == "lower-graph-to-loops" and "SIGABRT" in culprit.reason


# Commands


def command(text: str, pipeline: str, line: str) -> Culprit:
    return bisect_command(make_context(), stepwell.parse(text), parse_pipeline(pipeline), line)


def test_a_command_finds_the_application(wrong: str):
    culprit = command(TEXT, wrong, "grep -q graph.abs {}")
    assert culprit.application is not None and culprit.application.name == "abs-is-nothing"
    assert culprit.number == 2 and "graph.abs" in culprit.diff
    assert culprit.reason == "makes the command 'grep -q graph.abs {}' fail"


def test_a_command_takes_twenty_runs(wrong: str, tmp_path: Path):
    text = chain([*["relu"] * 201, "negative", "abs", "exp", *["relu"] * 101])
    calls = tmp_path / "calls"
    culprit = command(text, wrong, f"echo >> {calls}; grep -q graph.abs")
    assert culprit.application is not None and culprit.application.name == "abs-is-nothing"
    assert culprit.runs == len(calls.read_text().splitlines()) <= 20


def test_a_command_may_be_unable_to_tell(wrong: str):
    """Programs with between 2 and 5 relus are not told, and the wrong application is among those."""
    line = 'n=$(grep -c graph.relu {}); [ "$n" -gt 2 ] && [ "$n" -lt 12 ] && exit 125; grep -q graph.abs {}'
    culprit = command(TEXT, wrong, line)
    assert culprit.among > 1
    assert "one of the applications" in str(culprit) and "which cannot be told apart" in str(culprit)


@pytest.mark.parametrize(
    "line, message",
    [
        ("true", "the command 'true' does not fail after the passes"),
        ("false", "the command 'false' fails on the program as it is given"),
        ("exit 200", "the command 'exit 200' ends with exit code 200"),
    ],
)
def test_commands_that_tell_nothing_are_refused(wrong: str, line: str, message: str):
    with pytest.raises(StepwellError) as caught:
        command(TEXT, wrong, line)
    assert message in str(caught.value) and "hint: " in str(caught.value)


def test_the_flag_takes_a_command(wrong: str, tmp_path: Path):
    file = tmp_path / "m.mlir"
    file.write_text(TEXT)
    arguments = ["stepwell-opt", str(file), "-p", wrong, "--bisect-command", "grep -q graph.abs {}"]
    finished = call_tool(opt_main, Command(arguments), b"")
    assert finished.exit_code == 0 and "rule 'abs-is-nothing'" in finished.stdout.decode()
    refused = call_tool(opt_main, Command([*arguments[:-1], " "]), b"")
    assert "--bisect-command is empty, expected a command of the shell" in refused.stderr.decode()
    refused = call_tool(opt_main, Command([*arguments, "--rewrite-limit", "3"]), b"")
    assert "--bisect sets the limit of rewrites itself, it goes without --rewrite-limit" in refused.stderr.decode()


def test_long_differences_are_cut():
    shown = difference("", "\n".join(map(str, range(100)))).splitlines()
    assert len(shown) == 61 and shown[-1] == "… 43 lines more"
