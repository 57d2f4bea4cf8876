"""
`--check-schedule` finds the step that changes a result, also one of another package; what messages of schedules say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from schedule_cases import apply, source
from stepwell.core import plugins
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.errors import diagnostic_of
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.schedule import InProgram, StepOp
from stepwell.dialects.tensor_loop import ForOp
from stepwell.schedule.primitives.errors import refuse
from stepwell.schedule.program.check import _arguments  # pyright: ignore[reportPrivateUsage]
from stepwell.schedule.program.interactive import Schedule
from stepwell.schedule.program.replay import Replay, functions_of
from stepwell.tools.opt import main
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Dialect, Operation
from xdsl.irdl import irdl_op_definition
from xdsl.universe import Universe
from xdsl.utils.exceptions import PassFailedException


@irdl_op_definition
class DropLastOp(InProgram):
    """Leaves out the last iteration of a loop, which is wrong unless nothing needs it."""

    name = "sloppy.drop_last"
    TAKES: ClassVar = ("loop",)


@irdl_op_definition
class ReverseOp(InProgram):
    """A step that nothing runs."""

    name = "sloppy.reverse"
    TAKES: ClassVar = ("loop",)


def drop_last(replay: Replay, op: StepOp, handles: list[Operation]) -> Sequence[Operation]:
    (loop,) = handles
    assert isinstance(loop, ForOp) and isinstance(loop.extent, int)
    if loop.extent < 2:
        refuse("a loop of one iteration has no last but one", loop)
    loop.static_extents = DenseArrayBase.from_list(i64, [loop.extent - 1])
    return []


class FakeEntryPoint:
    """As `importlib.metadata.EntryPoint`, of a package that is not installed."""

    def __init__(self, name: str, group: str, loaded: object):
        self.name, self.group, self.loaded = name, group, loaded
        self.value = "sloppy.universe:U"
        self.module, self.attr, self.dist = "sloppy.universe", "U", None

    def load(self) -> object:
        return self.loaded


UNIVERSE = Universe(all_dialects={"sloppy": lambda: Dialect("sloppy", [DropLastOp, ReverseOp])})
EXTENSION = plugins.StepwellPlugin(extensions={"schedule-step": {"sloppy.drop_last": lambda: drop_last}})


@pytest.fixture
def sloppy() -> Iterator[None]:
    """A package with a dialect of steps, one of them wrong, as if it were installed."""
    found = plugins.registry()
    saved = dict(found.dialects), dict(found.extensions.get("schedule-step", {}))
    entries = [
        FakeEntryPoint("sloppy", plugins.UNIVERSE_GROUP, UNIVERSE),
        FakeEntryPoint("sloppy", plugins.PLUGIN_GROUP, EXTENSION),
    ]
    plugins.load_entry_points(found, list(entries))  # pyright: ignore[reportArgumentType]
    yield
    found.dialects.clear()
    found.dialects.update(saved[0])
    found.extensions["schedule-step"] = saved[1]


STEPS = """%a, %b = schedule.split %j [?, 4]
  sloppy.drop_last %i
  schedule.parallel %x"""


def run_tool(tmp_path: Path, steps: str, *flags: str) -> int:
    file = tmp_path / "case.mlir"
    file.write_text(source("product", steps))
    return main([str(file), "-p", "apply-schedule", *flags])


def test_the_flag_blames_the_step_that_changes_a_result(
    sloppy: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tool(tmp_path, STEPS, "--check-schedule") == 1
    text = capsys.readouterr().err
    assert "case.mlir:33:3: error: 'sloppy.drop_last': this step changes %C of @f: " in text
    assert "elements differ, at [11, " in text and "sloppy.drop_last %i" in text


def test_without_the_flag_nothing_is_run(sloppy: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_tool(tmp_path, STEPS) == 0
    assert "tensor_loop.for %i in 11 {" in capsys.readouterr().out


def test_the_flag_lets_right_steps_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_tool(tmp_path, "schedule.parallel %x", "--check-schedule") == 0
    assert "%x in 12 parallel" in capsys.readouterr().out


def test_the_flag_is_for_every_pass_of_the_pipeline(
    sloppy: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, first = tmp_path / "case.mlir", tmp_path / "first.mlir"
    text = source("product", STEPS)
    program = text[text.index("schedule.program") :]
    file.write_text(text.replace(program, ""))
    for name, steps in (("first", "schedule.parallel %x"), ("second", STEPS)):
        own = source("product", steps)
        (tmp_path / f"{name}.mlir").write_text(own[own.index("schedule.program") :])
    second = first.with_name("second.mlir")
    pipeline = f'apply-schedule{{file="{first}"}},cse,apply-schedule{{file="{second}"}}'
    assert main([str(file), "-p", pipeline, "--check-schedule"]) == 1
    assert "this step changes %C of @f" in capsys.readouterr().err


def test_the_flag_without_a_schedule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "case.mlir"
    file.write_text(source("product", ""))
    assert main([str(file), "-p", "cse", "--check-schedule"]) == 1
    assert "--check-schedule is about the steps of 'apply-schedule'" in capsys.readouterr().err


def test_a_step_of_another_package_is_refused_as_ours_are(
    sloppy: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tool(tmp_path, "%u = schedule.add_unit_loop %mm\n  sloppy.drop_last %u") == 1
    text = capsys.readouterr().err
    assert "'sloppy.drop_last': a loop of one iteration has no last but one" in text
    assert ">       tensor_loop.for %u in 1 {" in text


def test_a_step_that_nothing_runs(sloppy: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_tool(tmp_path, "sloppy.reverse %i") == 1
    message = "'sloppy.reverse': nothing is installed that runs this step: no plug-in has a 'schedule-step'"
    assert message in capsys.readouterr().err


def test_check_takes_small_functions_only() -> None:
    with pytest.raises(Exception, match="runs its blocks 1072693248 times, too many to check") as caught:
        apply("product", "schedule.unroll %i", check=True, sizes=(1024, 1024, 1022))
    assert "use smaller shapes" in str(caught.value)


def test_check_takes_functions_of_known_shapes_only() -> None:
    text = """tensor_loop.func @f(%A: memref<?xf32>) outs(%C: memref<?xf32>) {
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "b" spatial(%v in 4 = %i) {
      %a = memref.load %A[%v] : memref<?xf32>
      memref.store %a, %C[%v] : memref<?xf32>
    }
  }
}"""
    module = parse_text(make_context(), text, "f.mlir")
    with pytest.raises(StepwellError, match="@f takes memref<.xf32>: only buffers of known size can be checked"):
        Schedule(module, check=True)


def marked(steps: str, function: str = "product") -> list[str]:
    with pytest.raises(PassFailedException) as caught:
        apply(function, steps)
    return diagnostic_of(caught.value).message.split("\n")


def test_an_error_shows_the_loops_with_the_culprits_marked() -> None:
    assert marked("schedule.parallel %k")[1:] == [
        "  tensor_loop.for %i in 12 {",
        "    tensor_loop.for %j in 20 {",
        ">     tensor_loop.for %k in 16 {",
        '>       tensor_loop.block "mm" spatial(%vi in 12 = %i, %vj in 20 = %j) reduce(%vk in 16 = %k)',
        "  tensor_loop.for %x in 12 {",
        "    tensor_loop.for %y in 20 {",
        '      tensor_loop.block "relu" spatial(%vx in 12 = %x, %vy in 20 = %y)',
    ]


def test_a_wrong_number_of_handles_marks_those_that_were_found() -> None:
    assert marked("%q, %r = schedule.get_loops %mm : 2")[:4] == [
        "'schedule.get_loops': finds 3 loops (%i, %j, %k), expected 2: the program is for another function",
        "> tensor_loop.for %i in 12 {",
        ">   tensor_loop.for %j in 20 {",
        ">     tensor_loop.for %k in 16 {",
    ]


def test_a_handle_of_the_wrong_form_is_marked() -> None:
    message = marked('schedule.tensorize %mm "row"')
    assert message[0] == "'schedule.tensorize': the form \"row\" takes a loop, found a block"
    assert [line for line in message if line.startswith(">")] == [
        '>       tensor_loop.block "mm" spatial(%vi in 12 = %i, %vj in 20 = %j) reduce(%vk in 16 = %k)'
    ]


def test_python_arguments_of_other_types_are_errors_before_anything_is_done() -> None:
    schedule = Schedule(parse_text(make_context(), source("product", "").partition("schedule.")[0], "case.mlir"))
    block = schedule.get_block("mm", "f")
    i, *_ = schedule.get_loops(block)
    program = str(schedule.program())
    with pytest.raises(TypeError, match="None is no handle of a loop or block"):
        schedule.unroll(None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"2\.5 is no number"):
        schedule.split(i, [None, 2.5])  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"^factors is 3, expected a list of numbers, such as \[None, 3\]$"):
        schedule.split(i, 3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"^get_block: missing a required argument: 'function'; expected \(name: "):
        schedule.get_block("mm")  # pyright: ignore[reportCallIssue]
    with pytest.raises(AttributeError, match="^Schedule has no primitive 'vectorise'; did you mean 'vectorize'\\?$"):
        schedule.vectorise(i)  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError, match=r"\[1\] is no annotation"):
        schedule.annotate(i, "my.grain", [1])  # pyright: ignore[reportArgumentType]
    with pytest.raises(PassFailedException, match="characters other than ASCII"):
        schedule.annotate(i, "größe", 1)
    with pytest.raises(PassFailedException, match='the key "grain" has no prefix, expected .* as "mypkg.grain"'):
        schedule.annotate(i, "grain", 1)
    assert str(schedule.program()) == program


def test_blocks_may_have_names_of_other_letters() -> None:
    text = source("product", "").partition("schedule.")[0].replace('"mm"', '"größe"')
    schedule = Schedule(parse_text(make_context(), text, "case.mlir"))
    schedule.get_loops(schedule.get_block("größe", "f"))
    assert 'get_block "gr' in str(schedule.program())


def test_numbers_that_choose_elements_lie_inside_the_buffers() -> None:
    text = """
tensor_loop.func @f(%A: memref<6x4xf32>, %I: memref<50xi32>) outs(%C: memref<50x4xf32>) {
  tensor_loop.grid (%i, %j) in (50, 4) {
    tensor_loop.block "take" spatial(%vi in 50 = %i, %vj in 4 = %j) {
      %w = memref.load %I[%vi] : memref<50xi32>
      %n = arith.index_cast %w : i32 to index
      %a = memref.load %A[%n, %vj] : memref<6x4xf32>
      memref.store %a, %C[%vi, %vj] : memref<50x4xf32>
    }
  }
}"""
    module = parse_text(make_context(), text, "case.mlir")
    (function,) = functions_of(module)
    _, chosen, _ = _arguments(function, 0)
    assert chosen.min() == 0 and chosen.max() == 3
    schedule = Schedule(module, check=True)
    i, j = schedule.get_loops(schedule.get_block("take", "f"))
    schedule.reorder(j, i)
