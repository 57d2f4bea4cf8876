"""
Fourier transforms, as products with matrices of cosines and sines.

A transform of length N is a sum over N numbers for each of N frequencies. For the lengths of audio and vision models, a
few hundred, that is as fast as it needs to be and has the rounding of a product. Source: Oppenheim and Schafer,
Discrete-Time Signal Processing, chapter 8.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of, product
from ..errors import ConversionError
from ..registry import Known, converter
from ..value import Value

LARGEST_MATRIX: Final = 1 << 25
"""Most elements of a matrix of a transform."""


@converter("DFT", since=20)
def dft(
    b: GraphBuilder,
    x: Value,
    length: Known | None = None,
    axis: Known | None = None,
    *,
    inverse: int = 0,
    onesided: int = 0,
) -> Value:
    """
    `X[k] = sum over n of x[n] * e^(-2 pi i k n / N)`, or its inverse, which has the other sign and a factor 1 / N.
    """
    return _transform(b, x, _number(length), -2 if axis is None else _whole(axis), bool(inverse), bool(onesided))


@converter("DFT", since=17)
def dft_by_attribute(
    b: GraphBuilder, x: Value, length: Known | None = None, *, axis: int = 1, inverse: int = 0, onesided: int = 0
) -> Value:
    return _transform(b, x, _number(length), axis, bool(inverse), bool(onesided))


def _number(array: Any) -> int | None:
    return None if array is None else _whole(array)


def _whole(array: Any) -> int:
    return int(array.reshape(()))


def _transform(b: GraphBuilder, x: Value, length: int | None, axis: int, inverse: bool, onesided: bool) -> Value:
    if not -x.rank <= axis < x.rank or axis % x.rank == x.rank - 1:
        raise ConversionError(f"axis is {axis}, expected a dimension of the signal {x.shaped}")
    axis %= x.rank
    extent, parts = x.shape[axis], x.shape[-1]
    if extent is None or parts not in (1, 2):
        raise ConversionError(f"the signal is {x.shaped}, expected a known extent, and one or two parts")
    if onesided and parts != (2 if inverse else 1):
        kind = "complex" if inverse else "real"
        raise ConversionError(f"onesided is set and the signal is {x.shaped}, expected a {kind} one")
    if length is None:
        length = 2 * (extent - 1) if inverse and onesided else extent
    if length < 1:
        raise ConversionError(f"dft_length is {length}, expected at least 1")
    taken = length // 2 + 1 if inverse and onesided else length
    matrix = _matrix(length, taken, parts, inverse, onesided)[: min(taken, extent)]
    if extent > taken:
        x = b.strided_slice(x, axes=(axis,), begin=(0,), end=(taken,))
    order = (*(each for each in range(x.rank - 1) if each != axis), axis, x.rank - 1)
    result = _product(b, b.permute_dims(x, axes=order), matrix)
    back = (*range(axis), x.rank - 2, *range(axis, x.rank - 2), x.rank - 1)
    return b.permute_dims(result, axes=back)


def _matrix(length: int, taken: int, parts: int, inverse: bool, onesided: bool) -> np.ndarray[Any, Any]:
    """
    What each part of each of `taken` numbers adds to each part of each result: taken x parts x results x (1 or 2), in
    f64.

    Of a one-sided spectrum only the half is given, so that what lies between its ends counts twice.
    """
    given = length // 2 + 1 if onesided and not inverse else length
    if taken * parts * given * 2 > LARGEST_MATRIX:
        raise ConversionError(f"the transform has the length {length}, which makes too large a matrix")
    turns = np.outer(np.arange(taken, dtype=np.int64), np.arange(given, dtype=np.int64)) % length
    angles = turns * (2 * np.pi / length)
    cosines, sines = np.cos(angles), np.sin(angles) * (1 if inverse else -1)
    if inverse and onesided:
        twice = np.full((taken, 1), 2.0)
        twice[0] = 1
        if length % 2 == 0:
            twice[-1] = 1
        return np.stack([cosines * twice, -sines * twice], axis=1)[..., None] / length
    real = np.stack([cosines, sines], axis=-1)
    imaginary = np.stack([-sines, cosines], axis=-1)
    matrix = np.stack([real, imaginary][:parts], axis=1)
    return matrix / length if inverse else matrix


def _product(b: GraphBuilder, x: Value, matrix: np.ndarray[Any, Any]) -> Value:
    """`…` x numbers x parts by a matrix: `…` x results x parts."""
    taken, parts, *results = matrix.shape
    outer = extents_of(x)[:-2]
    wide = np.float64 if x.dtype == "f64" else np.float32
    flat = b.constant(matrix.reshape(taken * parts, prod(results)).astype(wide))
    rows = reshaped(b, x, (product(outer), taken * parts))
    rows = rows if rows.dtype == flat.dtype else b.astype(rows, dtype=flat.dtype)
    found = reshaped(b, b.matmul(rows, flat), (*outer, *results))
    return found if found.dtype == x.dtype else b.astype(found, dtype=x.dtype)


@converter("STFT", since=17)
def stft(
    b: GraphBuilder,
    x: Value,
    step: Known,
    window: Value | None = None,
    frame_length: Known | None = None,
    *,
    onesided: int = 1,
) -> Value:
    """The transforms of frames of the signal, each `step` after the one before, multiplied by `window`."""
    if x.rank != 3:
        raise ConversionError(f"the signal is {x.shaped}, expected batch x length x parts")
    extent, parts = x.shape[1:]
    if extent is None or parts not in (1, 2):
        raise ConversionError(f"the signal is {x.shaped}, expected a known length, and one or two parts")
    length = _number(frame_length)
    if length is None:
        length = extent if window is None else b.size(window, "the window")
    hop = _whole(step)
    if not 1 <= length <= extent or hop < 1:
        raise ConversionError(f"frames of {length} every {hop} do not fit into the signal {x.shaped}")
    if window is not None and window.shape != (length,):
        raise ConversionError(f"the window is {window.shaped}, expected {length} elements")
    if onesided and parts != 1:
        raise ConversionError(f"onesided is set and the signal is {x.shaped}, expected a real one")
    matrix = _matrix(length, length, parts, False, bool(onesided))
    starts = np.arange(0, extent - length + 1, hop, dtype=np.int64)
    frames = b.take(x, b.constant(starts[:, None] + np.arange(length)), axis=1)
    if window is not None and window.known is not None:
        matrix = matrix * window.known.astype(np.float64)[:, None, None, None]
    elif window is not None:
        frames = b.multiply(frames, b.reshape(window, shape=(length, 1)))
    return _product(b, frames, matrix)
