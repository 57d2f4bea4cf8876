"""
The pass `prepack-weights`: constant right operands of products are put into panels once, when the program is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    BoolAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    UnitAttr,
    i64,
)
from xdsl.ir import Block, BlockArgument, SSAValue

from ...core.ir.answers import kept_answers
from ...core.ir.walk import ops_of
from ...core.messages.origins import inherit
from ...core.passes.applications import allowed
from ...core.passes.base import count
from ...core.passes.stepwise import StepwisePass
from ...core.roles import PREPACKED, REASON, SHARE, TILING, WRITTEN
from ...dialects.schedule import DotsAttr, PackedAttr, TileRegistersAttr, WinogradAttr
from ...dialects.tensor_loop import BlockOp, FuncOp, GridOp
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ...machine.named import chosen_machine
from ..bytes.choose import check_flush, is_byte_product
from ..bytes.products import byte_panels, emit_byte_panels, tile_byte_product
from ..grouped.split import split_all_groups
from ..grouped.spread import Spread, decide_spread
from ..grouped.spread_tiles import spread_panels, tile_spread
from ..kernels.contraction import Contraction, Operand, contraction_of
from ..kernels.given_tiling import tiling_for
from ..kernels.tilings import Tiling
from ..packed.choose import choose_packed
from ..packed.panels import emit_panels
from ..packed.panels import panels_type as packed_type
from ..packed.product import PackedProduct, packed_product_of
from ..packed.schedule import tile_packed
from ..products.packing import emit_packing
from ..products.panels import panels_type
from ..products.tile_contraction import tile_contraction
from ..winograd.plan import Plan, Winograd, filters_type
from ..winograd.schedule import tile_winograd
from ..winograd.transforms import emit_filters
from .constants import Constants
from .decide import Options, chosen_for, decide_product, handing_on
from .given_choices import winograd_for
from .moved_weights import MovedWeight, moved_weight
from .parallelize import lift_grains
from .plan_schedules import OF_ITS_OWN, asked_to_prepack
from .prepare_functions import PrepareFunctions


@dataclass(frozen=True)
class PrepackWeightsPass(StepwisePass):
    """
    Lays out constant right operands of products and convolutions as their register tiles read them, once.

    A kernel takes the packed form of a weight that is a constant, or made by a prepare function, at every call. A
    prepare function makes that form when the program is loaded. One such function serves all weights of a side-car that
    the calls of a kernel take, listed in its `stepwell.instances` (docs/architecture.md). The product is cut into
    register tiles on the way, as `schedule-cpu` does, for `target` (docs/targets.md). Filters of 3x3 are transformed
    where that saves time (`winograd/transforms.py`), or where a block asks for it, unless `winograd` is false.
    Weights that a prepare function only moves, as when axes are permuted, are read where they are (`moved_weights.py`).
    Subnormal weights slow processors down, so they become zeros unless `subnormals` is true. `flush` is as that of
    `schedule-cpu`.

    Before:

        %w = graph.weight "w" : tensor<784x128xf32>
        %y = graph.call_kernel @matmul(%x, %w) : (tensor<1x784xf32>, tensor<784x128xf32>) -> tensor<1x128xf32>

    After:

        %p = func.call @prepare_panels0() : () -> tensor<1x784x128xf32>
        %y = graph.call_kernel @matmul(%x, %p) : (tensor<1x784xf32>, tensor<1x784x128xf32>) -> tensor<1x128xf32>
    """

    name = "prepack-weights"

    target: str | None = None
    winograd: bool = True
    flush: str = "none"
    subnormals: bool = False

    def begin(self, ctx: Context, op: ModuleOp) -> _Packer:
        check_flush(self.flush, self.name)
        lift_grains(op)
        split_all_groups(op)
        return _Packer(op, self)


@dataclass(frozen=True)
class _Panels:
    """A right operand in panels as wide as its register tiles."""

    c: Contraction
    tiling: Tiling
    clean: bool
    name = "panels"

    @property
    def block(self) -> BlockOp:
        return self.c.block

    @property
    def type(self) -> MemRefType:
        return MemRefType(self.c.b.type.element_type, panels_type(self.c, self.tiling))

    def emit(self, block: Block, weight: Operand, made: SSAValue) -> None:
        emit_packing(block, replace(self.c, b=weight), self.tiling, made, self.clean)

    def tile(self, packed: SSAValue) -> None:
        tile_contraction(self.c, self.tiling, prepacked=packed)


@dataclass(frozen=True)
class _SpreadPanels:
    """The weights of a grouped convolution whose groups share vectors, in panels as wide as those."""

    s: Spread
    target: Machine
    clean: bool
    name = "panels"

    @property
    def block(self) -> BlockOp:
        return self.s.c.block

    @property
    def type(self) -> MemRefType:
        return MemRefType(self.s.c.b.type.element_type, panels_type(self.s.c, spread_panels(self.s, self.target)))

    def emit(self, block: Block, weight: Operand, made: SSAValue) -> None:
        c = replace(self.s.c, b=self.s.whole_operand(weight))
        emit_packing(block, c, spread_panels(self.s, self.target), made, self.clean)

    def tile(self, packed: SSAValue) -> None:
        tile_spread(self.s, self.target, packed)


@dataclass(frozen=True)
class _BytePanels:
    """A right operand of bytes in panels of groups of four."""

    c: Contraction
    target: Machine
    name = "panels"

    @property
    def block(self) -> BlockOp:
        return self.c.block

    @property
    def type(self) -> MemRefType:
        return byte_panels(self.c, self.target)

    def emit(self, block: Block, weight: Operand, made: SSAValue) -> None:
        weight = replace(weight, unsigned=self.c.b.unsigned)
        emit_byte_panels(block, replace(self.c, b=weight), self.target, made)

    def tile(self, packed: SSAValue) -> None:
        tile_byte_product(self.c, self.target, packed)


@dataclass(frozen=True)
class _Filters:
    """The filters of a convolution in the form that `winograd/transforms.py` reads."""

    w: Winograd
    plan: Plan
    target: Machine
    name = "filters"

    @property
    def block(self) -> BlockOp:
        return self.w.c.block

    @property
    def type(self) -> MemRefType:
        return MemRefType(self.w.c.tile_element, filters_type(self.w, self.plan))

    def emit(self, block: Block, weight: Operand, made: SSAValue) -> None:
        emit_filters(block, replace(self.w, c=replace(self.w.c, b=weight)), self.plan, made, self.target)

    def tile(self, packed: SSAValue) -> None:
        tile_winograd(self.w, self.plan, packed, self.target)


@dataclass(frozen=True)
class _PackedPanels:
    """The packed weights of a product, or their scales or zero points, in panels."""

    p: PackedProduct
    chosen: PackedAttr
    operand: Operand
    target: Machine
    name = "panels"

    @property
    def type(self) -> MemRefType:
        return packed_type(self.p, self.chosen, self.operand, self.target)

    def emit(self, block: Block, weight: Operand, made: SSAValue) -> None:
        emit_panels(block, self.p, self.chosen, self.operand, self.target, weight.buffer, made)


_Tiled = _Panels | _SpreadPanels | _BytePanels | _Filters

_Form = _Tiled | _PackedPanels


class _Packer:
    """Packs the weights of one module."""

    def __init__(self, module: ModuleOp, options: PrepackWeightsPass):
        self.module = module
        self.options = Options(chosen_machine(options.target), options.winograd, options.flush)
        self.target = self.options.target
        self.subnormals = options.subnormals
        self._constants = Constants(module)
        self._prepare = PrepareFunctions(module, self._constants.prepare)

    @property
    def functions(self) -> list[FuncOp]:
        """The loop functions of the module."""
        return [found for found in self.module.ops if isinstance(found, FuncOp)]

    def take(self, function: FuncOp) -> None:
        """Packs the weights of all products in a loop function."""
        for grid in ops_of(function.body, GridOp):
            if grid.parent is not None and self.pack(function, grid):
                count("weights packed")

    def finish(self) -> None:
        """Erases what nothing needs any more."""
        self._prepare.erase_unused_kernels()
        inherit(self.module)

    def pack(self, kernel: FuncOp, grid: GridOp) -> bool:
        """Packs the weight of the contraction in `grid`, if it is one with a constant weight."""
        if isinstance(chosen_for(grid), OF_ITS_OWN):
            return False
        if (product := packed_product_of(grid)) is not None:
            return self._pack_product(kernel, product)
        with kept_answers():
            c = contraction_of(grid)
            if c is None or not asked_to_prepack(c.block, self._constants.reason_against(kernel, c, self.options)):
                return False
            if not allowed("schedule", "weight laid out", c.block):
                c.block.attributes[PREPACKED] = BoolAttr.from_bool(False)
                return False
            form = self._form(c)
        self._repack(kernel, c.block, c.b, form)
        self._change_kernel(kernel, [(c.b, form.type)], form.block, lambda packed: form.tile(*packed))
        return True

    def _pack_product(self, kernel: FuncOp, p: PackedProduct) -> bool:
        """Puts the weights, scales and zero points of `p` into panels, if all of them are constant."""
        reasons = [self._constants.reason_against_operand(kernel, p.c.grid, each.buffer) for each in p.packed]
        reason = next((each for each in reasons if each is not None), None)
        if not asked_to_prepack(p.c.block, reason):
            return False
        if not allowed("schedule", "weight laid out", p.c.block):
            p.c.block.attributes[PREPACKED] = BoolAttr.from_bool(False)
            return False
        chosen = choose_packed(p, self.target)
        forms = [_PackedPanels(p, chosen, each, self.target) for each in p.packed]
        for form in forms:
            self._repack(kernel, p.c.block, form.operand, form)
        changed = [(form.operand, form.type) for form in forms]
        self._change_kernel(kernel, changed, p.c.block, lambda packed: tile_packed(p, chosen, self.target, packed))
        return True

    def _repack(self, kernel: FuncOp, block: BlockOp, operand: Operand, form: _Form) -> None:
        """Gives every call of `kernel` the new form of an operand of `block`, which a prepare function makes."""
        assert isinstance(operand.buffer, BlockArgument)
        calls, position = self._constants.users(kernel), operand.buffer.index
        sources = list(dict.fromkeys(call.inputs[position] for call in calls))
        leaves = self._leaves(sources, operand, form)
        packing = self._packing(block, operand, form, next(iter(leaves.values()), None))
        made = self._prepare.packed(sources, leaves, packing, form.type)
        for call in calls:
            call.operands[position] = made[call.inputs[position]]
        for source in {source.owner: source for source in made}.values():  # Several may be results of one op.
            self._prepare.erase_unused(source)

    def _form(self, c: Contraction) -> _Tiled:
        """
        Returns the form that the weight of `c` gets, as its block says or else by the rules. Filters of a convolution
        are transformed where that pays, and other weights are put into panels.
        """
        spread = decide_spread(c.grid, self.target)
        if spread is not None:
            return _SpreadPanels(spread, self.target, not self.subnormals)
        found = c.block.attributes.get(TILING)
        planned = REASON in c.block.attributes and not (isinstance(found, WinogradAttr) and not self.options.winograd)
        if not planned or found is None:
            decision = decide_product(c, True, self.options)
            c.block.attributes[TILING] = found = decision.attribute or found  # pyright: ignore[reportArgumentType]
        if isinstance(found, WinogradAttr) and (chosen := winograd_for(c, self.target)) is not None:
            w, plan = chosen
            serial = SHARE in c.block.attributes and c.block.attributes[SHARE] == IntegerAttr(0, i64)
            return _Filters(w, replace(plan, parts=1) if serial else plan, self.target)
        bytes_ = isinstance(found, DotsAttr | TileRegistersAttr)
        if bytes_ and is_byte_product(c, self.target, prepacked=True, flush=self.options.flush):
            return _BytePanels(c, self.target)
        return _Panels(c, tiling_for(c, True, self.target), not self.subnormals)

    def _leaves(self, sources: list[SSAValue], operand: Operand, form: _Form) -> dict[SSAValue, MovedWeight]:
        """
        Returns the weights that prepare functions make `sources` of, if all of them only move elements, and in the same
        way, and the form reads them where they are.
        """
        if not isinstance(form, _Panels | _BytePanels):
            return {}
        prepare, extents = self._prepare, form.c.extents
        found = {
            source: moved_weight(source, operand, extents, prepare.functions, prepare.kernels) for source in sources
        }
        leaves = {source: leaf for source, leaf in found.items() if leaf is not None}
        ways = {(leaf.type, leaf.indices) for leaf in leaves.values()}
        return leaves if len(leaves) == len(sources) and len(ways) == 1 else {}

    def _packing(self, block: BlockOp, operand: Operand, form: _Form, moved: MovedWeight | None) -> FuncOp:
        """Builds the loop function that puts an operand of `block` into a form, of a weight as it is or `moved`."""
        source_type = operand.type if moved is None else moved.type
        function = FuncOp.create_named(
            self._prepare.fresh(f"pack_{form.name}"),
            [source_type],
            [form.type],
            ["weight", form.name],
            visibility="private",
        )
        function.attributes[WRITTEN] = UnitAttr()
        function.location = block.location
        (weight,), (made,) = function.inputs, function.outputs
        indices = operand.indices if moved is None else moved.indices
        form.emit(function.body.block, Operand(weight, indices), made)
        self.module.body.block.add_op(function)
        return function

    @staticmethod
    def _change_kernel(
        kernel: FuncOp,
        changed: list[tuple[Operand, MemRefType]],
        scheduled: BlockOp,
        tile: Callable[[tuple[SSAValue, ...]], None],
    ) -> None:
        """Changes the kernel to take new forms, by new arguments in the places of operands, which `tile` reads."""
        block, olds, news = kernel.body.block, [], []
        types = {cast(BlockArgument, operand.buffer).index: type_ for operand, type_ in changed}
        for operand, type_ in changed:
            old = cast(BlockArgument, operand.buffer)
            olds.append(old)
            news.append(block.insert_arg(type_, old.index))
            news[-1].name_hint = old.name_hint
        with handing_on(scheduled):
            tile(tuple(news))
        for old in olds:
            block.erase_arg(old)
        inputs = [types.get(number, each) for number, each in enumerate(kernel.input_types)]
        kernel.properties["function_type"] = FunctionType.from_lists(inputs, kernel.output_types)
