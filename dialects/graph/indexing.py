"""Ops that read and write elements at indices: gathers and scatters."""

from __future__ import annotations

from abc import ABC

from xdsl.interfaces import ConditionallySpeculatableInterface
from xdsl.irdl import irdl_op_definition

from ..traits import MayFail
from .base import ANY, GraphOp, TemplateOp, tensor_operand, tensor_result
from .element_types import CLASSES
from .indexing_loops import scatter_elements_loops, scatter_nd_loops
from .normal_form import AXIS
from .properties import INTEGER, TextKind, prop
from .shapes import Dim, Shape, Shaped, ShapeError, compatible, normalise_axis, same_dim, text

REDUCTIONS = ("none", "add", "multiply", "maximum", "minimum")
"""The values of `reduction`: "none" replaces the element that is there, and the others combine it with the update."""


class IndexingOp(MayFail, ConditionallySpeculatableInterface, ABC):
    """An op that fails where an index is out of range."""

    def is_speculatable(self) -> bool:
        return not self.may_fail()


def _inside(x: Shape, indices: Shape, axis: int) -> int:
    """
    Returns `axis` counted from the start. Raises `ShapeError` unless `indices` fits within `x` in all other dimensions.
    """
    position = normalise_axis(axis, len(x))
    if len(indices) != len(x):
        raise ShapeError(f"indices is {text(indices)}, expected the rank {len(x)} of the operand")
    for number, (extent, limit) in enumerate(zip(indices, x, strict=True)):
        if number != position and extent is not None and limit is not None and extent > limit:
            raise ShapeError(
                f"indices is {text(indices)}, expected at most {limit} in dimension {number} as the operand {text(x)}"
            )
    return position


def _tuples(x: Shape, indices: Shape, batch_dims: int) -> tuple[Shape, Shape]:
    """Returns the shape of the places that `indices` gives, and the shape of what lies at one of them."""
    if not indices:
        raise ShapeError("indices has rank 0, expected at least 1")
    if not 0 <= batch_dims < len(indices) or batch_dims > len(x):
        most = min(len(indices) - 1, len(x))
        raise ShapeError(f"batch_dims is {batch_dims}, expected 0 to {most} for indices {text(indices)}")
    width = indices[-1]
    if width is None:
        raise ShapeError(f"indices is {text(indices)}, expected its last extent to be known")
    if width > len(x) - batch_dims:
        raise ShapeError(
            f"indices is {text(indices)}: tuples of {width}, expected at most {len(x) - batch_dims} for {text(x)}"
        )
    batch: list[Dim] = []
    for number in range(batch_dims):
        message = f"indices is {text(indices)} but the operand is {text(x)}: they differ in dimension {number}"
        batch.append(same_dim(x[number], indices[number], message))
    return (*batch, *indices[batch_dims:-1]), x[batch_dims + width :]


@irdl_op_definition
class TakeAlongAxisOp(IndexingOp, GraphOp):
    """
    Takes one element per index along `axis`, `result[…, i, …] = operand[…, indices[…, i, …], …]`.

    Shapes: the result has the shape of `indices`. Its extents in other dimensions than `axis` are at most those of the
    operand.
    A negative index counts from the end: the extent is added once.
    Fails: index out of range.

    ```mlir
    %y = graph.take_along_axis %x, %i, axis = 1 : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
    ```
    """

    name = "graph.take_along_axis"

    operand = tensor_operand(ANY)
    indices = tensor_operand("SU", "indices")
    axis = prop(AXIS)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, indices: Shaped, *, axis: int) -> tuple[Shaped, ...]:
        _inside(x.shape, indices.shape, axis)
        return (Shaped(indices.shape, x.dtype),)


