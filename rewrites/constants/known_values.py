"""The elements of tensors that follow from shapes alone, computed when they are asked for."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, TensorType
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects.graph.constants import ConstantOp, FullOp
from ...dialects.traits import LoopSemantics
from ...patterns.language.constants import is_constant_op

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

MOST_ELEMENTS: Final = 1 << 16
"""The most elements of a tensor that is computed here, since sizes and positions are small."""


class KnownValues:
    """
    Computes the elements of tensors that follow from constants and shapes. Shapes must have been inferred up to there.

    `used` are the ops that were computed, in the order of the program: when nothing else needs them, they can go.
    """

    def __init__(self) -> None:
        self.used: dict[Operation, None] = {}
        self._arrays: dict[SSAValue, Array] = {}

    def array(self, value: SSAValue) -> Array | None:
        """Returns the elements of a tensor, or `None` when they depend on more than shapes."""
        return None if self.culprit(value) is not None else self._arrays[value]

    def culprit(self, value: SSAValue) -> SSAValue | None:
        """
        Returns the first value that keeps `value` from being known. It is an argument or the result of an op, or `None`
        when `value` is known.
        """
        stack = [value]
        while stack:
            each = stack[-1]
            if each in self._arrays:
                stack.pop()
                continue
            op = each.owner
            if isinstance(each, BlockArgument) or not isinstance(op, Operation) or not _can_compute(op):
                return each
            missing = [] if op.name == "graph.shape_of" else [v for v in op.operands if v not in self._arrays]
            if missing:
                stack.extend(missing)
                continue
            if not self._compute(op):
                return each
            stack.pop()
        return None

    def _compute(self, op: Operation) -> bool:
        from ...te.evaluation import CheckFailed, evaluate_op
        from .constant_values import array_of

        if isinstance(op, ConstantOp | FullOp):
            found = [array_of(op)]
        elif op.name == "graph.shape_of":
            found = [_shape(op.operands[0])]
        elif op.name == "tensor.extract":
            found = self._extracted(op)
        elif op.name == "arith.index_cast":
            found = [self._arrays[op.operands[0]]]
        elif is_constant_op(op):
            found = _scalar(op)
        else:
            try:
                found = evaluate_op(op, [self._arrays[each] for each in op.operands])  # pyright: ignore[reportArgumentType]
            except CheckFailed:
                return False
        if not found:
            return False
        self._arrays.update(zip(op.results, found, strict=True))
        self.used.setdefault(op)
        return True

    def _extracted(self, op: Operation) -> list[Array]:
        source, *indices = (self._arrays[each] for each in op.operands)
        place = tuple(int(index) for index in indices)
        inside = all(0 <= at < size for at, size in zip(place, source.shape, strict=True))
        return [source[place]] if inside else []

    def erase_unused(self) -> None:
        """Erases the ops that were computed and have no use left."""
        for op in reversed(list(self.used)):
            if op.parent is not None and all(result.first_use is None for result in op.results):
                op.detach()
                op.erase()


def _can_compute(op: Operation) -> bool:
    if op.name == "graph.shape_of":
        return _is_static(op.operands[0])
    if op.name in ("tensor.extract", "arith.index_cast") or isinstance(op, ConstantOp | FullOp) or is_constant_op(op):
        return True
    values = (*op.operands, *op.results)
    return isinstance(op, LoopSemantics) and all(_is_static(each) and _size(each) <= MOST_ELEMENTS for each in values)


def _is_static(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and DYNAMIC_INDEX not in value.type.get_shape()


def _size(value: SSAValue) -> int:
    assert isinstance(value.type, TensorType)
    return prod(value.type.get_shape())


def _shape(value: SSAValue) -> Array:
    import numpy as np

    assert isinstance(value.type, TensorType)
    return np.array(value.type.get_shape(), np.int64)


def _scalar(op: Operation) -> list[Array]:
    """Returns the number of an `arith.constant` of an integer type or `index`."""
    import numpy as np

    attribute = op.properties.get("value")
    return [np.array(attribute.value.data, np.int64)] if isinstance(attribute, IntegerAttr) else []
