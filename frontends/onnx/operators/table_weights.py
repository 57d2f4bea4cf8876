"""
Products with weights that are places in a table of 16 numbers: MatMulBnb4 of the set `com.microsoft`.

Sources: the operator documentation of onnxruntime, ContribOperators. T. Dettmers et al., QLoRA: Efficient Finetuning of
Quantized LLMs, NeurIPS 2023, for NF4; bitsandbytes for FP4.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .packed_weights import LEAST_BLOCK
from .quantized_fusions import DOMAIN
from .signed_bytes import cast

_HALF_OF_FP4: Final = (0.0, 0.005208333333, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25)

TABLES: Final = {
    0: (*_HALF_OF_FP4, *(-each for each in _HALF_OF_FP4)),
    1: (
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    ),
}
"""The numbers of FP4 and NF4 by `quant_type`."""


@converter("MatMulBnb4", domain=DOMAIN)
def matmul_bnb4(
    b: GraphBuilder,
    x: Value,
    weights: Value,
    absmax: Value,
    *,
    K: int,
    N: int,
    block_size: int,
    quant_type: int,
    training_mode: int = 0,
    transB: int = 1,
) -> Value:
    """
    `x @ w.T`, or `x @ w` without `transB`, where w is NxK.

    The weights become floats as they are loaded. `training_mode` does not change the result.
    """
    if quant_type not in TABLES:
        raise ConversionError(f"quant_type is {quant_type}, expected 0 (FP4) or 1 (NF4)")
    if block_size < LEAST_BLOCK or block_size & (block_size - 1):
        raise ConversionError(f"block_size is {block_size}, expected a power of 2 of at least {LEAST_BLOCK}")
    size = K if transB else N
    if x.rank and x.shape[-1] not in (None, size):
        raise ConversionError(f"the input is {x.shaped}, expected rows of {'K' if transB else 'N'} = {size}")
    _check(weights, "B", "ui8", -(-N * K // 2))
    _check(absmax, "absmax", x.dtype, -(-N * K // block_size))
    w = b.reshape(_numbers(b, weights, absmax, N * K, block_size, TABLES[quant_type]), shape=(N, K))
    return b.matmul(x, b.permute_dims(w, axes=(1, 0)) if transB else w)


def _check(value: Value, what: str, dtype: str, count: int) -> None:
    if value.dtype != dtype or value.shape not in ((count,), (None,)):
        raise ConversionError(f"{what} is {value.shaped}, expected {count} elements of {dtype}")


def _numbers(
    b: GraphBuilder, weights: Value, absmax: Value, count: int, block_size: int, numbers: tuple[float, ...]
) -> Value:
    """Returns the first `count` numbers that bytes hold, two each and the first one in the upper half."""
    table: np.ndarray[Any, Any] = np.array(numbers, np.float32)
    byte = np.arange(256)
    pairs = b.constant(np.stack([table[byte >> 4], table[byte & 15]], axis=-1))
    flat = b.reshape(b.take(pairs, weights, axis=0), shape=(-(-count // 2) * 2,))
    # Factors are not repeated for each number: what grows much is not done as weights are loaded.
    whole = absmax.shape[0] * block_size  # pyright: ignore[reportOptionalOperand]
    extra = whole - flat.shape[0]  # pyright: ignore[reportOptionalOperand]
    if extra > 0:
        flat = b.pad(flat, pad_width=(0, extra), value=0.0)
    factor = b.expand_dims(cast(b, absmax, "f32"), axis=(1,))
    real = b.multiply(b.reshape(flat, shape=(-1, block_size)), factor)
    real = b.reshape(real, shape=(whole,))
    return cast(b, real if whole == count else b.strided_slice(real, axes=(0,), begin=(0,), end=(count,)), absmax.dtype)
