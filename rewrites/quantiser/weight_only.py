"""Weights alone as integers of few bits or half floats: what flows between the layers stays in f32."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from math import prod
from typing import Any, Final

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean, emit_remark, fail
from ...core.weights import open_weights
from ...dialects.graph.contraction import MatmulOp
from ...dialects.graph.movement import ReshapeOp
from ...dialects.graph.quantisation import MatmulPackedOp
from ...lazy_dataclass import dataclass
from ..calibration.names import value_names
from ..simplify.eliminate_dead_code import erase_dead_ops
from .compensation import Compensation
from .constants import Constants
from .emitting import Place, hint_of
from .fit import NOT_FINITE, FittedLayer, check_kept, described
from .half_weights import HALVES, half_weights, put_halves, replace_weights
from .layers import Layer, entry_of, float_layers, is_kept, shape_of
from .options import ALONE, WEIGHTS, check_choice, check_halves

Array = np.ndarray[Any, Any]

BITS: Final = {"int8": 8, "int4": 4}
"""The bits of the integers that weights may be."""

LEAST_BLOCK: Final = 16

MOMENTS_ARE_MADE_BY: Final = "stepwell calibrate --values --moments makes them"


@dataclass(frozen=True)
class PackedWeights:
    """The weights of a layer as `graph.matmul_packed` takes them, one row per output."""

    packed: Array
    scale: Array
    zero_point: int | Array
    """One for all, or one for each block, `ui8` as `scale` is shaped."""
    bits: int
    block: int

    def real(self, inputs: int) -> Array:
        """Returns the numbers that the weights stand for, one column per output."""
        numbers = self.packed.astype(np.int64)
        if self.bits == 4:
            numbers = np.stack([numbers & 15, numbers >> 4], axis=-1).reshape(len(numbers), -1)
        shape = (*self.scale.shape, 1)
        zero = np.reshape(self.zero_point, shape if isinstance(self.zero_point, np.ndarray) else ()).astype(np.int64)
        steps = numbers.reshape(*self.scale.shape, self.block) - zero
        return (steps * self.scale.reshape(shape)).reshape(len(numbers), -1)[:, :inputs].T


@dataclass(frozen=True)
class WeightOptions:
    """What becomes of weights alone."""

    weights: str
    """`int8`, `int4`, `f16` or `bf16`."""
    block: int = 32
    """The inputs of an output that share a scale, a power of 2."""
    keep: Sequence[str] = ()
    keep_kinds: Sequence[str] = ()
    """Names and kinds of layers that stay in floats."""
    compensate: bool = True
    """It lets rounding make up for its errors where second moments are known."""
    zero_points: bool = False
    """It gives each block a zero point of its own, so that the integers cover what the weights of the block cover."""

    def check(self) -> None:
        """Raises StepwellError for an option whose value is not one of those it may have."""
        check_choice("weights", self.weights, WEIGHTS)
        block: object = self.block
        if isinstance(block, bool) or not isinstance(block, int) or block < LEAST_BLOCK or block & (block - 1):
            message = f"quantize: block is {block!r}, expected a power of 2 of at least {LEAST_BLOCK}"
            raise StepwellError(Diagnostic(message))
        if self.weights in HALVES:
            check_halves(self.weights, {name for name in ALONE if getattr(self, name) != ALONE[name]})


def quantize_weights(
    module: ModuleOp, entry: str, options: WeightOptions, moments: Mapping[str, Array] | None = None
) -> list[FittedLayer]:
    """
    Quantises the weights of the layers of `@entry`, and returns all layers.

    Layers are products with a constant matrix. `moments` are second moments of the values that they read, by the names
    of these: `sum of x xᵀ` over all rows. With them rounding makes up for its errors. Raises StepwellError for a value
    that is not among them.
    """
    options.check()
    constants, found = Constants(module), list[FittedLayer]()
    function = entry_of(module, entry)
    layers, names = float_layers(function, constants), value_names(function)
    check_kept(module, layers, options.keep, options.keep_kinds)
    matrices = _Matrices(options, _sums_of_moments(layers, names, constants, options, moments or {}))
    for layer in layers:
        own = described(layer)
        is_left = is_kept(layer, options.keep, options.keep_kinds)
        matrix = None if is_left else matrix_of(layer, constants, options.weights)
        if isinstance(matrix, str):
            emit_remark(layer.op, f"the weights of %{layer.name} stay in floats: {matrix}")
        if matrix is None or isinstance(matrix, str):
            found.append(replace(own, is_kept=is_left, reason=matrix or ""))
            continue
        known = None if moments is None else _moments_of(layer, names[layer.op.operands[0]], moments)
        real = matrices.give(layer, matrix)
        noise = None if known is None else _decibels(matrix, real, known)
        found.append(replace(own, is_quantised=True, decibels=noise))
    erase_dead_ops(function)
    return found


def _sums_of_moments(
    layers: Sequence[Layer],
    names: Mapping[SSAValue, str],
    constants: Constants,
    options: WeightOptions,
    moments: Mapping[str, Array],
) -> dict[bytes, Array]:
    """Returns the moments of what is multiplied by each matrix, which several layers may share."""
    found: dict[bytes, Array] = {}
    for layer in layers if moments and options.compensate and options.weights in BITS else ():
        if is_kept(layer, options.keep, options.keep_kinds):
            continue
        matrix = matrix_of(layer, constants, options.weights)
        if not isinstance(matrix, str):
            own, key = _moments_of(layer, names[layer.op.operands[0]], moments), _key(matrix)
            found[key] = own if key not in found else found[key] + own
    return found


def _key(matrix: Array) -> bytes:
    """Returns what stands for the numbers of a matrix."""
    return repr(matrix.shape).encode() + blake2b(np.ascontiguousarray(matrix).tobytes()).digest()


class _Matrices:
    """Weights of few bits. A matrix that several layers read is rounded once and is one constant, as it was."""

    def __init__(self, options: WeightOptions, moments: Mapping[bytes, Array]):
        self._options = options
        self._moments = moments
        self._packed: dict[bytes, tuple[PackedWeights, tuple[SSAValue, SSAValue, SSAValue], Array]] = {}
        self._halves: dict[bytes, tuple[SSAValue, Array]] = {}

    def give(self, layer: Layer, matrix: Array) -> Array:
        """Gives a layer its weights, in program order. Returns the numbers that they stand for."""
        options, key = self._options, _key(matrix)
        if options.weights in HALVES:
            if key not in self._halves:
                halves = half_weights(matrix, options.weights)
                assert not isinstance(halves, str)
                self._halves[key] = put_halves(layer, halves, options.weights), halves.astype(np.float64)
            kernel, real = self._halves[key]
            replace_weights(layer, kernel)
            return real
        if key not in self._packed:
            bits, used = BITS[options.weights], self._moments.get(key)
            packed = packed_weights(matrix, bits, options.block, used, zero_points=options.zero_points)
            self._packed[key] = packed, _put(layer, packed), packed.real(len(matrix))
        packed, values, real = self._packed[key]
        _replace(layer, packed, values)
        return real


def _decibels(matrix: Array, packed: Array, moments: Array) -> float:
    """Returns the ratio of signal to noise of the result of a layer, in decibels. It is infinite without noise."""
    error = packed - matrix
    signal, noise = (float(np.einsum("io,ij,jo->", each, moments, each, optimize=True)) for each in (matrix, error))
    if noise <= 0:
        return float("inf")
    return 10 * float(np.log10(signal / noise)) if signal > 0 else float("-inf")


def read_moments(path: str) -> dict[str, Array]:
    """Returns the second moments in a file. Raises WeightsError for one that cannot be read."""
    file = open_weights(path)
    return {key: file.array(key) for key in file.entries}


def _moments_of(layer: Layer, name: str, moments: Mapping[str, Array]) -> Array:
    size = shape_of(layer.op.operands[1])[0]
    found = moments.get(name)
    if found is None:
        hint = did_you_mean(name, list(moments)) or f"they were made of another program; {MOMENTS_ARE_MADE_BY}"
        fail(layer.op, f"there are no second moments of %{name}", hint=hint)
    if found.shape != (size, size):
        message = f"the second moments of %{name} are {'x'.join(map(str, found.shape))}, expected {size}x{size}"
        fail(layer.op, message, hint=f"they were made of another program; {MOMENTS_ARE_MADE_BY}")
    if not np.isfinite(found).all():
        fail(layer.op, f"the second moments of %{name} are not all finite", hint="the data makes values that are not")
    return found


def matrix_of(layer: Layer, constants: Constants, dtype: str = "") -> Array | str:
    """Returns the weights of a layer, one column per output, or why they stay as they are and become no `dtype`."""
    if not isinstance(layer.op, MatmulOp):
        return "weights of few bits are those of products"
    found = constants.array(layer.op.operands[1])
    if found is None:
        return "they are not known before the program runs"
    if found.ndim != 2:
        return f"they have {found.ndim} dimensions, expected a matrix"
    if not np.isfinite(found).all():
        return NOT_FINITE
    if dtype in HALVES and isinstance(halves := half_weights(found, dtype), str):
        return halves
    return found


def packed_weights(
    matrix: Array, bits: int, block: int, moments: Array | None = None, *, zero_points: bool = False
) -> PackedWeights:
    """
    Returns integers for weights, one column per output, with a scale for each block of a column.

    The number of a block that is farthest from 0 becomes the least integer. So a scale may be negative. With
    `zero_points` the least and the greatest number of a block become the least and the greatest integer, where 0 is
    between them, and 0 becomes an integer too: `scale = (max(w, 0) - min(w, 0)) / (2^bits - 1)` and
    `zero_point = round(-min(w, 0) / scale)`. The integers are the nearest ones. With the second moments of the inputs,
    a square matrix, each makes up for the errors of those before it (`Compensation`).

    Source of zero points: the quantiser for MatMulNBits in onnxruntime.
    """
    inputs, outputs = matrix.shape
    blocks = -(-inputs // block)
    rows = np.zeros((outputs, blocks * block))
    rows[:, :inputs] = matrix.T
    grid_of = _spanning if zero_points else _symmetric
    if moments is None:
        grid = grid_of(rows.reshape(outputs, blocks, block), bits)
        numbers = grid.integers(rows.reshape(outputs, blocks, block)).reshape(outputs, -1)
        scale, zero = grid.scale[..., 0], grid.zero_point[..., 0]
    else:
        scale, zero, numbers = _compensated(rows, inputs, bits, block, Compensation(moments), grid_of)
    numbers = numbers.astype(np.uint8)
    packed = numbers if bits == 8 else numbers[:, 0::2] | numbers[:, 1::2] << 4
    return PackedWeights(packed, scale, zero.astype(np.uint8) if zero_points else 2 ** (bits - 1), bits, block)


@dataclass(frozen=True)
class _Grid:
    """The numbers that the integers of blocks stand for. What is said of a block has extent 1 in its axis, the last."""

    scale: Array
    """In f32. 0 for a block of zeros."""
    zero_point: Array
    bits: int

    def integers(self, numbers: Array) -> Array:
        """Returns the nearest integers of `bits` bits without signs, the zero point where the scale is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(self.scale == 0, 0, np.rint(numbers / self.scale.astype(np.float64)))
        return np.clip(steps + self.zero_point, 0, 2**self.bits - 1)

    def errors(self, numbers: Array, integers: Array) -> Array:
        """Returns by how much numbers are above what their integers stand for."""
        return numbers - (integers - self.zero_point) * self.scale


