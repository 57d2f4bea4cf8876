"""
Integers of less than a byte as files hold them: two of 4 bits in a byte, or four of 2 bits, the first in the lowest.

They stand in row-major order without gaps, so rows do not begin with a byte. What a last byte has beyond is zeros. In
memory each takes a byte. Source of the order: ONNX, onnx.proto, `TensorProto.raw_data`.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..te.dtypes import SMALL_INTEGERS, TABLE, numpy_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Array = np.ndarray[Any, Any]


def file_bytes(shape: Sequence[int], dtype: str) -> int:
    """Returns the bytes that a tensor takes in files."""
    row = TABLE[dtype]
    return -(-prod(shape) // row.per_byte) * row.storage_bytes


def pack(array: Array) -> Array:
    """Returns the bytes that files hold of an array of `ml_dtypes.int4`, `uint4`, `int2` or `uint2`."""
    import numpy as np

    dtype = next(name for name in SMALL_INTEGERS if numpy_dtype(name) == array.dtype)
    count, bits = TABLE[dtype].per_byte, TABLE[dtype].bits
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    packed = np.zeros(-(-flat.size // count), np.uint8)
    for place in range(count):
        part = flat[place::count]
        packed[: part.size] |= (part & (2**bits - 1)) << (place * bits)
    return packed


def in_bytes(array: Array) -> Array:
    """Returns an array of small integers as one of ui8, upper bits zero, and any other array as it is."""
    import numpy as np

    return array.view(np.uint8) if array.dtype in map(numpy_dtype, SMALL_INTEGERS) else array


def unpack(data: Array, dtype: str, shape: Sequence[int]) -> Array:
    """Returns the elements of a tensor of small integers, of which `data` are the bytes that a file holds."""
    import numpy as np

    count, bits, size = TABLE[dtype].per_byte, TABLE[dtype].bits, prod(shape)
    flat = np.empty(data.size * count, np.uint8)
    for place in range(count):
        flat[place::count] = (data >> (place * bits)) & (2**bits - 1)
    return flat[:size].view(numpy_dtype(dtype)).reshape(tuple(shape))
