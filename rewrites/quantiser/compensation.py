"""Rounding of weights in which each column makes up for the errors of those before it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, Any]

DAMPING: Final = 0.01
"""What is added to the second moment of each input, as a part of the mean of all of them."""


class Compensation:
    """
    Second moments of what a layer reads, made ready for `spread`.

    With inputs x and weights w of an output, an error e of the weights costs `eᵀ H e` where `H = sum of x xᵀ`. After
    weight i was rounded with an error, the weights behind it that cost least are those less `error * U[i, j] / U[i, i]`
    with `H⁻¹ = Uᵀ U`, U upper triangular.

    Source: Frantar et al., GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers, 2022.
    """

    def __init__(self, moments: Array):
        wide = moments.astype(np.float64)
        diagonal = np.einsum("ii->i", wide)
        dead = diagonal == 0
        mean = float(diagonal[~dead].mean()) if not dead.all() else 1.0
        diagonal[dead] = mean  # An input that is always 0 tells nothing, and its weight is rounded for itself.
        diagonal += DAMPING * mean
        self.factor: Array = np.linalg.cholesky(np.linalg.inv(wide)).T

    def spread(self, column: int, until: int, error: Array, weights: Array) -> Array:
        """
        Changes the weights behind `column` up to `until` for the error of that column, one row per output.

        Returns the error by `U[i, i]`, with which `spread_far` changes those from there on.
        """
        scaled = error / self.factor[column, column]
        weights[:, column + 1 : until] -= np.outer(scaled, self.factor[column, column + 1 : until])
        return scaled

    def spread_far(self, columns: slice, errors: Array, weights: Array) -> None:
        """Changes the weights behind `columns` for all errors of these, which `spread` returned."""
        weights[:, columns.stop :] -= errors @ self.factor[columns, columns.stop :]
