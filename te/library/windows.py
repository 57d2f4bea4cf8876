"""Layouts and padded inputs, which convolution and pooling share."""

from __future__ import annotations

from collections.abc import Sequence

from .. import ops
from ..expr import Const, Expr, TEError
from ..tensor import Tensor
from .shapes import Indices, stage

PIXEL_LAYOUTS = ("NCHW", "NHWC")


def positions(name: str, what: str, layout: str, allowed: tuple[str, ...]) -> dict[str, int]:
    """Returns the dimension of each letter of a layout. Raises TEError for an unknown layout."""
    if layout not in allowed:
        raise TEError(f"{name}: {what} is '{layout}', expected {' or '.join(repr(known) for known in allowed)}")
    return {letter: dim for dim, letter in enumerate(layout)}


def require_rank(name: str, x: Tensor, rank: int) -> None:
    """Raises TEError unless `x` has `rank` dimensions."""
    if x.rank != rank:
        raise TEError(f"{name}: '{x.name}' has {x.rank} dimensions, expected {rank}")


def padded(name: str, x: Tensor, before: Sequence[int], after: Sequence[int], value: Const) -> Tensor:
    """
    Builds a stage `name` that holds `x` with `before[d]` and `after[d]` elements of `value` around dimension d.

    `y[i] = x[i - before] if before <= i < before + size else value`. Dimensions without padding are not tested.
    """

    def body(indices: Indices) -> Expr:
        inside: list[Expr] = []
        source: list[Expr] = []
        for dim, index in enumerate(indices):
            if before[dim]:
                inside.append(index >= before[dim])
            if after[dim]:
                inside.append(index < x.shape[dim] + before[dim])
            source.append(index - before[dim])
        return ops.if_then_else(ops.all(*inside), x[tuple(source)], value) if inside else x[indices]

    shape = [size + b + a for size, b, a in zip(x.shape, before, after, strict=True)]
    return stage(name, shape, body)


def padded_image(name: str, x: Tensor, height: int, width: int, padding: tuple[int, ...], value: Const) -> Tensor:
    """
    Returns `x` padded by `[top, left, bottom, right]` along dimensions `height` and `width`. It is `x` itself for no
    padding.
    """
    if not any(padding):
        return x
    top, left, bottom, right = padding
    before, after = [0] * x.rank, [0] * x.rank
    before[height], after[height] = top, bottom
    before[width], after[width] = left, right
    return padded(name, x, before, after, value)
