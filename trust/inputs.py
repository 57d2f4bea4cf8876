"""The inputs that a check runs a program on: random ones, ones that break things, or those of the user."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import ml_dtypes
import numpy as np

from ..core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ..core.messages.files import write_file
from ..lazy_dataclass import dataclass
from ..reference.element_types import DTYPES, Array
from ..te.dtypes import FLOATS
from ..testing.programs.values import arrays_of
from .entries import Entry, Input

KINDS: Final = ("random", "special", "extremes", "large", "zeros")
"""
The kinds of inputs, in order.

- `random`: floats around 0, small integers that are not negative.
- `special`: floats around 0 with some zeros, infinities and NaNs.
- `extremes`: every magnitude, the least and greatest numbers, integers over their whole range.
- `large`: floats of some hundreds, whose exponentials are infinite, and integers as in `random`.
- `zeros`: zeros of both signs and subnormal numbers, integers that are 0.
"""

LARGE: Final = 200.0
"""The floats of `large` are so many times those of `random`."""

OPEN_SIZE: Final = 3
"""The value of an open size, where nothing says it."""


@dataclass(frozen=True)
class InputSet:
    """The arrays of one run, and how they came about."""

    kind: str
    seed: int
    arrays: tuple[Array, ...]

    def __str__(self) -> str:
        return "inputs of the user" if self.kind == "given" else f"inputs '{self.kind}' of seed {self.seed}"

    @property
    def is_finite(self) -> bool:
        """Returns whether no input is infinite or NaN."""
        return all(bool(np.isfinite(each).all()) for each in self._floats())

    @property
    def is_infinite(self) -> bool:
        """Returns whether an input is infinite."""
        return any(bool(np.isinf(each).any()) for each in self._floats())

    def _floats(self) -> list[Array]:
        return [each.astype(np.float64) for each in self.arrays if each.dtype.kind not in "biu"]


def shapes_of(entry: Entry, shapes: Sequence[Sequence[int]] | None) -> list[tuple[int, ...]]:
    """Returns the shape of each input. Raises `StepwellError` where the shapes that are given do not fit."""
    if shapes is None:
        return [tuple(OPEN_SIZE if size < 0 else size for size in each.shape) for each in entry.inputs]
    if len(shapes) != len(entry.inputs):
        message = f"{len(shapes)} shapes are given for the check of @{entry.name}, expected {len(entry.inputs)}"
        raise StepwellError(Diagnostic(message))
    for each, shape in zip(entry.inputs, shapes, strict=True):
        if len(shape) != len(each.shape) or any(0 <= d != s for d, s in zip(each.shape, shape, strict=True)):
            declared = "x".join("?" if size < 0 else str(size) for size in each.shape)
            found = "x".join(map(str, shape))
            raise StepwellError(Diagnostic(f"the shape of '{each.name}' is {declared}, found {found} in the shapes"))
    return [tuple(shape) for shape in shapes]


def made_inputs(entry: Entry, kind: str, seed: int, shapes: Sequence[tuple[int, ...]], most: int = 3) -> InputSet:
    """Returns inputs of one of `KINDS`. Integers of `random` are below `most`."""
    arrays = [
        _array(kind, seed + 101 * number, each, shape, most)
        for number, (each, shape) in enumerate(zip(entry.inputs, shapes, strict=True))
    ]
    return InputSet(kind, seed, tuple(arrays))


def _array(kind: str, seed: int, declared: Input, shape: tuple[int, ...], most: int) -> Array:
    dtype = declared.dtype
    random = np.random.default_rng([seed, *shape])
    if dtype not in FLOATS:
        if kind == "extremes":
            return arrays_of(seed, shape, dtype, "any")
        high = 2 if dtype == "i1" else max(1, most)
        number = random.integers(0, high, shape)
        return (number * (kind != "zeros")).astype(DTYPES[dtype])
    if kind == "extremes":
        return arrays_of(seed, shape, dtype, "any")
    plain = arrays_of(seed, shape, dtype, "finite")
    if kind == "random":
        return plain
    if kind == "large":
        return (plain.astype(np.float64) * LARGE).astype(DTYPES[dtype])
    info = ml_dtypes.finfo(DTYPES[dtype])
    tiny, least = float(info.tiny), float(info.smallest_subnormal)
    chosen = [0.0, -0.0, np.inf, -np.inf, np.nan] if kind == "special" else [0.0, -0.0, 0.0, tiny, least, -least * 3]
    with np.errstate(all="ignore"):
        values = np.array(chosen).astype(DTYPES[dtype])
    mixed = values[random.integers(0, len(values), shape)]
    share = 0.25 if kind == "special" else 1.0
    return np.where(random.uniform(size=shape) < share, mixed, plain).astype(DTYPES[dtype])


def given_inputs(entry: Entry, arrays: Mapping[str, Any], file: str) -> InputSet:
    """Returns the inputs in the arrays of an archive: by name, or in order as `arr_0`, `arr_1` and so on."""
    found: list[Array] = []
    for number, each in enumerate(entry.inputs):
        key = each.name if each.name in arrays else f"arr_{number}"
        if key not in arrays:
            hint = did_you_mean(each.name, list(arrays)) or f"it has {', '.join(arrays) or 'nothing'}"
            raise StepwellError(
                Diagnostic(f"'{file}' has no array for argument '{each.name}' of @{entry.name}", hint=hint)
            )
        array = np.asarray(arrays[key])
        wanted = DTYPES[each.dtype]
        if array.dtype != wanted and array.dtype.str == "|V2" and wanted.itemsize == 2:
            array = array.view(wanted)
        fits = len(array.shape) == len(each.shape) and all(
            d < 0 or d == s for d, s in zip(each.shape, array.shape, strict=True)
        )
        if array.dtype != wanted or not fits:
            declared = "x".join("?" if size < 0 else str(size) for size in each.shape)
            message = (
                f"array '{key}' of '{file}' is {array.dtype}{list(array.shape)}, expected {each.dtype} [{declared}]"
            )
            raise StepwellError(Diagnostic(message))
        found.append(array)
    return InputSet("given", 0, tuple(found))


def save_inputs(path: str | Path, entry: Entry, inputs: InputSet) -> None:
    """Writes the inputs of an entry to a `.npz` file, by name."""
    data = io.BytesIO()
    arrays = {each.name: array for each, array in zip(entry.inputs, inputs.arrays, strict=True)}
    np.savez(data, **arrays)  # pyright: ignore[reportArgumentType]
    write_file(str(path), data.getvalue())
