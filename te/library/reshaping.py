"""Tells which element of a tensor a reshape puts where, with as few divisions as the shapes allow."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..expr import Expr, TEError
from ..tensor import Dim, Tensor
from .shapes import ZERO, Indices, same_dim, shape_text

Group = tuple[list[int], list[int]]
"""Dimensions of the source and of the result that hold the same elements."""


def resolve_shape(x: Tensor, shape: Sequence[Dim]) -> tuple[Dim, ...]:
    """Returns `shape` with its -1 replaced. Raises TEError when the number of elements differs."""
    unknown = [dim for dim, size in enumerate(shape) if same_dim(size, -1)]
    if len(unknown) > 1:
        raise TEError(f"reshape: shape {shape_text(shape)} has more than one -1")
    if not unknown:
        return tuple(shape)
    total = prod(x.static_shape)
    rest = prod(size for size in shape if isinstance(size, int) and size != -1)
    if rest == 0 or total % rest:
        raise TEError(f"reshape: {total} elements do not fit into shape {shape_text(shape)}")
    return tuple(total // rest if dim in unknown else size for dim, size in enumerate(shape))


def reshape_groups(name: str, source: Sequence[Dim], result: Sequence[Dim]) -> list[Group]:
    """
    Returns the finest split of both shapes into runs of dimensions with equal products. Dimensions of size 1 are left
    out.

    `(2, 3, 20) -> (6, 4, 5)` gives `({0, 1}, {0})` and `({2}, {1, 2})`. No element is ever moved across a boundary.

    Raises TEError when the shapes hold different numbers of elements, or when symbolic sizes do not match one to one.
    """
    left = [dim for dim, size in enumerate(source) if size != 1]
    right = [dim for dim, size in enumerate(result) if size != 1]
    groups: list[Group] = []
    i = j = 0
    while i < len(left) or j < len(right):
        group: Group = ([], [])
        # These are the products of the dimensions taken so far. The smaller side takes the next one.
        a = b = 1
        while a != b or not (group[0] or group[1]):
            if not group[0] and i < len(left) and j < len(right) and same_dim(source[left[i]], result[right[j]]):
                group = ([left[i]], [right[j]])
                i, j = i + 1, j + 1
                break
            take_left = i < len(left) and (a <= b or j == len(right))
            if not take_left and j == len(right):
                raise TEError(f"{name}: {shape_text(source)} does not have as many elements as {shape_text(result)}")
            size = source[left[i]] if take_left else result[right[j]]
            if not isinstance(size, int):
                raise TEError(f"{name}: a symbolic size of {shape_text(source)} is not kept in {shape_text(result)}")
            if take_left:
                group[0].append(left[i])
                a, i = a * size, i + 1
            else:
                group[1].append(right[j])
                b, j = b * size, j + 1
        groups.append(group)
    return groups


def reshaped_indices(name: str, source: Sequence[Dim], result: Sequence[Dim], indices: Indices) -> Indices:
    """
    Returns the indices of the element of a tensor of shape `source` that a reshape to `result` puts at `indices`.

    Within each group an equal dimension keeps its index. Merged dimensions give an affine sum. Split ones need
    `floordiv` and `floormod`.
    """
    if 0 in source or 0 in result:
        if not (0 in source and 0 in result):
            raise TEError(f"{name}: {shape_text(source)} does not have as many elements as {shape_text(result)}")
        return (ZERO,) * len(source)
    found: list[Expr] = [ZERO] * len(source)
    for ins, outs in reshape_groups(name, source, result):
        if len(ins) == len(outs) == 1:
            found[ins[0]] = indices[outs[0]]
            continue
        position: Expr = ZERO
        for dim in outs:
            position = position * result[dim] + indices[dim]
        stride = 1
        for dim in reversed(ins):
            size = source[dim]
            assert isinstance(size, int)
            part = position // stride
            # The leading dimension of a group needs no remainder: its quotient is below its size.
            found[dim] = part if dim == ins[0] else part % size
            stride *= size
    return tuple(found)
