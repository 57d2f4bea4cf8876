"""Normalisation and the ops that come with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import dtypes, ops
from ..expr import Expr, TEError, const
from ..tensor import Dim, Tensor, reduce_axis
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
    static_dim,
)


def batch_norm(
    x: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, var: Tensor, axis: int = 1, epsilon: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    """
    `(x - mean) / sqrt(var + epsilon) * gamma + beta` with vectors along `axis`. The results are this tensor, mean and
    var.
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
        raise TEError(f"{name}: '{vector.name}' has shape {shape_text(vector.shape)}, expected {shape_text(shape)}")


def layer_norm(
    x: Tensor, gamma: Tensor, beta: Tensor, axes: int | Sequence[int] = (-1,), epsilon: float = 1e-5
) -> Tensor:
    """
    `(x - mean) / sqrt(var + epsilon) * gamma + beta` with the mean and the biased variance of `x` over `axes`.

    There are two passes: the variance is the mean of the squares of `x - mean`, which does not cancel.
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
    scale = elementwise("layer_norm_scale", squares, lambda value: 1 / ops.sqrt(value / count + epsilon))

    def body(indices: Indices) -> Expr:
        row = tuple(index for dim, index in enumerate(indices) if dim not in dims)
        inner = tuple(indices[dim] for dim in dims)
        value = (ops.cast(acc, x[indices]) - mean[row]) * scale[row]
        return ops.cast(x.dtype, value * ops.cast(acc, gamma[inner]) + ops.cast(acc, beta[inner]))

    return stage("layer_norm", x.shape, body)


def bias_add(x: Tensor, bias: Tensor, axis: int = 1) -> Tensor:
    """`x + bias`, where the vector `bias` lies along `axis`."""
    require_number("bias_add", x, bias)
    require_same_type("bias_add", x, bias)
    dim = normalise_axis("bias_add", axis, x.rank)
    _require_shape("bias_add", bias, (x.shape[dim],))
    return stage("bias_add", x.shape, lambda i: x[i] + bias[i[dim]])


def instance_norm(x: Tensor, gamma: Tensor, beta: Tensor, axis: int = 1, epsilon: float = 1e-5) -> Tensor:
    """`(x - mean) / sqrt(var + epsilon) * gamma + beta`, with statistics over all dimensions but 0 and `axis`."""
    dim = _channel_dimension("instance_norm", x, gamma, beta, axis)
    return _by_channels("instance_norm", x, gamma, beta, dim, x.shape[dim], None, epsilon)


def _channel_dimension(name: str, x: Tensor, gamma: Tensor, beta: Tensor, axis: int) -> int:
    """Returns `axis` counted from the front. Raises TEError when the operands do not fit."""
    require_float(name, x, gamma, beta)
    require_same_type(name, x, gamma, beta)
    dim = normalise_axis(name, axis, x.rank)
    if dim == 0:
        raise TEError(f"{name}: axis {axis} is the batch, expected the channels")
    for vector in (gamma, beta):
        _require_shape(name, vector, (x.shape[dim],))
    return dim


def _by_channels(
    name: str,
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    dim: int,
    groups: Dim,
    group_size: int | None,
    epsilon: float,
) -> Tensor:
    """
    Returns `x` normalised by statistics of shape `(batch, groups)`.

    A group is `group_size` channels of dimension `dim`, or one channel when that is `None`. There are two passes, as in
    `layer_norm`.
    """
    acc = dtypes.accumulator(x.dtype)
    spatial = [d for d in range(x.rank) if d not in (0, dim)]
    over = {d: reduce_axis(x.shape[d], f"k{d}") for d in spatial}
    if group_size is not None:
        over = {dim: reduce_axis(group_size, f"k{dim}"), **over}
    count = count_constant([axis.extent for axis in over.values()], acc)

    def element(row: Indices) -> Expr:
        at = {**over, 0: row[0], dim: row[1] if group_size is None else row[1] * group_size + over[dim]}
        return ops.cast(acc, x[tuple(at[d] for d in range(x.rank))])

    def total(suffix: str, value: Callable[[Indices], Expr]) -> Tensor:
        def body(row: Indices) -> Expr:
            return ops.sum(value(row), tuple(over.values())) if over else value(row)

        return stage(f"{name}_{suffix}", (x.shape[0], groups), body, ("n", "g"))

    def squared(row: Indices) -> Expr:
        centred = element(row) - mean[row]
        return centred * centred

    if group_size and spatial and dim == x.rank - 1:
        mean, squares = _sums_of_groups(name, x, dim, group_size, count)
    else:
        mean = elementwise(f"{name}_mean", total("sum", element), lambda value: value / count)
        squares = total("squares", squared)
    deviation = elementwise(f"{name}_std", squares, lambda value: ops.sqrt(value / count + epsilon))

    def body(indices: Indices) -> Expr:
        channel = indices[dim]
        row = (indices[0], channel // group_size if group_size else channel)
        value = (ops.cast(acc, x[indices]) - mean[row]) / deviation[row]
        return ops.cast(x.dtype, value * ops.cast(acc, gamma[channel]) + ops.cast(acc, beta[channel]))

    return stage(name, x.shape, body)


def _sums_of_groups(name: str, x: Tensor, dim: int, size: int, count: Expr) -> tuple[Tensor, Tensor]:
    """
    Returns the means of groups of `size` channels, which are the last dimension, and the sums of squared differences to
    them.

    Sums of each channel come first, since they are sums of vectors of channels. Of the P pixels of a channel with the
    mean m and the squared differences s to it, s + P (m - M)^2 are those to the mean M of its group.

    Source: Chan, Golub, LeVeque, Algorithms for computing the sample variance, The American Statistician 37, 1983.
    """
    acc = dtypes.accumulator(x.dtype)
    spatial = tuple(reduce_axis(x.shape[d], f"k{d}") for d in range(1, dim))
    members = reduce_axis(size, "m")
    shape, groups = (x.shape[0], x.shape[dim]), (x.shape[0], static_dim(name, x, dim) // size)
    pixels = count_constant([axis.extent for axis in spatial], acc)

    def element(at: Indices) -> Expr:
        return ops.cast(acc, x[(at[0], *spatial, at[1])])

    def squared(at: Indices) -> Expr:
        centred = element(at) - own[at]
        return centred * centred

    def member(at: Indices) -> Indices:
        return at[0], at[1] * size + members

    def moved(at: Indices) -> Expr:
        apart = own[member(at)] - mean[at]
        return squares[member(at)] + pixels * apart * apart

    sums = stage(f"{name}_channel_sum", shape, lambda at: ops.sum(element(at), spatial), ("n", "c"))
    own = elementwise(f"{name}_channel_mean", sums, lambda value: value / pixels)
    squares = stage(f"{name}_channel_squares", shape, lambda at: ops.sum(squared(at), spatial), ("n", "c"))
    total = stage(f"{name}_sum", groups, lambda at: ops.sum(sums[member(at)], members), ("n", "g"))
    mean = elementwise(f"{name}_mean", total, lambda value: value / count)
    return mean, stage(f"{name}_squares", groups, lambda at: ops.sum(moved(at), members), ("n", "g"))


def group_norm(x: Tensor, gamma: Tensor, beta: Tensor, num_groups: int, axis: int = 1, epsilon: float = 1e-5) -> Tensor:
    """
    `(x - mean) / sqrt(var + epsilon) * gamma + beta`, with statistics over `num_groups` equal runs of the channels.
    """
    dim = _channel_dimension("group_norm", x, gamma, beta, axis)
    channels = static_dim("group_norm", x, dim)
    if num_groups < 1 or channels % num_groups:
        raise TEError(f"group_norm: {num_groups} groups do not divide {channels} channels")
    return _by_channels("group_norm", x, gamma, beta, dim, num_groups, channels // num_groups, epsilon)


def l2_normalize(x: Tensor, axes: int | Sequence[int] = (-1,), epsilon: float = 1e-12) -> Tensor:
    """`x / sqrt(max(sum of x * x, epsilon))`, where the sum goes over `axes`."""
    require_float("l2_normalize", x)
    dims = normalise_axes("l2_normalize", axes, x.rank)
    acc = dtypes.accumulator(x.dtype)
    squares = _squares("l2_normalize", x, dims)
    norm = elementwise("l2_normalize_norm", squares, lambda value: ops.sqrt(ops.maximum(value, epsilon)))

    def body(indices: Indices) -> Expr:
        row = tuple(index for dim, index in enumerate(indices) if dim not in dims)
        return ops.cast(x.dtype, ops.cast(acc, x[indices]) / norm[row])

    return stage("l2_normalize", x.shape, body)


def _squares(name: str, x: Tensor, dims: tuple[int, ...]) -> Tensor:
    """Returns the sum of `x * x` over `dims`, in at least f32."""
    acc = dtypes.accumulator(x.dtype)

    def square(value: Expr, _: Indices) -> Expr:
        return ops.cast(acc, value) * ops.cast(acc, value)

    return reduced(f"{name}_squares", x, dims, False, ops.sum, square)


def rms_norm(x: Tensor, gamma: Tensor, axes: int | Sequence[int] = (-1,), epsilon: float = 1e-5) -> Tensor:
    """`x / sqrt(mean of x * x + epsilon) * gamma`, where the mean goes over `axes`."""
    require_float("rms_norm", x, gamma)
    require_same_type("rms_norm", x, gamma)
    dims = normalise_axes("rms_norm", axes, x.rank)
    sizes = tuple(x.shape[dim] for dim in dims)
    _require_shape("rms_norm", gamma, sizes)
    acc = dtypes.accumulator(x.dtype)
    count = count_constant(sizes, acc)
    squares = _squares("rms_norm", x, dims)
    scale = elementwise("rms_norm_scale", squares, lambda value: 1 / ops.sqrt(value / count + epsilon))

    def body(indices: Indices) -> Expr:
        row = tuple(index for dim, index in enumerate(indices) if dim not in dims)
        inner = tuple(indices[dim] for dim in dims)
        value = ops.cast(acc, x[indices]) * scale[row]
        return ops.cast(x.dtype, value * ops.cast(acc, gamma[inner]))

    return stage("rms_norm", x.shape, body)


def dropout(x: Tensor, rate: float = 0.5) -> tuple[Tensor, Tensor]:
    """Dropout as in inference. The results are `x` unchanged, and a mask that is true everywhere."""
    require_float("dropout", x)
    if not 0 <= rate < 1:
        raise TEError(f"dropout: rate is {rate:g}, expected at least 0 and less than 1")
    kept = elementwise("dropout", x, lambda value: value)
    return kept, stage("dropout_mask", x.shape, lambda _: const(True, "i1"))
