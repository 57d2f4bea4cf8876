"""
Random loop functions, right and wrong on purpose, by the interpreter and natively on guarded memory.

`make test-hostile` runs many more. test/support/hostile_runs.py says what must become of each.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hostile_runs
import numpy as np
import pytest
from counts import FULL
from hostile_loops import HostileProgram

SUPPORT = Path(__file__).parents[2] / "support"
COUNT = 2000 if FULL else 60
PARTS = 20 if FULL else 2

WRONG_AT_LEAST = 0.25


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("part", range(PARTS))
def test_programs_end_as_they_must(part: int) -> None:
    count = COUNT // PARTS
    command = [sys.executable, str(SUPPORT / "hostile_runs.py"), str(part * count), str(count)]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout, "no program was judged"


def test_a_quarter_of_the_programs_is_wrong_and_every_template_is_both() -> None:
    programs = [hostile_runs.program_of(seed) for seed in range(COUNT)]
    rest = [hostile_runs.program_of(seed) for seed in range(COUNT, 2000)]
    wrong = [program for program in programs if program.why]
    assert len(wrong) >= WRONG_AT_LEAST * COUNT
    for is_wrong in (False, True):
        names = {program.name for program in (*programs, *rest) if bool(program.why) == is_wrong}
        assert len(names) == len(hostile_runs.TEMPLATES)


def test_a_program_follows_from_its_number() -> None:
    assert hostile_runs.program_of(7).text == hostile_runs.program_of(7).text
    assert len({hostile_runs.program_of(seed).text for seed in range(50)}) > 45


RIGHT = HostileProgram(
    "copy",
    """tensor_loop.func @main(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
      tensor_loop.for %i in 4 {
        tensor_loop.block "copy" spatial(%vi in 4 = %i) {
          %x = memref.load %A[%vi] : memref<4xf32>
          memref.store %x, %B[%vi] : memref<4xf32>
        }
      }
    }""",
    (np.ones(4, np.float32),),
    (np.ones(4, np.float32),),
)


def test_a_verdict_that_is_wrong_is_noticed() -> None:
    """Each of these programs is not what its label says."""
    assert hostile_runs.interpreted(RIGHT) == hostile_runs.native(RIGHT, 0, True) == hostile_runs.RIGHT
    labelled = HostileProgram(RIGHT.name, RIGHT.text, RIGHT.arrays, RIGHT.outputs, "something wrong")
    other = HostileProgram(RIGHT.name, RIGHT.text, RIGHT.arrays, (np.zeros(4, np.float32),))
    for program, message in (
        (labelled, "the interpreter finds nothing, but there is something wrong"),
        (other, "the interpreter gives [1.0, 1.0, 1.0, 1.0], expected [0.0, 0.0, 0.0, 0.0]"),
    ):
        with pytest.raises(hostile_runs.Unexpected) as caught:
            hostile_runs.interpreted(program)
        assert str(caught.value) == message
    for program, message in (
        (labelled, "a program runs through at level 0, but there is something wrong"),
        (other, "native code of level 0 gives [1.0, 1.0, 1.0, 1.0], expected [0.0, 0.0, 0.0, 0.0]"),
    ):
        with pytest.raises(hostile_runs.Unexpected) as caught:
            hostile_runs.native(program, 0, True)
        assert str(caught.value) == message
    text = RIGHT.text.replace("%x =", "%k = arith.addi %vi, %vi : index\n%x =").replace("%A[%vi]", "%A[%k]")
    above = HostileProgram(RIGHT.name, text, RIGHT.arrays, RIGHT.outputs)
    with pytest.raises(hostile_runs.Unexpected, match="the interpreter finds a fault in a right program"):
        hostile_runs.interpreted(above)


ENDED = """
import os, signal, hostile_runs
hostile_runs.judged = lambda seed: os.kill(os.getpid(), signal.SIGSEGV)
print(hostile_runs.forked(0))
"""


def test_a_process_that_ends_by_a_signal_is_noticed() -> None:
    finished = subprocess.run([sys.executable, "-c", ENDED], cwd=SUPPORT, capture_output=True, text=True)
    assert finished.stdout.strip() == "(False, 'signal SIGSEGV')", finished.stderr
