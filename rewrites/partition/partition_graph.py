"""The pass `partition-graph`: regions become functions for code generators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from ...core.codegens import COMPILER
from ...core.messages.diagnostics import emit_remark, fail
from ...core.messages.origins import fuse
from ...core.passes.base import StepwellPass
from ...core.roles import REGION, TARGET
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import is_constant_op
from ...patterns.language.functions import PRIMITIVE, NameSupply, captured_values, outlined
from ...patterns.language.match import Session
from .annotate_target import can_be_external, open_functions
from .block_order import group_order
from .merge_regions import blocks_below
from .pattern_tables import text_attribute


@dataclass(frozen=True)
class PartitionGraphPass(StepwellPass):
    """
    Moves each region into a private function for the code generator of its target, and calls it.

    A region is the ops of a block with one `graph.region` (see `merge-regions`). An op with only a `graph.target` is a
    region of its own. Values that the region takes from outside become parameters, each once, in order of use. So do
    constants, unless `bind-constants` copies them into the function. Values that are used outside become results, each
    once. The other ops of the block move as little as possible. A region without used results is left alone, with a
    remark.

    Before:
        %0 = graph.abs %x {graph.target = "dsp", graph.region = 0 : i64} : …
        %1 = graph.relu %0 {graph.target = "dsp", graph.region = 0 : i64} : …
    After:
        %0, %1 = func.call @dsp_main_0(%x) : …
        func.func private @dsp_main_0(%x: …) -> (…, …) attributes {graph.primitive, graph.compiler = "dsp"} { … }

    Raises an error for a region with ops of several targets, and for an op that no code from outside can compute (one
    with an effect, say). It also raises one for a region that depends on itself through an op outside, which is
    possible only if somebody changed the marks by hand.
    """

    name = "partition-graph"

    bind_constants: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        session = Session(ctx, op)
        names = NameSupply(op)
        for function in list(open_functions(op)):
            for block in list(blocks_below(function)):
                regions = [region for region in regions_of(block, session) if _is_used(region)]
                if regions:
                    self._partition(op, function, block, regions, names, session)

    def _partition(
        self,
        module: ModuleOp,
        function: func.FuncOp,
        block: Block,
        regions: list[list[Operation]],
        names: NameSupply,
        session: Session,
    ) -> None:
        order = group_order(block, regions, session.purity)
        if isinstance(order, int):
            first = regions[order][0]
            fail(
                first,
                f"region {_number(first)} depends on itself through ops outside of it",
                hint="merge-regions makes regions that do not",
            )
        set_order(block, order)
        for region in regions:
            target = text_attribute(region[0], TARGET)
            assert target is not None
            stem = sanitized(f"{target}_{function.sym_name.data}_")
            made = outline_group(module, region, names.fresh(stem), bind_constants=self.bind_constants)
            made.attributes |= {PRIMITIVE: UnitAttr(), COMPILER: StringAttr(target)}
            for op in made.body.block.ops:
                op.attributes.pop(TARGET, None)
                op.attributes.pop(REGION, None)
            self.count(f"functions for {target}")


def sanitized(name: str) -> str:
    """Returns `name` as a symbol that every tool below takes. Characters but letters, digits and `_` become `_`."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _number(op: Operation) -> int | None:
    found = op.attributes.get(REGION)
    return found.value.data if isinstance(found, IntegerAttr) else None


def regions_of(block: Block, session: Session) -> list[list[Operation]]:
    """Returns the regions of a block in order of their first ops. Raises an error at an op that cannot be in one."""
    found: dict[object, list[Operation]] = {}
    for op in block.ops:
        target = text_attribute(op, TARGET)
        if target is None:
            if REGION in op.attributes:
                fail(op, f"has '{REGION}' but no '{TARGET}'")
            continue
        if not can_be_external(op, session):
            fail(op, f"code of target '{target}' cannot compute it: it is data, may fail, or has an effect")
        number = _number(op)
        region = found.setdefault(op if number is None else number, [])
        if region and (other := text_attribute(region[0], TARGET)) != target:
            fail(op, f"is of target '{target}', but region {number} is of '{other}'")
        region.append(op)
    return list(found.values())


def _is_used(region: list[Operation]) -> bool:
    if outputs_of(region):
        return True
    emit_remark(region[0], "left alone: nothing of its region is used")
    return False


def outputs_of(ops: Sequence[Operation]) -> list[SSAValue]:
    """Returns the results of `ops` that others use."""
    inside = {each for op in ops for each in op.walk()}
    return [result for op in ops for result in op.results if any(use.operation not in inside for use in result.uses)]


def set_order(block: Block, order: Iterable[Operation]) -> None:
    """Puts the ops of `block` into `order`."""
    order = list(order)
    if all(one is other for one, other in zip(block.ops, order, strict=True)):
        return
    for op in order:
        op.detach()
    block.add_ops(order)


def outline_group(
    module: ModuleOp,
    ops: Sequence[Operation],
    name: str,
    *,
    bind_constants: bool,
    inputs: Sequence[SSAValue] | None = None,
    copied: Sequence[Operation] = (),
    renamed: dict[SSAValue, SSAValue] | None = None,
) -> func.FuncOp:
    """
    Moves ops of a block, in order, into the private function `name`, and calls it where the last one was.

    Results that others use are its results, and `renamed` maps these to the results of the call. `inputs` are its
    parameters, by default all values taken from outside in order of use. The constants `copied` are copied into it, and
    with `bind_constants` all that are used.
    """
    outputs = outputs_of(ops)
    bound = dict.fromkeys(copied)
    for value in captured_values(ops):
        if bind_constants and isinstance(value.owner, Operation) and is_constant_op(value.owner):
            bound[value.owner] = None
    inputs = [value for value in (captured_values(ops) if inputs is None else inputs) if value.owner not in bound]
    function = outlined(name, [*bound, *ops], outputs, inputs, PRIMITIVE)
    module.body.block.add_op(function)
    call = func.CallOp(name, inputs, [value.type for value in outputs])
    call.location = fuse(op.location for op in ops)
    block = ops[-1].parent
    assert block is not None
    block.insert_op_after(call, ops[-1])
    inside = {each for op in ops for each in op.walk()}
    for old, new in zip(outputs, call.results, strict=True):
        new.name_hint = old.name_hint
        if renamed is not None:
            renamed[old] = new
        old.replace_uses_with_if(new, lambda use: use.operation not in inside)
    for op in reversed(ops):
        op.detach()
        op.erase()
    for op in bound:
        if not any(result.first_use for result in op.results):
            op.detach()
            op.erase()
    return function
