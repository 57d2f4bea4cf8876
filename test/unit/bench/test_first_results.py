"""`bench/first_results.py`: ours is timed for all programs, and an engine that is not there leaves its column empty."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx")

SCRIPT = Path(__file__).resolve().parents[3] / "bench" / "first_results.py"


def save_model(path: Path) -> None:
    from onnx import TensorProto, helper

    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 4])
    model = helper.make_model(helper.make_graph([helper.make_node("Exp", ["x"], ["y"])], "g", [x], [y]))
    model.ir_version = 10
    onnx.save(model, path)


@pytest.mark.ci_cases(0)
def test_each_program_has_a_first_result(tmp_path: Path) -> None:
    model, figures = tmp_path / "small.onnx", tmp_path / "figures.json"
    save_model(model)
    options = ["--repetitions", "1", "--json", str(figures)]
    run = subprocess.run([sys.executable, SCRIPT, model, *options], capture_output=True, text=True, check=True)
    assert "Traceback" not in run.stdout + run.stderr
    rows = {row["program"]: row for row in json.loads(figures.read_text())["programs"]}
    assert list(rows) == ["product", "mlp", "small"]
    for name, row in rows.items():
        assert 0 < row["imports"] < row["cached"]
        assert row["cached"] > 0 and row["stepwell"] > 0
        assert ("onnxruntime" in row) == (name == "small")
    table = [line for line in run.stdout.splitlines() if line.startswith("|")]
    assert [line.split("|")[1].strip() for line in table] == ["program", "---", *rows]


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, SCRIPT, tmp_path / "none.onnx"], capture_output=True, text=True)
    assert run.returncode == 2 and "there is no file" in run.stderr
