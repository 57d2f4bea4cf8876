"""
Conditions and builders of `integer_arithmetic.mlir`: weights that ops on floats dequantise.

Source: what exporters write that have no `DequantizeLinear`, such as those of compressed weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from ...core.derived_weights import BYTES
from ...dialects.graph.elementwise import AstypeOp
from ...patterns.language.match import Match, as_value
from ...patterns.language.registry import Thing, builder, condition
from ...te.dtypes import SMALL_INTEGERS, integer_range, numpy_dtype
from ..inference.quantisation import converted, dtype_of, emit, shape_of
from .moves import MOVES, PRODUCTS, full
from .scales import constant, literal, reshaped

Form = tuple[tuple[int, ...], int, int]
"""The shape of scales, their axis, and the size of a block, 0 for none."""


@condition("right-of-products", protects="cost")
def right_of_products(match: Match, thing: Thing) -> bool:
    """The value, or what comes of it where its elements are moved, is the right operand of a product."""
    pending = [as_value(thing)]
    while pending:
        for use in pending.pop().uses:
            if use.index == 1 and isinstance(use.operation, PRODUCTS):
                return True
            if use.index == 0 and use.operation.name in MOVES:
                pending += use.operation.results
    return False


@builder("dequantised-by-one")
def dequantised_by_one(match: Match, op: Operation, integers: Thing) -> Sequence[SSAValue]:
    """The `graph.dequantize` of integers with a scale of 1."""
    q, dtype = as_value(integers), dtype_of(op.results[0])
    return _dequantised(match, q, full(match, 1.0, dtype), full(match, 0, dtype_of(q)), ((), 1, 0))


@builder("dequantised-by-hand")
def dequantised_by_hand(match: Match, op: Operation, integers: Thing, scale: Thing) -> Sequence[SSAValue] | None:
    """The `graph.dequantize` of integers. Declines a scale for each element."""
    q, form = as_value(integers), _form(as_value(integers), as_value(scale))
    if form is None:
        return None
    scales = reshaped(match, as_value(scale), form[0])
    return _dequantised(match, q, scales, full(match, 0, dtype_of(q), form[0]), form)


@builder("dequantised-around")
def dequantised_around(
    match: Match, op: Operation, integers: Thing, scale: Thing, zero: Thing
) -> Sequence[SSAValue] | None:
    """
    The `graph.dequantize` of integers with zero points, both of the wider type of the two. Declines a scale for each
    element, and zero points that are not integers, one for each scale or one for all.
    """
    q, form = as_value(integers), _form(as_value(integers), as_value(scale))
    zeros = None if form is None else _zeros(match, q, as_value(zero), form)
    if form is None or zeros is None:
        return None
    q = converted(match, q, dtype_of(zeros))
    return _dequantised(match, q, reshaped(match, as_value(scale), form[0]), zeros, form)


def _dequantised(match: Match, q: SSAValue, scale: SSAValue, zero: SSAValue, form: Form) -> Sequence[SSAValue]:
    return [emit(match, "dequantize", q, scale, zero, axis=form[1], block_size=form[2])]


def _form(q: SSAValue, scale: SSAValue) -> Form | None:
    """Returns how a scale that is multiplied by integers spreads over them. There is none for one for each element."""
    sizes, given = shape_of(q), shape_of(scale)
    if DYNAMIC_INDEX in (*sizes, *given) or len(given) > len(sizes):
        return None
    spread = (*(1,) * (len(sizes) - len(given)), *given)
    wide = [axis for axis, size in enumerate(spread) if size != 1]
    if any(spread[axis] != sizes[axis] for axis in wide):
        return None
    if len(wide) <= 1:
        return ((sizes[wide[0]],), wide[0], 0) if wide else ((), 1, 0)
    narrow = [axis for axis, size in enumerate(spread) if size != sizes[axis]]
    return (spread, narrow[0], sizes[narrow[0]]) if len(narrow) == 1 else None


def _zeros(match: Match, q: SSAValue, zero: SSAValue, form: Form) -> SSAValue | None:
    """Returns zero points in the shape of the scales, as integers of the type of `q` or of one that holds it."""
    dtype = dtype_of(q)
    given = _form(q, zero)
    if given is None or given not in (form, ((), 1, 0)):
        return None
    numbers = literal(zero)
    if numbers is not None:
        wide = np.asarray(numbers, np.float64)
        low, high = integer_range(dtype)
        if not ((wide == np.rint(wide)) & (wide >= low) & (wide <= high)).all():
            return None
        if wide.size == 1:
            return full(match, int(wide.item()), dtype, form[0])
        return constant(match, wide.reshape(form[0]).astype(numpy_dtype(dtype)), dtype)
    if not isinstance(zero.owner, AstypeOp) or not _holds(dtype_of(zero.owner.operands[0]), dtype):
        return None
    found = reshaped(match, zero.owner.operands[0], given[0])
    return found if given[0] == form[0] else emit(match, "broadcast_to", found, shape=list(form[0]))


def _holds(dtype: str, other: str) -> bool:
    """Returns whether integers of at most a byte have all numbers of another integer type."""
    if dtype not in (*BYTES, *SMALL_INTEGERS):
        return False
    (low, high), (least, most) = integer_range(dtype), integer_range(other)
    return low <= least and most <= high