@irdl_op_definition
class GatherNdOp(IndexingOp, GraphOp):
    """
    Gathers what lies at tuples of indices,
    `result[b…, i…, s…] = operand[b…, indices[b…, i…, 0], …, indices[b…, i…, n - 1], s…]`.

    The last dimension of `indices` holds tuples of n indices. The first `batch_dims` dimensions of `indices` are
    those of the operand. A negative index counts from the end: the extent is added once.
    Fails: index out of range.

    ```mlir
    %y = graph.gather_nd %x, %i : (tensor<4x8x2xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
    %z = graph.gather_nd %x, %j, batch_dims = 1 : (tensor<4x8x2xf32>, tensor<4x1xi64>) -> tensor<4x2xf32>
    ```
    """

    name = "graph.gather_nd"

    operand = tensor_operand(ANY)
    indices = tensor_operand("SU", "indices")
    batch_dims = prop(INTEGER, 0)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, indices: Shaped, *, batch_dims: int) -> tuple[Shaped, ...]:
        places, slices = _tuples(x.shape, indices.shape, batch_dims)
        return (Shaped((*places, *slices), x.dtype),)


class ScatterOp(IndexingOp, TemplateOp, ABC):
    """An op that returns `operand` with `updates` at `indices`."""

    reduction = prop(TextKind(REDUCTIONS), "none")
    result = tensor_result()


def _check_combines(x: Shaped, reduction: str) -> None:
    if reduction != "none" and x.dtype in (*CLASSES["Q"], *CLASSES["B"]):
        raise ShapeError(f'reduction is "{reduction}", expected "none" because the element type is {x.dtype}')


@irdl_op_definition
class ScatterElementsOp(ScatterOp):
    """
    Returns the operand with `result[…, indices[…, i, …], …] = updates[…, i, …]`, where `axis` has one index per update.

    With a `reduction`, the element is the sum, product, maximum or minimum of its old value and its updates.

    Shapes: `indices` and `updates` have one shape. Its extents in other dimensions than `axis` are at most those of the
    operand.
    Numerics: the updates of one element are applied in the order of their indices, and each is rounded to the element
    type. With "none" the last of several updates stays. A negative index counts from the end: the extent is added once.
    Fails: index out of range.

    ```mlir
    %y = graph.scatter_elements %x, %i, %u, axis = 1 : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>)
        -> tensor<4x8xf32>
    ```
    """

    name = "graph.scatter_elements"

    operand = tensor_operand(ANY)
    indices = tensor_operand("SU", "indices")
    updates = tensor_operand(ANY)
    axis = prop(AXIS)

    @classmethod
    def infer(cls, x: Shaped, indices: Shaped, updates: Shaped, *, reduction: str, axis: int) -> tuple[Shaped, ...]:
        _inside(x.shape, indices.shape, axis)
        if not compatible(updates.shape, indices.shape):
            raise ShapeError(f"updates is {text(updates.shape)}, expected the shape {text(indices.shape)} of indices")
        _check_combines(x, reduction)
        return (x,)

    def loop_function(self) -> str:
        return scatter_elements_loops(self)


@irdl_op_definition
class ScatterNdOp(ScatterOp):
    """
    Returns the operand with `result[indices[i…, 0], …, indices[i…, n - 1], s…] = updates[i…, s…]`.

    The last dimension of `indices` holds tuples of n indices. With a `reduction`, the element is the sum, product,
    maximum or minimum of its old value and its updates.

    Shapes: `updates` has the shape of `indices` without its last dimension, followed by the shape of what lies at a
    tuple.
    Numerics: the updates of one element are applied in the order of their indices, and each is rounded to the element
    type. With "none" the last of several updates stays. A negative index counts from the end: the extent is added once.
    Fails: index out of range.

    ```mlir
    %y = graph.scatter_nd %x, %i, %u : (tensor<4x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.scatter_nd"

    operand = tensor_operand(ANY)
    indices = tensor_operand("SU", "indices")
    updates = tensor_operand(ANY)

    @classmethod
    def infer(cls, x: Shaped, indices: Shaped, updates: Shaped, *, reduction: str) -> tuple[Shaped, ...]:
        places, slices = _tuples(x.shape, indices.shape, 0)
        if not compatible(updates.shape, (*places, *slices)):
            raise ShapeError(f"updates is {text(updates.shape)}, expected {text((*places, *slices))}")
        _check_combines(x, reduction)
        return (x,)

    def loop_function(self) -> str:
        return scatter_nd_loops(self)
