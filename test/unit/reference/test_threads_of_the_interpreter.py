"""Parallel loops as the interpreter runs them: buffers that each iteration has for itself, and races by samples."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.reference import LoopFault
from stepwell.reference.loops.sampled import sampled_race
from stepwell.testing import interpret

ROWS = """
func.func @f(%A: memref<SIZExf32>, %B: memref<SIZExf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant SIZE : index
  %one = arith.constant 1.0 : f32
  %T = memref.alloca() : memref<1xf32>
  scf.for %i = %c0 to %end step %c1 {
    BODY
  } {stepwell.parallel}
  AFTER
  func.return
}
"""
COPY = """%x = memref.load %A[%i] : memref<SIZExf32>
    memref.store %x, %T[%c0] : memref<1xf32>
    %y = memref.load %T[%c0] : memref<1xf32>
    memref.store %y, %B[%i] : memref<SIZExf32>"""
CARRIED = """%first = arith.cmpi eq, %i, %c0 : index
    scf.if %first { memref.store %one, %T[%c0] : memref<1xf32> }
    %y = memref.load %T[%c0] : memref<1xf32>
    memref.store %y, %B[%i] : memref<SIZExf32>"""
NEIGHBOUR = """%next = arith.addi %i, %c1 : index
    %last = arith.minsi %next, %top : index
    %y = memref.load %B[%last] : memref<SIZExf32>
    memref.store %y, %B[%i] : memref<SIZExf32>"""


def rows(body: str, after: str = "", size: int = 4) -> str:
    return ROWS.replace("BODY", body).replace("AFTER", after).replace("SIZE", str(size))


def test_each_iteration_has_the_buffer_on_the_stack_that_only_the_loop_uses() -> None:
    """It stands outside of the loop as `lower-loops-to-scf` leaves it; this was taken for a race once."""
    _, result = interpret(rows(COPY), [np.arange(4, dtype=np.float32), np.zeros(4, np.float32)], "f")
    assert result.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "body, after, kind",
    [
        (CARRIED, "", "unwritten"),
        (COPY, "memref.store %one, %T[%c0] : memref<1xf32>", "race"),
    ],
)
def test_nothing_goes_from_one_iteration_to_the_next(body: str, after: str, kind: str) -> None:
    ones = np.ones(4, np.float32)
    with pytest.raises(LoopFault) as caught:
        interpret(stepwell.parse(rows(body, after), verify=False), [ones, ones], "f")
    assert caught.value.kind == kind


def race(text: str) -> LoopFault | None:
    module = stepwell.parse(text, verify=False)
    return sampled_race(module, next(op for op in module.body.block.ops if "@f(" in str(op)))


def test_a_race_is_found_in_a_loop_that_is_too_long_to_run() -> None:
    text = rows(NEIGHBOUR, size=12_500_000).replace("%one =", "%top = arith.constant 12499999 : index\n  %one =")
    fault = race(text)
    assert fault is not None and fault.kind == "race"
    assert "iterations 0 and 1 of a parallel loop touch element [1] of %B" in str(fault)


@pytest.mark.parametrize("body", [COPY, CARRIED.replace("arith.cmpi eq", "arith.cmpi sge")])
def test_no_race_is_found_in_a_right_loop(body: str) -> None:
    assert race(rows(body, size=1_000_000)) is None
