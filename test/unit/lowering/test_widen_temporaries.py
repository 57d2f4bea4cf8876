"""Scores between a product, a sum and a softmax of small floats stay f32: checked with NumPy in double precision."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from stepwell import PassContext

Array = np.ndarray[Any, Any]

ATTENTION = """func.func @main(
    %q: tensor<2x13x24xT>, %k: tensor<2x24x40xT>, %m: tensor<1x13x40xT>, %v: tensor<2x40x16xT>
) -> tensor<2x13x16xT> {
  %s = graph.matmul %q, %k : (tensor<2x13x24xT>, tensor<2x24x40xT>) -> tensor<2x13x40xT>
  %a = graph.add %s, %m : (tensor<2x13x40xT>, tensor<1x13x40xT>) -> tensor<2x13x40xT>
  %p = graph.softmax %a, axis = 2 : (tensor<2x13x40xT>) -> tensor<2x13x40xT>
  %y = graph.matmul %p, %v : (tensor<2x13x40xT>, tensor<2x40x16xT>) -> tensor<2x13x16xT>
  func.return %y : tensor<2x13x16xT>
}"""

TYPES = {"f16": (np.float16, 2.0**-11), "bf16": (ml_dtypes.bfloat16, 2.0**-8)}


def operands(type_: str) -> list[Array]:
    rng = np.random.default_rng(0)
    sizes = (2, 13, 24), (2, 24, 40), (1, 13, 40), (2, 40, 16)
    made = [rng.standard_normal(each).astype(TYPES[type_][0]) for each in sizes]
    made[2] -= made[2].dtype.type(64)  # Scores of few bits behind the point where they are rounded.
    made[2][0, 3, ::2] = -np.inf
    made[3] = np.abs(made[3])  # No cancellation, so that errors are relative ones.
    return made


def exact(q: Array, k: Array, m: Array, v: Array) -> Array:
    scores = q.astype(np.float64) @ k.astype(np.float64) + m.astype(np.float64)
    e = np.exp(scores - scores.max(axis=2, keepdims=True))
    return e / e.sum(axis=2, keepdims=True) @ v.astype(np.float64)


def run(type_: str, numerics: str = "default", disabled: tuple[str, ...] = ()) -> Array:
    """Returns the error in units of half of the last place."""
    with PassContext(disabled=list(disabled)):
        text = ATTENTION.replace("T>", f"{type_}>")
        program = stepwell.compile(text, cache=False, threads=1, tuning=False, numerics=numerics)
    given = operands(type_)
    expected = exact(*given)
    return np.abs(np.asarray(program(*given)).astype(np.float64) - expected) / expected / TYPES[type_][1]


@pytest.mark.parametrize("type_", TYPES)
def test_results_are_rounded_once(type_: str) -> None:
    assert run(type_).max() < 1.01


@pytest.mark.parametrize("numerics", ["default", "strict"])
def test_scores_are_rounded_without_the_pass(numerics: str) -> None:
    """The bound of the test before is one that rounded scores miss."""
    disabled = ("widen-temporaries",) if numerics == "default" else ()
    assert run("f16", numerics, disabled).max() > 2
