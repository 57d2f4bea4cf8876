"""The functions of scalar expressions by name, with the element types that they are defined on."""

from __future__ import annotations

from collections.abc import Callable

from . import dtypes

Domain = Callable[[str], bool]
"""A predicate that tells which element types a function is defined on."""


def _numeric(dtype: str) -> bool:
    return dtype != "i1" and dtype not in dtypes.STORED


def _float(dtype: str) -> bool:
    return dtypes.is_float(dtype) and dtype not in dtypes.STORED


def _integer(dtype: str) -> bool:
    return dtypes.is_integer(dtype) and dtype not in dtypes.STORED


def _bits(dtype: str) -> bool:
    return not dtypes.is_float(dtype) and dtype not in dtypes.STORED


UNARY_FLOAT = frozenset(
    {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "erf"}
    | {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"}
    | {"floor", "ceil", "round", "trunc"}
)
UNARY_ANY = frozenset({"neg", "abs"})
UNARY_TEST = frozenset({"isnan", "isinf", "isfinite"})

UNARY: dict[str, Domain] = {
    **dict.fromkeys(UNARY_FLOAT, _float),
    **dict.fromkeys(UNARY_TEST, dtypes.is_float),
    **dict.fromkeys(UNARY_ANY, _numeric),
    "not": _bits,
}
"""The functions that `Unary` may apply."""

BINARY_ANY = frozenset({"add", "sub", "mul", "max", "min"})
BINARY_FLOAT = frozenset({"div", "fmod", "pow", "atan2", "copysign"})
BINARY_INTEGER = frozenset({"truncdiv", "truncmod", "floordiv", "floormod", "shl", "shr"})
BINARY_BITS = frozenset({"and", "or", "xor"})

BINARY: dict[str, Domain] = {
    **dict.fromkeys(BINARY_ANY, _numeric),
    **dict.fromkeys(BINARY_FLOAT, _float),
    **dict.fromkeys(BINARY_INTEGER, _integer),
    **dict.fromkeys(BINARY_BITS, _bits),
}
"""The functions that `Binary` may apply."""

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
"""The functions that `Compare` may apply."""
