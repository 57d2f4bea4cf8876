"""The ops of `vector`: loads and stores of lanes, masks, and computation on lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from ..arith import dtype_of, unsigned
from ..element_types import Array
from ..elementwise import maximum_of, minimum_of
from ..math_functions import MEANINGS
from .accesses import load_lanes, store_lanes
from .faults import fault
from .state import Frame, Prepare, Scope, Step
from .storage import Buffer


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """Returns the sizes of a vector type."""
    assert isinstance(type_, VectorType)
    return tuple(type_.get_shape())


def axis(shape: Sequence[int], dimension: int, step: int = 1) -> Array:
    """Returns `0, step, 2 * step, …` along one dimension of an array of `shape`. The other dimensions have size 1."""
    sizes = [1] * len(shape)
    sizes[dimension] = shape[dimension]
    return (np.arange(shape[dimension], dtype=np.int64) * step).reshape(sizes)


def lanes_of(indices: Sequence[Any], shape: Sequence[int], along: Sequence[int | None]) -> list[Array]:
    """
    Returns the index of each lane, one array per dimension of the buffer. All have the shape of the vector.

    `along[v]` is the dimension of the buffer in which dimension `v` of the vector moves, None where it does not.
    """
    lanes = [np.full(tuple(shape), int(index), np.int64) for index in indices]
    for position, dimension in enumerate(along):
        if dimension is not None:
            lanes[dimension] = lanes[dimension] + axis(shape, position)
    return lanes


class _Place:
    """The operands of an access of lanes: the buffer, its indices, and the dimensions in which the lanes move."""

    def __init__(self, scope: Scope, op: Any, value: SSAValue, shape: tuple[int, ...]):
        self.op, self.value, self.shape, self.machine = op, value, shape, scope.machine
        self._buffer, self._indices = scope.slot(value), scope.slots_of(op.indices)
        rank = len(self._indices)
        self.along: list[int | None] = list(range(rank - len(shape), rank))
        self.mask = scope.slot(op.mask) if getattr(op, "mask", None) is not None else None

    def read(self, frame: Frame) -> tuple[Buffer, list[Array], Array | None]:
        """Returns the buffer, the indices of the lanes, and which lanes are accessed (None for all)."""
        lanes = lanes_of([frame[slot] for slot in self._indices], self.shape, self.along)
        return frame[self._buffer], lanes, None if self.mask is None else np.asarray(frame[self.mask])


def _load(scope: Scope, op: Any) -> Step:
    place, result = _Place(scope, op, op.base, shape_of(op.result.type)), scope.slot(op.result)
    other = scope.slot(op.pass_thru) if op.name == "vector.maskedload" else None

    def step(frame: Frame) -> None:
        buffer, lanes, active = place.read(frame)
        loaded = load_lanes(scope.machine, op, op.base, buffer, lanes, active)
        frame[result] = loaded if active is None or other is None else np.where(active, loaded, frame[other])

    return step


def _store(scope: Scope, op: Any) -> Step:
    value = op.value_to_store if op.name == "vector.maskedstore" else op.vector
    place, number = _Place(scope, op, op.base, shape_of(value.type)), scope.slot(value)

    def step(frame: Frame) -> None:
        buffer, lanes, active = place.read(frame)
        store_lanes(scope.machine, op, op.base, buffer, lanes, np.asarray(frame[number]), active)

    return step


class _Transfer(_Place):
    """The operands of a transfer, whose lanes outside of the buffer are left out where it says so."""

    def __init__(self, scope: Scope, op: Any, shape: tuple[int, ...]):
        super().__init__(scope, op, op.source, shape)
        self.along = [_dimension(op, expr) for expr in op.permutation_map.data.results]
        self._in_bounds = [bool(each.value.data) for each in op.in_bounds.data]

    def read(self, frame: Frame) -> tuple[Buffer, list[Array], Array | None]:
        buffer, lanes, active = super().read(frame)
        for dimension, in_bounds in zip(self.along, self._in_bounds, strict=True):
            if not in_bounds and dimension is not None:
                inside = (lanes[dimension] >= 0) & (lanes[dimension] < buffer.sizes[dimension])
                active = inside if active is None else active & inside
        return buffer, lanes, active


def _dimension(op: Operation, expr: Any) -> int | None:
    if isinstance(expr, AffineDimExpr):
        return expr.position
    if isinstance(expr, AffineConstantExpr) and expr.value == 0:
        return None
    raise fault("unknown", op, f"a permutation map with {expr} is not interpreted")


def _transfer_read(scope: Scope, op: Any) -> Step:
    place, result = _Transfer(scope, op, shape_of(op.result.type)), scope.slot(op.result)
    padding = scope.slot(op.padding)

    def step(frame: Frame) -> None:
        buffer, lanes, active = place.read(frame)
        loaded = load_lanes(scope.machine, op, op.source, buffer, lanes, active)
        frame[result] = loaded if active is None else np.where(active, loaded, frame[padding]).astype(loaded.dtype)

    return step


def _transfer_write(scope: Scope, op: Any) -> Step:
    place, number = _Transfer(scope, op, shape_of(op.vector.type)), scope.slot(op.vector)

    def step(frame: Frame) -> None:
        buffer, lanes, active = place.read(frame)
        store_lanes(scope.machine, op, op.source, buffer, lanes, np.asarray(frame[number]), active)

    return step


# Computation


def _broadcast(scope: Scope, op: Any) -> Step:
    source, result, shape = scope.slot(op.source), scope.slot(op.vector), shape_of(op.vector.type)

    def step(frame: Frame) -> None:
        frame[result] = np.broadcast_to(frame[source], shape).copy()

    return step


def _fma(scope: Scope, op: Any) -> Step:
    operands, result = scope.slots_of(op.operands), scope.slot(op.results[0])

    def step(frame: Frame) -> None:
        frame[result] = MEANINGS["math.fma"](*[frame[slot] for slot in operands])[0]

    return step


def _create_mask(scope: Scope, op: Any) -> Step:
    counts, result, shape = scope.slots_of(op.mask_dim_sizes), scope.slot(op.mask_vector), shape_of(op.mask_vector.type)

    def step(frame: Frame) -> None:
        mask = np.ones(shape, np.bool_)
        for dimension, slot in enumerate(counts):
            mask &= axis(shape, dimension) < frame[slot]
        frame[result] = mask

    return step


def _position(scope: Scope, op: Any) -> Callable[[Frame], tuple[int, ...]]:
    static, dynamic = tuple(op.static_position.get_values()), scope.slots_of(op.dynamic_position)
    shape = shape_of(op.vector.type if op.name == "vector.extract" else op.dest.type)

    def position(frame: Frame) -> tuple[int, ...]:
        rest = iter(dynamic)
        found = tuple(int(frame[next(rest)]) if each == DYNAMIC_INDEX else int(each) for each in static)
        for index, size in zip(found, shape, strict=False):
            if not 0 <= index < size:
                raise fault("bounds", op, f"lane {index} of a vector of {size}")
        return found

    return position


def _extract(scope: Scope, op: Any) -> Step:
    vector, result, position = scope.slot(op.vector), scope.slot(op.result), _position(scope, op)

    def step(frame: Frame) -> None:
        frame[result] = np.asarray(frame[vector])[position(frame)]

    return step


def _insert(scope: Scope, op: Any) -> Step:
    source, vector, result = scope.slot(op.source), scope.slot(op.dest), scope.slot(op.result)
    position = _position(scope, op)

    def step(frame: Frame) -> None:
        changed = np.array(frame[vector])
        changed[position(frame)] = frame[source]
        frame[result] = changed

    return step


def _shuffle(scope: Scope, op: Any) -> Step:
    one, other, result = scope.slot(op.v1), scope.slot(op.v2), scope.slot(op.result)
    picked = [int(each) for each in op.mask.get_values()]

    def step(frame: Frame) -> None:
        frame[result] = np.concatenate([np.atleast_1d(frame[one]), np.atleast_1d(frame[other])])[picked]

    return step


def _bitcast(scope: Scope, op: Any) -> Step:
    source, result = scope.slot(op.operands[0]), scope.slot(op.results[0])
    dtype, shape = dtype_of(op.results[0].type), shape_of(op.results[0].type)

    def step(frame: Frame) -> None:
        frame[result] = np.ascontiguousarray(frame[source]).view(dtype).reshape(shape)

    return step


def _on_unsigned(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda x, y: np.asarray(function(unsigned(np.asarray(x)), unsigned(np.asarray(y))))[()].view(x.dtype)


def _prefers_numbers(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda x, y: y if np.isnan(x) else x if np.isnan(y) else function(x, y)[()]


COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minui": _on_unsigned(np.minimum),
    "maxui": _on_unsigned(np.maximum),
    "minimumf": lambda x, y: minimum_of(x, y)[()],
    "maximumf": lambda x, y: maximum_of(x, y)[()],
    "minnumf": _prefers_numbers(minimum_of),
    "maxnumf": _prefers_numbers(maximum_of),
}
"""The functions by which a reduction of each kind combines two lanes."""


def reduced(kind: str, values: Array, start: Any = None) -> Any:
    """Returns all elements of an array combined, one after the other. An array without elements needs a start."""
    combine = COMBINE[kind]
    flat = values.reshape(-1)
    result, rest = (flat[0], flat[1:]) if start is None else (start, flat)
    for each in rest:
        result = combine(result, each)
    return result


def _reduction(scope: Scope, op: Any) -> Step:
    vector, result = scope.slot(op.vector), scope.slot(op.dest)
    start, kind = None if op.acc is None else scope.slot(op.acc), str(op.kind.data)

    def step(frame: Frame) -> None:
        frame[result] = reduced(kind, np.asarray(frame[vector]), None if start is None else frame[start])

    return step


TABLE: dict[str, Prepare] = {
    "vector.load": _load,
    "vector.store": _store,
    "vector.maskedload": _load,
    "vector.maskedstore": _store,
    "vector.transfer_read": _transfer_read,
    "vector.transfer_write": _transfer_write,
    "vector.broadcast": _broadcast,
    "vector.fma": _fma,
    "vector.create_mask": _create_mask,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.shuffle": _shuffle,
    "vector.bitcast": _bitcast,
    "vector.reduction": _reduction,
}
