"""Programs evaluated in float64: the meaning of a graph of quantised tensors without the roundings of f32."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO
from typing import Any

import numpy as np
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.graph import ConstantOp, FullOp, WeightOp
from stepwell.reference.run import run
from stepwell.rewrites.constants.constant_values import array_of
from stepwell.rewrites.constants.externalize_weights import open_side_car, replace
from stepwell.runtime.source import copy_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

Array = np.ndarray[Any, Any]

F32 = re.compile(r"(?<=[x<])f32(?=>)|(?<== )f32\b")
"""The type in `tensor<4xf32>`, `tensor<f32>` and `dtype = f32`."""


class DoubleProgram:
    """A graph whose f32 is f64: constants and weights have the values that they had."""

    def __init__(self, module: ModuleOp):
        copy = copy_of(module)
        self._weights: dict[str, Array] = {}
        weights = [op for op in copy.walk() if isinstance(op, WeightOp)]
        file = open_side_car(copy, weights[0]) if weights else None
        for op in [op for op in copy.walk() if isinstance(op, ConstantOp | FullOp | WeightOp)]:
            array = file.array(op.weight_key) if file is not None and isinstance(op, WeightOp) else array_of(op)
            key = f"c{len(self._weights)}"
            self._weights[key] = _wide(np.array(array))
            replace(op, WeightOp(key, op.results[0].type))
        stream = StringIO()
        Printer(stream).print_op(copy)
        self._module = parse_text(make_context(), F32.sub("f64", stream.getvalue()), "double.mlir")

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        return run(self._module, "main", *map(_wide, arrays), weights=self._weights)


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype == np.float32 else array


def mean_errors(found: Sequence[Array], exact: Sequence[Array]) -> tuple[float, float]:
    """Returns the root of the mean of squared errors over all results, and that of the results themselves."""
    wide = [[np.asarray(each, np.float64) for each in arrays] for arrays in (found, exact)]
    pairs = list(zip(*wide, strict=True))
    count = sum(other.size for _, other in pairs)
    error = sum(float(np.square(one - other).sum()) for one, other in pairs)
    return (error / count) ** 0.5, (sum(float(np.square(other).sum()) for _, other in pairs) / count) ** 0.5
