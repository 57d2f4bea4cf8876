"""A model as the server uses it: what it takes, whether requests may share a call, and calls for several requests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from engines import Array, Engine, Tensor

Key = tuple[tuple[int, ...], ...]
"""The shapes of a request's inputs without their rows. Requests with one key can share a call."""


class BadInput(ValueError):
    """Raised for arrays that the model does not take. The message says what was found and what was expected."""


class Model:
    """
    An engine, and the numbers of rows to call it with.

    Where requests are gathered, row i of each output belongs to row i of each input. Rows are added until their number
    is one of `sizes`, so that few programs are compiled, and all of them before the first request.
    """

    def __init__(self, engine: Engine, max_rows: int, gather: str, max_keys: int):
        self.engine = engine
        self.inputs, self.outputs = engine.inputs, engine.outputs
        self.max_keys = max_keys
        self.keys: dict[Key, bool] = {}
        """The shapes met by now, and whether a call with them has worked."""
        self.sizes = _batch_sizes([*self.inputs, *self.outputs], max_rows) if gather != "never" else ()
        engine.keep(max(len(self.sizes), 1) * max_keys)
        if self.sizes and gather == "auto" and not self._rows_are_independent():
            self.sizes = ()

    @property
    def gathers(self) -> bool:
        """True where requests share calls."""
        return bool(self.sizes)

    @property
    def max_rows(self) -> int:
        """The most rows of a call."""
        return self.sizes[-1] if self.sizes else 1

    def warm_up(self) -> None:
        """Calls the model with each number of rows, which compiles all programs. Open sizes wait for a request."""
        sizes = self.sizes or (None,)
        if all(_only_rows_open(each, bool(self.sizes)) for each in self.inputs):
            for size in sizes:
                self.engine.run(self._sample(size))
            self.keys[self.key(self._sample(sizes[-1]))] = True

    def check(self, arrays: Sequence[Array]) -> int:
        """Returns the number of rows. Raises BadInput for arrays that the model does not take."""
        for array, each in zip(arrays, self.inputs, strict=True):
            if array.dtype != each.dtype:
                raise BadInput(f"input '{each.name}' has element type {array.dtype}, expected {each}")
            if not _fits(array.shape, each, self.gathers):
                raise BadInput(f"input '{each.name}' has shape {_shown((array.shape,))}, expected {each}")
        rows = self._rows(arrays) if self.gathers else 1
        key = self.key(arrays)
        if key not in self.keys:
            if len(self.keys) >= self.max_keys:
                known = "; ".join(sorted(map(_shown, self.keys)))
                raise BadInput(f"shapes {_shown(key)} are new, and at most {self.max_keys} are compiled for: {known}")
            self.keys[key] = False
        return rows

    def key(self, arrays: Sequence[Array]) -> Key:
        """Returns the shapes, without rows where requests are gathered."""
        return tuple(array.shape[1:] if self.gathers else array.shape for array in arrays)

    def worked(self, key: Key, well: bool) -> None:
        """Notes how a call ended. Shapes that never worked make room for others."""
        if well:
            self.keys[key] = True
        elif not self.keys.get(key, True):
            del self.keys[key]

    def run(self, requests: Sequence[Sequence[Array]]) -> list[Sequence[Array]]:
        """Returns the outputs of each request, from one call. Raises the errors of the engine."""
        if not self.gathers:
            return [self.engine.run(arrays) for arrays in requests]
        counts = [len(arrays[0]) for arrays in requests]
        total = sum(counts)
        size = next(size for size in self.sizes if size >= total)
        joined = [_joined(arrays, size - total) for arrays in zip(*requests, strict=True)]
        results = self.engine.run(joined)
        if any(len(each) != size for each in results):
            raise RuntimeError(f"outputs do not have the {size} rows of the inputs: use --gather never")
        ends = np.cumsum(counts)
        return [[each[end - n : end] for each in results] for n, end in zip(counts, ends, strict=True)]

    def _rows(self, arrays: Sequence[Array]) -> int:
        rows = len(arrays[0])
        for array, each in zip(arrays, self.inputs, strict=True):
            if len(array) != rows:
                first = self.inputs[0].name
                raise BadInput(f"input '{each.name}' has {len(array)} rows, expected {rows} as '{first}' has")
        if not 1 <= rows <= self.max_rows:
            raise BadInput(f"there are {rows} rows, expected 1 to {self.max_rows}")
        return rows

    def _sample(self, rows: int | None, seed: int = 0) -> list[Array]:
        """Returns random inputs. Whole numbers are 0 or 1, since these are often indices."""
        random = np.random.default_rng(seed)
        found = []
        for each in self.inputs:
            shape = [rows if n == 0 and rows else size or 1 for n, size in enumerate(each.shape or ())]
            whole = each.dtype.kind in "biu"
            values = random.integers(0, 2, shape) if whole else random.standard_normal(shape)
            found.append(np.asarray(values).astype(each.dtype))
        return found

    def _rows_are_independent(self) -> bool:
        """Returns whether the first row of each output stays the same when the other rows of the inputs change."""
        rows = self.sizes[-1]
        if rows == 1:
            return True
        first, second = self._sample(rows, 1), self._sample(rows, 2)
        for a, b in zip(first, second, strict=True):
            b[0] = a[0]
        try:
            before, after = self.engine.run(first), self.engine.run(second)
        except Exception:  # Random arrays are not what every model takes.
            return False
        pairs = [(np.asarray(x, np.float64), np.asarray(y, np.float64)) for x, y in zip(before, after, strict=True)]
        return all(len(x) == rows and np.allclose(x[0], y[0], 1e-3, 1e-5, True) for x, y in pairs)


def _batch_sizes(tensors: Sequence[Tensor], max_rows: int) -> tuple[int, ...]:
    """Returns the numbers of rows to call a model with. There are none where the first size is not that of a batch."""
    if any(not each.shape for each in tensors):
        return ()
    first = {each.shape[0] for each in tensors if each.shape}
    if first == {None}:
        powers = [1 << n for n in range(max_rows.bit_length())]
        return tuple(sorted({*powers, max_rows}))
    (size,) = first if len(first) == 1 else (None,)
    return () if size is None else (size,)


def _fits(shape: tuple[int, ...], each: Tensor, gathers: bool) -> bool:
    """Returns whether an array of this shape can be an input, or rows of one."""
    if each.shape is None:
        return True
    if len(shape) != len(each.shape):
        return False
    pairs = [*zip(shape, each.shape, strict=True)][1 if gathers else 0 :]
    return all(want is None or want == found for found, want in pairs)


def _only_rows_open(each: Tensor, gathers: bool) -> bool:
    return each.shape is not None and None not in each.shape[1 if gathers else 0 :]


def _shown(key: Key) -> str:
    return ", ".join("x".join(map(str, shape)) or "()" for shape in key)


def _joined(arrays: Sequence[Array], missing: int) -> Array:
    """Returns the rows of all arrays. The last row stands for missing ones: what it may hold, others may hold too."""
    last = arrays[-1][-1:]
    return arrays[0] if len(arrays) == 1 and not missing else np.concatenate([*arrays, *[last] * missing])
