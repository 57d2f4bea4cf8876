"""The pass `plan-schedules`: what is decided about each grid, as attributes of its block."""

from __future__ import annotations

from types import MappingProxyType

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute

from ...core.ir.answers import Answers, kept_answers
from ...core.ir.walk import ops_of
from ...core.messages.diagnostics import OperationError, emit_remark, remarks_wanted
from ...core.messages.origins import inherit
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...core.roles import MAXIMUM, PREPACKED, ROWS, ROWS_AT_ONCE, SHARE, STRIP, TILING
from ...dialects.schedule import LeftOutAttr, OnTilesAttr, OrderAttr
from ...dialects.tensor_loop import BlockOp, FuncOp, GridOp
from ...lazy_dataclass import dataclass
from ...machine.named import chosen_machine
from ..bytes.choose import check_flush
from ..depthwise.convolution import depthwise_of
from ..grouped.split import split_all_groups
from ..grouped.spread import decide_spread
from ..kernels.contraction import Contraction, contraction_of
from ..kernels.epilogue import following_grid
from ..kernels.given_tiling import refuse
from ..moves.digits import split_into_digits
from ..moves.joins import join_axes
from ..packed.product import PackedProduct, packed_product_of
from ..products.turned import turned
from ..strips.chain import chain_of
from ..strips.plan import plan_strips, strip_rows, why_whole
from ..windows.plan import WindowPlan
from ..windows.schedule import planned_window
from ..windows.window import Window
from .constants import Constants, run_once
from .decide import (
    Decision,
    Options,
    block_of,
    chosen_for,
    decide_depthwise,
    decide_order,
    decide_packed,
    decide_product,
    decide_shared,
    described,
    reason_of,
    write,
)
from .decide_loops import decide_loops, decide_threads, kernels
from .schedule_rules import ScheduleRules, blame, schedule_rules

OF_ITS_OWN = (OrderAttr, OnTilesAttr, LeftOutAttr)
"""The attributes that any block may have, whatever it computes."""


@dataclass(frozen=True)
class PlanSchedulesPass(StepwellPass):
    """
    Decides how the loops of each grid run, and writes each decision on its block, with the reason.

    Before:

        tensor_loop.grid (%i, %j, %k) in (96, 128, 64) { tensor_loop.block "matmul" ... { ... } }

    After:

        tensor_loop.grid (%i, %j, %k) in (96, 128, 64) {
          tensor_loop.block "matmul" ... attributes {
              stepwell.tiling = #schedule.tiling<rows = 8, columns = 48, panels_outside>,
              stepwell.reason = "8x48 sums take 24 of 32 registers and the fewest cycles; ..."} { ... } }

    Before that, the group of a grouped convolution becomes a loop of its own, divided indices become loops over
    quotients and remainders, and loops that walk through memory as one become one.

    `prepack-weights` and `apply-schedule-plan` obey these attributes, also where they are edited (docs/schedules.md).
    A decision that a block has already is kept. One that does not fit is an error at the block. Remarks tell each
    decision, and name the kernels for which nothing better than a plain loop nest was found.

    `target` names the machine to schedule for (docs/targets.md), or that of the pass context when left out. `prepack`
    says that `prepack-weights` follows, which lays out constant right operands once. It is false in a pass context that
    leaves that pass out. Without `winograd` convolutions
    are not computed by Winograd's filtering. `flush` says which products of bf16 may take numbers below 2**-126 for
    zeros: `none`, those with `weights` that are laid out once, or `all`.
    About grids that no kernel takes up the rules of `file` decide, those of `schedules.mlir` without it.
    """

    name = "plan-schedules"
    without = MappingProxyType({"prepack-weights": {"prepack": False}})

    target: str | None = None
    prepack: bool = True
    winograd: bool = True
    flush: str = "none"
    file: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_flush(self.flush, self.name)
        options = Options(chosen_machine(self.target), self.winograd, self.flush, self.file)
        constants = Constants(op) if self.prepack else None
        self.count("convolutions split into groups", split_all_groups(op))
        given = schedule_rules(self.file, (), ctx, self.name) if self.file else None
        rules = ScheduleRules(ctx, given, op, run_once(op), options.target)
        for function in ops_of(op, FuncOp):
            with kept_answers() as answers:
                Planner(function, options, constants, answers, rules).run()
                decide_loops(function, options.target)
        decide_threads(op)
        inherit(op)
        if remarks_wanted():
            for function in ops_of(op, FuncOp):
                _tell(function)


