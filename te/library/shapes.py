"""
Axes, broadcasting, checks of element types, and `stage`, a `te.compute` of any rank. The operator library shares them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isinf, isnan

from .. import dtypes
from ..expr import Const, Expr, Number, TEError, const
from ..ops import cast, rounded, widened
from ..tensor import Dim, Tensor, compute

Indices = tuple[Expr, ...]
ZERO = Const(0, "index")


def stage(name: str, shape: Sequence[Dim], body: Callable[[Indices], Expr], names: Sequence[str] = ()) -> Tensor:
    """Builds the tensor `T[i0, i1, …] = body((i0, i1, …))`. `names` renames the axes."""
    axis_names = names or [f"i{dim}" for dim in range(len(shape))]
    result = compute(shape, lambda *indices: body(indices), name=name, varargs_names=axis_names)
    assert isinstance(result, Tensor)
    return result


def elementwise(name: str, x: Tensor, function: Callable[[Expr], Expr]) -> Tensor:
    """Builds `function` of every element of `x`, in the element type of `x`."""
    return stage(name, x.shape, lambda i: function(x[i]))


def composite(name: str, x: Tensor, function: Callable[[Expr], Expr]) -> Tensor:
    """
    Builds `function` of every element of a float tensor, computed in at least f32 and rounded once.

    Both casts are implied, so the function must be continuous.
    """
    require_float(name, x)
    acc = dtypes.accumulator(x.dtype)
    return elementwise(name, x, lambda value: rounded(x.dtype, function(widened(acc, value))))


def require(name: str, fits: bool, x: Tensor, expected: str) -> None:
    """Raises TEError unless `fits`. The message names the element type of `x`."""
    if not fits:
        raise TEError(f"{name}: '{x.name}' has element type {x.dtype}, expected {expected}")


def require_float(name: str, *tensors: Tensor) -> None:
    """Raises TEError unless every tensor has a float element type."""
    for x in tensors:
        require(name, dtypes.is_float(x.dtype), x, "a float type")


def require_number(name: str, *tensors: Tensor) -> None:
    """Raises TEError unless every tensor has a float or integer element type."""
    for x in tensors:
        require(name, x.dtype != "i1", x, "a float or integer type")


def require_integer(name: str, *tensors: Tensor) -> None:
    """Raises TEError unless every tensor has an integer element type."""
    for x in tensors:
        require(name, dtypes.is_integer(x.dtype), x, "an integer type")


def require_bits(name: str, *tensors: Tensor) -> None:
    """Raises TEError unless every tensor has an integer element type or i1."""
    for x in tensors:
        require(name, not dtypes.is_float(x.dtype), x, "an integer type or i1")


def require_bool(name: str, *tensors: Tensor) -> None:
    """Raises TEError unless every tensor has element type i1."""
    for x in tensors:
        require(name, x.dtype == "i1", x, "i1")


def require_same_type(name: str, *tensors: Tensor) -> None:
    """Raises TEError unless all tensors have one element type."""
    for x in tensors[1:]:
        require(name, x.dtype == tensors[0].dtype, x, f"{tensors[0].dtype} as '{tensors[0].name}' has")


def normalise_axis(name: str, axis: int, rank: int) -> int:
    """Returns `axis` counted from the front. Raises TEError when it is outside a tensor of `rank` dimensions."""
    if not -rank <= axis < rank:
        raise TEError(f"{name}: axis {axis} is out of range for {rank} dimensions")
    return axis % rank


def normalise_axes(name: str, axes: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """
    Returns `axes` counted from the front, in ascending order. `None` stands for all of them. Raises TEError on
    repetition.
    """
    if axes is None:
        return tuple(range(rank))
    given = (axes,) if isinstance(axes, int) else tuple(axes)
    normal = sorted(normalise_axis(name, axis, rank) for axis in given)
    if len(set(normal)) != len(normal):
        raise TEError(f"{name}: axes {list(given)} name a dimension twice")
    return tuple(normal)


def same_dim(a: Dim, b: Dim) -> bool:
    """Returns whether two sizes are known to be equal: equal numbers, or the same expression."""
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)


def static_dim(name: str, x: Tensor, dim: int) -> int:
    """Returns size `dim` of `x` as a number. Raises TEError when it is symbolic."""
    size = x.shape[dim]
    if not isinstance(size, int):
        raise TEError(f"{name}: dimension {dim} of '{x.name}' is symbolic, expected a static size")
    return size


def broadcast_shapes(name: str, *shapes: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """
    Returns the common shape by NumPy's rule: shapes are aligned at the right, and a size of 1 stretches.

    A number other than 1 wins over a symbolic size, and the first symbolic size wins over later ones. Raises TEError
    when two numbers differ.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Dim] = [1] * rank
    for shape in shapes:
        for dim, size in enumerate(shape, start=rank - len(shape)):
            found = result[dim]
            if found == 1 or (isinstance(size, int) and size != 1 and not isinstance(found, int)):
                result[dim] = size
            elif isinstance(found, int) and isinstance(size, int) and size not in (1, found):
                texts = " and ".join(shape_text(shape) for shape in shapes)
                raise TEError(f"{name}: shapes {texts} do not broadcast, {found} against {size}")
    return tuple(result)


