"""Operators that give other numbers in each run: refused, because a compiled model is a function of its inputs."""

from __future__ import annotations

from typing import Any

from ..emitter import Emitter
from ..errors import ConversionError
from ..registry import converter


def refuse(
    b: Emitter,
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
    """Of every random operator, with all their attributes."""
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
