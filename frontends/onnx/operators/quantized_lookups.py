"""
Lookups in quantised tables, the embeddings of language models: operators of the set `com.microsoft`.

Only what is looked up becomes floats. Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ....dialects.graph.shapes import compatible, text
from ....lazy_dataclass import dataclass
from ....te.dtypes import STORED_FLOATS
from ..emitting.forms import counted, reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..emitting.values import Initialiser, KnownValue
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .fused_layers import ones_of
from .packed_bits import unpacked
from .packed_weights import LEAST_BLOCK
from .quantized import COMPUTED, dequantize_linear
from .quantized_fusions import DOMAIN
from .signed_bytes import cast

BYTE_BITS: Final = (2, 4, 8)
"""The bits of numbers that tables of bytes hold."""

INDICES: Final = ("i32", "i64")

TABLES: Final = ("ui8", "ui4", "i4", *STORED_FLOATS)
"""Element types of tables."""


@dataclass(frozen=True)
class Lookup:
    """The axes of a lookup, counted from the front, and what its table holds."""

    gather_axis: int
    quantize_axis: int
    bits: int
    """The bits of the numbers that the bytes of the table hold, 8 for one number in each element."""
    block_size: int
    extent: int
    """The count of numbers along the quantised axis."""
    blocks: int
    default_zero: int

    @property
    def has_whole_blocks(self) -> bool:
        return self.gather_axis != self.quantize_axis and self.blocks > 1 and self.extent % self.block_size == 0

    def axis_of_result(self, indices: Value) -> int:
        """The quantised axis of what is looked up, where the dimensions of the indices stand in place of one."""
        return self.quantize_axis + (indices.rank - 1 if self.quantize_axis > self.gather_axis else 0)


@converter("GatherBlockQuantized", domain=DOMAIN)
def gather_block_quantized(
    b: GraphBuilder,
    data: Value,
    indices: Value,
    scales: Value,
    zero_points: Value | None = None,
    *,
    bits: int = 4,
    block_size: int = 128,
    gather_axis: int = 0,
    quantize_axis: int = 1,
) -> Value:
    """
    Looks up numbers and returns `(q - zero_point) * scale`, with a scale for each block along an axis.

    What an index outside of the table gives is zeros.
    """
    lookup = _lookup_of(data, bits, block_size, gather_axis, quantize_axis)
    _check_scales(data, scales, zero_points, lookup)
    if indices.dtype not in INDICES:
        raise ConversionError(f"indices is {indices.shaped}, expected elements of {' or '.join(INDICES)}")
    places, is_inside = _clamped(b, indices, data.shape[lookup.gather_axis])
    zeros: Value | float = float(lookup.default_zero)
    if zero_points is not None:
        zeros = cast(b, _of_blocks(b, zero_points, places, lookup, lookup.bits), "f32")
    numbers = _numbers(b, data, places, lookup)
    real = _in_blocks(b, numbers, places, lookup)
    if isinstance(zeros, Value) or zeros:
        real = b.subtract(real, zeros)
    found = cast(b, b.multiply(real, cast(b, _of_blocks(b, scales, places, lookup), "f32")), scales.dtype)
    found = reshaped(b, found, extents_of(numbers))
    return found if is_inside is None else _zero_outside(b, found, is_inside, lookup)


def _in_blocks(b: GraphBuilder, numbers: Value, places: Value, lookup: Lookup) -> Value:
    if not lookup.has_whole_blocks:
        return numbers
    axis, extents = lookup.axis_of_result(places), list(extents_of(numbers))
    return reshaped(b, numbers, [*extents[:axis], lookup.blocks, lookup.block_size, *extents[axis + 1 :]])


def _lookup_of(data: Value, bits: int, block_size: int, gather_axis: int, quantize_axis: int) -> Lookup:
    if data.dtype not in TABLES:
        raise ConversionError(f"data is {data.shaped}, expected elements of {', '.join(TABLES)}")
    is_float = data.dtype in STORED_FLOATS
    axes: list[int] = []
    for name, axis in (("gather_axis", gather_axis), ("quantize_axis", quantize_axis)):
        if not -data.rank <= axis < data.rank:
            raise ConversionError(f"{name} is {axis}, expected one of the {data.rank} dimensions of {data.shaped}")
        axes.append(axis % data.rank)
    widths = BYTE_BITS if data.dtype == "ui8" else (4,)
    if bits not in widths and not is_float:
        raise ConversionError(f"bits is {bits}, expected {' or '.join(map(str, widths))} for {data.shaped}")
    stored = bits if data.dtype == "ui8" else 8
    if stored < 8 and (axes[0] == data.rank - 1 or axes[1] != data.rank - 1):
        raise ConversionError(
            f"gather_axis is {gather_axis} and quantize_axis {quantize_axis}, expected the last dimension to be "
            f"quantised, in which bytes hold {8 // bits} numbers each, and another one to be looked up in"
        )
    if (block_size < LEAST_BLOCK or block_size & (block_size - 1)) and not (is_float and block_size == 0):
        raise ConversionError(f"block_size is {block_size}, expected a power of 2 of at least {LEAST_BLOCK}")
    extent = data.shape[axes[1]]
    if extent is None:
        raise ConversionError(f"data is {data.shaped}, expected extent {axes[1]} to be known")
    extent *= 8 // stored
    size = block_size or max(extent, 1)
    default = 2 ** (bits - 1) if data.dtype == "ui8" else 0
    return Lookup(axes[0], axes[1], stored, size, extent, -(-extent // size), default)


def _check_scales(data: Value, scales: Value, zero_points: Value | None, lookup: Lookup) -> None:
    """Raises for scales and zero points whose types are others, or that are not one for each block."""
    if scales.dtype not in COMPUTED:
        raise ConversionError(f"scales is {scales.shaped}, expected elements of {', '.join(COMPUTED)}")
    shape = [lookup.blocks if axis == lookup.quantize_axis else size for axis, size in enumerate(data.shape)]
    is_float = data.dtype in STORED_FLOATS
    fits = scales.rank == data.rank and all(
        None in (found, size) or found == size or (is_float and found == 1 and axis != lookup.quantize_axis)
        for axis, (found, size) in enumerate(zip(scales.shape, shape, strict=True))
    )
    blocks = f"the blocks of {lookup.block_size} of {data.shaped}"
    if not fits:
        raise ConversionError(f"scales is {scales.shaped}, expected {text(tuple(shape))}: {blocks}")
    if zero_points is None:
        return
    if is_float:
        raise ConversionError(f"zero_points is {zero_points.shaped}, expected none for {data.shaped}")
    if zero_points.dtype != data.dtype:
        raise ConversionError(f"zero_points is {zero_points.shaped}, expected elements of {data.dtype} as data has")
    shape[lookup.quantize_axis] = -(-lookup.blocks * lookup.bits // 8)
    if not compatible(zero_points.shape, tuple(shape)):
        raise ConversionError(f"zero_points is {zero_points.shaped}, expected {text(tuple(shape))}: {blocks}")


def _clamped(b: GraphBuilder, indices: Value, extent: int | None) -> tuple[Value, Value | None]:
    """Returns indices that are inside of the table, and which were, `None` where all are known to be."""
    known = indices.known
    if known is not None and extent is not None and ((known >= -extent) & (known < extent)).all():
        return b.constant(np.asarray(np.where(known < 0, known + extent, known))), None
    if extent is None:
        raise ConversionError("the table has an extent that is not known, expected it to be known")
    counted = b.where(b.less(indices, 0), b.add(indices, extent), indices)
    is_inside = b.logical_and(b.greater_equal(counted, 0), b.less(counted, extent))
    return b.clip(counted, min=0, max=extent - 1), is_inside


def _numbers(b: GraphBuilder, data: Value, places: Value, lookup: Lookup) -> Value:
    """Returns the numbers that are looked up in the table, as floats."""
    if lookup.bits < 8:
        return cast(b, unpacked(b, b.take(data, places, axis=lookup.gather_axis), lookup.bits, lookup.extent), "f32")
    packed = _bytes_of_file(data, lookup)
    if packed is None:
        return cast(b, b.take(data, places, axis=lookup.gather_axis), "f32")
    halves = unpacked(b, b.take(packed, places, axis=lookup.gather_axis), 4, data.shape[-1] or 0)
    if data.dtype == "ui4":
        return cast(b, halves, "f32")
    return b.subtract(cast(b, b.bitwise_xor(halves, 8), "f32"), 8.0)  # 8 to 15 stand for -8 to -1


def _bytes_of_file(data: Value, lookup: Lookup) -> Value | None:
    """Returns the bytes of a table of small integers as its file has them: half of what they take in memory else."""
    packed = data.packed if isinstance(data, Initialiser) else None
    if packed is None or lookup.gather_axis == data.rank - 1 or packed.shape[-1] % 2:
        return None
    found = np.frombuffer(packed.data, np.uint8)
    return KnownValue(found.reshape(*packed.shape[:-1], packed.shape[-1] // 2), getattr(data, "key", "constant"))


def _of_blocks(b: GraphBuilder, value: Value, places: Value, lookup: Lookup, bits: int = 8) -> Value:
    """Returns the scale or zero point of each number that is looked up. Those of fewer than 8 bits stand in bytes."""
    if lookup.gather_axis == lookup.quantize_axis:
        return b.take(value, b.floor_divide(places, lookup.block_size), axis=lookup.gather_axis)
    if value.shape[lookup.gather_axis] == 1:
        places = b.multiply(places, 0)  # one scale for all rows
    rows = unpacked(b, b.take(value, places, axis=lookup.gather_axis), bits, lookup.blocks)
    if lookup.blocks == 1:
        return rows
    if lookup.has_whole_blocks:
        return b.expand_dims(rows, axis=(lookup.axis_of_result(places) + 1,))
    blocks = np.arange(lookup.extent, dtype=np.int64) // lookup.block_size
    return b.take(rows, b.constant(blocks), axis=lookup.axis_of_result(places))


def _zero_outside(b: GraphBuilder, found: Value, is_inside: Value, lookup: Lookup) -> Value:
    after = tuple(range(is_inside.rank, found.rank - lookup.gather_axis))
    mask = b.expand_dims(is_inside, axis=after) if after else is_inside
    return b.where(mask, found, b.full((), 0.0, found.dtype))


# The embeddings of a language model of the older kind


QUANTISED_INPUTS: Final = ("word_embedding", "position_embedding", "segment_embedding", "gamma", "beta")
"""The quantised inputs of QEmbedLayerNormalization, each with a scale and a zero point."""


@converter("QEmbedLayerNormalization", domain=DOMAIN)
def quantised_embed_layer_normalization(
    b: GraphBuilder, ids: Value, *inputs: Value | None, epsilon: float = 1e-12
) -> tuple[Value, Value]:
    """
    Adds up embeddings of words, places and, optionally, segments, and normalises the sums.

    The inputs after the words are the segments, the quantised ones, a mask, their scales and their zero points. The
    second result is the number of ones in each row of the mask, or zero without a mask.
    """
    given = _given(inputs)

    def real(name: str, places: Value | None = None) -> Value:
        table = given[name]
        assert table is not None
        found = table if places is None else b.take(table, places, axis=0)
        scale = given[f"{name}_scale"]
        assert scale is not None
        return dequantize_linear(b, found, scale, given[f"{name}_zero_point"])

    places = counted(b, 0, extents_of(ids)[1])
    total = b.add(real("word_embedding", ids), real("position_embedding", places))
    segments, mask = given["segment_ids"], given["mask"]
    if segments is not None:
        total = b.add(total, real("segment_embedding", segments))
    normal = b.layer_norm(total, real("gamma"), real("beta"), axes=(-1,), epsilon=epsilon)
    return normal, ones_of(b, mask, ids)


def _given(inputs: Sequence[Value | None]) -> dict[str, Value | None]:
    """Returns the inputs of QEmbedLayerNormalization after the first one by name. Those of segments go together."""
    names = ["segment_ids", *QUANTISED_INPUTS, "mask"]
    names += [f"{name}_{what}" for what in ("scale", "zero_point") for name in QUANTISED_INPUTS]
    given = dict.fromkeys(names) | dict(zip(names, inputs, strict=False))
    left_out = [name for name, value in given.items() if value is None and name != "mask"]
    segments = [name for name in names if name.startswith("segment")]
    if left_out and left_out != segments:
        raise ConversionError(f"{left_out[0]} is missing, expected all inputs but the mask and those of segments")
    if len(inputs) > len(names):
        raise ConversionError(f"the node has {len(inputs) + 1} inputs, expected at most {len(names) + 1}")
    return given
