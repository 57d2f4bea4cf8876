"""The examples of docs/tuning.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import stepwell
import tuning_hooks as hooks
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.schedule.tiling import FIELDS
from stepwell.runtime.tuning import kernel_tuning, workers
from stepwell.tools.run import main as run_main
from stepwell.tools.tune import argument_parser

from .test_tuning_search import LINEAR, SUM, kernel_of

PAGE = (Path(__file__).parents[3] / "docs" / "tuning.md").read_text()


def block(language: str, first: str = "") -> str:
    (found,) = re.findall(rf"```{language}\n{first}(.*?)```", PAGE, re.DOTALL)
    return found


def test_the_lines_of_python_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.mlir").write_text(SUM)
    code = block("python").replace("seed=0", "seed=0, measure=hooks.by_rows")
    exec(code, {"stepwell": stepwell, "hooks": hooks})
    assert "8 schedules (8 ok); 8 measured now; the default stays" in capsys.readouterr().out


def test_the_commands_take_their_options() -> None:
    commands = [line.partition("#")[0].split() for line in block("sh").splitlines()]
    assert argument_parser().parse_args(commands[0][1:]).seconds == 300


def test_the_program_fits_a_kernel() -> None:
    kernel = kernel_of(LINEAR)
    (program,) = parse_text(make_context(), block("mlir", "// program\n"), "tuning.md").ops
    assert str(program) in block("mlir", "// program\n")
    from stepwell.dialects.schedule import ProgramOp
    from stepwell.schedule.tuned.apply_tuning import replay

    assert isinstance(program, ProgramOp)
    replay(program, kernel.module)
    assert "rows = 4, columns = 32, packed, parts = 2, panels = 1" in str(kernel.module)


def test_fields_and_figures_are_those_of_the_code() -> None:
    assert all(f"`{name}`" in PAGE for name in FIELDS)
    assert f"generations of {kernel_tuning.GENERATION}" in PAGE
    assert f"{kernel_tuning.ROUNDS} rounds" in PAGE and f"{kernel_tuning.CONFIRMATION_ROUNDS} rounds" in PAGE
    assert f"above {kernel_tuning.CONFIRMED}" in PAGE and kernel_tuning.CONFIRMATIONS == 3
    assert f"up to {kernel_tuning.CONFIRMATION_PROCESSES} new processes" in PAGE
    assert workers.MOST_IN_BATCH <= kernel_tuning.GENERATION


def test_run_takes_a_database_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.mlir"
    file.write_text(SUM)
    assert run_main([str(file), "--random", "0", "--tuning", "off"]) == 0
    assert run_main([str(file), "--random", "0", "--tuning", str(tmp_path / "nowhere")]) == 1
    assert "there is no tuning database" in capsys.readouterr().err
