"""What instances of a pattern are made of: element types, shapes, and the operands of elementwise ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Final

from ...lazy_dataclass import dataclass
from ..programs import op_generators as ops
from ..programs.ir_generators import Chooser, ElementType, TensorSpec, rarely

DTYPES: Final = ops.ANY

EXTENTS: Final = (2, 3, 1, 4, 2, 1, 3)

MOST_ELEMENTS: Final = 48

Shape = tuple[int, ...]


class Impossible(Exception):
    """Says that these choices lead to no program. Other ones may."""


@dataclass
class Taste:
    """What an instance prefers where nothing else decides."""

    dtype: str
    shape: Shape
    seen: list[TensorSpec] = field(default_factory=list)
    """Types of the values made so far: targets of reshapes and conversions."""

    @property
    def spec(self) -> TensorSpec:
        return TensorSpec(self.shape, self.dtype)


@dataclass
class Completed:
    """Operand types and plain property values that an op takes. `flavours` says what values operands need."""

    operands: list[TensorSpec]
    properties: dict[str, Any] = field(default_factory=dict)
    flavours: dict[int, str] = field(default_factory=dict)


Known = Sequence[TensorSpec | None]
Completion = Callable[[Chooser, str, Known, Taste], Completed]


def small_shape(choose: Chooser, low: int = 0, high: int = 4) -> Shape:
    """Returns a shape of few elements, now and then with an extent 0."""
    shape: list[int] = []
    count = 1
    rank = choose.integer(low, high)
    if rarely(choose, 4):
        return (choose.element((2, 3) if rank <= 3 else (2,)),) * rank
    for _ in range(rank):
        extent = choose.element([extent for extent in EXTENTS if count * extent <= MOST_ELEMENTS])
        count *= extent
        shape.append(extent)
    if shape and rarely(choose, 14):
        shape[choose.integer(0, len(shape) - 1)] = 0
    return tuple(shape)


def number_of_class(choose: Chooser, taste: Taste, dtypes: Sequence[str]) -> str:
    """The preferred element type if the op takes it, else one that it takes."""
    return taste.dtype if taste.dtype in dtypes else choose.element(list(dtypes))


def first_of(choose: Chooser, known: Known, taste: Taste, dtypes: Sequence[str], low: int = 0) -> TensorSpec:
    """The type of operand 0: the known one, or one of rank `low` at least."""
    if known and known[0] is not None:
        if known[0].rank < low:
            raise Impossible
        return known[0]
    shape = partner_shape(choose, taste.shape) if rarely(choose, 5) else taste.shape
    if len(shape) < low:
        shape = small_shape(choose, low)
    return TensorSpec(shape, number_of_class(choose, taste, dtypes))


def broadcast_shape(shapes: Sequence[Shape]) -> Shape:
    """The shape that all of `shapes` are stretched to."""
    rank = max(map(len, shapes), default=0)
    result: list[int] = []
    for place in range(-rank, 0):
        extents = {shape[place] for shape in shapes if len(shape) >= -place} - {1}
        if len(extents) > 1:
            raise Impossible
        result.append(extents.pop() if extents else 1)
    return tuple(result)


def partner_shape(choose: Chooser, full: Shape) -> Shape:
    """A shape that broadcasts with `full`: mostly the same, a part of it, one axis of it, now and then a larger one."""
    kind = choose.integer(0, 11)
    if kind <= 4 or not full:
        larger = kind == 4 and len(full) < 4
        return (choose.element((1, 2)), *full) if larger else full
    if kind <= 6:
        return () if kind == 5 else (1,) * choose.integer(1, len(full))
    if kind <= 8:
        place = choose.integer(0, len(full) - 1)
        ones = tuple(extent if number == place else 1 for number, extent in enumerate(full))
        return ones[place:] if rarely(choose, 2) else ones
    if kind == 9:
        return tuple(choose.element((2, 3)) if extent == 1 else extent for extent in full)
    part = tuple(1 if rarely(choose, 3) else extent for extent in full)
    return part[choose.integer(0, len(part)) :]


# Elementwise


def unary(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = first_of(choose, known, taste, ops.UNARY[op])
    properties: dict[str, Any] = {}
    if op == "astype":
        seen = [each.dtype for each in taste.seen] or [spec.dtype]
        properties["dtype"] = ElementType(choose.element(seen if rarely(choose, 3) else DTYPES))
    elif op == "gelu":
        properties["approximate"] = choose.element([None, "tanh", "none"])
    elif op == "leaky_relu":
        properties["alpha"] = choose.element([None, 0.25, -1.5])
    elif op == "clip":
        properties |= _bounds(choose, spec.dtype)
    return Completed([spec], properties)


def _bounds(choose: Chooser, dtype: str) -> dict[str, Any]:
    if dtype in ops.FLOATS:
        numbers: list[Any] = [-1.5, 0.0, 2.25, 1.0, -0.0, 6.0]
    elif dtype in ops.UNSIGNED:
        numbers = [0, 1, 5, 100, 127, 200, 255]
    else:
        numbers = [-100, -128, -1, 0, 1, 5, 100, 127]
    kind = choose.integer(0, 6)
    low, high = choose.element(numbers), choose.element(numbers)
    if kind <= 4 and high < low:
        low, high = high, low
    return {"min": None if kind in (0, 6) else low, "max": None if kind in (1, 6) else high}


def binary(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    dtypes = {spec.dtype for place, spec in enumerate(known) if spec and not (op == "where" and place == 0)}
    if len(dtypes) > 1:
        raise Impossible
    dtype = dtypes.pop() if dtypes else number_of_class(choose, taste, ops.BINARY[op])
    shapes = [spec.shape for spec in known if spec]
    full = broadcast_shape(shapes) if shapes else taste.shape
    specs: list[TensorSpec] = []
    for place, spec in enumerate(known):
        own = "i1" if op == "where" and place == 0 else dtype
        if spec is None:
            is_first = not shapes and not rarely(choose, 4)
            shape = full if is_first else partner_shape(choose, full)
            spec = TensorSpec(shape, own)
            shapes.append(shape)
            full = broadcast_shape([full, shape])
        specs.append(spec)
    return Completed(specs)
