"""Operators that give other numbers in each run: refused, because a compiled model is a function of its inputs."""

from __future__ import annotations

from typing import Any

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter


def refuse(
    b: GraphBuilder,
    *xs: Any,
    dtype: Any = None,
    high: Any = None,
    low: Any = None,
    mean: Any = None,
    sample_size: Any = None,
    scale: Any = None,
    seed: Any = None,
    shape: Any = None,
) -> Any:
    """Refuses every random operator, with all its attributes."""
    raise ConversionError(
        "the result is random, expected a function of the inputs", hint="make it an input of the model"
    )


for _operator in (
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
):
    converter(_operator)(refuse)
