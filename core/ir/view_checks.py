"""
What views of buffers give: xDSL compares their types neither with those of their sources nor with their own numbers.

Every later check of bounds believes these types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr
from xdsl.ir import Attribute

Known = int | None
"""A number, or None for one that the types do not say."""


def _sizes(type_: MemRefType) -> list[Known]:
    return [None if size == DYNAMIC_INDEX else size for size in type_.get_shape()]


def _strides(type_: MemRefType) -> list[Known]:
    """Returns the elements between neighbours along each dimension."""
    sizes = _sizes(type_)
    if isinstance(type_.layout, NoneAttr):
        return [
            None if None in sizes[axis + 1 :] else prod(type_.get_shape()[axis + 1 :]) for axis in range(len(sizes))
        ]
    found = type_.get_strides()
    return [None] * len(sizes) if found is None else list(found)


def _offset(type_: MemRefType) -> Known:
    return type_.get_offset()


def _differ(first: Known, second: Known) -> bool:
    return first is not None and second is not None and first != second


def _any_differs(first: Sequence[Known], second: Sequence[Known]) -> bool:
    return any(_differ(a, b) for a, b in zip(first, second, strict=True))


def _other_elements(source: Attribute, result: Attribute) -> str | None:
    """Says that the element types of two buffers differ. Others than buffers of known rank are not compared."""
    if isinstance(source, MemRefType) and isinstance(result, MemRefType) and source.element_type != result.element_type:
        return f"the result has elements of type {result.element_type}, expected {source.element_type}"
    return None


def _cast(op: Any) -> str | None:
    source, result = op.source.type, op.dest.type
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType):
        return None
    if (wrong := _other_elements(source, result)) is not None:
        return wrong
    same = source.get_num_dims() == result.get_num_dims() and not (
        _any_differs(_sizes(source), _sizes(result))
        or _differ(_offset(source), _offset(result))
        or any(
            size not in (0, 1) and _differ(a, b)
            for size, a, b in zip(_sizes(source), _strides(source), _strides(result), strict=True)
        )
    )
    return None if same else f"the result has type {result}, which a buffer of type {source} cannot have"


def _static(numbers: Any) -> list[Known]:
    return [None if number == DYNAMIC_INDEX else number for number in numbers.iter_values()]


def _subview(op: Any) -> str | None:
    source, result = op.source.type, op.result.type
    if (wrong := _other_elements(source, result)) is not None:
        return wrong
    offsets, sizes, steps = (_static(each) for each in (op.static_offsets, op.static_sizes, op.static_strides))
    if not len(offsets) == len(sizes) == len(steps) == source.get_num_dims():
        found = f"{len(offsets)} offsets, {len(sizes)} sizes and {len(steps)} strides"
        return f"found {found}, expected {source.get_num_dims()} each for a buffer of type {source}"
    strides = [
        None if stride is None or step is None else stride * step
        for stride, step in zip(_strides(source), steps, strict=True)
    ]
    kept = _kept_dimensions(sizes, _sizes(result))
    if kept is None:
        return f"the result has type {result}, expected the sizes {_shown(sizes)}"
    expected = [strides[axis] for axis in kept]
    for size, stride, found in zip(_sizes(result), expected, _strides(result), strict=True):
        if size not in (0, 1) and _differ(stride, found):
            return f"the result has type {result}, expected the strides {_shown(expected)}"
    return None


def _shown(numbers: Sequence[Known]) -> str:
    return f"[{', '.join('?' if number is None else str(number) for number in numbers)}]"


def _kept_dimensions(sizes: Sequence[Known], result: Sequence[Known]) -> list[int] | None:
    """Returns the dimensions of a view that are those of its result, which may leave out some of size 1."""
    kept: list[int] = []
    for axis, size in enumerate(sizes):
        left = len(sizes) - axis - (len(result) - len(kept))
        fits = len(kept) < len(result) and not _differ(size, result[len(kept)])
        if fits and not (size == 1 and left and result[len(kept)] not in (1,)):
            kept.append(axis)
        elif size != 1:
            return None
    return kept if len(kept) == len(result) else None


def _reinterpret_cast(op: Any) -> str | None:
    return _other_elements(op.source.type, op.result.type)


def _reshape(op: Any) -> str | None:
    source, result = op.src.type, op.result.type
    if (wrong := _other_elements(source, result)) is not None:
        return wrong
    if None not in (*_sizes(source), *_sizes(result)) and prod(source.get_shape()) != prod(result.get_shape()):
        return f"the result of type {result} has another number of elements than {source}"
    return None


VIEW_CHECKS: Final[dict[str, Callable[[Any], str | None]]] = {
    "memref.cast": _cast,
    "memref.subview": _subview,
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.collapse_shape": _reshape,
    "memref.expand_shape": _reshape,
}
"""For each op what is wrong with the type of its view, `None` where nothing is."""
