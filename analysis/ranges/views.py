"""What is plainly wrong with views of buffers: result types that say more than the source holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr, UnrealizedConversionCastOp
from xdsl.ir import Operation

from ...core.ir.symbols import lookup_symbol

Number = int | None
"""A size, stride or offset. None is one that is not known."""

Layout = tuple[tuple[int, ...], tuple[Number, ...], Number]
"""The shape, the strides and the offset of a buffer."""

HINT: Final = "the type of a view follows from its source"


def view_fault(op: Operation) -> str | None:
    """Returns what is wrong with the result type of a view, or None for any other op, and where nothing is."""
    check = _CHECKS.get(op.__class__)
    return None if check is None else next(check(op), None)


def _layout(kind: MemRefType) -> Layout:
    shape = kind.get_shape()
    if isinstance(kind.layout, StridedLayoutAttr):
        return shape, tuple(kind.layout.get_strides()), kind.layout.get_offset()
    strides: list[Number] = []
    step: Number = 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step = None if step is None or extent == DYNAMIC_INDEX else step * extent
    return shape, tuple(strides), 0


def _numbers(static: Any) -> list[Number]:
    return [None if each == DYNAMIC_INDEX else int(each) for each in static.iter_values()]


def _elements(op: Operation) -> Iterator[str]:
    source, result = op.operands[0].type, op.results[0].type
    assert isinstance(source, MemRefType) and isinstance(result, MemRefType)
    if source.element_type != result.element_type:
        yield f"the result has elements of {result.element_type}, expected {source.element_type} as in the source"


def _differ(what: str, found: Sequence[Number], expected: Sequence[Number]) -> Iterator[str]:
    """Tells that numbers are not those that follow. What is open in either is not compared."""
    pairs = zip(found, expected, strict=True)
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        shown = ["?" if each is None else str(each) for each in expected]
        yield f"the result has {what} {_shown(found)}, expected {', '.join(shown)}"


def _shown(numbers: Sequence[Number]) -> str:
    return ", ".join("?" if each is None else str(each) for each in numbers)


def _open(shape: Sequence[int]) -> list[Number]:
    return [None if extent == DYNAMIC_INDEX else extent for extent in shape]


def _subview(op: Any) -> Iterator[str]:
    yield from _elements(op)
    _, source_strides, source_offset = _layout(op.source.type)
    shape, strides, offset = _layout(op.result.type)
    sizes, steps, offsets = (_numbers(each) for each in (op.static_sizes, op.static_strides, op.static_offsets))
    expected = [_product(a, b) for a, b in zip(source_strides, steps, strict=True)]
    moved: Number = source_offset
    for place, stride in zip(offsets, source_strides, strict=True):
        term = _product(place, stride)
        moved = None if moved is None or term is None else moved + term
    kept = _kept(sizes, len(shape))
    if kept is None:
        yield f"the result has {len(shape)} dimensions, expected the sizes {_shown(sizes)} without some that are 1"
        return
    yield from _differ("sizes", _open(shape), [sizes[dimension] for dimension in kept])
    yield from _differ("strides", strides, [expected[dimension] for dimension in kept])
    yield from _differ("offset", [offset], [moved])


def _product(first: Number, second: Number) -> Number:
    return None if first is None or second is None else first * second


def _kept(sizes: Sequence[Number], rank: int) -> list[int] | None:
    """Returns the dimensions that a result of `rank` dimensions keeps: as many sizes of 1 go as are too many."""
    excess = len(sizes) - rank
    kept: list[int] = []
    for dimension, size in enumerate(sizes):
        if excess > 0 and size == 1:
            excess -= 1
        else:
            kept.append(dimension)
    return kept if excess == 0 else None


def _reinterpret_cast(op: Any) -> Iterator[str]:
    yield from _elements(op)
    shape, strides, offset = _layout(op.result.type)
    yield from _differ("sizes", _open(shape), _numbers(op.static_sizes))
    yield from _differ("strides", strides, _numbers(op.static_strides))
    yield from _differ("offset", [offset], _numbers(op.static_offsets))


def _cast(op: Any) -> Iterator[str]:
    yield from _elements(op)
    (shape, strides, offset), result = _layout(op.operands[0].type), _layout(op.results[0].type)
    if len(shape) != len(result[0]):
        yield f"the result has {len(result[0])} dimensions, expected {len(shape)} as in the source"
        return
    yield from _differ("sizes", _open(result[0]), _open(shape))
    yield from _differ("strides", result[1], strides)
    yield from _differ("offset", [result[2]], [offset])


def _reshape(op: Operation) -> Iterator[str]:
    yield from _elements(op)
    source, result = _layout(op.operands[0].type), _layout(op.results[0].type)  # pyright: ignore[reportArgumentType]
    for what, (shape, strides, _) in (("source", source), ("result", result)):
        step: Number = 1
        for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
            if extent != 1 and None not in (stride, step) and stride != step:
                yield f"the rows of the {what} do not follow each other, so that it cannot be reshaped"
                return
            step = None if step is None or extent == DYNAMIC_INDEX else step * extent
    counts = [_count(source[0]), _count(result[0])]
    if None not in counts and counts[0] != counts[1]:
        yield f"the result has {counts[1]} elements, expected {counts[0]} as in the source"


def _count(shape: Sequence[int]) -> Number:
    total = 1
    for extent in shape:
        if extent == DYNAMIC_INDEX:
            return None
        total *= extent
    return total


def _global(op: memref.GetGlobalOp) -> Iterator[str]:
    name = op.name_.string_value()
    found = lookup_symbol(op, name)
    if not isinstance(found, memref.GlobalOp):
        yield f"@{name} is not a memref.global of this module"
    elif found.type != op.memref.type:
        yield f"@{name} is of type {found.type}, but the result of type {op.memref.type}"


def _conversion(op: UnrealizedConversionCastOp) -> Iterator[str]:
    for result in op.results:
        if isinstance(result.type, MemRefType):
            yield f"nothing is known of the buffer that {result.type} is made of"


_CHECKS: Final[dict[type[Operation], Callable[[Any], Iterator[str]]]] = {
    memref.SubviewOp: _subview,
    memref.ReinterpretCastOp: _reinterpret_cast,
    memref.CastOp: _cast,
    memref.MemorySpaceCastOp: _cast,
    memref.CollapseShapeOp: _reshape,
    memref.ExpandShapeOp: _reshape,
    memref.GetGlobalOp: _global,
    UnrealizedConversionCastOp: _conversion,
}
