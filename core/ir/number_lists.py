"""Lists of integers that attributes hold, decoded at once. xDSL asks the element type how to decode each number."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerType

_FORMATS = {8: "b", 16: "h", 32: "i", 64: "q"}


def integers_of(array: DenseArrayBase[Any]) -> tuple[int, ...]:
    """Returns `tuple(array.get_values())` of an array of integers."""
    kind = array.elt_type
    width = kind.width.data if kind.__class__ is IntegerType else 0
    return _integers(array.data.data, width) if width in _FORMATS else tuple(array.get_values())


@lru_cache(maxsize=4096)
def _integers(data: bytes, width: int) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) * 8 // width}{_FORMATS[width]}", data)
