"""Reads and edits loop nests: loops around a block, the bindings of a block, new loops around new blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseArrayBase, IndexType, StringAttr, i64
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.affine import Interval, bounds, linear_terms
from ...analysis.loop_nests import body_ops
from ...core.ir.cloning import clone_op
from ...dialects.tensor_loop import BlockOp, Constraint, Extent, ForOp, FuncOp, GridOp, LoopOp
from ...dialects.tensor_loop.loops import loop_variable_range
from ...dialects.tensor_loop.syntax import split_extents
from .affine import Coverage, simplify, told_apart
from .errors import refuse

Bound = tuple[AffineExpr, Sequence[SSAValue]]
"""An expression over values."""


def function_of(op: Operation) -> FuncOp:
    """Returns the loop function around `op`."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    assert parent is not None
    return parent


def blocks_of(op: Operation) -> list[BlockOp]:
    """Returns all blocks in `op`, in order of the text."""
    return [found for found in op.walk() if isinstance(found, BlockOp)]


def loops_of(block: Operation) -> list[ForOp]:
    """Returns the loops around `block`, outermost first. Grids around it become single loops."""
    found: list[ForOp] = []
    parent = block.parent_op()
    while isinstance(parent, LoopOp):
        outer = parent.parent_op()
        found[:0] = split_grid(parent) if isinstance(parent, GridOp) else [_for(parent)]
        parent = outer
    return found


def _for(loop: LoopOp) -> ForOp:
    assert isinstance(loop, ForOp)
    return loop


def split_grid(grid: GridOp) -> list[ForOp]:
    """Replaces `grid` by single loops, and returns them, outermost first."""
    if not grid.variables:
        refuse("the grid has no loops", grid)
    loops = [ForOp(extent, variable.name_hint) for extent, variable in zip(grid.extents, grid.variables, strict=True)]
    for outer, inner in zip(loops, loops[1:], strict=False):
        insert_first(inner, outer)
    for variable, loop in zip(grid.variables, loops, strict=True):
        variable.replace_all_uses_with(loop.variable)
        loop.location = grid.location
    move_body(grid, loops[-1])
    loops[0].attributes.update(grid.attributes)
    Rewriter.replace_op(grid, loops[0])
    return loops


def move_body(source: LoopOp, target: LoopOp) -> None:
    """Moves what `source` holds to the end of `target`."""
    terminator = target.body.block.last_op
    assert terminator is not None
    for op in body_ops(source.body.block):
        op.detach()
        target.body.block.insert_op_before(op, terminator)


def insert_first(op: Operation, loop: LoopOp) -> None:
    """Puts `op` before all others in the body of `loop`."""
    first = loop.body.block.first_op
    assert first is not None
    loop.body.block.insert_op_before(op, first)


def replace_loop(old: Operation, new: Operation) -> None:
    """Puts `new` where `old`, which nothing uses any more, stands."""
    new.location = old.location
    Rewriter.insert_op(new, InsertPoint.before(old))
    erase(old)


def erase(op: Operation) -> None:
    """Takes `op`, whose results nothing uses, out of its block and erases it."""
    op.detach()
    op.erase()


def erase_nest(block: BlockOp) -> None:
    """Erases `block` with all loops that are empty after that."""
    op: Operation = block
    parent = op.parent_op()
    while isinstance(parent, LoopOp) and body_ops(parent.body.block) == [op]:
        op, parent = parent, parent.parent_op()
    erase(op)


