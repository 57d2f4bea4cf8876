"""Finds the layers that harm the results: a program with switches is compiled once, and runs for each of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ...rewrites.quantiser.fit import Fit, fit
from ...rewrites.quantiser.table import Table
from ..compile import compile
from ..source import copy_of
from .scoring import Outputs, Score, decibels, outputs_of

MOST_BATCHES = 8
"""The most batches that the noise of a single layer is measured on."""


class SwitchedProgram:
    """A program whose last argument says which of the layers `names` are quantised."""

    def __init__(
        self,
        module: ModuleOp,
        entry: str,
        table: Table,
        options: Fit,
        arguments: Sequence[Sequence[Any]],
        common: Mapping[str, Any],
    ):
        copy = copy_of(module)
        switched = Fit(**{**{name: getattr(options, name) for name in Fit.__dataclass_fields__}, "switches": True})
        self.names = [layer.name for layer in fit(copy, entry, table, switched) if layer.is_quantised]
        self._arguments = arguments
        self._run = compile(copy, entry=entry, **common)

    def outputs(self, names: Collection[str], most: int | None = None) -> list[Outputs]:
        """Returns the results of at most `most` batches with these layers quantised."""
        mask = np.array([name in names for name in self.names], np.bool_)
        return outputs_of(self._run, self._arguments[:most], mask)

    def decibels_of_each(self, expected: Sequence[Outputs]) -> dict[str, float]:
        """Returns the ratio of signal to noise of the results when one layer is quantised, for each layer."""
        right = expected[:MOST_BATCHES]
        return {name: decibels(self.outputs([name], MOST_BATCHES), right) for name in self.names}


def worst_first(noise: Mapping[str, float]) -> list[str]:
    """Returns the layers in the order of their noise. One whose noise is not defined is as bad as any."""
    return sorted(noise, key=lambda name: float("-inf") if isnan(noise[name]) else noise[name])


def fewest_kept(program: SwitchedProgram, noise: Mapping[str, float], score: Score, wanted: float) -> int:
    """
    Returns how many of the layers, the one of the most noise first, are to stay in floats for the score `wanted`.

    It is searched by halves, as more layers in floats are taken for a better score.
    """
    order = worst_first(noise)
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if score.of(program.outputs(order[middle:])) >= wanted:
            high = middle
        else:
            low = middle + 1
    return low
