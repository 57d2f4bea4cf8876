"""Blocks: isolated units of computation over named axes, with init and access regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    StringAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from ...core.ir.number_lists import integers_of
from ...core.ir.reprs import ShownOp
from ..traits import ClosedToLoops
from .affine_expressions import bounds, is_linear, show_affine, well_formed
from .block_syntax import BlockParts, parse_block, print_head
from .loops import loop_variable_range
from .regions import BufferRegion, body_accesses, covers, infer_regions, region_properties, regions_of, shape_of
from .syntax import (
    AXIS_KINDS,
    Constraint,
    Extent,
    join_extents,
    predicate_properties,
    print_attributes,
    print_body,
    split_extents,
    value_name,
    verify_extents,
)
from .terminators import YieldOp, complete_bodies
from .uses import verify_uses


@irdl_op_definition
class InitOp(ShownOp):
    """
    The init of a block with reduce axes. It runs once per point of the spatial axes, before any iteration of the reduce
    axes, even when a reduce axis has extent 0. It is the first op of its block and uses spatial axes only. It is
    written `init {}`.
    """

    name = "tensor_loop.init"

    body = region_def("single_block")

    traits = lazy_traits_def(lambda: (SingleBlockImplicitTerminator(YieldOp), HasParent(BlockOp)))

    def __init__(self, body: Region | None = None):
        super().__init__(regions=[Region(Block()) if body is None else body])

    def __post_init__(self) -> None:
        super().__post_init__()
        complete_bodies(self)

    @classmethod
    def parse(cls, parser: Parser) -> InitOp:
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(parser.parse_region([]))
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        print_attributes(printer, self)
        print_body(printer, self.body)


@irdl_op_definition
class BlockOp(ShownOp):
    """
    A unit of computation, executed once per iteration of the loops around it where its predicate holds.

    The body sees the axes (its arguments), never the loop variables. Axis `a` has the value of its binding, an affine
    expression of the loop variables. `spatial` iterations are independent of each other. `reduce` iterations accumulate
    and may run in any order. `reads` and `writes` are inferred from the body when left out.

    ```mlir
    tensor_loop.block "row_sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) reads(%A[%vi, %vk]) writes(%S[%vi]) {
      init {
        memref.store %zero, %S[%vi] : memref<4xf32>
      }
      ...
    }
    ```
    """

    name = "tensor_loop.block"

    dynamic_extents = var_operand_def(IndexType)
    binding_operands = var_operand_def(IndexType)
    read_buffers = var_operand_def()
    write_buffers = var_operand_def()

    block_name = prop_def(StringAttr)
    axis_kinds = prop_def(ArrayAttr[StringAttr])
    static_extents = prop_def(DenseArrayBase.constr(i64))
    bindings = prop_def(AffineMapAttr)
    predicate = opt_prop_def(AffineMapAttr)
    predicate_bounds = opt_prop_def(DenseArrayBase.constr(i64))
    read_maps = prop_def(ArrayAttr[AffineMapAttr])
    read_sizes = prop_def(ArrayAttr[DenseArrayBase[IntegerType]])
    write_maps = prop_def(ArrayAttr[AffineMapAttr])
    write_sizes = prop_def(ArrayAttr[DenseArrayBase[IntegerType]])

    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), ClosedToLoops())

    def __init__(
        self,
        name: str,
        kinds: Sequence[str],
        extents: Sequence[Extent],
        bindings: Sequence[AffineExpr],
        binding_operands: Sequence[SSAValue],
        body: Region,
        constraints: Sequence[Constraint] = (),
        reads: Sequence[BufferRegion] | None = None,
        writes: Sequence[BufferRegion] | None = None,
    ):
        """Makes a block. `bindings` and `constraints` are over `binding_operands`. Absent regions are inferred."""
        inferred_reads, inferred_writes = (), ()
        if reads is None or writes is None:
            inferred_reads, inferred_writes = infer_regions(body.block, "reduce" in kinds)
        reads = inferred_reads if reads is None else tuple(reads)
        writes = inferred_writes if writes is None else tuple(writes)
        numbers, values = split_extents(extents)
        num_operands = len(binding_operands)
        properties: dict[str, Attribute | None] = {
            "block_name": StringAttr(name),
            "axis_kinds": ArrayAttr(StringAttr(kind) for kind in kinds),
            "static_extents": numbers,
            "bindings": AffineMapAttr(AffineMap(num_operands, 0, tuple(bindings))),
            **predicate_properties(num_operands, constraints),
            **region_properties("read", len(kinds), reads),
            **region_properties("write", len(kinds), writes),
        }
        super().__init__(
            operands=[
                values,
                binding_operands,
                [region.buffer for region in reads],
                [region.buffer for region in writes],
            ],
            properties=properties,
            regions=[body],
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        complete_bodies(self)

    @property
    def axes(self) -> tuple[BlockArgument, ...]:
        return self.regions[0].block._args  # pyright: ignore[reportPrivateUsage]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Returns `spatial` or `reduce` for each axis."""
        kinds: Any = self.properties["axis_kinds"]
        return tuple([kind.data for kind in kinds.data])

    @property
    def extents(self) -> tuple[Extent, ...]:
        """Returns the extent of each axis, whose values are `0 <= axis < extent`."""
        numbers: Any = self.properties["static_extents"]
        found = integers_of(numbers)
        return join_extents(numbers, self.dynamic_extents) if DYNAMIC_INDEX in found else found

    def axis(self, number: int) -> tuple[str, Extent]:
        """Returns the kind and the extent of one axis."""
        kinds: Any = self.properties["axis_kinds"]
        numbers: Any = self.properties["static_extents"]
        extent = integers_of(numbers)[number]
        return kinds.data[number].data, self.extents[number] if extent == DYNAMIC_INDEX else extent

    @property
    def has_reduce_axes(self) -> bool:
        return "reduce" in self.kinds

    @property
    def init(self) -> InitOp | None:
        first = self.regions[0].block._first_op  # pyright: ignore[reportPrivateUsage]
        return first if isinstance(first, InitOp) else None

    @property
    def binding_exprs(self) -> tuple[AffineExpr, ...]:
        """Returns the value of each axis, over `binding_operands`."""
        return self.bindings.data.results

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Returns the predicate over `binding_operands`. The block runs where all of these constraints hold."""
        if self.predicate is None or self.predicate_bounds is None:
            return ()
        bounds = self.predicate_bounds.get_values()
        return tuple((expr, int(bound)) for expr, bound in zip(self.predicate.data.results, bounds, strict=True))

    @property
    def reads(self) -> tuple[BufferRegion, ...]:
        """Returns the regions that the body reads, over the axes. The accumulator of a reduction is not among them."""
        return regions_of(self.read_buffers, self.read_maps, self.read_sizes)

    @property
    def writes(self) -> tuple[BufferRegion, ...]:
        return regions_of(self.write_buffers, self.write_maps, self.write_sizes)

    def refresh_regions(self) -> None:
        """
        Infers `reads` and `writes` again, and those of the blocks around this one, which hold them. Call it after a
        change of the body.
        """
        reads, writes = infer_regions(self.body.block, self.has_reduce_axes)
        self.set_regions(reads, writes)
        around = self.parent_op()
        while around is not None and not isinstance(around, BlockOp):
            around = around.parent_op()
        if around is not None:
            around.refresh_regions()

    def set_regions(self, reads: Sequence[BufferRegion], writes: Sequence[BufferRegion]) -> None:
        """Replaces `reads` and `writes`."""
        groups = (
            list(self.dynamic_extents),
            list(self.binding_operands),
            [region.buffer for region in reads],
            [region.buffer for region in writes],
        )
        num_axes = len(self.axes)
        self.operands = [value for group in groups for value in group]
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [len(group) for group in groups])
        self.properties.update(region_properties("read", num_axes, reads))
        self.properties.update(region_properties("write", num_axes, writes))

    def verify_(self) -> None:
        _verify_block(self)

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        parts, attributes = parse_block(parser)
        op = cls(**vars(parts))
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        print_head(printer, self._parts())
        print_attributes(printer, self)
        print_body(printer, self.body, bare=InitOp)

    def _parts(self) -> BlockParts:
        return BlockParts(
            self.block_name.data,
            self.kinds,
            self.extents,
            self.binding_exprs,
            self.binding_operands,
            self.body,
            self.constraints,
            self.reads,
            self.writes,
        )


def _verify_block(op: BlockOp) -> None:
    """Raises VerifyException with the first thing wrong in `op`."""
    subject = f'block "{op.block_name.data}"'
    _verify_axes(subject, op)
    _verify_predicate(subject, op)
    _verify_binding_ranges(subject, op)
    _verify_region_shapes(subject, op, "read")
    _verify_region_shapes(subject, op, "write")
    _verify_init(subject, op)
    verify_uses(subject, op)
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
    """Verifies that without a predicate a binding whose exact range is known stays within the extent of its axis."""
    if op.predicate is not None:
        return
    ranges = [loop_variable_range(value) for value in op.binding_operands]
    if any(found is not None and found[1] < found[0] for found in ranges):
        return  # The block never runs.
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


def _verify_regions(subject: str, op: BlockOp) -> None:
    """Verifies that the declared regions hold what the body touches. Buffers that other ops touch are trusted."""
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
