"""
Matrix products and convolutions of the set `com.microsoft`, into which onnxruntime fuses what stands around them.

Source: the operator documentation of onnxruntime, ContribOperators, and the names of activations that its kernels take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ....dialects.graph.shapes import compatible
from ....lazy_dataclass import dataclass
from ....te.dtypes import is_small_float
from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from . import activations as known
from .contraction import gemm
from .convolution import Ints, conv
from .movement import channels_first, channels_last_of
from .quantized_fusions import DOMAIN

Floats = tuple[float, ...] | None


# Products


@converter("FusedMatMul", domain=DOMAIN)
def fused_matmul(
    b: GraphBuilder,
    x: Value,
    y: Value,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Value:
    """
    `alpha * op(x) @ op(y)`. `transA` swaps the last two dimensions, of which a vector has none.

    `transBatchA` stands for a tensor that has the dimensions of the batch after those of the rows, `(rows, batch…,
    columns)`, and `transA` then swaps rows and columns.
    """
    if (transBatchA or transBatchB) and (x.rank < 3 or x.rank != y.rank):
        name = "transBatchA" if transBatchA else "transBatchB"
        raise ConversionError(f"the operands are {x.shaped} and {y.shaped}, expected one rank from 3 with {name}")
    lhs, rhs = _turned(b, x, transA, transBatchA), _turned(b, y, transB, transBatchB)
    if alpha == 1:
        return b.matmul(lhs, rhs)
    if not is_small_float(x.dtype):
        return b.multiply(b.matmul(lhs, rhs), alpha)
    # The sums may be beyond the range of f16 where the scaled ones are not.
    return b.astype(b.multiply(b.matmul(lhs, rhs, out_dtype="f32"), alpha), dtype=x.dtype)


@converter("TransposeMatMul", domain=DOMAIN)
def transpose_matmul(
    b: GraphBuilder, x: Value, y: Value, *, alpha: float = 1.0, transA: int = 0, transB: int = 0
) -> Value:
    """The old name of `FusedMatMul`."""
    return fused_matmul(b, x, y, alpha=alpha, transA=transA, transB=transB)


def _turned(b: GraphBuilder, x: Value, transposed: int, batch_inside: int) -> Value:
    """Returns an operand as matrices with the batch before them."""
    if x.rank < 2 or not (transposed or batch_inside):
        return x
    batch = tuple(range(1, x.rank - 1) if batch_inside else range(x.rank - 2))
    first, last = 0 if batch_inside else x.rank - 2, x.rank - 1
    return b.permute_dims(x, axes=(*batch, last, first) if transposed else (*batch, first, last))


@converter("FusedGemm", domain=DOMAIN)
def fused_gemm(
    b: GraphBuilder,
    x: Value,
    y: Value,
    z: Value | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    activation: str,
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
) -> Value:
    """`activation(alpha * op(x) @ op(y) + beta * z)`. The activation has its parameters by name."""
    function = _activation(activation, OF_GEMM)
    given = {"alpha": activation_alpha, "beta": activation_beta, "gamma": activation_gamma}
    for name, value in given.items():
        if (value is None) == (name in function.parameters):
            found = "missing" if value is None else f"{value:g}"
            wanted = f"expected {' and '.join(function.parameters) or 'no parameter'} for {activation}"
            raise ConversionError(f"activation_{name} is {found}, {wanted}")
    found = gemm(b, x, y, z, alpha=alpha, beta=beta, transA=transA, transB=transB)
    return function.build(b, found, *(value for value in given.values() if value is not None))


# Convolutions


@converter("FusedConv", domain=DOMAIN)
def fused_conv(
    b: GraphBuilder,
    x: Value,
    w: Value,
    bias: Value | None = None,
    z: Value | None = None,
    *,
    activation: str | None = None,
    activation_params: Floats = None,
    auto_pad: str = "NOTSET",
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    """`activation(conv(x, w, bias) + z)`."""
    found = conv(
        b,
        x,
        w,
        bias,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return _finished(b, found, z, activation, activation_params)


@converter("NhwcFusedConv", domain=DOMAIN)
def nhwc_fused_conv(
    b: GraphBuilder,
    x: Value,
    w: Value,
    bias: Value | None = None,
    z: Value | None = None,
    *,
    activation: str | None = None,
    activation_params: Floats = None,
    auto_pad: str = "NOTSET",
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    """The same with channels as the last dimension of `x`, `z` and the result. Filters are as in `FusedConv`."""
    found = conv(
        b,
        channels_first(b, x),
        w,
        bias,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return _finished(b, channels_last_of(b, found), z, activation, activation_params)


def _finished(b: GraphBuilder, x: Value, z: Value | None, activation: str | None, given: Floats) -> Value:
    """Returns `activation(x + z)`. The activation has its parameters in order."""
    if z is not None:
        if not compatible(z.shape, x.shape):
            raise ConversionError(f"Z is {z.shaped}, expected the shape of the result, {x.shaped}")
        x = b.add(x, z)
    parameters = given or ()
    if activation is None:
        if parameters:
            raise ConversionError(f"activation_params has {len(parameters)} entries, expected an activation with them")
        return x
    function = _activation(activation, OF_CONVOLUTION)
    if len(parameters) != len(function.parameters):
        count = len(function.parameters)
        raise ConversionError(f"activation_params has {len(parameters)} entries, expected {count} for {activation}")
    return function.build(b, x, *parameters)


# Activations


@dataclass(frozen=True)
class Named:
    """An activation, with the names of its parameters."""

    build: Callable[..., Value]
    parameters: tuple[str, ...] = ()


ACTIVATIONS: Final[dict[str, Named]] = {
    "Celu": Named(lambda b, x, alpha: known.celu(b, x, alpha=alpha), ("alpha",)),
    "Clip": Named(lambda b, x, low, high: b.clip(x, min=low, max=high), ("min", "max")),
    "Elu": Named(lambda b, x, alpha: known.elu(b, x, alpha=alpha), ("alpha",)),
    "HardSigmoid": Named(lambda b, x, alpha, beta: known.hard_sigmoid(b, x, alpha=alpha, beta=beta), ("alpha", "beta")),
    "HardSwish": Named(known.hard_swish),
    "LeakyRelu": Named(lambda b, x, alpha: b.leaky_relu(x, alpha=alpha), ("alpha",)),
    "ParametricSoftplus": Named(
        lambda b, x, alpha, beta: b.multiply(known.softplus(b, b.multiply(x, beta)), alpha), ("alpha", "beta")
    ),
    "Relu": Named(lambda b, x: b.relu(x)),
    "ScaledTanh": Named(lambda b, x, alpha, beta: b.multiply(b.tanh(b.multiply(x, beta)), alpha), ("alpha", "beta")),
    "Selu": Named(lambda b, x, alpha, gamma: known.selu(b, x, alpha=alpha, gamma=gamma), ("alpha", "gamma")),
    "Sigmoid": Named(lambda b, x: b.sigmoid(x)),
    "Silu": Named(lambda b, x: b.silu(x)),
    "Softplus": Named(known.softplus),
    "Softsign": Named(known.softsign),
    "Tanh": Named(lambda b, x: b.tanh(x)),
    "ThresholdedRelu": Named(lambda b, x, alpha: known.thresholded_relu(b, x, alpha=alpha), ("alpha",)),
}

OF_CONVOLUTION: Final = ("Clip", "HardSigmoid", "HardSwish", "LeakyRelu", "Relu", "Sigmoid", "Silu", "Tanh")
"""The activations that convolutions of onnxruntime have."""

OF_GEMM: Final = tuple(name for name in ACTIVATIONS if name not in ("Clip", "HardSwish", "Silu"))
"""The activations that its products have."""


def _activation(name: str, names: Sequence[str]) -> Named:
    if name not in names:
        raise ConversionError(f"activation is '{name}', expected one of {', '.join(names)}")
    return ACTIVATIONS[name]
