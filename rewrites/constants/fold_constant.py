"""The pass `fold-constant`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import PassFailedException

from ...core.ir.replacing import erase_op, replace_all_uses
from ...core.ir.walk import op_and_inside
from ...core.messages.diagnostics import emit_remark
from ...core.messages.origins import fuse
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass, count
from ...dialects.traits import LoopSemantics, constant_kind, is_pure
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import is_constant_op
from ...patterns.running.driver import program_order
from .prepare_functions import move_to_prepare_functions

if TYPE_CHECKING:
    from ...te.tensor import Tensor

Expression = tuple["Sequence[Tensor]", "Sequence[Tensor]"]
"""Placeholders for the operands of an op, and its results."""

Expressions = dict[Hashable, tuple[tuple[Attribute, ...], Expression]]
"""The expressions of ops by what they are made of. It keeps alive what its keys know by identity."""


@dataclass(frozen=True)
class FoldConstantPass(StepwellPass):
    """
    Computes what depends on constants only.

    Pure graph ops on constants of at most `max-elements` elements become constants (`graph.full` when all elements
    are equal). What is larger, or depends on a weight, moves to a private function without arguments that runs once
    per set of weights. An `scf.if` with a constant condition is replaced by the branch it takes. An op that would
    fail stays and fails at run time.

    Before:
        %w = graph.weight "w" : tensor<10x784xf32>
        %t = graph.permute_dims %w : …
        %y = graph.matmul %x, %t : …
    After:
        %t = func.call @prepare_0() : () -> tensor<784x10xf32>
        %y = graph.matmul %x, %t : …
        func.func private @prepare_0() attributes {stepwell.prepare} { … }
    """

    name = "fold-constant"

    max_elements: int = 1024
    prepare: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.max_elements < 0:
            raise PassFailedException(f"{self.name}: max-elements is {self.max_elements}, expected 0 or more")
        known: Expressions = {}
        for each in program_order(op):
            if each.parent is None:
                continue
            if isinstance(each, scf.IfOp):
                inline_taken_branch(each)
            elif self._can_fold(each):
                fold(each, known)
        if self.prepare:
            move_to_prepare_functions(op)

    def _can_fold(self, op: Operation) -> bool:
        if op.name == "tensor.extract":
            return all(is_literal(value) or _index(value) is not None for value in op.operands)
        if not isinstance(op, LoopSemantics) or not op.operands or not all(map(is_literal, op.operands)):
            return False
        values = (*op.operands, *op.results)
        return is_pure(op) and all(0 <= elements(value) <= self.max_elements for value in values)


def is_literal(value: SSAValue) -> bool:
    """Returns whether `value` is a `graph.constant` or `graph.full`."""
    return isinstance(value, OpResult) and constant_kind(value.op) in ("literal", "splat")


def elements(value: SSAValue) -> int:
    """Returns the number of elements of a static tensor, -1 for anything else."""
    type_ = value.type
    if not isinstance(type_, TensorType) or DYNAMIC_INDEX in type_.get_shape():
        return -1
    return prod(type_.get_shape())


def _index(value: SSAValue) -> int | None:
    """Returns the number that an `arith.constant` of an integer type is."""
    if isinstance(value, OpResult) and is_constant_op(value.op):
        attribute = value.op.properties.get("value")
        if isinstance(attribute, IntegerAttr):
            return attribute.value.data
    return None


def fold(op: Operation, known: Expressions) -> None:
    """Replaces `op` by constants. Leaves it, with a remark, when computing it fails."""
    new_ops = _extracted(op) if op.name == "tensor.extract" else _evaluated(op, known)
    if new_ops is None or op.parent is None or not allowed("fold", op.name, op):
        return
    location = fuse([op.location, *(v.owner.location for v in op.operands if isinstance(v.owner, Operation))])
    for new_op, result in zip(new_ops, op.results, strict=True):
        new_op.location = location
        new_op.results[0].name_hint = result.name_hint
        replace_all_uses(result, new_op.results[0])
    op.parent.insert_ops_before(new_ops, op)
    erase_with_constants(op)
    count("folded ops")


def _evaluated(op: Operation, known: Expressions) -> list[Operation] | None:
    from ...te.evaluation import CheckFailed, evaluate
    from .constant_values import array_of, constant_of

    arrays = [array_of(value.owner) for value in op.operands if isinstance(value.owner, Operation)]
    try:
        operands, made = _expressions(op, arrays, known)
        found = evaluate(made, dict(zip(operands, arrays, strict=True)))
    except CheckFailed as failure:
        emit_remark(op, f"not folded: it fails with '{failure}'")
        return None
    types = [result.type for result in op.results]
    return [
        constant_of(array, type_) for array, type_ in zip(found, types, strict=True) if isinstance(type_, TensorType)
    ]


def _expressions(op: Operation, arrays: Sequence[Any], known: Expressions) -> Expression:
    """Returns the tensor expressions of an op. Ops that are alike share them."""
    from ...te.evaluation import expressions_of

    if op.regions:
        return expressions_of(op, arrays)  # pyright: ignore[reportArgumentType]
    named = {**op.properties, **op.attributes}
    types = (*(value.type for value in (*op.operands, *op.results)), *named.values())
    key = (type(op), len(op.operands), len(op.properties), *named, *map(id, types))
    if key not in known:
        known[key] = types, expressions_of(op, arrays)  # pyright: ignore[reportArgumentType]
    return known[key][1]


def _extracted(op: Operation) -> list[Operation] | None:
    """Returns the element that a `tensor.extract` reads, as an `arith.constant`, or `None` when it is outside."""
    from .constant_values import array_of

    source, *rest = op.operands
    if not is_literal(source) or not isinstance(source.owner, Operation):
        return None
    indices = [index for value in rest if (index := _index(value)) is not None]
    array = array_of(source.owner)
    if len(indices) != array.ndim or not all(0 <= i < size for i, size in zip(indices, array.shape, strict=True)):
        return None
    number, type_ = array[tuple(indices)].item(), op.results[0].type
    if isinstance(number, float):
        if number != number:
            return None
        return [arith.ConstantOp(FloatAttr(number, type_))]  # pyright: ignore
    return [arith.ConstantOp(IntegerAttr(-int(number) if str(type_) == "i1" else int(number), type_))]  # pyright: ignore


def erase_with_constants(op: Operation) -> None:
    """Erases `op`, and the constants and weights that it was the last to use."""
    producers = [value.owner for each in op_and_inside(op) for value in each.operands]
    erase_op(op)
    for producer in dict.fromkeys(producers):
        if isinstance(producer, Operation) and producer.parent is not None and _is_unused_leaf(producer):
            erase_op(producer)


def _is_unused_leaf(op: Operation) -> bool:
    leaf = constant_kind(op) is not None
    return leaf and all(result.first_use is None for result in op.results)


def inline_taken_branch(op: scf.IfOp) -> None:
    """Replaces an `scf.if` with a constant condition by the content of the branch it takes."""
    condition = _index(op.cond)
    if condition is None or op.parent is None or not allowed("fold", op.name, op):
        return
    take_branch(op, condition != 0)
    count("inlined branches")


def take_branch(op: scf.IfOp, condition: bool) -> list[Operation]:
    """Replaces an `scf.if` by the ops of one of its branches, which it returns."""
    assert op.parent is not None
    region = op.true_region if condition else op.false_region
    inner: list[Operation] = []
    if region.blocks:
        block = region.block
        last = block.last_op
        assert last is not None
        inner = [each for each in block.ops if each is not last]
        for each in inner:
            each.detach()
        op.parent.insert_ops_before(inner, op)
        for result, value in zip(op.results, last.operands, strict=True):
            result.replace_all_uses_with(value)
    erase_with_constants(op)
    return inner
