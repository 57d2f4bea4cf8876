"""A model that fails while it runs: the error names the node, its operator and the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import stepwell
from onnx import TensorProto, helper
from stepwell.core.messages.diagnostics import Diagnostic, attach_source_line
from stepwell.core.messages.points import SourcePoint
from stepwell.runtime.errors import ExecutionError

TABLE, WRONG = np.zeros((4, 8), np.float32), np.array([1, 9])


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def model(path: Path, name: str) -> Path:
    """Writes a model that looks up rows of a table, by the second node."""
    nodes = [helper.make_node("Abs", ["t"], ["u"], "first"), helper.make_node("Gather", ["u", "i"], ["y"], name)]
    table = helper.make_tensor_value_info("t", TensorProto.FLOAT, [4, 8])
    rows = helper.make_tensor_value_info("i", TensorProto.INT64, [2])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 8])
    graph = helper.make_graph(nodes, "g", [table, rows], [result])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(path))
    return path


def failure(exe: stepwell.Executable) -> ExecutionError:
    with pytest.raises(ExecutionError) as raised:
        exe(TABLE, WRONG)
    return raised.value


@pytest.mark.parametrize("is_imported", [False, True])
def test_an_index_out_of_range_names_the_node_and_the_file(tmp_path: Path, is_imported: bool) -> None:
    path = model(tmp_path / "net.onnx", "/embed/Gather")
    error = failure(stepwell.compile(stepwell.from_onnx(path) if is_imported else path))
    assert error.location == f"{path}:2:1"
    assert error.reason == "graph.take: index out of range in node '/embed/Gather' (Gather)"
    assert str(error) == f"{path}:2:1: error: {error.reason}"


def test_the_bytes_of_a_model_are_not_quoted_as_a_line(tmp_path: Path) -> None:
    path = model(tmp_path / "net.onnx", "/embed/Gather")
    assert attach_source_line(Diagnostic("it fails", point=SourcePoint(str(path), 1, 1)), None).source_line is None


def test_a_program_in_the_cache_does_not_speak_for_a_model_with_other_names(tmp_path: Path) -> None:
    for name in ("/one/Gather", "/two/Gather", ""):
        path = model(tmp_path / "net.onnx", name)
        assert f"in node '{name or 'Gather_2'}' (Gather)" in failure(stepwell.compile(stepwell.from_onnx(path))).reason


def test_names_of_any_characters_are_on_one_line(tmp_path: Path) -> None:
    path = model(tmp_path / "net.onnx", "a|b\n\x07")
    error = failure(stepwell.compile(path))
    assert error.reason.endswith(r"in node 'a\x7cb\n\x07' (Gather)") and error.location == f"{path}:2:1"


def test_an_exported_program_says_it_too(tmp_path: Path) -> None:
    stepwell.compile(stepwell.from_onnx(model(tmp_path / "net.onnx", "/embed/Gather"))).export(tmp_path / "net.o")
    assert b"index out of range in node '/embed/Gather' (Gather)" in (tmp_path / "net.o").read_bytes()
