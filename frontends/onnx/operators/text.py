"""Operators on texts as sequences of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emitting.forms import filled
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..registry import converter
from ..value import Value

Array = np.ndarray[Any, Any]


@converter("TfIdfVectorizer", since=9)
def tf_idf_vectorizer(
    b: GraphBuilder,
    x: Value,
    *,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: str,
    ngram_counts: tuple[int, ...],
    ngram_indexes: tuple[int, ...],
    pool_int64s: tuple[int, ...] | None = None,
    pool_strings: list[str] | None = None,
    weights: tuple[float, ...] | None = None,
) -> Value:
    """
    Counts each n-gram of the pool in each row, its elements at one distance of each other, up to `max_skip_count`
    apart.

    `weights` are those of the coordinates of the result, as evaluators take them.
    """
    if pool_int64s is None or pool_strings is not None:
        raise ConversionError("the pool holds strings, expected pool_int64s")
    if mode not in ("TF", "IDF", "TFIDF"):
        raise ConversionError(f"mode is '{mode}', expected TF, IDF or TFIDF")
    rows = b.reshape(x, shape=(1, -1)) if x.rank == 1 else x
    length = b.extent(rows, 1, "the input")
    rows = rows if rows.dtype == "i64" else b.astype(rows, dtype="i64")
    size = max(ngram_indexes) + 1
    grams = _grams(pool_int64s, ngram_counts, ngram_indexes)
    total: Value | None = None
    for coordinates, pool in grams:
        width = pool.shape[1]
        if not min_gram_length <= width <= max_gram_length or not len(pool):
            continue
        goes_to = np.zeros((len(pool), size), np.float32)
        goes_to[np.arange(len(pool)), coordinates] = 1
        for distance in range(1, 2 if width == 1 else max_skip_count + 2):
            if length > distance * (width - 1):
                counts = b.matmul(_counts(b, rows, pool, distance, length), b.constant(goes_to))
                total = counts if total is None else b.add(total, counts)
    if total is None:
        total = filled(b, [extents_of(rows)[0], size], 0.0, "f32")
    result = _weighted(b, total, mode, weights)
    return b.reshape(result, shape=(size,)) if x.rank == 1 else result


def _grams(pool: tuple[int, ...], starts: tuple[int, ...], indexes: tuple[int, ...]) -> list[tuple[Array, Array]]:
    """Coordinates and elements of the 1-grams, 2-grams, …: `starts` says where each group begins in the pool."""
    found: list[tuple[Array, Array]] = []
    number = 0
    for width, (start, end) in enumerate(zip(starts, (*starts[1:], len(pool)), strict=True), 1):
        group = np.array(pool[start:end], np.int64)
        if len(group) % width or number + len(group) // width > len(indexes):
            raise ConversionError(f"ngram_counts is {list(starts)}, which does not fit a pool of {len(pool)}")
        count = len(group) // width
        found.append((np.array(indexes[number : number + count], np.int64), group.reshape(count, width)))
        number += count
    return found


def _counts(b: GraphBuilder, rows: Value, pool: Array, distance: int, length: int) -> Value:
    """Counts each n-gram with this distance between its elements, as f32 (row, n-gram)."""
    places = length - distance * (pool.shape[1] - 1)
    found: Value | None = None
    for number in range(pool.shape[1]):
        begin = number * distance
        part = b.strided_slice(rows, axes=(1,), begin=(begin,), end=(begin + places,))
        same = b.equal(b.expand_dims(part, axis=(2,)), b.constant(pool[:, number].copy()))
        found = same if found is None else b.logical_and(found, same)
    return b.sum(b.astype(found, dtype="f32"), axis=(1,))


def _weighted(b: GraphBuilder, counts: Value, mode: str, weights: tuple[float, ...] | None) -> Value:
    if mode == "IDF":
        counts = b.minimum(counts, 1.0)
    if mode == "TF" or weights is None:
        return counts
    if len(weights) != counts.shape[1]:
        raise ConversionError(f"weights has {len(weights)} entries, expected {counts.shape[1]}")
    return b.multiply(counts, b.constant(np.array(weights, np.float32)))
