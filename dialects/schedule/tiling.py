"""The attribute by which a schedule says how a contraction is cut into register tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .fields import parse_fields

_FLAGS = ("packed", "panels_outside", "rows_ahead")
FIELDS = ("rows", "columns", "packed", "parts", "panels", "panels_outside", "rows_ahead")
"""The fields in the order in which they are printed."""


@irdl_attr_definition
class TilingAttr(ParametrizedAttribute):
    """
    Says how `schedule-cpu` and `prepack-weights` cut up the contraction of the block that has it as `stepwell.tiling`.
    It replaces the rules of docs/targets.md.

        #schedule.tiling<rows = 6, columns = 64, packed, parts = 4, panels = 8, panels_outside,
            rows_ahead>

    * `rows` x `columns` elements of the result are summed up in registers at once.
    * `packed`: b is first copied into panels of that width.
    * `parts`: k is cut into as many parts of the same size, 1 when left out.
    * `panels`: b is cut into blocks of as many panels. When left out, one block has all of them, which is kept as 0.
    * `panels_outside`: the loop over panels is outside the loop over rows.
    * `rows_ahead`: the rows of a that the next tile reads are prefetched.

    docs/tuning.md says which numbers fit which contraction.
    """

    name = "schedule.tiling"

    rows: IntAttr
    columns: IntAttr
    packed: IntAttr
    parts: IntAttr
    panels: IntAttr
    panels_outside: IntAttr
    rows_ahead: IntAttr

    @classmethod
    def of(
        cls,
        rows: int,
        columns: int,
        packed: bool = False,
        parts: int = 1,
        panels: int | None = None,
        panels_outside: bool = False,
        rows_ahead: bool = False,
    ) -> Self:
        """Makes the attribute with these numbers. `panels` is `None` for all."""
        return cls(
            IntAttr(rows),
            IntAttr(columns),
            IntAttr(int(packed)),
            IntAttr(parts),
            IntAttr(0 if panels is None else panels),
            IntAttr(int(panels_outside)),
            IntAttr(int(rows_ahead)),
        )

    def verify(self) -> None:
        for name, least in (("rows", 1), ("columns", 1), ("parts", 1), ("panels", 0)):
            found = getattr(self, name).data
            if found < least:
                raise VerifyException(f"'{self.name}' has {name} = {found}, expected at least {max(least, 1)}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        found = parse_fields(parser, "a tiling", FIELDS, _FLAGS, ("rows", "columns"))
        defaults = {"packed": 0, "parts": 1, "panels": 0, "panels_outside": 0, "rows_ahead": 0}
        values = defaults | found
        return [IntAttr(values[name]) for name in FIELDS]

    def print_parameters(self, printer: Printer) -> None:
        words = [f"rows = {self.rows.data}", f"columns = {self.columns.data}"]
        if self.packed.data:
            words.append("packed")
        if self.parts.data != 1:
            words.append(f"parts = {self.parts.data}")
        if self.panels.data:
            words.append(f"panels = {self.panels.data}")
        if self.panels_outside.data:
            words.append("panels_outside")
        if self.rows_ahead.data:
            words.append("rows_ahead")
        printer.print_string(f"<{', '.join(words)}>")
