"""
The cutting of loops where conditions on their variables change: pass `split-loops`.

Before: one grid over 0 to 128 chooses by `%v < 64` what it loads.
After: a grid over 64 that loads from the one, and a grid over the other 64 that loads from the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from xdsl.context import Context
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.cloning import clone_op
from ...core.ir.walk import ops_of, walk
from ...core.messages.origins import inherit
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...dialects import tensor_loop
from ...lazy_dataclass import dataclass
from .fuse_loops import make_unique
from .inline_blocks import is_perfect_nest
from .split_conditions import borders_of, decide, decide_within, take_part

LEAST_PER_BORDER = 24
"""
The least elements of the axis and of the axes inside it, per border.

A border costs another visit of a line of the cache, up to 7 ns in memory. A condition costs 0.3 ns per element, as what
chooses does not run on vectors (measured).
"""

MOST_PARTS = 64
"""
The most parts of one grid. More would be code that runs once each. Where the layers of a network see all those before
them, concatenations have as many operands as layers.
"""


@dataclass(frozen=True)
class SplitLoopsPass(StepwellPass):
    """
    Cuts elementwise grids where conditions on an axis change, as in concatenations, paddings and the ops fused with
    them.

    Before:

        tensor_loop.grid (%i, %j) in (8, 128) { tensor_loop.block "concat" spatial(%vi in 8 = %i, %vj in 128 = %j) {
          %0 = arith.cmpi slt, %vj, %c64 : index
          %1 = scf.if %0 -> (f32) { <load %x[%vi, %vj]> } else { <load %y[%vi, %vj - 64]> }
          <store %1, %out[%vi, %vj]> } }

    After:

        tensor_loop.grid (%i, %j) in (8, 64) { … <store of load %x[%vi, %vj] to %out[%vi, %vj]> }
        tensor_loop.grid (%i, %j) in (8, 64) { … <store of load %y[%vi, %vj] to %out[%vi, %vj + 64]> }

    Each part runs on vectors, and `inline-loops` may compute in it the values that only it reads. Rows of less than 24
    elements per border stay, and so do grids of more than 64 parts. Grids that feed a reduction stay too, since
    schedules know the padding of a convolution by its condition.
    """

    name = "split-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, tensor_loop.FuncOp) and allowed("loops", self.name, function):
                self._run(function)

    def _run(self, function: tensor_loop.FuncOp) -> None:
        nests = [op for op in function.body.block.ops if isinstance(op, tensor_loop.GridOp)]
        names: set[str] | None = None
        for nest in nests:
            if _may_be_split(nest):
                names = names or {block.block_name.data for block in ops_of(function, tensor_loop.BlockOp)}
                self._split(nest, names)

    def _split(self, nest: tensor_loop.GridOp, names: set[str]) -> None:
        """Splits part by part, the outermost axis first, until no condition is left that is worth a border."""
        pending, count = [nest], 1
        while pending:
            current = pending.pop()
            cut = _cut_of(current, MOST_PARTS - count + 1)
            if cut is None:
                continue
            axis, places = cut
            parts = _parts(current, axis, places)
            for part in parts[1:]:
                make_unique(_block_of(part), names)
            count += len(parts) - 1
            pending += reversed(parts)
            self.count("borders", len(parts) - 1)


def _may_be_split(nest: tensor_loop.GridOp) -> bool:
    """Returns whether the order of the elements does not matter, and nothing downstream looks for the condition."""
    block = nest.body.block.first_op
    if not isinstance(block, tensor_loop.BlockOp):
        return False
    if not any(isinstance(op, scf.IfOp) for op in block.body.block.ops) or not is_perfect_nest(block, nest):
        return False
    if block.has_reduce_axes or block.init is not None or block.constraints:
        return False
    if any(not isinstance(extent, int) for extent in block.extents):
        return False
    stores = ops_of(block, memref.StoreOp)
    targets = {store.memref for store in stores}
    if not stores or any(tuple(store.indices) != tuple(block.axes) for store in stores):
        return False
    if any(load.memref in targets for load in ops_of(block, memref.LoadOp)):
        return False
    return not any(_feeds_reduction(target) for target in targets)


def _feeds_reduction(buffer: SSAValue) -> bool:
    """Returns whether a block with reduce axes, or an op that is no block, uses a buffer."""
    for use in buffer.uses:
        op = use.operation
        if isinstance(op, tensor_loop.BlockOp):
            if op.has_reduce_axes:
                return True
        elif not isinstance(op, memref.LoadOp | memref.StoreOp):
            return True
    return False


def _cut_of(nest: tensor_loop.GridOp, most: int) -> tuple[int, list[int]] | None:
    """Returns the outermost axis with borders at which cutting pays, and these borders."""
    block = _block_of(nest)
    for axis, places in sorted(borders_of(block).items()):
        elements = prod(extent for extent in block.extents[axis:] if isinstance(extent, int))
        if len(places) < most and elements >= LEAST_PER_BORDER * len(places):
            return axis, places
    return None


def _spans(block: tensor_loop.BlockOp, axis: int, places: list[int]) -> Iterator[tuple[int, int]]:
    extent = block.extents[axis]
    assert isinstance(extent, int)
    yield from zip([0, *places], [*places, extent], strict=True)


def _parts(nest: tensor_loop.GridOp, axis: int, places: list[int]) -> list[tensor_loop.GridOp]:
    """Puts grids over the parts of an axis in place of `nest`."""
    made: list[tensor_loop.GridOp] = []
    pending = [(_copy(nest), list(_spans(_block_of(nest), axis, places)))]
    while pending:
        part, spans = pending.pop()
        block = _block_of(part)
        if len(spans) == 1:
            take_part(part, block, axis, spans[0])
            Rewriter.insert_op(part, InsertPoint.before(nest))
            decide(block)
            block.refresh_regions()
            inherit(part)
            made.append(part)
            continue
        # Each half keeps its own branches. So a concatenation of n operands takes log n times as long, and not n times.
        middle = len(spans) // 2
        for each, half in ((_copy(part), spans[middle:]), (part, spans[:middle])):
            if len(half) > 1:
                decide_within(_block_of(each), axis, (half[0][0], half[-1][1]))
            pending.append((each, half))
    nest.detach()
    nest.erase()
    return made


def _copy(nest: tensor_loop.GridOp) -> tensor_loop.GridOp:
    copy = clone_op(nest)
    for old, new in zip(walk(nest), walk(copy), strict=True):
        new.location = old.location
    return copy


def _block_of(nest: Operation) -> tensor_loop.BlockOp:
    block = nest.regions[0].block.first_op
    assert isinstance(block, tensor_loop.BlockOp)
    return block
