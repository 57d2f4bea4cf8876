"""
Finds chains of kernels that work row by row: a product, maps and reductions of its rows, and a product of the result.

Attention is such a chain: `softmax(q @ k^T) @ v`. A row of the result needs one row of each buffer between. So a strip
of a few rows can go through all kernels while it is in a cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from ...analysis.access_regions import Access, body_accesses
from ...analysis.loop_nests import body_ops, levels_of, perfect_block
from ...analysis.ranges.races import root_of
from ...analysis.ranges.spans import may_touch, touches
from ...analysis.reorder import may_reorder
from ...core.ir.walk import walk
from ...dialects.tensor_loop import AllocOp, BlockOp, FuncOp, GridOp
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Contraction, bound_in_order, contraction_of
from ..kernels.epilogue import epilogue_of, following_grid

Dimensions = tuple[int | None, ...]
"""The row axis that moves in each dimension of a buffer, `None` where none does."""


@dataclass(frozen=True)
class Link:
    """One kernel of a chain."""

    grid: GridOp
    block: BlockOp
    rows: Mapping[int, int]
    """The axes of the block that are rows, with the number of the row axis that each is."""


@dataclass(frozen=True)
class Chain:
    """
    Kernels after each other of which each needs one row of what those before it made. Row axes are numbered as the
    dimensions of the first product.
    """

    links: tuple[Link, ...]
    first: Contraction
    second: Contraction
    last: int
    """The number of the link that is the second product. One link may follow, which maps its result."""
    sizes: Mapping[int, int]
    """The extents of the row axes."""
    strip: int
    """The row axis that is cut into strips."""
    buffers: Mapping[SSAValue, Dimensions]
    """The temporaries between the products."""


def chain_of(function: FuncOp, start: BlockOp | None = None, is_open: bool = False) -> Chain | None:
    """
    Returns the first chain of a function, or that which begins at the block `start`, `None` where there is none. With
    `is_open` the grid after it may need temporaries of the chain too.
    """
    grids = [op for op in body_ops(function.body.block) if not isinstance(op, AllocOp)]
    for number, op in enumerate(grids):
        if start is not None and not op.is_ancestor(start):
            continue
        c = contraction_of(op) if isinstance(op, GridOp) else None
        if c is not None and (found := _Finder(c, grids[number:], is_open).run()) is not None:
            return found
    return None


class _Finder:
    """A chain in the making, from its first product on."""

    def __init__(self, first: Contraction, ops: list[Operation], is_open: bool):
        self.first = first
        self.is_open = is_open
        self.ops = ops
        self.links: list[Link] = []
        self.buffers: dict[SSAValue, Dimensions] = {}
        self.sizes: dict[int, int] = {}

    def run(self) -> Chain | None:
        strip = self._start()
        if strip is None:
            return None
        for op in self.ops[1:]:
            block = perfect_block(levels_of(op)) if isinstance(op, GridOp) else None
            if block is None or not isinstance(op, GridOp) or not _is_plain(op, block):
                if not self._stands_apart(op):
                    return None
                continue
            if self._is_apart(block):
                continue
            second = contraction_of(op)
            rows = self._rows_of(block)
            if rows is None:
                return None
            self.links.append(Link(op, block, rows))
            if second is not None:
                return self._ended(second, strip)
            if not self._written(block, rows):
                return None
        return None

    def _start(self) -> int | None:
        """Begins with the first product. Returns the row axis that is its m, `None` where no chain can begin."""
        c = self.first
        dimensions: list[int | None] = []
        rows: dict[int, int] = {}
        for number, index in enumerate(c.out.indices):
            axis = index.position if isinstance(index, AffineDimExpr) else None
            if axis is None and not isinstance(index, AffineConstantExpr):
                return None
            if axis is None or axis == c.n or c.extents[axis] == 1:
                dimensions.append(None)
                continue
            dimensions.append(number)
            rows[axis] = number
            self.sizes[number] = c.extents[axis]
        if c.m not in rows or c.reduce or c.a.padding is not None or not _is_temporary(c.out.buffer):
            return None
        if set(rows) != {axis for axis in (c.m, *c.outer) if c.extent(axis) > 1}:
            return None
        self.buffers[c.out.buffer] = tuple(dimensions)
        self.links.append(Link(c.grid, c.block, rows))
        return rows[c.m]

    def _is_apart(self, block: BlockOp) -> bool:
        """Returns whether a kernel may run before the chain: it touches none of its temporaries, nor what it reads."""
        accesses = list(_accesses(block))
        if any(access.buffer in self.buffers for access in accesses):
            return False
        written = {access.buffer for access in accesses if access.is_store}
        return not any(access.buffer in written for link in self.links for access in _accesses(link.block))

    def _stands_apart(self, op: Operation) -> bool:
        """
        Returns the same of any other op.

        A product of weights that are laid out is loops by now (`prepack-weights`), and was a grid for the plan.
        """
        used, written = set[SSAValue](), set[SSAValue]()
        for each in walk(op):
            buffers = [operand for operand in each.operands if isinstance(operand.type, MemRefType)]
            if buffers and not isinstance(each, BlockOp) and not may_touch(each.__class__):
                return False
            used.update(map(root_of, buffers))
            written.update(root_of(touch.buffer) for touch in touches(each) if touch.is_store)
        read = {root_of(access.buffer) for link in self.links for access in _accesses(link.block)}
        return used.isdisjoint(self.buffers) and written.isdisjoint(read)

    def _rows_of(self, block: BlockOp) -> dict[int, int] | None:
        """Returns which axes are rows, from how `block` reads temporaries of the chain. All rows must be there."""
        found: dict[int, int] = {}
        for access in _accesses(block):
            if access.buffer not in self.buffers:
                continue
            for row, index in zip(self.buffers[access.buffer], access.indices, strict=True):
                if row is None:
                    continue
                if not isinstance(index, AffineDimExpr) or block.kinds[index.position] != "spatial":
                    return None
                if found.setdefault(index.position, row) != row or block.extents[index.position] != self.sizes[row]:
                    return None
        return found if sorted(found.values()) == sorted(self.sizes) else None

    def _written(self, block: BlockOp, rows: dict[int, int]) -> bool:
        """Notes the temporary that `block` writes, and returns whether each row writes one of its own."""
        for access in _accesses(block):
            if access.buffer in self.buffers or not access.is_store:
                continue
            if not _is_temporary(access.buffer):
                return False
            dimensions = tuple(
                rows.get(index.position) if isinstance(index, AffineDimExpr) else None for index in access.indices
            )
            if sorted(row for row in dimensions if row is not None) != sorted(self.sizes):
                return False
            self.buffers[access.buffer] = dimensions
        return True

    def _ended(self, second: Contraction, strip: int) -> Chain | None:
        """Returns the chain that ends with `second`, if nothing else uses what is between the products."""
        rows, c = self.links[-1].rows, second
        if c.a.buffer not in self.buffers or c.b.buffer in self.buffers or c.out.buffer in self.buffers:
            return None
        if c.m is None or rows.get(c.m) != strip or c.reduce or c.a.padding is not None or len(self.links) < 3:
            return None
        if c.out.buffer in (self.first.a.buffer, self.first.b.buffer):
            return None
        last = len(self.links) - 1
        epilogue = epilogue_of(second)
        if epilogue is not None and not epilogue.keeps_result:
            mapped = self._mapped(epilogue.block, second, rows)
            if mapped is not None:
                self.links.append(Link(epilogue.grid, epilogue.block, mapped))
                self._note_result(second, rows)
        grids = [link.grid for link in self.links]
        if self.is_open and (after := following_grid(grids[-1])) is not None:
            grids.append(after)
        for buffer in self.buffers:
            if any(not any(grid.is_ancestor(use.operation) for grid in grids) for use in buffer.uses):
                return None
        return Chain(tuple(self.links), self.first, second, last, self.sizes, strip, self.buffers)

    def _note_result(self, second: Contraction, rows: Mapping[int, int]) -> None:
        """Notes the result of the second product as a temporary, if nothing but a map of it needs it."""
        buffer = second.out.buffer
        if _is_temporary(buffer):
            places = [index.position if isinstance(index, AffineDimExpr) else None for index in second.out.indices]
            self.buffers[buffer] = tuple(None if place is None else rows.get(place) for place in places)

    def _mapped(self, block: BlockOp, second: Contraction, rows: Mapping[int, int]) -> dict[int, int] | None:
        """Returns the rows of a map of the result of the second product."""
        known = {index: rows.get(index.position) for index in second.out.indices if isinstance(index, AffineDimExpr)}
        found: dict[int, int] = {}
        for access in _accesses(block):
            if access.buffer in self.buffers and access.buffer is not second.out.buffer:
                taken = [*zip(self.buffers[access.buffer], access.indices, strict=True)]
            elif access.buffer is second.out.buffer:
                taken = [
                    (known.get(wanted) if isinstance(wanted, AffineDimExpr) else None, index)
                    for index, wanted in zip(access.indices, second.out.indices, strict=True)
                ]
            else:
                continue
            for row, index in taken:
                if row is None:
                    continue
                if not isinstance(index, AffineDimExpr) or found.setdefault(index.position, row) != row:
                    return None
        return found if sorted(found.values()) == sorted(self.sizes) else None


def _accesses(block: BlockOp) -> Iterator[Access]:
    yield from body_accesses(block.body.block).accesses


def _is_plain(grid: GridOp, block: BlockOp) -> bool:
    """Returns whether the iterations of a block are known to be alike: bound in order, of known extents, no boxes."""
    if block.constraints or not bound_in_order(grid, block) or not may_reorder(block):
        return False
    found = body_accesses(block.body.block)
    if found.opaque or any(access.sizes is not None for access in found.accesses):
        return False
    return all(isinstance(extent, int) and extent > 0 for extent in block.extents)


def _is_temporary(buffer: SSAValue) -> bool:
    return isinstance(buffer.owner, AllocOp) and isinstance(buffer.type, MemRefType)
