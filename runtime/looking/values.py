"""The values that a trace compares: how far each is from the reference, and the verdict about all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...analysis.drawing.html import output, text
from ...lazy_dataclass import dataclass
from .table import table_lines

Array = np.ndarray[Any, Any]

TOLERANCES = {"f64": 1e-9, "f32": 1e-4, "f16": 1e-2, "bf16": 5e-2}
"""The relative errors up to which floats count as equal, by element type. Other elements must be equal."""


@dataclass(frozen=True)
class TracedValue:
    """One value of the program and how far it is from the reference."""

    op: str
    """The operation, or the function that is called."""
    place: str
    """`file:line:column` in the text of the program."""
    type: str
    absolute_error: float
    """The largest error. It is inf where one side is NaN or infinite and the other is not."""
    relative_error: float
    """The largest error relative to the element or to the root mean square of all, whichever is larger."""
    worst: tuple[int, ...]
    """The index of that element, whose values are `found` and `expected`."""
    found: Any
    expected: Any
    tolerance: float

    @property
    def diverges(self) -> bool:
        """True where the value is further off than its type allows."""
        return not self.relative_error <= self.tolerance

    def __str__(self) -> str:
        where = f"[{', '.join(map(str, self.worst))}]"
        return (
            f"{self.place}: {self.op} : {self.type}: {self.found} at {where}, expected {self.expected} "
            f"(relative error {self.relative_error:.2g}, allowed {self.tolerance:.2g})"
        )


@dataclass(frozen=True)
class Trace:
    """What `Executable.trace` found. `str` gives it as a table, and then the first value that diverges."""

    values: tuple[TracedValue, ...]
    """The values in program order, as computed by the program that returns them."""
    results: tuple[TracedValue, ...]
    """The results of the program as it was compiled, beside the reference of the graph it became."""
    rewritten: tuple[TracedValue, ...]
    """The results of that graph beside those of the graph as it was written, both by the reference."""
    of_kernels: bool = False
    """True where `values` are those of kernels run alone, in a program of loops."""

    @property
    def first(self) -> TracedValue | None:
        """The first value that diverges, None where nothing does."""
        return next((value for value in (*self.values, *self.results, *self.rewritten) if value.diverges), None)

    @property
    def verdict(self) -> str:
        """What went wrong, in words."""
        if (value := _first(self.values)) is not None:
            return f"the first value that diverges: {value}"
        if (value := _first(self.results)) is not None and self.of_kernels:
            return f"every kernel is right when it runs alone, but a result of the program diverges: {value}"
        if (value := _first(self.results)) is not None:
            return (
                "every value is right when all are returned, but a result of the program as it is diverges, so "
                f"kernels are merged wrongly: {value}"
            )
        if (value := _first(self.rewritten)) is not None:
            return f"the program computes what its graph says, but a pass on graphs changed a result: {value}"
        return f"no value diverges: {len(self.values)} values, {len(self.results)} results"

    def __repr__(self) -> str:
        return f"<stepwell.Trace of {len(self.values)} values: {'all agree' if self.first is None else 'one diverges'}>"

    def _repr_html_(self) -> str:
        return output(text(str(self)))

    def __str__(self) -> str:
        rows = [("value", "type", "absolute", "relative")]
        for value in self.values:
            errors = f"{value.absolute_error:.2g}", f"{value.relative_error:.2g}"
            rows.append((f"{value.place} {value.op}", value.type, *errors))
        marks = ["", *("  diverges" if value.diverges else "" for value in self.values)]
        lines = [line + mark for line, mark in zip(table_lines(rows, left=2), marks, strict=True)]
        return "\n".join([*lines, self.verdict])


def _first(values: Sequence[TracedValue]) -> TracedValue | None:
    return next((value for value in values if value.diverges), None)


def compared(op: str, place: str, type_: str, found: Array, expected: Array, tolerance: float | None) -> TracedValue:
    """Returns a value of type `type_` (`tensor<4xf32>`) beside the one that is expected."""
    element = type_.rpartition("x")[2].strip("<>").removeprefix("tensor<")
    allowed = TOLERANCES.get(element, 0.0) if tolerance is None or element not in TOLERANCES else tolerance
    if expected.size == 0:
        return TracedValue(op, place, type_, 0.0, 0.0, (), None, None, allowed)
    left, right = (np.asarray(each, np.float64) for each in (found, expected))
    with np.errstate(all="ignore"):
        absolute = np.abs(left - right)
        same = (found == expected) | (np.isnan(left) & np.isnan(right))
        if element not in TOLERANCES:
            absolute = np.maximum(absolute, 1)  # Large integers that f64 cannot tell apart.
        absolute = np.where(same, 0.0, np.where(np.isfinite(absolute), absolute, np.inf))
        finite = right[np.isfinite(right)]
        size = np.sqrt(np.mean(np.square(finite))) if finite.size else 0.0
        relative = np.where(absolute == 0, 0.0, absolute / np.maximum(np.abs(right), size))
        relative = np.where(np.isnan(relative), np.inf, relative)
    place_of_worst = int(np.argmax(relative))
    worst = tuple(map(int, np.unravel_index(place_of_worst, expected.shape)))
    return TracedValue(
        op, place, type_, float(absolute.max()), float(relative.max()), worst, found[worst], expected[worst], allowed
    )
