"""The families of ops, and the dialect that they make."""

from __future__ import annotations

from types import ModuleType

from xdsl.ir import Dialect, Operation

from . import (
    binary,
    calls,
    comparison,
    constants,
    contraction,
    dynamic,
    elementwise,
    functions,
    indexing,
    movement,
    normalisation,
    pooling,
    quantisation,
    reduction,
    sampling,
    scans,
    sorting,
    trigonometry,
)

FAMILIES: tuple[ModuleType, ...] = (
    elementwise,
    functions,
    trigonometry,
    binary,
    comparison,
    contraction,
    reduction,
    movement,
    indexing,
    sorting,
    scans,
    normalisation,
    pooling,
    quantisation,
    sampling,
    constants,
    dynamic,
    calls,
)
"""The modules that define ops, in the order of docs/semantics.md."""


def ops_of(family: ModuleType) -> list[type[Operation]]:
    """Returns the ops that a module defines, in the order of its text."""
    return [
        item
        for item in vars(family).values()
        if isinstance(item, type)
        and item.__module__ == family.__name__
        and "name" in vars(item)
        and Operation in item.__mro__  # `issubclass` of a class with an abstract metaclass takes 40 times as long.
    ]


Graph = Dialect("graph", [op for family in FAMILIES for op in ops_of(family)], [])
"""The dialect as xDSL loads it."""
