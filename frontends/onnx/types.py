"""Element types of ONNX and of the graph dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...core.packing import unpack
from ...te import dtypes

if TYPE_CHECKING:
    from onnx import TensorProto

DTYPES: Final[dict[int, str]] = {
    1: "f32",
    2: "ui8",
    3: "i8",
    4: "ui16",
    5: "i16",
    6: "i32",
    7: "i64",
    9: "i1",
    10: "f16",
    11: "f64",
    12: "ui32",
    13: "ui64",
    16: "bf16",
    17: "f8E4M3FN",
    19: "f8E5M2",
    21: "ui4",
    22: "i4",
    25: "ui2",
    26: "i2",
}
"""`TensorProto.DataType` to the name of an element type. Source: ONNX IR specification, onnx.proto."""

ELEMENT_BITS: Final[dict[str, int]] = {
    name: 8 * dtypes.TABLE[name].storage_bytes // dtypes.TABLE[name].per_byte for name in DTYPES.values()
}
"""Bits that an element takes in files."""

FIELDS: Final[dict[str, str]] = {
    name: {"f32": "float_data", "f64": "double_data", "i64": "int64_data"}.get(
        name, "uint64_data" if name in ("ui32", "ui64") else "int32_data"
    )
    for name in DTYPES.values()
}
"""
The field of a `TensorProto` with the elements of a type, where they are not raw bytes. Source: onnx.proto.

Integers of less than a byte stand there in packed bytes.
"""

OTHER_TYPES: Final[dict[int, str]] = {
    0: "undefined",
    8: "string",
    14: "complex64",
    15: "complex128",
    18: "float8e4m3fnuz",
    20: "float8e5m2fnuz",
    23: "float4e2m1",
    24: "float8e8m0",
}
"""Element types of ONNX without a counterpart."""


def type_text(data_type: int) -> str:
    """Returns the name of an ONNX element type, for messages."""
    return DTYPES.get(data_type) or OTHER_TYPES.get(data_type) or f"number {data_type}"


def small_integers(tensor: TensorProto) -> np.ndarray[Any, Any]:
    """Returns the elements of a tensor of small integers that has been checked and is in no other file."""
    return unpack(small_bytes(tensor), DTYPES[tensor.data_type], tensor.dims)


def small_bytes(tensor: TensorProto) -> np.ndarray[Any, Any]:
    """Returns the bytes of a tensor of small integers that is in no other file."""
    if tensor.HasField("raw_data"):
        return np.frombuffer(tensor.raw_data, np.uint8)
    return np.array(tensor.int32_data, np.int64).astype(np.uint8)
