"""Activations: functions of each element that networks apply between layers."""

from __future__ import annotations

import math

from ..emitting.forms import broadcast
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..registry import Known, converter
from ..value import Value
from .arithmetic import positions
from .reduction import flattened
from .widening import rounded_once

# Smooth ones


@converter("Softplus")
@rounded_once
def softplus(b: GraphBuilder, x: Value) -> Value:
    """`log(1 + exp(x))` as `max(x, 0) + log1p(exp(-|x|))`, which does not overflow and is accurate far below 0."""
    return b.add(b.relu(x), b.log1p(b.exp(b.negative(b.abs(x)))))


@converter("Softsign")
@rounded_once
def softsign(b: GraphBuilder, x: Value) -> Value:
    return b.divide(x, b.add(b.abs(x), 1.0))


@converter("Mish")
@rounded_once
def mish(b: GraphBuilder, x: Value) -> Value:
    """
    `x * tanh(softplus(x))`.

    With `e = exp(-|x|)`, `tanh(log(1 + exp(x)))` is `(1 + 2 e) / (1 + 2 e + 2 e^2)` from 0 up and
    `(e^2 + 2 e) / (e^2 + 2 e + 2)` below: no logarithm, no cancellation.
    """
    e = b.exp(b.negative(b.abs(x)))
    below = b.less(x, 0.0)
    two, square = b.multiply(e, 2.0), b.square(e)
    top = b.where(below, b.add(square, two), b.add(two, 1.0))
    rest = b.where(below, b.full((), 2.0, x.dtype), b.multiply(square, 2.0))
    product = b.multiply(x, b.divide(top, b.add(top, rest)))
    return b.where(b.equal(x, -math.inf), b.full((), -0.0, x.dtype), product)


@converter("Swish")
@rounded_once
def swish(b: GraphBuilder, x: Value, *, alpha: float = 1.0) -> Value:
    """`x * sigmoid(alpha * x)`."""
    return b.silu(x) if alpha == 1 else b.multiply(x, b.sigmoid(b.multiply(x, alpha)))


@converter("SwiGLU")
@rounded_once
def swiglu(b: GraphBuilder, gate: Value, x: Value, *, alpha: float = 1.0) -> Value:
    """Returns `swish(gate) * x`. The shapes are the same."""
    if gate.shape != x.shape:
        raise ConversionError(f"the inputs are {gate.shaped} and {x.shaped}, expected the same shape")
    return b.multiply(swish(b, gate, alpha=alpha), x)


# In pieces


def _line(b: GraphBuilder, x: Value, alpha: float, beta: float) -> Value:
    return b.clip(b.add(b.multiply(x, alpha), beta), min=0.0, max=1.0)


@converter("HardSigmoid")
@rounded_once
def hard_sigmoid(b: GraphBuilder, x: Value, *, alpha: float = 0.2, beta: float = 0.5) -> Value:
    """`max(0, min(1, alpha * x + beta))`."""
    return _line(b, x, alpha, beta)


@converter("HardSwish")
@rounded_once
def hard_swish(b: GraphBuilder, x: Value) -> Value:
    """`x * max(0, min(1, x / 6 + 1/2))`."""
    return b.multiply(x, _line(b, x, 1 / 6, 0.5))


@converter("Elu")
@rounded_once
def elu(b: GraphBuilder, x: Value, *, alpha: float = 1.0) -> Value:
    """`alpha * (exp(x) - 1)` below 0."""
    return b.where(b.less(x, 0.0), _scaled(b, b.expm1(x), alpha), x)


@converter("Celu")
@rounded_once
def celu(b: GraphBuilder, x: Value, *, alpha: float = 1.0) -> Value:
    """`alpha * (exp(x / alpha) - 1)` below 0."""
    inner = x if alpha == 1 else b.divide(x, alpha)
    return b.where(b.less(x, 0.0), _scaled(b, b.expm1(inner), alpha), x)


@converter("Selu")
@rounded_once
def selu(
    b: GraphBuilder,
    x: Value,
    *,
    alpha: float = 1.67326319217681884765625,
    gamma: float = 1.05070102214813232421875,
) -> Value:
    """`gamma` times `Elu`. The defaults are the f32 constants of the specification."""
    return b.where(b.greater(x, 0.0), b.multiply(x, gamma), b.multiply(b.expm1(x), alpha * gamma))


