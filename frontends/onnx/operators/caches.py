"""
Caches of keys and values, into which a step writes those of its tokens.

Where a sample is only the run says, so one program serves a whole generation. Source: GroupQueryAttention in the
operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

import numpy as np

from ....dialects.graph.shapes import Shaped, compatible, text
from ....lazy_dataclass import dataclass
from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..value import Value
from .attention_masks import Bias, Window, bias_of, check_scores
from .indexing import scattered, written


@dataclass(frozen=True)
class Step:
    """The new tokens of a step, and where they are."""

    rows: int
    starts: Value | None
    """The place of the first new token of each sample, `None` for 0."""
    ends: Value
    """The number of tokens of each sample after the step."""
    count: Value | None
    """The number of new tokens of each sample that count, `None` for all."""
    total: int
    """The most tokens of a sample after the step."""


def step_of(
    b: GraphBuilder, k: Value, seqlens: Value, query_seqlens: Value | None, total: int, name: str = "seqlens_k"
) -> Step:
    """Returns where new keys are. `seqlens` are the numbers of keys after the step, less one. Errors have `name`."""
    rows = b.extent(k, 2, "the key")
    if total < rows:
        raise ConversionError(f"total_sequence_length is {total}, expected at least the {rows} of the query")
    for what, numbers in ((name, seqlens), ("query_seqlens", query_seqlens)):
        if numbers is not None and not any(compatible(numbers.shape, (k.shape[0], *(1,) * ones)) for ones in (0, 1)):
            raise ConversionError(f"{what} is {numbers.shaped}, expected a number for each of {k.shape[0]} samples")
    ends = b.add(b.reshape(b.astype(seqlens, dtype="i64"), shape=(-1,)), 1)
    if query_seqlens is not None:
        count = checked(b, b.reshape(query_seqlens, shape=(-1,)), rows)
        return Step(rows, b.subtract(ends, count), ends, count, total)
    return Step(rows, None if total == rows else b.subtract(ends, rows), ends, None, total)


def checked(b: GraphBuilder, numbers: Value, most: int) -> Value:
    """
    Returns whole numbers that are checked at run time to be from 0 to `most`: each is looked up in the list of these.
    As numbers without a sign negative ones are beyond its end, where they would count from there else.
    """
    return b.take(b.constant(np.arange(most + 1, dtype=np.int64)), b.astype(numbers, dtype="ui32"), axis=0)


def check_caches(past_key: Value | None, past_value: Value | None, k: Shaped, v: Shaped) -> None:
    """Raises `ConversionError` unless there are no caches, or two of one length for rows like `k` and `v`."""
    if past_key is None and past_value is None:
        return
    if past_key is None or past_value is None:
        raise ConversionError("past_key and past_value are given one without the other")
    for what, past, new in (("past_key", past_key, k), ("past_value", past_value, v)):
        length = past_key.shape[2] if past_key.rank == 4 else None
        wanted = (*new.shape[:2], length, new.shape[3])
        if not compatible(past.shape, wanted) or past.dtype != new.dtype:
            raise ConversionError(f"{what} is {past.shaped}, expected {text(wanted)} and elements of {new.dtype}")


@dataclass(frozen=True)
class Cache:
    """A cache with a row for each place."""

    step: Step
    starts: Value | None
    """The place of the first new key of each sample, that is checked to be in the cache. `None` for 0."""
    length: int
    """The number of places."""

    def updated(self, b: GraphBuilder, past: Value | None, new: Value) -> tuple[Value, Value]:
        """Returns the cache with the new rows, and the rows of it that are looked at."""
        if past is None or past.shape[2] == 0:
            return new, new
        kept, rows = past.shape[2] or 0, self.step.rows
        if self.starts is None:
            return (new if rows == self.length else b.concat(new, _rows(b, past, rows, kept), axis=2)), new
        if self.length > kept:
            past = b.pad(
                past, pad_width=(0, 0, 0, 0, 0, self.length - kept, 0, 0), value=0.0 if "f" in past.dtype else 0
            )
        found = self._written(b, past, new, b.reshape(self.starts, shape=(-1, 1)))  # pyright: ignore[reportArgumentType]
        return found, found if self.step.total == self.length else _rows(b, found, 0, self.step.total)

    def _written(self, b: GraphBuilder, past: Value, new: Value, starts: Value) -> Value:
        if self.step.count is not None:
            return scattered(b, past, new, b.subtract(_counted(b, self.length), starts), 2, self.step.count)
        return written(b, past, new, b.add(starts, _counted(b, self.step.rows)), 2)

    def bias(self, b: GraphBuilder, q: Value, keys: Value, given: Value | None, causal: bool, window: int) -> Bias:
        """Returns what queries see of the keys that are looked at: with a window the last ones up to their own."""
        if given is not None:
            check_scores("attention_bias", given, q, keys)
        lengths = None if causal else self.step.ends
        shown = Window(q, keys, causal, window - 1 if window > 0 else -1, -1, None, lengths, self.starts)
        return bias_of(b, given, shown, each_sees=True)


def cache_of(b: GraphBuilder, past: Value | None, step: Step) -> Cache:
    """Returns a cache that is as long as the past, or longer where the new keys need it."""
    kept = 0 if past is None else b.extent(past, 2, "past_key")
    length = max(kept, step.total)
    if step.starts is None:
        return Cache(step, None, length)
    if not kept:
        found = f"total_sequence_length is {step.total} and there is no past"
        raise ConversionError(f"{found}, expected {step.rows} as of the query")
    return Cache(step, checked(b, step.starts, length - step.rows), length)


@dataclass(frozen=True)
class WindowCache:
    """
    A cache of `capacity` keys, of which queries see the last `window`.

    Where there would be more keys than room, the first ones go, `gap = capacity - window + 1` at a time. So of `t` keys
    the last `t - gap * ceil((t - capacity) / gap)` are held, from the first row on and in their order, however many
    came in one step.
    """

    step: Step
    starts: Value
    """The number of keys of each sample before the step, as a column."""
    ends: Value
    """The same after the step."""
    capacity: int
    window: int

    def updated(self, b: GraphBuilder, past: Value | None, new: Value) -> tuple[Value, Value]:
        """Returns the cache after the step, and what is looked at: the rows before the step and the new ones."""
        both = b.concat(past, new, axis=2)
        place = b.add(b.subtract(self.ends, self._held(b, self.ends)), _counted(b, self.capacity))
        old = b.subtract(place, b.subtract(self.starts, self._held(b, self.starts)))
        fresh = b.add(b.subtract(place, self.starts), self.capacity)
        source = b.where(b.less(place, self.starts), old, fresh)
        inside = b.clip(source, min=0, max=self.capacity + self.step.rows - 1)  # Rows behind the last key are free.
        rows = b.gather_nd(b.permute_dims(both, axes=(0, 2, 1, 3)), b.expand_dims(inside, axis=(2,)), batch_dims=1)
        return b.permute_dims(rows, axes=(0, 2, 1, 3)), both

    def bias(self, b: GraphBuilder, q: Value, keys: Value, given: Value | None, causal: bool, window: int) -> Bias:
        """Returns what queries see of the keys that are looked at."""
        if given is not None or not causal:
            raise ConversionError("attention_bias is given or causal 0, expected neither with sliding_window_cache")
        held, row = self._held(b, self.starts), _counted(b, self.capacity)
        old = b.where(b.less(row, held), b.add(b.subtract(self.starts, held), row), b.full((), -1, "i64"))
        new = b.add(self.starts, _counted(b, self.step.rows))
        places = b.expand_dims(b.concat(old, new, axis=1), axis=(1, 2))
        queries = b.expand_dims(new, axis=(1, 3))
        near = b.logical_and(b.less_equal(places, queries), b.greater(places, b.subtract(queries, window)))
        return Bias(b.logical_and(near, b.greater_equal(places, 0)), None, None)

    def _held(self, b: GraphBuilder, keys: Value) -> Value:
        """Returns how many of a number of keys are held."""
        gap = self.capacity - self.window + 1
        over = b.maximum(b.subtract(keys, self.capacity), b.full((), 0, "i64"))
        return b.subtract(keys, b.multiply(b.floor_divide(b.add(over, gap - 1), gap), gap))


def window_cache_of(b: GraphBuilder, past: Value | None, step: Step, window: int) -> WindowCache:
    """Returns a cache that is as long as the past."""
    if past is None:
        raise ConversionError("sliding_window_cache is set, expected past_key and past_value")
    capacity = b.extent(past, 2, "past_key")
    if not 0 < window <= capacity:
        raise ConversionError(f"local_window_size is {window}, expected 1 to {capacity} as sliding_window_cache is set")
    ends = b.reshape(step.ends, shape=(-1, 1))
    if step.starts is None:
        starts = b.constant(np.zeros((b.extent(past, 0, "past_key"), 1), np.int64))
    else:
        # Of a number below 0 the least of it and 0 is no index of a list of one.
        at_least = checked(b, b.minimum(step.starts, b.full((), 0, "i64")), 0)
        starts = b.reshape(b.add(step.starts, at_least), shape=(-1, 1))
    return WindowCache(step, starts, ends, capacity, window)


def _rows(b: GraphBuilder, x: Value, begin: int, end: int) -> Value:
    return b.strided_slice(x, axes=(2,), begin=(begin,), end=(end,))


def _counted(b: GraphBuilder, count: int) -> Value:
    return b.constant(np.arange(count, dtype=np.int64).reshape(1, -1))
