"""docs/habits.md: its blocks work in an empty folder, and print what the page shows."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from followed_page import blocks, follow

PAGE = Path(__file__).parents[3] / "docs" / "habits.md"


def test_the_page_is_followed(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    printed = follow(PAGE, tmp_path, {**os.environ, "PATH": path, "STEPWELL_TUNING_DB": ""}, timeout=600)
    shown = [block.text for block in blocks(PAGE.read_text(encoding="utf-8")) if block.language == "text"]
    assert len(shown) == 3
    assert shown[0] in (tmp_path / "twice.mlir").read_text()
    assert shown[1] in printed and shown[2] in printed
    assert "repro: it ends as it did: exit code 1\n" in printed
    assert "stepwell-ising: 30 files" in printed
