"""The rows that a model is mapped over, and the chunks that they are cut into."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from chunk_worker import Array, rows_per_call
from stepwell.runtime import ArrayType, Executable


@dataclass(frozen=True)
class Chunk:
    """Some rows, by the number of the chunk."""

    number: int
    start: int
    stop: int

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.stop - self.start

    def __str__(self) -> str:
        return f"chunk {self.number} (rows {self.start} to {self.stop - 1})"


class Dataset:
    """
    The inputs of a model in a file: `.npy` for a model with one input, else `.npz` with the inputs by name.

    An `.npy` file is mapped, so it may be larger than memory. Raises ValueError where it does not fit the model.
    """

    def __init__(self, path: Path, exe: Executable, rows: int):
        rows_per_call(exe)
        self.digest = digest_of(path)
        self.arrays = _read(path, exe)
        for (name, type_), array in zip(exe.input_types, self.arrays, strict=True):
            _check(name, type_, array)
            if len(array) != len(self.arrays[0]):
                first = exe.input_types[0][0]
                raise ValueError(f"'{name}' has {len(array)} rows, expected {len(self.arrays[0])} as '{first}' has")
        self.rows = len(self.arrays[0])
        self.chunks = [
            Chunk(number, start, min(start + rows, self.rows)) for number, start in enumerate(range(0, self.rows, rows))
        ]

    def part(self, chunk: Chunk) -> list[Array]:
        """Returns the rows of a chunk, copied out of the file."""
        return [np.array(array[chunk.start : chunk.stop], order="C") for array in self.arrays]


def digest_of(path: Path) -> str:
    """Returns the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path, exe: Executable) -> list[Array]:
    names = [name for name, _ in exe.input_types]
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            if set(file.files) != set(names):
                raise ValueError(f"'{path}' holds {', '.join(file.files)}, expected {', '.join(names)}")
            return [file[name] for name in names]
    if len(names) != 1:
        raise ValueError(f"the model has the inputs {', '.join(names)}, expected an .npz file that holds them by name")
    return [np.load(path, mmap_mode="r", allow_pickle=False)]


def _check(name: str, type_: ArrayType, array: Any) -> None:
    dtype = ArrayType(type_.dtype, ()).allocate().dtype
    if array.dtype != dtype:
        raise ValueError(f"'{name}' has element type {array.dtype}, expected {dtype} for {type_}")
    rest = ArrayType(type_.dtype, type_.shape[1:])
    if array.ndim == 0 or not rest.fits(array.shape[1:]):
        raise ValueError(f"'{name}' has shape {array.shape}, expected rows for {type_}")
