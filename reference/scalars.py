"""The scalar ops of `arith` that a graph program uses around `scf` and `tensor.extract`, on rank-0 arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from . import binary, elementwise
from .element_types import DTYPES, Array, convert
from .failure import ReferenceFailure
from .properties import element_type_name, literal_array, plain_value

_CMPI = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
)

_BINARY: dict[str, Callable[..., Any]] = {
    "arith.addi": lambda x, y: x + y,
    "arith.subi": lambda x, y: x - y,
    "arith.muli": lambda x, y: x * y,
    "arith.addf": lambda x, y: binary.OPS["graph.add"]({}, x, y)[0],
    "arith.subf": lambda x, y: binary.OPS["graph.subtract"]({}, x, y)[0],
    "arith.mulf": lambda x, y: binary.OPS["graph.multiply"]({}, x, y)[0],
    "arith.divf": lambda x, y: binary.OPS["graph.divide"]({}, x, y)[0],
    "arith.maximumf": elementwise.maximum_of,
    "arith.minimumf": elementwise.minimum_of,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.andi": lambda x, y: x & y,
    "arith.ori": lambda x, y: x | y,
    "arith.xori": lambda x, y: x ^ y,
    "arith.divsi": lambda x, y: _division("arith.divsi", "graph.divide", x, y),
    "arith.floordivsi": lambda x, y: _division("arith.floordivsi", "graph.floor_divide", x, y),
    "arith.remsi": lambda x, y: x - _division("arith.remsi", "graph.divide", x, y) * y,
}

_CONVERSIONS = (
    "arith.index_cast",
    "arith.extsi",
    "arith.trunci",
    "arith.sitofp",
    "arith.fptosi",
    "arith.extf",
    "arith.truncf",
)


def _division(name: str, meaning: str, x: Array, y: Array) -> Array:
    if np.any(y == 0):
        raise ReferenceFailure(name, binary.ZERO_DIVISOR)
    return binary.OPS[meaning]({}, x, y)[0]


def _unsigned(array: Array) -> Array:
    return array.astype(np.uint8) if array.dtype == np.bool_ else array.view(np.dtype(f"u{array.dtype.itemsize}"))


def _compare_integers(op: Operation, x: Array, y: Array) -> Array:
    predicate = int(plain_value(op.properties["predicate"]))
    if predicate < 6:
        return np.asarray(_CMPI[predicate](x, y))
    return np.asarray(_CMPI[predicate - 4](_unsigned(x), _unsigned(y)))


def _compare_floats(op: Operation, x: Array, y: Array) -> Array:
    """Evaluates `arith.cmpf`. Predicates 1 to 7 are ordered, and 8 to 14 are their unordered counterparts."""
    predicate = int(plain_value(op.properties["predicate"]))
    ordered = not (np.isnan(x) or np.isnan(y))
    if predicate in (0, 15):
        return np.asarray(predicate == 15)
    if predicate in (7, 8):
        return np.asarray(ordered == (predicate == 7))
    functions = (np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal)
    if predicate < 7:
        return np.asarray(ordered and bool(functions[predicate - 1](x, y)))
    return np.asarray(not ordered or bool(functions[predicate - 9](x, y)))


def _constant(op: Operation) -> Array:
    value = op.properties["value"]
    result_type = op.results[0].type
    if hasattr(result_type, "get_shape"):
        return literal_array(value)
    return np.asarray(plain_value(value)).astype(DTYPES[element_type_name(result_type)])


def evaluate_scalar_op(op: Operation, operands: list[Array]) -> tuple[Array, ...] | None:
    """Returns the results of an `arith` op on rank-0 arrays, or `None` for an op that is not known here."""
    with np.errstate(all="ignore"):
        if op.name in _BINARY:
            result = _BINARY[op.name](*operands)
        elif op.name in _CONVERSIONS:
            result = convert(operands[0], DTYPES[element_type_name(op.results[0].type)])
        elif op.name in ("arith.extui", "arith.uitofp", "arith.index_castui"):
            result = convert(_unsigned(operands[0]), DTYPES[element_type_name(op.results[0].type)])
        elif op.name == "arith.constant":
            result = _constant(op)
        elif op.name == "arith.cmpi":
            result = _compare_integers(op, *operands)
        elif op.name == "arith.cmpf":
            result = _compare_floats(op, *operands)
        elif op.name == "arith.select":
            result = operands[1] if operands[0] else operands[2]
        elif op.name == "arith.negf":
            result = -operands[0]
        else:
            return None
    return (np.asarray(result),)
