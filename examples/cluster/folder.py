"""The folder of results: a manifest, and one file per chunk that is there as a whole or not at all."""

from __future__ import annotations

import fcntl
import json
import re
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from chunk_worker import Array
from dataset import Chunk

FORMAT = 1


class OtherRun(ValueError):
    """Raised for a folder that holds results of something else, or that another process writes to."""


@dataclass(frozen=True)
class Manifest:
    """What the results in a folder are of."""

    model: str
    """The SHA-256 of the saved program."""
    data: str
    """The SHA-256 of the data set."""
    rows: int
    chunk: int
    """The rows of a whole chunk."""
    outputs: tuple[str, ...]
    """The names of the results of the model."""
    format: int = FORMAT


class Folder:
    """
    The results of one run, in `chunk-000017.npz` by number.

    Raises OtherRun where the folder holds another manifest, or another process has it open.
    """

    def __init__(self, path: Path, manifest: Manifest):
        self.path = path
        self.manifest = manifest
        path.mkdir(parents=True, exist_ok=True)
        self._lock = (path / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise OtherRun(f"'{path}' is being written to by another process") from error
        try:
            self._check()
        except OtherRun:
            self.close()
            raise
        for left in path.glob("*.part"):
            left.unlink()

    def _check(self) -> None:
        file, expected = self.path / "manifest.json", json.loads(json.dumps(asdict(self.manifest)))
        if not file.exists():
            self._put(file, json.dumps(expected, indent=1).encode())
            return
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise OtherRun(f"'{file}' is no manifest") from error
        for key, value in expected.items():
            if not isinstance(found, dict) or found.get(key) != value:
                other = found.get(key) if isinstance(found, dict) else found
                raise OtherRun(f"'{self.path}' holds another run: {key} is {other}, expected {value}")

    def file(self, chunk: Chunk) -> Path:
        """Returns where the results of a chunk are."""
        return self.path / f"chunk-{chunk.number:06}.npz"

    def missing(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        """Returns the chunks that have no results, or damaged ones."""
        return [chunk for chunk in chunks if self.read(chunk) is None]

    def read(self, chunk: Chunk) -> list[Array] | None:
        """Returns the results of a chunk, None where there is no whole file of them."""
        try:
            with np.load(self.file(chunk), allow_pickle=False) as file:
                found = [file[name] for name in self.manifest.outputs]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        return found if all(array.shape[:1] == (chunk.rows,) for array in found) else None

    def write(self, chunk: Chunk, results: Sequence[Array]) -> None:
        """Adds the results of a chunk. Raises ValueError where they are not as many, or of other rows."""
        if [array.shape[:1] for array in results] != [(chunk.rows,)] * len(self.manifest.outputs):
            shapes = ", ".join(str(array.shape) for array in results)
            raise ValueError(f"{chunk}: results of shapes {shapes}, expected {chunk.rows} rows in each")
        part = self.file(chunk).with_suffix(".part")
        with zipfile.ZipFile(part, "w") as file:
            for name, array in zip(self.manifest.outputs, results, strict=True):
                with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
        # Nothing is forced to disk: what a power failure damages is found by the next run, which reads all files.
        part.replace(self.file(chunk))

    def join(self, chunks: Sequence[Chunk]) -> list[Path]:
        """Writes each result of all chunks into one `.npy` file. Raises ValueError for a chunk that is missing."""
        made: list[Any] = []
        names = [re.sub(r"[^\w.-]", "_", name) + ".npy" for name in self.manifest.outputs]
        parts = [self.path / f"{name}.part" for name in names]
        for chunk in chunks:
            results = self.read(chunk)
            if results is None:
                raise ValueError(f"{chunk} has no results")
            if not made:
                made = [
                    np.lib.format.open_memmap(part, "w+", array.dtype, (self.manifest.rows, *array.shape[1:]))
                    for part, array in zip(parts, results, strict=True)
                ]
            for whole, array in zip(made, results, strict=True):
                whole[chunk.start : chunk.stop] = array
        for whole, part, name in zip(made, parts, names, strict=False):
            whole.flush()
            part.replace(self.path / name)
        return [self.path / name for name in names[: len(made)]]

    def _put(self, file: Path, data: bytes) -> None:
        part = file.with_suffix(".part")
        part.write_bytes(data)
        part.replace(file)

    def close(self) -> None:
        """Lets other processes have the folder."""
        self._lock.close()

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
