"""docs/quantising.md, followed block by block in this process: its files are saved and its commands succeed."""

from __future__ import annotations

import runpy
import shlex
from pathlib import Path

import pytest
from followed_page import blocks
from stepwell.tools.main import main

PAGE = Path(__file__).parents[3] / "docs" / "quantising.md"


@pytest.mark.ci_cases(0)
def test_the_page_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    printed = ""
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        if block.file:
            Path(block.file).write_text(block.text)
        for line in block.text.splitlines() if block.language == "sh" else ():
            words = shlex.split(line)
            if words[0] == "python":
                runpy.run_path(words[1], run_name="__main__")
            else:
                assert main(words[1:]) == 0, f"{line}\n{capsys.readouterr().err}"
            printed += capsys.readouterr().out
    assert "accuracy" in printed and "graph.quantize" in printed
    assert all(Path(name).exists() for name in ("report.html", "report.json", "stats.json"))
    floats, bytes_ = (Path(name).stat().st_size for name in ("mlp.safetensors", "mlp8.safetensors"))
    assert bytes_ <= 0.3 * floats