class Planner:
    """
    Plans one loop function. `constants` is `None` where no weights are laid out. `answers` are those kept about the
    function, which are forgotten where grids are rewritten. `rules` decide about grids that no kernel takes up.
    """

    def __init__(
        self,
        function: FuncOp,
        options: Options,
        constants: Constants | None,
        answers: Answers,
        rules: ScheduleRules,
    ):
        self.function = function
        self.options = options
        self.constants = constants
        self.answers = answers
        self.rules = rules
        self.rest: dict[GridOp, None] = {}
        """The grids about which nothing is decided."""
        self.products: set[BlockOp] = set()
        """The blocks whose right operand can be laid out once, where it is the same at every call."""

    def run(self) -> None:
        """
        Decides about depthwise convolutions first, then about products, and then about what these do not take up.
        """
        self.rest = dict.fromkeys(ops_of(self.function, GridOp))
        self._strips()
        for grid in [each for each in self.rest if self._is_free(each)]:
            if grid in self.rest and (d := depthwise_of(grid)) is not None:
                if allowed("schedule", "depthwise convolution", d.c.block):
                    self._decided(grid, decide_depthwise(d, self.options))
        for grid in [each for each in self.rest if self._is_free(each)]:
            if grid not in self.rest:
                continue
            packed = packed_product_of(grid)
            if packed is None:
                self._product(grid)
            else:
                self._packed_product(packed)
        self._refuse_prepacked()
        for grid in list(self.rest):
            if grid in self.rest and chosen_for(grid) is None and (found := planned_window(grid)) is not None:
                self._window(*found)
        for given in list(self.rest):
            if not isinstance(chosen_for(given), OnTilesAttr | LeftOutAttr):
                grid = self._simplified(given)
                if allowed("schedule", "order of loops", grid):
                    self._loops(grid)

    def _refuse_prepacked(self) -> None:
        """Fails at a block that asks for a right operand to be laid out, and is taken for no product that has one."""
        for block in ops_of(self.function, BlockOp):
            asked = block.attributes.get(PREPACKED)
            if asked is not None and block not in self.products and asked_to_prepack(block, None):
                refuse(block, "true", "no kernel takes it up as a product with a right operand", PREPACKED)

    def _strips(self) -> None:
        """Decides about kernels that strips of rows go through together. What is between the products is left alone."""
        chain = chain_of(self.function, is_open=True)
        if chain is None or not allowed("schedule", "strips of rows", chain.links[-1].grid):
            return
        after = following_grid(chain.links[-1].grid)
        if after is not None and chosen_for(after) is None and split_into_digits(after) is not None:
            self.answers.clear()
            self.rest = dict.fromkeys(ops_of(self.function, GridOp))
        chain = chain_of(self.function, chain.first.block)
        if chain is None:
            return
        block, target = chain.first.block, self.options.target
        if STRIP not in block.attributes and why_whole(chain, target, self.options.flush) is not None:
            return
        given = strip_rows(block) if STRIP in block.attributes else None
        rows = plan_strips(chain, target).rows if given is None else given
        kept = "stays in the second-level cache between the products"
        write(block, STRIP, IntegerAttr(rows, i64), f"what {rows} rows need {kept}")
        if rows:
            for product in (chain.first, chain.second):
                self.products.add(product.block)
                if self._is_prepacked_by_default(product):
                    write(product.block, PREPACKED, BoolAttr.from_bool(False), "strips read it where it lies")
            for link in chain.links:
                self.rest.pop(link.grid, None)
            if (found := turned(chain.first)) is not None:
                left_out = LeftOutAttr.of(block.block_name.data)
                write(found.transpose.block, TILING, left_out, "tiles are turned on the way into panels")
                self.rest.pop(found.transpose.grid, None)

    def _is_prepacked_by_default(self, c: Contraction) -> bool:
        """Returns whether `prepack-weights` lays out the right operand of `c`, where its block does not say."""
        if self.constants is None or PREPACKED in c.block.attributes:
            return False
        return self.constants.reason_against(self.function, c, self.options) is None

    def _loops(self, grid: GridOp) -> None:
        """Decides about a grid that no kernel takes up: by the rules, or else about the order of its loops."""
        block = block_of(grid)
        decided = [] if block is None or TILING in block.attributes else self.rules.decide(block)
        try:
            self._decided(grid, decide_order(grid))
        except OperationError as error:
            blame(error, decided, self.options.file)
            raise

    def _window(self, window: Window, plan: WindowPlan) -> None:
        """Leaves a reduction over windows, and a padded copy for it alone, to `apply-schedule-plan`."""
        if not allowed("schedule", "windows", window.block):
            return
        write(window.block, TILING, None, plan.reason)
        self.rest.pop(window.grid, None)
        if window.copy is not None and (block := block_of(window.copy)) is not None:
            left_out = LeftOutAttr.of(window.block.block_name.data)
            write(block, TILING, left_out, "the elements of the padding need not be in memory")
            self.rest.pop(window.copy, None)

    def _simplified(self, grid: GridOp) -> GridOp:
        """Returns a grid that does the same without divisions, and with one axis where several walk as one."""
        if chosen_for(grid) is not None:
            return grid  # What the block says is about the loops that it has.
        if not allowed("schedule", "divided indices and joined axes", grid):
            return grid
        found = split_into_digits(grid) or grid
        found = join_axes(found) or found
        if found is not grid:
            self.answers.clear()
            self.rest.pop(grid, None)
            self.rest[found] = None
        return found

    @staticmethod
    def _is_free(grid: GridOp) -> bool:
        """Returns whether the block of a grid does not ask for loops of its own, or to be taken up."""
        return not isinstance(chosen_for(grid), OF_ITS_OWN)

    def _product(self, grid: GridOp) -> None:
        c = contraction_of(grid)
        if c is None:
            return
        self.products.add(c.block)
        if not allowed("schedule", "product", c.block):
            return
        prepacked = False
        if self.constants is not None:
            reason = self.constants.reason_against(self.function, c, self.options)
            prepacked = asked_to_prepack(c.block, reason)
            write(
                c.block,
                PREPACKED,
                BoolAttr.from_bool(prepacked),
                reason or "its right operand is the same at every call",
            )
        spread = decide_spread(grid, self.options.target)
        decision = decide_product(c, prepacked, self.options) if spread is None else decide_shared(spread, self.options)
        self._decided(grid, decision)

    def _packed_product(self, p: PackedProduct) -> None:
        """Decides about a product with packed weights, if these can be laid out once."""
        block = p.c.block
        self.products.add(block)
        if self.constants is None or not allowed("schedule", "product", block):
            return
        reasons = (self.constants.reason_against_operand(self.function, p.c.grid, each.buffer) for each in p.packed)
        reason = next((each for each in reasons if each is not None), None)
        prepacked = asked_to_prepack(block, reason)
        write(block, PREPACKED, BoolAttr.from_bool(prepacked), reason or "its weights are the same at every call")
        if prepacked:
            self._decided(p.c.grid, decide_packed(p, self.options))

    def _decided(self, grid: GridOp, decision: Decision) -> None:
        """Writes a decision on the block of `grid` and on those that its kernel takes up."""
        block = block_of(grid)
        if block is None:
            return
        name = block.block_name.data
        write(block, TILING, decision.attribute, decision.reason)
        self.rest.pop(grid, None)
        taken: tuple[tuple[GridOp | None, Attribute, str], ...] = (
            (decision.epilogue, OnTilesAttr.of(name), "each element of a tile is mapped while it is in a register"),
            (decision.pad, LeftOutAttr.of(name), "the elements of the padding need not be in memory"),
        )
        for other, attribute, reason in taken:
            if other is not None and (neighbour := block_of(other)) is not None:
                write(neighbour, TILING, attribute, reason)
                self.rest.pop(other, None)


