"""Conditions on the axes of a block: the places where they change, and the rest of them on a part of an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i1, i64
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.affine import affine_of_value, linear_terms
from ...core.ir.literals import constant_of
from ...core.ir.walk import ops_of, walk
from ...dialects import tensor_loop
from ...dialects.traits import is_pure
from .inline_blocks import is_inside

_COMPARED: dict[str, tuple[Callable[[int], bool], tuple[int, ...]]] = {
    "eq": (lambda x: x == 0, (0, 1)),
    "ne": (lambda x: x != 0, (0, 1)),
    "slt": (lambda x: x < 0, (0,)),
    "sle": (lambda x: x <= 0, (1,)),
    "sgt": (lambda x: x > 0, (1,)),
    "sge": (lambda x: x >= 0, (0,)),
}
"""The answer of each predicate for left < right, and the differences from which on its answer may change."""


def _difference(op: arith.CmpiOp, axes: dict[SSAValue, int]) -> tuple[int, int] | None:
    """Returns `(axis, offset)` where the op compares `axis + offset` with 0."""
    sides = [affine_of_value(side, axes, {}) for side in op.operands]
    if sides[0] is None or sides[1] is None:
        return None
    terms, offset = linear_terms(sides[0] - sides[1])
    if len(terms) != 1:
        return None
    ((term, factor),) = terms.items()
    return (term.position, offset) if isinstance(term, AffineDimExpr) and factor == 1 else None


def _predicate(op: arith.CmpiOp) -> str:
    return arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]


def _axes(block: tensor_loop.BlockOp) -> dict[SSAValue, int]:
    return {axis: position for position, axis in enumerate(block.axes)}


def borders_of(block: tensor_loop.BlockOp) -> dict[int, list[int]]:
    """
    Returns the borders of each axis, the indices from which on a condition that chooses the value has another answer.
    """
    axes, found = _axes(block), dict[int, set[int]]()
    for op in _conditions(block):
        difference = _difference(op, axes)
        if difference is None:
            continue
        axis, offset = difference
        extent = block.extents[axis]
        places = {place - offset for place in _COMPARED[_predicate(op)][1]}
        found.setdefault(axis, set()).update(
            place for place in places if isinstance(extent, int) and 0 < place < extent
        )
    return {axis: sorted(places) for axis, places in found.items() if places}


def _conditions(block: tensor_loop.BlockOp) -> list[arith.CmpiOp]:
    """Returns the signed comparisons of indices on which an `scf.if` depends, by itself or with others."""
    pending = [op.cond for op in ops_of(block, scf.IfOp)]
    found: dict[arith.CmpiOp, None] = {}
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, arith.AndIOp | arith.OrIOp):
            pending += owner.operands
        elif isinstance(owner, arith.CmpiOp) and _predicate(owner) in _COMPARED:
            found[owner] = None
    return list(found)


def take_part(nest: tensor_loop.GridOp, block: tensor_loop.BlockOp, axis: int, span: tuple[int, int]) -> None:
    """
    Lets a perfect nest run over `span` of an axis only.

    The value of the axis then is that of a shorter axis plus the start of the span.
    """
    first, last = span
    for op in (nest, block):
        sizes = list(op.static_extents.get_values())
        sizes[axis] = last - first
        op.properties["static_extents"] = DenseArrayBase.from_list(i64, sizes)
    if first == 0:
        return
    argument, body = block.axes[axis], block.body.block
    start = arith.ConstantOp(IntegerAttr.from_index_int_value(first))
    moved = arith.AddiOp(argument, start.result)
    argument.replace_uses_with_if(moved.result, lambda use: use.operation is not moved)
    assert body.first_op is not None
    Rewriter.insert_op((start, moved), InsertPoint.before(body.first_op))


def decide(block: tensor_loop.BlockOp) -> None:
    """Replaces conditions that have one answer on all of the block by that answer, with what follows from it."""
    axes = _axes(block)
    _take_answers(block, axes, {axis: (0, extent) for axis, extent in enumerate(block.extents)})
    _shorten_indices(block, axes)
    _erase_dead(block)


def decide_within(block: tensor_loop.BlockOp, axis: int, span: tuple[int, int]) -> None:
    """Replaces conditions that have one answer on `span` of an axis by that. The block runs over all of the axis."""
    _take_answers(block, _axes(block), {axis: span})
    _erase_dead(block)


Spans = Mapping[int, tuple[int, int | SSAValue]]


def _take_answers(block: tensor_loop.BlockOp, axes: dict[SSAValue, int], spans: Spans) -> None:
    for op in ops_of(block, arith.CmpiOp):
        known = _answer(op, axes, spans)
        if known is not None:
            _replace_by(op, _truth(op, known))
    for op in list(walk(block)):
        if op is not block and not is_inside(op, block):
            continue  # It stood in a branch that is gone.
        if isinstance(op, arith.AndIOp | arith.OrIOp):
            _simplify(op)
        elif isinstance(op, scf.IfOp) and (known := constant_of(op.cond)) is not None:
            _take_branch(op, bool(known))


def _answer(op: arith.CmpiOp, axes: dict[SSAValue, int], spans: Spans) -> bool | None:
    name = _predicate(op)
    difference = _difference(op, axes) if name in _COMPARED else None
    if difference is None or difference[0] not in spans:
        return None
    axis, offset = difference
    first, last = spans[axis]
    holds, turns = _COMPARED[name]
    if not isinstance(last, int) or any(first < turn - offset < last for turn in turns):
        return None
    return holds(first + offset)


def _truth(place: Operation, value: bool) -> SSAValue:
    constant = arith.ConstantOp(IntegerAttr(int(value), i1))
    Rewriter.insert_op(constant, InsertPoint.before(place))
    return constant.result


def _replace_by(op: Operation, value: SSAValue) -> None:
    op.results[0].replace_all_uses_with(value)
    op.detach()
    op.erase()


def _simplify(op: arith.AndIOp | arith.OrIOp) -> None:
    """Replaces `true and x` by `x` and `false and x` by `false`, and the other way round for `or`."""
    for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if op.result.type == i1 and (known := constant_of(value)) is not None:
            _replace_by(op, other if bool(known) == isinstance(op, arith.AndIOp) else value)
            return


def _take_branch(op: scf.IfOp, which: bool) -> None:
    """Moves the ops of a branch in place of the `scf.if`."""
    region = op.true_region if which else op.false_region
    values: list[SSAValue] = []
    for inner in list(region.block.ops) if region.blocks else []:
        inner.detach()
        if isinstance(inner, scf.YieldOp):
            values = list(inner.operands)
            inner.erase()
        else:
            Rewriter.insert_op(inner, InsertPoint.before(op))
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.detach()
    op.erase()


def _shorten_indices(block: tensor_loop.BlockOp, axes: dict[SSAValue, int]) -> None:
    """Writes indices that are an axis and a number as one sum."""
    for op in ops_of(block, memref.LoadOp):
        for number, index in enumerate(op.indices, start=1):
            found = affine_of_value(index, axes, {})
            if found is None or not isinstance(index.owner, Operation):
                continue
            terms, offset = linear_terms(found)
            ((term, factor),) = terms.items() if len(terms) == 1 else ((None, 0),)
            if not isinstance(term, AffineDimExpr) or factor != 1:
                continue
            value: SSAValue = block.axes[term.position]
            if offset:
                constant = arith.ConstantOp(IntegerAttr.from_index_int_value(offset))
                total = arith.AddiOp(value, constant.result)
                Rewriter.insert_op((constant, total), InsertPoint.before(op))
                value = total.result
            op.operands[number] = value


def _erase_dead(block: tensor_loop.BlockOp) -> None:
    """Erases pure ops that nobody uses, users before producers."""
    for op in reversed(list(walk(block))):
        dead = op.results and not any(result.uses for result in op.results)
        if op is not block and dead and (is_pure(op) or isinstance(op, memref.LoadOp)):
            op.detach()
            op.erase()
