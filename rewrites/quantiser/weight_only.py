"""Weights alone as integers of few bits: what flows between the layers stays in floats."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ...core.messages.diagnostics import Diagnostic, StepwellError, emit_remark
from ...dialects.graph.contraction import MatmulOp
from ...dialects.graph.movement import ReshapeOp
from ...dialects.graph.quantisation import MatmulPackedOp
from ...lazy_dataclass import dataclass
from .constants import Constants
from .emitting import Place, hint_of
from .layers import Layer, entry_of, is_kept, layers_of, shape_of

Array = np.ndarray[Any, Any]

BITS: Final = {"int8": 8, "int4": 4}
"""The bits of the types that weights may have."""

LEAST_BLOCK: Final = 16


@dataclass(frozen=True)
class PackedWeights:
    """The weights of a layer as `graph.matmul_packed` takes them, one row per output."""

    packed: Array
    scale: Array
    zero_point: int
    bits: int
    block: int

    def real(self, inputs: int) -> Array:
        """Returns the numbers that the weights stand for, one column per output."""
        numbers = self.packed.astype(np.int64)
        if self.bits == 4:
            numbers = np.stack([numbers & 15, numbers >> 4], axis=-1).reshape(len(numbers), -1)
        spread = np.repeat(self.scale, self.block, axis=1)
        return ((numbers - self.zero_point) * spread)[:, :inputs].T


def quantize_weights(
    module: ModuleOp, *, entry: str, weights: str, block: int, keep: Sequence[str], keep_kinds: Sequence[str]
) -> int:
    """
    Quantises the weights of the layers of `@entry` to `weights`, "int8" or "int4", in blocks of `block` elements.

    Layers are products with a constant matrix. `keep` and `keep_kinds` name layers that stay as they are. Returns the
    number of layers changed.
    """
    if block < LEAST_BLOCK or block & (block - 1):
        message = f"quantize: block is {block}, expected a power of 2 of at least {LEAST_BLOCK}"
        raise StepwellError(Diagnostic(message))
    constants, count = Constants(module), 0
    for layer in layers_of(entry_of(module, entry)):
        if is_kept(layer, keep, keep_kinds):
            continue
        found = _matrix_of(layer, constants)
        if isinstance(found, str):
            emit_remark(layer.op, f"the weights of %{layer.name} stay in floats: {found}")
            continue
        _replace(layer, packed_weights(found, BITS[weights], block))
        count += 1
    return count


def _matrix_of(layer: Layer, constants: Constants) -> Array | str:
    """Returns the weights of a layer, one column per output, or why they cannot be packed."""
    if not isinstance(layer.op, MatmulOp):
        return "packed weights are those of products"
    found = constants.array(layer.op.operands[1])
    if found is None:
        return "they are not known before the program runs"
    if found.ndim != 2:
        return f"they have {found.ndim} dimensions, expected a matrix"
    return found if np.isfinite(found).all() else "they are not all finite"


def packed_weights(matrix: Array, bits: int, block: int) -> PackedWeights:
    """
    Returns the nearest integers of weights, one column per output, with a scale for each block of a column.

    The number of a block that is farthest from 0 becomes the least integer. So a scale may be negative.
    """
    inputs, outputs = matrix.shape
    blocks = -(-inputs // block)
    rows = np.zeros((outputs, blocks * block))
    rows[:, :inputs] = matrix.T
    parts = rows.reshape(outputs, blocks, block)
    farthest = np.take_along_axis(parts, np.abs(parts).argmax(axis=2, keepdims=True), axis=2)
    offset = 2 ** (bits - 1)
    scale = (farthest / -offset).astype(np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(scale == 0, 0, np.rint(parts / scale.astype(np.float64)))
    numbers = (np.clip(steps, -offset, offset - 1) + offset).astype(np.uint8).reshape(outputs, -1)
    packed = numbers if bits == 8 else numbers[:, 0::2] | numbers[:, 1::2] << 4
    return PackedWeights(packed, scale.reshape(outputs, blocks), offset, bits, block)


def _replace(layer: Layer, weights: PackedWeights) -> None:
    """Replaces a layer by a product with packed weights."""
    op, place = layer.op, Place.at(layer.op)
    name = op.operands[1]
    packed = place.constant(weights.packed, hint_of(name, "packed", layer.name))
    scale = place.constant(weights.scale, hint_of(name, "scale", layer.name))
    zero_point = place.full(weights.zero_point, "ui8")
    x, shape = op.operands[0], list(shape_of(op.operands[0]))
    flat = len(shape) > 2 and min(shape) > 0
    rows: SSAValue = place.put(ReshapeOp(x, shape=[prod(shape[:-1]), shape[-1]])) if flat else x
    made = MatmulPackedOp(rows, packed, scale, zero_point, bits=weights.bits, block_size=weights.block)
    result = place.put(made)
    if flat:
        result = place.put(ReshapeOp(result, shape=[*shape[:-1], len(weights.packed)]))
    if op.results[0].name_hint is not None:
        result.name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, [], [result])
