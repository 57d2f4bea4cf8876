"""`bench/models.py`: an engine that is not there leaves its column empty, shapes and bound inputs reach all of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx")

SCRIPT = Path(__file__).resolve().parents[3] / "bench" / "models.py"


def save_model(path: Path) -> None:
    """`y = If(flag == 1, x + x, x * x)` for x of an open number of rows."""
    from onnx import TensorProto, helper

    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 4])
    flag = helper.make_tensor_value_info("flag", TensorProto.INT64, [])
    branches = {}
    for name, op in (("then_branch", "Add"), ("else_branch", "Mul")):
        out = helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", 4])
        branches[name] = helper.make_graph([helper.make_node(op, ["x", "x"], [name])], name, [], [out])
    one = helper.make_node("Constant", [], ["one"], value_int=1)
    nodes = [one, helper.make_node("Equal", ["flag", "one"], ["chosen"])]
    nodes.append(helper.make_node("If", ["chosen"], ["y"], **branches))
    model = helper.make_model(helper.make_graph(nodes, "g", [x, flag], [y]))
    model.ir_version = 10
    onnx.save(model, path)


@pytest.mark.ci_cases(0)
def test_a_model_is_timed(tmp_path: Path) -> None:
    model, figures = tmp_path / "small.onnx", tmp_path / "figures.json"
    save_model(model)
    options = ["--shape", "x=3x4", "--bind", "flag=1", "--rounds", "2", "--json", str(figures)]
    run = subprocess.run([sys.executable, SCRIPT, model, *options], capture_output=True, text=True, check=True)
    head, rule, row = run.stdout.splitlines()
    assert head.startswith("| model | stepwell ms | onnxruntime ms | openvino ms | ratio |")
    assert rule.count("---") == head.count("|") - 1 == row.count("|") - 1
    assert row.startswith("| small | ")
    (found,) = json.loads(figures.read_text())
    assert found["model"] == "small" and found["ms"]["stepwell"] > 0 and found["ready"] > 0
    assert ("ratio" in found) == (len(found["ms"]) > 1)
    assert found.get("error", 0.0) < 1e-6


def test_an_engine_without_figures_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_text("no model")
    run = subprocess.run([sys.executable, SCRIPT, broken], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1].startswith("| broken | - | - | - |")
    assert "stepwell has no figure: " in run.stderr and "Traceback" not in run.stderr
