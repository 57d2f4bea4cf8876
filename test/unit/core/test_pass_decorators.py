"""Passes made by decorators: from classes and functions, on modules, functions and blocks; their names."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from sample_passes import PROGRAM, note, ran
from stepwell.core import plugins
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.base import StepwellPass
from stepwell.core.passes.decorators import block_pass, function_pass, module_pass
from stepwell.core.passes.info import pass_info
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.text.parsing import parse
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.universe import Universe

FUNCTIONS = """
func.func private @external(i32) -> i32
func.func @plain() { func.return }
func.func @fused() attributes {graph.primitive} { func.return }
func.func @left() attributes {stepwell.skip} { func.return }
func.func @picky() attributes {stepwell.skip = ["mark", "other"]} { func.return }
builtin.module {
  func.func @nested() { func.return }
}
"""


@module_pass("remember", opt_level=1, requires=("remember-first",))
class Remember:
    """
    Writes a word. More about it.
    """

    word: str = "remember"
    times: int = 1

    def transform_module(self, module: ModuleOp, ctx: Context) -> None:
        for _ in range(self.times):
            note(module, self.word)


@module_pass("remember-first")
def remember_first(module, ctx):
    """Writes its name."""
    note(module, "first")


@function_pass("mark")
def mark(function, ctx):
    """Marks functions."""
    function.attributes["marked"] = UnitAttr()


def marked(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.walk() if "marked" in op.attributes]  # pyright: ignore


def test_a_class_becomes_a_pass():
    assert issubclass(Remember, StepwellPass)
    info = pass_info(Remember)
    assert (info.name, info.opt_level, info.requires) == ("remember", 1, ("remember-first",))
    assert info.summary == "Writes a word"
    assert [str(option) for option in info.options] == ['word: string = "remember"', "times: integer = 1"]
    assert ran(Remember(word="so", times=2)(parse(PROGRAM))) == "first so so"


def test_a_decorated_pass_runs_from_the_command_line():
    (made,) = parse_pipeline("remember{times=2}")
    assert made == Remember(times=2)
    finished = call_tool(main, Command(["stepwell-opt", "-p", 'remember{word="w"}']), PROGRAM.encode())
    assert finished.exit_code == 0 and b'ran = "first w"' in finished.stdout
    listed = call_tool(main, Command(["stepwell-opt", "--list-passes"]), b"").stdout.decode()
    assert "  remember                         level 1  Writes a word\n      requires remember-first\n" in listed


def test_a_pass_can_be_decorated():
    @module_pass("named-anew", opt_level=3)
    @dataclass(frozen=True)
    class AnyPass(StepwellPass):
        """Does little."""

        size: int = 1

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            note(op, f"{self.name} {self.size}")

    assert ran(AnyPass(size=4)(parse(PROGRAM))) == "named-anew 4"
    assert pass_info("named-anew").opt_level == 3


def test_a_returned_module_takes_the_place_of_the_old_one():
    @module_pass("replace-module")
    def replace_module(module, ctx):
        """Returns a new module."""
        new = parse("func.func @other() {\n  func.return\n}\n")
        note(new, "replaced")
        return new

    module = parse(PROGRAM)
    before = str(module)
    result = replace_module()(module)
    assert "@other" in str(result) and "@main" not in str(result) and ran(result) == "replaced"
    assert str(module) == before


@pytest.mark.parametrize("decorator, what", [(module_pass, "builtin.module"), (function_pass, "func.func")])
def test_a_wrong_result_is_an_error(decorator, what: str):
    @decorator(f"wrong-result-{what}")
    def wrong_result(op, ctx):
        """Returns a number."""
        return 3

    with pytest.raises(Exception, match=f"returned int, expected {what} or nothing"):
        wrong_result()(parse(PROGRAM))


# Functions and blocks


def test_function_passes_leave_alone_what_they_should():
    module = parse(FUNCTIONS)
    assert marked(mark()(module)) == ["plain", "nested"]
    assert marked(module) == []

    @function_pass("mark-too")
    def mark_too(function, ctx):
        """Marks functions too."""
        function.attributes["marked"] = UnitAttr()

    assert marked(mark_too()(module)) == ["plain", "picky", "nested"]


def test_a_returned_function_takes_the_place_of_the_old_one():
    @function_pass("replace-function")
    class ReplaceFunction:
        """Replaces functions by marked copies."""

        def transform_function(self, function, ctx):
            copy = function.clone()
            copy.attributes["marked"] = UnitAttr()
            return copy

    module = parse(FUNCTIONS)
    result = ReplaceFunction()(module)
    assert marked(result) == ["plain", "picky", "nested"]
    names = [getattr(op, "sym_name", None) for op in result.walk()]
    assert names == [getattr(op, "sym_name", None) for op in module.walk()]


def test_block_passes_see_each_block():
    seen: list[int] = []

    @block_pass("see-blocks")
    class SeeBlocks:
        """Counts the ops of blocks."""

        def transform_block(self, block, ctx):
            seen.append(len(list(block.ops)))

    branches = "func.func @f() {\n  cf.br ^next\n^next:\n  %c = arith.constant 1 : i32\n  func.return\n}\n"
    SeeBlocks()(parse(branches + "func.func private @g()\n"))
    assert seen == [1, 2]


# Names and wrong classes


def test_a_name_of_another_package_is_an_error_naming_both_owners():
    with pytest.raises(StepwellError, match="pass 'cse' is already defined by xdsl; .*taken needs another"):

        @module_pass("cse")
        def taken(module, ctx): ...

    with pytest.raises(StepwellError, match="already defined by stepwell"):

        @module_pass("fold-constant")
        def taken_too(module, ctx): ...


def test_a_name_is_for_one_class():
    with pytest.raises(StepwellError, match=r"pass 'mark' of .*\.second_mark is already defined by .*\.mark"):

        @module_pass("mark")
        def second_mark(module, ctx): ...


def test_the_same_class_may_be_defined_anew():
    for word in ("one", "two"):

        @module_pass("defined-twice")
        def defined_twice(module, ctx, word=word):
            note(module, word)

    (made,) = parse_pipeline("defined-twice")
    assert ran(made(parse(PROGRAM))) == "two"  # pyright: ignore


def test_a_package_may_list_its_decorated_pass_in_its_universe():
    root = __name__.partition(".")[0]
    found = plugins.Registry()
    loader = lambda: mark  # noqa: E731
    found.add_universe(Universe(all_passes={"mark": loader}), "some-package", root)
    assert found.add_pass(mark) is None and found.passes["mark"] is loader
    assert found.owner["pass", "mark"] == "some-package"


def test_wrong_classes():
    with pytest.raises(StepwellError, match=r"class Empty has no method transform_function"):

        @function_pass("empty")
        class Empty: ...

    with pytest.raises(StepwellError, match="class Thawed is a dataclass that is not frozen"):

        @module_pass("thawed")
        @dataclass
        class Thawed:
            size: int = 1

            def transform_module(self, module, ctx): ...
