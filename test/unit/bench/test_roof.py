"""The loop that reads and writes as much as a case does: it touches every vector once."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench"))

from suite.roof import SIDE_BY_SIDE, aligned, native, stream_text, vector_lanes


@pytest.mark.parametrize(
    "read, written",
    [
        (1, 1),
        (8, 8),
        (24, 8),
        (3, 8),
        (1, 8),
        (11, 8),
        (12, 8),
        (13, 8),
        (784, 8),
        (40, 1),
        (7, 2),
        (8, 2),
        (9, 2),
    ],
)
def test_every_vector_is_read_and_written_once(read: int, written: int):
    lanes = vector_lanes()
    source, target = aligned(read * lanes), aligned((written + 1) * lanes)
    source[:] = np.repeat(2.0 ** np.arange(read).clip(max=20), lanes)
    target[:] = -1
    keep, address = native(stream_text(lanes, read, written), "stream")
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)(source.ctypes.data, target.ctypes.data)
    assert keep is not None
    streams, steps = min(max(read // written, 1), SIDE_BY_SIDE), min(read, written)
    expected = np.zeros(written)
    values = source[::lanes].astype(float)
    expected[:steps] = values[: streams * steps].reshape(streams, steps).sum(0)
    rest = values[streams * steps :]
    if len(rest) >= SIDE_BY_SIDE:  # they end in the first vector
        expected[0] = rest[: len(rest) - len(rest) % SIDE_BY_SIDE].sum()
    np.testing.assert_array_equal(target.reshape(-1, lanes), np.repeat([*expected, -1.0], lanes).reshape(-1, lanes))
