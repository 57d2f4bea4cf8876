"""One random instance of an op that moves elements, and the table of all families of ops."""

from __future__ import annotations

from typing import Final

from ...dialects.graph.quantisation import QUANTISED
from . import op_generators as ops
from .indexing_generators import INDEXING
from .ir_generators import Chooser, OpCase, TensorSpec, rarely
from .op_generators import ANY, FLOATS, SIGNED, UNSIGNED, Generator, any_axes, any_axis, any_dtype, any_shape, case
from .sampling_generators import SAMPLING


def any_spec(choose: Chooser, low: int = 0, high: int = 4, *, empty: bool = True) -> TensorSpec:
    return TensorSpec(any_shape(choose, low, high, empty=empty), any_dtype(choose, ANY))


def permute_dims(choose: Chooser, op: str, first: TensorSpec | None = None) -> OpCase:
    spec = first or any_spec(choose)
    axes = None if rarely(choose, 4) else any_axes(choose, spec.rank, low=spec.rank)
    return case(choose, op, [spec], ["any"], axes=axes)


def shape_of(choose: Chooser, op: str) -> OpCase:
    return case(choose, op, [any_spec(choose)], ["any"])


def factors_of(count: int) -> list[int]:
    """The prime factors of `count`."""
    found, divisor = [], 2
    while count > 1:
        while count % divisor == 0:
            found.append(divisor)
            count //= divisor
        divisor += 1
    return found


def reshape(choose: Chooser, op: str, first: TensorSpec | None = None) -> OpCase:
    spec = first or any_spec(choose)
    if spec.size == 0:
        shape = list(any_shape(choose, 1, 3, empty=False))
        shape[choose.integer(0, len(shape) - 1)] = 0
        return case(choose, op, [spec], ["any"], shape=shape)
    shape = [1] * choose.integer(0 if spec.size == 1 else 1, 4)
    for factor in factors_of(spec.size):
        shape[choose.integer(0, len(shape) - 1)] *= factor
    if shape and rarely(choose, 3):
        shape[choose.integer(0, len(shape) - 1)] = -1
    return case(choose, op, [spec], ["any"], shape=shape)


def expand_dims(choose: Chooser, op: str, first: TensorSpec | None = None) -> OpCase:
    spec = first or any_spec(choose, 0, 3)
    count = choose.integer(1, 2)
    return case(choose, op, [spec], ["any"], axis=any_axes(choose, spec.rank + count, count, count))


def squeeze(choose: Chooser, op: str) -> OpCase:
    shape = list(any_shape(choose, 0, 3))
    for _ in range(choose.integer(1, 2)):
        shape.insert(choose.integer(0, len(shape)), 1)
    spec = TensorSpec(tuple(shape), any_dtype(choose, ANY))
    ones = [axis for axis, extent in enumerate(shape) if extent == 1]
    if rarely(choose, 3):
        return case(choose, op, [spec], ["any"])
    axis = choose.element(ones)
    return case(choose, op, [spec], ["any"], axis=[axis - spec.rank if rarely(choose, 3) else axis])


def broadcast_to(choose: Chooser, op: str) -> OpCase:
    (source,) = ops.broadcast_operands(choose, 1)
    target = [choose.element((2, 3, 5)) if extent == 1 and rarely(choose, 2) else extent for extent in source]
    leading = list(any_shape(choose, 0, 1)) if len(source) < 4 else []
    return case(choose, op, [TensorSpec(source, any_dtype(choose, ANY))], ["any"], shape=[*leading, *target])


def concat(choose: Chooser, op: str, first: TensorSpec | None = None) -> OpCase:
    first = first or any_spec(choose, 1)
    axis = None if rarely(choose, 3) else any_axis(choose, first.rank)
    place = (0 if axis is None else axis) % first.rank
    operands = [first]
    for _ in range(choose.integer(0, 2)):
        extent = choose.element((1, 2, 5, 0))
        operands.append(TensorSpec((*first.shape[:place], extent, *first.shape[place + 1 :]), first.dtype))
    return case(choose, op, operands, ["any"] * len(operands), axis=axis)


def split(choose: Chooser, op: str) -> OpCase:
    shape = list(any_shape(choose, 1, 3))
    axis = None if rarely(choose, 3) else any_axis(choose, len(shape))
    place = (0 if axis is None else axis) % len(shape)
    dtype = any_dtype(choose, ANY)
    if rarely(choose, 2):
        sections = choose.integer(1, 3)
        shape[place] = sections * choose.element((1, 2, 3))
        return case(choose, op, [TensorSpec(tuple(shape), dtype)], ["any"], axis=axis, sections=sections)
    shape[place] = choose.integer(3, 9)
    cuts = sorted({choose.integer(1, shape[place] - 1) for _ in range(choose.integer(1, 3))})
    return case(choose, op, [TensorSpec(tuple(shape), dtype)], ["any"], axis=axis, indices=cuts)


def strided_slice(choose: Chooser, op: str, first: TensorSpec | None = None) -> OpCase:
    spec = first or any_spec(choose, 1)
    axes = any_axes(choose, spec.rank)
    begin, end, strides = [], [], []
    for axis in axes:
        size = spec.shape[axis]
        begin.append(choose.integer(-size - 2, size + 2))
        end.append(choose.integer(-size - 2, size + 2))
        strides.append(choose.element((1, 2, -1, 3, -2)))
    steps = None if all(step == 1 for step in strides) else strides
    return case(choose, op, [spec], ["any"], axes=axes, begin=begin, end=end, strides=steps)


