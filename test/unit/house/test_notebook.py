"""
What a student does in a notebook: `examples/notebook/first_steps.ipynb`, run by a kernel as Jupyter runs it.

The notebook is kept without outputs.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[3] / "examples" / "notebook" / "first_steps.ipynb"


def outputs(cell: Any) -> dict[str, str]:
    """The outputs of a cell by kind: what it printed as `stdout`, the message of an error as `error`."""
    found: dict[str, str] = {}
    for each in cell.outputs:
        if each.output_type == "stream":
            found[each.name] = found.get(each.name, "") + each.text
        elif each.output_type == "error":
            found["error"] = f"{each.ename}: {each.evalue}"
        else:
            found |= dict(each.data)
    return found


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The outputs of the code cells after a run, by the last line of the cell."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = tmp_path_factory.mktemp("notebook")
    environment = {**os.environ, "STEPWELL_CACHE_DIR": str(folder), "IPYTHONDIR": str(folder)}
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment)
    return {cell.source.splitlines()[-1].strip(): outputs(cell) for cell in notebook.cells if cell.cell_type == "code"}


def test_the_notebook_is_kept_without_outputs() -> None:
    kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for cell in kept["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


def test_modules_and_programs_show_as_pictures_and_text(cells: dict[str, dict[str, str]]) -> None:
    assert "<svg" in cells["module"]["text/html"]
    assert '<span class="op">graph.matmul</span>' in cells["module"]["text/html"]
    assert cells["module"]["text/plain"].startswith("builtin.module {")
    assert "<svg" in cells["exe"]["text/html"]
    assert cells["exe"]["text/plain"] == (
        "<stepwell.Executable main(x: tensor<16x8xf32>) -> (result0: tensor<16x4xf32>)>"
    )
    assert "<script" not in "".join(each.get("text/html", "") for each in cells.values())


def test_help_is_the_documentation_of_the_op(cells: dict[str, dict[str, str]]) -> None:
    assert "Computes the softmax along `axis`" in cells["help(stepwell.GraphBuilder.softmax)"]["stdout"]


def test_a_wrong_call_is_one_message_with_its_line(cells: dict[str, dict[str, str]]) -> None:
    error = cells["b.emit_func_output(x @ weights.T)"]["error"]
    assert error.startswith("BuilderError: ")
    assert ":2:1: error: 'graph.matmul': lhs has K = 8 columns but rhs has K = 4 rows" in error
    assert "b.emit_func_output(x @ weights.T)" in error


def test_kernels_and_schedules_compute_the_same(cells: dict[str, dict[str, str]]) -> None:
    assert cells["np.array_equal(doubled(data)[0], data.T * 2)"]["text/plain"] == "True"
    assert cells["np.array_equal(stepwell.compile(s)(data)[0], data.T * 2)"]["text/plain"] == "True"
    assert cells["s"]["text/plain"] == "<stepwell.Schedule of @swapped, 5 steps>"
    assert "schedule.split" in cells["s"]["text/html"]


def test_profiles_and_memory_are_tables_and_pictures(cells: dict[str, dict[str, str]]) -> None:
    assert "<table>" in cells["exe.profile(data)"]["text/html"]
    assert "<svg" in cells["exe.memory"]["text/html"]
