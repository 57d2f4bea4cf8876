"""
Operators whose result has a shape that depends on elements: their inputs must be known at import, where the importer
computes them (`folding.py`); what comes here is too large for that, or uses what the evaluator cannot do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..registry import Known, converter
from ..value import Value


@converter("NonZero")
def non_zero(b: GraphBuilder, x: Known) -> Value:
    return b.constant(np.array(np.nonzero(np.asarray(x)), np.int64))


@converter("Unique")
def unique(b: GraphBuilder, x: Known, *, axis: int | None = None, sorted: int = 1) -> Any:
    """
    Returns the values, the first place of each, which one each element is, and how often each occurs.

    The values are in order of appearance unless they are sorted.
    """
    values, first, inverse, counts = np.unique(
        np.asarray(x), return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    if not sorted:
        order = np.argsort(first)
        values = np.take(values, order, axis=0 if axis is None else axis)
        first, counts, inverse = first[order], counts[order], np.argsort(order)[inverse]
    places = (array.reshape(-1).astype(np.int64) for array in (first, inverse, counts))
    return (b.constant(values), *(b.constant(array) for array in places))
