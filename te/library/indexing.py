"""Tensors that hold elements of another one, at indices that a third one holds."""

from __future__ import annotations

from .. import ops
from ..expr import Expr, TEError, const
from ..tensor import Tensor
from .movement import position_in
from .shapes import Indices, normalise_axis, require_integer, stage, static_dim


def take_along_axis(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """
    `y[…, i, …] = x[…, indices[…, i, …], …]`, of the shape of `indices`. A negative index counts from the end once. An
    index outside that range fails the program.
    """
    require_integer("take_along_axis", indices)
    dim = normalise_axis("take_along_axis", axis, x.rank)
    if indices.rank != x.rank:
        raise TEError(f"take_along_axis: '{indices.name}' has {indices.rank} dimensions, expected {x.rank}")
    for other, (extent, limit) in enumerate(zip(indices.shape, x.shape, strict=True)):
        if other != dim and isinstance(extent, int) and isinstance(limit, int) and extent > limit:
            raise TEError(
                f"take_along_axis: dimension {other} of '{indices.name}' is {extent}, expected at most {limit}"
            )

    def body(at: Indices) -> Expr:
        position, inside = position_in(indices[at], x.shape[dim])
        value = x[(*at[:dim], position, *at[dim + 1 :])]
        return ops.check(inside, value, "graph.take_along_axis: index out of range")

    return stage("take_along_axis", indices.shape, body)


def gather_nd(x: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor:
    """
    `y[b…, i…, s…] = x[b…, indices[b…, i…, 0], …, indices[b…, i…, n - 1], s…]`. A negative index counts from the end
    once. An index outside that range fails the program.
    """
    require_integer("gather_nd", indices)
    if not 0 <= batch_dims < indices.rank:
        raise TEError(f"gather_nd: batch_dims is {batch_dims}, expected 0 to {indices.rank - 1}")
    width = static_dim("gather_nd", indices, indices.rank - 1)
    if width > x.rank - batch_dims:
        raise TEError(f"gather_nd: tuples of {width} indices, expected at most {x.rank - batch_dims}")
    places = indices.rank - 1

    def body(at: Indices) -> Expr:
        target: list[Expr] = list(at[:batch_dims])
        conditions: list[Expr] = []
        for number in range(width):
            index = indices[(*at[:places], const(number, "index"))]
            position, inside = position_in(index, x.shape[batch_dims + number])
            target.append(position)
            conditions.append(inside)
        value = x[(*target, *at[places:])]
        if not conditions:
            return value
        return ops.check(ops.all(*conditions), value, "graph.gather_nd: index out of range")

    return stage("gather_nd", (*indices.shape[:-1], *x.shape[batch_dims + width :]), body)
