"""The article before a word that a message takes from the program."""

from __future__ import annotations

import re
from typing import Final

_VOWEL: Final = re.compile(r"'?([aeio]|u(?!ni|se|i\d|int)|f\d|ndarray)", re.IGNORECASE)
"""What begins with the sound of a vowel, as it is read aloud: an f32, an unsigned type, but a uint8."""


def with_article(words: str) -> str:
    """Returns `words` with `a` or `an` before them, as they are spoken: `an i32`, `a bf16`, `an 'arith.addi'`."""
    return f"{'an' if _VOWEL.match(words) else 'a'} {words}"


def quoted(name: str) -> str:
    """Returns the name of an op in quotes, with `a` or `an` before it."""
    return with_article(f"'{name}'")
