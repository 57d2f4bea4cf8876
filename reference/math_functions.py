"""
The ops of `math` on NumPy numbers and arrays.

A function is evaluated in a wider type and rounded once. A single IEEE operation, such as `sqrt` or `fma`, is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import binary, elementwise
from .element_types import Array, round_to, single_op_dtype, widen

Meaning = Callable[..., tuple[Any, ...]]


def _function(function: Callable[..., Array]) -> Meaning:
    """Makes the meaning of a real function, which is evaluated in the wide type and rounded once."""

    def meaning(*operands: Array) -> tuple[Any, ...]:
        arrays = [np.asarray(operand) for operand in operands]
        return (round_to(np.asarray(function(*map(widen, arrays))), arrays[0].dtype)[()],)

    return meaning


def _exact(function: Callable[..., Array]) -> Meaning:
    """Makes the meaning of one exact or correctly rounded operation, which f16 and bf16 do in `f32`."""

    def meaning(*operands: Array) -> tuple[Any, ...]:
        arrays = [np.asarray(operand) for operand in operands]
        compute = single_op_dtype(arrays[0].dtype)
        return (round_to(np.asarray(function(*(each.astype(compute) for each in arrays))), arrays[0].dtype)[()],)

    return meaning


def _half_away(x: Array) -> Array:
    """Rounds to the nearest integer, and halves away from zero. The sign of a zero is kept."""
    whole = np.trunc(x)
    return np.copysign(np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole), x)


def _graph(name: str) -> Meaning:
    """Makes the meaning of an op that computes what a graph op does."""
    return lambda *operands: tuple(
        np.asarray(result)[()] for result in binary.OPS[name]({}, *(np.asarray(operand) for operand in operands))
    )


def _counting(count: Callable[[int, int], int]) -> Meaning:
    """Makes the meaning of an op that counts bits: `count(bits, width)` per element."""

    def meaning(x: Array) -> tuple[Any, ...]:
        array = np.asarray(x)
        width = 8 * array.dtype.itemsize
        flat = [count(int(each) & ((1 << width) - 1), width) for each in array.reshape(-1)]
        return (np.asarray(flat, array.dtype).reshape(array.shape)[()],)

    return meaning


def _power_of_integer(x: Array, y: Array) -> tuple[Any, ...]:
    """Returns `x ** y` for a float and an integer, rounded once."""
    array = np.asarray(x)
    wide = widen(array)
    return (round_to(np.power(wide, np.asarray(y).astype(wide.dtype)), array.dtype)[()],)


MEANINGS: dict[str, Meaning] = {
    "math.absf": _exact(np.abs),
    "math.absi": lambda x: (np.abs(x),),
    "math.sqrt": _exact(np.sqrt),
    "math.floor": _exact(np.floor),
    "math.ceil": _exact(np.ceil),
    "math.trunc": _exact(np.trunc),
    "math.roundeven": _exact(np.rint),
    "math.round": _exact(_half_away),
    "math.copysign": _exact(np.copysign),
    "math.fma": _graph("graph.ewise_fma"),
    "math.powf": _graph("graph.power"),
    "math.ipowi": _graph("graph.power"),
    "math.fpowi": _power_of_integer,
    "math.atan2": _function(np.arctan2),
    "math.cbrt": _function(np.cbrt),
    "math.rsqrt": _function(elementwise.rsqrt_of),
    "math.erf": _function(elementwise.erf_of),
    "math.exp": _function(np.exp),
    "math.exp2": _function(np.exp2),
    "math.expm1": _function(np.expm1),
    "math.log": _function(np.log),
    "math.log2": _function(np.log2),
    "math.log10": _function(np.log10),
    "math.log1p": _function(np.log1p),
    "math.sin": _function(np.sin),
    "math.cos": _function(np.cos),
    "math.tan": _function(np.tan),
    "math.sinh": _function(np.sinh),
    "math.cosh": _function(np.cosh),
    "math.tanh": _function(np.tanh),
    "math.asin": _function(np.arcsin),
    "math.acos": _function(np.arccos),
    "math.atan": _function(np.arctan),
    "math.asinh": _function(np.arcsinh),
    "math.acosh": _function(np.arccosh),
    "math.atanh": _function(np.arctanh),
    "math.ctpop": _counting(lambda bits, width: bits.bit_count()),
    "math.ctlz": _counting(lambda bits, width: width - bits.bit_length()),
    "math.cttz": _counting(lambda bits, width: width if bits == 0 else (bits & -bits).bit_length() - 1),
}
"""Maps the name of an op to the function of its operands."""
