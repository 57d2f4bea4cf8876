"""The ops of `tile`: tiles are arrays of rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from ...dialects.tile import MmaOp, PrefetchOp
from ...dialects.tile.mma import AMX_ROWS, group_of
from ...dialects.tile.places import Place
from ..arith import dtype_of, unsigned
from ..element_types import Array, is_float, round_to, widen
from .accesses import check_lanes, load_lanes, store_lanes
from .state import Frame, Prepare, Scope, Step
from .vectors import axis, reduced, shape_of

# Memory


def _lanes(place: Place, indices: list[int], shape: tuple[int, ...]) -> list[Array]:
    """Returns the index of each element of a tile, one array per dimension of the buffer."""
    lanes = [np.full(shape, int(index), np.int64) for index in indices]
    for position, (dimension, step) in enumerate(zip(place.along, place.by, strict=True)):
        if dimension >= 0:
            lanes[dimension] = lanes[dimension] + axis(shape, position, step)
    return lanes


def _load(scope: Scope, op: Any) -> Step:
    place, shape = op.place, shape_of(op.result.type)
    buffer, indices, result = scope.slot(op.buffer), scope.slots_of(op.indices), scope.slot(op.result)
    rows, columns = shape
    read = (rows, -(-columns // op.repeats))

    def step(frame: Frame) -> None:
        lanes = _lanes(place, [frame[slot] for slot in indices], read)
        found = np.broadcast_to(_loaded(scope, op, place.buffer, frame[buffer], lanes), read)
        frame[result] = np.repeat(found, op.repeats, axis=1)[:, :columns]

    return step


def _loaded(scope: Scope, op: Any, value: SSAValue, buffer: Any, lanes: list[Array]) -> Array:
    return np.asarray(load_lanes(scope.machine, op, value, buffer, lanes))


def _store(scope: Scope, op: Any) -> Step:
    place, shape = op.place, shape_of(op.tile.type)
    tile, buffer, indices = scope.slot(op.tile), scope.slot(op.buffer), scope.slots_of(op.indices)

    def step(frame: Frame) -> None:
        lanes = _lanes(place, [frame[slot] for slot in indices], shape)
        store_lanes(scope.machine, op, op.buffer, frame[buffer], lanes, np.broadcast_to(frame[tile], shape))

    return step


def _prefetch(scope: Scope, op: Any) -> Step:
    """Prepares a prefetch, which only has to name a place in the buffer."""
    assert isinstance(op, PrefetchOp)
    buffer, indices = scope.slot(op.buffer), scope.slots_of(op.indices)

    def step(frame: Frame) -> None:
        if op.second is None:
            check_lanes(op, op.buffer, frame[buffer], [np.asarray(frame[slot]) for slot in indices])

    return step


# Products


class _Product:
    """A `tile.mma` that is ready to run."""

    def __init__(self, scope: Scope, op: MmaOp):
        self.op, self.scope = op, scope
        self.acc, self.result = scope.slot(op.acc), scope.slot(op.result)
        self.a, self.a_indices = scope.slot(op.a), scope.slots_of(op.a_indices)
        self.b, self.b_indices = scope.slot(op.b), scope.slots_of(op.b_indices)
        self.rows, self.columns = shape_of(op.acc.type)
        self.depth = int(op.depth.value.data)
        self.group = 1 if op.groups is None else group_of(op.a_place.type.element_type)
        self.products = op.products
        self.dtype = dtype_of(op.acc.type)

    def step(self, frame: Frame) -> None:
        op, rows = self.op, self.op.row_range
        left = self._left(frame, len(rows))
        right = self._right(frame)
        if is_float(self.dtype):
            left, right = left.astype(self.dtype), right.astype(self.dtype)
        else:
            left, right = _widened(left, op.unsigned is not None), _widened(right, op.right_unsigned is not None)
            left, right = left.astype(self.dtype), right.astype(self.dtype)
        total = np.array(np.broadcast_to(frame[self.acc], (self.rows, self.columns)))
        part = total[rows.start : rows.stop]
        for depth in range(self.depth * self.products):
            part = _added(self.dtype, part, left[:, depth : depth + 1], right[depth : depth + 1])
        total[rows.start : rows.stop] = part
        frame[self.result] = total

    def _left(self, frame: Frame, rows: int) -> Array:
        """Returns A, of `rows` rows and a column per step of the sum and element of a group."""
        indices = [frame[slot] for slot in self.a_indices]
        shape = (rows, self.depth * self.products)
        if self.op.uses_amx:
            whole = (-(-rows // AMX_ROWS) * AMX_ROWS, shape[1])
            check_lanes(self.op, self.op.a, frame[self.a], _lanes(self.op.a_place, indices, whole))
        return _loaded(self.scope, self.op, self.op.a, frame[self.a], _lanes(self.op.a_place, indices, shape))

    def _right(self, frame: Frame) -> Array:
        """Returns B, of a row per step of the sum and element of a group, and a column per column of the tile."""
        indices = [frame[slot] for slot in self.b_indices]
        op, columns = self.op, self.columns
        if op.uses_amx:
            whole = -(-columns // AMX_ROWS) * AMX_ROWS
            check_lanes(op, op.b, frame[self.b], self._groups(_lanes(op.b_place, indices, (self.depth, whole))))
        lanes = _lanes(op.b_place, indices, (self.depth, columns))
        if op.groups is None:
            return _loaded(self.scope, op, op.b, frame[self.b], lanes)
        found = _loaded(self.scope, op, op.b, frame[self.b], self._groups(lanes))
        if op.nibbles is not None:
            bytes_ = unsigned(found)
            found = np.concatenate([bytes_ & 15, bytes_ >> 4], axis=-1)
            return found.transpose(0, 2, 1).reshape(self.depth * self.products, columns)
        return found.transpose(0, 2, 1).reshape(self.depth * self.group, columns)

    def _groups(self, lanes: list[Array]) -> list[Array]:
        """Returns the indices of all elements of the groups that begin at `lanes`, in one more dimension."""
        if self.op.groups is None:
            return lanes
        spread = [np.repeat(each[..., np.newaxis], self.group, axis=-1) for each in lanes]
        spread[-1] = spread[-1] + np.arange(self.group)
        return spread


def _added(dtype: np.dtype[Any], total: Array, left: Array, right: Array) -> Array:
    """Returns `total + left * right`. Floats up to f32 are rounded once."""
    if is_float(dtype):
        return round_to(widen(total) + widen(left) * widen(right), dtype)
    return total + left * right


def _widened(array: Array, is_unsigned: bool) -> Array:
    return unsigned(array) if is_unsigned else array


def _mma(scope: Scope, op: Any) -> Step:
    assert isinstance(op, MmaOp)
    return _Product(scope, op).step


# Computation


def _multiply_add(scope: Scope, op: Any) -> Step:
    a, b, acc = scope.slots_of(op.operands)
    result, dtype = scope.slot(op.result), dtype_of(op.result.type.element_type)

    def step(frame: Frame) -> None:
        frame[result] = _added(dtype, *(np.asarray(frame[slot]) for slot in (acc, a, b)))

    return step


def _map(scope: Scope, op: Any) -> Step:
    """Prepares a map: the ops of its body work on all elements at once."""
    tiles, result, shape = scope.slots_of(op.tiles), scope.slot(op.result), shape_of(op.result.type)
    body = scope.region(op.body)

    def step(frame: Frame) -> None:
        (found,) = body(frame, [np.asarray(frame[slot]) for slot in tiles])
        frame[result] = np.broadcast_to(found, shape)

    return step


def _reduce(scope: Scope, op: Any) -> Step:
    """Prepares a reduction. Sums are made in a wider type and rounded once, since their order is open."""
    tile, result, kind = scope.slot(op.tile), scope.slot(op.result), op.kind.data

    def step(frame: Frame) -> None:
        values = np.asarray(frame[tile])
        if kind == "addf":
            frame[result] = round_to(np.sum(widen(values)), values.dtype)[()]
        elif kind == "addi":
            frame[result] = np.sum(values, dtype=values.dtype)
        else:
            frame[result] = reduced(kind, values)

    return step


def _transpose(scope: Scope, op: Any) -> Step:
    tile, result = scope.slot(op.tile), scope.slot(op.result)

    def step(frame: Frame) -> None:
        frame[result] = np.asarray(frame[tile]).T

    return step


def _scale(scope: Scope, op: Any) -> Step:
    """Prepares `number * 2^floor(exponent)`, rounded once. No f32 tells powers beyond 2^600 from infinite ones."""
    number, exponent, result = scope.slot(op.number), scope.slot(op.exponent), scope.slot(op.result)

    def step(frame: Frame) -> None:
        power = np.floor(np.asarray(frame[exponent], np.float64))
        factor = np.where(power > 600, np.inf, np.where(power < -600, 0.0, np.exp2(np.clip(power, -600, 600))))
        factor = np.where(np.isnan(power), np.nan, factor)
        frame[result] = (np.asarray(frame[number], np.float64) * factor).astype(np.float32)

    return step


def _limit(scope: Scope, op: Any) -> Step:
    number, bound, result = scope.slot(op.number), scope.slot(op.bound), scope.slot(op.result)

    def step(frame: Frame) -> None:
        value, most = np.asarray(frame[number]), np.asarray(frame[bound])
        kept = (np.abs(value) <= np.abs(most)) | np.isnan(most)
        frame[result] = np.where(kept, value, np.copysign(most, value)).astype(np.float32)

    return step


def _lookup(scope: Scope, op: Any) -> Step:
    index, result = scope.slot(op.index), scope.slot(op.result)
    table = np.asarray(op.table.get_values(), np.float32)

    def step(frame: Frame) -> None:
        frame[result] = table[np.asarray(frame[index]) % len(table)]

    return step


TABLE: dict[str, Prepare] = {
    "tile.load": _load,
    "tile.store": _store,
    "tile.prefetch": _prefetch,
    "tile.mma": _mma,
    "tile.multiply_add": _multiply_add,
    "tile.map": _map,
    "tile.reduce": _reduce,
    "tile.transpose": _transpose,
    "tile.scale": _scale,
    "tile.limit": _limit,
    "tile.lookup": _lookup,
}
