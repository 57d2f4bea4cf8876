"""The article before a word of a message."""

from __future__ import annotations

import pytest
from stepwell.core.messages.articles import quoted, with_article


@pytest.mark.parametrize(
    "word", ["int", "i32", "f32", "unsigned integer", "integer", "ndarray", "index", "'arith.addi'"]
)
def test_an(word: str) -> None:
    assert with_article(word) == f"an {word}"


@pytest.mark.parametrize(
    "word", ["bf16", "uint8", "ui8", "float", "list", "function", "'func.func'", "user", "numpy.ndarray"]
)
def test_a(word: str) -> None:
    assert with_article(word) == f"a {word}"


def test_ops_are_quoted() -> None:
    assert quoted("affine.apply") == "an 'affine.apply'"
