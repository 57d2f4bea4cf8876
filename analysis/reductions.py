"""Tells how a block with reduce axes accumulates, and where its init may run."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ..core.ir.answers import kept
from ..core.ir.walk import walk
from ..dialects.tensor_loop import BlockOp, Constraint
from ..lazy_dataclass import dataclass
from .access_regions import body_accesses, is_inside, root_buffer
from .affine import normal_form
from .loop_nests import Level, axis_dependencies, enclosing_levels, loop_dependencies


@dataclass(frozen=True)
class Accumulator:
    """An element per point of the spatial axes that a block updates by loads and one store, all at `indices`."""

    buffer: SSAValue
    indices: tuple[AffineExpr, ...]
    """The indices, which are affine in the spatial axes of the block."""
    store: memref.StoreOp
    loads: tuple[memref.LoadOp, ...]


@kept
def accumulators(block: BlockOp) -> tuple[Accumulator, ...] | None:
    """
    Returns the accumulators of a reduction whose whole effect is to update them, or `None` for every other block.

    Each written buffer has one store, at the top of the body, to an element that the reduce axes do not choose. All
    other accesses to it are loads of that element at the top of the body. Views and opaque accesses rule it out.
    """
    if not block.has_reduce_axes:
        return None
    found = body_accesses(block.body.block)
    if found.opaque:
        return None
    body = [
        access for access in found.accesses if block.init is None or not is_inside(access.op, block.init.body.block)
    ]
    roots = [root_buffer(buffer) for buffer in dict.fromkeys(access.buffer for access in body)]
    if len(set(roots)) != len(roots):
        return None
    result: list[Accumulator] = []
    for buffer in dict.fromkeys(access.buffer for access in body if access.is_store):
        accumulator = _accumulator(block, [access for access in body if access.buffer is buffer])
        if accumulator is None:
            return None
        result.append(accumulator)
    return tuple(result) if result else None


def _accumulator(block: BlockOp, accesses) -> Accumulator | None:
    stores = [access.op for access in accesses if access.is_store]
    loads = [access.op for access in accesses if not access.is_store]
    indices = accesses[0].indices
    if any(access.sizes is not None for access in accesses):
        return None
    if len(stores) != 1 or None in indices or any(access.indices != indices for access in accesses):
        return None
    if any(op.parent_block() is not block.body.block for op in (*stores, *loads)):
        return None
    reduce_axes = {position for position, kind in enumerate(block.kinds) if kind == "reduce"}
    if any(index.used_dims() & reduce_axes for index in indices):
        return None
    return Accumulator(accesses[0].buffer, indices, stores[0], tuple(loads))


def init_stores(block: BlockOp, found: tuple[Accumulator, ...]) -> dict[Operation, Accumulator] | None:
    """
    Maps each store of the init to the accumulator that it sets.

    The init must do nothing to memory but set each accumulator once. The result is `None` when there is no init or when
    it does more.
    """
    if block.init is None:
        return None
    body = block.init.body.block
    accesses = [access for access in body_accesses(block.body.block).accesses if is_inside(access.op, body)]
    by_buffer = {accumulator.buffer: accumulator for accumulator in found}
    result: dict[Operation, Accumulator] = {}
    for access in accesses:
        accumulator = by_buffer.get(access.buffer)
        if not access.is_store:
            if accumulator is not None:
                return None
            continue
        if accumulator is None or access.op.parent_block() is not body or access.indices != accumulator.indices:
            return None
        result[access.op] = accumulator
    buffers = [accumulator.buffer for accumulator in result.values()]
    return result if len(buffers) == len(set(buffers)) == len(found) else None


@dataclass(frozen=True)
class ReductionNest:
    """The loops around a block with reduce axes, and the loop variables that the axes depend on."""

    block: BlockOp
    levels: tuple[Level, ...]
    spatial: frozenset[SSAValue]
    """The loop variables that spatial axes depend on."""
    reduce: frozenset[SSAValue]
    """The loop variables that reduce axes depend on."""

    @property
    def first_reduce(self) -> int | None:
        """Returns the number of the outermost level that a reduce axis depends on."""
        return next((n for n, level in enumerate(self.levels) if level.variable in self.reduce), None)

    @property
    def sees_its_reduce_loops(self) -> bool:
        """
        Returns whether every variable that the reduce axes depend on is one of `levels`, so that no other op lies
        between.
        """
        return self.reduce <= {level.variable for level in self.levels}

    def is_only_reduced(self, variable: SSAValue) -> bool:
        """Returns whether reduce axes depend on the loop variable and spatial axes do not."""
        return variable in self.reduce and variable not in self.spatial

    def reduces_only(self, level: Level) -> bool:
        return self.is_only_reduced(level.variable)


def reduction_nest(block: BlockOp) -> ReductionNest:
    """Returns the loops around `block`, with the variables that its spatial and its reduce axes depend on."""
    return ReductionNest(
        block,
        enclosing_levels(block),
        frozenset(axis_dependencies(block, "spatial")),
        frozenset(axis_dependencies(block, "reduce")),
    )


def constraint_dependencies(block: BlockOp, constraint: Constraint) -> set[SSAValue]:
    """Returns the loop variables that one term of the predicate depends on."""
    dims = sorted(normal_form(constraint[0]).used_dims())
    return loop_dependencies(block.binding_operands[dim] for dim in dims)


def init_may_be_hoisted(nest: ReductionNest) -> bool:
    """
    Returns whether all of the init may run before the outermost reduce loop, over the spatial loops inside it.

    It must not when another op in that loop touches what the init writes, or writes what it reads. It must not either
    when the spatial loops or bindings need something that is computed inside that loop.
    """
    first = nest.first_reduce
    if first is None or not init_nest_exists(nest):
        return False
    return not _init_conflicts(nest.block, nest.levels[first].loop)


def init_nest_exists(nest: ReductionNest) -> bool:
    """Returns whether extents, spatial bindings and predicate can be computed before the outermost reduce loop."""
    block, first = nest.block, nest.first_reduce
    if first is None or block.init is None:
        return False
    dims = {dim for expr, _ in block.constraints for dim in expr.used_dims()}
    for expr, kind in zip(block.binding_exprs, block.kinds, strict=True):
        if kind == "spatial":
            dims |= expr.used_dims()
    variables = {level.variable for level in nest.levels}
    needed = [block.binding_operands[dim] for dim in sorted(dims)]
    needed += [level.extent for level in nest.levels[first:] if isinstance(level.extent, SSAValue)]
    outer = nest.levels[first].loop
    return not any(value not in variables and _defined_in(value, outer) for value in needed)


def _defined_in(value: SSAValue, loop: Operation) -> bool:
    owner = value.owner
    place = owner if isinstance(owner, Operation) else owner.parent_op()
    return place is not None and loop.is_ancestor(place)


def _init_conflicts(block: BlockOp, outer: Operation) -> bool:
    """Returns whether an op in `outer`, outside `block`, touches what the init writes or may write what it reads."""
    assert block.init is not None
    written, read = set[SSAValue](), set[SSAValue]()
    for op in walk(block.init):
        for operand in op.operands:
            if isinstance(operand.type, MemRefType):
                (read if isinstance(op, memref.LoadOp | memref.DimOp) else written).add(root_buffer(operand))
    if read & written:
        return True
    for op in walk(outer):
        if isinstance(op, BlockOp) or op is block.init or block.init.is_ancestor(op):
            continue
        touched = {root_buffer(operand) for operand in op.operands if isinstance(operand.type, MemRefType)}
        only_reads = isinstance(op, memref.LoadOp | memref.DimOp)
        inside = block.is_ancestor(op)
        if not inside and touched & written:
            return True
        if not only_reads and touched & read:
            return True
    return False
