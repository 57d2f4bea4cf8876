"""Objects as HTML and as pictures: `stepwell.show`, `_repr_html_`, `_repr_svg_`, and what IPython is told."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import stepwell
from stepwell import core
from stepwell.analysis.drawing.drawing import GROUPS
from stepwell.analysis.drawing.html import MOST_LINES, program, table, text
from stepwell.analysis.drawing.memory import memory_svg
from stepwell.analysis.drawing.notebook import register
from stepwell.analysis.drawing.plans import plans_html
from stepwell.analysis.drawing.programs import program_html, program_svg
from stepwell.core import StepwellError
from stepwell.schedule import Schedule

TEXT = """func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %y = graph.matmul %x, %w {a.b = "<script>alert(1)</script>"} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %z = graph.softmax %y : (tensor<4x2xf32>) -> tensor<4x2xf32>
  func.return %z : tensor<4x2xf32>
}
"""
ARRAYS = np.ones((4, 8), np.float32), np.ones((8, 2), np.float32)


class Tags(HTMLParser):
    """The tags of a page, the attributes that name something outside, and its text."""

    def __init__(self, page: str):
        super().__init__()
        self.open: list[str] = []
        self.met: set[str] = set()
        self.outside: list[str] = []
        self.words = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.add(tag)
        self.open += [tag] if tag != "meta" else []
        self.outside += [name for name, _ in attrs if name in ("src", "href", "onclick", "onload")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="module")
def exe() -> Any:
    return stepwell.compile(TEXT, cache=False)


@pytest.fixture(scope="module")
def shown(exe: Any) -> dict[str, Any]:
    """One object of each kind that a notebook shows, and the start of its `repr`."""
    return {
        "<stepwell.Executable main(": exe,
        "<stepwell.Schedule of @": exe.schedule(),
        "<stepwell.Profile ": exe.profile(*ARRAYS, rounds=1),
        "<stepwell.Trace of ": exe.trace(*ARRAYS),
        "<stepwell.Memory of @main": exe.memory,
    }


def test_objects_are_short_at_the_prompt_and_static_html_in_a_notebook(shown: dict[str, Any]) -> None:
    for start, thing in shown.items():
        assert repr(thing).startswith(start)
        assert len(repr(thing)) <= 160
        assert "\n" not in repr(thing)
        tags = Tags(thing._repr_html_())
        assert tags.open == []
        assert tags.outside == []
        assert "script" not in tags.met


def test_the_text_of_a_program_stays_text() -> None:
    module = stepwell.parse(TEXT)
    tags = Tags(program_html(module))
    assert "script" not in tags.met
    assert "<script>alert(1)</script>" in tags.words
    assert str(module) in tags.words


def test_ops_values_and_types_have_colours() -> None:
    line = '%y = graph.relu %x : tensor<4xf32> // "<b>"'
    assert program(line) == (
        '<pre><span class="value">%y</span> = <span class="op">graph.relu</span> <span class="value">%x</span> : '
        '<span class="type">tensor&lt;4xf32&gt;</span> <span class="comment">// &quot;&lt;b&gt;&quot;</span></pre>'
    )


def test_a_long_text_is_cut() -> None:
    assert text("x\n" * (MOST_LINES + 5)).endswith("... (6 more lines)</pre>")


def test_a_table_escapes_its_cells() -> None:
    assert table([("a",), ("<b>",)], [0.5]) == (
        "<table><tr><th>a</th></tr><tr><td>&lt;b&gt;</td>"
        '<td><span class="bar" style="width:60px"></span></td></tr></table>'
    )


def test_pictures_are_well_formed(exe: Any) -> None:
    module = stepwell.parse(TEXT)
    for picture in (
        program_svg(module),
        exe._repr_svg_(),
        memory_svg([("<a>", 0, 1, 0, 64), ("b", 1, 2, 64, 64)], 128, 3),
        memory_svg([], 0, 1),
    ):
        assert picture is not None
        assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert program_svg(exe.schedule().module, "none") is None


def test_a_fusion_plan_is_a_table_and_colours_the_picture() -> None:
    module = stepwell.parse(TEXT)
    core.run_pipeline(core.make_context(), module, "simplify-expr,plan-fusion")
    words = Tags(page := program_html(module)).words
    assert "fusion plan" in words
    assert "<td>0</td><td>matmul</td><td></td>" in page
    assert "schedule plan" not in words
    picture = program_svg(module)
    assert picture is not None
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert all(f">group {number}</text>" in picture and GROUPS[number] in picture for number in (0, 1))


def test_a_schedule_plan_is_a_table_of_decisions_with_reasons(exe: Any) -> None:
    module = exe.schedule().module
    core.run_pipeline(core.make_context(), module, "plan-schedules")
    tags = Tags(program_html(module))
    assert tags.open == []
    assert "schedule plan" in tags.words
    assert "@matmulmatmul" in tags.words
    assert "tiling = #schedule.tiling<" in tags.words
    assert "its right operand is not the same at every call" in tags.words
    (only,) = plans_html(module)
    assert only.count("<tr>") >= 4


def test_show_prints_text_outside_of_notebooks(shown: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    for thing in shown.values():
        stepwell.show(thing)
        assert len(capsys.readouterr().out.splitlines()) >= 2
    stepwell.show(stepwell.parse(TEXT))
    assert capsys.readouterr().out == str(stepwell.parse(TEXT)) + "\n"


def test_show_writes_files(tmp_path: Path, exe: Any) -> None:
    exe.show(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert Tags(page).outside == []
    stepwell.show(stepwell.parse(TEXT), tmp_path / "a.svg")
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")
    with pytest.raises(StepwellError, match="this int has no picture, expected a name that ends in .html"):
        stepwell.show(3, tmp_path / "b.svg")
    with pytest.raises(StepwellError, match=r"cannot show in '.*c.png', expected a name that ends in .html or .svg"):
        stepwell.show(exe, tmp_path / "c.png")


def test_ipython_is_told_about_ops() -> None:
    told: dict[str, Any] = {}

    class Formatter:
        def for_type_by_name(self, module: str, name: str, function: Any) -> None:
            told[f"{module}.{name}"] = function

    class Printer:
        words = ""

        def text(self, words: str) -> None:
            self.words += words

    class Shell:
        class display_formatter:
            formatters: Any = {"text/html": Formatter(), "text/plain": Formatter()}

    register(Shell)
    module, printer = stepwell.parse(TEXT), Printer()
    assert set(told) == {"xdsl.ir.core.Operation"}
    told["xdsl.ir.core.Operation"](module, printer, False)
    assert printer.words == str(module)


def test_the_prompt_shows_a_line_of_an_op_and_the_handles_of_a_schedule(exe: Any) -> None:
    matmul = next(op for op in stepwell.parse(TEXT).walk() if op.name == "graph.matmul")
    assert repr(matmul).startswith("<MatmulOp ")
    assert "graph.matmul" in repr(matmul)
    schedule = Schedule(exe.schedule().module)
    name = next(op.sym_name.data for op in schedule.module.walk() if op.name == "tensor_loop.func")
    block = schedule.get_block("matmul", name)
    loops = schedule.get_loops(block)
    assert repr(block) == '<stepwell.BlockHandle "matmul">'
    assert repr(loops[-1]) == "<stepwell.LoopHandle k in 8>"
    outer, inner = schedule.split(loops[-1], [None, 4])
    schedule.vectorize(inner)
    assert repr(inner) == "<stepwell.LoopHandle k1 in 4 vectorized>"
    assert repr(loops[-1]) == "<stepwell.LoopHandle k (stale)>"
    assert repr(schedule.program()) == "<ProgramOp schedule.program of 4 steps>"
    assert repr(stepwell.PassContext(opt_level=3, disabled=["cse"])) == "PassContext(opt_level=3, disabled=['cse'])"


def test_the_loops_of_a_program_are_scheduled_by_hand_and_compiled(exe: Any) -> None:
    schedule = exe.schedule(check=True)
    name = next(op.sym_name.data for op in schedule.module.walk() if op.name == "tensor_loop.func")
    loops = schedule.get_loops(schedule.get_block("matmul", name))
    schedule.reorder(loops[1], loops[0])
    schedule.unroll(schedule.split(loops[-1], [None, 2])[1])
    x, w = (np.random.default_rng(0).standard_normal(each.shape).astype(np.float32) for each in ARRAYS)
    (found,), (expected,) = stepwell.compile(schedule, cache=False)(x, w), exe(x, w)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_loaded_program_is_shown_and_scheduled_too(exe: Any, tmp_path: Path) -> None:
    exe.save(tmp_path / "m.stepwell")
    loaded = stepwell.load(tmp_path / "m.stepwell")
    assert "graph.matmul" in loaded._repr_html_()
    assert str(loaded.schedule().module) == str(exe.schedule().module)
