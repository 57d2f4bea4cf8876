"""Named builders: reductions that take other axes, or take the place of several ops."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ...core.ir.element_types import dtype_name
from ...dialects.graph.base import plain_properties
from ...dialects.graph.movement import PermuteDimsOp
from ...dialects.graph.reduction import ReductionOp, SoftmaxOp, SumOp
from ...dialects.graph.shapes import reduce, reduced_axes
from ...patterns.language.constants import splat_number
from ...patterns.language.match import Match, as_value
from ...patterns.language.registry import Thing, builder, condition
from .conditions import permutation, rank
from .shared_builders import changed, known_shape, made


def axes_of(reduction: ReductionOp) -> tuple[int, ...]:
    """Returns the dimensions that a reduction runs over, counted from the front."""
    type_ = reduction.operands[0].type
    assert isinstance(type_, TensorType)
    return tuple(reduced_axes(plain_properties(reduction)["axis"], type_.get_num_dims()))


def _reduced(match: Match, reduction: ReductionOp, value: SSAValue, axes: Sequence[int]) -> Sequence[SSAValue] | None:
    """Returns the reduction of `value` along `axes` with the type of the root. Declines where no `keepdims` has it."""
    before, after = known_shape(value), known_shape(match.root.results[0])
    if before is None or after is None:
        return None
    for keepdims in (bool(plain_properties(reduction)["keepdims"]), False, True):
        if reduce(before, axes, keepdims) == after:
            return made(match, reduction.name, [value], changed(reduction, axis=sorted(axes), keepdims=keepdims))
    return None


@builder("reduction-of-permuted")
def reduction_of_permuted(match: Match, reduction: ReductionOp, inner: PermuteDimsOp) -> Sequence[SSAValue] | None:
    """The reduction of what `inner` permutes. Declines where the dimensions that stay get into another order."""
    order, over = permutation(inner), axes_of(reduction)
    kept = [axis for place, axis in enumerate(order) if place not in over]
    if any(before > after for before, after in pairwise(kept)):
        return None
    return _reduced(match, reduction, inner.operands[0], [order[place] for place in over])


@builder("joined-reduction")
def joined_reduction(match: Match, outer: ReductionOp, inner: ReductionOp) -> Sequence[SSAValue] | None:
    """One reduction of the operand of `inner` along the axes of both. Declines another op, and sizes unknown or 0."""
    shape, over = known_shape(inner.operands[0]), axes_of(inner)
    if outer.name != inner.name or shape is None or 0 in shape:
        return None
    left = list(range(len(shape)))
    if not plain_properties(inner)["keepdims"]:
        left = [axis for axis in left if axis not in over]
    return _reduced(match, outer, inner.operands[0], sorted({*over, *(left[place] for place in axes_of(outer))}))


@builder("total-reduction")
def total_reduction(match: Match, reduction: ReductionOp, value: Thing) -> Sequence[SSAValue]:
    """The reduction of all elements of `value` to rank 0."""
    return made(match, reduction.name, [as_value(value)], changed(reduction, axis=None, keepdims=False))


@builder("mean-of-sum")
def mean_of_sum(match: Match, total: SumOp, number: Thing) -> Sequence[SSAValue] | None:
    """
    The `graph.mean` of what `total` adds. Declines where `number` is not how many, or one over it for a product.

    Declines sums of single elements, and element types other than f32 and f64: their sums become infinite too early.
    """
    shape, found = known_shape(total.operands[0]), splat_number(as_value(number))
    if shape is None or found is None or total.results[0].type != match.root.results[0].type:
        return None
    count = prod(shape[axis] for axis in axes_of(total))
    type_ = total.results[0].type
    dtype = str(dtype_name(type_.element_type)) if isinstance(type_, TensorType) else ""
    if count < 2 or dtype not in ("f32", "f64"):
        return None
    wanted = count if match.root.name == "graph.divide" else 1 / count
    if dtype == "f32":
        (wanted,) = struct.unpack("f", struct.pack("f", wanted))
    return made(match, "graph.mean", [total.operands[0]], changed(total)) if found == wanted else None


@condition("rank-zero")
def rank_zero(match: Match, thing: Thing) -> bool:
    """The tensor has no dimension."""
    return known_shape(as_value(thing)) == ()


@condition("one-axis-kept")
def one_axis_kept(match: Match, *reductions: ReductionOp) -> bool:
    """All reductions run along the same single axis and keep it as a dimension of size 1."""
    found: list[Any] = [(axes_of(each), bool(plain_properties(each)["keepdims"])) for each in reductions]
    return bool(found) and all(each == found[0] for each in found) and len(found[0][0]) == 1 and found[0][1]


@condition("along-axis-of")
def along_axis_of(match: Match, reduction: ReductionOp, softmax: SoftmaxOp) -> bool:
    """The reduction runs along the one axis of the `graph.softmax`, and keeps it as a dimension of size 1."""
    over, axis = axes_of(reduction), plain_properties(softmax)["axis"]
    return bool(plain_properties(reduction)["keepdims"]) and over == (axis % rank(softmax),)


@builder("softmax-along")
def softmax_along(match: Match, reduction: ReductionOp, value: Thing) -> Sequence[SSAValue]:
    """The `graph.softmax` of `value` along the only axis of a reduction."""
    return made(match, "graph.softmax", [as_value(value)], {"axis": axes_of(reduction)[0]})
