"""Assembly formats that are read on first use parse and print as those that are read at once."""

from __future__ import annotations

from io import StringIO
from threading import Thread

import pytest
from stepwell.core.late_formats import LateFormat, late_formats
from stepwell.core.text.parsing import make_context, parse_text
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import Builtin, i32
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError


def defined(text: str) -> type[IRDLOperation]:
    @irdl_op_definition
    class Copy(IRDLOperation):
        name = "late.copy"
        source = operand_def(i32)
        copy = result_def(i32)
        assembly_format = text

    return Copy


def round_trip(op_class: type[IRDLOperation]) -> str:
    """Returns the text of an op of `op_class`, which has been parsed and printed again."""
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Dialect("late", [op_class]))
    ctx.load_op(test.TestOp)
    text = '%0 = "test.op"() : () -> i32\n%1 = late.copy %0 to here'
    module = Parser(ctx, text).parse_module()
    out = StringIO()
    Printer(out).print_op(module)
    return out.getvalue()


def test_a_late_format_is_as_an_early_one():
    with late_formats():
        late = defined("$source `to` `here` attr-dict")
    assert round_trip(late) == round_trip(defined("$source `to` `here` attr-dict"))
    assert "late.copy %0 to here" in round_trip(late)


def test_an_invalid_format_is_an_error_when_it_is_used():
    with late_formats():
        late = defined("$nothing")
    with pytest.raises(ParseError, match="expected variable to refer to"):
        round_trip(late)


def test_formats_are_late_in_blocks_of_all_threads_alone():
    seen: list[bool] = []

    def look() -> None:
        with late_formats():
            seen.append(FormatProgram.from_str is LateFormat)

    before = FormatProgram.from_str
    with late_formats():
        thread = Thread(target=look)
        thread.start()
        thread.join()
        look()
        assert FormatProgram.from_str is LateFormat
    assert seen == [True, True] and FormatProgram.from_str is before


def test_dialects_of_ours_print_what_they_parse():
    text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  func.return %x : tensor<2xf32>\n}"
    assert "func.return %x : tensor<2xf32>" in str(parse_text(make_context(), text, "<test>"))
