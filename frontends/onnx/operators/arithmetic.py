"""Remainders, shifts, determinants, and tables that follow from shapes: triangles, unit matrices, ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emitting.folding import LARGEST
from ..emitting.forms import counted
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Extent, combined, extents_of
from ..errors import ConversionError
from ..registry import Known, converter, direct
from ..types import ELEMENT_BITS
from ..value import Value
from .elementwise import dtype_of_number
from .widening import rounded_once

# One operand

for _operator in ("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Sinh"):
    direct(_operator, _operator.lower())


@converter("BitCast")
def bit_cast(b: GraphBuilder, x: Value, *, to: int) -> Value:
    """Keeps the bits. Booleans are bytes that are 0 or 1."""
    dtype = dtype_of_number(to)
    if ELEMENT_BITS[dtype] != ELEMENT_BITS[x.dtype]:
        raise ConversionError(
            f"the input is {x.shaped} and 'to' is {dtype}, expected an element type of {ELEMENT_BITS[x.dtype]} bits"
        )
    if dtype == x.dtype:
        return x
    return b.astype(x, dtype=dtype) if "i1" in (x.dtype, dtype) else b.bitcast(x, dtype=dtype)


# Remainders and shifts


@converter("Mod")
def mod(b: GraphBuilder, x: Value, y: Value, *, fmod: int = 0) -> Value:
    """The remainder with the sign of `y`, with `fmod` that of `x`."""
    if not fmod or x.dtype.startswith("u"):
        return b.mod(x, y)
    if not x.dtype.startswith(("f", "b")):
        return b.subtract(x, b.multiply(b.divide(x, y), y))
    rest = b.mod(b.abs(x), b.abs(y))
    # minimum: at x = -0 the remainder is -0, which is not below 0; elsewhere it is no larger than x
    return b.where(b.less(x, 0.0), b.negative(rest), b.minimum(rest, x))


@converter("BitShift")
def bit_shift(b: GraphBuilder, x: Value, y: Value, *, direction: str) -> Value:
    """Shifts bits. A count that is negative or not below the bit width leaves the sign only."""
    match direction:
        case "LEFT":
            return b.left_shift(x, y)
        case "RIGHT":
            return b.right_shift(x, y)
    raise ConversionError(f"direction is '{direction}', expected LEFT or RIGHT")


# Positions

LARGEST_EXTENT = 2**62
"""More than any extent: no diagonal lies farther out."""


def positions(b: GraphBuilder, extent: Extent, rank: int, axis: int, offset: int = 0) -> Value:
    """The numbers `offset`, `offset + 1`, … along `axis` of a tensor of `rank` dimensions, the others of extent 1."""
    shape = [1] * rank
    shape[axis] = -1
    return b.reshape(counted(b, offset, combined("add", extent, offset)), shape=tuple(shape))


@converter("Trilu")
def trilu(b: GraphBuilder, x: Value, k: Known | None = None, *, upper: int = 1) -> Value:
    """Keeps the elements from diagonal `k` on, or up to it, of each matrix. The others become 0."""
    if x.rank < 2:
        raise ConversionError(f"the input is {x.shaped}, expected matrices")
    rows, columns = extents_of(x)[-2:]
    diagonal = 0 if k is None else int(k.reshape(()))  # pyright: ignore[reportAttributeAccessIssue]
    diagonal = max(-LARGEST_EXTENT, min(diagonal, LARGEST_EXTENT))
    row, column = positions(b, rows, 2, 0, diagonal), positions(b, columns, 2, 1)
    kept = b.greater_equal(column, row) if upper else b.less_equal(column, row)
    zero = b.full((), False if x.dtype == "i1" else 0, x.dtype)
    return b.where(kept, x, zero)


@converter("EyeLike")
def eye_like(b: GraphBuilder, x: Value, *, dtype: int | None = None, k: int = 0) -> Value:
    """1 on diagonal `k` of a matrix of the shape of `x`, 0 elsewhere."""
    if x.rank != 2:
        raise ConversionError(f"the input is {x.shaped}, expected a matrix")
    rows, columns = extents_of(x)
    target = x.dtype if dtype is None else dtype_of_number(dtype)
    if isinstance(rows, int) and isinstance(columns, int) and rows * columns <= LARGEST:
        ones = b.constant(np.eye(rows, columns, max(-rows, min(k, columns)), dtype=np.bool_))
    elif isinstance(rows, int) and isinstance(columns, int) and max(rows, columns) < 2**30:
        diagonal = max(-rows, min(k, columns))  # Vectors hold more numbers of 32 bits.
        places = np.arange(columns, dtype=np.int32), np.arange(diagonal, rows + diagonal, dtype=np.int32)
        ones = b.equal(b.constant(places[0].reshape(1, columns)), b.constant(places[1].reshape(rows, 1)))
    else:
        diagonal = max(-LARGEST_EXTENT, min(k, LARGEST_EXTENT))
        ones = b.equal(positions(b, columns, 2, 1), positions(b, rows, 2, 0, diagonal))
    return ones if target == "i1" else b.astype(ones, dtype=target)


@converter("Range")
def range_(b: GraphBuilder, start: Known, limit: Known, delta: Known) -> Value:
    """
    Returns the `ceil((limit - start) / delta)` numbers `start + i * delta`.

    Short ranges are folded before a converter is asked.
    """
    first, last, step = (np.asarray(each).reshape(()) for each in (start, limit, delta))
    if step == 0:
        raise ConversionError("delta is 0, expected another number")
    if not all(np.isfinite(each) for each in (first, last, step)):
        raise ConversionError(f"start is {first}, limit {last} and delta {step}, expected finite numbers")
    count = max(int(np.ceil((last.item() - first.item()) / step.item())), 0)
    return b.constant(np.asarray(first + np.arange(count).astype(first.dtype) * step, first.dtype))


# Determinants

LARGEST_DETERMINANT = 4
"""Rows of the largest matrices whose determinants are expanded: the number of products grows as the factorial."""


@converter("Det")
@rounded_once
def det(b: GraphBuilder, x: Value) -> Value:
    """Computes the determinant by expansion along the first rows."""
    if x.rank < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] is None:
        raise ConversionError(f"the input is {x.shaped}, expected square matrices of known size")
    size = x.shape[-1]
    if size > LARGEST_DETERMINANT:
        raise ConversionError(f"the matrices have {size} rows, expected at most {LARGEST_DETERMINANT}")
    if size == 0:
        return b.full(b.static_shape(x, "the input")[:-2], 1.0, x.dtype)
    elements: dict[tuple[int, int], Value] = {}
    for row in range(size):
        for column in range(size):
            element = b.strided_slice(x, axes=(-2, -1), begin=(row, column), end=(row + 1, column + 1))
            elements[row, column] = b.squeeze(element, axis=(-2, -1))
    return _minor(b, elements, tuple(range(size)), {})


def _minor(
    b: GraphBuilder,
    elements: dict[tuple[int, int], Value],
    columns: tuple[int, ...],
    known: dict[tuple[int, ...], Value],
) -> Value:
    """The determinant of the last rows, as many as there are `columns`, in those columns."""
    if columns in known:
        return known[columns]
    row = max(r for r, _ in elements) + 1 - len(columns)
    total: Any = None
    for number, column in enumerate(columns):
        product = elements[row, column]
        if len(columns) > 1:
            rest = _minor(b, elements, columns[:number] + columns[number + 1 :], known)
            product = b.multiply(product, rest)
        if total is None:
            total = product
        else:
            total = b.subtract(total, product) if number % 2 else b.add(total, product)
    known[columns] = total
    return total


# Optional values


@converter("OptionalHasElement")
def optional_has_element(b: GraphBuilder, x: Value | None = None) -> Value:
    """Returns whether a tensor is there, which is known at import."""
    return b.constant(np.array(x is not None))


@converter("OptionalGetElement")
def optional_get_element(b: GraphBuilder, x: Value) -> Value:
    return x
