"""Locations: where the parser puts them, how they are read, copied and printed."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from stepwell.core.messages.locations import (
    LineCounter,
    LocationFactory,
    copy_location,
    location_string,
    nearest_source_point,
    source_directory,
    source_point,
)
from stepwell.core.text.parsing import parse
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Operation
from xdsl.printer import Printer

PROGRAM = """// a comment

func.func @main(%x: i32,
                %y: i32) -> i32 {
  %a = arith.addi %x, %y : i32
  %b = scf.execute_region -> (i32) {
    %c = "arith.muli"(%a,
      %y) : (i32, i32) -> i32
    scf.yield %c : i32
  }
  %d = arith.addi %b, %b : i32 loc("written.py":7:9)
  cf.br ^next(%d : i32)
^next(%e: i32):
  func.return %e : i32
}
"""


def at(file: str, line: int, column: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def op_named(module: ModuleOp, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


@pytest.fixture
def module() -> ModuleOp:
    return parse(PROGRAM)


@pytest.mark.parametrize(
    "name, place",
    [
        ("builtin.module", "<text>:3:1"),
        ("func.func", "<text>:3:1"),
        ("arith.addi", "<text>:5:3"),
        ("scf.execute_region", "<text>:6:3"),
        ("arith.muli", "<text>:7:5"),
        ("scf.yield", "<text>:9:5"),
        ("func.return", "<text>:14:3"),
    ],
)
def test_ops_get_the_place_of_their_first_character(module: ModuleOp, name: str, place: str):
    assert location_string(op_named(module, name)) == place


def test_a_written_location_is_kept(module: ModuleOp):
    written = [op for op in module.walk() if source_point(op.location) == ("written.py", 7, 9)]
    assert [op.name for op in written] == ["arith.addi"]


def test_block_arguments_get_locations(module: ModuleOp):
    entry, following = op_named(module, "func.func").regions[0].blocks
    assert [source_point(argument.location) for argument in entry.args] == [
        ("<text>", 3, 17),
        ("<text>", 4, 17),
    ]
    assert [source_point(argument.location) for argument in following.args] == [("<text>", 13, 7)]


def test_locations_survive_a_print_and_parse(module: ModuleOp):
    stream = StringIO()
    Printer(stream=stream, print_debuginfo=True).print_op(module)
    again = parse(stream.getvalue())
    assert [op.location for op in again.walk()] == [op.location for op in module.walk()]


def test_cheap_locations_equal_constructed_ones():
    made = LocationFactory("f.mlir", "ab\ncd").at(4)
    assert made == at("f.mlir", 2, 2) and hash(made) == hash(at("f.mlir", 2, 2))
    assert str(made) == 'loc("f.mlir":2:2)'


def test_line_counter_agrees_with_counting_from_the_start():
    text = "\n\nab\r\n c\n\nd"
    for order in (range(len(text) + 1), reversed(range(len(text) + 1)), (5, 2, 9, 0, 7)):
        counter = LineCounter(text, line_offset=10)
        for offset in order:
            before = text[:offset]
            expected = (11 + before.count("\n"), offset - (before.rfind("\n") + 1) + 1)
            assert counter.line_and_column(offset) == expected


@pytest.mark.parametrize(
    "location, expected",
    [
        (UnknownLoc(), None),
        (at("a", 1, 2), ("a", 1, 2)),
        (NameLoc(StringAttr("n"), at("a", 1, 2)), ("a", 1, 2)),
        (NameLoc(StringAttr("n"), NoneAttr()), None),
        (CallSiteLoc(at("a", 1, 2), at("b", 3, 4)), ("a", 1, 2)),
        (CallSiteLoc(UnknownLoc(), at("b", 3, 4)), ("b", 3, 4)),
        (FusedLoc((UnknownLoc(), at("b", 3, 4), at("c", 5, 6)), NoneAttr()), ("b", 3, 4)),
    ],
)
def test_source_point(location, expected):
    assert source_point(location) == expected


def test_copy_location_keeps_one_that_is_there(module: ModuleOp):
    source = op_named(module, "arith.addi")
    new = arith.ConstantOp.from_int_and_width(1, 32)
    copy_location(source, new)
    assert new.location == source.location
    copy_location(op_named(module, "func.return"), new)
    assert new.location == source.location


def test_an_op_without_location_is_found_by_what_is_around_it(module: ModuleOp):
    inner = op_named(module, "arith.muli")
    inner.location = UnknownLoc()
    assert nearest_source_point(inner) == ("<text>", 6, 3)
    assert location_string(arith.ConstantOp.from_int_and_width(1, 32)) == "unknown"


def test_source_directory(tmp_path: Path, module: ModuleOp):
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    assert source_directory(parse(path)) == tmp_path
    assert source_directory(module) is None
