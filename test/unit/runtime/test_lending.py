"""Memory of large results is used again, but never while somebody holds an array in it."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import stepwell

Array = Any
X = np.full((512, 256), 2.0, np.float32)

TWO = """
func.func @main(%x: tensor<512x256xf32>) -> (tensor<512x256xf32>, tensor<512x256xf32>) {
  %y = graph.negative %x : (tensor<512x256xf32>) -> tensor<512x256xf32>
  %z = graph.square %x : (tensor<512x256xf32>) -> tensor<512x256xf32>
  func.return %y, %z : tensor<512x256xf32>, tensor<512x256xf32>
}
"""


@pytest.fixture
def two() -> Any:
    return stepwell.compile(TWO, cache=False)


def place(array: Array) -> int:
    """The address of the memory that a result is in. Where it begins there depends on the operand."""
    return array.base.memory.ctypes.data


def test_memory_is_used_again(two: Any) -> None:
    first = {place(each) for each in two(X)}
    assert {place(each) for each in two(X)} == first
    held = two(X)
    assert {place(each) for each in held} == first
    assert not {place(each) for each in two(X)} & first


@pytest.mark.parametrize(
    "hold",
    [
        lambda y: y,
        lambda y: y[3:5],
        lambda y: y.T.reshape(256, 2, 256)[..., ::7],
        memoryview,
        lambda y: y.view(np.int32),
        lambda y: np.from_dlpack(y),
        lambda y: np.frombuffer(y, np.uint8)[5:],
    ],
)
def test_what_is_held_is_left_alone(two: Any, hold: Any) -> None:
    y, _ = two(X)
    first = place(y)
    kept, before = hold(y), bytes(memoryview(np.ascontiguousarray(hold(y))))
    del y
    for _ in range(4):
        assert first not in {place(each) for each in two(X * 3)}
    assert bytes(memoryview(np.ascontiguousarray(kept))) == before
    del kept
    gc.collect()
    assert first in {place(each) for _ in range(2) for each in two(X)}


def test_results_are_plain_arrays(two: Any) -> None:
    for each in two(X):
        assert type(each) is np.ndarray and each.flags.writeable and each.flags.c_contiguous
        assert each.ctypes.data % 64 == 0


def test_results_become_arguments() -> None:
    """As in a loop that hands caches on: two sets of memory take turns, and no step reads what it writes."""
    program = stepwell.compile(
        "func.func @main(%x: tensor<512x256xf32>) -> tensor<512x256xf32> {\n"
        "  %y = graph.add %x, %x : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>\n"
        "  func.return %y : tensor<512x256xf32>\n}",
        cache=False,
    )
    state, places = np.ones((512, 256), np.float32), set()
    for _ in range(12):
        (state,) = program(state)
        places.add(place(state))
    np.testing.assert_array_equal(state, np.full((512, 256), 4096.0))
    assert len(places) == 2


def test_calls_of_several_threads(two: Any) -> None:
    def work(number: int) -> bool:
        x = np.full((512, 256), number, np.float32)
        kept = [two(x) for _ in range(3)]
        return all((y == -number).all() and (z == number * number).all() for y, z in kept)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(40)))


def test_memory_goes_with_the_program() -> None:
    program = stepwell.compile(TWO, cache=False)
    y, _ = program(X)
    del program
    gc.collect()
    assert (y == -2).all()
