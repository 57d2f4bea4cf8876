"""Numbers in the text of IR: the shortest spelling that reads back exactly, and hexadecimal for bits."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn

from ...core.ir.element_types import ATTRIBUTES
from ...core.messages.articles import with_article
from ...core.text.parsing import HintedParseError

if TYPE_CHECKING:
    from xdsl.parser import Parser


def rounded(value: float, dtype: str) -> float:
    """Rounds `value` to nearest even to a float type. Values beyond its range become infinite."""
    element: Any = ATTRIBUTES[dtype]
    try:
        return element.unpack(element.pack((value,)), 1)[0]
    except OverflowError:  # struct raises where IEEE 754 rounds to infinity
        return float("inf") if value > 0 else float("-inf")


def float_text(value: float, dtype: str = "f64") -> str:
    """
    Returns the shortest literal that reads back as `value`, which is a value of the float type `dtype`.

    Infinities and NaN are spelled as their bits in hexadecimal, with the most significant digit first.
    """
    element_type = ATTRIBUTES[dtype]
    if not isfinite(value):
        return f"0x{element_type.pack((value,))[::-1].hex().upper()}"  # pyright: ignore
    literal = repr(value)
    if dtype != "f64":
        for digits in range(1, 10):
            candidate = f"{value:.{digits}g}"
            if rounded(float(candidate), dtype) == value:
                literal = repr(float(candidate))
                break
    mantissa, exponent_mark, exponent = literal.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + exponent_mark + exponent


_EXPONENT = re.compile(r"[0-9]([eE][+-]?[0-9]+)")


def parse_number(parser: Parser, wrong: Callable[[], NoReturn]) -> int | float | bytes:
    """
    Parses a literal and returns its number. It returns the digits of a hexadecimal one as bytes, least significant
    first.

    When there is no number, `wrong` raises the error that says what is expected.
    """
    spelled = parser._current_token.text  # pyright: ignore[reportPrivateUsage]
    if spelled[:2] in ("0x", "0X"):
        parser.parse_integer()
        digits = spelled[2:]
        return bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2))[::-1]
    value = parser.parse_optional_number() if spelled not in ("true", "false") else None
    if value is None:
        wrong()
    exponent = _EXPONENT.match(parser.lexer.input.content, parser.pos - 1)
    if isinstance(value, int) and exponent is not None:
        after = parser._current_token.span  # pyright: ignore[reportPrivateUsage]
        raise HintedParseError(after, "a float needs a decimal point", f"write {value}.0{exponent[1]}")
    return value


def float_of_bits(parser: Parser, data: bytes, dtype: str, start: int) -> float:
    """Returns the float of type `dtype` with the bits `data`, which the text spells at offset `start`."""
    element_type = ATTRIBUTES[dtype]
    bits = element_type.compile_time_size  # pyright: ignore
    if len(data) != bits:
        digits = f"{2 * bits} hexadecimal digits, found {2 * len(data)}"
        parser.raise_error(f"the bits of {with_article(dtype)} are {digits}", start, parser.pos)
    return element_type.unpack(data, 1)[0]  # pyright: ignore
