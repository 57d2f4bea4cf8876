"""
The ops of `arith` on NumPy numbers and arrays, each in its own element type.

An operand is a NumPy number, an array of rank 0, or the array of a vector. Integers are signless: signed dtypes hold
them, and ops on unsigned numbers view the same bits. An `i1` is a boolean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation

from . import binary, elementwise
from .element_types import DTYPES, Array, convert, is_float
from .failure import ReferenceFailure
from .math_functions import MEANINGS as MATH
from .properties import element_type_name, literal_array, plain_value

Meaning = Callable[..., tuple[Any, ...]]
"""Returns the results of an op, given its operands."""


class NoNumbers(TypeError):
    """NumPy has no numbers of a type."""


def dtype_of(type_: Attribute) -> np.dtype[Any]:
    """
    Returns the dtype of a number, or of the elements of a vector, tensor or buffer.

    Raises `NoNumbers` for a type that NumPy has no numbers of.
    """
    try:
        return DTYPES[element_type_name(getattr(type_, "element_type", type_))]
    except (KeyError, TypeError):
        raise NoNumbers(f"{type_} is no type whose numbers NumPy has") from None


# Integers


def unsigned(x: Array) -> Array:
    """Returns the same bits as unsigned numbers. A boolean becomes 0 or 1."""
    return x.astype(np.uint8) if x.dtype == np.bool_ else x.view(np.dtype(f"u{x.dtype.itemsize}"))


def signed(x: Array) -> Array:
    """Returns the same bits as signed numbers. A true `i1` is -1."""
    return -x.astype(np.int8) if x.dtype == np.bool_ else x


def _narrowed(x: Array, dtype: np.dtype[Any]) -> Array:
    """Returns the low bits of an integer as `dtype`."""
    return (x & np.ones((), x.dtype)) != 0 if dtype == np.bool_ else x.astype(dtype)


def _on_signed(function: Callable[[Array, Array], Array]) -> Meaning:
    return lambda x, y: (_narrowed(np.asarray(function(signed(x), signed(y)))[()], x.dtype),)


def _on_unsigned(function: Callable[[Array, Array], Array]) -> Meaning:
    return lambda x, y: (_narrowed(np.asarray(function(unsigned(x), unsigned(y)))[()], x.dtype),)


def _bits(function: Callable[[Array, Array], Array]) -> Meaning:
    return lambda x, y: (function(x, y),)


def _wrapping(function: Callable[[Array, Array], Array]) -> Meaning:
    """Makes the meaning of a sum, difference or product modulo a power of 2."""

    def meaning(x: Array, y: Array) -> tuple[Any, ...]:
        if x.dtype == np.bool_:
            return (_narrowed(function(x.astype(np.int8), y.astype(np.int8)), x.dtype),)
        return (function(x, y),)

    return meaning


def _shift(function: Callable[[Array, Array], Array], view: Callable[[Array], Array]) -> Meaning:
    """Makes the meaning of a shift. One by the width or more moves every bit out, where LLVM leaves the result open."""

    def meaning(x: Array, y: Array) -> tuple[Any, ...]:
        width = 8 * x.dtype.itemsize
        counts = np.minimum(unsigned(y), unsigned(np.asarray(width - 1, x.dtype)))
        shifted = function(view(x), counts.astype(view(x).dtype))
        beyond = np.where(shifted < 0, shifted, np.zeros((), shifted.dtype))
        if function is np.left_shift:
            beyond = np.zeros_like(shifted)
        return (np.where(unsigned(y) >= width, beyond, shifted)[()].astype(shifted.dtype).view(x.dtype),)

    return meaning


def _division(name: str, function: Callable[[Array, Array], Array], view: Callable[[Array], Array]) -> Meaning:
    """Makes the meaning of a quotient or remainder, which fails where a divisor is 0."""

    def meaning(x: Array, y: Array) -> tuple[Any, ...]:
        if np.any(y == 0):
            raise ReferenceFailure(name, binary.ZERO_DIVISOR)
        return (_narrowed(np.asarray(function(view(x), view(y)))[()], x.dtype),)

    return meaning


def _truncated(x: Array, y: Array) -> Array:
    return binary.OPS["graph.divide"]({}, np.asarray(x), np.asarray(y))[0]


def _floored(x: Array, y: Array) -> Array:
    return binary.OPS["graph.floor_divide"]({}, np.asarray(x), np.asarray(y))[0]


def _ceiled(x: Array, y: Array) -> Array:
    """Returns the quotient rounded up: one more than the floor where the division is not exact."""
    floor = _floored(x, y)
    return (floor + (floor * y != x)).astype(x.dtype)


def _remainder(x: Array, y: Array) -> Array:
    return x - _truncated(x, y) * y


_DIVISIONS: dict[str, tuple[Callable[[Array, Array], Array], Callable[[Array], Array]]] = {
    "arith.divsi": (_truncated, signed),
    "arith.floordivsi": (_floored, signed),
    "arith.ceildivsi": (_ceiled, signed),
    "arith.remsi": (_remainder, signed),
    "arith.divui": (np.floor_divide, unsigned),
    "arith.ceildivui": (_ceiled, unsigned),
    "arith.remui": (np.remainder, unsigned),
}


def _extended_sum(x: Array, y: Array) -> tuple[Any, ...]:
    total = x + y
    return total, unsigned(total) < unsigned(x)


def _extended_product(view: Callable[[Array], Array]) -> Meaning:
    """Makes the meaning of a product of twice the width: its low and its high half."""

    def meaning(x: Array, y: Array) -> tuple[Any, ...]:
        bits = 8 * x.dtype.itemsize
        wide = np.asarray(view(x)).astype(object) * np.asarray(view(y)).astype(object)
        halves = (wide & ((1 << bits) - 1), (wide >> bits) & ((1 << bits) - 1))
        return tuple(np.asarray(half).astype(f"u{bits // 8}")[()].view(x.dtype) for half in halves)

    return meaning


# Floats


def _maximum(x: Array, y: Array) -> tuple[Any, ...]:
    return (elementwise.maximum_of(x, y)[()],)


def _minimum(x: Array, y: Array) -> tuple[Any, ...]:
    return (elementwise.minimum_of(x, y)[()],)


def _number_of(function: Callable[[Array, Array], Array]) -> Meaning:
    """Makes the maximum or minimum that prefers a number to a NaN."""

    def meaning(x: Array, y: Array) -> tuple[Any, ...]:
        chosen = np.where(np.isnan(x), y, np.where(np.isnan(y), x, function(x, y)))
        return (chosen.astype(x.dtype)[()],)

    return meaning


_PLAIN: dict[str, Meaning] = {
    "arith.addi": _wrapping(lambda x, y: x + y),
    "arith.subi": _wrapping(lambda x, y: x - y),
    "arith.muli": _wrapping(lambda x, y: x * y),
    "arith.addui_extended": _extended_sum,
    "arith.mulsi_extended": _extended_product(signed),
    "arith.mului_extended": _extended_product(unsigned),
    "arith.andi": _bits(lambda x, y: x & y),
    "arith.ori": _bits(lambda x, y: x | y),
    "arith.xori": _bits(lambda x, y: x ^ y),
    "arith.shli": _shift(np.left_shift, signed),
    "arith.shrsi": _shift(np.right_shift, signed),
    "arith.shrui": _shift(np.right_shift, unsigned),
    "arith.maxsi": _on_signed(np.maximum),
    "arith.minsi": _on_signed(np.minimum),
    "arith.maxui": _on_unsigned(np.maximum),
    "arith.minui": _on_unsigned(np.minimum),
    "arith.addf": _bits(lambda x, y: x + y),
    "arith.subf": _bits(lambda x, y: x - y),
    "arith.mulf": _bits(lambda x, y: x * y),
    "arith.divf": _bits(lambda x, y: x / y),
    "arith.remf": _bits(np.fmod),
    "llvm.frem": _bits(np.fmod),
    "arith.negf": lambda x: (-x,),
    "arith.maximumf": _maximum,
    "arith.minimumf": _minimum,
    "arith.maxnumf": _number_of(elementwise.maximum_of),
    "arith.minnumf": _number_of(elementwise.minimum_of),
    "arith.select": lambda c, x, y: (np.where(c, x, y).astype(x.dtype) if np.ndim(c) else x if c else y,),
    **{name: _division(name, *parts) for name, parts in _DIVISIONS.items()},
    **MATH,
}
"""Ops whose results follow from the operands alone."""

# Comparisons

_CMPI = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
_CMPF = (np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal)


def _integer_comparison(op: Operation) -> Meaning:
    """Makes the meaning of `arith.cmpi`. Predicates 2 to 5 compare signed numbers, and 6 to 9 unsigned ones."""
    predicate = int(plain_value(op.properties["predicate"]))
    if predicate < 6:
        return lambda x, y: (_CMPI[predicate](signed(x), signed(y)),)
    return lambda x, y: (_CMPI[predicate - 4](unsigned(x), unsigned(y)),)


def _float_comparison(op: Operation) -> Meaning:
    """Makes the meaning of `arith.cmpf`. Predicates 1 to 6 are ordered, 8 to 13 their unordered counterparts."""
    predicate = int(plain_value(op.properties["predicate"]))

    def meaning(x: Array, y: Array) -> tuple[Any, ...]:
        nan = np.isnan(x) | np.isnan(y)
        if predicate in (0, 15):
            return (np.full(np.shape(nan), predicate == 15)[()],)
        if predicate in (7, 14):
            return (nan if predicate == 14 else ~nan,)
        if predicate < 7:
            return (_CMPF[predicate - 1](x, y) & ~nan,)
        return (_CMPF[predicate - 8](x, y) | nan,)

    return meaning


# Constants and conversions


def _constant(op: Operation) -> Meaning:
    value, type_ = op.properties["value"], op.results[0].type
    if hasattr(type_, "get_shape"):
        array = np.broadcast_to(literal_array(value), type_.get_shape())  # pyright: ignore[reportAttributeAccessIssue]
        return lambda: (array,)
    number = convert(np.asarray(plain_value(value)), dtype_of(type_))[()]
    return lambda: (number,)


def _conversion(view: Callable[[Array], Array]) -> Callable[[Operation], Meaning]:
    def prepared(op: Operation) -> Meaning:
        dtype = dtype_of(op.results[0].type)

        def meaning(x: Array) -> tuple[Any, ...]:
            source = x if is_float(x.dtype) else view(x)
            if dtype == np.bool_ and not is_float(x.dtype):
                return (_narrowed(source, dtype),)
            return (np.asarray(convert(np.asarray(source), dtype))[()],)

        return meaning

    return prepared


def _to_unsigned(op: Operation) -> Meaning:
    """Makes the meaning of `arith.fptoui`, whose result has the bits of an unsigned number."""
    dtype = dtype_of(op.results[0].type)
    wide = np.dtype(np.bool_) if dtype == np.bool_ else np.dtype(f"u{dtype.itemsize}")
    return lambda x: (np.asarray(convert(np.asarray(x), wide))[()].view(dtype),)


def _bitcast(op: Operation) -> Meaning:
    dtype = dtype_of(op.results[0].type)
    return lambda x: (np.ascontiguousarray(x).reshape(np.shape(x)).view(dtype)[()],)


_BY_OP: dict[str, Callable[[Operation], Meaning]] = {
    "arith.constant": _constant,
    "arith.cmpi": _integer_comparison,
    "arith.cmpf": _float_comparison,
    "arith.index_cast": _conversion(signed),
    "arith.extsi": _conversion(signed),
    "arith.trunci": _conversion(signed),
    "arith.sitofp": _conversion(signed),
    "arith.fptosi": _conversion(signed),
    "arith.extf": _conversion(signed),
    "arith.truncf": _conversion(signed),
    "arith.extui": _conversion(unsigned),
    "arith.index_castui": _conversion(unsigned),
    "arith.uitofp": _conversion(unsigned),
    "arith.fptoui": _to_unsigned,
    "arith.bitcast": _bitcast,
}
"""Ops whose meaning depends on their properties or the types of their results."""


def meaning_of(op: Operation) -> Meaning | None:
    """Returns what an op of `arith` or `math` computes, as a function of its operands. It is `None` for other ops."""
    return _BY_OP[op.name](op) if op.name in _BY_OP else _PLAIN.get(op.name)


def evaluate_scalar_op(op: Operation, operands: list[Array]) -> tuple[Array, ...] | None:
    """Returns the results of an op on arrays of rank 0, or `None` for an op that is not known here."""
    meaning = meaning_of(op)
    if meaning is None:
        return None
    with np.errstate(all="ignore"):
        return tuple(np.asarray(result) for result in meaning(*operands))