def top_of(op: Operation) -> Operation:
    """Returns the op at the top of the function that holds `op`."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        op, parent = parent, parent.parent_op()
    return op


def is_alone(block: BlockOp) -> bool:
    """Returns whether the nest of `block` holds nothing else."""
    op: Operation = block
    parent = op.parent_op()
    while isinstance(parent, LoopOp):
        if body_ops(parent.body.block) != [op]:
            return False
        op, parent = parent, parent.parent_op()
    return isinstance(parent, FuncOp)


def perfect_chain(outer: ForOp, inner: ForOp) -> list[ForOp] | None:
    """
    Returns the loops from `outer` to `inner`, each the only op in the one before. It is `None` where they are not
    nested like that.
    """
    found = [inner]
    while found[0] is not outer:
        parent = found[0].parent_op()
        if not isinstance(parent, ForOp) or body_ops(parent.body.block) != [found[0]]:
            return None
        found.insert(0, parent)
    return found


def loop_name(loop: LoopOp) -> str:
    """Returns the name of the loop in messages, which is that of its first variable, as in `%i`."""
    return f"%{loop.variables[0].name_hint or 'loop'}"


def block_name(block: BlockOp) -> str:
    """Returns the name of the block in messages, as in `block "name"`."""
    return f'block "{block.block_name.data}"'


def fresh_block_name(function: FuncOp, wish: str) -> str:
    """Returns `wish`, with a number when another block of the function has that name."""
    taken = {block.block_name.data for block in blocks_of(function)}
    return next(n for n in chain((wish,), (f"{wish}_{k}" for k in count(1))) if n not in taken)


# What a block is bound to


def ranges_of(values: Sequence[SSAValue]) -> list[Interval | None]:
    """Returns the range of each of `values`, which are loop variables as a rule."""
    return [loop_variable_range(value) for value in values]


def rebind(
    block: BlockOp,
    bindings: Sequence[AffineExpr],
    operands: Sequence[SSAValue],
    constraints: Sequence[Constraint],
    kinds: Sequence[str] | None = None,
    extents: Sequence[Extent] | None = None,
) -> None:
    """
    Gives a block new bindings and predicate over `operands`, simplified. Terms that always hold are left out. Operands
    that no expression uses are dropped.
    """
    ranges = ranges_of(operands)
    exprs = [simplify(expr, ranges) for expr in bindings]
    terms = [(simplify(expr, ranges), bound) for expr, bound in constraints]
    terms = [term for term in dict.fromkeys(terms) if not _holds(term, ranges)]
    used = sorted({dim for expr in (*exprs, *(term[0] for term in terms)) for dim in expr.used_dims()})
    renamed = [AffineDimExpr(used.index(dim)) if dim in used else ZERO for dim in range(len(operands))]
    exprs = [expr.replace_dims_and_symbols(renamed, ()) for expr in exprs]
    terms = [(expr.replace_dims_and_symbols(renamed, ()), bound) for expr, bound in terms]
    kinds = block.kinds if kinds is None else kinds
    numbers, values = split_extents(block.extents if extents is None else extents)
    groups = (values, [operands[dim] for dim in used], list(block.read_buffers), list(block.write_buffers))
    segments = block.properties["operandSegmentSizes"]
    assert isinstance(segments, DenseArrayBase)
    block.operands = [value for group in groups for value in group]
    block.properties["operandSegmentSizes"] = DenseArrayBase.from_list(
        segments.elt_type, [len(group) for group in groups]
    )
    block.properties["static_extents"] = numbers
    block.properties["axis_kinds"] = ArrayAttr(StringAttr(kind) for kind in kinds)
    block.properties["bindings"] = AffineMapAttr(AffineMap(len(used), 0, tuple(exprs)))
    for name in ("predicate", "predicate_bounds"):
        block.properties.pop(name, None)
    if terms:
        block.properties["predicate"] = AffineMapAttr(AffineMap(len(used), 0, tuple(expr for expr, _ in terms)))
        block.properties["predicate_bounds"] = DenseArrayBase.from_list(i64, [bound for _, bound in terms])


ZERO = AffineConstantExpr(0)


def _holds(constraint: Constraint, ranges: Sequence[Interval | None]) -> bool:
    interval = bounds(constraint[0], ranges)
    return interval is not None and interval[1] < constraint[1]


def substitute(block: BlockOp, replaced: Mapping[SSAValue, Bound], more: Sequence[tuple[Bound, int]] = ()) -> None:
    """Replaces binding operands of `block` by expressions of other values, and adds terms to its predicate."""
    operands: list[SSAValue] = []

    def dim(value: SSAValue) -> AffineExpr:
        if value not in operands:
            operands.append(value)
        return AffineDimExpr(operands.index(value))

    def over(bound: Bound) -> AffineExpr:
        expr, values = bound
        return expr.replace_dims_and_symbols([dim(value) for value in values], ())

    new = [over(replaced[value]) if value in replaced else dim(value) for value in list(block.binding_operands)]
    bindings = [expr.replace_dims_and_symbols(new, ()) for expr in block.binding_exprs]
    constraints = [(expr.replace_dims_and_symbols(new, ()), bound) for expr, bound in block.constraints]
    constraints += [(over(term), bound) for term, bound in more]
    rebind(block, bindings, operands, constraints)


def check_only_bound(loop: ForOp) -> list[BlockOp]:
    """Returns the blocks bound to the variable of `loop`, and refuses when anything else uses it."""
    found: dict[BlockOp, None] = {}
    for use in loop.variable.uses:
        op = use.operation
        if not isinstance(op, BlockOp) or use.index not in _binding_range(op):
            refuse(f"{loop_name(loop)} is used by '{op.name}' other than as the binding of a block", loop, op)
        found[op] = None
    return [block for block in blocks_of(loop) if block in found]


def _binding_range(op: BlockOp) -> range:
    first = len(op.dynamic_extents)
    return range(first, first + len(op.binding_operands))


def check_covers_axes(block: BlockOp, *blamed: Operation) -> None:
    """Refuses a block that is not known to run for every value of its axes. Ops that are `blamed` too come first."""
    if not covers_axes(block):
        refuse(f"{block_name(block)} is not known to run for every value of its axes", *blamed, block)


def covers_axes(block: BlockOp, axes: Sequence[int] | None = None) -> bool:
    """
    Returns whether the loops around `block` run it for every value of its axes (or those `axes`), all extents known.
    """
    ranges = ranges_of(block.binding_operands)
    limits: dict[AffineExpr, int] = {}
    for expr, bound in block.constraints:
        limits[expr] = min(bound, limits.get(expr, bound))
    coverage = Coverage(ranges, limits)
    for number, (expr, extent) in enumerate(zip(block.binding_exprs, block.extents, strict=True)):
        if axes is not None and number not in axes:
            continue
        found = coverage.extent(expr)
        if found is None or not isinstance(extent, int) or found < extent:
            return False
    return coverage.used_limits == set(limits)


def runs_once(block: BlockOp) -> bool:
    """Returns whether no two iterations of the loops around `block` run it for the same values of its axes."""
    loops = loops_of(block)  # This comes first, since it gives grids other variables.
    operands = list(block.binding_operands)
    ranges = ranges_of(operands)
    exprs = [simplify(expr, ranges) for expr in block.binding_exprs]
    told = told_apart([(linear_terms(expr)[0], 0) for expr in exprs], (), ranges)
    return all(
        loop.extent == 1 or (loop.variable in operands and operands.index(loop.variable) in told) for loop in loops
    )


# New loops and blocks


def new_nest(names: Sequence[str | None], extents: Sequence[Extent], like: Operation) -> list[ForOp]:
    """Makes loops around each other, which are in no function yet."""
    loops = [ForOp(extent, name) for name, extent in zip(names, extents, strict=True)]
    for outer, inner in zip(loops, loops[1:], strict=False):
        insert_first(inner, outer)
    for loop in loops:
        loop.location = like.location
    return loops


def bound_block(
    name: str,
    axes: Sequence[tuple[str, Extent, str | None]],
    bindings: Sequence[AffineExpr],
    operands: Sequence[SSAValue],
    body: Block,
    like: Operation,
    constraints: Sequence[Constraint] = (),
) -> BlockOp:
    """Makes a block over `body`, whose arguments are the axes, given as (kind, extent, name)."""
    for argument, (_, _, hint) in zip(body.args, axes, strict=True):
        argument.name_hint = hint
    block = BlockOp(
        name,
        [kind for kind, _, _ in axes],
        [extent for _, extent, _ in axes],
        bindings,
        operands,
        Region(body),
        constraints,
    )
    for op in block.walk():
        op.location = like.location
    return block


def axes_block(rank: int) -> Block:
    """Makes an empty body with `rank` axes."""
    return Block(arg_types=[IndexType()] * rank)


def place(loops: Sequence[ForOp], block: BlockOp, at: InsertPoint) -> Operation:
    """Puts `block` into the innermost of `loops` and the nest at `at`. Returns the outermost op."""
    top: Operation = block
    if loops:
        insert_first(block, loops[-1])
        top = loops[0]
    Rewriter.insert_op(top, at)
    return top


def short_name(axis: BlockArgument) -> str:
    """Returns the name of a loop for an axis, such as `i` for `vi`."""
    name = axis.name_hint or f"a{axis.index}"
    return name[1:] if name.startswith("v") and name[1:2].isalpha() else name


def clone_located(op: Operation, values: dict[SSAValue, SSAValue]) -> Operation:
    """Makes a copy of `op` over `values` with the locations of the original."""
    copy = clone_op(op, values)
    for old, new in zip(op.walk(), copy.walk(), strict=True):
        new.location = old.location
    return copy
