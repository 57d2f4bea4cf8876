"""
Attributes by which a schedule chooses tile sizes for depthwise convolutions, Winograd's filtering and products of
bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .fields import one, parse_fields


class Numbers(ParametrizedAttribute):
    """An attribute of positive numbers, `#name<field = 1, ...>`, all of which must be given."""

    @classmethod
    def fields(cls) -> tuple[str, ...]:
        """Returns the names of the numbers, in the order in which they are printed."""
        return tuple(name for name, _ in cls.get_irdl_definition().parameters)

    @classmethod
    def of(cls, *numbers: int) -> Self:
        """Makes the attribute with these numbers, in the order of `fields`."""
        return cls(*(IntAttr(number) for number in numbers))

    @property
    def numbers(self) -> tuple[int, ...]:
        """Returns the numbers in the order of `fields`."""
        return tuple(getattr(self, name).data for name in self.fields())

    def verify(self) -> None:
        for name, found in zip(self.fields(), self.numbers, strict=True):
            least = self.least_of(name)
            if found < least:
                raise VerifyException(f"'{self.name}' has {name} = {found}, expected at least {least}")

    @classmethod
    def least_of(cls, name: str) -> int:
        """Returns the least number that a field may hold."""
        return one(name)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        known = cls.fields()
        found = parse_fields(parser, f"#{cls.name}", known, (), known, cls.least_of)
        return [IntAttr(found[name]) for name in known]

    def print_parameters(self, printer: Printer) -> None:
        words = (f"{name} = {number}" for name, number in zip(self.fields(), self.numbers, strict=True))
        printer.print_string(f"<{', '.join(words)}>")


@irdl_attr_definition
class DepthwiseAttr(Numbers):
    """
    Says how `schedule-cpu` cuts up the depthwise convolution of the block that has it as `stepwell.tiling`. It replaces
    the rules of docs/targets.md.

    A register tile has `rows` x `pixels` elements, each a vector of channels. It is cut to the image where that is
    smaller.

        #schedule.depthwise<rows = 3, pixels = 4>
    """

    name = "schedule.depthwise"

    rows: IntAttr
    pixels: IntAttr


@irdl_attr_definition
class WinogradAttr(Numbers):
    """
    Has `prepack-weights` compute a convolution by Winograd's filtering, whether the rules of docs/targets.md would or
    not. The block of the convolution has it as `stepwell.tiling`.

    The squares of `images` images, or of `rows` rows of squares of one image, are worked on at once. Their products are
    summed up in register tiles of `tile_rows` squares x `tile_columns` channels, cut to the sizes that there are.

        #schedule.winograd<images = 1, rows = 7, tile_rows = 12, tile_columns = 32>
    """

    name = "schedule.winograd"

    images: IntAttr
    rows: IntAttr
    tile_rows: IntAttr
    tile_columns: IntAttr


@irdl_attr_definition
class DotsAttr(Numbers):
    """
    Has `schedule-cpu` and `prepack-weights` compute a product of bytes by dot products of four bytes in vector
    registers, even where there are tile registers. The block of the product has it as `stepwell.tiling`.

    There are `rows` x `columns` sums at once, cut to the result.

        #schedule.dots<rows = 6, columns = 64>
    """

    name = "schedule.dots"

    rows: IntAttr
    columns: IntAttr


@irdl_attr_definition
class PackedAttr(Numbers):
    """
    Has `prepack-weights` compute a product with packed weights by products of bytes or of floats. The block of the
    product has it as `stepwell.tiling`.

    Weights are unpacked in registers. A number of the left operand is an integer of `parts` times 8 bits, in a unit
    that the greatest of its neighbours says. There are `rows` x `columns` sums of each part at once, cut to the result.
    With 0 parts numbers stay as they are, and the weights of `columns` columns at a time become floats in memory.

        #schedule.packed<rows = 1, columns = 64, parts = 3>
    """

    name = "schedule.packed"

    rows: IntAttr
    columns: IntAttr
    parts: IntAttr

    @classmethod
    def least_of(cls, name: str) -> int:
        return 0 if name == "parts" else 1


@irdl_attr_definition
class TileRegistersAttr(Numbers):
    """
    Has `schedule-cpu` and `prepack-weights` compute a product on tile registers (AMX), `panels` panels of b at a time.
    The block of the product has it as `stepwell.tiling`.

        #schedule.tile_registers<panels = 4>
    """

    name = "schedule.tile_registers"

    panels: IntAttr
