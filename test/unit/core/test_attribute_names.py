"""Names of our attributes that are misspelt are errors, as they would be without effect."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import stepwell
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.roles import NAMES
from stepwell.tools.opt import main

TEXT = """
func.func @main(%x: tensor<4xf32> {{{0}}}) -> tensor<4xf32> {{
  %0 = graph.exp %x {{{1}}} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}}
"""

SLIPS = {
    "stepwell.donatd": "there is no attribute 'stepwell.donatd', did you mean 'stepwell.donated'?",
    'stepwell.nmae = "x"': "there is no attribute 'stepwell.nmae', did you mean 'stepwell.name'?",
    "graph.compilr": "there is no attribute 'graph.compilr', did you mean 'graph.compiler'?",
    'pattern.numeric = "exact"': "there is no attribute 'pattern.numeric', did you mean 'pattern.numerics'?",
    "tile.unused": "there is no attribute 'tile.unused'",
    "stepwell.zzzzzzzzzz": "there is no attribute 'stepwell.zzzzzzzzzz'",
    "stepwell.donated = false": "attribute 'stepwell.donated' takes no value, found false: leave it out where it",
}


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("place", [0, 1])
def test_a_slip_of_the_pen(slip: str, place: int) -> None:
    with pytest.raises(StepwellError) as raised:
        stepwell.parse(TEXT.format(*("" if number != place else slip for number in range(2))))
    assert SLIPS[slip] in str(raised.value)
    assert f":{2 + place}:" in str(raised.value)


def test_names_of_others_and_of_those_who_ask_for_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "mine.donatd" in str(stepwell.parse(TEXT.format("mine.donatd", "")))
    (tmp_path / "p.mlir").write_text(TEXT.format("stepwell.donatd", ""))
    assert main([str(tmp_path / "p.mlir"), "--allow-unregistered-dialect"]) == 0
    assert "stepwell.donatd" in capsys.readouterr().out
    assert main([str(tmp_path / "p.mlir")]) == 1


def test_the_page_has_all_names() -> None:
    page = (Path(__file__).parents[3] / "docs" / "ir.md").read_text()
    listed = set(re.findall(r"`((?:stepwell|graph|pattern)\.\w+)`", page))
    assert listed >= NAMES and {name for name in listed if name.startswith("stepwell.")} - NAMES <= {"stepwell.parse"}
