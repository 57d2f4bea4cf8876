"""
Makes grids of a chain run over strips of rows: the axes of rows come first, and the cut one becomes two.

Before, strips of 32 rows of a buffer that only the chain uses:

    tensor_loop.grid (%h, %m, %n) in (12, 512, 512) {
      tensor_loop.block "exp" ... { e[%vh, %vm, %vn] = exp(s[%vh, %vm, %vn]) } }

After:

    tensor_loop.grid (%h, %s, %r, %n) in (12, 16, 32, 512) {
      tensor_loop.block "exp" ... { e[%vh, %vs, %vr, %vn] = exp(s[%vh, %vs, %vr, %vn]) } }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.loop_nests import levels_of, perfect_block
from ...core.ir.cloning import clone_op
from ...core.ir.walk import ops_of
from ...core.roles import TILING
from ...dialects.tensor_loop import BlockOp, GridOp
from ...lazy_dataclass import dataclass
from .chain import Chain, Dimensions, Link


@dataclass(frozen=True)
class Cut:
    """Strips of `rows` rows, `count` of them in each of `groups`, from row `start` on."""

    outer: tuple[int, ...]
    """The other row axes, outermost first."""
    groups: int
    """Threads share groups of strips where this is more than 1, else the first of the other row axes."""
    count: int
    rows: int
    start: int
    by_group: bool = False
    """True where buffers of strips have the group as their first axis, also if there is one group."""


@dataclass(frozen=True)
class Strips:
    """
    A buffer of all strips of one cut in place of a temporary: `[group, other row axes, strip, its own dimensions]`. It
    is there while loops are made. As each strip is used up before the next, they share memory in the end.
    """

    buffer: SSAValue
    kept: tuple[int, ...]
    """The dimensions of the temporary that are its own. The row axis that is cut has the rows of a strip."""


def recut(link: Link, chain: Chain, cut: Cut, strips: Mapping[SSAValue, Strips]) -> GridOp:
    """Returns a grid that does on strips what that of `link` does."""
    return _Recut(link, chain, cut, strips).run()


def outer_extents(chain: Chain, cut: Cut) -> list[tuple[str, int]]:
    """Returns names and extents of the loops around the kernels of a strip."""
    found = [(f"b{row}", chain.sizes[row]) for row in cut.outer]
    if cut.groups > 1:
        found.insert(0, ("g", cut.groups))
    return found + ([("s", cut.count)] if cut.count > 1 else [])


class _Sums:
    """Arithmetic on indices whose ops are not in a block yet."""

    def __init__(self) -> None:
        self.ops: list[Operation] = []

    def constant(self, value: int) -> SSAValue:
        self.ops.append(arith.ConstantOp(IntegerAttr(value, IndexType())))
        return self.ops[-1].results[0]

    def plus(self, left: SSAValue | None, right: SSAValue) -> SSAValue:
        if left is None:
            return right
        self.ops.append(arith.AddiOp(left, right))
        return self.ops[-1].results[0]

    def times(self, left: SSAValue, factor: int) -> SSAValue:
        self.ops.append(arith.MuliOp(left, self.constant(factor)))
        return self.ops[-1].results[0]


class _Recut:
    def __init__(self, link: Link, chain: Chain, cut: Cut, strips: Mapping[SSAValue, Strips]):
        self.chain, self.cut, self.strips = chain, cut, strips
        self.link = link
        self.source = clone_op(link.grid)
        block = perfect_block(levels_of(self.source))
        assert block is not None
        self.block = block
        block.attributes.pop(TILING, None)
        self.names: list[str | None] = []
        self.extents: list[int] = []
        self.kinds: list[str] = []

    def run(self) -> GridOp:
        """Makes the grid."""
        block, cut = self.block, self.cut
        body = block.body.block
        old = list(body.args)
        around = [self._axis(body, name, extent) for name, extent in outer_extents(self.chain, cut)]
        group = around[0] if cut.groups > 1 else None
        number = around[-1] if cut.count > 1 else None
        rows = dict(zip(cut.outer, around[0 if group is None else 1 :], strict=False))
        new: list[SSAValue | None] = []
        for axis, extent in enumerate(block.extents):
            row = self.link.rows.get(axis)
            assert isinstance(extent, int)
            if row == self.chain.strip:
                new.append(self._axis(body, old[axis].name_hint, cut.rows))
            elif row is not None:
                new.append(rows[row])
            elif extent == 1 and block.kinds[axis] == "spatial":
                new.append(None)
            else:
                new.append(self._axis(body, old[axis].name_hint, extent, block.kinds[axis]))
        strip = next(axis for axis, row in self.link.rows.items() if row == self.chain.strip)
        self._redirect(old[strip], new[strip], [group, *(rows[row] for row in cut.outer), number])
        for place in self._bodies():
            self._compute(place, old, new, strip, group, number)
        for axis in old:
            body.erase_arg(axis)
        return self._grid()

    def _axis(self, body: Block, name: str | None, extent: int, kind: str = "spatial") -> SSAValue:
        argument = body.insert_arg(IndexType(), len(body.args))
        hint = name or "i"
        argument.name_hint = hint if hint.startswith("v") else f"v{hint}"
        self.names.append(hint.removeprefix("v"))
        self.extents.append(extent)
        self.kinds.append(kind)
        return argument

    def _bodies(self) -> list[Block]:
        init = self.block.init
        return [self.block.body.block] if init is None else [init.body.block, self.block.body.block]

    def _redirect(self, whole: SSAValue, row: SSAValue | None, around: Sequence[SSAValue | None]) -> None:
        """Has accesses of temporaries go to the buffers of strips. `around` are the indices that choose one."""
        assert row is not None
        for op in ops_of(self.block, memref.LoadOp, memref.StoreOp):
            strips = self.strips.get(op.memref)
            if strips is None:
                continue
            indices = [_zero_before(op) if index is None else index for index in around]
            indices += [row if op.indices[place] is whole else op.indices[place] for place in strips.kept]
            if isinstance(op, memref.LoadOp):
                moved: Operation = memref.LoadOp.get(strips.buffer, indices)
            else:
                moved = memref.StoreOp.get(op.value, strips.buffer, indices)
            moved.location = op.location
            Rewriter.replace_op(op, moved)

    def _compute(
        self,
        place: Block,
        old: Sequence[SSAValue],
        new: Sequence[SSAValue | None],
        strip: int,
        group: SSAValue | None,
        number: SSAValue | None,
    ) -> None:
        """Computes the old axes from the new ones at the start of `place`, for all uses in it."""
        sums = _Sums()
        for axis, value in enumerate(old):
            uses = [use for use in value.uses if place.is_ancestor(use.operation)]
            if not uses:
                continue
            found = new[axis]
            if found is None:
                found = sums.constant(0)
            elif axis == strip:
                whole = None if group is None else sums.times(group, self.cut.count)
                whole = whole if number is None else sums.plus(whole, number)
                found = found if whole is None else sums.plus(sums.times(whole, self.cut.rows), found)
                found = sums.plus(sums.constant(self.cut.start), found) if self.cut.start else found
            for use in uses:
                use.operation.operands[use.index] = found
        for op in sums.ops:
            op.location = self.block.location
        init = self.block.init if place is self.block.body.block else None
        Rewriter.insert_op(sums.ops, InsertPoint.at_start(place) if init is None else InsertPoint.after(init))

    def _grid(self) -> GridOp:
        block, source = self.block, self.source
        grid = GridOp(self.extents, self.names)
        bindings = [AffineDimExpr(number) for number in range(len(self.extents))]
        moved = BlockOp(
            block.block_name.data, self.kinds, self.extents, bindings, grid.variables, block.detach_region(block.body)
        )
        moved.attributes.update(block.attributes)
        grid.attributes.update(source.attributes)
        moved.location, grid.location = block.location, source.location
        last = grid.body.block.last_op
        assert last is not None
        grid.body.block.insert_op_before(moved, last)
        block.detach()
        block.erase()
        source.erase()
        return grid


def strip_type(type_: MemRefType, dimensions: Dimensions, chain: Chain, cut: Cut, whole: bool) -> MemRefType:
    """Returns the type of a buffer of all strips where `whole`, else of one for each part that threads share."""
    outer = [chain.sizes[row] for row in cut.outer]
    around = [cut.groups, *outer, cut.count]
    if not whole:
        shared = 0 if cut.by_group or not outer else 1
        around = [size if number == shared else 1 for number, size in enumerate(around)]
    own = [
        cut.rows if row == chain.strip else size
        for row, size in zip(dimensions, type_.get_shape(), strict=True)
        if row is None or row == chain.strip
    ]
    return MemRefType(type_.element_type, [*around, *own])


def kept_dimensions(dimensions: Dimensions, chain: Chain) -> tuple[int, ...]:
    """Returns the dimensions of a temporary that buffers of strips have too."""
    return tuple(place for place, row in enumerate(dimensions) if row is None or row == chain.strip)


def share_memory(whole: SSAValue, strips: SSAValue) -> None:
    """Has all that touches the buffer `whole` of all strips go to `strips`, in which some of them share memory."""
    assert isinstance(whole.type, MemRefType) and isinstance(strips.type, MemRefType)
    sizes = strips.type.get_shape()
    blocks: dict[BlockOp, None] = {}
    for use in list(whole.uses):
        op = use.operation
        if isinstance(op, BlockOp):
            blocks[op] = None
            continue
        zero: SSAValue | None = None
        for place, size in enumerate(sizes):
            if size == 1:
                zero = _zero_before(op) if zero is None else zero
                op.operands[use.index + 1 + place] = zero
        op.operands[use.index] = strips
    for block in blocks:
        block.refresh_regions()


def _zero_before(op: Operation) -> SSAValue:
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    zero.location = op.location
    Rewriter.insert_op(zero, InsertPoint.before(op))
    return zero.result
