"""Constants, and sizes that are not known."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value


@converter("Constant")
def constant(
    b: GraphBuilder,
    *,
    value: Any = None,
    value_float: float | None = None,
    value_floats: tuple[float, ...] | None = None,
    value_int: int | None = None,
    value_ints: tuple[int, ...] | None = None,
    value_string: str | None = None,
    value_strings: list[str] | None = None,
    sparse_value: Any = None,
) -> Value:
    if value is not None:
        return b.constant(value)
    if value_float is not None or value_floats is not None:
        return b.constant(np.array(value_floats if value_float is None else value_float, np.float32))
    if value_int is not None or value_ints is not None:
        return b.constant(np.array(value_ints if value_int is None else value_int, np.int64))
    raise ConversionError("the constant is sparse or of strings, expected numbers")
