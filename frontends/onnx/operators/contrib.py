"""
Operators of the set `com.microsoft` that do the same as ones of ONNX, mostly since they are older.

Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

import numpy as np

from ....te.dtypes import numpy_dtype
from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import Known, converter, direct
from ..value import Value
from . import arithmetic, dynamic, movement
from .quantized_fusions import DOMAIN

direct("GatherND", "gather_nd", inputs=2, domain=DOMAIN)

converter("Trilu", domain=DOMAIN)(arithmetic.trilu)


@converter("ExpandDims", domain=DOMAIN)
def expand_dims(b: GraphBuilder, x: Value, axis: Known) -> Value:
    axes = movement.ints(axis)
    if len(axes) != 1:
        raise ConversionError(f"axis has {len(axes)} elements, expected 1")
    return b.expand_dims(x, axis=axes)


@converter("Pad", domain=DOMAIN)
def pad(b: GraphBuilder, x: Value, pads: Known, value: Known | Value | None = None, *, mode: str = "constant") -> Value:
    """Pads. The widths are a vector or a row of a matrix."""
    return movement.pad(b, x, pads, value, mode=mode)


@converter("Pad", domain=DOMAIN, at_run_time=True)
def pad_at_run_time(
    b: GraphBuilder, x: Value, pads: Value, value: Known | Value | None = None, *, mode: str = "constant"
) -> Value:
    return dynamic.pad(b, x, pads, value, mode=mode)


@converter("Range", domain=DOMAIN)
def range_(b: GraphBuilder, start: Known, limit: Known, delta: Known | None = None) -> Value:
    """Returns the numbers from `start` on, in steps of 1 when there is no `delta`."""
    step = np.ones((), np.asarray(start).dtype) if delta is None else delta
    return arithmetic.range_(b, start, limit, step)  # pyright: ignore[reportArgumentType]


@converter("Range", domain=DOMAIN, at_run_time=True)
def range_at_run_time(b: GraphBuilder, start: Value, limit: Value, delta: Value | None = None) -> Value:
    step = b.constant(np.ones((), numpy_dtype(start.dtype))) if delta is None else delta
    return dynamic.range_(b, start, limit, step)
