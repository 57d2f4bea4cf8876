"""Lists of numbers are decoded as xDSL decodes them."""

from __future__ import annotations

from stepwell.core.ir.literals import i64_attribute, index_attribute
from stepwell.core.ir.number_lists import integers_of
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, IntegerAttr, IntegerType, i64


def test_integers_are_those_of_the_attribute() -> None:
    for width in (8, 16, 32, 64):
        largest = 2 ** (width - 1) - 1
        for values in ((), (0,), (1, -1, largest, -largest - 1)):
            array = DenseArrayBase.from_list(IntegerType(width), values)
            assert integers_of(array) == tuple(array.get_values()) == values
    assert integers_of(DenseArrayBase.from_list(i64, [3, DYNAMIC_INDEX])) == (3, DYNAMIC_INDEX)


def test_shared_attributes() -> None:
    assert index_attribute(-7) == IntegerAttr(-7, IndexType()) and index_attribute(-7) is index_attribute(-7)
    assert i64_attribute(7) == IntegerAttr(7, i64) and i64_attribute(7) is i64_attribute(7)
