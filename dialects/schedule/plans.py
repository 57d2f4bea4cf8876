"""
Attributes by which a plan chooses for kernels that are not cut into register tiles of a product, and for the grids that
such kernels take up (docs/schedules.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .choices import Numbers

_VECTORIZED = "vectorized"


@irdl_attr_definition
class FlatRowsAttr(Numbers):
    """
    Has `apply-schedule-plan` compute a depthwise convolution on flattened rows, by vectors that run on from one pixel
    to the next. A column of vectors goes down `rows` rows of the result, cut to the result.

        #schedule.flat_rows<rows = 32>
    """

    name = "schedule.flat_rows"

    rows: IntAttr


@irdl_attr_definition
class TransposeAttr(Numbers):
    """
    Has `apply-schedule-plan` copy tiles of 16x16 elements that are transposed in registers, `side` tiles side by side
    in the source at a time.

        #schedule.transpose<side = 4>
    """

    name = "schedule.transpose"

    side: IntAttr


@irdl_attr_definition
class OrderAttr(ParametrizedAttribute):
    """
    Has `apply-schedule-plan` make single loops of a grid, and run the innermost one on vectors where it is
    `vectorized`. `loops` are the numbers of the loops of the grid, outermost first.

        #schedule.order<[0, 2, 1], vectorized>
    """

    name = "schedule.order"

    loops: ArrayAttr[IntAttr]
    vectorized: IntAttr

    @classmethod
    def of(cls, loops: Sequence[int], vectorized: bool) -> Self:
        """Makes the attribute with these numbers of loops."""
        return cls(ArrayAttr(IntAttr(number) for number in loops), IntAttr(int(vectorized)))

    @property
    def numbers(self) -> tuple[int, ...]:
        """Returns the numbers of the loops, outermost first."""
        return tuple(number.data for number in self.loops)

    def verify(self) -> None:
        if sorted(self.numbers) != list(range(len(self.numbers))):
            raise VerifyException(f"'{self.name}' has loops {list(self.numbers)}, expected each number from 0 once")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            loops = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: IntAttr(parser.parse_integer(allow_boolean=False))
            )
            vectorized = parser.parse_optional_punctuation(",") is not None
            if vectorized:
                parser.parse_keyword(_VECTORIZED)
        return [ArrayAttr(loops), IntAttr(int(vectorized))]

    def print_parameters(self, printer: Printer) -> None:
        word = f", {_VECTORIZED}" if self.vectorized.data else ""
        printer.print_string(f"<[{', '.join(map(str, self.numbers))}]{word}>")


class _TakenUp(ParametrizedAttribute):
    """An attribute of a block that another one takes up, by the name of that one."""

    block: StringAttr

    @classmethod
    def of(cls, block: str) -> Self:
        """Makes the attribute with the name of the block that takes this one up."""
        return cls(StringAttr(block))


@irdl_attr_definition
class OnTilesAttr(_TakenUp):
    """
    Has `prepack-weights` and `apply-schedule-plan` compute a block on the register tiles of the block before it, which
    it names, before they are stored.

        #schedule.on_tiles<"matmul">
    """

    name = "schedule.on_tiles"

    block: StringAttr


@irdl_attr_definition
class LeftOutAttr(_TakenUp):
    """
    Has `prepack-weights` and `apply-schedule-plan` drop a block that makes a padded copy. The block after it, which it
    names, reads the image itself.

        #schedule.left_out<"conv2d">
    """

    name = "schedule.left_out"

    block: StringAttr
