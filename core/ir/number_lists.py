"""
Lists of integers that attributes hold, decoded and encoded at once. xDSL asks the element type about each number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64

_FORMATS = {8: "b", 16: "h", 32: "i", 64: "q"}


def i64_array(values: Iterable[int]) -> DenseArrayBase[IntegerType]:
    """Returns `array<i64: values>`, shared."""
    return _array(tuple(values))


@lru_cache(maxsize=4096)
def _array(values: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i64, values)


def integers_of(array: DenseArrayBase[Any]) -> tuple[int, ...]:
    """Returns `tuple(array.get_values())` of an array of integers."""
    kind = array.elt_type
    width = kind.width.data if kind.__class__ is IntegerType else 0
    return _integers(array.data.data, width) if width in _FORMATS else tuple(array.get_values())


@lru_cache(maxsize=4096)
def _integers(data: bytes, width: int) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) * 8 // width}{_FORMATS[width]}", data)