def _scaled(b: GraphBuilder, x: Value, factor: float) -> Value:
    return x if factor == 1 else b.multiply(x, factor)


@converter("PRelu")
def prelu(b: GraphBuilder, x: Value, slope: Value) -> Value:
    """`slope * x` below 0."""
    return b.where(b.less(x, b.full((), 0, x.dtype)), b.multiply(x, slope), x)


@converter("ThresholdedRelu")
def thresholded_relu(b: GraphBuilder, x: Value, *, alpha: float = 1.0) -> Value:
    """0 up to `alpha`."""
    return b.where(b.greater(x, alpha), x, b.full((), 0.0, x.dtype))


@converter("Shrink")
def shrink(b: GraphBuilder, x: Value, *, bias: float = 0.0, lambd: float = 0.5) -> Value:
    """Moves `x` towards 0 by `bias`. Between `-lambd` and `lambd` the result is 0."""
    if not x.dtype.startswith(("f", "b")):
        return _shrink_integers(b, x, bias, lambd)
    below, above = b.less(x, -lambd), b.greater(x, lambd)
    inner = b.where(above, b.subtract(x, bias), b.full((), 0.0, x.dtype))
    return b.where(below, b.add(x, bias), inner)


def _shrink_integers(b: GraphBuilder, x: Value, bias: float, lambd: float) -> Value:
    """
    Shrinks integers. One is above `lambd` when it is above its floor, and an unsigned one is never below `-lambd`.

    Where `bias` is no whole number, the sum is one of f64, whose fraction is cut off. It holds integers of 32 bits.
    """
    if lambd < 0 or bias != int(bias):
        if x.dtype.endswith("64"):
            raise ConversionError(
                f"lambd is {lambd:g} and bias {bias:g}, expected lambd >= 0 and a whole bias for integers of 64 bits"
            )
        return b.astype(shrink(b, b.astype(x, dtype="f64"), bias=bias, lambd=lambd), dtype=x.dtype)
    above = b.greater(x, math.floor(lambd))
    less, more = (b.subtract, b.add) if bias >= 0 else (b.add, b.subtract)
    inner = b.where(above, less(x, abs(int(bias))), b.full((), 0, x.dtype))
    if x.dtype.startswith("u"):
        return inner
    return b.where(b.less(x, -math.floor(lambd)), more(x, abs(int(bias))), inner)


# Not element by element


def _hardmax(b: GraphBuilder, x: Value, *, axis: int = -1) -> Value:
    """1 at the first largest element along `axis`, 0 elsewhere."""
    extent = extents_of(x)[axis]
    if extent == 0:
        return x
    numbers = positions(b, extent, x.rank, axis)
    return b.astype(b.equal(numbers, b.argmax(x, axis=axis, keepdims=True)), dtype=x.dtype)


converter("Hardmax", since=13)(_hardmax)
converter("Hardmax")(flattened(_hardmax))


# Dropout


@converter("Dropout", since=12)
def dropout(
    b: GraphBuilder,
    x: Value,
    ratio: Value | None = None,
    training_mode: Known | None = None,
    *,
    seed: int | None = None,
) -> tuple[Value, ...]:
    """
    Returns the input, and a mask that is true everywhere. Outside training, or when `ratio` is 0, nothing is dropped.

    Outside training `ratio` need not be known.
    """
    training = training_mode is not None and bool(training_mode.reshape(()))  # pyright: ignore[reportAttributeAccessIssue]
    share = None if ratio is None else ratio.known
    if training and (share is None or float(share.reshape(())) != 0):
        needs = () if ratio is None or share is not None else (ratio,)
        raise ConversionError("training_mode is true, expected a model for inference", needs=needs)
    return _kept(b, x, "i1")


@converter("Dropout", since=7)
def dropout_by_attribute(b: GraphBuilder, x: Value, *, ratio: float = 0.5) -> tuple[Value, ...]:
    """Converts the operator of inference. Before version 10 the mask has the element type of the input."""
    return _kept(b, x, x.dtype if b.version < 10 else "i1")


def _kept(b: GraphBuilder, x: Value, mask: str) -> tuple[Value, ...]:
    if len(b.wanted) < 2 or not b.wanted[1]:
        return (x,)
    return x, broadcast(b, b.full((), 1, mask), extents_of(x))
