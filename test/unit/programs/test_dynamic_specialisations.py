"""The programs that an executable with `?` keeps: bounded, counted, reported."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
import stepwell
from stepwell.runtime.errors import ArgumentError

PROGRAM = """
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = graph.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %0 : tensor<?x3xf32>
}
"""


def called(exe: stepwell.Executable, *rows: int) -> None:
    for count in rows:
        x = np.linspace(-1, 1, 3 * count, dtype=np.float32).reshape(count, 3)
        np.testing.assert_array_equal(exe(x)[0], np.maximum(x, 0))


def kept(exe: stepwell.Executable) -> list[tuple[int, int]]:
    """Rows and calls of what is kept, in the order of the last use."""
    return [(each.shapes[0][0], each.calls) for each in exe.specialisations]


def test_the_one_unused_for_longest_goes_first() -> None:
    exe = stepwell.compile(PROGRAM)
    exe.specialisations.limit = 2
    called(exe, 1, 2, 1, 1, 3)
    assert kept(exe) == [(1, 2), (3, 0)]
    assert (len(exe.specialisations), exe.specialisations.given_up) == (2, 1)
    called(exe, 2)
    assert kept(exe) == [(3, 0), (2, 0)]
    assert exe.specialisations.given_up == 2


def test_a_smaller_limit_drops_at_once() -> None:
    exe = stepwell.compile(PROGRAM)
    called(exe, 1, 2, 3)
    exe.specialisations.limit = 1
    assert kept(exe) == [(3, 0)]
    with pytest.raises(ArgumentError, match="the limit of specialisations is 0, expected at least 1"):
        exe.specialisations.limit = 0


def test_the_report_says_shapes_calls_and_seconds() -> None:
    exe = stepwell.compile(PROGRAM)
    called(exe, 4, 4)
    (row,) = exe.specialisations
    assert row.shapes == ((4, 3),) and row.calls == 1 and row.seconds > 0
    first, line = str(exe.specialisations).splitlines()
    assert first == "1 of at most 32 specialisations, 0 given up"
    assert line == f"  4x3: ready after {row.seconds:.3f} s, found by 1 calls"


def test_a_static_program_has_none() -> None:
    exe = stepwell.compile(PROGRAM.replace("?", "2"))
    called(exe, 2)
    assert len(exe.specialisations) == 0


def test_calls_that_fail_keep_nothing() -> None:
    exe = stepwell.compile(PROGRAM)
    with pytest.raises(ArgumentError):
        exe(np.zeros((2, 4), np.float32))
    assert len(exe.specialisations) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_child_calls_what_another_thread_held_when_it_was_forked() -> None:
    exe = stepwell.compile(PROGRAM)
    called(exe, 1)
    with exe.specialisations._lock, exe._compile_lock:  # pyright: ignore[reportPrivateUsage]
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            try:
                called(exe, 1, 2)
            finally:
                os._exit(0 if len(exe.specialisations) == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
