"""Numbers in IR text that their type cannot hold, and hexadecimal ones that give the bits of a float."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, Final

from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.parser import AttrParser

_OUT_OF_RANGE: Final = re.compile(
    r"Integer value (-?\d+) is out of range for type (\S+) which supports values in the range \[(-?\d+), (-?\d+)\)"
)


class LiteralElement(AttrParser._TensorLiteralElement):
    """
    A number in `dense<…>`. A hexadecimal one of a float type gives the bits, as xDSL prints NaN and infinities. xDSL
    itself reads it as the number.
    """

    def to_type(self, parser: AttrParser, type: Any) -> Any:
        if isinstance(type, AnyFloat):
            return self._float(parser, type)
        if isinstance(type, IntegerType) and not isinstance(self.value, bool) and isinstance(self.value, int):
            low, high = type.value_range()
            if not low <= self.value < high:
                parser.raise_error(f"{self.span.text} does not fit {type}: expected {low} to {high - 1}", self.span)
        return super().to_type(parser, type)

    def _float(self, parser: AttrParser, type: Any) -> float:
        if isinstance(self.value, bool):
            parser.raise_error(f"an element of type {type} is a number, found {self.span.text}", self.span)
        if isinstance(self.value, int) and self.span.text[:2] in ("0x", "0X"):
            try:
                return type.unpack(self.value.to_bytes(type.compile_time_size, "little"), 1)[0]
            except OverflowError:
                parser.raise_error(f"{self.span.text} has more bits than {type}", self.span)
        value = self.to_float(parser)
        if is_too_large(value, type):
            parser.raise_error(f"{self.span.text} is too large for {type}", self.span)
        return value


def is_too_large(value: float, type: AnyFloat) -> bool:
    """Returns whether a number that is written in digits becomes an infinity or a NaN in a float type."""
    try:
        return not isfinite(value) or not isfinite(type.unpack(type.pack((value,)), 1)[0])
    except OverflowError:  # struct raises where IEEE 754 rounds to infinity
        return True
    except NotImplementedError:  # xDSL does not store numbers of all types.
        return False


def number_out_of_range(error: Exception, text: str) -> tuple[str, int, int] | None:
    """
    Returns the message of an integer or float that its type cannot hold, and from where to where it stands in `text`.
    Returns `None` for an error that is none of these, or when the number is not found.
    """
    found = _OUT_OF_RANGE.match(str(error))
    if not (found or isinstance(error, OverflowError)):
        return None
    if found:
        number = re.escape(found[1])
        message = f"{found[1]} does not fit {found[2]}: expected {found[3]} to {int(found[4]) - 1}"
    else:
        number, message = r"-?\d+\.\d*([eE][-+]?\d+)?", "the number is too large for its type"
    places = [*re.finditer(number, text)]
    if not places:
        return None
    return message, *places[-1].span()
