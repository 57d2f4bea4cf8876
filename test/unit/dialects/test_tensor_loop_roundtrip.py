"""Loop functions print and parse back, in both forms."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from hypothesis import given
from loop_programs import LoopProgram, loop_programs
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.parsing import make_context, parse_text
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer


def printed(module: ModuleOp, generic: bool = False) -> str:
    stream = StringIO()
    Printer(stream=stream, print_generic_format=generic).print_op(module)
    return stream.getvalue()


@given(loop_programs())
def test_both_forms_round_trip(program: LoopProgram):
    context = make_context()
    module = parse_text(context, program.text)
    module.verify()
    custom = printed(module)
    for text in (custom, printed(module, generic=True)):
        again = parse_text(context, text)
        again.verify()
        assert printed(again) == custom
        assert again.is_structurally_equivalent(module)


def test_names_are_kept():
    text = """\
builtin.module {
  tensor_loop.func @f(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
    tensor_loop.grid (%row) in (4) {
      tensor_loop.block "copy" spatial(%v_row in 4 = %row) reads(%A[%v_row]) writes(%B[%v_row]) {
        %x = memref.load %A[%v_row] : memref<4xf32>
        memref.store %x, %B[%v_row] : memref<4xf32>
      }
    }
  }
}"""
    assert printed(parse_text(make_context(), text)) == text


@pytest.mark.parametrize(
    ("text", "message", "marked"),
    [
        ("tensor_loop.for %i in 4 fast {}", "unknown loop kind 'fast'", "fast"),
        ("tensor_loop.grid (%i) in (4, 5) {}", "1 loop variables but 2 extents", "(4, 5)"),
        ("tensor_loop.for %i in -3 {}", "extent must be 0 or more, found -3", "-3"),
        (
            'tensor_loop.func @f(%A: memref<4xf32>) outs() { tensor_loop.block "b" reads(%A[%x]) {} }',
            "%x is not an axis of this block",
            "%x",
        ),
    ],
)
def test_errors_point_at_the_word(text: str, message: str, marked: str):
    with pytest.raises(StepwellError, match=re.escape(message)) as caught:
        parse_text(make_context(), text)
    point = caught.value.diagnostic.point
    assert point is not None
    assert text.startswith(marked, point.column - 1)
