"""Our lexer finds the tokens that xDSL's finds, and its errors."""

from __future__ import annotations

import pytest
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core.text.lexing import StepwellLexer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind


def tokens(lexer: type[MLIRLexer], text: str) -> list[object]:
    """
    Kind, start and end of each token; the message and place of the error that ends them. Of a wrong string it only says
    that it is wrong: ours says why (test_places.py).
    """
    found: list[object] = []
    current = lexer(Input(text, "given"))
    try:
        while True:
            token = current.lex()
            found.append((token.kind, token.span.start, token.span.end))
            if token.kind is MLIRTokenKind.EOF:
                return found
    except ParseError as error:
        if "string" in error.msg:
            return [*found, "wrong string"]
        return [*found, (error.msg, error.span.start, error.span.end)]


PIECES = [
    *(" ", "\n", "\t", "\r\n", "\f", "// text\n", "//", "/", "\u00a0"),
    *(
        "->",
        "-",
        ">",
        "-1",
        "{",
        "{-#",
        "{-",
        "#-}",
        "}",
        "...",
        ".",
        "(",
        ")",
        "[",
        "]",
        "<",
        "=",
        "+",
        "*",
        "?",
        "|",
        ":",
        "::",
        ",",
    ),
    *(
        "a",
        "_b.c$",
        "f32",
        "4x8xf32",
        "0x1F",
        "é",
        "aé",
        "%",
        "%a-b",
        "%0a",
        "%$",
        "%é",
        "#map",
        "!t",
        "^bb0",
        "@f",
        '@"f g"',
        "@1",
    ),
    *("1", "1.5e3", '"text"', '"\\"', '"\\00\\n"', '"open', "&", "\\"),
]


@settings(max_examples=3000 if FULL else 150, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.characters(max_codepoint=0x250), max_size=12).map("".join))
def test_any_text(text: str) -> None:
    assert tokens(StepwellLexer, text) == tokens(MLIRLexer, text)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("after", ["", " ", "x", "1", ">", "-", "#"])
def test_each_piece(piece: str, after: str) -> None:
    assert tokens(StepwellLexer, piece + after) == tokens(MLIRLexer, piece + after)
