"""What conditions ask of the values they are about, as advice: instances that ignore it are drawn too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ...lazy_dataclass import dataclass
from ...patterns.language.constants import element_type
from ...patterns.language.constraints import HasDtype, HasShape, HasType, Holds, Test, Where
from ...patterns.language.patterns import Op, Pattern, Splat, all_below
from ...patterns.language.rules import Rule
from ...reference.properties import element_type_name
from ..programs import op_generators as ops
from ..programs.ir_generators import Chooser

Hint = tuple[str, ...]

DTYPE_HINTS: Final[dict[str, tuple[str, ...]]] = {
    "integer": (*ops.SIGNED, *ops.UNSIGNED, "i1"),
    "float": ops.FLOATS,
    "unsigned": ops.UNSIGNED,
    "signed": (*ops.FLOATS, *ops.SIGNED),
    "number": ops.NUMBERS,
    "boolean": ("i1",),
    "clipped-to-fit": (*ops.SIGNED, *ops.UNSIGNED),
    "scales-outputs": ops.FLOATS,
    "scales-inputs": ops.FLOATS,
    "reaches-contraction-above": ops.FLOATS,
    "reaches-contraction-below": ops.FLOATS,
    "float32": ("f32",),
}
"""Element types that a condition lets through."""

VALUE_HINTS: Final[dict[str, tuple[int, str]]] = {
    "positive-literal": (0, "positive"),
    "known-zero-point": (0, "one number"),
    "not-zero": (0, "one number"),
    "least-number": (0, "least"),
    "prepared": (0, "constant"),
    "nonzero-literal": (0, "nonzero"),
    "scales-outputs": (1, "constant"),
    "scales-inputs": (1, "constant"),
    "reaches-contraction-above": (1, "positive"),
    "reaches-contraction-below": (1, "positive"),
    "not-literal": (0, "argument"),
    "block-argument": (0, "argument"),
}
"""The argument of a condition that is to be a constant, a constant of positive elements, or an argument."""

OTHER_TYPE: Final = frozenset(
    ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan", "isinf", "isfinite")
) | {"astype", "argmax", "argmin", "quantize", "dequantize", "requantize"}
"""Ops whose result has another element type than their operands."""

SURROUNDING_HINTS: Final = {"reaches-contraction-above": "above", "reaches-contraction-below": "below"}
"""Conditions about ops around the pattern: what leaves are computed by, or what uses the root."""

Generator = Callable[[Chooser], str]

GENERATORS: Final[dict[str, Generator]] = {}
"""Programs for rules whose pattern cannot be drawn: by rule name, a function from choices to the text of a module."""


def generator(rule_name: str) -> Callable[[Generator], Generator]:
    """Registers a function that makes programs, with the entry `@main`, for the rule of this name."""

    def register(function: Generator) -> Generator:
        GENERATORS[rule_name] = function
        return function

    return register


@dataclass(frozen=True)
class Hints:
    """The advice of all conditions of a rule."""

    dtypes: tuple[str, ...]
    values: dict[str, str]
    surroundings: frozenset[str]


def hints_of(rule: Rule) -> Hints:
    """The advice for the keys of `rule`."""
    dtypes = set(ops.ANY)
    values: dict[str, str] = {}
    around: set[str] = set()
    for name, keys in _conditions(rule):
        dtypes &= set(DTYPE_HINTS.get(name, ops.ANY)) or dtypes
        if name in VALUE_HINTS:
            place, what = VALUE_HINTS[name]
            if place < len(keys):
                values[keys[place]] = what
        if name in SURROUNDING_HINTS:
            around.add(SURROUNDING_HINTS[name])
    for pattern in all_below(rule.lhs):
        dtypes &= _dtypes_of(pattern) or dtypes
    ordered = tuple(dtype for dtype in ops.ANY if dtype in dtypes)
    return Hints(ordered or ops.ANY, values, frozenset(around))


def _conditions(rule: Rule) -> Iterator[tuple[str, tuple[str, ...]]]:
    for required in rule.when:
        yield required.name, required.keys
    for pattern in all_below(rule.lhs):
        if isinstance(pattern, Where) and isinstance(pattern.test, Holds):
            yield pattern.test.condition, (pattern.pattern.key,)


def _dtypes_of(pattern: Pattern) -> set[str]:
    """The element types that a pattern by itself lets through; empty when it says nothing."""
    if isinstance(pattern, Where):
        dtype = wished_dtype(pattern.test)
        return set() if dtype is None else {dtype}
    if isinstance(pattern, Op) and pattern.names:
        found: set[str] = set()
        inner = [each for each in pattern.operands or () if isinstance(each, Op)]
        if any(name.removeprefix("graph.") in OTHER_TYPE for each in inner for name in each.names):
            return set()  # It takes what these give, and they take any type.
        for name in pattern.names:
            short = name.removeprefix("graph.")
            known = ops.UNARY.get(short) or ops.BINARY.get(short)
            if known is None or short in ("where", "astype"):
                return set()
            found.update(known)
        return found
    if isinstance(pattern, Splat) and not float(pattern.value).is_integer():
        return set(ops.FLOATS)
    if isinstance(pattern, Splat) and pattern.value < 0:
        return {*ops.FLOATS, *ops.SIGNED}
    return set()


def wished_dtype(test: Test) -> str | None:
    """The element type that a test asks for, in the words of the reference."""
    if not isinstance(test, HasDtype | HasType):
        return None
    wished = test.dtype if isinstance(test, HasDtype) else element_type(test.type)
    return wished if isinstance(wished, str) else element_type_name(wished)


def wished_shape(test: Test) -> tuple[int | None, ...] | None:
    """Returns the shape that a test asks for. `None` sizes are free."""
    if isinstance(test, HasShape):
        return test.sizes
    if isinstance(test, HasType):
        sizes = getattr(test.type, "get_shape", lambda: None)()
        return None if sizes is None else tuple(None if size < 0 else size for size in sizes)
    return None


__all__ = ["GENERATORS", "Hints", "generator", "hints_of", "wished_dtype", "wished_shape"]
