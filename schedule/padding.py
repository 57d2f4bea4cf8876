"""Padding made explicit: a copy of a buffer with its padding around it."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir.affine import AffineExpr

from ..dialects.tensor_loop import AllocOp
from .contraction import Contraction, Operand, index_ranges
from .loop_builder import Bound, NestBuilder


def padded_copy(builder: NestBuilder, c: Contraction) -> Operand:
    """A copy of `a` with its padding around it; the operand that reads the copy."""
    a, shape = c.a, c.a.type.get_shape()
    assert a.padding is not None
    ranges = list(index_ranges(a, c.block))
    lows = [min(low, 0) for low, *_ in ranges]
    sizes = [max(high + 1, size) - low for low, (_, high, _, size) in zip(lows, ranges, strict=True)]
    copy = builder.add(AllocOp(MemRefType(a.type.element_type, sizes))).results[0]
    copy.name_hint = "padded"
    names = [f"d{number}" for number in range(len(sizes))]

    def axes(extents: list[int], variables: list[AffineExpr]) -> list[Bound]:
        return [
            Bound("spatial", variable, extent, f"v{name}")
            for variable, extent, name in zip(variables, extents, names, strict=True)
        ]

    with (
        builder.nest(sizes, names, "vectorized") as variables,
        builder.blocked("fill", axes(sizes, variables)) as values,
    ):
        places = [builder.value(value) for value in values]
        builder.add(memref.StoreOp.get(builder.constant(a.padding), copy, places))
    with (
        builder.nest(shape, names, "vectorized") as variables,
        builder.blocked("copy", axes(list(shape), variables)) as values,
    ):
        loaded = builder.add(memref.LoadOp.get(a.buffer, [builder.value(v) for v in values])).res
        places = [builder.value(builder.sum(value, -low)) for value, low in zip(values, lows, strict=True)]
        builder.add(memref.StoreOp.get(loaded, copy, places))
    return Operand(copy, tuple(index - low for index, low in zip(a.indices, lows, strict=True)))
