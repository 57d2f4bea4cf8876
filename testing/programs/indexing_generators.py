"""One random instance of an op that reads or writes at indices, or sorts."""

from __future__ import annotations

from typing import Final

from .ir_generators import Chooser, OpCase, TensorSpec, rarely
from .op_generators import ANY, NUMBERS, SIGNED, UNSIGNED, Generator, any_axis, any_dtype, any_shape, case

REDUCTIONS: Final = (None, "add", "multiply", "maximum", "minimum")


def _operand(choose: Chooser) -> TensorSpec:
    return TensorSpec(any_shape(choose, 1, 3, empty=False), any_dtype(choose, ANY))


def _index_dtype(choose: Chooser) -> str:
    return any_dtype(choose, ("i64", "i32", *SIGNED, *UNSIGNED))


def _reduction(choose: Chooser, dtype: str) -> str | None:
    return None if dtype == "i1" else choose.element(REDUCTIONS)


def _elements(choose: Chooser) -> tuple[TensorSpec, TensorSpec, int]:
    """An operand, indices into one of its dimensions, and that dimension."""
    spec = _operand(choose)
    axis = any_axis(choose, spec.rank)
    extents = [choose.integer(1, extent) for extent in spec.shape]
    extents[axis] = choose.integer(0 if rarely(choose) else 1, 4)
    return spec, TensorSpec(tuple(extents), _index_dtype(choose)), axis


def take_along_axis(choose: Chooser, op: str) -> OpCase:
    spec, indices, axis = _elements(choose)
    return case(choose, op, [spec, indices], ["any", f"index:{spec.shape[axis]}"], axis=axis)


def scatter_elements(choose: Chooser, op: str) -> OpCase:
    spec, indices, axis = _elements(choose)
    updates = TensorSpec(indices.shape, spec.dtype)
    flavours = ["small", f"index:{spec.shape[axis]}", "small"]
    reduction = _reduction(choose, spec.dtype)
    return case(choose, op, [spec, indices, updates], flavours, axis=axis, reduction=reduction)


def gather_nd(choose: Chooser, op: str) -> OpCase:
    spec = _operand(choose)
    batch = choose.integer(0, min(spec.rank - 1, 1))
    width = choose.integer(1, spec.rank - batch)
    places = any_shape(choose, 0, 2)
    indices = TensorSpec((*spec.shape[:batch], *places, width), _index_dtype(choose))
    least = min(spec.shape[batch : batch + width])
    return case(choose, op, [spec, indices], ["any", f"index:{least}"], batch_dims=batch or None)


def scatter_nd(choose: Chooser, op: str) -> OpCase:
    spec = _operand(choose)
    width = choose.integer(1, spec.rank)
    places = tuple(min(extent, 4) for extent in any_shape(choose, 0, 2))
    indices = TensorSpec((*places, width), _index_dtype(choose))
    updates = TensorSpec((*places, *spec.shape[width:]), spec.dtype)
    flavours = ["small", f"index:{min(spec.shape[:width])}", "small"]
    return case(choose, op, [spec, indices, updates], flavours, reduction=_reduction(choose, spec.dtype))


def top_k(choose: Chooser, op: str) -> OpCase:
    spec = TensorSpec(any_shape(choose, 1, 3), any_dtype(choose, NUMBERS))
    axis = None if rarely(choose, 3) else any_axis(choose, spec.rank)
    extent = spec.shape[-1 if axis is None else axis]
    k = choose.integer(0 if rarely(choose) else min(1, extent), extent)
    flavour = choose.element(("any", "small"))
    largest = None if rarely(choose, 2) else rarely(choose, 2)
    return case(choose, op, [spec], [flavour], k=k, axis=axis, largest=largest)


def scan(choose: Chooser, op: str) -> OpCase:
    spec = TensorSpec(any_shape(choose, 1, 3), any_dtype(choose, NUMBERS))
    exclusive, reverse = (None if rarely(choose, 2) else rarely(choose, 2) for _ in range(2))
    axis = any_axis(choose, spec.rank)
    return case(choose, op, [spec], ["small"], axis=axis, exclusive=exclusive, reverse=reverse)


INDEXING: Final[dict[str, Generator]] = {
    "take_along_axis": take_along_axis,
    "gather_nd": gather_nd,
    "scatter_elements": scatter_elements,
    "scatter_nd": scatter_nd,
    "top_k": top_k,
    "cumulative_sum": scan,
    "cumulative_prod": scan,
}
