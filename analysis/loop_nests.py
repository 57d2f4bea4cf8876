"""Finds the loops around a block, one level per loop variable, and the loop variables that values depend on."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove

from ..core.ir.walk import ops_in, walk
from ..dialects.tensor_loop import BlockOp, Extent, LoopOp, YieldOp
from ..lazy_dataclass import dataclass


@dataclass(frozen=True)
class Level:
    """One loop: variable number `position` of a grid, or the loop of a `tensor_loop.for`."""

    loop: LoopOp
    position: int

    @property
    def variable(self) -> BlockArgument:
        return self.loop.variables[self.position]

    @property
    def extent(self) -> Extent:
        return self.loop.extents[self.position]

    @property
    def kind(self) -> str:
        return self.loop.kinds[self.position]


def levels_of(loop: LoopOp) -> tuple[Level, ...]:
    """Returns the levels of one op, outermost first."""
    return tuple([Level(loop, position) for position in range(len(loop.variables))])


def enclosing_levels(op: Operation) -> tuple[Level, ...]:
    """Returns the loops directly around `op`, outermost first, up to the first op that is no loop."""
    found: list[Level] = []
    parent = op.parent_op()
    while isinstance(parent, LoopOp):
        found[:0] = levels_of(parent)
        parent = parent.parent_op()
    return tuple(found)


def body_ops(block: Block) -> list[Operation]:
    """Returns the ops of `block` without its implicit terminator."""
    return [op for op in ops_in(block) if op.__class__ is not YieldOp]


def loop_dependencies(values: Iterable[SSAValue]) -> set[SSAValue]:
    """
    Returns every variable of an enclosing op that one of `values` is computed from.

    These are loop variables, and arguments of other ops with regions (`scf.for`, say) that are not functions. An axis
    of a block stands for what its binding depends on.
    """
    pending = list(values)
    seen: set[SSAValue] = set(pending)
    variables: set[SSAValue] = set()
    while pending:
        value = pending.pop()
        used: list[SSAValue] = []
        if isinstance(value.owner, Operation):
            used = [operand for nested in walk(value.owner) for operand in nested.operands]
        elif isinstance(value, BlockArgument):
            parent = value.block.parent_op()
            if isinstance(parent, BlockOp):
                dims = parent.binding_exprs[value.index].used_dims()
                used = [parent.binding_operands[dim] for dim in sorted(dims)]
            elif parent is not None and not parent.has_trait(IsolatedFromAbove, value_if_unregistered=False):
                variables.add(value)
        fresh = [operand for operand in used if operand not in seen]
        seen.update(fresh)
        pending.extend(fresh)
    return variables


def axis_dependencies(block: BlockOp, kind: str) -> set[SSAValue]:
    """Returns the loop variables that the axes of one kind (`spatial` or `reduce`) of `block` depend on."""
    dims = set[int]()
    for expr, axis_kind in zip(block.binding_exprs, block.kinds, strict=True):
        if axis_kind == kind:
            dims |= expr.used_dims()
    return loop_dependencies(block.binding_operands[dim] for dim in sorted(dims))


def perfect_block(levels: Iterable[Level]) -> BlockOp | None:
    """Returns the only op inside the innermost of `levels` if it is a block and nothing but loops lies between."""
    block: BlockOp | None = None
    for loop in dict.fromkeys([level.loop for level in levels]):
        ops = body_ops(loop.regions[0].block)
        if len(ops) != 1:
            return None
        block = ops[0] if isinstance(ops[0], BlockOp) else None
    return block