def pad(choose: Chooser, op: str, first: TensorSpec | None = None) -> OpCase:
    spec = first or any_spec(choose, 0, 3)
    widths = [choose.integer(0, 3) for _ in range(2 * spec.rank)]
    numbers: list[object] = [None, 1.5, -0.1] if spec.dtype in FLOATS else [None, 1, 7]
    value = choose.element([None, 1] if spec.dtype == "i1" else numbers)
    return case(choose, op, [spec], ["any"], pad_width=widths, value=value)


def take(choose: Chooser, op: str, first: TensorSpec | None = None) -> OpCase:
    spec = first or any_spec(choose, 1, 3)
    axis = any_axis(choose, spec.rank)
    if spec.shape[axis] == 0:
        shape = tuple(2 if place == axis % spec.rank else extent for place, extent in enumerate(spec.shape))
        spec = TensorSpec(shape, spec.dtype)
    index_dtype = any_dtype(choose, ("i64", "i32", *SIGNED, *UNSIGNED))
    indices = TensorSpec(tuple(min(extent, 3) for extent in any_shape(choose, 0, 2)), index_dtype)
    return case(choose, op, [spec, indices], ["any", f"index:{spec.shape[axis]}"], axis=axis)


def quantised(choose: Chooser, op: str) -> OpCase:
    """Generates `quantize` and `dequantize`, with scales for all elements, along an axis, or for blocks of them."""
    real = any_dtype(choose, ops.FLOATS)
    whole = any_dtype(choose, QUANTISED)
    shape = any_shape(choose)
    scales: tuple[int, ...] = ()
    axis = block_size = None
    if shape and not rarely(choose, 3):
        axis = any_axis(choose, len(shape))
        scales = (shape[axis],)
        if rarely(choose, 3):
            block_size, place = choose.element((1, 2, 3)), axis % len(shape)
            scales = (*shape[:place], -(-shape[place] // block_size), *shape[place + 1 :])
    first = TensorSpec(shape, real if op == "quantize" else whole)
    operands = [first, TensorSpec(scales, real), TensorSpec(scales, whole)]
    return case(choose, op, operands, ["any", "positive", "any"], axis=axis, block_size=block_size)


def requantised(choose: Chooser, op: str) -> OpCase:
    """Generates `requantize` of floats and of sums, with one multiplier or one for each index of an axis."""
    real, whole, shape = any_dtype(choose, ops.FLOATS), any_dtype(choose, QUANTISED), any_shape(choose)
    axis = any_axis(choose, len(shape)) if shape and not rarely(choose, 3) else None
    factors = () if axis is None else (shape[axis],)
    operands = [TensorSpec(shape, choose.element(("i32", real))), TensorSpec(factors, real), TensorSpec((), whole)]
    return case(choose, op, operands, ["any", "moderate", "any"], axis=axis)


def packed_product(choose: Chooser, op: str) -> OpCase:
    """Generates `matmul_packed` with one to three blocks in a row, the last of which may be longer than the row."""
    real, bits, block_size = any_dtype(choose, ops.FLOATS), choose.element((4, 8)), choose.element((2, 4, 16))
    inputs, outputs = choose.element((1, 3, 16, 33)), choose.element((1, 2, 5))
    blocks = -(-inputs // block_size)
    operands = [
        TensorSpec((*any_shape(choose, 0, 2), inputs), real),
        TensorSpec((outputs, blocks * block_size * bits // 8), "ui8"),
        TensorSpec((outputs, blocks), real),
        TensorSpec((outputs, blocks), "ui8"),
    ]
    rounded = 8 if inputs % block_size == 0 and rarely(choose, 3) else None
    flavours = ["moderate", "any", "moderate", "any"]
    return case(choose, op, operands, flavours, bits=bits, block_size=block_size, rounded_bits=rounded)


FAMILIES: Final[dict[str, dict[str, Generator]]] = {
    "unary": dict.fromkeys(ops.UNARY, ops.unary),
    "binary": dict.fromkeys(ops.BINARY, ops.binary),
    "contraction": {"matmul": ops.matmul},
    "convolution": {"conv2d": ops.conv2d},
    "reduction": dict.fromkeys(ops.REDUCTIONS, ops.reduction),
    "movement": {
        "permute_dims": permute_dims,
        "reshape": reshape,
        "expand_dims": expand_dims,
        "squeeze": squeeze,
        "broadcast_to": broadcast_to,
        "concat": concat,
        "split": split,
        "strided_slice": strided_slice,
        "pad": pad,
        "take": take,
        "shape_of": shape_of,
    },
    "indexing": INDEXING,
    "sampling": SAMPLING,
    "normalization": {
        "batch_norm": ops.batch_norm,
        "layer_norm": ops.layer_norm,
        "bias_add": ops.bias_add,
        "instance_norm": ops.instance_norm,
        "group_norm": ops.group_norm,
        "l2_normalize": ops.scaled_by_norm,
        "rms_norm": ops.scaled_by_norm,
        "dropout": ops.dropout,
    },
    "quantisation": {
        "quantize": quantised,
        "dequantize": quantised,
        "requantize": requantised,
        "matmul_packed": packed_product,
    },
    "pooling": {"max_pool2d": ops.pool, "avg_pool2d": ops.pool},
}
"""Every graph op with operands, by family."""


def random_case(choose: Chooser, family: str, op: str | None = None) -> OpCase:
    """A random op of a family (or the given one) with random types and properties."""
    generators = FAMILIES[family]
    name = choose.element(list(generators)) if op is None else op
    return generators[name](choose, name)