def _symmetric(parts: Array, bits: int) -> _Grid:
    """Returns grids whose zero point is in the middle. The number farthest from 0 becomes the integer 0."""
    farthest = np.take_along_axis(parts, np.abs(parts).argmax(axis=-1, keepdims=True), axis=-1)
    scale = (farthest / -(2 ** (bits - 1))).astype(np.float32)
    return _Grid(scale, np.full(scale.shape, 2 ** (bits - 1)), bits)


def _spanning(parts: Array, bits: int) -> _Grid:
    """Returns grids that go from the least to the greatest number of each block, and include 0."""
    least, greatest = (np.minimum(parts.min(-1, keepdims=True), 0), np.maximum(parts.max(-1, keepdims=True), 0))
    scale = ((greatest - least) / (2**bits - 1)).astype(np.float32)
    none = _Grid(scale, np.zeros(scale.shape), bits)
    return _Grid(scale, none.integers(-least), bits)


def _compensated(
    rows: Array, inputs: int, bits: int, block: int, compensation: Compensation, grid_of: Callable[[Array, int], _Grid]
) -> tuple[Array, Array, Array]:
    """Returns scales, zero points and integers of `rows`, which it changes. Columns from `inputs` on are padding."""
    grids, numbers = list[_Grid](), np.zeros_like(rows)
    known = rows[:, :inputs]
    for start in range(0, inputs, block):
        grid = grid_of(rows[:, start : start + block], bits)
        stop = min(start + block, inputs)
        numbers[:, stop : start + block] = grid.zero_point
        errors = np.zeros((len(rows), stop - start))
        for column in range(start, stop):
            one = slice(column, column + 1)
            numbers[:, one] = grid.integers(rows[:, one])
            error = grid.errors(rows[:, one], numbers[:, one])[:, 0]
            errors[:, column - start] = compensation.spread(column, stop, error, known)
        compensation.spread_far(slice(start, stop), errors, known)
        grids.append(grid)
    scale, zero = (np.concatenate([getattr(grid, name) for grid in grids], 1) for name in ("scale", "zero_point"))
    return scale, zero, numbers


