"""
Mutants of the FileCheck programs are compiled at random levels. Each is fine or refused with a message: nothing ends in
an internal error, a traceback, a signal or a hang (AUDIT G, issue 13 V3).

`python test/support/mutant_runs.py` runs other seeds, and one job by its number.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import mutant_runs
import pytest
from counts import FULL

SUPPORT = Path(__file__).parents[2] / "support"
PER_TEST = 50 if FULL else 10
SEED = 5


@pytest.mark.parametrize("first", range(0, 5_000 if FULL else 10, PER_TEST))
def test_mutants_compile_or_are_refused(first: int):
    words = ["--seed", str(SEED), "--first", str(first), "--count", str(PER_TEST)]
    command = [sys.executable, str(SUPPORT / "mutant_runs.py"), *words]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    *failures, counts = map(json.loads, run.stdout.splitlines())
    assert not failures, "\n".join(
        f"--seed {SEED} --only {each['index']}: {each['kind']}\n{each['text']}" for each in failures
    )
    assert sum(counts.values()) == PER_TEST
    assert counts["fine"] >= PER_TEST // 10 and counts["refused"] >= PER_TEST // 4


def endless() -> int:
    while True:
        pass


ENDS: dict[str, Callable[[], int]] = {
    "fine": lambda: 0,
    "placeless": lambda: print("error: no such file", file=sys.stderr) or 1,
    "refused": lambda: print("a.mlir:3:1: error: op 'x' is unknown", file=sys.stderr) or 1,
    "no message": lambda: 1,
    "exit code 3": lambda: 3,
    "internal error": lambda: print("a.mlir:1:1: error: internal error: KeyError: 'a'", file=sys.stderr) or 1,
    "a fault of the pass": lambda: print("note: the IR was valid: a fault of the pass", file=sys.stderr) or 1,
    "Traceback (most recent call last)": lambda: 1 // 0,
    "SIGABRT": lambda: os.abort(),
    "SIGSEGV": lambda: len(ctypes.string_at(0)),
    "hang": endless,
}


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("kind", ENDS)
def test_each_end_is_told_from_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str):
    monkeypatch.setattr(mutant_runs, "opt", lambda words: ENDS[kind]())
    monkeypatch.setattr(mutant_runs, "SECONDS", 1)
    outcome = mutant_runs.run(mutant_runs.Job(0, "a.mlir", [""], ["opt", "%"]), tmp_path)
    assert outcome.kind == kind
    assert outcome.failed == (kind not in ("fine", "placeless", "refused"))
