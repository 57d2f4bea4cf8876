"""The table of all references by op name, and the hook by which other packages add theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import (
    binary,
    contraction,
    dynamic,
    elementwise,
    indexing,
    movement,
    normalization,
    quantisation,
    reduction,
    sampling,
    scans,
    sorting,
)
from .element_types import Array

Reference = Callable[..., tuple[Array, ...]]

OPS: dict[str, Reference] = {
    **elementwise.OPS,
    **binary.OPS,
    **contraction.OPS,
    **reduction.OPS,
    **movement.OPS,
    **indexing.OPS,
    **sorting.OPS,
    **scans.OPS,
    **dynamic.OPS,
    **sampling.OPS,
    **normalization.OPS,
    **quantisation.OPS,
}
"""
Maps an op name to `f(properties, *arrays) -> tuple of arrays`.

`properties` holds plain Python values (see `properties_of`). A property at its default may be absent.
"""


def register(name: str, reference: Reference) -> None:
    """Adds the meaning of an op of another dialect. Raises `ValueError` when `name` has one already."""
    if OPS.get(name, reference) is not reference:
        raise ValueError(f"'{name}' already has a reference")
    OPS[name] = reference


def lookup(name: str) -> Reference | None:
    """Returns the reference of an op, or `None` when there is none."""
    return OPS.get(name)


def evaluate(name: str, properties: Mapping[str, Any], *arrays: Any) -> tuple[Array, ...]:
    """
    Returns the results of one op, without any IR.

    Raises `KeyError` for an op without a reference, and `ReferenceFailure` where the op fails.
    """
    with np.errstate(all="ignore"):
        results = OPS[name](dict(properties), *(np.asarray(array) for array in arrays))
        return tuple(np.asarray(result) for result in results)
