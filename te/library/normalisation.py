"""Normalisation, and ops that come with it."""

from __future__ import annotations

from collections.abc import Sequence

from .. import dtypes, ops
from ..expr import Expr, TEError
from ..tensor import Dim, Tensor
from .reduction import reduced
from .shapes import (
    Indices,
    count_constant,
    elementwise,
    normalise_axes,
    normalise_axis,
    require_float,
    require_number,
    require_same_type,
    shape_text,
    stage,
)


def batch_norm(
    x: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, var: Tensor, axis: int = 1, epsilon: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    """
    `(x - mean) / sqrt(var + epsilon) * gamma + beta` with vectors along `axis`; the results are that, mean and var.
    """
    vectors = (gamma, beta, mean, var)
    require_float("batch_norm", x, *vectors)
    require_same_type("batch_norm", x, *vectors)
    dim = normalise_axis("batch_norm", axis, x.rank)
    for vector in vectors:
        _require_shape("batch_norm", vector, (x.shape[dim],))
    acc = dtypes.accumulator(x.dtype)
    deviation = elementwise("batch_norm_std", var, lambda value: ops.sqrt(ops.cast(acc, value) + epsilon))

    def body(indices: Indices) -> Expr:
        scale, shift, centre = (ops.cast(acc, vector[indices[dim]]) for vector in (gamma, beta, mean))
        value = (ops.cast(acc, x[indices]) - centre) / deviation[indices[dim]] * scale + shift
        return ops.cast(x.dtype, value)

    y = stage("batch_norm", x.shape, body)
    same_mean = elementwise("batch_norm_mean", mean, lambda value: value)
    same_var = elementwise("batch_norm_var", var, lambda value: value)
    return y, same_mean, same_var


def _require_shape(name: str, vector: Tensor, shape: tuple[Dim, ...]) -> None:
    if vector.rank != len(shape) or any(
        isinstance(found, int) and isinstance(expected, int) and found != expected
        for found, expected in zip(vector.shape, shape, strict=True)
    ):
        raise TEError(
            f"{name}: '{vector.name}' has shape {shape_text(vector.shape)}, expected {shape_text(shape)}"
        )


def layer_norm(
    x: Tensor, gamma: Tensor, beta: Tensor, axes: int | Sequence[int] = (-1,), epsilon: float = 1e-5
) -> Tensor:
    """
    `(x - mean) / sqrt(var + epsilon) * gamma + beta` with the mean and the biased variance of `x` over `axes`.

    Two passes: the variance is the mean of the squares of `x - mean`, which does not cancel.
    """
    require_float("layer_norm", x, gamma, beta)
    require_same_type("layer_norm", x, gamma, beta)
    dims = normalise_axes("layer_norm", axes, x.rank)
    sizes = tuple(x.shape[dim] for dim in dims)
    _require_shape("layer_norm", gamma, sizes)
    _require_shape("layer_norm", beta, sizes)
    acc = dtypes.accumulator(x.dtype)
    count = count_constant(sizes, acc)

    def wide(value: Expr, _: Indices) -> Expr:
        return ops.cast(acc, value)

    def squared(value: Expr, row: Indices) -> Expr:
        centred = ops.cast(acc, value) - mean[row]
        return centred * centred

    total = reduced("layer_norm_sum", x, dims, False, ops.sum, wide)
    mean = elementwise("layer_norm_mean", total, lambda value: value / count)
    squares = reduced("layer_norm_squares", x, dims, False, ops.sum, squared)
    deviation = elementwise("layer_norm_std", squares, lambda value: ops.sqrt(value / count + epsilon))

    def body(indices: Indices) -> Expr:
        row = tuple(index for dim, index in enumerate(indices) if dim not in dims)
        inner = tuple(indices[dim] for dim in dims)
        value = (ops.cast(acc, x[indices]) - mean[row]) / deviation[row]
        return ops.cast(x.dtype, value * ops.cast(acc, gamma[inner]) + ops.cast(acc, beta[inner]))

    return stage("layer_norm", x.shape, body)


def bias_add(x: Tensor, bias: Tensor, axis: int = 1) -> Tensor:
    """`x + bias`, the vector `bias` along `axis`."""
    require_number("bias_add", x, bias)
    require_same_type("bias_add", x, bias)
    dim = normalise_axis("bias_add", axis, x.rank)
    _require_shape("bias_add", bias, (x.shape[dim],))
    return stage("bias_add", x.shape, lambda i: x[i] + bias[i[dim]])
