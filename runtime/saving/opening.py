"""An open saved program: its entries are those that it says it has, and their hashes are known."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...core.derived_weights import WithDerived
from ...core.weights import WeightFile, weights_in
from .container import Container, refuse
from .manifest import LONGEST, MANIFEST, PROGRAM, WEIGHTS, Manifest, entries_of, read_manifest

Arrays = dict[str, np.ndarray[Any, Any]]


class SavedFile:
    """An open saved program. Raises SavedError for a file that is none, or is not whole."""

    def __init__(self, path: str | Path):
        self.container = Container(path)
        self.path = self.container.path
        if self.container.names[:1] != [MANIFEST]:
            refuse(path, f"its first entry is not '{MANIFEST}': it is no saved program")
        begin, end = self.container.place(MANIFEST)
        if end - begin > LONGEST:
            refuse(path, f"entry '{MANIFEST}' has {end - begin} bytes, expected at most {LONGEST}")
        self.manifest: Manifest = read_manifest(self.path, self.container.data(MANIFEST))
        self._check_entries()

    def _check_entries(self) -> None:
        """Raises SavedError unless the entries are those that the manifest speaks of."""
        found, hashed = set(self.container.names) - {MANIFEST}, set(self.manifest.hashes)
        if odd := sorted(found ^ hashed):
            refuse(self.path, f"entry '{odd[0][:200]}' is in the file or in '{MANIFEST}', expected in both")
        codes = [each for level in self.manifest.levels for each in level.programs]
        wanted = [PROGRAM, *entries_of(self.manifest.levels)]
        if lacking := [name for name in wanted if name not in found]:
            refuse(self.path, f"it has no entry '{lacking[0][:200]}'")
        if odd := sorted(found - {*wanted, WEIGHTS, *(each.prepared for each in codes)}):
            refuse(self.path, f"it has an entry '{odd[0]}' that nothing uses")

    def verify(self, weights: bool = True) -> None:
        """Raises SavedError unless all entries have their hashes. Those with weights, which take time, may be left."""
        hashes = self.manifest.hashes
        chosen = {name: value for name, value in hashes.items() if weights or not name.endswith(".safetensors")}
        self.container.verify(chosen)

    def tensors(self, name: str) -> WeightFile:
        """Returns the tensors of an entry. Raises WeightsError where it is no safetensors file."""
        return weights_in(f"{self.path}/{name}", self.container.view(name))

    @cached_property
    def weights(self) -> WithDerived:
        """The weights before they are prepared, by key, mapped from the file."""
        if WEIGHTS not in self.container:
            return WithDerived()
        file = self.tensors(WEIGHTS)
        return WithDerived({key: file.array(key) for key in file.entries})