def shape_text(shape: Sequence[Dim]) -> str:
    """Returns a shape as messages show it: `(4, ?, 3)`."""
    return "(" + ", ".join(str(size) if isinstance(size, int) else "?" for size in shape) + ")"


def broadcast_indices(shape: Sequence[Dim], result_shape: Sequence[Dim], indices: Indices) -> Indices:
    """
    Returns the indices of the element that broadcasting from `shape` puts at `indices` of `result_shape`. They are 0
    where a dimension is stretched.
    """
    skip = len(result_shape) - len(shape)
    return tuple(
        ZERO if size == 1 and result_shape[dim] != 1 else indices[dim] for dim, size in enumerate(shape, start=skip)
    )


def broadcasting(name: str, function: Callable[..., Expr], *tensors: Tensor) -> Tensor:
    """Builds `function` of the elements that broadcasting brings together."""
    shape = broadcast_shapes(name, *(x.shape for x in tensors))
    return stage(name, shape, lambda i: function(*(x[broadcast_indices(x.shape, shape, i)] for x in tensors)))


def extent_product(sizes: Sequence[Dim]) -> Dim:
    """Returns the number of elements of a tensor with these sizes."""
    product: Dim = 1
    for size in sizes:
        product = product * size
    return product


def count_constant(sizes: Sequence[Dim], dtype: str) -> Expr:
    """Returns the number of elements of a tensor with these sizes, as a value of type `dtype`."""
    product = extent_product(sizes)
    return const(product, dtype) if isinstance(product, int) else cast(dtype, product)


def number(name: str, value: Number, dtype: str) -> Const:
    """
    Returns `value` as a constant. An integral float counts as an integer. Raises TEError when `dtype` cannot hold it.
    """
    if dtypes.is_integer(dtype) and isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        return const(int(value) if dtypes.is_integer(dtype) and isinstance(value, bool) else value, dtype)
    except TEError as error:
        raise TEError(f"{name}: {error}") from None


def saturated(name: str, value: Number, dtype: str) -> Const:
    """Returns `value` as a bound. For integers it is rounded to nearest even and limited to the range of `dtype`."""
    if not dtypes.is_integer(dtype):
        return const(value, dtype)
    low, high = dtypes.integer_range(dtype)
    if isinstance(value, float):
        if isnan(value):
            raise TEError(f"{name}: a bound is nan, expected a number of type {dtype}")
        value = (high if value > 0 else low) if isinf(value) else round(value)
    return const(max(low, min(high, int(value))), dtype)


def pair(name: str, what: str, values: Sequence[int], count: int = 2) -> tuple[int, ...]:
    """Returns `values` as a tuple of `count` numbers. Raises TEError on another length."""
    if len(values) != count:
        raise TEError(f"{name}: {what} has {len(values)} entries, expected {count}")
    return tuple(values)


def window_count(name: str, size: Dim, kernel: int, stride: int, dilation: int, before: int, after: int) -> Dim:
    """
    Returns how many windows fit: `floor((size + before + after - dilation * (kernel - 1) - 1) / stride) + 1`.

    Raises TEError for a stride or dilation below 1, negative padding, and a window that does not fit.
    """
    if stride < 1 or dilation < 1:
        raise TEError(f"{name}: strides and dilation must be positive, found {stride} and {dilation}")
    if before < 0 or after < 0:
        raise TEError(f"{name}: padding must not be negative, found {before} and {after}")
    reach = before + after - dilation * (kernel - 1) - 1
    count = (size + reach) // stride + 1
    if isinstance(count, int) and (count < 0 or (count == 0 and size != 0)):
        raise TEError(
            f"{name}: a window of {dilation * (kernel - 1) + 1} does not fit into {size} elements padded by "
            f"{before} and {after}"
        )
    return count
