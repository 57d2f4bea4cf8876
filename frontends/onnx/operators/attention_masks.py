"""What attention may see: masks, windows along the places of queries and keys, and lengths of samples."""

from __future__ import annotations

from math import inf

import numpy as np

from ....lazy_dataclass import dataclass
from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..value import Value


@dataclass
class Window:
    """The keys that a query may see by their places. A query `i` is at the place `i + offset`."""

    q: Value
    k: Value
    causal: bool
    left: int
    right: int
    past: Value | None
    """Keys before the first of the queries, where no lengths are given."""
    lengths: Value | None
    """Number of keys in each sample."""
    starts: Value | None = None
    """The place of the first query of each sample, where neither `past` nor `lengths` say it."""

    @property
    def limits(self) -> bool:
        return self.causal or self.left >= 0 or self.right >= 0

    @property
    def most(self) -> int | None:
        """The distance that a query sees after its own place."""
        if self.causal:
            return 0
        return self.right if self.right >= 0 else None


@dataclass
class Bias:
    """What is added to the scores: `mask` where `allowed`, else -inf."""

    allowed: Value | None
    mask: Value | None
    empty: Value | None
    """The rows that see nothing, `None` where there are none."""

    def added_to(self, b: GraphBuilder, scores: Value) -> Value:
        if self.mask is not None:
            scores = b.add(scores, self.mask)
        if self.allowed is None:
            return scores
        return b.where(self.allowed, scores, b.full((), -inf, scores.dtype))


def check_scores(what: str, given: Value, q: Value, k: Value) -> None:
    """Raises `ConversionError` unless there is a number of `given` for each score of queries and keys, or repeated."""
    wanted = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    fits = given.rank == 4 and all(
        None in (found, extent) or found == extent or (found == 1 and axis < 3)
        for axis, (found, extent) in enumerate(zip(given.shape, wanted, strict=True))
    )
    if not fits:
        shape = "x".join("?" if extent is None else str(extent) for extent in wanted)
        raise ConversionError(f"{what} is {given.shaped}, expected {shape} as the scores, or 1 before the last extent")


def bias_of(b: GraphBuilder, mask: Value | None, window: Window, *, each_sees: bool = False) -> Bias:
    """The bias of a mask and a window. With `each_sees` the caller knows that each query sees a key."""
    allowed = _seen(b, window)
    added: Value | None = None
    if mask is not None:
        mask = _as_wide(b, mask, window.k)
        if mask.dtype == "i1":
            allowed.append(mask)
        else:
            added = mask if mask.dtype == window.q.dtype else b.astype(mask, dtype=window.q.dtype)
    together = allowed[0] if allowed else None
    for each in allowed[1:]:
        together = b.logical_and(together, each)
    if each_sees or (mask is None and (together is None or _always_sees(window))):
        return Bias(together, added, None)
    return Bias(together, added, _empty_rows(b, together, added))


def _as_wide(b: GraphBuilder, mask: Value, k: Value) -> Value:
    """
    Widens a mask to all keys. One for fewer keys forbids the last ones, and before version 24 one key stands for all.
    """
    if not mask.rank:
        raise ConversionError(f"attn_mask is {mask.shaped}, expected at least rank 1")
    last = mask.shape[-1]
    if last is None or last == k.shape[2] or (last == 1 and b.version < 24):
        return mask
    missing = b.extent(k, 2, "K") - last
    if missing < 0:
        raise ConversionError(f"attn_mask is {mask.shaped}, expected at most {k.shape[2]} keys")
    widths = (*(0, 0) * (mask.rank - 1), 0, missing)
    return b.pad(mask, pad_width=widths, value=0 if mask.dtype == "i1" else -inf)


def _seen(b: GraphBuilder, window: Window) -> list[Value]:
    """Conditions on the places of queries and keys."""
    if not window.limits and window.lengths is None:
        return []
    keys = _counted(b, window.k)
    found: list[Value] = []
    if window.limits:
        places = _places(b, window)
        if window.most is not None:
            found.append(b.less_equal(keys, _moved(b, places, window.most)))
        if window.left >= 0:
            found.append(b.greater_equal(keys, _moved(b, places, -window.left)))
    if window.lengths is not None:
        found.append(b.less(keys, _lengths(b, window.lengths)))
    return found


def _counted(b: GraphBuilder, x: Value) -> Value:
    """0, 1, … for the elements of a sequence of batch x heads x sequence x size."""
    extent = x.shape[2]
    if extent is not None:
        return b.constant(np.arange(extent, dtype=np.int32))
    zero, one = (b.full((), number, "i64") for number in (0, 1))
    return b.astype(b.arange(zero, _length(b, x, "i64"), one), dtype="i32")


def _length(b: GraphBuilder, x: Value, dtype: str) -> Value:
    """The extent of a sequence that is not known, as a scalar."""
    extent = b.squeeze(b.strided_slice(b.shape_of(x), axes=(0,), begin=(2,), end=(3,)), axis=(0,))
    return extent if dtype == extent.dtype else b.astype(extent, dtype=dtype)


def _places(b: GraphBuilder, window: Window) -> Value:
    """The places of the queries, as a column."""
    column = _counted(b, window.q)
    known = column.known
    column = b.expand_dims(column, axis=(1,)) if known is None else b.constant(known[:, None])
    if window.starts is not None:
        return b.add(_lengths(b, window.starts), column)
    if window.lengths is not None:
        rows = window.q.shape[2]
        before = _length(b, window.q, "i32") if rows is None else rows
        return b.subtract(b.add(_lengths(b, window.lengths), column), before)
    if window.past is None:
        return column
    extent = window.past.shape[2]
    return b.add(column, _length(b, window.past, "i32")) if extent is None else _moved(b, column, extent)


def _lengths(b: GraphBuilder, lengths: Value) -> Value:
    return b.astype(b.reshape(lengths, shape=(-1, 1, 1, 1)), dtype="i32")


def _moved(b: GraphBuilder, places: Value, by: int) -> Value:
    """Places some further."""
    by = max(min(by, 1 << 30), -(1 << 30))
    if not by:
        return places
    known = places.known
    return b.add(places, by) if known is None else b.constant(known + np.int32(by))


def _empty_rows(b: GraphBuilder, allowed: Value | None, added: Value | None) -> Value | None:
    """Returns as a column which rows of the bias are -inf throughout, `None` where that is never so."""
    if added is not None:
        if allowed is not None:
            added = b.where(allowed, added, b.full((), -inf, added.dtype))
        return b.equal(b.max(added, axis=-1, keepdims=True), -inf)
    return None if allowed is None else b.logical_not(b.any(allowed, axis=-1, keepdims=True))


def _always_sees(window: Window) -> bool:
    """Returns whether each query is known to see a key by its place."""
    if window.lengths is not None:
        return False
    if window.left < 0:
        return True
    past = 0 if window.past is None else window.past.shape[2]
    rows, keys = window.q.shape[2], window.k.shape[2]
    return None not in (past, rows, keys) and (past or 0) + (rows or 0) - window.left <= (keys or 0)
