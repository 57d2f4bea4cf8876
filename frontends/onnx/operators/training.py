"""
Steps of optimisers, of the operator set `ai.onnx.preview.training`. Variables, gradients and states come one group
after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value

DOMAIN: Final = "ai.onnx.preview.training"


def _groups(values: tuple[Value, ...], count: int) -> list[tuple[Value, ...]]:
    """Returns each variable with its gradient and its states."""
    if not values or len(values) % count:
        raise ConversionError(f"the node has {len(values)} variables and states, expected groups of {count}")
    size = len(values) // count
    return [values[number::size] for number in range(size)]


def _each(values: tuple[Value, ...], count: int, step: Callable[..., tuple[Value, ...]]) -> list[Value]:
    """The results of `step` for each variable: all new variables, then all of the first state, and so on."""
    results = [step(*group) for group in _groups(values, count)]
    return [each for kind in zip(*results, strict=True) for each in kind]


def _scalar(b: GraphBuilder, x: Value) -> Value:
    return x if x.rank == 0 else b.reshape(x, shape=())


def _regularised(b: GraphBuilder, x: Value, gradient: Value, coefficient: float) -> Value:
    """The gradient of the loss plus `coefficient / 2 * ||x||^2`."""
    return gradient if coefficient == 0 else b.add(b.multiply(x, coefficient), gradient)


def _number(b: GraphBuilder, x: Value, dtype: str) -> Value:
    return x if x.dtype == dtype else b.astype(x, dtype=dtype)


@converter("Momentum", domain=DOMAIN)
def momentum(
    b: GraphBuilder,
    rate: Value,
    count: Value,
    *values: Value,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> Any:
    """
    Computes `v' = alpha * v + beta * g`, with `beta = 1` in the first step.

    Then `x' = x - rate * v'`, or `x - rate * (g + alpha * v')`.
    """
    if mode not in ("standard", "nesterov"):
        raise ConversionError(f"mode is '{mode}', expected standard or nesterov")
    rate, count = _scalar(b, rate), _scalar(b, count)

    def step(x: Value, gradient: Value, velocity: Value) -> tuple[Value, ...]:
        gradient = _regularised(b, x, gradient, norm_coefficient)
        factor = b.where(b.greater(count, 0), b.full((), beta, x.dtype), b.full((), 1.0, x.dtype))
        velocity = b.add(b.multiply(velocity, alpha), b.multiply(gradient, factor))
        way = b.add(gradient, b.multiply(velocity, alpha)) if mode == "nesterov" else velocity
        return b.subtract(x, b.multiply(way, _number(b, rate, x.dtype))), velocity

    return _each(values, 3, step)


@converter("Adagrad", domain=DOMAIN)
def adagrad(
    b: GraphBuilder,
    rate: Value,
    count: Value,
    *values: Value,
    decay_factor: float = 0.0,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
) -> Any:
    """
    `h' = h + g^2`, `x' = x - rate / (1 + count * decay_factor) * g / (sqrt(h') + epsilon)`. Source: Duchi et al., JMLR
    12, 2011.
    """
    rate, count = _scalar(b, rate), _scalar(b, count)

    def step(x: Value, gradient: Value, squares: Value) -> tuple[Value, ...]:
        gradient = _regularised(b, x, gradient, norm_coefficient)
        squares = b.add(squares, b.square(gradient))
        decay = b.add(b.multiply(_number(b, count, x.dtype), decay_factor), 1.0)
        factor = b.divide(_number(b, rate, x.dtype), decay)
        change = b.divide(b.multiply(gradient, factor), b.add(b.sqrt(squares), epsilon))
        return b.subtract(x, change), squares

    return _each(values, 3, step)


@converter("Adam", domain=DOMAIN)
def adam(
    b: GraphBuilder,
    rate: Value,
    count: Value,
    *values: Value,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> Any:
    """
    `v' = alpha * v + (1 - alpha) * g`, `h' = beta * h + (1 - beta) * g^2`, `x' = x - r * v' / (sqrt(h') + epsilon)`,
    where after the first step `r = rate * sqrt(1 - beta^count) / (1 - alpha^count)`. Source: Kingma and Ba, Adam,
    ICLR 2015.
    """
    rate, count = _scalar(b, rate), _scalar(b, count)

    def step(x: Value, gradient: Value, mean: Value, squares: Value) -> tuple[Value, ...]:
        gradient = _regularised(b, x, gradient, norm_coefficient)
        mean = b.add(b.multiply(mean, alpha), b.multiply(gradient, 1 - alpha))
        squares = b.add(b.multiply(squares, beta), b.multiply(b.square(gradient), 1 - beta))
        change = b.divide(mean, b.add(b.sqrt(squares), epsilon))
        new = b.subtract(x, b.multiply(change, _corrected(b, rate, count, alpha, beta, x.dtype)))
        return (
            new if norm_coefficient_post == 0 else b.multiply(new, 1 - norm_coefficient_post),
            mean,
            squares,
        )

    return _each(values, 4, step)


def _corrected(b: GraphBuilder, rate: Value, count: Value, alpha: float, beta: float, dtype: str) -> Value:
    """The rate for averages that started at 0."""
    steps, rate = _number(b, count, dtype), _number(b, rate, dtype)
    mean = b.subtract(b.full((), 1.0, dtype), b.power(b.full((), alpha, dtype), steps))
    squares = b.subtract(b.full((), 1.0, dtype), b.power(b.full((), beta, dtype), steps))
    return b.where(b.greater(count, 0), b.divide(b.multiply(rate, b.sqrt(squares)), mean), rate)