def _put(layer: Layer, weights: PackedWeights) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Puts packed weights, their scales and their zero points before a layer."""
    place, name = Place.at(layer.op), layer.op.operands[1]
    packed = place.constant(weights.packed, hint_of(name, "packed", layer.name))
    scale = place.constant(weights.scale, hint_of(name, "scale", layer.name))
    if isinstance(weights.zero_point, int):
        return packed, scale, place.full(weights.zero_point, "ui8")
    return packed, scale, place.constant(weights.zero_point, hint_of(name, "zero_point", layer.name))


def _replace(layer: Layer, weights: PackedWeights, values: tuple[SSAValue, SSAValue, SSAValue]) -> None:
    """Replaces a layer by a product with packed weights."""
    op, place = layer.op, Place.at(layer.op)
    x, shape = op.operands[0], list(shape_of(op.operands[0]))
    flat = len(shape) > 2 and min(shape) > 0
    rows: SSAValue = place.put(ReshapeOp(x, shape=[prod(shape[:-1]), shape[-1]])) if flat else x
    made = MatmulPackedOp(rows, *values, bits=weights.bits, block_size=weights.block)
    result = place.put(made)
    if flat:
        result = place.put(ReshapeOp(result, shape=[*shape[:-1], len(weights.packed)]))
    if op.results[0].name_hint is not None:
        result.name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, [], [result])
