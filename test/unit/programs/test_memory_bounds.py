"""Native code touches no byte outside its arrays: a fault ends the process that runs it, and fails the test."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from counts import FULL

SCRIPT = Path(__file__).parents[2] / "support" / "guarded_arrays.py"
PROGRAMS = 20 if FULL else 1
"""Programs per family of ops; each holds one instance of every op of the family."""


def run_script(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=SCRIPT.parent, check=False)


def test_the_guards_are_there() -> None:
    assert run_script("touch").returncode in (-signal.SIGSEGV, -signal.SIGBUS)


@pytest.mark.parametrize("level", [0, 3] if FULL else [3])
def test_no_op_touches_a_guard(level: int) -> None:
    done = run_script(str(level), str(level), str(PROGRAMS))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"


@pytest.mark.ci_cases(0)
@pytest.mark.parametrize("level", range(4) if FULL else [3])
def test_short_rows_of_half_floats_stay_inside(level: int) -> None:
    done = run_script("short-rows", str(level))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"
