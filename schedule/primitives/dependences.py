"""
Finds the loops that may run their iterations in any order: no two different iterations touch an element that one of
them writes.

The test is the usual one on affine subscripts (U. Banerjee, "Dependence Analysis", 1997), in its simplest form: an
index that is `c * v` plus something that inside the loop stays within an interval shorter than `c` tells the iteration
of `v`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property

from xdsl.dialects import arith, math, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.irdl import IRDLOperation

from ...analysis.access_regions import body_accesses, root_buffer, shape_of
from ...analysis.affine import Interval, bounds, from_terms, linear_terms
from ...analysis.reductions import Accumulator, accumulators, reduction_nest
from ...analysis.reorder import is_reassociable
from ...core.ir.kinds import is_kind
from ...core.ir.walk import ops_in, ops_of, walk
from ...core.messages.articles import quoted
from ...dialects.tensor_loop import AllocOp, BlockOp, ForOp, InitOp, LoopOp, YieldOp
from ...dialects.tensor_loop.syntax import value_name
from ...lazy_dataclass import dataclass
from .affine import simplify, told_apart
from .errors import refuse
from .nests import block_name, loop_name, ranges_of

_ORDERLESS = frozenset({"arith", "math", "tile"})


@dataclass(frozen=True)
class Blame:
    """The reason why iterations must keep their order, and the op that causes it."""

    reason: str
    op: Operation


@dataclass(frozen=True)
class Touch:
    """A box of a buffer that one run of a block touches, over the operands of the block."""

    block: BlockOp
    buffer: SSAValue
    is_store: bool
    lows: tuple[AffineExpr | None, ...]
    """The indices over `block.binding_operands`. `None` stands for an index that is not known."""
    sizes: tuple[int, ...]


@cache
def _is_orderless(kind: type[Operation]) -> bool:
    structure = memref.LoadOp | memref.StoreOp | memref.DimOp | memref.AllocaOp | scf.IfOp | scf.ForOp | scf.YieldOp
    structure |= InitOp | YieldOp
    return issubclass(kind, structure) or (issubclass(kind, IRDLOperation) and kind.dialect_name() in _ORDERLESS)


def orderless(block: BlockOp) -> Blame | None:
    """Returns why the runs of `block` cannot be told from their loads and stores: an assert, a call, a nested block."""
    for op in walk(block.body):
        if not _is_orderless(op.__class__):
            return Blame(f"{block_name(block)} holds {quoted(op.name)}, which must keep its place", block)
    found = body_accesses(block.body.block)
    buffers = list(dict.fromkeys(access.buffer for access in found.accesses))
    if found.opaque or len({root_buffer(buffer) for buffer in buffers}) != len(buffers):
        return Blame(f"{block_name(block)} accesses one buffer by two names", block)
    return None


def check_order_known(block: BlockOp, subject: BlockOp | None = None) -> None:
    """Refuses a block that is `orderless`. `subject` is the block that the message is about where it is another."""
    blame = orderless(block)
    if blame is not None:
        refuse(blame.reason, *((block,) if subject is None else (subject, block)))


def touches(block: BlockOp) -> list[Touch]:
    """Returns every load and store of `block`, its init included."""
    ranges = ranges_of(block.binding_operands)
    bindings = list(block.binding_exprs)
    bound: dict[AffineExpr | None, AffineExpr | None] = {None: None}
    found: list[Touch] = []
    for access in body_accesses(block.body.block).accesses:
        for index in access.indices:
            if index is not None and index not in bound:  # Most accesses of a tile share indices.
                bound[index] = simplify(index.replace_dims_and_symbols(bindings, ()), ranges)
        lows = tuple(bound[index] for index in access.indices)
        sizes = access.sizes or (1,) * len(lows)
        found.append(Touch(block, access.buffer, access.is_store, lows, tuple(sizes)))
    return found


class KnownBlocks:
    """What `orderless` and `touches` say of blocks that stay as they are, found once for all loops around them."""

    def __init__(self) -> None:
        self._orderless: dict[BlockOp, Blame | None] = {}
        self._touches: dict[BlockOp, list[Touch]] = {}

    def orderless(self, block: BlockOp) -> Blame | None:
        if block not in self._orderless:
            self._orderless[block] = orderless(block)
        return self._orderless[block]

    def touches(self, block: BlockOp) -> list[Touch]:
        if block not in self._touches:
            self._touches[block] = touches(block)
        return self._touches[block]


class Dependences:
    """
    The dependences among the iterations of the loops in `outer`, all that stands outside it being fixed. `known` is
    what is known of blocks already.
    """

    def __init__(self, outer: ForOp, known: KnownBlocks | None = None):
        self.outer = outer
        self._known = KnownBlocks() if known is None else known
        self._dims: dict[SSAValue, int] = {}
        self._ranges: list[Interval | None] = []
        self.blocks = ops_of(outer, BlockOp)

    @cached_property
    def opaque(self) -> Blame | None:
        """Returns something in the loop whose effects are not known."""
        waiting: list[Operation] = [self.outer]
        while waiting:
            op = waiting.pop()
            if type(op) is BlockOp:
                if (blame := self._known.orderless(op)) is not None:
                    return blame
            elif is_kind(op.__class__, LoopOp):
                waiting += reversed(ops_in(op.regions[0].block))
            elif not is_kind(op.__class__, YieldOp | AllocOp):
                return Blame(f"the loop holds {quoted(op.name)} outside of blocks", op)
        return None

    @cached_property
    def _touched(self) -> dict[SSAValue, list[Touch]]:
        found: dict[SSAValue, list[Touch]] = {}
        for block in self.blocks:
            for touch in self._known.touches(block):
                found.setdefault(root_buffer(touch.buffer), []).append(touch)
        return {buffer: group for buffer, group in found.items() if any(touch.is_store for touch in group)}

    def blame(self, loop: ForOp) -> Blame | None:
        """
        Returns why the iterations of `loop`, which is `outer` or inside it, depend on each other. It is `None` when
        they do not, whatever the other loops from `outer` inwards do.
        """
        if self.opaque is not None:
            return self.opaque
        if isinstance(loop.extent, int) and loop.extent <= 1:
            return None
        for buffer, group in self._touched.items():
            group = [touch for touch in group if loop.is_ancestor(touch.block)]
            if group and not self._tells(loop, group):
                culprit = next((touch for touch in group if touch.is_store), group[0])
                return Blame(
                    f"different iterations of {loop_name(loop)} touch the same elements of {value_name(buffer)} in "
                    f"{block_name(culprit.block)}",
                    culprit.block,
                )
        return None

    def blame_of(self, loop: ForOp, buffer: SSAValue) -> Blame | None:
        """Returns the `blame` that comes from accesses to one buffer only."""
        if self.opaque is not None:
            return self.opaque
        group = [touch for touch in self._touched.get(buffer, ()) if loop.is_ancestor(touch.block)]
        if (isinstance(loop.extent, int) and loop.extent <= 1) or not group or self._tells(loop, group):
            return None
        reason = f"different iterations of {loop_name(loop)} write the same elements"
        return Blame(reason, group[0].block)

    def _dim(self, value: SSAValue) -> AffineDimExpr:
        if value not in self._dims:
            self._dims[value] = len(self._dims)
            self._ranges += ranges_of([value])
        return AffineDimExpr(self._dims[value])

    def _varies(self, value: SSAValue) -> bool:
        parent = value.owner.parent_op() if isinstance(value, BlockArgument) else None
        if not isinstance(value, BlockArgument):
            owner = value.owner
            return isinstance(owner, Operation) and self.outer.is_ancestor(owner)
        return parent is not None and self.outer.is_ancestor(parent)

    def _tells(self, loop: ForOp, group: Sequence[Touch]) -> bool:
        """Returns whether the elements touched tell the iteration of `loop`."""
        if len({touch.buffer for touch in group}) > 1:
            return False
        variable = self._dim(loop.variable)
        equations: list[tuple[Mapping[AffineExpr, int], int]] = []
        for touch in group:
            for value in touch.block.binding_operands:
                self._dim(value)
        varied = {dim for value, dim in self._dims.items() if self._varies(value)}
        own = {dim for value, dim in self._dims.items() if not _is_common(value, group)} & varied
        for dimension in range(len(shape_of(group[0].buffer))):
            pairs = [(touch, dimension) for touch in group]
            for loose in (varied - {variable.position}, own):
                found = self._equation(loose, pairs)
                if found is not None:
                    equations.append(found)
        fixed = [dim for value, dim in self._dims.items() if not self._varies(value)]
        return variable.position in told_apart(equations, fixed, self._ranges)

    def _equation(
        self, loose: set[int], group: Sequence[tuple[Touch, int]]
    ) -> tuple[Mapping[AffineExpr, int], int] | None:
        """Returns what one dimension says: its terms, and how far the rest, in the dimensions `loose`, reaches."""
        kept: list[dict[AffineExpr, int]] = []
        spans: list[Interval] = []
        for touch, dimension in group:
            low, size = touch.lows[dimension], touch.sizes[dimension]
            if low is None or size == DYNAMIC_INDEX:
                return None
            dims = [self._dim(value) for value in touch.block.binding_operands]
            terms, constant = linear_terms(low.replace_dims_and_symbols(dims, ()))
            rest = {atom: factor for atom, factor in terms.items() if atom.used_dims() & loose}
            if any(atom.used_dims() - loose for atom in rest):
                return None
            span = bounds(from_terms(rest, constant), self._ranges)
            if span is None:
                return None
            spans.append((span[0], span[1] + size - 1))
            kept.append({atom: factor for atom, factor in terms.items() if atom not in rest})
        if any(terms != kept[0] for terms in kept):
            return None
        return kept[0], max(high for _, high in spans) - min(low for low, _ in spans)


def before_reduction(block: BlockOp, loops: Sequence[ForOp]) -> list[ForOp]:
    """
    Returns those of `loops`, all around `block`, outermost first, that hold the outermost of its reduce loops, which is
    one of them.
    """
    nest = reduction_nest(block)
    reduce = next((n for n, loop in enumerate(loops) if loop.variable in nest.reduce), None)
    above = (variable for loop in _loops_above(loops[0]) for variable in loop.variables)
    if reduce is None or any(variable in nest.reduce for variable in above):
        return []
    return list(loops[:reduce])


def _loops_above(loop: ForOp) -> list[LoopOp]:
    found: list[LoopOp] = []
    parent = loop.parent_op()
    while isinstance(parent, LoopOp):
        found.append(parent)
        parent = parent.parent_op()
    return found


def shared_inits(block: BlockOp, loops: Sequence[ForOp]) -> Blame | None:
    """
    Returns why different iterations of `loops`, outermost first, run the init of `block` for the same elements, `None`
    if none do.
    """
    if block.init is None or not loops:
        return None
    dependences = Dependences(loops[0])
    stores = [op for op in walk(block.init) if isinstance(op, memref.StoreOp)]
    for buffer in dict.fromkeys(root_buffer(store.memref) for store in stores):
        for loop in loops:
            blame = dependences.blame_of(loop, buffer)
            if blame is not None:
                return blame
    return None


def _is_common(value: SSAValue, group: Sequence[Touch]) -> bool:
    """Returns whether `value` is the variable of a loop around all the blocks of `group`."""
    parent = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    return parent is not None and all(parent.is_ancestor(touch.block) for touch in group)


def only_reduces(block: BlockOp, loops: Collection[ForOp]) -> Blame | None:
    """Returns why `loops` around `block` are not loops of reduce axes alone that may take any order."""
    nest = reduction_nest(block)
    for loop in loops:
        if not nest.is_only_reduced(loop.variable):
            return Blame(f"{loop_name(loop)} is no loop of the reduce axes of {block_name(block)} alone", loop)
    found = accumulators(block)
    if found is None:
        return Blame(f"{block_name(block)} does not just update accumulators", block)
    for accumulator in found:
        if not is_reassociable(accumulator):
            return Blame(
                f"the updates of {value_name(accumulator.buffer)} in {block_name(block)} may not be regrouped "
                f"({_order_counts(accumulator)})",
                block,
            )
    return None


def _order_counts(accumulator: Accumulator) -> str:
    """Returns the reason why updates may not be regrouped."""
    update = accumulator.store.value.owner
    values = [load.res for load in accumulator.loads]
    if len(values) != 1 or not isinstance(update, Operation) or values[0] not in update.operands:
        return "they do not just combine it with a number"
    if not values[0].has_one_use() or not accumulator.store.value.has_one_use():
        return "the block uses it for more than the update"
    if isinstance(update, arith.AddfOp | arith.MulfOp | math.FmaOp):
        return "a float sum needs fastmath<reassoc>"
    return f"'{update.name}' is not associative"
