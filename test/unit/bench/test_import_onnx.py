"""bench/import_onnx.py: its figures, and how much memory an import wants."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "bench"


@pytest.mark.ci_cases(0)
def test_an_import_wants_less_than_twice_and_a_half_the_size_of_the_model(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    command = [sys.executable, str(BENCH / "import_onnx.py"), "--no-compile", "--size", "64"]
    finished = subprocess.run([*command, "--json", str(figures)], cwd=BENCH, capture_output=True, text=True, check=True)
    found = {each["name"]: each for each in json.loads(figures.read_text())}
    assert list(found) == ["64 MB, inside", "64 MB, external"]
    for each in found.values():
        assert 64 <= each["size"] < 65
        assert each["memory"] < 2.5 * each["size"]
        assert each["name"] in finished.stdout
