"""Moves ops that depend on constants and weights only to functions that run once per set of weights."""

from __future__ import annotations

from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Operation, OpResult, SSAValue

from ...core.ir.replacing import erase_op, replace_all_uses
from ...core.messages.origins import fuse
from ...core.passes.base import count
from ...core.roles import PREPARE
from ...dialects.graph.contraction import Conv2dOp, MatmulOp
from ...dialects.traits import LoopSemantics, LoopTemplate, constant_kind, is_pure, may_fail
from ...patterns.language.functions import NameSupply, functions_of, is_primitive, outlined
from ...patterns.running.driver import program_order
from .known_indices import indices_are_inside

PRODUCTS = (MatmulOp, Conv2dOp)

MOST_GROWTH = 2
"""A result with more elements than this times its largest operand is cheaper to make again than to read."""

MOST_GROWTH_FOR_PRODUCTS = 16
"""A product lays its weights out before it runs, so what it reads may grow as 2 bits of 32 do."""


def move_to_prepare_functions(module: ModuleOp) -> None:
    """
    Moves every largest connected group of constant graph ops to a private function `@prepare_N`.

    Leaves (constants, weights) are copied into the function. Ops that may fail stay, so that loading weights cannot
    fail, but for those at constant indices that are in range. So do results much larger than the values they are made
    of, and groups without a constant or weight.
    """
    names = NameSupply(module)
    for function in list(functions_of(module)):
        if is_primitive(function) or PREPARE in function.attributes or not function.body.blocks:
            continue
        ops = [op for op in program_order(function) if op.regions == () and op.results]
        static = _static_ops(ops)
        calls: list[Operation] = []
        for group in _connected_groups(ops, static):
            outputs = [result for op in group for result in op.results if _is_used_outside(result, static)]
            if outputs and any(_has_content(op, static) for op in group):
                calls.append(_move(module, group, outputs, names.fresh("prepare_")))
        if calls:
            first = function.body.blocks[0].first_op
            assert first is not None
            function.body.blocks[0].insert_ops_before(calls, first)
            for call in calls:
                call.verify()


def _is_leaf(op: object) -> bool:
    return constant_kind(op) in ("literal", "splat", "weight")


def _static_ops(ops: list[Operation]) -> set[Operation]:
    """Returns the ops (no leaves) that depend on leaves only and may run at load time."""
    static: set[Operation] = set()
    for op in ops:
        owners = [value.owner for value in op.operands]
        if owners and all(_is_leaf(owner) or owner in static for owner in owners) and _may_move(op):
            static.add(op)
    large = {op for op in static if _growth(op) > MOST_GROWTH}
    return static if not large else static - _without_products(ops, static, large)


def _without_products(ops: list[Operation], static: set[Operation], large: set[Operation]) -> set[Operation]:
    """Returns the ops that are `large` and that no product reads, through any others, and all that needs them."""
    read_by_product: set[Operation] = set()
    for op in reversed(ops):
        users = {use.operation for result in op.results for use in result.uses}
        reads = any(isinstance(user, PRODUCTS) if user not in static else user in read_by_product for user in users)
        if reads and (op not in large or _growth(op) <= MOST_GROWTH_FOR_PRODUCTS):
            read_by_product.add(op)
    left: set[Operation] = set()
    for op in ops:
        if op in large - read_by_product or any(value.owner in left for value in op.operands):
            left.add(op)
    return left


def _may_move(op: Operation) -> bool:
    if not isinstance(op, LoopSemantics | LoopTemplate) or not is_pure(op):
        return False
    if may_fail(op) and not indices_are_inside(op):
        return False
    return min(_elements(result) for result in op.results) >= 0


def _growth(op: Operation) -> float:
    """Returns how many times the elements of its largest operand the largest result has."""
    largest = max(_elements(value) for value in op.operands)
    return max(_elements(result) for result in op.results) / max(largest, 1)


def _elements(value: SSAValue) -> int:
    type_ = value.type
    if not isinstance(type_, TensorType) or DYNAMIC_INDEX in type_.get_shape():
        return -1
    return prod(type_.get_shape())


def _connected_groups(ops: list[Operation], static: set[Operation]) -> list[list[Operation]]:
    """Returns the groups of static ops that feed each other, in program order, by their first op."""
    group_of: dict[Operation, list[Operation]] = {}
    for op in ops:
        if op not in static:
            continue
        group = [op]
        for value in op.operands:
            other = group_of.get(value.owner)  # pyright: ignore[reportArgumentType]
            if other is not None and other is not group:
                small, large = (group, other) if len(group) <= len(other) else (other, group)
                large.extend(small)
                for each in small:
                    group_of[each] = large
                group = large
        group_of.setdefault(op, group)
    number = {op: position for position, op in enumerate(ops)}
    groups = {id(group): group for group in group_of.values()}
    for group in groups.values():
        group.sort(key=number.__getitem__)
    return sorted(groups.values(), key=lambda group: number[group[0]])


def _is_used_outside(result: OpResult, static: set[Operation]) -> bool:
    return any(use.operation not in static for use in result.uses)


def _has_content(op: Operation, static: set[Operation]) -> bool:
    """Returns whether an op reads a constant or weight. Splats alone are cheaper to make again."""
    return any(_is_leaf(value.owner) and constant_kind(value.owner) != "splat" for value in op.operands)


def _move(module: ModuleOp, group: list[Operation], outputs: list[OpResult], name: str) -> Operation:
    """Makes the function of `group` and the call of it, and erases the group. Returns the call."""
    used = [value.owner for op in group for value in op.operands]
    leaves = [owner for owner in dict.fromkeys(used) if isinstance(owner, Operation) and _is_leaf(owner)]
    module.body.block.add_op(outlined(name, [*leaves, *group], outputs, [], PREPARE))
    call = func.CallOp(name, [], [value.type for value in outputs])
    call.location = fuse(op.location for op in group)
    for value, result in zip(outputs, call.results, strict=True):
        result.name_hint = value.name_hint
        replace_all_uses(value, result)
    for op in reversed(group):
        erase_op(op)
    for leaf in leaves:
        if leaf.results[0].first_use is None:
            erase_op(leaf)
    count("prepare functions")
    return call
