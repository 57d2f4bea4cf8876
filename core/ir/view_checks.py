"""
What views of buffers give: xDSL compares their types neither with those of their sources nor with their own numbers.

Every later check of bounds believes these types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr, UnrealizedConversionCastOp
from xdsl.ir import Operation

from .literals import constant_of

Number = int | None
"""A size, stride or offset. None is one that is not known."""

Layout = tuple[tuple[int, ...], tuple[Number, ...], Number]
"""The shape, the strides and the offset of a buffer."""


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


def _strides_differ(shape: Sequence[int], found: Sequence[Number], expected: Sequence[Number]) -> Iterator[str]:
    """Tells that strides are not those that follow. A dimension of one element has no stride that matters."""
    matter = [extent not in (0, 1) for extent in shape]
    known = [number if matters else None for number, matters in zip(found, matter, strict=True)]
    yield from _differ("strides", known, expected)


def _other(first: Number, second: Number) -> bool:
    return first is not None and second is not None and first != second


def _shown(numbers: Sequence[Number]) -> str:
    return ", ".join("?" if each is None else str(each) for each in numbers)


def _open(shape: Sequence[int]) -> list[Number]:
    return [None if extent == DYNAMIC_INDEX else extent for extent in shape]


def _counts(op: Any, rank: int, offsets: int) -> Iterator[str]:
    """Tells that there are not as many numbers as dimensions."""
    for name, count in (("offsets", offsets), ("sizes", rank), ("strides", rank)):
        found = len(getattr(op, f"static_{name}"))
        if found != count:
            yield f"the op has {found} {name}, expected {count}"


def _subview(op: Any) -> Iterator[str]:
    rank = op.source.type.get_num_dims()
    yield from _counts(op, rank, rank)
    yield from _elements(op)
    _, source_strides, source_offset = _layout(op.source.type)
    shape, strides, offset = _layout(op.result.type)
    sizes, steps, offsets = (_numbers(each) for each in (op.static_sizes, op.static_strides, op.static_offsets))
    expected = [_product(a, b) for a, b in zip(source_strides, steps, strict=True)]
    moved: Number = source_offset
    for place, stride in zip(offsets, source_strides, strict=True):
        term = _product(place, stride)
        moved = None if moved is None or term is None else moved + term
    kept = _kept_dimensions(sizes, _open(shape))
    if kept is None:
        left_out = ", of which those that are 1 may be left out" if 1 in sizes else ""
        yield f"the result has sizes {_shown(_open(shape))}, expected {_shown(sizes)}{left_out}"
        return
    yield from _differ("sizes", _open(shape), [sizes[dimension] for dimension in kept])
    yield from _strides_differ(shape, strides, [expected[dimension] for dimension in kept])
    yield from _differ("offset", [offset], [moved])


def _product(first: Number, second: Number) -> Number:
    return None if first is None or second is None else first * second


def _kept_dimensions(sizes: Sequence[Number], result: Sequence[Number]) -> list[int] | None:
    """Returns the dimensions of a view that are those of its result, which may leave out some of size 1."""
    kept: list[int] = []
    for axis, size in enumerate(sizes):
        left = len(sizes) - axis - (len(result) - len(kept))
        fits = len(kept) < len(result) and not _other(size, result[len(kept)])
        if fits and not (size == 1 and left and result[len(kept)] not in (1,)):
            kept.append(axis)
        elif size != 1:
            return None
    return kept if len(kept) == len(result) else None


def _reinterpret_cast(op: Any) -> Iterator[str]:
    yield from _counts(op, len(op.static_sizes), 1)
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
    yield from _strides_differ(result[0], result[1], strides)
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


def _conversion(op: UnrealizedConversionCastOp) -> Iterator[str]:
    for result in op.results:
        if isinstance(result.type, MemRefType):
            yield f"nothing is known of the buffer that {result.type} is made of"


def _check(faults: Callable[[Any], Iterator[str]]) -> Callable[[Any], str | None]:
    return lambda op: next(faults(op), None)


def _dim(op: Any) -> str | None:
    """The size of a dimension that there is not would be read from nowhere."""
    found, kind = constant_of(op.index), op.source.type
    if found is None or not isinstance(kind, MemRefType) or 0 <= found < len(kind.get_shape()):
        return None
    return f"there is no dimension {found} of {kind}"


VIEW_CHECKS: Final[dict[str, Callable[[Any], str | None]]] = {
    "memref.subview": _check(_subview),
    "memref.reinterpret_cast": _check(_reinterpret_cast),
    "memref.cast": _check(_cast),
    "memref.memory_space_cast": _check(_cast),
    "memref.collapse_shape": _check(_reshape),
    "memref.expand_shape": _check(_reshape),
    "builtin.unrealized_conversion_cast": _check(_conversion),
    "memref.dim": _dim,
}
"""The checks by name of the op. Each returns what is wrong with the type of a view, or `None`."""
