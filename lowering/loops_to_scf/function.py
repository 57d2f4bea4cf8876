"""The lowering of the body of one loop function: loops to `scf.for`, blocks in place, inits before reduce loops."""

from __future__ import annotations

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, UnknownLoc
from xdsl.ir import Block, Operation, SSAValue

from ...analysis.loop_nests import Level, body_ops
from ...analysis.reductions import (
    ReductionNest,
    constraint_dependencies,
    init_may_be_hoisted,
    init_nest_exists,
    reduction_nest,
)
from ...core.ir.cloning import clone_op
from ...core.ir.walk import ops_of, walk
from ...core.messages.diagnostics import fail
from ...core.roles import BUFFER_ALIGNMENT, UNCHECKED
from ...dialects import tile
from ...dialects.tensor_loop import AllocOp, BlockOp, CallOp, Constraint, InitOp, LoopOp
from .block_values import BlockValues
from .loop_nest import LoopNest
from .reduction import ChainLowering, reduction_chain

STACK_BYTES = 4096
"""The largest buffer that goes on the stack."""


class FunctionLowering(BlockValues):
    """
    Turns the ops of `source` into ops at the end of `target`, whose arguments stand for those of `source`.

    `values` maps values of the source to values of the target.
    """

    def __init__(self, source: Block, target: Block):
        function = source.parent_op()
        location = UnknownLoc() if function is None else function.location
        super().__init__(LoopNest(target, location), dict(zip(source.args, target.args, strict=True)))
        self.target = target
        self._guarded: dict[BlockOp, ReductionNest] = {}
        self._inits: dict[Level, list[ReductionNest]] = {}
        self._plan_inits(source)
        self._frees: list[list[SSAValue]] = [[]]

    def _plan_inits(self, source: Block) -> None:
        """Decides where each init runs: before its outermost reduce loop, or (guarded) where its block stands."""
        for op in ops_of(source, BlockOp):
            if op.init is None:
                continue
            nest = reduction_nest(op)
            if not nest.sees_its_reduce_loops:
                fail(op, "its init cannot be placed: a reduce axis depends on a loop beyond an op that is no loop")
            if nest.first_reduce is None:
                continue
            if not init_may_be_hoisted(nest):
                self._guarded[op] = nest
            self._inits.setdefault(nest.levels[nest.first_reduce], []).append(nest)

    def run(self, source: Block) -> None:
        self.lower_ops(source)
        self._free_buffers()
        self.emitter.add(func.ReturnOp())
        self.emitter.place_constants()

    # Ops

    def lower_ops(self, block: Block) -> None:
        for op in body_ops(block):
            self._lower_at(op)

    def _lower_at(self, op: Operation) -> None:
        """Lowers an op to ops at its location."""
        emitter = self.emitter
        outer, emitter.location = emitter.location, op.location
        self.lower_op(op)
        emitter.location = outer

    def lower_op(self, op: Operation) -> None:
        # No loop is in a map, so nobody has to look for one.
        if (not op.regions or op.__class__ is tile.MapOp) and not op.name.startswith("tensor_loop."):
            self.emitter.add(clone_op(op, self.values))
        elif isinstance(op, LoopOp) and op.variables:
            self.lower_loop(Level(op, 0))
        elif isinstance(op, LoopOp):
            self.lower_ops(op.body.block)
        elif isinstance(op, BlockOp):
            self.lower_block(op)
        elif isinstance(op, AllocOp):
            self.lower_alloc(op)
        elif isinstance(op, CallOp):
            arguments = [self.value(operand) for operand in op.operands]
            self.emitter.add(func.CallOp(op.callee, arguments, []))
        elif any(nested.name.startswith("tensor_loop.") for region in op.regions for nested in walk(region)):
            self._lower_regions(op)
        else:
            self.emitter.add(clone_op(op, self.values))

    def _lower_regions(self, op: Operation) -> None:
        """Keeps an op of another dialect around loops (`scf.if`, `scf.for`), with lowered regions."""
        new_op = op.clone_without_regions(self.values)
        for region, new_region in zip(op.regions, new_op.regions, strict=True):
            for block in region.blocks:
                new_block = Block(arg_types=block.arg_types)
                new_region.add_block(new_block)
                self.values.update(zip(block.args, new_block.args, strict=True))
                with self.emitter.inside(new_block):
                    self._lower_region_block(block)
        self.emitter.add(new_op)

    def _lower_region_block(self, block: Block) -> None:
        """Lowers the ops of a block of a kept op. Buffers made in it are freed before its terminator."""
        *ops, terminator = block.ops
        self._frees.append([])
        for op in ops:
            self._lower_at(op)
        self._free_buffers()
        self._frees.pop()
        self.lower_op(terminator)

    def lower_alloc(self, op: AllocOp) -> None:
        """
        Puts small buffers of known size on the stack, at the start of the function.

        The others are freed at its end.
        """
        kind = op.memref.type
        shape = kind.get_shape()
        if DYNAMIC_INDEX not in shape and _bytes(kind) <= STACK_BYTES:
            stack = memref.AllocaOp.get(
                kind.element_type, BUFFER_ALIGNMENT, shape, layout=kind.layout, memory_space=kind.memory_space
            )
            stack.location = op.location
            first = self.target.first_op
            if first is None:
                self.target.add_op(stack)
            else:
                self.target.insert_op_before(stack, first)
            result = stack.memref
        else:
            sizes = [self.value(size) for size in op.dynamic_sizes]
            result = self.emitter.add(
                memref.AllocOp.get(kind.element_type, BUFFER_ALIGNMENT, shape, sizes, kind.layout, kind.memory_space)
            ).memref
            self._frees[-1].append(result)
        result.name_hint = op.memref.name_hint
        self.values[op.memref] = result

    def _free_buffers(self) -> None:
        for buffer in reversed(self._frees[-1]):
            self.emitter.add(memref.DeallocOp.get(buffer))

    # Loops

    def lower_loop(self, level: Level) -> None:
        """Lowers the loop `level` and all it contains, with the inits that belong before it."""
        chain = reduction_chain(level, self._guarded)
        for nest in self._inits.get(level, ()):
            if nest.block in self._guarded:
                self._init_of_empty_loops(nest, level)
            elif chain is None or not chain.sets_accumulators_from(nest):
                self._init_nest(nest, level)
        if chain is not None:
            ChainLowering(chain, self, self.lower_op).run()
            return
        extent = level.extent if isinstance(level.extent, int) else self.value(level.extent)
        unchecked = UNCHECKED in level.loop.attributes
        with self.emitter.loop(extent, level.variable.name_hint, level.kind, unchecked=unchecked) as loop:
            self.values[level.variable] = loop.variable
            if level.position + 1 < len(level.loop.variables):
                self.lower_loop(Level(level.loop, level.position + 1))
            else:
                self._frees.append([])
                self.lower_ops(level.loop.body.block)
                self._free_buffers()
                self._frees.pop()

    # Blocks

    def lower_block(self, op: BlockOp) -> None:
        """Lowers the body of a block in place: a guarded init, the predicate, then its ops over the axes."""
        if op.init is not None:
            self._init_in_place(op)
        scope = self.scope(op)
        with self.emitter.where(self.predicate(scope, op.constraints)):
            self.bind_axes(scope, op, range(len(op.axes)))
            for nested in body_ops(op.body.block):
                if type(nested) is not InitOp:
                    self._lower_at(nested)

    # Inits

    def _init_nest(self, nest: ReductionNest, level: Level) -> None:
        """Emits the init over the loops from `level` inwards that spatial axes need, without the reduce loops."""
        block = nest.block
        with self.emitter.at(block.init or block):
            self._init_loops(
                nest, [inner for inner in nest.levels[nest.levels.index(level) :] if inner.variable in nest.spatial]
            )

    def _init_loops(self, nest: ReductionNest, levels: list[Level]) -> None:
        if levels:
            level = levels[0]
            extent = level.extent if isinstance(level.extent, int) else self.value(level.extent)
            unchecked = UNCHECKED in level.loop.attributes
            with self.emitter.loop(extent, level.variable.name_hint, level.kind, unchecked=unchecked) as loop:
                self.values[level.variable] = loop.variable
                self._init_loops(nest, levels[1:])
            return
        block = nest.block
        scope = self.scope(block)
        with self.emitter.where(self.predicate(scope, self.spatial_constraints(nest))):
            self.bind_axes(scope, block, self.spatial_axes(block))
            with self.emitter.where(self._within_extents(nest)):
                self.emit_init(block)

    def spatial_constraints(self, nest: ReductionNest) -> list[Constraint]:
        """Returns the terms of the predicate that say nothing about reduce loops: which points there are at all."""
        return [
            constraint
            for constraint in nest.block.constraints
            if not any(map(nest.is_only_reduced, constraint_dependencies(nest.block, constraint)))
        ]

    def _within_extents(self, nest: ReductionNest) -> SSAValue | None:
        """
        Tests the axes of an init whose predicate lacks a term about spatial and reduce loops together.

        Otherwise the init would write points outside the extents of the axes. Returns None where no such term exists.
        """
        kept = self.spatial_constraints(nest)
        block = nest.block
        if not any(
            constraint_dependencies(block, constraint) & nest.spatial
            for constraint in block.constraints
            if constraint not in kept
        ):
            return None
        conditions = [
            self.emitter.compare("ult", self.value(block.axes[position]), self.extent_value(block, position))
            for position in self.spatial_axes(block)
        ]
        return self.emitter.fold(arith.AndIOp, conditions)

    def _init_in_place(self, op: BlockOp) -> None:
        """Emits the init of a block that keeps it: in the first iteration of reduce loops, or always without any."""
        nest = self._guarded.get(op)
        if nest is None:
            if reduction_nest(op).first_reduce is not None:
                return
            constraints, conditions = list(op.constraints), []
        else:
            constraints = self.spatial_constraints(nest)
            conditions = self._first_iteration(nest)
        with self.emitter.at(op):
            scope = self.scope(op)
            term = self.predicate(scope, constraints)
            if term is not None:
                conditions.append(term)
            with self.emitter.where(self.emitter.fold(arith.AndIOp, conditions)):
                self.bind_axes(scope, op, self.spatial_axes(op))
                self.emit_init(op)

    def _first_iteration(self, nest: ReductionNest) -> list[SSAValue]:
        """
        Tests whether every reduce loop is at 0. Where a loop serves a spatial axis too, it tests the reduce axes
        instead.
        """
        conditions = [
            self.emitter.compare("eq", self.value(level.variable), 0)
            for level in nest.levels
            if nest.reduces_only(level)
        ]
        if nest.spatial & nest.reduce:
            reduce_axes = [position for position, kind in enumerate(nest.block.kinds) if kind == "reduce"]
            self.bind_axes(self.scope(nest.block), nest.block, reduce_axes)
            conditions += [
                self.emitter.compare("eq", self.value(nest.block.axes[position]), 0) for position in reduce_axes
            ]
        return conditions

    def _init_of_empty_loops(self, nest: ReductionNest, level: Level) -> None:
        """Emits a guarded init that never runs in place because a reduce loop has no iterations."""
        extents = [inner.extent for inner in nest.levels[nest.levels.index(level) :] if nest.reduces_only(inner)]
        unknown = [extent for extent in extents if not isinstance(extent, int)]
        if 0 not in extents and not unknown:
            return
        if not init_nest_exists(nest):
            fail(
                nest.block,
                "its init cannot be placed: what it needs is computed inside a reduce loop that may be empty",
            )
        tests = [self.emitter.compare("eq", self.value(extent), 0) for extent in unknown]
        with self.emitter.where(None if 0 in extents else self.emitter.fold(arith.OrIOp, tests)):
            self._init_nest(nest, level)


def _bytes(kind: MemRefType) -> int:
    """Returns the size of a buffer of known shape, in bytes."""
    elements = 1
    for extent in kind.get_shape():
        elements *= extent
    width = getattr(kind.element_type, "bitwidth", 64)
    return elements * max(1, width // 8)
