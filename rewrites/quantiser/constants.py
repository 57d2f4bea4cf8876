"""The elements of tensors that follow from constants and weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...core.weights import WeightFile
from ...dialects.graph.constants import ConstantOp, FullOp, WeightOp
from ...dialects.traits import LoopSemantics, is_pure
from ...te.evaluation import CheckFailed, evaluate_op
from ..constants.constant_values import array_of
from ..constants.externalize_weights import open_side_car, require

Array = np.ndarray[Any, Any]


class Constants:
    """Computes the elements of tensors of a module that depend on constants and weights only, each once."""

    def __init__(self, module: ModuleOp):
        self._module = module
        self._file: WeightFile | None = None
        self._arrays: dict[SSAValue, Array | None] = {}

    def array(self, value: SSAValue) -> Array | None:
        """Returns the elements of `value`, or `None` where they depend on more than constants, or cannot be had."""
        stack = [value]
        while stack:
            op = stack[-1].owner
            if stack[-1] in self._arrays:
                stack.pop()
            elif not isinstance(op, Operation) or not self._may_be_known(op):
                self._arrays[stack.pop()] = None
            elif missing := [operand for operand in op.operands if operand not in self._arrays]:
                stack.append(missing[0])
            else:
                self._arrays.update(zip(op.results, self._results(op), strict=True))
        return self._arrays[value]

    def _may_be_known(self, op: Operation) -> bool:
        if isinstance(op, ConstantOp | FullOp | WeightOp):
            return True
        known = all(self._arrays.get(operand, self) is not None for operand in op.operands)
        return known and bool(op.operands) and isinstance(op, LoopSemantics) and is_pure(op)

    def _results(self, op: Operation) -> Sequence[Array | None]:
        if isinstance(op, ConstantOp | FullOp):
            return [array_of(op)]
        if isinstance(op, WeightOp):
            return [self._weight(op)]
        operands = [array for operand in op.operands if (array := self._arrays[operand]) is not None]
        try:
            return evaluate_op(op, operands)  # pyright: ignore[reportArgumentType]
        except CheckFailed:
            return [None] * len(op.results)

    def _weight(self, op: WeightOp) -> Array:
        if self._file is None:
            self._file = open_side_car(self._module, op)
        require(self._file, op)
        return self._file.array(op.weight_key)
