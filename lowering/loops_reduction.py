"""
Reductions whose innermost loops are their reduce loops: the accumulators are carried by the loops as values.

Before: every iteration loads the accumulator, updates and stores it. After: it is set once before the loops (from the
init, or loaded), carried by `scf.for ... iter_args`, and stored once after them.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import memref, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from ..analysis.loop_nests import Level, body_ops, levels_of, perfect_block
from ..analysis.reductions import (
    Accumulator,
    ReductionNest,
    accumulators,
    constraint_dependencies,
    init_stores,
    reduction_nest,
)
from ..dialects.tensor_loop import BlockOp, Constraint, InitOp, LoopOp
from .loops_emitter import AffineScope

if TYPE_CHECKING:
    from .loops_function import FunctionLowering


@dataclass(frozen=True)
class ReductionChain:
    """A block all whose loops from `levels[0]` inwards are reduce loops with nothing else between them."""

    nest: ReductionNest
    levels: tuple[Level, ...]
    accumulators: tuple[Accumulator, ...]
    inner_constraints: tuple[Constraint, ...]
    """Terms of the predicate about the loops of the chain; the others hold or fail for the whole chain."""
    outer_constraints: tuple[Constraint, ...]
    init_values: dict[Operation, Accumulator] | None
    """Stores of the init -> accumulators, when the init only sets them and belongs right before the chain."""

    def sets_accumulators_from(self, nest: ReductionNest) -> bool:
        """Whether the chain itself runs the init of `nest`."""
        return nest.block is self.nest.block and self.init_values is not None


def reduction_chain(level: Level, guarded: Container[BlockOp]) -> ReductionChain | None:
    """The chain that starts at `level`, if there is one."""
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
        return None  # the accumulator may lie outside its buffer in iterations that do not run
    starts_reduction = nest.first_reduce == nest.levels.index(level)
    init_values = init_stores(block, found) if starts_reduction else None
    return ReductionChain(nest, levels, found, tuple(inner), tuple(outer), init_values)


def _levels_from(level: Level) -> tuple[Level, ...]:
    """`level` and the levels inside it as long as each op holds only one loop."""
    levels = list(levels_of(level.loop)[level.position :])
    ops = body_ops(level.loop.body.block)
    while len(ops) == 1 and isinstance(ops[0], LoopOp):
        levels.extend(levels_of(ops[0]))
        ops = body_ops(ops[0].body.block)
    return tuple(levels)


def _mentions(block: BlockOp, constraint: Constraint, variables: Container[SSAValue]) -> bool:
    return any(variable in variables for variable in constraint_dependencies(block, constraint))


def lower_chain(lowering: FunctionLowering, chain: ReductionChain) -> None:
    """Emits the chain; the loops around it have been emitted."""
    block, emitter = chain.nest.block, lowering.emitter
    scope = lowering.scope(block)
    with emitter.at(block), emitter.where(lowering.predicate(scope, chain.outer_constraints)):
        lowering.bind_axes(scope, block, lowering.spatial_axes(block))
        addresses = [_address(lowering, block, accumulator) for accumulator in chain.accumulators]
        initial = _initial_values(lowering, chain, addresses)
        final = _lower_levels(lowering, chain, chain.levels, initial)
        for accumulator, indices, value in zip(chain.accumulators, addresses, final, strict=True):
            buffer = lowering.value(accumulator.buffer)
            store = memref.StoreOp.get(value, buffer, indices)
            store.location = accumulator.store.location
            emitter.add(store)


def _address(lowering: FunctionLowering, block: BlockOp, accumulator: Accumulator) -> list[SSAValue]:
    axes = [lowering.value(axis) for axis in block.axes]
    ranges = [(0, extent - 1) if isinstance(extent, int) else None for extent in block.extents]
    scope = AffineScope(lowering.emitter, axes, ranges)
    return [scope.value(index) for index in accumulator.indices]


def _initial_values(
    lowering: FunctionLowering, chain: ReductionChain, addresses: list[list[SSAValue]]
) -> list[SSAValue]:
    """What the accumulators hold before the chain: what the init would store, else what memory holds."""
    emitter, block = lowering.emitter, chain.nest.block
    if chain.init_values is None:
        return [
            emitter.add(memref.LoadOp.get(lowering.value(accumulator.buffer), indices)).res
            for accumulator, indices in zip(chain.accumulators, addresses, strict=True)
        ]
    assert block.init is not None
    stored: dict[Accumulator, SSAValue] = {}
    for op in body_ops(block.init.body.block):
        accumulator = chain.init_values.get(op)
        if accumulator is None:
            emitter.add(op.clone(lowering.values))
        else:
            stored[accumulator] = lowering.value(op.operands[0])
    return [stored[accumulator] for accumulator in chain.accumulators]


def _lower_levels(
    lowering: FunctionLowering, chain: ReductionChain, levels: tuple[Level, ...], carried: list[SSAValue]
) -> list[SSAValue]:
    """The loops `levels` with `carried` going in; returns what comes out."""
    if not levels:
        return _lower_masked_body(lowering, chain, carried)
    level = levels[0]
    extent = level.extent if isinstance(level.extent, int) else lowering.value(level.extent)
    names = [found.loads[0].res.name_hint if found.loads else None for found in chain.accumulators]
    with lowering.emitter.loop(extent, level.variable.name_hint, level.kind, carried, names) as loop:
        lowering.values[level.variable] = loop.variable
        loop.yielded = tuple(_lower_levels(lowering, chain, levels[1:], list(loop.carried)))
    return list(loop.results)


def _lower_masked_body(lowering: FunctionLowering, chain: ReductionChain, carried: list[SSAValue]) -> list[SSAValue]:
    """The body where its predicate holds; elsewhere the accumulators stay as they are."""
    emitter, block = lowering.emitter, chain.nest.block
    scope = lowering.scope(block)
    condition = lowering.predicate(scope, chain.inner_constraints)
    if condition is None:
        return _lower_body(lowering, chain, scope, carried)
    updated, kept = Block(), Block()
    with emitter.inside(updated):
        emitter.add(scf.YieldOp(*_lower_body(lowering, chain, scope, carried)))
    with emitter.inside(kept):
        emitter.add(scf.YieldOp(*carried))
    types = [value.type for value in carried]
    return list(emitter.add(scf.IfOp(condition, types, Region(updated), Region(kept))).results)


def _lower_body(
    lowering: FunctionLowering, chain: ReductionChain, scope: AffineScope, carried: list[SSAValue]
) -> list[SSAValue]:
    """One iteration: loads of accumulators become the carried values, stores the next ones."""
    block = chain.nest.block
    reduce_axes = [position for position, kind in enumerate(block.kinds) if kind == "reduce"]
    lowering.bind_axes(scope, block, reduce_axes)
    loads: dict[Operation, int] = {
        load: number for number, found in enumerate(chain.accumulators) for load in found.loads
    }
    stores: dict[Operation, int] = {found.store: number for number, found in enumerate(chain.accumulators)}
    current = list(carried)
    for op in body_ops(block.body.block):
        if op in loads:
            lowering.values[op.results[0]] = current[loads[op]]
        elif op in stores:
            current[stores[op]] = lowering.value(op.operands[0])
        elif not isinstance(op, InitOp):
            with lowering.emitter.at(op):
                lowering.lower_op(op)
    return current
