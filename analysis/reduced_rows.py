"""
Tells what the reductions of an op have in common: the tensor that they go over, and the dimensions that they combine.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX

from .. import te
from ..lazy_dataclass import dataclass
from ..te.expr import Axis
from ..te.reductions import ReductionResult
from ..te.tensor import Load

Sizes = tuple[int, ...]


def without_ones(sizes: Sequence[int]) -> Sizes:
    """Returns a shape without dimensions of size 1, which do not matter for the loops that are needed."""
    return tuple(size for size in sizes if size != 1)


@dataclass(frozen=True)
class Rows:
    """
    A reduction of whole rows. Every element of a tensor is read once, and those along some dimensions are combined.

    `space` is the shape of that tensor and `kept` that of the result, both without dimensions of size 1. Softmax and
    layer normalisation are several reductions with equal rows. A contraction or a window has no rows.
    """

    space: Sizes
    reduced: tuple[int, ...]
    """The numbers of the dimensions of `space` that are combined."""

    @property
    def kept(self) -> Sizes:
        return tuple(size for dim, size in enumerate(self.space) if dim not in self.reduced)

    def fits(self, sizes: Sequence[int]) -> bool:
        """Returns whether a tensor of this shape has an element per element of the rows, or one per row."""
        return without_ones(sizes) in (self.space, self.kept)


def rows_of_stages(stages: Sequence[te.Compute]) -> Rows | None:
    """Returns the rows of all reductions among `stages`. It is `None` when there is no reduction or they differ."""
    found = {
        _rows_of_stage(stage) for stage in stages if any(isinstance(body, ReductionResult) for body in stage.bodies)
    }
    return found.pop() if len(found) == 1 else None


def _rows_of_stage(stage: te.Compute) -> Rows | None:
    first = stage.bodies[0]
    assert isinstance(first, ReductionResult)
    axes = first.reduction.axes
    places: dict[tuple[int, ...], Load] = {}
    for node in te.post_order(*stage.bodies):
        if isinstance(node, Load) and any(part in axes for part in te.post_order(*node.indices)):
            places[tuple(id(index) for index in node.indices)] = node
    if len(places) != 1:
        return None
    (load,) = places.values()
    indices = [(index, size) for index, size in zip(load.indices, load.tensor.shape, strict=True) if size != 1]
    if not all(isinstance(index, Axis) for index, _ in indices):
        return None
    reduced = tuple(number for number, (index, _) in enumerate(indices) if index in axes)
    return Rows(tuple(_number(size) for _, size in indices), reduced)


def _number(size: te.Dim) -> int:
    return size if isinstance(size, int) else DYNAMIC_INDEX
