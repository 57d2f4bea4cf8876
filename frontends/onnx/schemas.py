"""Checks that the inputs of a node have elements of a kind that ONNX allows there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ...te.dtypes import TABLE
from .emitting.values import SequenceValue
from .errors import ConversionError
from .types import DTYPES
from .value import Value

if TYPE_CHECKING:
    from onnx import NodeProto

_ONNX_NAMES: Final = {"f32": "float", "f64": "double"}
"""The names in which ONNX differs from NumPy."""


def check_types(node: NodeProto, inputs: Sequence[Value | None], version: int) -> None:
    """
    Raises `ConversionError` for an input of another kind of elements (booleans, integers, floats) than the operator
    takes. Among those of a kind, converters may take more than is declared. What has no declaration is not looked at.

    Source: the operator declarations of the package `onnx`.
    """
    declared = _declared(node.op_type, version, node.domain)
    for number, value in enumerate(inputs):
        if value is None or not declared or isinstance(value, SequenceValue):
            continue
        name, types, takes_sequence = declared[min(number, len(declared) - 1)]
        if takes_sequence:
            raise ConversionError(f"input {number}, '{name}', is {value.shaped}, expected a sequence")
        if value.dtype not in types and _kind(value.dtype) not in map(_kind, types):
            expected = " or ".join(dtype for dtype in DTYPES.values() if dtype in types) or "what is not supported"
            raise ConversionError(f"input {number}, '{name}', has element type {value.dtype}, expected {expected}")


@lru_cache(maxsize=1024)
def _declared(operator: str, version: int, domain: str) -> tuple[tuple[str, frozenset[str], bool], ...]:
    """
    Returns the name of each input of an operator, its element types, and whether it is a sequence and no tensor.

    The last entry may stand for any number of inputs.
    """
    from onnx import defs

    try:
        schema = defs.get_schema(operator, version, "" if domain == "ai.onnx" else domain)
    except defs.SchemaError:
        return ()
    return tuple(
        (
            each.name,
            frozenset(dtype for dtype in DTYPES.values() if f"tensor({_onnx_name(dtype)})" in each.types),
            all(type_.startswith("seq(") for type_ in each.types),
        )
        for each in schema.inputs
    )


def _kind(dtype: str) -> str:
    return dtype if dtype == "i1" else "float" if "f" in dtype else "integer"


def _onnx_name(dtype: str) -> str:
    """Returns the name that ONNX has for an element type: `ui8` is `uint8`."""
    return _ONNX_NAMES.get(dtype, TABLE[dtype].numpy)