def asked_to_prepack(block: BlockOp, reason: str | None) -> bool:
    """
    Returns whether the right operand of `block` is to be laid out once: as the block says, else where it can be.
    `reason` is why it cannot. Fails at the block where it says otherwise.
    """
    found = block.attributes.get(PREPACKED)
    if found is None:
        return reason is None
    if not isinstance(found, type(BoolAttr.from_bool(True))) or found.type != BoolAttr.from_bool(True).type:
        refuse(block, found, "expected true or false", PREPACKED)
    asked = bool(found.value.data)
    if asked and reason is not None:
        refuse(block, "true", reason, PREPACKED)
    return asked


def _tell(function: FuncOp) -> None:
    """Tells the decisions about a function by remarks, one per kernel."""
    for op, block in kernels(function):
        if isinstance(op, GridOp):
            attribute = block.attributes.get(TILING)
            end = "; nothing better than a plain loop nest was found" if Decision(attribute, "").plain else ""
            text = f"{described(attribute)} because {reason_of(block, TILING)}{end}"
        else:
            text = "left alone because its single loops have a schedule"
        for name in (PREPACKED, ROWS, ROWS_AT_ONCE, MAXIMUM, SHARE):
            words = _in_words(name, block.attributes.get(name))
            text += f"; {words} because {reason_of(block, name)}" if words else ""
        emit_remark(block, f'block "{block.block_name.data}" of @{function.sym_name.data}: {text}')


def _in_words(name: str, value: Attribute | None) -> str:
    """Returns a decision beside that about the loops in words, nothing where it needs none."""
    if not isinstance(value, IntegerAttr):
        return f"its maximum passes over {value}" if isinstance(value, StringAttr) else ""
    number = value.value.data
    if name == PREPACKED:
        return "its right operand is laid out once" if number else ""
    if name == ROWS_AT_ONCE:
        return f"its loop takes {number} rows at a time" if number > 1 else ""
    if name == ROWS:
        return f"shares {number} loops with the block before" if number else ""
    return f"threads share loops of {number} ns" if number else "one thread"
