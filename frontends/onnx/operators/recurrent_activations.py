"""The activations that recurrent layers name in their attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ....lazy_dataclass import dataclass
from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..value import Value
from . import activations as known

Activation = Callable[[GraphBuilder, Value], Value]


@dataclass(frozen=True)
class Named:
    """An activation with the defaults of its parameters, `None` for one that it does not have."""

    build: Callable[[GraphBuilder, Value, float, float], Value]
    alpha: float | None = None
    beta: float | None = None


FUNCTIONS: Final[dict[str, Named]] = {
    "affine": Named(lambda b, x, alpha, beta: b.add(b.multiply(x, alpha), beta), 1.0, 0.0),
    "elu": Named(lambda b, x, alpha, beta: known.elu(b, x, alpha=alpha), 1.0),
    "hardsigmoid": Named(lambda b, x, alpha, beta: known.hard_sigmoid(b, x, alpha=alpha, beta=beta), 0.2, 0.5),
    "leakyrelu": Named(lambda b, x, alpha, beta: b.leaky_relu(x, alpha=alpha), 0.01),
    "relu": Named(lambda b, x, alpha, beta: b.relu(x)),
    "scaledtanh": Named(lambda b, x, alpha, beta: b.multiply(b.tanh(b.multiply(x, beta)), alpha), 1.0, 1.0),
    "sigmoid": Named(lambda b, x, alpha, beta: b.sigmoid(x)),
    "softplus": Named(lambda b, x, alpha, beta: known.softplus(b, x)),
    "softsign": Named(lambda b, x, alpha, beta: known.softsign(b, x)),
    "tanh": Named(lambda b, x, alpha, beta: b.tanh(x)),
    "thresholdedrelu": Named(lambda b, x, alpha, beta: known.thresholded_relu(b, x, alpha=alpha), 1.0),
}
"""The functions by name in small letters, as files do not agree on capitals."""


def activations_of(
    names: Sequence[str] | None,
    defaults: Sequence[str],
    directions: int,
    alphas: Sequence[float] | None,
    betas: Sequence[float] | None,
) -> list[tuple[Activation, ...]]:
    """
    The activations of each direction. `alphas` and `betas` are used up in order by those that have such a parameter.

    Raises `ConversionError` for a name that is not known and for a wrong number of names.
    """
    found = list(names or tuple(defaults) * directions)
    if len(found) != len(defaults) * directions:
        raise ConversionError(
            f"activations has {len(found)} entries, expected {len(defaults)} for each of {directions} directions"
        )
    first, second = list(alphas or ()), list(betas or ())
    functions = [_activation(name, first, second) for name in found]
    count = len(defaults)
    return [tuple(functions[number * count : (number + 1) * count]) for number in range(directions)]


def _activation(name: str, alphas: list[float], betas: list[float]) -> Activation:
    function = FUNCTIONS.get(name.lower())
    if function is None:
        raise ConversionError(f"activation '{name}' is not known, expected one of {', '.join(FUNCTIONS)}")
    alpha = _parameter(function.alpha, alphas)
    beta = _parameter(function.beta, betas)
    return lambda b, x: function.build(b, x, alpha, beta)


def _parameter(default: float | None, given: list[float]) -> float:
    if default is None:
        return 0.0
    return given.pop(0) if given else default
