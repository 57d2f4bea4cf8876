"""
The loops of `graph.pool_regions`.

The first and the last row and column that count are found first, once for each row and column of cells. Then each cell
is summed up over these, a vector of channels at a time.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ...core.roles import UNCHECKED
from ...lazy_dataclass import dataclass
from .indexing_loops import position_lines
from .templates import block_head, buffer, static


def pool_regions_loops(op: Operation) -> str:
    """Returns the loop function of a `graph.pool_regions`."""
    image, dtype = static(op.operands[0])
    images, index_dtype = static(op.operands[1])
    rows, _ = static(op.operands[2])
    columns, _ = static(op.operands[3])
    largest = op.properties["reduction"].data == "max"  # pyright: ignore[reportAttributeAccessIssue]
    return _Regions(image, images, rows, columns, dtype, index_dtype, largest, op.name).text()


@dataclass
class _Regions:
    """Writes the loop function."""

    image: tuple[int, ...]
    images: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    dtype: str
    index_dtype: str
    largest: bool
    name: str

    def text(self) -> str:
        given = (
            f"%x: {buffer(self.image, self.dtype)}, %images: {buffer(self.images, self.index_dtype)}, "
            f"%rows: {buffer(self.rows, self.dtype)}, %columns: {buffer(self.columns, self.dtype)}"
        )
        return "\n".join(
            [
                f"tensor_loop.func @pool_regions({given}) outs(%y: {self.result}) {{",
                *self._bounds("rows", self.rows),
                *self._bounds("columns", self.columns),
                *self._cells(),
                "}",
            ]
        )

    @property
    def result(self) -> str:
        return buffer((*self.rows[:2], self.columns[1], self.image[3]), self.dtype)

    def _bounds(self, name: str, shape: tuple[int, ...]) -> list[str]:
        """Returns the lines that find the first weight that is not 0, and the place after the last one."""
        cells, size = shape[:2], shape[2]
        head, axes = block_head(cells, f"bounds_of_{name}", [False, False])
        at, bounds = ", ".join(axes), buffer(cells, "i64")
        return [
            f"%first_of_{name} = tensor_loop.alloc : {bounds}",
            f"%end_of_{name} = tensor_loop.alloc : {bounds}",
            *head,
            *_constants(zero=0, one=1, size=size),
            f"%none = arith.constant 0.0 : {self.dtype}",
            "%first, %end = scf.for %k = %zero to %size step %one "
            "iter_args(%f = %size, %e = %zero) -> (index, index) {",
            f"%weight = memref.load %{name}[{at}, %k] : {buffer(shape, self.dtype)}",
            f"%counts = arith.cmpf une, %weight, %none : {self.dtype}",
            "%earlier = arith.minsi %f, %k : index",
            "%next = arith.addi %k, %one : index",
            "%f_next = arith.select %counts, %earlier, %f : index",
            "%e_next = arith.select %counts, %next, %e : index",
            "scf.yield %f_next, %e_next : index, index",
            "}",
            "%first_wide = arith.index_cast %first : index to i64",
            "%end_wide = arith.index_cast %end : index to i64",
            f"memref.store %first_wide, %first_of_{name}[{at}] : {bounds}",
            f"memref.store %end_wide, %end_of_{name}[{at}] : {bounds}",
            "} }",
        ]

    def _cells(self) -> list[str]:
        """Returns the lines that sum up the cells."""
        head, axes = block_head((*self.rows[:2], self.columns[1]), "cells", [False, False, False])
        # The bounds are data. They lie in the image, which linear forms do not tell.
        head[-1] = f"{head[-1].removesuffix('{')}attributes {{{UNCHECKED}}} {{"
        region, row, column = axes
        kind = self.dtype
        return [
            *head,
            *_constants(zero=0, one=1, channels=self.image[3]),
            f"%none = arith.constant 0.0 : {kind}",
            f"%i0 = memref.load %images[{region}] : {buffer(self.images, self.index_dtype)}",
            *position_lines(0, self.image[0], self.index_dtype, self.name),
            *self._loaded_bounds("rows", self.rows, f"{region}, {row}"),
            *self._loaded_bounds("columns", self.columns, f"{region}, {column}"),
            *self._start(f"{region}, {row}, {column}"),
            "scf.for %h = %first_rows to %end_rows step %one {",
            f"%row_weight = memref.load %rows[{region}, {row}, %h] : {buffer(self.rows, kind)}",
            "scf.for %w = %first_columns to %end_columns step %one {",
            f"%column_weight = memref.load %columns[{region}, {column}, %w] : {buffer(self.columns, kind)}",
            f"%row_counts = arith.cmpf une, %row_weight, %none : {kind}",
            f"%column_counts = arith.cmpf une, %column_weight, %none : {kind}",
            "%both_count = arith.andi %row_counts, %column_counts : i1",
            "scf.if %both_count {",
            *([] if self.largest else [f"%weight = arith.mulf %row_weight, %column_weight : {kind}"]),
            *self._pixel(f"{region}, {row}, {column}"),
            "}",
            "}",
            "}",
            "} }",
        ]

    def _loaded_bounds(self, name: str, shape: tuple[int, ...], at: str) -> list[str]:
        return [
            line
            for bound in ("first", "end")
            for line in (
                f"%{bound}_{name}_wide = memref.load %{bound}_of_{name}[{at}] : {buffer(shape[:2], 'i64')}",
                f"%{bound}_{name} = arith.index_cast %{bound}_{name}_wide : i64 to index",
            )
        ]

    def _start(self, at: str) -> list[str]:
        """Returns the lines that store what a cell starts from. An empty one stays at 0."""
        start = [f"%start = arith.constant 0.0 : {self.dtype}"]
        if self.largest:
            lowest = "0xFF800000" if self.dtype == "f32" else "0xFFF0000000000000"
            start = [
                "%has_rows = arith.cmpi slt, %first_rows, %end_rows : index",
                "%has_columns = arith.cmpi slt, %first_columns, %end_columns : index",
                "%has_pixels = arith.andi %has_rows, %has_columns : i1",
                f"%lowest = arith.constant {lowest} : {self.dtype}",
                f"%start = arith.select %has_pixels, %lowest, %none : {self.dtype}",
            ]
        return [
            *start,
            "scf.for %c = %zero to %channels step %one {",
            f"memref.store %start, %y[{at}, %c] : {self.result}",
            '} {stepwell.loop = "vectorize"}',
        ]

    def _pixel(self, at: str) -> list[str]:
        """Returns the lines that add a pixel to a cell."""
        kind = self.dtype
        combined = [f"%new = arith.maximumf %old, %value : {kind}"]
        if not self.largest:
            combined = [
                f"%term = arith.mulf %weight, %value fastmath<contract> : {kind}",
                f"%new = arith.addf %old, %term fastmath<contract> : {kind}",
            ]
        return [
            "scf.for %c = %zero to %channels step %one {",
            f"%value = memref.load %x[%p0, %h, %w, %c] : {buffer(self.image, kind)}",
            f"%old = memref.load %y[{at}, %c] : {self.result}",
            *combined,
            f"memref.store %new, %y[{at}, %c] : {self.result}",
            '} {stepwell.loop = "vectorize"}',
        ]


def _constants(**numbers: int) -> list[str]:
    return [f"%{name} = arith.constant {number} : index" for name, number in numbers.items()]
