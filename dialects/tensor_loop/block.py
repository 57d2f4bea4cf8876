"""Blocks: isolated units of computation over named axes, with init and access regions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
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

from ..traits import ClosedToLoops
from .regions import BufferRegion, infer_regions
from .syntax import Extent, join_extents, print_attributes, print_body, split_extents
from .terminators import YieldOp, complete_bodies

AXIS_KINDS = ("spatial", "reduce")

Constraint = tuple[AffineExpr, int]
"""`expression < bound`, over the binding operands of a block."""


@irdl_op_definition
class InitOp(IRDLOperation):
    """
    What a block with reduce axes does first: runs once per point of the spatial axes, before any iteration of the
    reduce axes (also when a reduce axis has extent 0). First op of its block; uses spatial axes only. Written `init {}`.
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
class BlockOp(IRDLOperation):
    """
    One unit of computation, executed once per iteration of the loops around it where its predicate holds.

    The body sees the axes (its arguments), never the loop variables. Axis `a` has the value of its binding, an affine
    expression of the loop variables; `spatial` iterations are independent of each other, `reduce` iterations
    accumulate and may run in any order. `reads` and `writes` are inferred from the body when left out.

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
        """`bindings` and `constraints` are over `binding_operands`; regions are inferred where `None`."""
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
            **_predicate_properties(num_operands, constraints),
            **_region_properties("read", len(kinds), reads),
            **_region_properties("write", len(kinds), writes),
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
        return self.body.block.args

    @property
    def kinds(self) -> tuple[str, ...]:
        """`spatial` or `reduce`, one per axis."""
        return tuple(kind.data for kind in self.axis_kinds)

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The extent of each axis: its values are `0 <= axis < extent`."""
        return join_extents(self.static_extents, self.dynamic_extents)

    @property
    def has_reduce_axes(self) -> bool:
        return any(kind.data == "reduce" for kind in self.axis_kinds)

    @property
    def init(self) -> InitOp | None:
        first = self.body.block.first_op
        return first if isinstance(first, InitOp) else None

    @property
    def binding_exprs(self) -> tuple[AffineExpr, ...]:
        """The value of each axis, over `binding_operands`."""
        return self.bindings.data.results

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The predicate: the block runs where all of these hold. Over `binding_operands`."""
        if self.predicate is None or self.predicate_bounds is None:
            return ()
        bounds = self.predicate_bounds.get_values()
        return tuple((expr, int(bound)) for expr, bound in zip(self.predicate.data.results, bounds, strict=True))

    @property
    def reads(self) -> tuple[BufferRegion, ...]:
        """What the body reads, over the axes; the accumulator of a reduction is not among it."""
        return _regions(self.read_buffers, self.read_maps, self.read_sizes)

    @property
    def writes(self) -> tuple[BufferRegion, ...]:
        return _regions(self.write_buffers, self.write_maps, self.write_sizes)

    def refresh_regions(self) -> None:
        """Infers `reads` and `writes` anew; to be called after a change of the body."""
        reads, writes = infer_regions(self.body.block, self.has_reduce_axes)
        self.set_regions(reads, writes)

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
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(
            _segment_type(self), [len(group) for group in groups]
        )
        self.properties.update(_region_properties("read", num_axes, reads))
        self.properties.update(_region_properties("write", num_axes, writes))

    def verify_(self) -> None:
        from .block_verification import verify_block

        verify_block(self)

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        from .block_syntax import parse_block

        return parse_block(parser)

    def print(self, printer: Printer) -> None:
        from .block_syntax import print_block

        print_block(printer, self)


def _segment_type(op: BlockOp):
    sizes = op.properties["operandSegmentSizes"]
    assert isinstance(sizes, DenseArrayBase)
    return sizes.elt_type


def _predicate_properties(num_operands: int, constraints: Sequence[Constraint]) -> dict[str, Attribute | None]:
    if not constraints:
        return {"predicate": None, "predicate_bounds": None}
    exprs = tuple(expr for expr, _ in constraints)
    return {
        "predicate": AffineMapAttr(AffineMap(num_operands, 0, exprs)),
        "predicate_bounds": DenseArrayBase.from_list(i64, [bound for _, bound in constraints]),
    }


def _region_properties(which: str, num_axes: int, regions: Sequence[BufferRegion]) -> dict[str, Attribute]:
    maps = ArrayAttr(AffineMapAttr(AffineMap(num_axes, 0, region.lows)) for region in regions)
    sizes = ArrayAttr(DenseArrayBase.from_list(i64, list(region.sizes)) for region in regions)
    return {f"{which}_maps": maps, f"{which}_sizes": sizes}


def _regions(
    buffers: Sequence[SSAValue], maps: ArrayAttr[AffineMapAttr], sizes: ArrayAttr[DenseArrayBase[IntegerType]]
) -> tuple[BufferRegion, ...]:
    return tuple(
        BufferRegion(buffer, mapping.data.results, tuple(int(size) for size in extents.get_values()))
        for buffer, mapping, extents in zip(buffers, maps, sizes, strict=True)
    )
