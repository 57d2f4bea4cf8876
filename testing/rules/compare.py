"""
Running a program before and after a rule, and what equal means for each numerics class.

- `exact`: the same bits; all NaNs are one.
- `rounding`: inputs are finite or NaN. Integers are equal, a NaN stays one, and finite floats differ by at most `ULPS`
  units of the coarsest element type on the way, at the size of the largest number on the way, or by as much as the
  program itself makes of a change of its inputs by that many units.
- `fast`: the same, for elements that are finite before.

Each rounding of a long sum may go the same way, so that one of n terms may be n / `TERMS_OF_A_UNIT` units away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod
from typing import Any, Final

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, IntegerType, ModuleOp, TensorType
from xdsl.ir import Operation

from ...dialects.graph.base import shaped_of
from ...lazy_dataclass import dataclass
from ...reference.failure import ReferenceFailure
from ...reference.run import NoReferenceError, ReferenceRunError, run
from ...te.dtypes import integer_range
from ..programs.op_generators import FLOATS
from ..programs.values import arrays_of, special_floats
from .instances import Instance
from .own_meaning import OwnMeanings

Array = np.ndarray[Any, Any]

ULPS: Final = 16
"""The distance that results may have, in units in the last place of the largest number on the way."""

TERMS_OF_A_UNIT: Final = 64
"""
The terms of a sum for each unit that it may be away. NumPy adds 8 sums of every eighth term, so that rounding is less
than that of one sum of all terms: 30 000 equal terms are 57 units away.
"""

EPSILON: Final = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}

FLAVOURS: Final = {
    "exact": ("special", "any", "small", "positive"),
    "rounding": ("finite", "positive", "nan"),
    "quantised": ("finite", "positive"),
    "fast": ("finite", "positive"),
}
"""The kinds of values that arguments are given, one run each."""


@dataclass
class Outcome:
    """The results of one run, or why it failed, and how large its numbers got."""

    results: tuple[Array, ...] = ()
    failure: str | None = None
    largest: float = 1.0
    epsilon: float = 0.0
    terms: int = 0
    """The most elements of an operand for each element of a result."""
    own: dict[str, str] = field(default_factory=dict)
    """The ops without a reference, and what of their own says what they compute: `te` or `loop_function`."""
    unknown: str = ""
    """The name of an op of which nothing says what it computes."""
    _dtypes: set[str] = field(default_factory=set)

    def observe(self, op: Operation | None, results: Sequence[Array]) -> None:
        for array in results:
            if _holds_integers(array) or array.size == 0:
                continue
            self.epsilon = max(self.epsilon, EPSILON[array.dtype.name])
            wide = np.abs(array.astype(np.float64))
            self.largest = max(self.largest, float(np.max(wide, where=np.isfinite(wide), initial=0.0)))
            if op is not None:
                self.terms = max(self.terms, _elements(op) // array.size)


def _holds_integers(array: Array) -> bool:
    """Returns whether an array holds integers or booleans. NumPy has no kind for those of less than a byte."""
    return array.dtype.kind in "iub" or array.dtype.name.removeprefix("u").startswith("int")


def _elements(op: Operation) -> int:
    """Returns the most elements of an operand, as far as types tell them."""
    shapes = [each.type.get_shape() for each in op.operands if isinstance(each.type, TensorType)]
    return max((prod(shape) for shape in shapes if DYNAMIC_INDEX not in shape), default=0)


def flavours_of(module: ModuleOp, numerics: str) -> list[tuple[int, str]]:
    """Returns the kinds of values for a program, with their numbers. Exact rules of integers need no plain floats."""
    function = next(op for op in module.body.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main")
    types = [argument.type for argument in function.body.block.args]
    floats = any(isinstance(each, TensorType) and isinstance(each.element_type, AnyFloat) for each in types)
    rows = enumerate(FLAVOURS[numerics])
    return [row for row in rows if floats or numerics != "exact" or row[1] != "positive"]


def arguments_of(instance: Instance, seed: int, flavour: str) -> list[Array]:
    """Values for the arguments of `main`."""
    function = next(op for op in instance.module.body.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main")
    arrays = []
    for number, argument in enumerate(function.body.block.args):
        own = instance.flavours[number] if number < len(instance.flavours) else ""
        if isinstance(argument.type, IntegerType):
            arrays.append(np.asarray(bool((seed + number) % 2)))
            continue
        shape, dtype = shaped_of(argument.type, "the argument")
        arrays.append(_values(seed + number, tuple(size or 0 for size in shape), dtype, own or flavour))
    return arrays


def _values(seed: int, shape: tuple[int, ...], dtype: str, flavour: str) -> Array:
    if flavour == "special":
        return _special(seed, shape, dtype)
    if flavour != "nan":
        return arrays_of(seed, shape, dtype, flavour)
    array = arrays_of(seed, shape, dtype, "finite")
    if not _holds_integers(array) and array.size:
        array = array.copy()
        array.flat[seed % array.size] = np.nan
    return array


def _special(seed: int, shape: tuple[int, ...], dtype: str) -> Array:
    """Zeros of both signs, infinities, NaN, ones, the ends of the range: half of the elements."""
    array = arrays_of(seed, shape, dtype, "any").copy()
    if dtype == "i1" or not array.size:
        return array
    random = np.random.default_rng(seed)
    edges = special_floats(dtype)[[0, 1, 2, 3, 4, 7, 9, 11, 12, 13]] if dtype in FLOATS else _edges(dtype, array)
    chosen = edges[random.integers(0, len(edges), shape)]
    return np.where(random.integers(0, 2, shape) == 1, chosen, array).astype(array.dtype)


def _edges(dtype: str, array: Array) -> Array:
    least, most = integer_range(dtype)
    return np.array([least, most, 0, 1, most // 2 + 1], np.int64 if least < 0 else np.uint64).astype(array.dtype)


def outcome_of(module: ModuleOp, arguments: Sequence[Array], nudge: int | None = None) -> Outcome:
    """Runs `main`. A failure at run time is an outcome too. With `nudge`, results on the way change by two units."""
    own = OwnMeanings()
    outcome = Outcome(own=own.used)
    outcome.observe(None, arguments)

    def observe(op: Operation, results: Sequence[Array]) -> None:
        outcome.observe(op, results)
        for place, array in enumerate(results if nudge is not None else ()):
            if array.flags.writeable:
                array[...] = _nudged(array, [nudge or 0, place], 2)

    try:
        outcome.results = run(module, "main", *arguments, observe=observe, otherwise=own)
    except ReferenceFailure as failure:
        outcome.failure = f"{failure.op}: {failure.reason}"
    except ReferenceRunError as error:
        outcome.failure = str(error)
        outcome.unknown = error.op if isinstance(error, NoReferenceError) else ""
    return outcome


def difference(before: Outcome, after: Outcome, numerics: str, slack: Sequence[Array] | None = None) -> str | None:
    """
    What the rule has changed that its class forbids. `slack` is how much further apart the floats of each result may
    be; see `sensitivity`.
    """
    if after.failure is not None:
        return f"the program fails after the rule: {after.failure}"
    for number, (wanted, found) in enumerate(zip(before.results, after.results, strict=True)):
        where = f"result {number}"
        if wanted.dtype != found.dtype or wanted.shape != found.shape:
            return f"{where} is {found.dtype} of shape {found.shape}, was {wanted.dtype} of shape {wanted.shape}"
        more = np.zeros(()) if slack is None else slack[number]
        apart = _apart(wanted, found, numerics, before, after, more)
        if apart.any():
            place = tuple(int(index) for index in np.argwhere(apart)[0])
            return f"{where}{list(place) if place else ''} was {wanted[place]!s}, became {found[place]!s}"
    return None


def sensitivity(module: ModuleOp, arguments: Sequence[Array], outcome: Outcome) -> list[Array]:
    """
    Returns how much each result changes when the floats of the arguments change by `ULPS` units, or those of all
    results on the way by two: where a program takes the difference of nearly equal numbers, results as far apart as
    that are those of inputs that rounding cannot tell apart.

    That is one number for all elements of a result, and infinity for those that then are no number, as in log1p(-1).
    """
    most = [np.zeros(each.shape) for each in outcome.results]
    for seed in range(5):
        inputs = [_nudged(array, [seed, place], ULPS if seed < 3 else 0) for place, array in enumerate(arguments)]
        nudged = outcome_of(module, inputs, None if seed < 3 else seed)
        for number, (one, other) in enumerate(zip(outcome.results, nudged.results, strict=False)):
            if not _holds_integers(one) and one.size:
                with np.errstate(all="ignore"):
                    apart = np.abs(one.astype(np.float64) - other.astype(np.float64))
                largest = np.max(apart, where=np.isfinite(apart), initial=0.0)
                lost = np.isfinite(one.astype(np.float64)) & ~np.isfinite(other.astype(np.float64))
                most[number] = np.maximum(most[number], np.where(lost, np.inf, largest))
    return most


def _nudged(array: Array, seed: Sequence[int], units: int) -> Array:
    if _holds_integers(array):
        return array
    signs = np.random.default_rng(seed).integers(-1, 2, array.shape)
    return (array.astype(np.float64) * (1 + signs * units * EPSILON[array.dtype.name])).astype(array.dtype)


def says_something(before: Outcome, numerics: str) -> bool:
    """Returns whether there is an element that the class has a say about."""
    return any(
        array.size and (numerics != "fast" or _holds_integers(array) or np.isfinite(array.astype(np.float64)).any())
        for array in before.results
    )


def same_bits(wanted: Array, found: Array) -> bool:
    """Equal bytes, all NaNs being one."""
    return not _bits_apart(wanted, found).any()


def _bits_apart(wanted: Array, found: Array) -> Array:
    if _holds_integers(wanted):
        return np.asarray(wanted != found)
    left, right = wanted.astype(np.float64), found.astype(np.float64)
    both_nan = np.isnan(left) & np.isnan(right)
    same = (left == right) & (np.signbit(left) == np.signbit(right))
    return np.asarray(~(same | both_nan))


def _apart(wanted: Array, found: Array, numerics: str, before: Outcome, after: Outcome, slack: Array) -> Array:
    if numerics == "quantised" and _holds_integers(wanted) and wanted.dtype.kind != "b":
        return np.asarray(np.abs(wanted.astype(np.int64) - found.astype(np.int64)) > 1)
    if numerics == "exact" or _holds_integers(wanted):
        return _bits_apart(wanted, found)
    left, right = wanted.astype(np.float64), found.astype(np.float64)
    epsilon, largest = max(before.epsilon, after.epsilon), max(before.largest, after.largest)
    finite = np.isfinite(left) & np.isfinite(right)
    units = max(ULPS, before.terms // TERMS_OF_A_UNIT, after.terms // TERMS_OF_A_UNIT)
    with np.errstate(all="ignore"):
        far = finite & (np.abs(left - right) > units * epsilon * largest + slack)
    far |= np.isfinite(left) & ~np.isfinite(right)
    if numerics == "rounding":
        far |= np.isnan(left) & ~np.isnan(right)
    return np.asarray(far)


__all__ = [
    "FLAVOURS",
    "Outcome",
    "arguments_of",
    "difference",
    "flavours_of",
    "outcome_of",
    "same_bits",
    "says_something",
    "sensitivity",
]
