"""What must hold of a block."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, IndexType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.utils.exceptions import VerifyException

from .affine_expressions import bounds, is_linear, well_formed
from .block import AXIS_KINDS, BlockOp, InitOp
from .loops import LoopOp, loop_variable_range
from .regions import BufferRegion, body_accesses, covers, infer_regions, shape_of
from .syntax import value_name, verify_extents


def verify_block(op: BlockOp) -> None:
    """Raises VerifyException with the first thing wrong in `op`."""
    subject = f'block "{op.block_name.data}"'
    _verify_axes(subject, op)
    _verify_predicate(subject, op)
    _verify_binding_ranges(subject, op)
    _verify_region_shapes(subject, op, "read")
    _verify_region_shapes(subject, op, "write")
    _verify_init(subject, op)
    _verify_uses(subject, op)
    _verify_regions(subject, op)


def _verify_axes(subject: str, op: BlockOp) -> None:
    axes = len(op.axes)
    for what, found in (
        ("axis kinds", len(op.axis_kinds)),
        ("extents", len(op.static_extents)),
        ("bindings", len(op.binding_exprs)),
    ):
        if found != axes:
            raise VerifyException(f"{subject} has {axes} axes but {found} {what}")
    for axis in op.axes:
        if not isinstance(axis.type, IndexType):
            raise VerifyException(f"{subject}: axis is of type {axis.type}, expected index")
    for kind in op.kinds:
        if kind not in AXIS_KINDS:
            raise VerifyException(f"{subject}: unknown axis kind '{kind}', expected spatial or reduce")
    verify_extents(subject, op.static_extents, op.dynamic_extents)
    _verify_map(subject, "bindings", op.bindings, len(op.binding_operands))


def _verify_map(subject: str, what: str, mapping: AffineMapAttr, num_dims: int) -> None:
    found = mapping.data
    if found.num_dims != num_dims or found.num_symbols != 0:
        raise VerifyException(
            f"{subject}: {what} have {found.num_dims} dimensions and {found.num_symbols} symbols, "
            f"expected {num_dims} and none"
        )
    if not all(well_formed(expr, num_dims) for expr in found.results):
        raise VerifyException(f"{subject}: {what} are not affine: {mapping}")


def _verify_predicate(subject: str, op: BlockOp) -> None:
    if op.predicate is None and op.predicate_bounds is None:
        return
    if op.predicate is None or op.predicate_bounds is None:
        raise VerifyException(f"{subject} has a predicate without bounds, or bounds without a predicate")
    expressions, limits = len(op.predicate.data.results), len(op.predicate_bounds)
    if expressions != limits:
        raise VerifyException(f"{subject}: predicate has {expressions} expressions but {limits} bounds")
    _verify_map(subject, "predicates", op.predicate, len(op.binding_operands))


def _verify_binding_ranges(subject: str, op: BlockOp) -> None:
    """Without a predicate, a binding whose exact range is known must stay within the extent of its axis."""
    if op.predicate is not None:
        return
    ranges = [loop_variable_range(value) for value in op.binding_operands]
    if any(found is not None and found[1] < found[0] for found in ranges):
        return  # the block never runs
    for axis, expr, extent in zip(op.axes, op.binding_exprs, op.extents, strict=True):
        found = bounds(expr, ranges)
        if found is None or not isinstance(extent, int) or not is_linear(expr):
            continue
        if found[0] < 0 or found[1] >= extent:
            raise VerifyException(
                f"{subject}: the binding of axis {value_name(axis)} runs from {found[0]} to {found[1]}, expected "
                f"0 to {extent - 1}; add a where clause or change the extent"
            )


def _verify_region_shapes(subject: str, op: BlockOp, which: str) -> None:
    if which == "read":
        buffers, maps, sizes = op.read_buffers, op.read_maps, op.read_sizes
    else:
        buffers, maps, sizes = op.write_buffers, op.write_maps, op.write_sizes
    if not len(buffers) == len(maps) == len(sizes):
        raise VerifyException(
            f"{subject} has {len(buffers)} {which} buffers, {len(maps)} maps and {len(sizes)} lists of sizes"
        )
    for buffer, mapping, extents in zip(buffers, maps, sizes, strict=True):
        if not hasattr(buffer.type, "get_shape"):
            raise VerifyException(f"{subject}: {value_name(buffer)} is of type {buffer.type}, expected a memref")
        rank, found = len(shape_of(buffer)), len(mapping.data.results)
        if found != rank or len(extents) != rank:
            raise VerifyException(
                f"{subject}: region of {value_name(buffer)} has {found} dimensions but the buffer has rank {rank}"
            )
        _verify_map(subject, f"{which} regions", mapping, len(op.axes))
        for size in extents.get_values():
            if size < 0 and size != DYNAMIC_INDEX:
                raise VerifyException(
                    f"{subject}: region of {value_name(buffer)} has size {int(size)}, expected 0 or more"
                )


def _verify_init(subject: str, op: BlockOp) -> None:
    for position, nested in enumerate(op.body.block.ops):
        if isinstance(nested, InitOp) and position > 0:
            raise VerifyException(f"{subject}: init must be the first op of the block, and the only init")
    if op.init is None:
        return
    if not op.has_reduce_axes:
        raise VerifyException(f"{subject} has an init but no reduce axis")
    reduce_axes = {axis for axis, kind in zip(op.axes, op.kinds, strict=True) if kind == "reduce"}
    for nested in op.init.walk():
        for operand in nested.operands:
            if operand in reduce_axes:
                raise VerifyException(
                    f"{subject}: init uses the reduce axis {value_name(operand)}; init may use spatial axes only"
                )


def _verify_uses(subject: str, op: BlockOp) -> None:
    """The body uses nothing that is defined inside a loop around it."""
    checked: set[SSAValue] = set()
    for nested in op.body.block.walk():
        for operand in nested.operands:
            if operand in checked:
                continue
            checked.add(operand)
            if _varies_outside(operand, op):
                raise VerifyException(f"{subject}: '{nested.name}' uses {_what(operand)}; use a block axis")


def _what(value: SSAValue) -> str:
    if isinstance(value, BlockArgument):
        return f"the loop variable {value_name(value)}"
    return f"{value_name(value)}, which is computed inside a loop"


def _varies_outside(value: SSAValue, op: BlockOp) -> bool:
    """Whether `value` is defined inside a loop that is around `op`."""
    block: Block | None = value.block if isinstance(value, BlockArgument) else _block_of(value)
    parent = None if block is None else block.parent_op()
    return isinstance(parent, LoopOp) and parent.is_ancestor(op)


def _block_of(value: SSAValue) -> Block | None:
    owner = value.owner
    return owner.parent_block() if isinstance(owner, Operation) else owner


def _verify_regions(subject: str, op: BlockOp) -> None:
    """Declared reads and writes hold what the body touches; buffers touched by other ops are taken on trust."""
    reads, writes = infer_regions(op.body.block, op.has_reduce_axes)
    trusted = set(body_accesses(op.body.block).opaque)
    for keyword, declared, needed in (("reads", op.reads, reads), ("writes", op.writes, writes)):
        declared_by_buffer = {region.buffer: region for region in declared}
        needed_by_buffer = {region.buffer: region for region in needed}
        wrong = any(
            region.buffer not in trusted
            and (region.buffer not in declared_by_buffer or not covers(declared_by_buffer[region.buffer], region))
            for region in needed
        ) or any(region.buffer not in trusted and region.buffer not in needed_by_buffer for region in declared)
        if wrong:
            raise VerifyException(
                f"{subject} declares {keyword}{_show(declared, op.axes)} but its body has "
                f"{keyword}{_show(needed, op.axes)}"
            )


def _show(regions: Sequence[BufferRegion], axes: Sequence[SSAValue]) -> str:
    return f"({', '.join(_show_region(region, axes) for region in regions)})"


def _show_region(region: BufferRegion, axes: Sequence[SSAValue]) -> str:
    parts = [
        show_affine(low, axes) + ("" if size == 1 else " : ?" if size == DYNAMIC_INDEX else f" : {size}")
        for low, size in zip(region.lows, region.sizes, strict=True)
    ]
    return f"{value_name(region.buffer)}[{', '.join(parts)}]"


def show_affine(expr: AffineExpr, dims: Sequence[SSAValue]) -> str:
    """`expr` as text with the name hints of its values, for messages."""
    from io import StringIO

    from xdsl.printer import Printer

    from .affine_expressions import print_affine

    stream = StringIO()
    printer = Printer(stream=stream)
    print_affine(printer, expr, dims)
    return stream.getvalue()
