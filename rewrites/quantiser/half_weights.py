"""Weights alone as half floats: products read them as they are in memory, and compute in f32."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ...dialects.graph.contraction import MatmulOp
from ...te.dtypes import numpy_dtype
from .emitting import Place, hint_of
from .layers import Layer

Array = np.ndarray[Any, Any]

HALVES: Final = ("f16", "bf16")
"""The types that weights may have which are no integers."""


def half_weights(matrix: Array, dtype: str) -> Array | str:
    """Returns the nearest half floats, or why there are none: a weight is beyond the greatest."""
    with np.errstate(over="ignore"):
        found = matrix.astype(numpy_dtype(dtype))
    return found if np.isfinite(found.astype(np.float32)).all() else f"some are beyond the greatest {dtype}"


def put_halves(layer: Layer, weights: Array, dtype: str) -> SSAValue:
    """Puts weights of half floats before a layer."""
    return Place.at(layer.op).constant(weights, hint_of(layer.op.operands[1], dtype, layer.name))


def replace_weights(layer: Layer, kernel: SSAValue) -> None:
    """Makes the product of a layer one of the same values and other weights."""
    op, place = layer.op, Place.at(layer.op)
    product = MatmulOp(op.operands[0], kernel)
    product.properties.update(op.properties)
    result = place.put(product)
    result.name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, [], [result])


__all__ = ["HALVES", "half_weights", "put_halves", "replace_weights"]
