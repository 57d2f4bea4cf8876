"""AUDIT G5, G9: where messages of the parser and the verifier point, and their words."""

from __future__ import annotations

import pytest
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import Diagnostic, StepwellError, render
from stepwell.core.text.parsing import parse

FUNCTION = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  {}\n  func.return %x : tensor<4xf32>\n}}\n"


def failure(text: str) -> list[str]:
    with pytest.raises((StepwellError, VerificationError)) as caught:
        parse(text)
    return str(caught.value).split("\n")


@pytest.mark.parametrize(
    ("line", "place", "message", "marked"),
    [
        ("%c = arith.constant 300 : i8", "2:23", "300 does not fit i8: expected -128 to 255", "300"),
        (
            '"test.op"() {a = 99999999999999999999 : i64} : () -> ()',
            "2:20",
            "99999999999999999999 does not fit i64: expected -9223372036854775808 to 18446744073709551615",
            "99999999999999999999",
        ),
        (
            "%c = graph.constant dense<[1, 300]> : tensor<2xi8>",
            "2:33",
            "300 does not fit i8: expected -128 to 255",
            "300",
        ),
        (
            '"test.op"() {a = "bad \\q escape"} : () -> ()',
            "2:25",
            "'\\q' is no escape of a string, expected \\n, \\t, \\\\, \\\" or two hexadecimal digits",
            "\\q",
        ),
        ('"test.op"() {a = "new\nline"} : () -> ()', "2:20", "the string does not end in its line", '"new'),
        ('"test.op"() {a = "new', "2:20", "the string does not end in its line", '"new'),
        (
            "%c = graph.constant dense<[1.0e6]> : tensor<1xf16>",
            "2:30",
            "1.0e6 is too large for f16",
            "1.0e6",
        ),
        ("%c = arith.constant 1.0e6 : f16", "2:23", "the number is too large for its type", "1.0e6"),
        (
            "%c = graph.constant dense<true> : tensor<4xf32>",
            "2:29",
            "an element of type f32 is a number, found true",
            "true",
        ),
        (
            "%c = graph.full 1.0 : tensor<99999999999999999999xf32>",
            "2:32",
            "an extent is at most 9223372036854775807, found 99999999999999999999",
            "99999999999999999999",
        ),
        (
            "%c = graph.full 1.0 : tensor<4294967296x4294967296xf32>",
            "2:32",
            "a tensor spans fewer than 2**63 bytes, which tensor<4294967296x4294967296xf32> exceeds",
            "4294967296x4294967296xf32",
        ),
        (
            "%i = schedule.get_loops %x : 18446744073709551616",
            "2:32",
            "schedule.get_loops makes at most 1024 results, found 18446744073709551616",
            "18446744073709551616",
        ),
        (
            "%b = arith.constant true %c = arith.addf %b, %b : i1",
            "2:28",
            "'arith.addf': type i1 is not one that this op takes",
            "%",
        ),
        ("\0", "2:3", "Unexpected character: \\x00", " "),
        ("\u200b%y = graph.relu %x : tensor<4xf32>", "2:3", "Unexpected character: \\u200b", " "),
    ],
)
def test_an_error_of_the_parser_points_at_its_cause(line: str, place: str, message: str, marked: str):
    first, source, carets, *_ = failure(FUNCTION.format(line))
    assert first == f"<text>:{place}: error: {message}"
    column = carets.index("^")
    assert source[column : column + len(carets.strip())] == marked


def test_a_constant_with_a_broken_element_is_measured_in_bytes():
    digits = "0000C07F" * 4 + "0000"
    line = f'%c = graph.constant dense<"0x{digits}"> : tensor<4xf32>'
    message = "'graph.constant': the constant holds 18 bytes, expected 16 for tensor<4xf32>"
    assert failure(FUNCTION.format(line))[0] == f"<text>:2:3: error: {message}"


def test_a_symbol_that_is_defined_twice_is_shown_where_it_is_again():
    text = FUNCTION.format("")
    message = "'func.func': symbol @main is defined twice, first at line 1"
    assert failure(text + text)[0] == f"<text>:5:1: error: {message}"


def test_a_value_from_outside_is_shown_where_it_is_used():
    text = '%q = "test.op"() : () -> tensor<4xf32>\n' + FUNCTION.format(
        "%y = graph.relu %q : (tensor<4xf32>) -> tensor<4xf32>"
    )
    message = "'graph.relu': operand 0 (%q) is defined at line 1, outside of the 'func.func' around the op"
    assert failure(text)[0] == f"<text>:3:3: error: {message}"


def test_what_a_screen_does_not_show_is_escaped():
    assert render(Diagnostic("a\0b\u200bc é\nd", hint="\x1b[2J")) == "error: a\\x00b\\u200bc é\nd\nhint: \\x1b[2J"
