"""
Mutants of the FileCheck programs are compiled at random levels. Each is fine or refused with a message: nothing ends in
an internal error, a traceback, a signal or a hang (AUDIT G, issue 13 V3).

`python test/support/mutant_runs.py` runs other seeds, and one job by its number.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from counts import FULL

SUPPORT = Path(__file__).parents[2] / "support"
PER_TEST = 50
SEED = 5


@pytest.mark.parametrize("first", range(0, 5_000 if FULL else 100, PER_TEST))
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
