"""The weights file of a program. It has to stay as it was at the time of `compile` (docs/memory.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ..core.mapped import Stamp, stamp_of
from ..core.messages.locations import source_directory
from ..core.roles import WEIGHTS
from ..core.safetensors import fail

Weights = str | Path | Mapping[str, Any] | None
"""The argument `weights` of `compile`."""


def named_side_car(module: ModuleOp) -> Path | None:
    """Returns the weights file that a module names, or None."""
    file = module.attributes.get(WEIGHTS)
    return (source_directory(module) or Path()) / file.data if isinstance(file, StringAttr) else None


def side_car_of(module: ModuleOp, weights: Weights) -> Path | None:
    """Returns the file that weights come from, or None when they are arrays or there are none."""
    if weights is None:
        return named_side_car(module)
    return None if isinstance(weights, Mapping) else Path(weights)


def stamp_of_side_car(module: ModuleOp, weights: Weights) -> Stamp | None:
    """Returns what tells whether that file has changed later, or None where there is no file yet."""
    path = side_car_of(module, weights)
    return None if path is None else stamp_of(path)


def check_unchanged(path: Path | None, stamp: Stamp | None) -> None:
    """
    Raises WeightsError where the file at `path` is not what it was when `stamp` was made.

    A file that is gone is left to those who open it.
    """
    if path is not None and stamp is not None and path == stamp.path and stamp_of(path) not in (None, stamp):
        fail(path, "it has changed since the program was compiled", "compile the program again")
