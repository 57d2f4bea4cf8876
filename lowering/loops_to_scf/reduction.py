"""
Reductions whose innermost loops are their reduce loops: the accumulators are carried by the loops as values.

Before: every iteration loads the accumulator, updates and stores it. After: it is set once before the loops (from the
init, or loaded), carried by `scf.for ... iter_args`, and stored once after them.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from xdsl.dialects import memref, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from ...analysis.loop_nests import Level, body_ops, levels_of, perfect_block
from ...analysis.reductions import (
    Accumulator,
    ReductionNest,
    accumulators,
    constraint_dependencies,
    init_stores,
    reduction_nest,
)
from ...core.ir.cloning import clone_op
from ...dialects.tensor_loop import BlockOp, Constraint, InitOp, LoopOp
from ...lazy_dataclass import dataclass
from .block_values import BlockValues
from .loop_nest import AffineScope

MOST_WRITTEN_OUT = 8
"""The most iterations of an unrolled loop that are written out here, so that a loop of vectors around it holds none."""


@dataclass(frozen=True)
class ReductionChain:
    """A block all whose loops from `levels[0]` inwards are reduce loops with nothing else between them."""

    nest: ReductionNest
    levels: tuple[Level, ...]
    accumulators: tuple[Accumulator, ...]
    inner_constraints: tuple[Constraint, ...]
    """Terms of the predicate about the loops of the chain. The others hold or fail for the whole chain."""
    outer_constraints: tuple[Constraint, ...]
    init_values: dict[Operation, Accumulator] | None
    """The accumulator of each store of the init, when the init only sets them and belongs right before the chain."""

    def sets_accumulators_from(self, nest: ReductionNest) -> bool:
        """Returns whether the chain itself runs the init of `nest`."""
        return nest.block is self.nest.block and self.init_values is not None


def reduction_chain(level: Level, guarded: Container[BlockOp]) -> ReductionChain | None:
    """Returns the chain that starts at `level`, if there is one."""
    levels = _levels_from(level)
    block = perfect_block(levels)
    if block is None or not block.has_reduce_axes or block in guarded:
        return None
    nest = reduction_nest(block)
    found = accumulators(block)
    if found is None or not all(nest.reduces_only(inner) for inner in levels):
        return None
    variables = {inner.variable for inner in levels}
    inner = [constraint for constraint in block.constraints if _mentions(block, constraint, variables)]
    outer = [constraint for constraint in block.constraints if constraint not in inner]
    if any(_mentions(block, constraint, nest.spatial) for constraint in inner):
        return None  # The accumulator may lie outside its buffer in iterations that do not run.
    starts_reduction = nest.first_reduce == nest.levels.index(level)
    init_values = init_stores(block, found) if starts_reduction else None
    return ReductionChain(nest, levels, found, tuple(inner), tuple(outer), init_values)


def _levels_from(level: Level) -> tuple[Level, ...]:
    """Returns `level` and the levels inside it as long as each op holds only one loop."""
    levels = list(levels_of(level.loop)[level.position :])
    ops = body_ops(level.loop.body.block)
    while len(ops) == 1 and isinstance(ops[0], LoopOp):
        levels.extend(levels_of(ops[0]))
        ops = body_ops(ops[0].body.block)
    return tuple(levels)


def _mentions(block: BlockOp, constraint: Constraint, variables: Container[SSAValue]) -> bool:
    return any(variable in variables for variable in constraint_dependencies(block, constraint))


@dataclass(frozen=True)
class ChainLowering:
    """Emits `chain` into `target`. The loops around it have been emitted."""

    chain: ReductionChain
    target: BlockValues
    lower_op: Callable[[Operation], None]
    """Lowers an op of the body into `target`."""

    def run(self) -> None:
        """Emits the loads or inits, the loops and the stores."""
        block, emitter = self.chain.nest.block, self.target.emitter
        scope = self.target.scope(block)
        with emitter.at(block), emitter.where(self.target.predicate(scope, self.chain.outer_constraints)):
            self.target.bind_axes(scope, block, self.target.spatial_axes(block))
            addresses = [self._address(block, accumulator) for accumulator in self.chain.accumulators]
            initial = self._initial_values(addresses)
            final = self._lower_levels(self.chain.levels, initial)
            for accumulator, indices, value in zip(self.chain.accumulators, addresses, final, strict=True):
                buffer = self.target.value(accumulator.buffer)
                store = memref.StoreOp.get(value, buffer, indices)
                store.location = accumulator.store.location
                emitter.add(store)

    def _address(self, block: BlockOp, accumulator: Accumulator) -> list[SSAValue]:
        axes = [self.target.value(axis) for axis in block.axes]
        ranges = [(0, extent - 1) if isinstance(extent, int) else None for extent in block.extents]
        scope = AffineScope(self.target.emitter, axes, ranges)
        return [scope.value(index) for index in accumulator.indices]

    def _initial_values(self, addresses: list[list[SSAValue]]) -> list[SSAValue]:
        """Returns what the accumulators hold before the chain: what the init would store, else what memory holds."""
        emitter, block = self.target.emitter, self.chain.nest.block
        if self.chain.init_values is None:
            return [
                emitter.add(memref.LoadOp.get(self.target.value(accumulator.buffer), indices)).res
                for accumulator, indices in zip(self.chain.accumulators, addresses, strict=True)
            ]
        assert block.init is not None
        stored: dict[Accumulator, SSAValue] = {}
        for op in body_ops(block.init.body.block):
            accumulator = self.chain.init_values.get(op)
            if accumulator is None:
                emitter.add(clone_op(op, self.target.values))
            else:
                stored[accumulator] = self.target.value(op.operands[0])
        return [stored[accumulator] for accumulator in self.chain.accumulators]

    def _lower_levels(self, levels: tuple[Level, ...], carried: list[SSAValue]) -> list[SSAValue]:
        """Emits the loops `levels` with `carried` going in, and returns what comes out."""
        if not levels:
            return self._lower_masked_body(carried)
        level = levels[0]
        if self._is_written_out(level):
            assert isinstance(level.extent, int)
            for number in range(level.extent):
                self.target.values[level.variable] = self.target.emitter.constant(number)
                carried = self._lower_levels(levels[1:], carried)
            return carried
        extent = level.extent if isinstance(level.extent, int) else self.target.value(level.extent)
        names = [found.loads[0].res.name_hint if found.loads else None for found in self.chain.accumulators]
        with self.target.emitter.loop(extent, level.variable.name_hint, level.kind, carried, names) as loop:
            self.target.values[level.variable] = loop.variable
            loop.yielded = tuple(self._lower_levels(levels[1:], list(loop.carried)))
        return list(loop.results)

    def _is_written_out(self, level: Level) -> bool:
        """Returns whether the iterations of a loop stand one after the other. It is short and updates several sums."""
        if level.kind != "unrolled" or len(self.chain.accumulators) < 2:
            return False
        return isinstance(level.extent, int) and level.extent <= MOST_WRITTEN_OUT

    def _lower_masked_body(self, carried: list[SSAValue]) -> list[SSAValue]:
        """Emits the body where its predicate holds. Elsewhere the accumulators stay as they are."""
        emitter, block = self.target.emitter, self.chain.nest.block
        scope = self.target.scope(block)
        condition = self.target.predicate(scope, self.chain.inner_constraints)
        if condition is None:
            return self._lower_body(scope, carried)
        updated, kept = Block(), Block()
        with emitter.inside(updated):
            emitter.add(scf.YieldOp(*self._lower_body(scope, carried)))
        with emitter.inside(kept):
            emitter.add(scf.YieldOp(*carried))
        types = [value.type for value in carried]
        return list(emitter.add(scf.IfOp(condition, types, Region(updated), Region(kept))).results)

    def _lower_body(self, scope: AffineScope, carried: list[SSAValue]) -> list[SSAValue]:
        """Emits one iteration: loads of accumulators become the carried values, stores the next ones."""
        block = self.chain.nest.block
        reduce_axes = [position for position, kind in enumerate(block.kinds) if kind == "reduce"]
        self.target.bind_axes(scope, block, reduce_axes)
        loads: dict[Operation, int] = {
            load: number for number, found in enumerate(self.chain.accumulators) for load in found.loads
        }
        stores: dict[Operation, int] = {found.store: number for number, found in enumerate(self.chain.accumulators)}
        current = list(carried)
        for op in body_ops(block.body.block):
            if op in loads:
                self.target.values[op.results[0]] = current[loads[op]]
            elif op in stores:
                current[stores[op]] = self.target.value(op.operands[0])
            elif not isinstance(op, InitOp):
                with self.target.emitter.at(op):
                    self.lower_op(op)
        return current
