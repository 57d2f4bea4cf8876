"""The pass `apply-fusion-plan`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...core.ir.replacing import erase_op, replace_all_uses
from ...core.ir.structural_hash import Texts
from ...core.ir.symbols import symbol
from ...core.ir.walk import op_and_inside
from ...core.messages.origins import Shared, fuse
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...dialects.graph.calls import CallKernelOp
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import PRIMITIVE, NameSupply, Purity, captured_values, outlined
from ...patterns.running.driver import is_dead
from .neutral import make_alike
from .numbers import Group, Numbers, open_numbers
from .plan import erase_plan, has_plan, planned_functions, read_plan

# pyright: reportPrivateUsage=false

MOST_NAMES = 6
"""The number of ops that the name of a function spells out."""


@dataclass(frozen=True)
class ApplyFusionPlanPass(StepwellPass):
    """
    Moves each group of a fusion plan that has two ops or more into a fused function of its own.

    The function is named after its ops. The values that the group takes from outside are its parameters, in the order
    of use. Its results are what is used outside, in the order of the ops. What needs one of several results and stands
    before the last op of the group moves behind it. Groups that compute the same share one function. Constants all of
    whose elements are one number are copied into it. Where groups differ only in such numbers that have no dimensions
    and are added, subtracted or multiplied, or are scales and zero points of conversions, these numbers are parameters,
    so that the groups share one. So do groups of which one lacks such an op, or the difference from a small tensor,
    that another one has. It gets that op with a number that changes nothing. The plan is removed, and ops that are
    alone in their group stay where they are. The groups are those of `graph.group`, whoever wrote it.

    Before:
        %0 = graph.add %x, %b {graph.group = 0 : i64} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
        %1 = graph.relu %0 {graph.group = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    After:
        %1 = func.call @fused_add_relu0(%x, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
        func.func private @fused_add_relu0(%x, %b) attributes {graph.primitive} { … }

    Raises `OperationError` at an op where the plan is not valid.
    """

    name = "apply-fusion-plan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        planned = [(each, read_plan(each)) for each in planned_functions(op) if has_plan(each)]
        made = _Functions(op)
        taken: list[list[Operation]] = []
        for function, groups in planned:
            erase_plan(function)
            taken += [[*ops] for ops in groups if len(ops) > 1 and allowed("fusion", self.name, ops[-1])]
        self.count("neutral ops added", make_alike(taken, made.texts))
        numbers = Numbers()
        chosen = [Group.of(ops, numbers) for ops in taken]
        open_numbers(chosen, made.texts)
        for group in chosen:
            _outline(group, made)
            self.count("groups fused")
            self.count("ops in them", len(group.ops))
        _erase_dead({source: None for group in chosen for source in group.sources}, Purity(op))
        made.shared.settle()
        self.count("functions", len(made.by_hash))


class _Functions:
    """The functions made so far, one for all groups that compute the same."""

    def __init__(self, module: ModuleOp):
        self._module, self._names, self.texts = module, NameSupply(module), Texts()
        self._made: dict[str, func.FuncOp] = {}
        self.shared = Shared()
        self.by_hash: dict[str, str] = {}

    def name_of(
        self, key: str, ops: Sequence[Operation], outputs: Sequence[SSAValue], inputs: Sequence[SSAValue], stem: str
    ) -> str:
        """
        Returns the name of a function with copies of `ops` that gives `outputs`, results of some of them. The key is
        the same for ops that compute the same.
        """
        if tuple(outputs) != tuple(ops[-1].results):
            places = {result: f" {number}.{result.index}" for number, op in enumerate(ops) for result in op.results}
            key += "".join(places[value] for value in outputs)  # pyright: ignore[reportArgumentType]
        if key not in self.by_hash:
            self.by_hash[key] = self._names.fresh(stem)
            function = outlined(self.by_hash[key], ops, outputs, inputs, PRIMITIVE)
            self._module.body.block.add_op(function)
            self._made[key] = function
        else:
            self._share(self._made[key], ops)
        return self.by_hash[key]

    def _share(self, function: func.FuncOp, ops: Sequence[Operation]) -> None:
        """Notes that `function` and each op in it stand for a further group."""
        for op in ops:
            self.shared.add(function, op.location)
        for own, op in zip(function.body.block.ops, ops, strict=False):
            for inner, other in zip(op_and_inside(own), op_and_inside(op), strict=True):
                self.shared.add(inner, other.location)


def _outline(group: Group, made: _Functions) -> None:
    """Puts a call of the function of a group in the place of its last op. What needs an earlier result follows."""
    ops, copied = group.ops, group.copied
    block = ops[0].parent
    assert block is not None
    outputs = _outputs(ops)
    root = _gathered(ops) if any(value.owner is not ops[-1] for value in outputs) else ops[-1]
    inputs = captured_values([*copied, *ops])
    name = made.name_of(group.key, [*copied, *ops], outputs, inputs, function_stem(ops))
    # The constructor would take as long as the hash of a group.
    types = [value.type for value in outputs]
    call = func.CallOp.create(operands=inputs, result_types=types, properties={"callee": symbol(name)})
    call.location = fuse(op.location for op in ops)
    block.insert_op_before(call, root)
    for value, result in zip(outputs, call.results, strict=True):
        result.name_hint = value.name_hint
        replace_all_uses(value, result)
    for op in reversed(ops):
        erase_op(op)
    for full in copied:
        erase_op(full)


def _erase_dead(sources: Iterable[Operation], purity: Purity) -> None:
    """Erases the constants among `sources` that nothing uses any more."""
    for op in sources:
        if is_dead(op, purity):
            erase_op(op)


def _outputs(ops: Sequence[Operation]) -> list[SSAValue]:
    """Returns the results of `ops` that are used outside. Where nothing uses the last op, all of its results count."""
    inside = {each for op in ops for each in op_and_inside(op)}
    used: list[SSAValue] = [
        value for op in ops for value in op.results if any(use.operation not in inside for use in value.uses)
    ]
    return used or list(ops[-1].results)


def _gathered(ops: Sequence[Operation]) -> Operation:
    """Moves what needs one of `ops` and stands between them behind the last, and returns that."""
    block = ops[0].parent
    assert block is not None
    left, inside = set(ops), set(ops)
    needed = {result for op in ops for result in op.results}
    moved: list[Operation] = []
    last = ops[-1]
    for op in block.ops:
        if op in inside:
            left.remove(op)
            last = op
        elif any(operand in needed for each in op_and_inside(op) for operand in each._operands):
            needed.update(op.results)
            moved.append(op)
        if not left:
            break
    for op in reversed(moved):
        op.detach()
        block.insert_op_after(op, last)
    return last


def function_stem(ops: Sequence[Operation]) -> str:
    """Returns `fused_` and the names of the first ops: `fused_matmul_add_relu`, `fused_exp_sum_…_and_20_more_`."""
    names = [_plain_name(op) for op in ops]
    if len(names) > MOST_NAMES:
        names[MOST_NAMES - 1 :] = ["and", str(len(names) - MOST_NAMES + 1), "more_"]
    return "_".join(["fused", *names])


def _plain_name(op: Operation) -> str:
    if isinstance(op, CallKernelOp):
        return op.callee_name
    return op.name.partition(".")[2].replace(".", "_")
