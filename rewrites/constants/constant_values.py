"""Constant ops as NumPy arrays and back. Imports NumPy, so passes import this module only when they fold."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from ...dialects.graph.base import shaped_of
from ...dialects.graph.constants import ConstantOp, FullOp
from ...te.dtypes import numpy_dtype
from ...te.numeric import Array


def array_of(op: Operation) -> Array:
    """Returns the value of a `graph.constant` or `graph.full` as a read-only array."""
    shape, dtype = shaped_of(op.results[0].type, "the constant")
    static = tuple(size for size in shape if size is not None)
    if isinstance(op, FullOp):
        return np.broadcast_to(np.array(op.plain_value, numpy_dtype(dtype)), static)
    assert isinstance(op, ConstantOp)
    return np.frombuffer(op.data, numpy_dtype(dtype)).reshape(static)


def constant_of(array: Array, type_: TensorType) -> Operation:
    """Returns a `graph.full` when all of several elements have the same bits, else a `graph.constant`."""
    if array.size > 1:
        flat = np.ascontiguousarray(array).reshape(-1)
        data = flat.tobytes()
        number = flat[0].item()
        # A NaN as a Python number would lose its bits.
        if number == number and data == data[: flat.itemsize] * flat.size:
            return FullOp(number, type_)
    return ConstantOp.from_array(np.ascontiguousarray(array).reshape(array.shape))
