"""Checks of quantised operands: what scales and zero points must be, said in the names of the operator's inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from ....dialects.graph.shapes import Shape, compatible
from ....lazy_dataclass import dataclass
from ....te.dtypes import STORED_FLOATS, is_float
from ..errors import ConversionError
from ..value import Value

RESULTS: Final = ("ui8", "i8", *STORED_FLOATS)
"""Element types that products are quantised to."""

SINGLE: Final[tuple[Shape, ...]] = ((), (1,))
"""The shapes of one scale or zero point for the whole tensor."""


class Allowed(NamedTuple):
    """The shapes that scales and zero points may have, and how errors call them."""

    fits: Callable[[Shape], bool]
    expected: str


ONE: Final = Allowed(lambda shape: shape in SINGLE, "one element")


def per_row(matrix: Shape) -> Allowed:
    """One for all, or for each row of matrices: a vector, or a column for each matrix."""
    return _per_line(matrix, -2, "row")


def per_column(matrix: Shape) -> Allowed:
    """One for all, or for each column of matrices: a vector, or a row for each matrix."""
    return _per_line(matrix, -1, "column")


def per_channel(filters: Shape) -> Allowed:
    """One for all, or a vector with one for each filter."""
    return Allowed(
        lambda shape: shape in SINGLE or compatible(shape, filters[:1]),
        f"one element or {_count(filters[0], 'filter')}",
    )


def _per_line(matrix: Shape, axis: int, line: str) -> Allowed:
    if len(matrix) < 2:
        return ONE
    across = len(matrix) + (-1 if axis == -2 else -2)
    lines = tuple(1 if number == across else extent for number, extent in enumerate(matrix))

    def fits(shape: Shape) -> bool:
        if len(shape) < 2:
            return shape in SINGLE or compatible(shape, (matrix[axis],))
        ones = tuple(1 if found == 1 else wanted for found, wanted in zip(shape, lines, strict=False))
        return len(shape) == len(lines) and compatible(shape, ones)

    return Allowed(fits, f"one element or {_count(matrix[axis], line)}")


def _count(extent: int | None, what: str) -> str:
    return f"one for each {what}" if extent is None else str(extent)


@dataclass(frozen=True)
class Operand:
    """A quantised tensor with its scale and zero point. Errors call these `<name>_scale` and `<name>_zero_point`."""

    name: str
    value: Value
    scale: Value | None = None
    zero_point: Value | None = None

    def check(self, allowed: Allowed = ONE) -> None:
        """Raises unless scale and zero point have allowed shapes and the right types, and the scale is finite."""
        scale, zero_point = f"{self.name}_scale", f"{self.name}_zero_point"
        check_shapes(((scale, self.scale), (zero_point, self.zero_point)), allowed)
        check_type(zero_point, self.zero_point, self.value, self.name)
        if self.scale is not None:
            check_scale(scale, self.scale, divides=False)


def check_result(name: str, scale: Value, zero_point: Value | None, like: Operand | None = None) -> None:
    """
    Raises unless the scale and the zero point of a result are one element each. The zero point, which says the type of
    the result, has the type of `like`, or without it one of `RESULTS`.
    """
    what = f"{name}_zero_point"
    check_shapes(((f"{name}_scale", scale), (what, zero_point)), ONE)
    check_scale(f"{name}_scale", scale, divides=True)
    if like is not None:
        check_type(what, zero_point, like.value, like.name)
    elif zero_point is not None and zero_point.dtype not in RESULTS:
        raise ConversionError(f"{what} is {zero_point.shaped}, expected elements of {', '.join(RESULTS)}")


def check_shapes(named: Sequence[tuple[str, Value | None]], allowed: Allowed) -> None:
    """Raises for those that do not have an allowed shape. The error names all of them."""
    wrong = [
        f"{name} is {value.shaped}" for name, value in named if value is not None and not allowed.fits(value.shape)
    ]
    if wrong:
        raise ConversionError(f"{' and '.join(wrong)}, expected {allowed.expected}")


def check_type(name: str, value: Value | None, like: Value, owner: str) -> None:
    """Raises for a zero point or an operand of another element type than `like`, which errors call `owner`."""
    if value is not None and value.dtype != like.dtype:
        raise ConversionError(f"{name} is {value.shaped}, expected elements of {like.dtype} as {owner} has")


def check_scale(name: str, scale: Value, divides: bool) -> None:
    """
    Raises for scales that are not floats, and for known ones that make no numbers: NaN, infinities, and 0 where it
    divides. Blocks of zeros are stored with a scale of 0, and negative scales turn the order around.
    """
    if not is_float(scale.dtype):
        raise ConversionError(f"{name} is {scale.shaped}, expected floats")
    if scale.known is None:
        return
    if scale.known.size == 1 and 0 < abs(float(scale.known.item())) < np.inf:
        return  # As nearly all are. Operations on arrays would take as long as the conversion itself.
    numbers = np.asarray(scale.known).astype(np.float64)
    wrong = ~np.isfinite(numbers) | ((numbers == 0) & divides)
    if wrong.any():
        place = tuple(int(index) for index in np.argwhere(wrong)[0])
        where = f" at {place}" if place else ""
        expected = "finite numbers other than 0" if divides else "finite numbers"
        raise ConversionError(f"{name} has {numbers[place]}{where}, expected {expected}")
